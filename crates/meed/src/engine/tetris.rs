//! Tetris's fairness knob (`tetris`; Grandl, Ananthanarayanan, Kandula, Rao, Akella,
//! *Multi-Resource Packing for Cluster Schedulers*, SIGCOMM 2014): a server starts the task that is
//! best aligned with it, of those who are furthest below their fair share.
//!
//! > of a parent's J children that want something the first max(1, ceil((1 - f) J)) by dominant
//! > share over weight; of all tasks below those that fit the server the one with the largest
//! > a(D, l) = sum over r of D_r free_lr / c_lr^2
//!
//! Servers take turns in order of joining, as under `per_server`: the first with room for something
//! that may start goes on until nothing does. The knob is turned at each level of the hierarchy,
//! with the f of the parent there; within a leaf all tasks are looked at. While a child
//! below its minimum share has something that fits, only such children are looked at, the first so
//! many of them. Where nothing of the first fits, the next in order of whom something does is
//! served: room that somebody can use is never left. A queue of another order offers only what that
//! order serves first of what fits. Equal alignments: whoever stands first in the fair orders, then
//! in the leaf's own.
//!
//! Without a hierarchy shapes are looked at instead of children, the best aligned first: of the
//! leaves that wait with it the first in the fair order is served, if it is among the first
//! ([`Core::best_by_shape`]). In a backlog the badly aligned wait, so the best has few.
//!
//! Invariant: nobody is parked here, so the children in a parent's heap are those that want
//! something. Cost of a start: O(shapes that wait) scores and questions of the placement, and a
//! look at the leaves that wait with the best shape of which somebody may start one, each of them
//! asked once a server: all n that want something where nobody may start (all at their maximum), or
//! where each offers another shape. In a hierarchy a look at the first of those that want
//! something, (1 - f) n of n, or at all where nothing of the first may start.

use super::alignment::{Alignment, Score};
use super::chosen::Chosen;
use super::core::Core;
use super::fair_order::FairOrder;
use super::packing::Offers;
use super::room::ShapeId;
use crate::decision::{Choice, Choices, Reason};
use crate::engine::packing::{Found, Packing};
use crate::ids::{NodeRow, QueueRow};
use crate::order::key::Key;

const WHY: &str = "the first server in order with room for what waits starts what is best aligned \
    with it, of those who hold least";

impl Core {
    /// The next task: on the first server where one may.
    pub(super) fn next_packed(&mut self, explain: bool) -> Option<Chosen> {
        let mut packing = self.servers.as_mut()?.take_packing()?;
        let found = self.packed(&mut packing);
        let servers = self.servers.as_mut()?;
        servers.set_packing(packing);
        servers.set_turn(found.map(|(_, node)| node));
        let (Found { leaf, slot, .. }, node) = found?;
        let reason = explain.then(|| Box::new(self.why_packed(leaf)));
        Some(Chosen { slot, node, reason })
    }

    fn packed(&mut self, packing: &mut Packing) -> Option<(Found, NodeRow)> {
        // Between two events servers only lose room: where something was started others may be.
        let turn = self.servers.as_ref().and_then(|servers| servers.turn());
        if let Some(found) = turn.and_then(|node| self.packed_on(packing, node)) {
            return Some(found);
        }
        let node = self.first_with_room()?;
        if let Some(found) = self.packed_on(packing, node) {
            return Some(found);
        }
        // What fits there would exceed a maximum share.
        let node = self.next_server(false)?;
        self.packed_on(packing, node)
    }

    /// The first server with room for a task that waits, be it one that may not start.
    fn first_with_room(&mut self) -> Option<NodeRow> {
        // A copy, for who fits nowhere leaves the list; in order, for who is blocked is listed.
        let mut shapes = self.room.startable_shapes().to_vec();
        shapes.sort_unstable();
        shapes.into_iter().filter_map(|shape| self.room.find_or_block(shape)).min()
    }

    fn packed_on(&mut self, packing: &mut Packing, node: NodeRow) -> Option<(Found, NodeRow)> {
        let alignment = Alignment::on(&self.room.spec(node).capacity, &self.room.free(node));
        packing.fitting.clear();
        let room = &self.room;
        packing.fitting.extend(room.startable_shapes().iter().filter_map(|&shape| {
            let demand = room.demand(shape);
            room.fits(shape, demand, node).then(|| (shape, alignment.score(demand)))
        }));
        if packing.fitting.is_empty() {
            return None;
        }
        self.settle_order(&mut packing.order);
        // The best aligned first: nobody asks in which order they stood.
        packing.fitting.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        for (place, (shape, _)) in (1..).zip(&packing.fitting) {
            let number = shape.number() as usize;
            if number >= packing.places.len() {
                packing.places.resize(number + 1, 0);
            }
            packing.places[number] = place;
        }
        let found = match packing.order.is_flat() {
            true => {
                let mut offers = std::mem::take(&mut packing.offers);
                offers.forget(self.tree.len());
                let found = self.best_by_shape(packing, &mut offers);
                packing.offers = offers;
                found
            }
            false => self.best_below(packing, QueueRow::ROOT),
        };
        for (shape, _) in &packing.fitting {
            packing.places[shape.number() as usize] = 0;
        }
        found.map(|found| (found, node))
    }

    fn settle_order(&mut self, order: &mut FairOrder) {
        let Core { tree, books, ready, now, .. } = self;
        let mut key_of = |queue: QueueRow| {
            let parent = tree[queue].parent()?;
            let stands = books.domain(parent).policy().fairness.is_some();
            (stands && ready.is_in_heap(queue)).then(|| books.key(*now, queue))
        };
        order.settle(tree, &mut key_of);
        debug_assert!(order.is_true(key_of), "a key has moved, and nobody has said so");
    }

