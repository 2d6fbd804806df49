//! Each server decides on its own: DRF applied to every server separately (`per-server-drf`), the
//! naive extension of DRF to unequal servers (Wang, Liang, Li, TPDS 2015, Sec. 3.4), with whole
//! tasks.
//!
//! > key of child i on server l = (max over r of g_ilr / c_lr) / w_i,  g_il what i holds on server
//! > l, c_l what l has
//!
//! Servers take turns in order of joining (with first fit): the first with room for something that
//! waits gives room to the child with the smallest key *on that server* of which something fits
//! there, until nothing does; then the next. A child below its minimum share of the pool comes
//! first on every server. A parent holds what its children hold; no child is rescaled. Jobs of one
//! leaf stand in its own order, over the pool. Queues of another order, below the root, order their
//! children by it.
//!
//! Invariant: `held[l]` sums the tasks that run on l, for the leaf and every queue above it but the
//! root. No server after l is served before l is: room only becomes less while decisions are made.
//! Cost: O(queues + waiting shapes) searches for each server that is served, O(n log n) for each
//! start among n demanding children. It is a baseline, and other policies pay one branch for it at
//! a start and an end.

use std::collections::BTreeMap;

use super::Engine;
use crate::decision::{Choice, KeyValue, Reason, Start};
use crate::order::key::Key;
use crate::order::{Pool, Tier};
use crate::resources::Resources;
use crate::shapes::ShapeId;
use crate::spec::{NodeId, QueueId};

/// What queues hold, server by server.
#[derive(Default)]
pub(super) struct Servers {
    held: Vec<BTreeMap<QueueId, Resources>>,
}

impl Servers {
    fn on(&mut self, node: NodeId) -> &mut BTreeMap<QueueId, Resources> {
        if node.index() >= self.held.len() {
            self.held.resize_with(node.index() + 1, BTreeMap::new);
        }
        &mut self.held[node.index()]
    }

    fn held(&self, node: NodeId, queue: QueueId) -> Option<&Resources> {
        self.held.get(node.index()).and_then(|on| on.get(&queue))
    }
}

/// A server whose turn it is.
struct Turn {
    node: NodeId,
    /// What shares on it are parts of.
    whole: Pool,
}

const WHY: &str = "each server by itself: the first in order with room for what waits serves who \
    holds least of it";

impl Engine {
    /// The queues from below the root down to `leaf`, and what all hold on `node`; `None` where
    /// servers do not decide.
    #[inline]
    fn books_on(
        &mut self,
        leaf: QueueId,
        node: NodeId,
    ) -> Option<(impl Iterator<Item = QueueId> + use<>, &mut BTreeMap<QueueId, Resources>)> {
        self.servers.as_ref()?;
        let path = self.path(leaf).into_iter();
        Some((path, self.servers.as_mut()?.on(node)))
    }

    /// A task of `leaf` holds `demand` on `node` from now on.
    #[inline]
    pub(super) fn hold_on_server(&mut self, leaf: QueueId, node: NodeId, demand: &Resources) {
        let Some((path, on)) = self.books_on(leaf, node) else { return };
        for queue in path {
            on.entry(queue).or_insert_with(|| Resources::zero(demand.kinds())).add(demand);
        }
    }

    /// It holds it no more.
    #[inline]
    pub(super) fn let_go_on_server(&mut self, leaf: QueueId, node: NodeId, demand: &Resources) {
        let Some((path, on)) = self.books_on(leaf, node) else { return };
        for queue in path {
            let held = on.get_mut(&queue).expect("what is let go was held");
            held.sub(demand);
            if held.is_zero() {
                on.remove(&queue);
            }
        }
    }

    /// Starts tasks while any can start, server by server.
    pub(super) fn decide_by_server(&mut self, explain: bool, mut on: impl FnMut(Start)) {
        // Every server is looked at anyhow, so the fresh ones are not looked at first: whom they
        // help is woken, and what fits there is opened.
        self.wake_next(true);
        self.forget_fresh();
        while self.shapes.any_startable() {
            self.settle();
            let Some(node) = self.next_server() else { return };
            let whole = Pool::new(&self.cluster.nodes[node.index()].spec.capacity);
            let turn = Turn { node, whole };
            loop {
                let mut levels = Vec::new();
                let Some((leaf, slot)) = self.least_on(&turn, QueueId::ROOT, &mut levels) else {
                    break;
                };
                let group = &self.groups[slot as usize];
                let (job, number) = (group.job, group.number);
                let (allocation, task, failures) = self.start(slot, node);
                let reason = explain.then(|| {
                    levels.reverse();
                    Box::new(Reason { levels, starved_for: None, place: WHY })
                });
                on(Start {
                    allocation,
                    job,
                    task,
                    group: number,
                    queue: leaf,
                    node,
                    failures,
                    reason,
                });
            }
        }
    }

