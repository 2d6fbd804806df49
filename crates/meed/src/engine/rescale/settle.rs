//! Which leaves count, before each walk: those of which something can start now.
//!
//! Each shape that waits is looked at: is it open, does it fit somewhere? Where that has changed,
//! the groups of leaves that wait for it may begin or cease to count, and leaves that stand by
//! themselves are looked at one by one ([`Engine::settle`]). Then every parent above some that
//! changed is brought up to date once, from below.
//!
//! Heaps hold true keys, so that no key may change while it stands in one that others move in:
//! parents whose children change leave their heaps first, from above, and come back from below
//! when all below them are up to date ([`Engine::change_walk`]).

use std::collections::{BTreeMap, BTreeSet};

use super::View;
use super::groups::{Group, GroupId, Signature};
use crate::engine::Engine;
use crate::engine::room::ShapeId;
use crate::node_rows::Moves;
use crate::order::heap::Item;
use crate::order::rescaled::Term;
use crate::spec::{NodeRow, QueueRow};

/// The demands that wait.
#[derive(Default)]
pub(super) struct WaitingShapes {
    rows: BTreeMap<ShapeId, Waits>,
}

/// A demand that waits.
#[derive(Default)]
struct Waits {
    /// How many leaves wait with it.
    leaves: u32,
    /// Those of them that are in no group.
    alone: BTreeSet<QueueRow>,
    /// Groups that have it in their signature.
    groups: BTreeSet<GroupId>,
    /// Whether it could be started somewhere when it was looked at last.
    open: bool,
    /// Where.
    node: Option<NodeRow>,
}

impl WaitingShapes {
    pub(super) fn move_rows(&mut self, moves: &Moves) {
        for waits in self.rows.values_mut() {
            waits.node = waits.node.and_then(|row| moves.to(row));
        }
    }

    /// `leaf`, which is in no group, begins to wait with it.
    pub(super) fn begins(&mut self, shape: ShapeId, leaf: QueueRow) {
        let waits = self.rows.entry(shape).or_default();
        waits.leaves += 1;
        waits.alone.insert(leaf);
    }

    /// `leaf`, which is in no group, waits with it no more.
    pub(super) fn ceases(&mut self, shape: ShapeId, leaf: QueueRow) {
        let Some(waits) = self.rows.get_mut(&shape) else { return };
        waits.alone.remove(&leaf);
        waits.leaves -= 1;
        if waits.leaves == 0 {
            self.rows.remove(&shape);
        }
    }

    /// `leaf`, which waits with it, is in no group any more.
    pub(super) fn stands_alone(&mut self, shape: ShapeId, leaf: QueueRow) {
        if let Some(waits) = self.rows.get_mut(&shape) {
            waits.alone.insert(leaf);
        }
    }

    /// `leaf`, which waits with it, is in a group.
    fn stands_in_group(&mut self, shape: ShapeId, leaf: QueueRow) {
        if let Some(waits) = self.rows.get_mut(&shape) {
            waits.alone.remove(&leaf);
        }
    }

    fn note_group(&mut self, id: GroupId, signature: &[ShapeId]) {
        for shape in signature {
            self.rows.entry(*shape).or_default().groups.insert(id);
        }
    }

    /// Nobody is left in the group.
    pub(super) fn forget_group(&mut self, id: GroupId, group: &Group) {
        for shape in group.signature() {
            if let Some(waits) = self.rows.get_mut(shape) {
                waits.groups.remove(&id);
            }
        }
    }

    fn open(&self, signature: &[ShapeId]) -> u32 {
        let open = |shape| self.rows.get(shape).is_some_and(|waits| waits.open);
        signature.iter().filter(|&shape| open(shape)).count() as u32
    }
}

/// What begins or ceases to count.
#[derive(Default)]
struct Changes {
    /// Leaves that stand by themselves.
    alone: Vec<QueueRow>,
    /// Leaves that are to stand in groups from now on.
    joining: Vec<QueueRow>,
    /// Groups.
    groups: Vec<GroupId>,
}

/// The children that leave the heap of a parent, and those that come into it.
#[derive(Default)]
pub(super) struct Exchange {
    out: Vec<u32>,
    new: Vec<Item>,
}

