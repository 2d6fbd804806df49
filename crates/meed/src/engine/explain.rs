//! Why things stand as they do: the order of what waits, with its keys, and what stands in its way.
//! For people; each view is made anew from the books and changes nothing. O(children), or O(waiting
//! groups), for each call.

use super::Engine;
use crate::decision::KeyValue;
use crate::order::key::Key;
use crate::order::{Minimum, Terms, Tier};
use crate::policy::{Measure, Policy, Scalar};
use crate::resources::Resources;
use crate::spec::{JobId, NodeId, QueueId};
use crate::time::{Span, Time};

/// One child of a queue that has tasks waiting.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ChildView {
    /// The child.
    pub queue: QueueId,
    /// Its key as decisions tell it.
    pub key: KeyValue,
    /// The same in natural units per weight 1: resource-seconds for usage (as it counts now, where
    /// memory fades), units for allocation, an arrival number, or the held part of its minimum
    /// share.
    pub natural: f64,
    /// Nothing of it fits anywhere or stays within a maximum share: it is out of the walk until
    /// something changes.
    pub parked: bool,
}

/// Waiting tasks of one group of a job.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GroupView {
    /// The job.
    pub job: JobId,
    /// The group's number among the job's groups.
    pub group: u32,
    /// Tasks of it that wait.
    pub waiting: u64,
    /// What each asks for.
    pub demand: Resources,
    /// Its key among the groups of its leaf.
    pub key: KeyValue,
    /// The same in natural units, as in [`ChildView::natural`].
    pub natural: f64,
    /// The queue on its path whose maximum share one more such task would exceed.
    pub capped_by: Option<QueueId>,
}

/// The starvation guard, seen from one leaf.
#[derive(Clone, Debug)]
pub struct GuardView {
    /// After so long without service a leaf may be served out of turn.
    pub t_wait: Span,
    /// How long this one has waited: since its last service or since its demand began.
    pub waited: Span,
    /// Demanding leaves that have used less by the root's rules, least first: the guard serves
    /// those first.
    pub before: Vec<QueueId>,
}

impl Engine {
    /// How `queue` orders its children.
    pub fn policy(&self, queue: QueueId) -> &Policy {
        self.domain(queue).policy()
    }

    /// Whether a node is up: it has joined and not left.
    pub fn is_up(&self, node: NodeId) -> bool {
        self.cluster.nodes[node.index()].up
    }

    /// Running tasks of a job; 0 where it is no more.
    pub fn running_of(&self, job: JobId) -> u64 {
        self.jobs.get(job).map_or(0, |job| u64::from(job.running))
    }

    /// Minimum and maximum share of a queue.
    pub fn bounds(&self, queue: QueueId) -> (Option<Resources>, Option<Resources>) {
        let queue = &self.queues[queue.index()];
        (queue.rest.min, queue.max.as_deref().copied())
    }

    /// Since when a leaf waits: the later of its last service and the moment its demand began.
    pub fn waits_since(&self, leaf: QueueId) -> Time {
        self.queues[leaf.index()].waits_since
    }

    /// The resource whose units the keys among the children of `queue` are in: the one counted, or
    /// the dearest; for dominant shares the measured one, of which they are told as an amount.
    pub fn key_kind(&self, queue: QueueId) -> usize {
        match &self.domain(queue).scalar {
            Scalar::Kind(kind) => *kind,
            // The first of the dearest.
            Scalar::Priced(prices) => {
                (0..prices.len()).rev().max_by_key(|&kind| prices[kind]).unwrap_or(0)
            }
            // A share of the pool is told as an amount of what fairness is measured in.
            Scalar::Dominant => self.measured(),
        }
    }

    /// The children of `parent` below which tasks wait, in the order in which they would be served
    /// at this instant.
    pub fn children_in_order(&self, parent: QueueId) -> Vec<ChildView> {
        let domain = self.domain(parent);
        let waiting =
            self.queues[parent.index()].children.iter().filter(|child| self.waits_below(**child));
        let mut all: Vec<(Key, QueueId)> = waiting
            .map(|&child| {
                let queue = &self.queues[child.index()];
                let rescaled = self.rescaled_key(parent, child);
                let own = || queue.standing.clone().key(self.now, domain, &queue.terms);
                (rescaled.unwrap_or_else(own), child)
            })
            .collect();
        all.sort_unstable_by(|a, b| self.compare_children(&(a.0, a.1.0), &(b.0, b.1.0)));
        let view = |(key, queue): (Key, QueueId)| ChildView {
            queue,
            key: self.shown(parent, &key),
            natural: self.natural(parent, &key),
            parked: self.all_parked(queue),
        };
        all.into_iter().map(view).collect()
    }

