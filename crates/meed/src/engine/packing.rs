//! What is kept where servers start the task that is best aligned with them (`tetris`).

use super::alignment::Score;
use super::fair_order::FairOrder;
use super::room::ShapeId;
use crate::ids::QueueRow;
use crate::order::Tier;
use crate::order::key::Key;
use crate::policy::Permille;

/// What is kept for `tetris`.
#[derive(Default)]
pub(super) struct Packing {
    pub(super) order: FairOrder,
    /// Of the server that is looked at: shapes that fit, and how well they are aligned.
    pub(super) fitting: Vec<(ShapeId, Score)>,
    /// By number of a shape: where it stands there, from 1.
    pub(super) places: Vec<u32>,
    pub(super) offers: Offers,
}

/// What leaves offer on the server that is looked at, each asked once.
#[derive(Default)]
pub(super) struct Offers {
    /// The number of this look; that of an answer of before is smaller.
    pub(super) look: u64,
    /// By row of a leaf.
    pub(super) told: Vec<(u64, Option<Found>)>,
}

impl Offers {
    /// On the next server, or after a start, all are asked anew.
    pub(super) fn forget(&mut self, queues: usize) {
        self.look += 1;
        self.told.resize(queues, (0, None));
    }
}

impl Packing {
    /// See [`FairOrder::touch`].
    #[inline]
    pub(super) fn touch(&mut self, queue: QueueRow) {
        self.order.touch(queue);
    }

    /// See [`FairOrder::note_waiting`].
    pub(super) fn note_waiting(&mut self, leaf: (QueueRow, QueueRow), shape: ShapeId, waits: bool) {
        self.order.note_waiting(leaf, shape, waits);
    }

    pub(super) fn score(&self, shape: ShapeId) -> Option<&Score> {
        let place = *self.places.get(shape.number() as usize)?;
        Some(&self.fitting.get((place as usize).checked_sub(1)?)?.1)
    }

    /// Whether nothing that fits is aligned better.
    pub(super) fn is_best(&self, found: &Found) -> bool {
        self.fitting.first().is_some_and(|(_, best)| *best == found.score)
    }

    /// The children of `parent` in the order in which they are looked at: those below their
    /// minimum, then the others; and how many of either may compete.
    pub(super) fn in_turn(
        &self,
        parent: QueueRow,
        fairness: Permille,
    ) -> [(&[QueueRow], usize); 2] {
        let children = self.order.children_of(parent);
        let first = looked_at(children.len(), fairness);
        let tier = |child: QueueRow| self.order.key(child).map(Key::tier);
        let below = children.partition_point(|&child| tier(child) == Some(Tier::BelowMinimum));
        let (below, others) = children.split_at(below);
        [(below, first), (others, first.saturating_sub(below.len()))]
    }
}

/// What would start on a server.
#[derive(Clone, Copy)]
pub(super) struct Found {
    pub(super) score: Score,
    pub(super) leaf: QueueRow,
    pub(super) slot: u32,
}

/// How many of so many children are looked at: 1 - f of them, and one at least.
pub(super) fn looked_at(children: usize, fairness: Permille) -> usize {
    let part = children as u64 * u64::from(1000u32.saturating_sub(fairness));
    (part.div_ceil(1000) as usize).max(1)
}

#[cfg(test)]
mod tests {
    use super::looked_at;

    #[test]
    fn a_part_of_the_children_is_rounded_up_and_is_one_at_least() {
        for (children, fairness, first) in
            [(8, 0, 8), (8, 250, 6), (7, 250, 6), (3, 999, 1), (1001, 999, 2), (5, 1000, 1)]
        {
            assert_eq!(looked_at(children, fairness), first, "{children}, {fairness}");
        }
    }
}
