//! Which leaves count, before each walk: those of which something can start now.
//!
//! Each shape that waits is looked at: is it open, does it fit somewhere? Where that has changed,
//! the groups of leaves that wait for it may begin or cease to count, and leaves that stand by
//! themselves are looked at one by one ([`Core::settle`]). Then every parent above some that
//! changed is brought up to date once, from below.
//!
//! Heaps hold true keys, so that no key may change while it stands in one that others move in:
//! parents whose children change leave their heaps first, from above, and come back from below
//! when all below them are up to date ([`Core::change_walk`]).

use super::groups::Signature;
use super::rows::Rescaling;
use super::waiting::Waits;
use crate::engine::core::Core;
use crate::engine::room::ShapeId;
use crate::ids::{NodeRow, QueueRow};
use crate::order::heap::Item;

/// What begins or ceases to count.
#[derive(Default)]
struct Changes {
    /// Leaves that stand by themselves.
    alone: Vec<QueueRow>,
    /// Leaves that are to stand in groups from now on.
    joining: Vec<QueueRow>,
    /// Shapes that have opened, or have closed.
    shapes: Vec<ShapeId>,
}

impl Core {
    /// Takes every leaf of which nothing can start out of the walk, and puts those back that can.
    pub(in crate::engine) fn settle(&mut self) {
        if !self.rescales {
            return;
        }
        let mut changes = Changes { shapes: self.look_at_shapes(), ..Changes::default() };
        self.unsettle_below_filled();
        let mut unsettled = std::mem::take(&mut self.rescaling.unsettled);
        unsettled.sort_unstable();
        unsettled.dedup();
        for leaf in unsettled.drain(..) {
            let grouped = self.rescaling.groups.has(leaf);
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
    /// for which that has changed are to be settled; the shapes that have opened, or have closed.
    fn look_at_shapes(&mut self) -> Vec<ShapeId> {
        let mut shapes = std::mem::take(&mut self.rescaling.shapes);
        let mut unsettled = std::mem::take(&mut self.rescaling.unsettled);
        let mut changed = Vec::new();
        let is_open = |shape: ShapeId, waits: &mut Waits| {
            self.waits && !self.reserved.is_hopeless(shape)
                || self.still_fits(shape, waits.node)
                || {
                    waits.node = self.room.look_or_block(shape);
                    waits.node.is_some()
                }
        };
        shapes.look(is_open, |shape, alone| {
            unsettled.extend(alone.iter().copied());
            changed.push(shape);
        });
        self.rescaling.shapes = shapes;
        self.rescaling.unsettled = unsettled;
        changed
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
        let recounted = self.recounted(changes);
        let above = self.above(changes, &recounted);
        for &queue in &above {
            if let Some(parent) = self.tree[queue].parent().filter(|_| self.ready.is_in_heap(queue))
            {
                self.goes(parent, queue);
            }
        }
        // Whoever is asked for a key has not changed yet: it has left its heap before.
        above.iter().for_each(|&queue| self.exchange(queue));
        self.rescaling.shapes.turn(&changes.shapes);
        changes.joining.iter().for_each(|&leaf| self.join_group(leaf));
        changes.alone.iter().for_each(|&leaf| self.move_alone(leaf));
        recounted.iter().for_each(|&parent| self.forget_counted(parent));
        above.iter().for_each(|&queue| self.exchange(queue));
        for &queue in above.iter().rev() {
            self.refresh(queue, self.any_counts(queue));
        }
    }

    /// The parents of the groups that may change, in no order.
    fn recounted(&mut self, changes: &Changes) -> Vec<QueueRow> {
        let Rescaling { groups, rows, .. } = &mut self.rescaling;
        let mut recounted = Vec::new();
        let mut add = |parent: QueueRow| {
            if !std::mem::replace(&mut rows[parent.index()].marks.recounts, true) {
                recounted.push(parent);
            }
            recounted.len()
        };
        for &shape in &changes.shapes {
            let all = groups.parents(shape).iter().fold(0, |_, &parent| add(parent));
            // Where each parent has leaves of many shapes, the first of these names all of them.
            if all == groups.benches() {
                break;
            }
        }
        let joining = changes.joining.iter().filter_map(|&leaf| self.tree[leaf].parent());
        joining.for_each(|parent| {
            add(parent);
        });
        recounted.iter().for_each(|parent| rows[parent.index()].marks.recounts = false);
        recounted
    }

    /// All queues above what changes, from above: children have larger numbers than their parents.
    fn above(&mut self, changes: &Changes, recounted: &[QueueRow]) -> Vec<QueueRow> {
        let of_leaves = changes.alone.iter().filter_map(|&leaf| self.tree[leaf].parent());
        let mut above = Vec::new();
        let rows = &mut self.rescaling.rows;
        for parent in of_leaves.chain(recounted.iter().copied()) {
            let mut at = Some(parent);
            while let Some(queue) = at.filter(|queue| !rows[queue.index()].marks.changes) {
                rows[queue.index()].marks.changes = true;
                above.push(queue);
                at = self.tree[queue].parent();
            }
        }
        above.iter().for_each(|queue| rows[queue.index()].marks.changes = false);
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

    /// A leaf by itself comes into the group of those that wait for the same shapes; its parent is
    /// counted anew after that.
    fn join_group(&mut self, leaf: QueueRow) {
        let Some(parent) = self.tree[leaf].parent() else { return };
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
        let (key, term) = (self.queue_key(leaf), self.view().term(parent, leaf));
        self.rescaling.rows[leaf.index()].term = term;
        self.rescaling.groups.join((parent, leaf), signature, key, &term);
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

    /// What leaves the heap of `parent`, and what comes into it, all at once.
    fn exchange(&mut self, parent: QueueRow) {
        let exchange = &mut self.rescaling.rows[parent.index()].exchange;
        if exchange.out.is_empty() && exchange.new.is_empty() {
            return;
        }
        let mut exchange = std::mem::take(exchange);
        let by_share = self.holds_true_keys(parent);
        let compare = self.rescaling.comparing(&self.tree, &self.books, by_share);
        self.ready.exchange_by(parent, &exchange.out, &exchange.new, compare);
        exchange.out.clear();
        exchange.new.clear();
        self.rescaling.rows[parent.index()].exchange = exchange;
    }
}