    /// The waiting task groups of `leaf`, best first.
    pub fn groups_in_order(&self, leaf: QueueId) -> Vec<GroupView> {
        let slots =
            self.queues[leaf.index()].buckets.iter().flat_map(|bucket| bucket.groups.iter());
        let mut all: Vec<(Key, u32)> =
            slots.map(|&(_, slot)| (self.group_key_now(leaf, slot), slot)).collect();
        all.sort_unstable_by_key(|(key, _)| *key);
        let view = |(key, slot): (Key, u32)| {
            let group = &self.groups[slot as usize];
            GroupView {
                job: group.job,
                group: group.number,
                waiting: group.waiting(),
                demand: self.shapes[group.shape].demand,
                key: self.shown(leaf, &key),
                natural: self.natural(leaf, &key),
                capped_by: self.capped_by(leaf, group.shape),
            }
        };
        all.into_iter().map(view).collect()
    }

    /// Whether constraints let tasks of a group run on `node`.
    pub fn allows(&self, group: &GroupView, node: NodeId) -> bool {
        let Some(job) = self.jobs.get(group.job) else { return false };
        let mut groups = job.groups.iter().map(|&slot| &self.groups[slot as usize]);
        let Some(found) = groups.find(|found| found.number == group.group) else { return false };
        self.rules.allowed(&self.shapes[found.shape].key, &self.jobs).contains(node)
    }

    /// The starvation guard, where the root's policy has one.
    pub fn guard_view(&self, leaf: QueueId) -> Option<GuardView> {
        let guard = self.guard.as_ref()?;
        let key = |leaf: QueueId| {
            let (standing, terms) = (&guard.standings[leaf.index()], &guard.terms[leaf.index()]);
            standing.clone().key(self.now, &guard.domain, terms)
        };
        let mine = key(leaf);
        let others =
            self.queue_ids().filter(|&other| other != leaf && self.queues[other.index()].is_leaf());
        let walked = others.filter(|other| self.queues[other.index()].waiting > 0);
        let mut before: Vec<(Key, QueueId)> =
            walked.map(|other| (key(other), other)).filter(|(other, _)| *other < mine).collect();
        before.sort_unstable_by_key(|(key, _)| *key);
        Some(GuardView {
            t_wait: guard.t_wait(),
            waited: self.now.saturating_since(self.waits_since(leaf)),
            before: before.into_iter().map(|(_, leaf)| leaf).collect(),
        })
    }

    fn group_key_now(&self, leaf: QueueId, slot: u32) -> Key {
        let group = &self.groups[slot as usize];
        let (job, domain) = (&self.jobs[group.job], self.domain(leaf));
        let tie = (job.arrival, group.number);
        if domain.rule.measure == Measure::Arrival {
            return Key::new(Tier::Ordinary, u128::from(job.arrival), 1, tie);
        }
        let terms = Terms { weight: job.weight, min: Minimum::NONE, share: u64::MAX, tie };
        job.standing.clone().key(self.now, domain, &terms)
    }

    fn waits_below(&self, queue: QueueId) -> bool {
        let at = &self.queues[queue.index()];
        at.waiting > 0 || at.children.iter().any(|child| self.waits_below(*child))
    }

    fn all_parked(&self, queue: QueueId) -> bool {
        let at = &self.queues[queue.index()];
        match at.children.is_empty() {
            // The walk may not have come to it yet.
            true => !self.may_start(queue),
            false => at
                .children
                .iter()
                .filter(|child| self.waits_below(**child))
                .all(|child| self.all_parked(*child)),
        }
    }

    fn natural(&self, parent: QueueId, key: &Key) -> f64 {
        let (domain, kind) = (self.domain(parent), self.key_kind(parent));
        let mut scale = self.kinds.unit(kind).scale() as f64;
        if domain.is_dominant() {
            // Parts of the pool in one unit of the kind.
            scale *= domain.pool.whole() as f64 / self.cluster.total.get(kind).max(1) as f64;
        }
        let rule = &domain.rule;
        match (key.tier(), rule.measure) {
            (Tier::BelowMinimum, _) | (_, Measure::Arrival) => key.value(),
            // Weights are in thousandths: a thousand of them is a weight of 1.
            (_, Measure::Allocation) => key.value() * 1000.0 / scale,
            // Charges are in thousandths of a unit x microsecond, which cancels those of the
            // weight.
            (_, Measure::Usage) => key.value() / scale / 1e6 / rule.clock.inflation(self.now),
        }
    }
}
