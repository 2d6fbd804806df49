//! Hierarchical dominant fairness that does not starve: a parent's share counts its demanding
//! children rescaled.
//!
//! If a parent's share were the plain sum of its children's amounts, one child could starve: a
//! sibling that cannot get more (its tasks fit nowhere now) keeps the parent's share high while
//! another kind of resource lies idle. So, after Bhattacharya et al., "Hierarchical Scheduling for
//! Diverse Datacenter Workloads" (SoCC 2013), Sec. 5:
//!
//! > share(P) = max over r of sum over demanding children i of x_ir * M / (s_i / w_i),  M = min_i
//! > s_i / w_i
//!
//! x_i the amounts of child i as parts of the pool (of a parent: rescaled in the same way), s_i
//! their largest. Children that want nothing, or of which nothing fits, do not count. It applies
//! where a parent and its own parent both order by dominant allocation (`drf`, `drfh`); usage over
//! time (`long-term-drf`) is summed plainly, and the guard `t_wait` helps.
//!
//! Invariants, while the tree has such a parent: the heap of every parent that orders by dominant
//! allocation holds the *true* keys of its children, for they move at events only, and each change
//! goes up the path at once ([`Core::refresh`]). The sum of a rescaled parent (`order::rescaled`)
//! has one term for each child that counts. Leaves that wait for the same shapes are kept together,
//! in no heap of their parent (`groups`), and added up from the shapes that are open (`bench`); M
//! is the less of the heap's top and theirs. Before each walk the leaves that can start something
//! now, and only those, count (`settle`). One exception: a parent whose term nobody needs may stand
//! in its heap by a bound from below until it is the first there ([`Core::first_child`]).
//!
//! Keys are compared exactly (`view`).
//!
//! Cost of a start or an end: O(kinds + log children) for each level of its path; and where the
//! first leaf of all that wait for a shape below one parent comes later now, as it mostly does when
//! it starts, a look at the groups of leaves there that wait for it. Of a decision: a look at each
//! distinct demand that waits; where one begins or ceases to fit, O(kinds) for each open demand
//! that waits below a parent, whatever leaves do, and the path above each such parent once. Leaves
//! below a maximum share are looked at one by one, after each start there, and so are all leaves
//! where the root has a guard.

mod bench;
mod groups;
pub(super) mod rows;
mod settle;
mod view;
mod waiting;

use std::cmp::Ordering;

use super::core::Core;
use super::ready::{AT_ONCE, Bucket};
use super::room::ShapeId;
use crate::ids::QueueRow;
use crate::order::heap::Item;
use crate::order::key::Key;
use crate::order::rescaled::{Sum, Term};
use rows::{Rescaling, Row};
use view::View;
use waiting::WaitingShapes;

