//! The best places so far: one, or for a task with spares the first few.
//!
//! > order = known, from when on, what is missing; then the one that the task has, then the row
//!
//! Invariant: places stand in that order, each node once however often it is looked at, and no more
//! of them than were asked for; behind one that is known to be free at some time none counts, for
//! such a task has no spares.

use std::cell::RefCell;

use smallvec::SmallVec;

use crate::ids::NodeRow;
use crate::time::Time;

/// A place for a task, the best first: known instants before unknown ones, earlier before later;
/// where nobody knows, the node on which least is missing; of like ones the first.
pub(super) type Rank = (bool, Time, u128);

/// How good, and where: `None` is the one that the task has.
type Ranked = (Rank, Option<NodeRow>);

/// See the module.
#[derive(Clone, PartialEq)]
pub(super) struct Best {
    most: usize,
    places: RefCell<SmallVec<[Ranked; 2]>>,
}

impl Best {
    /// The best of all, unless the task has one that is as good.
    pub(super) fn one(own: Option<Rank>) -> Best {
        Best {
            places: own.into_iter().map(|rank| (rank, None)).collect::<SmallVec<_>>().into(),
            ..Best::few(1)
        }
    }

    /// The first so many.
    pub(super) fn few(most: usize) -> Best {
        Best { most, places: RefCell::default() }
    }

    /// What a place has to be before; `None`: any will do.
    #[inline]
    fn bar(&self) -> Option<Ranked> {
        let places = self.places.borrow();
        let full = places.len() == self.most || places.first().is_some_and(is_known);
        places.last().filter(|_| full).copied()
    }

    /// How good a place has to be at least; `None`: as it may.
    #[inline]
    pub(super) fn least(&self) -> Option<Rank> {
        self.bar().map(|(rank, _)| rank)
    }

    /// Whether one is known to be free at some time.
    pub(super) fn has_known(&self) -> bool {
        self.places.borrow().first().is_some_and(is_known)
    }

    /// How much may be missing on a node at most; `None`: as much as may be.
    pub(super) fn most(&self) -> Option<u64> {
        self.least().map(|(_, _, most)| u64::try_from(most).unwrap_or(u64::MAX))
    }

    /// The same, and before which node one has to be that misses just so much.
    pub(super) fn bar_of_missing(&self) -> (u64, NodeRow) {
        let Some(((_, _, most), node)) = self.bar() else { return (u64::MAX, NodeRow(u32::MAX)) };
        // Of like ones the one that the task has stays.
        (u64::try_from(most).unwrap_or(u64::MAX), node.unwrap_or(NodeRow(0)))
    }

    /// Whether a node that is so good is one of them.
    #[inline]
    pub(super) fn takes(&self, rank: Rank, node: NodeRow) -> bool {
        self.bar().is_none_or(|bar| (rank, Some(node)) < bar)
    }

    /// It is.
    pub(super) fn add(&self, rank: Rank, node: NodeRow) {
        let (mut places, place) = (self.places.borrow_mut(), (rank, Some(node)));
        let Err(at) = places.binary_search(&place) else { return };
        places.insert(at, place);
        let most = if is_known(&places[0]) { 1 } else { self.most };
        places.truncate(most);
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

fn is_known(((unknown, ..), _): &Ranked) -> bool {
    !unknown
}

#[cfg(test)]
mod tests {
    use super::super::draws::Draws;
    use super::*;

    fn micros(at: u64) -> Time {
        Time::from_micros(at).expect("in range")
    }

    /// Whatever comes, and in whatever order, it is the front of what a plain sort makes of all.
    #[test]
    fn is_the_front_of_a_sorted_list() {
        let mut draws = Draws(3);
        let mut draw = |below| draws.below(below);
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
            // A node may be looked at again.
            for &(rank, node) in all.iter().chain(&all) {
                let node = node.expect("each has one");
                if best.takes(rank, node) {
                    best.add(rank, node);
                }
            }
            all.sort_unstable();
            assert_eq!(best.first(), all.first().copied(), "round {round}");
            let known = all.first().is_some_and(is_known);
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
