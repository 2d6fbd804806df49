//! What stands at what, exactly: levels of rescaled parents, and how two children of one compare.
//!
//! Where bounds overlap keys are compared by whole numbers of any length ([`View::compare`]). Those
//! are kept with the parent until one of its terms changes.

use std::cmp::Ordering;

use num_bigint::BigUint;

use super::bench::Counted;
use super::groups::{Group, Groups};
use super::rows::{Rescaling, Row};
use super::waiting::Open;
use crate::engine::books::Books;
use crate::engine::ready::Ready;
use crate::engine::tree::Tree;
use crate::ids::QueueRow;
use crate::order::heap::Item;
use crate::order::key::{Key, Level};
use crate::order::rescaled::{Direction, Fractions, Sum, Term};
use crate::order::{Pool, Tier};

/// What comparisons read.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) tree: &'a Tree,
    pub(super) books: &'a Books,
    pub(super) ready: &'a Ready,
    pub(super) rows: &'a [Row],
    pub(super) groups: &'a Groups,
    pub(super) open: &'a Open,
}

impl<'a> View<'a> {
    fn pool(&self, parent: QueueRow) -> &Pool {
        &self.books.domain(parent).pool
    }

    pub(super) fn weight(&self, queue: QueueRow) -> u64 {
        self.books.terms(queue).weight
    }

    pub(super) fn tie(&self, queue: QueueRow) -> (u64, u32) {
        self.books.terms(queue).tie
    }

    /// s / w of a queue below a parent that orders by dominant allocation.
    pub(super) fn level(&self, queue: QueueRow) -> Level {
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

    #[inline]
    pub(super) fn is_rescaled(&self, queue: QueueRow) -> bool {
        self.rows[queue.index()].sum.is_some()
    }

    /// Of all children that count, if it is rescaled.
    pub(super) fn sum(&self, queue: QueueRow) -> Option<&Sum> {
        let alone = self.rows[queue.index()].sum.as_deref()?;
        let counted = self.groups.counted(queue, self.open, Some(alone));
        Some(counted.map_or(alone, |counted| &counted.total))
    }

    /// The children of `parent` that count, in no order.
    pub(super) fn counting(self, parent: QueueRow) -> impl Iterator<Item = QueueRow> + 'a {
        let grouped = self.groups.counting(parent, self.open).flat_map(Group::leaves);
        self.ready.demanding(parent).chain(grouped)
    }

    /// The child of `parent`, whose heap holds true keys, that comes first.
    #[inline]
    pub(super) fn first(&self, parent: QueueRow) -> Option<Item> {
        let alone = self.ready.first(parent).map(|(key, child)| (key, child.0));
        let sum = self.rows[parent.index()].sum.as_deref();
        let grouped = self.groups.counted(parent, self.open, sum).and_then(Counted::first);
        match (alone, grouped) {
            (Some(a), Some(b)) if self.compare(&b, &a).is_lt() => Some(b),
            (None, grouped) => grouped,
            (alone, _) => alone,
        }
    }

    /// The one that comes after it. O(groups that count).
    pub(super) fn second(&self, parent: QueueRow) -> Option<Item> {
        let (_, first) = self.first(parent)?;
        let alone = self.ready.first(parent).map(|(key, child)| (key, child.0));
        let other = self.ready.second_by(parent, |a, b| self.compare(a, b));
        let other = other.map(|(key, child)| (key, child.0));
        let fellow = self.groups.of(QueueRow(first)).and_then(Group::second);
        let firsts = self.groups.counting(parent, self.open).map(Group::first);
        let all = alone.into_iter().chain(other).chain(fellow).chain(firsts);
        all.filter(|&(_, child)| child != first).min_by(|a, b| self.compare(a, b))
    }

    /// The child of `parent` that counts and has the least s / w, whatever its minimum share.
    fn least(&self, parent: QueueRow) -> Option<Item> {
        let first = self.first(parent)?;
        if first.0.tier() == Tier::Ordinary {
            return Some(first);
        }
        let item = |child: QueueRow| (Key::at(self.level(child), self.tie(child)), child.0);
        self.counting(parent).map(item).min_by(|a, b| self.compare(a, b))
    }

    /// Which comes first, exactly.
    pub(super) fn compare(&self, a: &Item, b: &Item) -> Ordering {
        a.0.compare(&b.0).unwrap_or_else(|| {
            let ((a_up, a_down), (b_up, b_down)) = (self.ratio(a), self.ratio(b));
            (a_up * b_down).cmp(&(b_up * a_down)).then(a.0.tie().cmp(&b.0.tie()))
        })
    }

    /// s / w of a queue as a ratio of whole numbers: M of the last parent on the way to the least,
    /// times what each parent on the way makes of it.
    fn ratio(&self, &(key, queue): &Item) -> (BigUint, BigUint) {
        let queue = QueueRow(queue);
        if let (true, Level::Ratio { amount, weight }) =
            (self.rows[queue.index()].is_bound, key.level())
        {
            return (amount.into(), weight.into());
        }
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
            // Parents stand in the heap themselves.
            let below = self.ready.demanding(at).filter(|&child| self.is_rescaled(child));
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
        Fractions::sum(self.counting(parent).map(term).collect())
    }

    /// What a queue puts into the sum of its parent, if it counts and the parent has one.
    pub(super) fn term(&self, parent: QueueRow, queue: QueueRow) -> Term {
        if !self.is_rescaled(parent) {
            return Term::Absent;
        }
        let direction = match self.sum(queue) {
            Some(sum) => sum.direction(),
            None => Direction::of_held(self.pool(parent), self.books.held(queue)),
        };
        direction.map_or(Term::Nothing, |direction| Term::Toward(direction, self.weight(queue)))
    }
}

impl Rescaling {
    /// How a heap of true keys, or of others, compares while it changes.
    pub(super) fn comparing<'a>(
        &'a self,
        tree: &'a Tree,
        books: &'a Books,
        by_share: bool,
    ) -> impl Fn(&Ready, &Item, &Item) -> Ordering + 'a {
        let Rescaling { rows, groups, shapes, .. } = self;
        move |ready, a, b| match by_share {
            true => View { tree, books, ready, rows, groups, open: shapes.open() }.compare(a, b),
            false => a.0.cmp(&b.0),
        }
    }
}