    /// The first server with room for a task that waits and may start. Parks the leaves of which
    /// nothing may.
    fn next_server(&mut self) -> Option<NodeId> {
        let mut seen: BTreeMap<ShapeId, Option<NodeId>> = BTreeMap::new();
        let mut first = None;
        for leaf in (1..self.queues.len() as u32).map(QueueId) {
            let row = &self.queues[leaf.index()];
            if !row.children.is_empty() || row.waiting == 0 || row.parked {
                continue;
            }
            let mut any = false;
            for i in 0..self.queues[leaf.index()].buckets.len() {
                let Some(shape) = self.startable_shape(leaf, i) else { continue };
                let found = match seen.get(&shape) {
                    Some(&found) => found,
                    None => self.find_or_block(shape),
                };
                seen.insert(shape, found);
                if let Some(node) = found {
                    any = true;
                    first = Some(first.map_or(node, |first: NodeId| first.min(node)));
                }
            }
            if !any {
                self.park(leaf);
            }
        }
        first
    }

    /// The leaf and the group that the server serves next among what is below `parent`; the choices
    /// on the way, the lowest first.
    fn least_on(
        &mut self,
        turn: &Turn,
        parent: QueueId,
        levels: &mut Vec<Choice>,
    ) -> Option<(QueueId, u32)> {
        let children: Vec<u32> =
            self.queues[parent.index()].demanding.iter().map(|&(_, child)| child).collect();
        let mut rows: Vec<(Key, QueueId)> = children
            .into_iter()
            .map(|child| (self.key_on(turn, parent, QueueId(child)), QueueId(child)))
            .collect();
        rows.sort_unstable_by_key(|row| row.0);
        for (place, &(key, child)) in rows.iter().enumerate() {
            let found = match self.queues[child.index()].children.is_empty() {
                true => self.group_on(turn, child).map(|slot| (child, slot)),
                false => self.least_on(turn, child, levels),
            };
            if found.is_some() {
                let runner_up = rows
                    .get(place + 1)
                    .map(|(key, next)| (*next, self.shown_on(turn, parent, key)));
                let key = self.shown_on(turn, parent, &key);
                levels.push(Choice { among: parent, chosen: child, key, runner_up });
                return found;
            }
        }
        None
    }

    fn key_on(&mut self, turn: &Turn, parent: QueueId, child: QueueId) -> Key {
        let key = self.queue_key(parent, child);
        if key.tier() == Tier::BelowMinimum || !self.domain(parent).policy().per_server {
            return key;
        }
        let held = self.servers.as_ref().and_then(|servers| servers.held(turn.node, child));
        let terms = &self.queues[child.index()].terms;
        match held.map(|held| turn.whole.share(held)) {
            Some(share) => {
                Key::of_ratio(Tier::Ordinary, share.amount, share.per(terms.weight), terms.tie)
            }
            None => Key::new(Tier::Ordinary, 0, terms.weight, terms.tie),
        }
    }

    /// As decisions tell it: a part of the server per weight 1, where it is by itself.
    fn shown_on(&self, turn: &Turn, parent: QueueId, key: &Key) -> KeyValue {
        if key.tier() == Tier::BelowMinimum || !self.domain(parent).policy().per_server {
            return self.shown(parent, key);
        }
        KeyValue { tier: key.tier(), value: key.value() * (1000.0 / turn.whole.whole() as f64) }
    }

    /// The best waiting group of `leaf` of which a task may start on the server.
    fn group_on(&mut self, turn: &Turn, leaf: QueueId) -> Option<u32> {
        let mut best: Option<(Key, u32)> = None;
        for i in 0..self.queues[leaf.index()].buckets.len() {
            let Some(shape) = self.startable_shape(leaf, i) else { continue };
            let shape = &self.shapes[shape];
            let fits = shape.demand.fits_in(&self.cluster.free(turn.node))
                && self.rules.allowed(&shape.key, &self.jobs).contains(turn.node);
            if !fits {
                continue;
            }
            let Some(candidate) = self.least_group(leaf, i) else { continue };
            if best.is_none_or(|(key, _)| candidate.0 < key) {
                best = Some(candidate);
            }
        }
        best.map(|(_, slot)| slot)
    }
}
