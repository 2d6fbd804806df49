//! The best places so far: one, or for a task with spares the first few.
//!
//! > order = known, from when on, what is missing; then the one that the task has, then the row
//!
//! Invariant: places stand in that order, and no more of them than were asked for; behind one that
//! is known to be free at some time none counts, for such a task has no spares.

use std::cell::{Cell, RefCell};

use smallvec::{SmallVec, smallvec};

use crate::spec::NodeRow;
use crate::time::Time;

/// A place for a task, the best first: known instants before unknown ones, earlier before later;
/// where nobody knows, the node on which least is missing; of like ones the first.
pub(super) type Rank = (bool, Time, u128);

/// How good, and where: `None` is the one that the task has.
type Ranked = (Rank, Option<NodeRow>);

/// See the module.
pub(super) struct Best {
    most: usize,
    places: RefCell<SmallVec<[Ranked; 2]>>,
    /// What a place has to be before, at hand.
    bar: Cell<Option<Ranked>>,
}

impl Best {
    /// The best of all, unless the task has one that is as good.
    pub(super) fn one(own: Option<Rank>) -> Best {
        let places: SmallVec<[Ranked; 2]> = own.into_iter().map(|rank| (rank, None)).collect();
        Best { most: 1, bar: Cell::new(places.first().copied()), places: RefCell::new(places) }
    }

    /// The first so many.
    pub(super) fn few(most: usize) -> Best {
        Best { most, bar: Cell::new(None), places: RefCell::new(smallvec![]) }
    }

    /// What a place has to be before; `None`: any will do.
    #[inline]
    pub(super) fn bar(&self) -> Option<Rank> {
        self.bar.get().map(|(rank, _)| rank)
    }

    /// Whether a node that is so good is one of them.
    #[inline]
    pub(super) fn takes(&self, rank: Rank, node: NodeRow) -> bool {
        self.bar.get().is_none_or(|bar| (rank, Some(node)) < bar)
    }

    /// It is.
    pub(super) fn add(&self, rank: Rank, node: NodeRow) {
        let mut places = self.places.borrow_mut();
        let at = places.partition_point(|place| *place < (rank, Some(node)));
        places.insert(at, (rank, Some(node)));
        let known = !places[0].0.0;
        places.truncate(if known { 1 } else { self.most });
        let full = known || places.len() == self.most;
        self.bar.set(if full { places.last().copied() } else { None });
    }

    /// The best of them.
    pub(super) fn first(&self) -> Option<Ranked> {
        self.places.borrow().first().copied()
    }

    /// Those after the best.
    pub(super) fn others(&self) -> impl Iterator<Item = NodeRow> {
        self.places.take().into_iter().skip(1).filter_map(|(_, node)| node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn micros(at: u64) -> Time {
        Time::from_micros(at).expect("in range")
    }

    /// Whatever comes, and in whatever order, it is the front of what a plain sort makes of all.
    #[test]
    fn is_the_front_of_a_sorted_list() {
        let mut draws: u64 = 3;
        let mut draw = |below: u64| {
            draws = draws.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (draws >> 33) % below
        };
        for round in 0..500 {
            let (most, some_known) = (1 + draw(4) as usize, draw(3) == 0);
            let (best, mut all) = (Best::few(most), Vec::new());
            for row in 0..draw(12) as u32 {
                let known = some_known && draw(6) == 0;
                let rank = match known {
                    true => (false, micros(draw(3)), 0),
                    false => (true, Time::MAX, u128::from(draw(5))),
                };
                all.push((rank, Some(NodeRow(row))));
            }
            // In an order of their own.
            for at in (1..all.len()).rev() {
                all.swap(at, draw(at as u64 + 1) as usize);
            }
            for &(rank, node) in &all {
                let node = node.expect("each has one");
                if best.takes(rank, node) {
                    best.add(rank, node);
                }
            }
            all.sort_unstable();
            assert_eq!(best.first(), all.first().copied(), "round {round}");
            let known = all.first().is_some_and(|((unknown, ..), _)| !unknown);
            all.truncate(if known { 1 } else { most });
            let others = all.iter().skip(1).filter_map(|(_, node)| *node);
            assert!(best.others().eq(others), "round {round}");
        }
    }

    /// The one that a task has stays before like ones.
    #[test]
    fn its_own_stays_before_like_ones() {
        let own = (true, Time::MAX, 7);
        let best = Best::one(Some(own));
        assert!(!best.takes(own, NodeRow(0)));
        assert!(best.takes((true, Time::MAX, 6), NodeRow(9)));
        assert!(best.takes((false, micros(1), 0), NodeRow(9)));
    }
}
