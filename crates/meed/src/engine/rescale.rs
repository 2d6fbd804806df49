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
//! goes up the path at once ([`Engine::refresh`]); so its top gives M. The sum of a rescaled parent
//! (`order::rescaled`) has one term for each child in its heap. Before each walk the leaves that
//! can start something now, and only those, are in the heaps ([`Engine::settle`]).
//!
//! Keys are compared exactly: where their bounds overlap, by whole numbers of any length
//! ([`View::compare`]). Those are kept with the parent until one of its terms changes.
//!
//! Cost of a start or an end: O(kinds + log children) for each level of its path. Leaves that begin
//! or cease to count at one look: O(kinds + log children) for each, no more than O(kinds +
//! children) for each parent of some, and the path above each of these once. Of a decision: a look
//! at each distinct demand that waits, besides; and at the leaves below a queue with a maximum
//! share where one of them has started something.

use std::cell::OnceCell;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use num_bigint::BigUint;

use super::Engine;
use super::books::Books;
use super::ready::{Bucket, Ready};
use super::room::ShapeId;
use super::tree::Tree;
use crate::node_rows::Moves;
use crate::order::heap::Item;
use crate::order::key::{Key, Level};
use crate::order::rescaled::{Direction, Fractions, Sum, Term};
use crate::order::{Pool, Tier};
use crate::spec::{NodeRow, QueueRow};

/// What is kept where a parent may stand by its children rescaled.
#[derive(Default)]
pub(super) struct Rescaling {
    /// By queue; empty as long as no parent is rescaled.
    rows: Vec<Row>,
    /// Demands that wait.
    shapes: BTreeMap<ShapeId, Waits>,
    /// Leaves whose waiting demands, or room below a maximum share, have changed.
    unsettled: Vec<QueueRow>,
    /// Queues with a maximum share below which something has started.
    filled: BTreeSet<QueueRow>,
}

/// One queue.
#[derive(Default)]
struct Row {
    /// What it puts into the sum of its parent, if that is rescaled.
    term: Term,
    /// Of its children, if it is rescaled itself.
    sum: Option<Box<Sum>>,
    /// The same in whole numbers, since it was last asked for.
    exact: OnceCell<Box<Fractions>>,
}

impl Rescaling {
    /// Rows of nodes have moved.
    pub(super) fn move_rows(&mut self, moves: &Moves) {
        for waits in self.shapes.values_mut() {
            waits.node = waits.node.and_then(|row| moves.to(row));
        }
    }
}

/// A demand that waits.
#[derive(Default)]
struct Waits {
    leaves: BTreeSet<QueueRow>,
    /// Whether it could be started somewhere when it was looked at last.
    open: bool,
    /// Where.
    node: Option<NodeRow>,
}

/// What comparisons read.
#[derive(Clone, Copy)]
struct View<'a> {
    tree: &'a Tree,
    books: &'a Books,
    ready: &'a Ready,
    rows: &'a [Row],
}

