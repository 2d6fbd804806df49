//! What stands at what, exactly: levels of rescaled parents, and how two children of one compare.
//!
//! Where bounds overlap keys are compared by whole numbers of any length ([`View::compare`]). Those
//! are kept with the parent until one of its terms changes.

use std::cmp::Ordering;

use num_bigint::BigUint;

use super::Row;
use super::groups::{Group, Groups};
use crate::engine::books::Books;
use crate::engine::ready::Ready;
use crate::engine::tree::Tree;
use crate::order::heap::Item;
use crate::order::key::{Key, Level};
use crate::order::rescaled::{Direction, Fractions, Sum, Term};
use crate::order::{Pool, Tier};
use crate::spec::QueueRow;

/// What comparisons read.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) tree: &'a Tree,
    pub(super) books: &'a Books,
    pub(super) ready: &'a Ready,
    pub(super) rows: &'a [Row],
    pub(super) groups: &'a Groups,
}

impl<'a> View<'a> {
    fn pool(&self, parent: QueueRow) -> &Pool {
        &self.books.domain(parent).pool
    }

    fn weight(&self, queue: QueueRow) -> u64 {
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

    pub(super) fn sum(&self, queue: QueueRow) -> Option<&Sum> {
        self.rows[queue.index()].sum.as_deref()
    }

    /// The children of `parent` that count, in no order.
    pub(super) fn counting(self, parent: QueueRow) -> impl Iterator<Item = QueueRow> + 'a {
        self.ready.demanding(parent).flat_map(move |child| {
            let group = self.groups.of(child);
            let alone = group.is_none().then_some(child);
            alone.into_iter().chain(group.into_iter().flat_map(Group::leaves))
        })
    }

    /// The child of `parent` that counts and has the least s / w, whatever its minimum share.
    fn least(&self, parent: QueueRow) -> Option<Item> {
        let (key, child) = self.ready.first(parent)?;
        if key.tier() == Tier::Ordinary {
            return Some((key, child.0));
        }
        let item = |child: QueueRow| (Key::at(self.level(child), self.tie(child)), child.0);
        self.counting(parent).map(item).min_by(|a, b| self.compare(a, b))
    }

    /// Which comes first, exactly.
    pub(super) fn compare(&self, a: &Item, b: &Item) -> Ordering {
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
            // Parents stand in the heap themselves.
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
        Fractions::sum(self.counting(parent).map(term).collect())
    }

    /// What a queue puts into the sum of its parent, if it counts and the parent has one.
    pub(super) fn term(&self, parent: QueueRow, queue: QueueRow) -> Term {
        if self.sum(parent).is_none() {
            return Term::Absent;
        }
        let direction = match self.sum(queue) {
            Some(sum) => sum.direction(),
            None => Direction::of_held(self.pool(parent), self.books.held(queue)),
        };
        direction.map_or(Term::Nothing, |direction| Term::Toward(direction, self.weight(queue)))
    }
}
