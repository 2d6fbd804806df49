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
//! Invariant: where `counts`, `held[l]` sums the tasks that run on l, for the leaf and every queue
//! above it but the root. No server after l is served before l is: room only becomes less while
//! decisions are made.
//! Cost: O(queues + waiting shapes) searches for each server that is served, O(n log n) for each
//! start among n demanding children. It is a baseline, and other policies pay one branch for it at
//! a start and an end.

use std::collections::BTreeMap;

use super::chosen::Chosen;
use super::core::Core;
use super::residual::residual_key;
use super::room::ShapeId;
use crate::decision::{Choice, Choices, KeyValue, Reason};
use crate::ids::{NodeRow, QueueRow};
use crate::order::key::Key;
use crate::order::{Pool, Tier};
use crate::resources::Resources;

/// A server whose turn it is.
pub(super) struct Turn {
    pub(super) node: NodeRow,
    pub(super) of: Compared,
}

/// What shares on a server are parts of.
pub(super) enum Compared {
    /// What it has: of that counts what is held there.
    Whole(Pool),
    /// What is free there: of that counts all that is held.
    Free(Resources),
}

impl Compared {
    /// A whole share, in the numbers of keys.
    fn whole(&self) -> u64 {
        match self {
            Compared::Whole(pool) => pool.whole(),
            Compared::Free(_) => 1,
        }
    }
}

const WHY: &str = "each server by itself: the first in order with room for what waits serves who \
    holds least of it";

impl Core {
    /// The next task: on the server whose turn it is, as long as something starts there.
    pub(super) fn next_by_server(&mut self, explain: bool) -> Option<Chosen> {
        // Every server is looked at anyhow, so the fresh ones are not looked at first: whom they
        // help is woken, and what fits there is opened.
        self.wake_next(true);
        self.room.forget_fresh();
        let root = self.books.domain(QueueRow::ROOT).policy();
        if root.fairness.is_some() {
            return self.next_packed(explain);
        }
        if root.residual {
            return self.next_by_rest(explain);
        }
        loop {
            let node = match self.servers.as_ref()?.turn() {
                Some(node) => node,
                None => {
                    if !self.room.any_open() {
                        return None;
                    }
                    self.settle();
                    self.next_server(true)?
                }
            };
            let of = Compared::Whole(Pool::new(&self.room.spec(node).capacity));
            let mut levels = Choices::new();
            let least = self.least_on(&Turn { node, of }, QueueRow::ROOT, &mut levels);
            let slot = least.map(|(_, slot)| slot);
            self.servers.as_mut()?.set_turn(slot.map(|_| node));
            if let Some(slot) = slot {
                let reason = explain.then(|| {
                    levels.reverse();
                    Box::new(Reason { levels, ..Reason::of(WHY) })
                });
                return Some(Chosen { slot, node, reason });
            }
        }
    }

    /// The first server with room for a task that waits and may start. With `parks`, parks the
    /// leaves of which nothing may.
    pub(super) fn next_server(&mut self, parks: bool) -> Option<NodeRow> {
        let mut seen: BTreeMap<ShapeId, Option<NodeRow>> = BTreeMap::new();
        let mut first = None;
        for leaf in (1..self.tree.len() as u32).map(QueueRow) {
            if self.ready.waiting(leaf) == 0 || self.ready.is_parked(leaf) {
                continue;
            }
            let mut any = false;
            for i in 0..self.ready.buckets(leaf).len() {
                let Some(shape) = self.startable_shape(leaf, i) else { continue };
                let found = match seen.get(&shape) {
                    Some(&found) => found,
                    None => self.room.find_or_block(shape),
                };
                seen.insert(shape, found);
                if let Some(node) = found {
                    any = true;
                    first = Some(first.map_or(node, |first: NodeRow| first.min(node)));
                }
            }
            if !any && parks {
                self.park(leaf);
            }
        }
        first
    }

    /// The group that the server serves next among what is below `parent`, with the key of the
    /// child that it is below; the choices on the way, the lowest first.
    pub(super) fn least_on(
        &mut self,
        turn: &Turn,
        parent: QueueRow,
        levels: &mut Choices,
    ) -> Option<(Key, u32)> {
        let children: Vec<QueueRow> = self.ready.demanding(parent).collect();
        let mut rows: Vec<(Key, QueueRow)> =
            children.into_iter().map(|child| (self.key_on(turn, parent, child), child)).collect();
        rows.sort_unstable_by_key(|row| row.0);
        for (place, &(key, child)) in rows.iter().enumerate() {
            let found = match self.tree.is_parent(child) {
                true => self.least_on(turn, child, levels).map(|(_, slot)| slot),
                false => self.group_on(turn.node, child),
            };
            if let Some(slot) = found {
                let runner_up = rows
                    .get(place + 1)
                    .map(|(key, next)| (self.tree.id(*next), self.shown_on(turn, parent, key)));
                let shown = self.shown_on(turn, parent, &key);
                let (among, chosen) = (self.tree.id(parent), self.tree.id(child));
                levels.push(Choice { among, chosen, key: shown, runner_up });
                return Some((key, slot));
            }
        }
        None
    }

    fn key_on(&mut self, turn: &Turn, parent: QueueRow, child: QueueRow) -> Key {
        let key = self.queue_key(child);
        if key.tier() == Tier::BelowMinimum || !self.books.domain(parent).policy().per_server {
            return key;
        }
        let terms = self.books.terms(child);
        let whole = match &turn.of {
            Compared::Whole(whole) => whole,
            Compared::Free(free) => return residual_key(self.books.held(child), free, terms),
        };
        let held = self.servers.as_ref().and_then(|servers| servers.held(turn.node, child));
        match held.map(|held| whole.share(held)) {
            Some(share) => {
                Key::of_ratio(Tier::Ordinary, share.amount, share.per(terms.weight), terms.tie)
            }
            None => Key::new(Tier::Ordinary, 0, terms.weight, terms.tie),
        }
    }

    /// As decisions tell it: a part of the server per weight 1, where it is by itself.
    fn shown_on(&self, turn: &Turn, parent: QueueRow, key: &Key) -> KeyValue {
        if key.tier() == Tier::BelowMinimum || !self.books.domain(parent).policy().per_server {
            return self.shown(parent, key);
        }
        KeyValue { tier: key.tier(), value: key.value() * (1000.0 / turn.of.whole() as f64) }
    }

    /// The best waiting group of `leaf` of which a task may start on the server.
    pub(super) fn group_on(&mut self, node: NodeRow, leaf: QueueRow) -> Option<u32> {
        let mut best: Option<(Key, u32)> = None;
        for i in 0..self.ready.buckets(leaf).len() {
            let Some(shape) = self.startable_shape(leaf, i) else { continue };
            if !self.room.fits(shape, self.room.demand(shape), node) {
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