impl View<'_> {
    fn pool(&self, parent: QueueRow) -> &Pool {
        &self.books.domain(parent).pool
    }

    fn weight(&self, queue: QueueRow) -> u64 {
        self.books.terms(queue).weight
    }

    fn tie(&self, queue: QueueRow) -> (u64, u32) {
        self.books.terms(queue).tie
    }

    /// s / w of a queue below a parent that orders by dominant allocation.
    fn level(&self, queue: QueueRow) -> Level {
        if let Some(sum) = self.sum(queue) {
            let Some(least) = self.least(queue) else {
                return Level::Ratio { amount: 0, weight: 1 };
            };
            return sum.level(least.0.level(), self.weight(queue));
        }
        let parent = self.tree[queue].parent().expect("the root has no key");
        let share = self.pool(parent).share(self.books.held(queue));
        Level::Ratio { amount: share.amount, weight: share.per(self.weight(queue)) }
    }

    fn sum(&self, queue: QueueRow) -> Option<&Sum> {
        self.rows[queue.index()].sum.as_deref()
    }

    /// The demanding child of the least s / w, whatever its minimum share.
    fn least(&self, parent: QueueRow) -> Option<Item> {
        let (key, child) = self.ready.first(parent)?;
        if key.tier() == Tier::Ordinary {
            return Some((key, child.0));
        }
        let item = |child: QueueRow| (Key::at(self.level(child), self.tie(child)), child.0);
        self.ready.demanding(parent).map(item).min_by(|a, b| self.compare(a, b))
    }

    /// Which comes first, exactly.
    fn compare(&self, a: &Item, b: &Item) -> Ordering {
        a.0.compare(&b.0).unwrap_or_else(|| {
            let ((a_up, a_down), (b_up, b_down)) =
                (self.ratio(QueueRow(a.1)), self.ratio(QueueRow(b.1)));
            (a_up * b_down).cmp(&(b_up * a_down)).then(a.0.tie().cmp(&b.0.tie()))
        })
    }

    /// s / w of a queue as a ratio of whole numbers: M of the last parent on the way to the least,
    /// times what each parent on the way makes of it.
    fn ratio(&self, queue: QueueRow) -> (BigUint, BigUint) {
        let (mut up, mut down, mut at) = (BigUint::from(1u64), BigUint::from(1u64), queue);
        while let Some(sum) = self.sum(at) {
            let least = self.least(at).filter(|_| !sum.is_zero());
            let Some((_, child)) = least else { return (BigUint::default(), down) };
            let (most, whole) = self.exact(at).largest();
            up *= most;
            down *= whole;
            down *= self.weight(at);
            at = QueueRow(child);
        }
        let Level::Ratio { amount, weight } = self.level(at) else {
            unreachable!("what is held is a ratio")
        };
        (up * amount, down * weight)
    }

    /// The sum of a rescaled parent in whole numbers; first those of the parents below that are not
    /// known yet. A loop, for trees can be deep.
    fn exact(&self, parent: QueueRow) -> &Fractions {
        let known = |queue: QueueRow| self.rows[queue.index()].exact.get();
        let mut missing = vec![parent];
        let mut next = 0;
        while let Some(&at) = missing.get(next) {
            let below = self.ready.demanding(at).filter(|&child| self.sum(child).is_some());
            missing.extend(below.filter(|&child| known(child).is_none()));
            next += 1;
        }
        for &at in missing.iter().rev() {
            self.rows[at.index()].exact.get_or_init(|| Box::new(self.add_up(at)));
        }
        known(parent).expect("it was the first one missing")
    }

    /// The sum of a rescaled parent from those of the parents below.
    fn add_up(&self, parent: QueueRow) -> Fractions {
        let pool = self.pool(parent);
        let term = |child: QueueRow| {
            let direction = match self.rows[child.index()].exact.get() {
                Some(sum) => Fractions::clone(sum).directed(),
                None => Fractions::of_held(pool, self.books.held(child)),
            };
            (direction, BigUint::from(self.weight(child)))
        };
        Fractions::sum(self.ready.demanding(parent).map(term).collect())
    }

    /// What a queue puts into the sum of its parent, if it is in its heap.
    fn term(&self, parent: QueueRow, queue: QueueRow) -> Term {
        let direction = match self.sum(queue) {
            Some(sum) => sum.direction(),
            None => Direction::of_held(self.pool(parent), self.books.held(queue)),
        };
        direction.map_or(Term::Nothing, |direction| Term::Toward(direction, self.weight(queue)))
    }
}

