//! A node asks for work: at a heartbeat, or when a worker is idle, the place is given and a task is
//! wanted.
//!
//! [`Engine::decide`] asks for each task where it fits; an offer asks for one node which task. The
//! world says by `rank` which jobs may have the place, and which of them are to be preferred
//! whatever the order: so rules that match tasks to nodes ([`crate::classes`], data locality, delay
//! scheduling) work under every order policy.
//!
//! > served = the first, by the walk down the tree, among the waiting groups that fit the node and
//! > have the lowest rank
//!
//! Invariant: with one node and one rank for all, offers until none is taken start what `decide`
//! starts, in its order (tests/suite/offers.rs), where parents do not count their children
//! rescaled: what is set apart there by what fits anywhere is here whatever fits this node; where
//! no reservations are made, for offers keep to those of the last decision, and start none; and
//! where servers do not decide by themselves (`per_server`), for an offer asks the order over the
//! pool, not on the server.
//! A gang is offered no node: one is not what it waits for.
//! Cost:
//! O(waiting groups x depth) for each offer and each one passed over, plainly looked through; it
//! does not grow with the number of nodes.

use super::Engine;
use super::core::Core;
use super::ready::Bucket;
use crate::decision::{Choice, Reason, Start};
use crate::order::key::Key;
use crate::spec::{JobId, NodeId, NodeRow, QueueRow};

/// A group that may have the place, and its leaf. Those of a leaf follow each other.
type Able = (QueueRow, u32);

impl Engine {
    /// Starts at most one task on `node`: of the waiting groups whose tasks fit there now and for
    /// which `rank` (job, number of the group in the job) gives a number, one of the lowest rank,
    /// and among those the one that the policies put first. `None` when there is none, or when the
    /// node has left. It happens at the last instant the engine was told of: call
    /// [`Engine::advance`] where no event came before.
    pub fn offer(
        &mut self,
        node: NodeId,
        explain: bool,
        rank: &mut dyn FnMut(JobId, u32) -> Option<u32>,
    ) -> Option<Start> {
        self.offer_if(node, explain, rank, &mut |_, _| true)
    }

    /// As [`Engine::offer`]; the one whose turn it is may be passed over by `accept` (job, number
    /// of the group): then it is the next one's turn, of the same rank first. Delay scheduling
    /// waits in this way.
    pub fn offer_if(
        &mut self,
        node: NodeId,
        explain: bool,
        rank: &mut dyn FnMut(JobId, u32) -> Option<u32>,
        accept: &mut dyn FnMut(JobId, u32) -> bool,
    ) -> Option<Start> {
        let node = self.core.live_node(node).ok()?;
        self.core.share_out_if_due();
        let mut passed_over: Vec<(JobId, u32)> = Vec::new();
        loop {
            let mut rank = |job: JobId, group: u32| match passed_over.contains(&(job, group)) {
                true => None,
                false => rank(job, group),
            };
            let able = self.core.able(node, &mut rank);
            let mut reason = explain.then(|| Box::new(Reason::of("the node that asked")));
            let chosen = self.core.choose_among(&able, reason.as_deref_mut())?;
            let groups = able.iter().filter(|(leaf, _)| *leaf == chosen).map(|&(_, slot)| slot);
            let slot = groups.min_by_key(|&slot| self.core.group_key(slot))?;
            let (job, group) = (self.core.work.group(slot).job, self.core.work.group(slot).number);
            if !accept(job, group) {
                passed_over.push((job, group));
                continue;
            }
            return Some(self.start(slot, None, node, reason));
        }
    }
}

impl Core {
    /// The groups of the lowest rank that fit the node.
    fn able(&self, node: NodeRow, rank: &mut dyn FnMut(JobId, u32) -> Option<u32>) -> Vec<Able> {
        let mut best = u32::MAX;
        let mut able: Vec<Able> = Vec::new();
        let mut queues = vec![QueueRow::ROOT];
        while let Some(queue) = queues.pop() {
            // Only what wants something, and is not set apart because it fits nowhere, stands in
            // the heaps.
            queues.extend(self.counting(queue));
            for slot in self.fitting(queue, node) {
                let group = self.work.group(slot);
                let Some(rank) = rank(group.job, group.number).filter(|&rank| rank <= best) else {
                    continue;
                };
                if rank < best {
                    best = rank;
                    able.clear();
                }
                able.push((queue, slot));
            }
        }
        able
    }

    /// Waiting groups of a leaf whose tasks fit the node and its maximum shares.
    fn fitting(&self, leaf: QueueRow, node: NodeRow) -> impl Iterator<Item = u32> {
        let buckets = self.ready.buckets(leaf).iter().filter(move |bucket| {
            !bucket.is_empty()
                && self.room.turn_of(bucket.shape()) == 1
                && self.room.fits(bucket.shape(), bucket.demand(), node)
                && self.capped_by(leaf, bucket).is_none()
        });
        buckets.flat_map(Bucket::groups)
    }

    /// The leaf whose turn it is among `able`.
    fn choose_among(&mut self, able: &[Able], mut reason: Option<&mut Reason>) -> Option<QueueRow> {
        if let Some((leaf, waited)) = self.starved_among(able) {
            if let Some(reason) = reason {
                reason.starved_for = Some(waited);
            }
            return Some(leaf);
        }
        let mut edges = self.edges_to(able);
        let mut at = QueueRow::ROOT;
        while self.tree.is_parent(at) {
            let mut keys: Vec<(Key, QueueRow)> = Vec::new();
            edges.retain(|&(parent, child)| {
                let ours = parent == at;
                if ours {
                    keys.push((self.queue_key(child), child));
                }
                !ours
            });
            let by_order = |a: &&(Key, QueueRow), b: &&(Key, QueueRow)| {
                self.compare_children(&(a.0, a.1.0), &(b.0, b.1.0))
            };
            let &(key, chosen) = keys.iter().min_by(by_order)?;
            if let Some(reason) = reason.as_deref_mut() {
                let id = |row: QueueRow| self.tree.id(row);
                let others = keys.iter().filter(|(_, row)| *row != chosen);
                let runner_up = others.min_by(by_order);
                let runner_up = runner_up.map(|(key, row)| (id(*row), self.shown(at, key)));
                reason.levels.push(Choice {
                    among: id(at),
                    chosen: id(chosen),
                    key: self.shown(at, &key),
                    runner_up,
                });
            }
            at = chosen;
        }
        Some(at)
    }

    /// Every (parent, child) on the paths from the root to these leaves, once.
    fn edges_to(&self, able: &[Able]) -> Vec<(QueueRow, QueueRow)> {
        let mut edges = Vec::new();
        for (i, &(leaf, _)) in able.iter().enumerate() {
            if i > 0 && able[i - 1].0 == leaf {
                continue;
            }
            let mut at = leaf;
            while let Some(parent) = self.tree[at].parent() {
                edges.push((parent, at));
                at = parent;
            }
        }
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    /// The guard's leaf among `able`, and how long it has waited.
    fn starved_among(&mut self, able: &[Able]) -> Option<(QueueRow, crate::Span)> {
        let guard = self.guard.as_mut()?;
        let least = guard.first_of(self.now, able.iter().map(|&(leaf, _)| leaf))?;
        let waited = self.now.saturating_since(self.ready.waits_since(least));
        (waited >= guard.t_wait()).then_some((least, waited))
    }
}
