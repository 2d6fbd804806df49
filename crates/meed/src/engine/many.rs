//! Which of many shapes that wait in one leaf comes first (`ready::wide`): the same as a look at
//! each would say, without one.
//!
//! What a task asks for and what is left below maximum shares say of most shapes that they cannot
//! start; the others are looked at, the first in turn first. Cost: that of two questions to a tree,
//! and one more for each shape that was found to fit nowhere on the way. Shapes that are left out
//! for other reasons (label rules, no node for a reservation) are looked at one by one.

use smallvec::SmallVec;

use super::chosen::Candidate;
use super::core::Core;
use super::ready::{Place, bound};
use super::room::{Offers, ShapeId};
use crate::ids::QueueRow;
use crate::order::key::Key;
use crate::resources::{MAX_KINDS, Resources};

/// More than anybody can ask for.
const EVERYTHING: u64 = u64::MAX - 1;

/// What a look at some shapes of a leaf has found.
#[derive(Default)]
struct Looked {
    /// Their keys are at or above these.
    bounds: SmallVec<[(Place, f64); 8]>,
    /// They are blocked.
    shut: SmallVec<[Place; 8]>,
}

impl Core {
    /// What a wide leaf would start.
    pub(super) fn choose_of_many(&mut self, leaf: QueueRow) -> Candidate {
        let mut full: SmallVec<[ShapeId; 4]> = SmallVec::new();
        loop {
            let Some(slot) = self.first_of_many(leaf, &full) else { return Candidate::Nothing };
            let shape = self.work.group(slot).turn();
            if self.waits {
                return match self.room.is_open(shape) {
                    true => Candidate::Group(slot, None),
                    false => Candidate::Wait(slot),
                };
            }
            match self.room.find_or_block(shape) {
                Some(node) => return Candidate::Group(slot, Some(node)),
                None => full.push(shape),
            }
        }
    }

    /// The first group in turn of those that may start, or that are waited for; `full`: shapes that
    /// fit nowhere.
    fn first_of_many(&mut self, leaf: QueueRow, full: &[ShapeId]) -> Option<u32> {
        let room = &self.room;
        let mut wide = self.ready.take_wide(leaf, |shape| room.asks(shape));
        let opened = room.opened_since(wide.told);
        self.ready.open_in(leaf, &mut wide, opened);
        wide.told = room.opened();
        let most = self.below_maximums(leaf);
        let any = [self.room.for_ever(&most)];
        let mut looked = Looked::default();
        let open =
            wide.open.first_helped(&any, None, |at| self.look_at(leaf, at, full, &mut looked));
        // Of what is blocked, all that is waited for, or that fits where room has come.
        let mut rooms = Offers::from_slice(&any);
        if !self.waits {
            rooms = self.room.offers_of(self.room.fresh());
            rooms.iter_mut().for_each(|room| room.lower(&any[0]));
        }
        let below = open.map(|(key, _)| key);
        let shut =
            wide.shut.first_helped(&rooms, below, |at| self.look_at(leaf, at, full, &mut looked));
        // Keys that rise with time have risen.
        looked.bounds.iter().for_each(|&(at, bound)| wide.set_bound(at, bound));
        for at in looked.shut {
            let first = self.ready.first_group(leaf, at.index());
            wide.shut(at, first.map_or(f64::INFINITY, |(key, _)| bound(&key)));
        }
        self.ready.put_wide(leaf, wide);
        let (_, at) = shut.or(open)?;
        self.ready.first_group(leaf, at.index()).map(|(_, slot)| slot)
    }

    /// The key of the first group of a shape, if it may start or is waited for.
    fn look_at(
        &mut self,
        leaf: QueueRow,
        at: Place,
        full: &[ShapeId],
        looked: &mut Looked,
    ) -> Option<Key> {
        if self.room.is_blocked(self.ready.buckets(leaf)[at.index()].shape()) {
            looked.shut.push(at);
        }
        self.startable_shape(leaf, at.index()).filter(|shape| !full.contains(shape))?;
        let (key, _) = self.least_group(leaf, at.index())?;
        looked.bounds.push((at, bound(&key)));
        Some(key)
    }

    /// What is left below the maximum shares of a leaf and of those above it, or more.
    fn below_maximums(&self, leaf: QueueRow) -> Resources {
        let mut most = Resources::new(&[EVERYTHING; MAX_KINDS][..self.kinds.len()]);
        if self.tree.has_maximums() {
            let mut at = Some(leaf);
            while let Some(queue) = at {
                if let Some(max) = self.tree[queue].max() {
                    let held = self.books.held(queue).as_slice();
                    let left = max.as_slice().iter().zip(held);
                    let left = left.map(|(max, held)| max.saturating_sub(*held));
                    let all = most.as_mut_slice().iter_mut().zip(left);
                    all.for_each(|(most, left)| *most = left.min(*most));
                }
                at = self.tree[queue].parent();
            }
        }
        most
    }
}