impl Engine {
    /// Takes every leaf of which nothing can start out of the walk, and puts those back that can.
    pub(in crate::engine) fn settle(&mut self) {
        if !self.rescales {
            return;
        }
        let mut changes = Changes { groups: self.look_at_shapes(), ..Changes::default() };
        self.unsettle_below_filled();
        let mut unsettled = std::mem::take(&mut self.rescaling.unsettled);
        unsettled.sort_unstable();
        unsettled.dedup();
        for leaf in unsettled.drain(..) {
            let grouped = self.rescaling.groups.id_of(leaf).is_some();
            if self.ready.waiting(leaf) == 0 || grouped {
                continue;
            }
            if self.rescaling.rows[leaf.index()].by_shapes {
                changes.joining.push(leaf);
                continue;
            }
            match (self.ready.is_parked(leaf), self.may_start(leaf)) {
                (false, false) => {
                    self.note_parked(leaf);
                    changes.alone.push(leaf);
                }
                (true, true) => {
                    self.ready.unpark(leaf);
                    changes.alone.push(leaf);
                }
                // Perhaps it waits for its maximum share from now on.
                (true, false) => self.note_capped(leaf),
                (false, true) => {}
            }
        }
        self.rescaling.unsettled = unsettled;
        self.change_walk(&changes);
    }

    /// Looks for each demand that waits whether it can be started somewhere. Leaves by themselves
    /// for which that has changed are to be settled; the groups that may begin or cease to count.
    fn look_at_shapes(&mut self) -> Vec<GroupId> {
        let mut shapes = std::mem::take(&mut self.rescaling.shapes.rows);
        let mut touched = Vec::new();
        for (&shape, waits) in &mut shapes {
            let open =
                self.waits && !self.is_hopeless(shape) || self.still_fits(shape, waits.node) || {
                    waits.node = self.room.look_or_block(shape);
                    waits.node.is_some()
                };
            if open == waits.open {
                continue;
            }
            waits.open = open;
            self.rescaling.unsettled.extend(waits.alone.iter().copied());
            for &id in &waits.groups {
                self.rescaling.groups.standing_mut(id).shape_opens(open);
                touched.push(id);
            }
        }
        self.rescaling.shapes.rows = shapes;
        touched.retain(|&id| {
            let standing = self.rescaling.groups.standing(id);
            standing.counts() != standing.is_open()
        });
        touched
    }

    /// Whether tasks of the shape fit where they did when it was looked at last.
    fn still_fits(&self, shape: ShapeId, node: Option<NodeRow>) -> bool {
        // A gang is on several: it is looked for anew.
        self.room.turn_of(shape) == 1
            && node.is_some_and(|node| self.room.fits(shape, self.room.demand(shape), node))
    }

    /// Leaves below a maximum share where something has started may have no more room there.
    fn unsettle_below_filled(&mut self) {
        for queue in std::mem::take(&mut self.rescaling.filled) {
            let mut below = vec![queue];
            while let Some(at) = below.pop() {
                below.extend(self.tree[at].children().iter().copied());
                if self.ready.waiting(at) > 0 {
                    self.rescaling.unsettled.push(at);
                }
            }
        }
    }

    fn note_capped(&mut self, leaf: QueueRow) {
        for bucket in 0..self.ready.buckets(leaf).len() {
            let bucket = &self.ready.buckets(leaf)[bucket];
            if bucket.is_empty() {
                continue;
            }
            if let Some(queue) = self.capped_by(leaf, bucket) {
                self.ready.wait_for_maximum(queue, leaf);
            }
        }
    }

    /// Brings all that changes, and all above it, up to date; see the module.
    fn change_walk(&mut self, changes: &Changes) {
        let above = self.above(changes);
        for &queue in &above {
            if let Some(parent) = self.tree[queue].parent().filter(|_| self.ready.is_in_heap(queue))
            {
                self.goes(parent, queue);
            }
        }
        // Whoever is asked for a key has not changed yet: it has left its heap before.
        above.iter().for_each(|&queue| self.exchange(queue));
        // A group may be listed twice: the second time nothing is left to do.
        let joined: Vec<GroupId> =
            changes.joining.iter().filter_map(|&leaf| self.join_group(leaf)).collect();
        changes.alone.iter().for_each(|&leaf| self.move_alone(leaf));
        changes.groups.iter().chain(&joined).for_each(|&group| self.move_group(group));
        above.iter().for_each(|&queue| self.exchange(queue));
        for &queue in above.iter().rev() {
            self.refresh(queue, self.ready.wants(queue));
        }
    }

    /// All queues above what changes, from above: children have larger numbers than their parents.
    fn above(&mut self, changes: &Changes) -> Vec<QueueRow> {
        let leaves = changes.alone.iter().chain(&changes.joining);
        let of_leaves = leaves.filter_map(|&leaf| self.tree[leaf].parent());
        let of_groups =
            changes.groups.iter().map(|&id| self.rescaling.groups.standing(id).parent());
        let mut above = Vec::new();
        let rows = &mut self.rescaling.rows;
        for parent in of_leaves.chain(of_groups) {
            let mut at = Some(parent);
            while let Some(queue) = at.filter(|queue| !rows[queue.index()].changes) {
                rows[queue.index()].changes = true;
                above.push(queue);
                at = self.tree[queue].parent();
            }
        }
        above.iter().for_each(|queue| rows[queue.index()].changes = false);
        above.sort_unstable();
        above
    }