    /// The same as [`Core::best_below`] the root where all are children of it.
    fn best_by_shape(&mut self, packing: &Packing, offers: &mut Offers) -> Option<Found> {
        let fairness = self.books.domain(QueueRow::ROOT).policy().fairness?;
        let mut parts = packing.in_turn(QueueRow::ROOT, fairness).into_iter();
        parts.find_map(|(part, first)| self.best_of_shapes(packing, offers, part, first))
    }

    /// The same as [`Core::best_among`].
    fn best_of_shapes(
        &mut self,
        packing: &Packing,
        offers: &mut Offers,
        children: &[QueueRow],
        first: usize,
    ) -> Option<Found> {
        let key = |child: Option<&QueueRow>| packing.order.key(*child?);
        let (from, to) = (key(children.first())?, key(children.last())?);
        let order = &packing.order;
        let up_to = |shape: ShapeId, last: &Key| {
            let waiting = order.waiting(shape);
            let before = waiting.partition_point(|&leaf| order.key(leaf) < Some(from));
            &waiting[before..waiting.partition_point(|&leaf| order.key(leaf) <= Some(last))]
        };
        let last =
            first.checked_sub(1).and_then(|last| key(children.get(last).or(children.last())));
        for alike in packing.fitting.chunk_by(|a, b| a.1 == b.1) {
            let Some(last) = last else { break };
            let best = |found: &Found| found.score == alike[0].1;
            let firsts = alike.iter().filter_map(|&(shape, _)| {
                self.first_offer(packing, offers, up_to(shape, last), best)
            });
            if let Some((_, found)) = firsts.min_by_key(|(key, _)| **key) {
                return Some(found);
            }
        }
        // Nobody of the first offers anything: the next who does.
        let firsts = packing.fitting.iter().filter_map(|&(shape, _)| {
            self.first_offer(packing, offers, up_to(shape, to), |_| true)
        });
        firsts.min_by_key(|(key, _)| **key).map(|(_, found)| found)
    }

    /// The first of `leaves` with what it offers, if that is `wanted`.
    fn first_offer<'a>(
        &mut self,
        packing: &'a Packing,
        offers: &mut Offers,
        leaves: &[QueueRow],
        wanted: impl Fn(&Found) -> bool,
    ) -> Option<(&'a Key, Found)> {
        leaves.iter().find_map(|&leaf| {
            if offers.told[leaf.index()].0 < offers.look {
                offers.told[leaf.index()] = (offers.look, self.best_below(packing, leaf));
            }
            let found = offers.told[leaf.index()].1.as_ref().filter(|found| wanted(found))?;
            Some((packing.order.key(leaf)?, *found))
        })
    }

    /// What starts on the server of all below `queue`.
    fn best_below(&mut self, packing: &Packing, queue: QueueRow) -> Option<Found> {
        let fairness = self.books.domain(queue).policy().fairness;
        if !self.tree.is_parent(queue) {
            return self.best_in(packing, queue, fairness.is_some());
        }
        let Some(fairness) = fairness else {
            let children: Vec<QueueRow> = self.ready.demanding(queue).collect();
            let mut children: Vec<_> =
                children.into_iter().map(|child| (self.queue_key(child), child)).collect();
            children.sort_unstable_by_key(|row| row.0);
            return children.into_iter().find_map(|(_, child)| self.best_below(packing, child));
        };
        let mut parts = packing.in_turn(queue, fairness).into_iter();
        parts.find_map(|(part, first)| self.best_among(packing, part, first))
    }

    /// The best aligned of what the first so many of `children` offer; where they offer nothing,
    /// what the next one does who offers something.
    fn best_among(
        &mut self,
        packing: &Packing,
        children: &[QueueRow],
        first: usize,
    ) -> Option<Found> {
        let mut best: Option<Found> = None;
        for (place, &child) in children.iter().enumerate() {
            if place >= first && best.is_some() {
                break;
            }
            let Some(found) = self.best_below(packing, child) else { continue };
            if packing.is_best(&found) {
                return Some(found);
            }
            if best.is_none_or(|best| found.score > best.score) {
                best = Some(found);
            }
        }
        best
    }

    /// What a leaf offers of what fits: the best aligned, of equal ones the first in its order;
    /// where it does not pack, the first in its order.
    fn best_in(&mut self, packing: &Packing, leaf: QueueRow, packs: bool) -> Option<Found> {
        let mut best: Option<(Score, Key, u32)> = None;
        for place in 0..self.ready.buckets(leaf).len() {
            let bucket = &self.ready.buckets(leaf)[place];
            let Some(&score) = packing.score(bucket.shape()).filter(|_| !bucket.is_empty()) else {
                continue;
            };
            let is_worse = packs && best.is_some_and(|(best, ..)| score < best);
            if is_worse || self.capped_by(leaf, bucket).is_some() {
                continue;
            }
            let Some((key, slot)) = self.least_group(leaf, place) else { continue };
            if best.is_none_or(|(best, least, _)| packs && score > best || key < least) {
                best = Some((score, key, slot));
            }
        }
        best.map(|(score, _, slot)| Found { score, leaf, slot })
    }

    /// Whose task it is, level by level; nobody comes next, for that depends on the server.
    fn why_packed(&mut self, leaf: QueueRow) -> Reason {
        let path: Vec<(QueueRow, QueueRow)> = self.tree.up(leaf).collect();
        let mut levels = Choices::with_capacity(path.len());
        for (child, parent) in path.into_iter().rev() {
            let key = self.queue_key(child);
            let (among, chosen) = (self.tree.id(parent), self.tree.id(child));
            levels.push(Choice { among, chosen, key: self.shown(parent, &key), runner_up: None });
        }
        Reason { levels, ..Reason::of(WHY) }
    }
}
