//! Demands that wait, and which of them are open: fit somewhere, as far as was seen at the last
//! look.
//!
//! Cost: O(log shapes) for a leaf that begins or ceases to wait; O(1) to ask whether one is open.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::ready::Bucket;
use crate::engine::room::ShapeId;
use crate::ids::{NodeRow, QueueRow};
use crate::node_rows::Moves;

/// See the module.
#[derive(Default)]
pub(super) struct WaitingShapes {
    rows: BTreeMap<ShapeId, Waits>,
    open: Open,
}

/// A demand that waits.
#[derive(Default)]
pub(super) struct Waits {
    /// How many leaves wait with it.
    leaves: u32,
    /// Those of them that are in no group.
    alone: BTreeSet<QueueRow>,
    /// Where it could be started when it was looked at last.
    pub(super) node: Option<NodeRow>,
}

/// The demands that are open: a bit for each number of a shape.
#[derive(Default)]
pub(super) struct Open {
    bits: Vec<u64>,
}

impl Open {
    #[inline]
    pub(super) fn has(&self, shape: ShapeId) -> bool {
        let (word, bit) = place(shape);
        self.bits.get(word).is_some_and(|bits| bits >> bit & 1 == 1)
    }

    /// Those of 16 numbers, the first of which is 16 times `part`.
    #[inline]
    pub(super) fn part(&self, part: u32) -> u16 {
        let bits = self.bits.get(part as usize / 4).copied().unwrap_or(0);
        (bits >> (part % 4 * 16)) as u16
    }

    /// The first of `shapes` that is open.
    #[inline]
    pub(super) fn first_of(&self, shapes: &[ShapeId]) -> Option<ShapeId> {
        shapes.iter().copied().find(|&shape| self.has(shape))
    }

    fn set(&mut self, shape: ShapeId, open: bool) {
        let (word, bit) = place(shape);
        if word >= self.bits.len() {
            self.bits.resize(word + 1, 0);
        }
        self.bits[word] = self.bits[word] & !(1 << bit) | u64::from(open) << bit;
    }
}

fn place(shape: ShapeId) -> (usize, u32) {
    (shape.number() as usize / 64, shape.number() % 64)
}

impl WaitingShapes {
    pub(super) fn move_rows(&mut self, moves: &Moves) {
        for waits in self.rows.values_mut() {
            waits.node = waits.node.and_then(|row| moves.to(row));
        }
    }

    pub(super) fn open(&self) -> &Open {
        &self.open
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
            self.open.set(shape, false);
        }
    }

    /// `leaf`, which waits with what is in `buckets`, is in no group any more.
    pub(super) fn stands_alone(&mut self, leaf: QueueRow, buckets: &[Bucket]) {
        for bucket in buckets.iter().filter(|bucket| !bucket.is_empty()) {
            if let Some(waits) = self.rows.get_mut(&bucket.shape()) {
                waits.alone.insert(leaf);
            }
        }
    }

    /// `leaf`, which waits with it, is in a group.
    pub(super) fn stands_in_group(&mut self, shape: ShapeId, leaf: QueueRow) {
        if let Some(waits) = self.rows.get_mut(&shape) {
            waits.alone.remove(&leaf);
        }
    }

    /// Asks `is_open` of each; those for which that has changed are told `changed`, with the leaves
    /// that wait for it and are in no group. They count as before until they are turned.
    pub(super) fn look(
        &mut self,
        mut is_open: impl FnMut(ShapeId, &mut Waits) -> bool,
        mut changed: impl FnMut(ShapeId, &BTreeSet<QueueRow>),
    ) {
        for (&shape, waits) in &mut self.rows {
            if is_open(shape, waits) != self.open.has(shape) {
                changed(shape, &waits.alone);
            }
        }
    }

    /// Those that were open are closed, and the others open.
    pub(super) fn turn(&mut self, shapes: &[ShapeId]) {
        shapes.iter().for_each(|&shape| self.open.set(shape, !self.open.has(shape)));
    }
}
