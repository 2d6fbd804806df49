//! What worlds and reports may see: numbers at this instant, nothing that can be changed.

use super::Engine;
use crate::fairness::{Integrals, Lending};
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
        (0..self.tree.len() as u32).map(QueueId)
    }

    /// Whether a queue is gone. Cheaper than a whole [`QueueView`].
    #[inline]
    pub fn is_removed(&self, id: QueueId) -> bool {
        self.tree[id].is_removed()
    }

    /// One queue.
    pub fn queue(&self, id: QueueId) -> QueueView<'_> {
        let queue = &self.tree[id];
        QueueView {
            name: queue.name(),
            parent: queue.parent(),
            is_leaf: queue.is_leaf(),
            removed: queue.is_removed(),
            weight: queue.weight(),
            share: queue.share(),
            held: self.books.held(id),
            waiting: self.ready.waiting(id),
            jobs: queue.jobs(),
        }
    }

    /// One node, and what is free on it for new tasks: nothing when it has left or is cordoned.
    pub fn node(&self, id: NodeId) -> (&NodeSpec, Resources) {
        (self.room.spec(id), self.room.free(id))
    }

    /// All nodes in order of joining, those that left included.
    pub fn node_ids(&self) -> impl DoubleEndedIterator<Item = NodeId> + ExactSizeIterator + use<> {
        (0..self.room.nodes() as u32).map(NodeId)
    }

    /// Capacity of all nodes that are up.
    pub fn capacity(&self) -> &Resources {
        self.room.total()
    }

    /// Number of tasks that run.
    pub fn running_tasks(&self) -> usize {
        self.work.running_tasks()
    }

    /// Handles of all tasks that run, in order of slot.
    pub fn running_ids(&self) -> impl Iterator<Item = AllocationId> + '_ {
        self.work.all_running().map(|(id, _)| id)
    }

    /// Handles of all live jobs, in order of slot.
    pub fn job_ids(&self) -> impl Iterator<Item = JobId> + '_ {
        self.work.job_ids()
    }

    /// Number of live jobs.
    pub fn live_jobs(&self) -> usize {
        self.work.live_jobs()
    }

    /// Whether the task of `allocation` still runs, and of which job it is.
    pub fn running_job(&self, allocation: AllocationId) -> Option<JobId> {
        self.work.running(allocation).map(|task| task.job)
    }

    /// A leaf's integrals up to `now`, which is not before the last event.
    pub fn integrals(&self, leaf: QueueId, now: Time) -> Integrals {
        self.books.integrals(leaf, now)
    }

    /// The kind that fairness is measured in.
    pub fn measured(&self) -> usize {
        self.books.measured()
    }

    /// What each of the given leaves has lent and borrowed by `now`; give all leaves, removed ones
    /// too, and the sums are equal. O(queues).
    pub fn lending(&self, leaves: &[QueueId], now: Time) -> Vec<Lending> {
        self.books.lending(leaves, now)
    }

    /// What a queue's ledger holds against it by its parent's policy, in smallest units x seconds;
    /// its plain use where the policy keeps no ledger. For reports: a float.
    ///
    /// `now` is not after the next chore: call [`Engine::advance`] first. Reading changes nothing.
    pub fn charged(&self, id: QueueId, now: Time) -> f64 {
        self.books.charged(&self.tree, id, now, self.room.total())
    }

    /// A queue's time quantum now (ICS'14 Fig. 3); `None` where no policy of the tree learns one.
    pub fn quantum(&self, id: QueueId) -> Option<Span> {
        self.books.quantum(id)
    }
}