impl Engine {
    fn view(&self) -> View<'_> {
        let (tree, books, ready) = (&self.tree, &self.books, &self.ready);
        View { tree, books, ready, rows: &self.rescaling.rows }
    }

    /// Whether `queue` stands in its parent by the rescaled amounts of its children.
    pub(super) fn is_rescaled(&self, queue: QueueRow) -> bool {
        let row = &self.tree[queue];
        let above = row.parent().is_some_and(|parent| self.books.domain(parent).rescales());
        above && !row.children().is_empty() && self.books.domain(queue).rescales()
    }

    /// Whether the heap of `parent` holds true keys, compared by [`Engine::compare_children`].
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
        view.sum(queue)?;
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

    /// The child of `parent` that comes after the first.
    pub(super) fn second_child(&self, parent: QueueRow) -> Option<(Key, QueueRow)> {
        self.ready.second_by(parent, |a, b| self.compare_children(a, b))
    }

    /// Brings the place of `queue` in its parent up to date: its key, its term, and whether it
    /// stands in the heap at all. All below it are up to date.
    pub(super) fn refresh(&mut self, queue: QueueRow, counts: bool) {
        let Some(parent) = self.tree[queue].parent() else { return };
        let key = counts.then(|| self.queue_key(queue));
        let by_share = self.holds_true_keys(parent);
        let (tree, books, rows) = (&self.tree, &self.books, &self.rescaling.rows);
        self.ready.place_by(parent, queue, key, |ready, a, b| match by_share {
            true => View { tree, books, ready, rows }.compare(a, b),
            false => a.0.cmp(&b.0),
        });
        if self.view().sum(parent).is_some() {
            self.replace_term(parent, queue, counts);
        }
    }

    fn replace_term(&mut self, parent: QueueRow, queue: QueueRow, counts: bool) {
        let term = if counts { self.view().term(parent, queue) } else { Term::Absent };
        let rows = &mut self.rescaling.rows;
        let before = std::mem::replace(&mut rows[queue.index()].term, term);
        // A direction that is known by bounds may have moved within them.
        let row = &mut rows[parent.index()];
        row.exact.take();
        let sum = row.sum.as_deref_mut().expect("its parent is rescaled");
        if before != term {
            sum.replace(&before, &term);
        }
    }

    /// The same for all of the path of `leaf`, from below.
    pub(super) fn refresh_path(&mut self, leaf: QueueRow, counts: bool) {
        let (mut at, mut counts) = (leaf, counts);
        while let Some(parent) = self.tree[at].parent() {
            self.refresh(at, counts);
            counts = self.ready.wants(parent);
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
        self.rescaling.unsettled.push(leaf);
        match waits {
            true => {
                self.rescaling.shapes.entry(shape).or_default().leaves.insert(leaf);
            }
            false => {
                if let Some(of) = self.rescaling.shapes.get_mut(&shape) {
                    of.leaves.remove(&leaf);
                    if of.leaves.is_empty() {
                        self.rescaling.shapes.remove(&shape);
                    }
                }
            }
        }
    }

    /// Whether something of `leaf` may start has to be looked at anew.
    pub(super) fn unsettle(&mut self, leaf: QueueRow) {
        self.rescaling.unsettled.push(leaf);
    }

    /// Takes every leaf of which nothing can start out of the walk, and puts those back that can.
    pub(super) fn settle(&mut self) {
        if !self.rescales {
            return;
        }
        self.look_at_shapes();
        for queue in std::mem::take(&mut self.rescaling.filled) {
            let mut below = vec![queue];
            while let Some(at) = below.pop() {
                below.extend(self.tree[at].children().iter().copied());
                if self.ready.waiting(at) > 0 {
                    self.rescaling.unsettled.push(at);
                }
            }
        }
        let mut unsettled = std::mem::take(&mut self.rescaling.unsettled);
        unsettled.sort_unstable();
        unsettled.dedup();
        let mut changed = Vec::new();
        for &leaf in &unsettled {
            if self.ready.waiting(leaf) == 0 {
                continue;
            }
            match (self.ready.is_parked(leaf), self.may_start(leaf)) {
                (false, false) => {
                    self.note_parked(leaf);
                    changed.push(leaf);
                }
                (true, true) => {
                    self.ready.unpark(leaf);
                    changed.push(leaf);
                }
                // Perhaps it waits for its maximum share from now on.
                (true, false) => self.note_capped(leaf),
                (false, true) => {}
            }
        }
        unsettled.clear();
        self.rescaling.unsettled = unsettled;
        self.walk_or_not(changed);
    }

    /// Puts each of these leaves into the walk or takes it out, as it is parked or not; then each
    /// queue above once, from below: children have larger numbers than their parents.
    fn walk_or_not(&mut self, mut leaves: Vec<QueueRow>) {
        leaves.sort_by_key(|&leaf| self.tree[leaf].parent());
        let mut above = BTreeSet::new();
        let mut rest = &leaves[..];
        while let Some(parent) = rest.first().and_then(|&leaf| self.tree[leaf].parent()) {
            let among = rest.partition_point(|&leaf| self.tree[leaf].parent() == Some(parent));
            let (siblings, others) = rest.split_at(among);
            self.exchange(parent, siblings);
            above.insert(parent);
            rest = others;
        }
        while let Some(queue) = above.pop_last() {
            self.refresh(queue, self.ready.wants(queue));
            above.extend(self.tree[queue].parent());
        }
        if let Some(guard) = &mut self.guard {
            for leaf in leaves {
                match self.ready.is_parked(leaf) {
                    true => guard.remove(leaf),
                    false => guard.add(self.now, leaf),
                }
            }
        }
    }

    /// Leaves of one parent, which stand in its heap as long as they are not parked.
    fn exchange(&mut self, parent: QueueRow, leaves: &[QueueRow]) {
        let (mut out, mut new) = (Vec::new(), Vec::new());
        for &leaf in leaves {
            match (self.ready.is_parked(leaf), self.ready.is_in_heap(leaf)) {
                (true, true) => out.push(leaf.0),
                (false, false) => new.push((self.queue_key(leaf), leaf.0)),
                _ => {}
            }
        }
        let by_share = self.holds_true_keys(parent);
        let (tree, books, rows) = (&self.tree, &self.books, &self.rescaling.rows);
        self.ready.exchange_by(parent, &out, &new, |ready, a, b| match by_share {
            true => View { tree, books, ready, rows }.compare(a, b),
            false => a.0.cmp(&b.0),
        });
        if self.view().sum(parent).is_some() {
            for &leaf in leaves {
                self.replace_term(parent, leaf, !self.ready.is_parked(leaf));
            }
        }
    }

    fn note_capped(&mut self, leaf: QueueRow) {
        for bucket in 0..self.ready.buckets(leaf).len() {
            let bucket = &self.ready.buckets(leaf)[bucket];
            if bucket.is_empty() {
                continue;
            }
            if let Some(queue) = self.books.capped_by(&self.tree, leaf, bucket.demand()) {
                self.ready.wait_for_maximum(queue, leaf);
            }
        }
    }

    /// Looks for each demand that waits whether it can be started somewhere; the leaves of those
    /// for which that has changed are to be settled.
    fn look_at_shapes(&mut self) {
        let mut shapes = std::mem::take(&mut self.rescaling.shapes);
        for (&shape, waits) in &mut shapes {
            let open = self.waits || self.still_fits(shape, waits.node) || {
                waits.node = self.room.look_or_block(shape);
                waits.node.is_some()
            };
            if open != waits.open {
                waits.open = open;
                self.rescaling.unsettled.extend(waits.leaves.iter().copied());
            }
        }
        self.rescaling.shapes = shapes;
    }

    /// Whether tasks of the shape fit where they did when it was looked at last.
    fn still_fits(&self, shape: ShapeId, node: Option<NodeRow>) -> bool {
        node.is_some_and(|node| self.room.fits(shape, self.room.demand(shape), node))
    }

    pub(super) fn may_start(&self, leaf: QueueRow) -> bool {
        (0..self.ready.buckets(leaf).len())
            .any(|bucket| self.startable_shape(leaf, bucket).is_some())
    }

    /// Weights, the pool or the tree have changed, or a state is restored: all sums and heaps anew,
    /// from below. Children have larger numbers than their parents.
    pub(super) fn rebuild_rescaled(&mut self) {
        let mut counts = vec![false; self.tree.len()];
        let begins = self.rescaling.rows.is_empty();
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
        let row = |queue: QueueRow| Row { sum: sum(queue), ..Row::default() };
        self.rescaling.rows = queues.clone().map(row).collect();
        for queue in queues.skip(1).rev() {
            self.refresh(queue, counts[queue.index()] || self.ready.wants(queue));
        }
    }

    /// The first rescaled parent: what waits is noted, and whoever is parked counts until it is
    /// looked at.
    fn begin_to_count(&mut self, counts: &mut [bool]) {
        for leaf in (1..self.tree.len() as u32).map(QueueRow) {
            counts[leaf.index()] |= self.ready.unpark(leaf);
            let waiting = self.ready.buckets(leaf).iter().filter(|bucket| !bucket.is_empty());
            let shapes: Vec<ShapeId> = waiting.map(Bucket::shape).collect();
            shapes.into_iter().for_each(|shape| self.note_waiting(leaf, shape, true));
        }
    }
}
