//! What is kept where a parent may stand by its children rescaled, queue by queue.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use super::groups::Groups;
use super::waiting::WaitingShapes;
use crate::ids::QueueRow;
use crate::node_rows::Moves;
use crate::order::heap::Item;
use crate::order::rescaled::{Fractions, Sum, Term};

/// What is kept where a parent may stand by its children rescaled.
#[derive(Default)]
pub(in crate::engine) struct Rescaling {
    /// By queue; empty as long as no parent is rescaled.
    pub(super) rows: Vec<Row>,
    /// Leaves that count together.
    pub(super) groups: Groups,
    /// Demands that wait.
    pub(super) shapes: WaitingShapes,
    /// Leaves whose waiting demands, or room below a maximum share, have changed.
    pub(super) unsettled: Vec<QueueRow>,
    /// Queues with a maximum share below which something has started.
    pub(super) filled: BTreeSet<QueueRow>,
}

/// One queue.
#[derive(Default)]
pub(super) struct Row {
    /// What it puts into the sum of its parent, or of its group, if that is rescaled.
    pub(super) term: Term,
    /// Of its children that stand by themselves, if it is rescaled itself.
    pub(super) sum: Option<Box<Sum>>,
    /// Whether nobody needs its term, so that it may stand in its heap by a bound.
    pub(super) may_wait: bool,
    /// Whether it does, until it is the first there.
    pub(super) is_bound: bool,
    /// The same in whole numbers, since it was last asked for.
    pub(super) exact: OnceCell<Box<Fractions>>,
    /// Whether a leaf counts by its waiting shapes alone, so that it may stand in a group.
    pub(super) by_shapes: bool,
    /// Its children that begin or cease to stand in its heap; empty but while they are moved.
    pub(super) exchange: Exchange,
    /// While what changes is gathered.
    pub(super) marks: Marks,
}

impl Rescaling {
    /// Rows of nodes have moved.
    pub(in crate::engine) fn move_rows(&mut self, moves: &Moves) {
        self.shapes.move_rows(moves);
    }
}

/// The children that leave the heap of a parent, and those that come into it.
#[derive(Default)]
pub(super) struct Exchange {
    pub(super) out: Vec<u32>,
    pub(super) new: Vec<Item>,
}

/// What is done with one queue while leaves are settled.
#[derive(Default)]
pub(super) struct Marks {
    /// Some of its groups may begin or cease to count.
    pub(super) recounts: bool,
    /// Something changes below it.
    pub(super) changes: bool,
}
