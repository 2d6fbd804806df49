//! The best places so far: one, or for a task with spares the first few.
//!
//! > before = (known, from when on, what is missing), then one that the task has, then the first row
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