    /// The child leaves the heap of its parent.
    fn goes(&mut self, parent: QueueRow, child: QueueRow) {
        self.rescaling.rows[parent.index()].exchange.out.push(child.0);
    }

    /// The child comes into the heap of its parent.
    fn comes(&mut self, parent: QueueRow, (key, child): Item) {
        self.rescaling.rows[parent.index()].exchange.new.push((key, child));
    }

    /// A leaf by itself, which counts as long as it is not parked.
    fn move_alone(&mut self, leaf: QueueRow) {
        let Some(parent) = self.tree[leaf].parent() else { return };
        let parked = self.ready.is_parked(leaf);
        match (parked, self.ready.is_in_heap(leaf)) {
            (true, true) => self.goes(parent, leaf),
            (false, false) => {
                let key = self.queue_key(leaf);
                self.comes(parent, (key, leaf.0));
            }
            _ => {}
        }
        self.replace_term(parent, leaf, !parked);
        if let Some(guard) = &mut self.guard {
            match parked {
                true => guard.remove(leaf),
                false => guard.add(self.now, leaf),
            }
        }
    }

    /// A leaf by itself comes into the group of those that wait for the same shapes.
    fn join_group(&mut self, leaf: QueueRow) -> Option<GroupId> {
        let parent = self.tree[leaf].parent()?;
        if self.ready.is_in_heap(leaf) {
            self.goes(parent, leaf);
        }
        self.replace_term(parent, leaf, false);
        self.ready.unpark(leaf);
        let waiting = self.ready.buckets(leaf).iter().filter(|bucket| !bucket.is_empty());
        let shapes: Signature = waiting.map(|bucket| bucket.shape()).collect();
        for &shape in &shapes {
            self.rescaling.shapes.stands_in_group(shape, leaf);
        }
        let signature = self.easiest(shapes);
        let (shapes, all) = (&mut self.rescaling.shapes, &mut self.rescaling.groups);
        let open = shapes.open(&signature);
        let id = all.find_or_add(parent, signature, open).unwrap_or_else(|new| {
            shapes.note_group(new, all.get(new).signature());
            new
        });
        let (key, term) = (self.queue_key(leaf), self.view().term(parent, leaf));
        self.rescaling.rows[leaf.index()].term = term;
        self.rescaling.groups.join(id, leaf, key, &term);
        if self.rescaling.groups.standing(id).counts() {
            self.change_sum(parent, |sum| sum.replace(&Term::Absent, &term));
        }
        Some(id)
    }

    /// Those of `shapes` that want no more of any kind than another one, in order.
    fn easiest(&self, mut shapes: Signature) -> Signature {
        shapes.sort_unstable();
        let all = shapes.clone();
        shapes.retain(|shape| {
            all.iter().all(|&other| other == *shape || !self.room.is_easier(other, *shape))
        });
        shapes
    }

    /// A group, which counts while a shape of it is open.
    fn move_group(&mut self, id: GroupId) {
        let standing = *self.rescaling.groups.standing(id);
        let (parent, before) = (standing.parent(), standing.leader());
        if before.is_none() && !standing.is_open() {
            return;
        }
        let group = self.rescaling.groups.get(id);
        let first = standing.is_open().then(|| group.first());
        let leader = first.map(|(_, leaf)| QueueRow(leaf));
        if before == leader {
            return;
        }
        self.rescaling.groups.standing_mut(id).set_leader(leader);
        let row = &mut self.rescaling.rows[parent.index()];
        row.exchange.out.extend(before.map(|child| child.0));
        row.exchange.new.extend(first);
        if before.is_none() == leader.is_none() {
            return;
        }
        if let Some(sum) = row.sum.as_deref_mut() {
            row.exact.take();
            let of_group = self.rescaling.groups.get(id).sum();
            match leader {
                Some(_) => sum.add(of_group),
                None => sum.subtract(of_group),
            }
        }
    }

    /// What leaves the heap of `parent`, and what comes into it, all at once.
    fn exchange(&mut self, parent: QueueRow) {
        let by_share = self.holds_true_keys(parent);
        let mut exchange = std::mem::take(&mut self.rescaling.rows[parent.index()].exchange);
        let (tree, books, rescaling) = (&self.tree, &self.books, &self.rescaling);
        let (rows, groups) = (&rescaling.rows[..], &rescaling.groups);
        self.ready.exchange_by(
            parent,
            &exchange.out,
            &exchange.new,
            |ready, a, b| match by_share {
                true => View { tree, books, ready, rows, groups }.compare(a, b),
                false => a.0.cmp(&b.0),
            },
        );
        exchange.out.clear();
        exchange.new.clear();
        self.rescaling.rows[parent.index()].exchange = exchange;
    }
}
