//! What worlds and reports may see: numbers at this instant, nothing that can be changed.

use super::Engine;
use crate::fairness::{Integrals, Lending};
use crate::ledger::CHARGE_ONE;
use crate::resources::{ResourceKinds, Resources};
use crate::spec::{AllocationId, JobId, NodeId, NodeSpec, QueueId};
use crate::time::{Span, Time};

/// One queue, seen from outside.
#[derive(Clone, Copy, Debug)]
pub struct QueueView<'a> {
    /// Full name.
    pub name: &'a str,
    /// `None` for the root.
    pub parent: Option<QueueId>,
    /// Whether it takes jobs.
    pub is_leaf: bool,
    /// Whether it is gone.
    pub removed: bool,
    /// In thousandths.
    pub weight: u64,
    /// S_i in every kind.
    pub share: &'a Resources,
    /// What it holds now.
    pub held: &'a Resources,
    /// Tasks that wait (leaves only).
    pub waiting: u64,
    /// Jobs that are alive (leaves only).
    pub jobs: u64,
}

impl Engine {
    /// The last instant the engine was told of.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The cluster's resource kinds.
    pub fn kinds(&self) -> &ResourceKinds {
        &self.kinds
    }

    /// All queues in order of declaration, the root first, removed ones included.
    pub fn queue_ids(&self) -> impl ExactSizeIterator<Item = QueueId> + use<> {
        (0..self.queues.len() as u32).map(QueueId)
    }

    /// Whether a queue is gone. Cheaper than a whole [`QueueView`].
    #[inline]
    pub fn is_removed(&self, id: QueueId) -> bool {
        self.queues[id.index()].removed
    }

    /// One queue.
    pub fn queue(&self, id: QueueId) -> QueueView<'_> {
        let queue = &self.queues[id.index()];
        QueueView {
            name: &queue.rest.name,
            parent: queue.parent,
            is_leaf: queue.is_leaf(),
            removed: queue.removed,
            weight: queue.terms.weight,
            share: &queue.rest.share,
            held: &queue.held,
            waiting: queue.waiting,
            jobs: queue.jobs,
        }
    }

    /// One node, and what is free on it (nothing when it has left).
    pub fn node(&self, id: NodeId) -> (&NodeSpec, Resources) {
        (&self.cluster.nodes[id.index()].spec, self.cluster.free(id))
    }

    /// All nodes in order of joining, those that left included.
    pub fn node_ids(&self) -> impl DoubleEndedIterator<Item = NodeId> + ExactSizeIterator + use<> {
        (0..self.cluster.nodes.len() as u32).map(NodeId)
    }

    /// Capacity of all nodes that are up.
    pub fn capacity(&self) -> &Resources {
        &self.cluster.total
    }

    /// Number of tasks that run.
    pub fn running_tasks(&self) -> usize {
        self.running.len()
    }

    /// Number of live jobs.
    pub fn live_jobs(&self) -> usize {
        self.jobs.len()
    }

    /// Whether the task of `allocation` still runs, and of which job it is.
    pub fn running_job(&self, allocation: AllocationId) -> Option<JobId> {
        self.running.get(allocation).map(|task| task.job)
    }

    /// A leaf's integrals up to `now`, which is not before the last event.
    pub fn integrals(&self, leaf: QueueId, now: Time) -> Integrals {
        self.meter.integrals(now, leaf.index())
    }

    /// The kind that fairness is measured in.
    pub fn measured(&self) -> usize {
        self.meter_kind()
    }

    /// What each of the given leaves has lent and borrowed by `now`; give all leaves, removed ones
    /// too, and the sums are equal. O(queues).
    pub fn lending(&self, leaves: &[QueueId], now: Time) -> Vec<Lending> {
        let leaves: Vec<usize> = leaves.iter().map(|leaf| leaf.index()).collect();
        self.meter.lending(now, &leaves)
    }

    /// What a queue's ledger holds against it by its parent's policy, in smallest units x seconds;
    /// its plain use where the policy keeps no ledger. For reports: a float.
    ///
    /// `now` is not after the next chore: call [`Engine::advance`] first. Reading changes nothing.
    pub fn charged(&self, id: QueueId, now: Time) -> f64 {
        let Some(parent) = self.queues[id.index()].parent else { return 0.0 };
        let domain = self.domain(parent);
        let queue = &self.queues[id.index()];
        if !domain.rule.keeps_usage() {
            return self.plain_use(id, now);
        }
        let mut charge = queue.standing.charge_ahead(now, domain, queue.terms.share) as f64;
        if domain.is_dominant() {
            // A share of the pool, as an amount of the measured kind.
            charge *= self.cluster.total.get(self.meter_kind()) as f64 / domain.pool.count() as f64;
        }
        charge / CHARGE_ONE as f64 / 1e6 / domain.rule.clock.inflation(now)
    }

    /// A queue's time quantum now (ICS'14 Fig. 3); `None` where no policy of the tree learns one.
    pub fn quantum(&self, id: QueueId) -> Option<Span> {
        self.quanta.as_ref().map(|quanta| quanta.queue(id))
    }

    fn plain_use(&self, id: QueueId, now: Time) -> f64 {
        let below: f64 =
            self.queues[id.index()].children.iter().map(|child| self.plain_use(*child, now)).sum();
        below + self.meter.integrals(now, id.index()).usage[self.meter_kind()] as f64 / 1e6
    }

    pub(super) fn meter_kind(&self) -> usize {
        self.meter.kind()
    }
}
