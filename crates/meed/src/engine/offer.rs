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

use super::chosen::Chosen;
use super::core::Core;
use super::ready::Bucket;
use crate::decision::{Choice, Reason};
use crate::ids::{JobId, NodeId, NodeRow, QueueRow};
use crate::order::key::Key;

/// A group that may have the place, and its leaf. Those of a leaf follow each other.
type Able = (QueueRow, u32);

impl Core {
    /// See [`Engine::offer_if`](super::Engine::offer_if).
    pub(super) fn choose_for(
        &mut self,
        node: NodeId,
        explain: bool,
        rank: &mut dyn FnMut(JobId, u32) -> Option<u32>,
        accept: &mut dyn FnMut(JobId, u32) -> bool,
    ) -> Option<Chosen> {
        let node = self.live_node(node).ok()?;
        self.share_out_if_due();
        let mut passed_over: Vec<(JobId, u32)> = Vec::new();
        loop {
            let mut rank = |job: JobId, group: u32| match passed_over.contains(&(job, group)) {
                true => None,
                false => rank(job, group),
            };
            let able = self.able(node, &mut rank);
            let mut reason = explain.then(|| Box::new(Reason::of("the node that asked")));
            let chosen = self.choose_among(&able, reason.as_deref_mut())?;
            let groups = able.iter().filter(|(leaf, _)| *leaf == chosen).map(|&(_, slot)| slot);
            let slot = groups.min_by_key(|&slot| self.group_key(slot))?;
            let (job, group) = (self.work.group(slot).job, self.work.group(slot).number);
            if accept(job, group) {
                return Some(Chosen { slot, node, reason });
            }
            passed_over.push((job, group));
        }
    }

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