impl Core {
    fn view(&self) -> View<'_> {
        let (tree, books, ready) = (&self.tree, &self.books, &self.ready);
        let Rescaling { rows, groups, shapes, .. } = &self.rescaling;
        View { tree, books, ready, rows, groups, open: shapes.open() }
    }

    /// Whether `queue` stands in its parent by the rescaled amounts of its children.
    pub(super) fn is_rescaled(&self, queue: QueueRow) -> bool {
        let row = &self.tree[queue];
        let above = row.parent().is_some_and(|parent| self.books.domain(parent).rescales());
        above && !row.children().is_empty() && self.books.domain(queue).rescales()
    }

    /// Whether the heap of `parent` holds true keys, compared by [`Core::compare_children`].
    #[inline]
    pub(super) fn holds_true_keys(&self, parent: QueueRow) -> bool {
        self.rescales && self.books.domain(parent).rescales()
    }

    /// The key of a rescaled parent; `None` for all other queues.
    #[inline]
    pub(super) fn rescaled_key(&self, queue: QueueRow) -> Option<Key> {
        if !self.rescales {
            return None;
        }
        let view = self.view();
        if !view.is_rescaled(queue) {
            return None;
        }
        let below = self.books.key_below_minimum(queue);
        Some(below.unwrap_or_else(|| Key::at(view.level(queue), view.tie(queue))))
    }

    /// Which of two children of one parent comes first, by keys that are true now.
    pub(super) fn compare_children(&self, a: &Item, b: &Item) -> Ordering {
        match self.rescales {
            true => self.view().compare(a, b),
            false => a.0.cmp(&b.0),
        }
    }

    /// The child of `parent`, whose heap holds true keys or bounds, that comes first.
    #[inline]
    pub(super) fn first_child(&mut self, parent: QueueRow) -> Option<(Key, QueueRow)> {
        loop {
            let (key, child) = self.view().first(parent)?;
            if self.is_certain(parent, (key, child)) {
                return Some((key, QueueRow(child)));
            }
        }
    }

    /// The one that comes after it.
    pub(super) fn second_child(&mut self, parent: QueueRow) -> Option<(Key, QueueRow)> {
        loop {
            self.first_child(parent)?;
            let (key, child) = self.view().second(parent)?;
            if self.is_certain(parent, (key, child)) {
                return Some((key, QueueRow(child)));
            }
        }
    }

    /// Whether a child stands in the heap of its parent by its true key; from now on it does.
    #[inline]
    fn is_certain(&mut self, parent: QueueRow, (stored, child): Item) -> bool {
        let child = QueueRow(child);
        if !self.rescaling.rows[child.index()].is_bound {
            return true;
        }
        let key = self.queue_key(child);
        debug_assert!(
            self.view().compare(&(stored, child.0), &(key, child.0)).is_le(),
            "a bound is not above what it stands for"
        );
        self.rescaling.rows[child.index()].is_bound = false;
        self.place(parent, child, Some(key));
        false
    }

    /// Whether a child of `parent` wants something and is not set apart.
    fn any_counts(&self, parent: QueueRow) -> bool {
        let Rescaling { groups, shapes, .. } = &self.rescaling;
        self.ready.wants(parent) || groups.any_counts(parent, shapes.open())
    }

    /// The children of `parent` that want something and are not set apart, in no order.
    pub(super) fn counting(&self, parent: QueueRow) -> impl Iterator<Item = QueueRow> + '_ {
        self.view().counting(parent)
    }

    /// Whether a leaf that waits is set apart because nothing of it fits.
    pub(super) fn is_set_apart(&self, leaf: QueueRow) -> bool {
        let Rescaling { groups, shapes, .. } = &self.rescaling;
        let counts = groups.counts_with(leaf, shapes.open());
        counts.map_or_else(|| self.ready.is_parked(leaf), |counts| !counts)
    }

    /// Brings the place of `queue` in its parent up to date: its key, its term, and whether it
    /// stands in the heap at all. All below it are up to date. In a group it stays in it.
    pub(super) fn refresh(&mut self, queue: QueueRow, counts: bool) {
        let Some(parent) = self.tree[queue].parent() else { return };
        if self.rescaling.groups.has(queue) {
            return self.refresh_in_group(parent, queue);
        }
        let bound = if counts { self.bound_below(queue) } else { None };
        let key = bound.or_else(|| counts.then(|| self.queue_key(queue)));
        self.rescaling.rows[queue.index()].is_bound = bound.is_some();
        self.place(parent, queue, key);
        self.replace_term(parent, queue, counts);
    }

    /// A key that is not above the one of a parent whose groups are not added up, and need not be.
    fn bound_below(&self, queue: QueueRow) -> Option<Key> {
        let row = &self.rescaling.rows[queue.index()];
        let quick = match row.may_wait {
            true => self.rescaling.groups.quick(queue, self.rescaling.shapes.open()),
            false => None,
        };
        let (quick, alone) = (quick?, row.sum.as_deref()?);
        if let Some(key) = self.books.key_below_minimum(queue) {
            return Some(key);
        }
        let view = self.view();
        let least = view.ready.first(queue).map_or(f64::INFINITY, |(key, _)| key.least());
        let mut lows = alone.lows();
        lows.add(&quick.lows);
        let level = lows.level(least.min(quick.least), view.weight(queue));
        Some(Key::at_least(level, view.tie(queue)))
    }

    /// What counts below `parent` is to be added up anew.
    fn forget_counted(&mut self, parent: QueueRow) {
        let Rescaling { groups, rows, .. } = &mut self.rescaling;
        rows[parent.index()].exact.take();
        groups.forget_counted(parent);
    }

    /// The key of `queue` in the heap of its parent; `None`: it is in it no more.
    fn place(&mut self, parent: QueueRow, queue: QueueRow, key: Option<Key>) {
        let by_share = self.holds_true_keys(parent);
        let compare = self.rescaling.comparing(&self.tree, &self.books, by_share);
        self.ready.place_by(parent, queue, key, compare);
    }

    fn replace_term(&mut self, parent: QueueRow, queue: QueueRow, counts: bool) {
        let term = if counts { self.view().term(parent, queue) } else { Term::Absent };
        let rows = &mut self.rescaling.rows;
        let before = std::mem::replace(&mut rows[queue.index()].term, term);
        self.change_sum(parent, |sum| {
            if before != term {
                sum.replace(&before, &term);
            }
        });
    }

    /// Changes the sum of `parent`, if it is rescaled.
    fn change_sum(&mut self, parent: QueueRow, change: impl Fn(&mut Sum)) {
        let row = &mut self.rescaling.rows[parent.index()];
        if let Some(sum) = row.sum.as_deref_mut() {
            // A direction that is known by bounds may have moved within them.
            row.exact.take();
            change(sum);
            self.rescaling.groups.change_total(parent, change);
        }
    }

    /// The same of a leaf in a group.
    fn refresh_in_group(&mut self, parent: QueueRow, leaf: QueueRow) {
        let key = self.queue_key(leaf);
        let term = self.view().term(parent, leaf);
        let before = std::mem::replace(&mut self.rescaling.rows[leaf.index()].term, term);
        let Rescaling { groups, shapes, .. } = &mut self.rescaling;
        if groups.update(leaf, key, (&before, &term), shapes.open()) {
            self.rescaling.rows[parent.index()].exact.take();
        }
    }

    /// The same for all of the path of `leaf`, from below.
    pub(super) fn refresh_path(&mut self, leaf: QueueRow, counts: bool) {
        let (mut at, mut counts) = (leaf, counts);
        while let Some(parent) = self.tree[at].parent() {
            self.refresh(at, counts);
            counts = self.any_counts(parent);
            at = parent;
        }
    }

    /// The amounts of `leaf` have risen, and with them those above.
    #[inline]
    pub(super) fn rekey_rescaled(&mut self, leaf: QueueRow) {
        if !self.rescales {
            return;
        }
        self.refresh_path(leaf, self.ready.is_in_heap(leaf));
        for queue in self.tree.path(leaf) {
            self.note_filled(queue);
        }
    }

    /// `queue` may have no more room below its maximum share for some that wait below it.
    pub(super) fn note_filled(&mut self, queue: QueueRow) {
        if self.rescales && self.tree[queue].max().is_some() {
            self.rescaling.filled.insert(queue);
        }
    }

    /// `leaf` has begun, or ceased, to wait with tasks of a shape.
    pub(super) fn note_waiting(&mut self, leaf: QueueRow, shape: ShapeId, waits: bool) {
        if !self.rescales {
            return;
        }
        self.leave_group(leaf);
        self.rescaling.unsettled.push(leaf);
        match waits {
            true => self.rescaling.shapes.begins(shape, leaf),
            false => self.rescaling.shapes.ceases(shape, leaf),
        }
    }

    /// Whether something of `leaf` may start has to be looked at anew.
    pub(super) fn unsettle(&mut self, leaf: QueueRow) {
        self.rescaling.unsettled.push(leaf);
    }

    /// `leaf` stands by itself from now on, until it is settled; it counts, or is parked, as its
    /// group did.
    pub(super) fn leave_group(&mut self, leaf: QueueRow) {
        let Rescaling { groups, shapes, rows, .. } = &mut self.rescaling;
        let Some(row) = rows.get_mut(leaf.index()) else { return };
        let Some(left) = groups.leave(leaf, &row.term, shapes.open()) else { return };
        shapes.stands_alone(leaf, self.ready.buckets(leaf));
        match left.counts {
            // By the key that it had: whatever has changed it brings it up to date.
            true => {
                let term = row.term;
                if let Some(alone) = rows[left.parent.index()].sum.as_deref_mut() {
                    alone.replace(&Term::Absent, &term);
                }
                self.place(left.parent, leaf, Some(left.key));
            }
            false => {
                // The sum of the parent has not got it.
                row.term = Term::Absent;
                self.ready.park(leaf, None, AT_ONCE);
            }
        }
    }

    pub(super) fn may_start(&self, leaf: QueueRow) -> bool {
        (0..self.ready.buckets(leaf).len())
            .any(|bucket| self.startable_shape(leaf, bucket).is_some())
    }

    /// Weights, the pool or the tree have changed, or a state is restored: all sums and heaps anew,
    /// from below. Children have larger numbers than their parents. Leaves find their groups anew
    /// when they are settled. Linear: groups are thrown away as they are, no leaf leaves one.
    pub(super) fn rebuild_rescaled(&mut self) {
        let mut counts = vec![false; self.tree.len()];
        let begins = self.rescaling.rows.is_empty();
        for leaf in self.rescaling.groups.grouped().collect::<Vec<_>>() {
            match self.is_set_apart(leaf) {
                true => self.ready.park(leaf, None, AT_ONCE),
                false => counts[leaf.index()] = !self.tree.is_parent(leaf),
            }
            self.rescaling.shapes.stands_alone(leaf, self.ready.buckets(leaf));
            self.unsettle(leaf);
        }
        for queue in (0..self.tree.len() as u32).map(QueueRow) {
            for child in self.ready.drain(queue) {
                counts[child.index()] = !self.tree.is_parent(child);
            }
        }
        if begins {
            self.begin_to_count(&mut counts);
        }
        let queues = (0..self.tree.len() as u32).map(QueueRow);
        let sum = |queue: QueueRow| self.is_rescaled(queue).then(Box::default);
        let above_is_rescaled =
            |queue: QueueRow| self.tree[queue].parent().is_some_and(|at| self.is_rescaled(at));
        let row = |queue: QueueRow| Row {
            sum: sum(queue),
            may_wait: self.is_rescaled(queue) && !above_is_rescaled(queue),
            by_shapes: self.counts_by_shapes(queue),
            ..Row::default()
        };
        self.rescaling.rows = queues.clone().map(row).collect();
        self.rescaling.groups.clear(self.tree.len());
        for queue in queues.skip(1).rev() {
            self.refresh(queue, counts[queue.index()] || self.any_counts(queue));
        }
    }

    /// Whether `queue` is a leaf that counts just while one of its shapes is open: no maximum share
    /// may be in its way, and nobody else keeps a list of those that count.
    fn counts_by_shapes(&self, queue: QueueRow) -> bool {
        let true_keys = self.tree[queue].parent().is_some_and(|at| self.holds_true_keys(at));
        let no_maximum = || self.tree.up(queue).all(|(at, _)| self.tree[at].max().is_none());
        let root = || self.tree[QueueRow::ROOT].max().is_none();
        true_keys && self.tree[queue].is_leaf() && self.guard.is_none() && root() && no_maximum()
    }

    /// The first rescaled parent: what waits is noted, and whoever is parked counts until it is
    /// looked at.
    fn begin_to_count(&mut self, counts: &mut [bool]) {
        self.rescaling.shapes = WaitingShapes::default();
        for leaf in (1..self.tree.len() as u32).map(QueueRow) {
            counts[leaf.index()] |= self.ready.unpark(leaf);
            let waiting = self.ready.buckets(leaf).iter().filter(|bucket| !bucket.is_empty());
            let shapes: Vec<ShapeId> = waiting.map(Bucket::shape).collect();
            shapes.into_iter().for_each(|shape| self.note_waiting(leaf, shape, true));
        }
    }
}
