//! What reservations make of the walk: which waiting tasks are out of it, whose turn is passed over
//! for a while, and which shapes no node can be held for.
//!
//! The walk reads it and `holds` writes it. Without reservations all of it is empty.

use std::collections::{BTreeMap, BTreeSet};

use super::room::ShapeId;
use crate::time::Time;

/// See the module.
#[derive(Default)]
pub(super) struct Reserved {
    /// How many of the waiting tasks of a group, by its slot, have a reservation; none with 0.
    of_groups: BTreeMap<u32, u64>,
    /// Groups whose turn has come and that fit nowhere, by slot: since when. Kept up to their next
    /// start, or reservation.
    passed: BTreeMap<u32, Time>,
    /// Shapes for which no node can be held as things stand.
    hopeless: BTreeSet<ShapeId>,
}

impl Reserved {
    /// Whether no task has a reservation.
    pub(super) fn is_empty(&self) -> bool {
        self.of_groups.is_empty()
    }

    /// How many waiting tasks of the group have one.
    pub(super) fn of_group(&self, slot: u32) -> u64 {
        self.of_groups.get(&slot).copied().unwrap_or(0)
    }

    /// Slots of groups with reservations, in order.
    pub(super) fn groups(&self) -> impl Iterator<Item = u32> + '_ {
        self.of_groups.keys().copied()
    }

    /// So many more tasks of the group have one.
    pub(super) fn add(&mut self, slot: u32, tasks: u64) {
        *self.of_groups.entry(slot).or_default() += tasks;
    }

    /// So many fewer.
    pub(super) fn sub(&mut self, slot: u32, tasks: u64) {
        let of_group = self.of_groups.get_mut(&slot).expect("each is counted");
        *of_group -= tasks;
        if *of_group == 0 {
            self.of_groups.remove(&slot);
        }
    }

    /// Since when the group's turn is passed over: now, if it was not so far.
    pub(super) fn pass_over(&mut self, slot: u32, now: Time) -> Time {
        *self.passed.entry(slot).or_insert(now)
    }

    /// Groups whose turn is passed over, by slot, and since when.
    pub(super) fn passed_over(&self) -> impl Iterator<Item = (u32, Time)> + '_ {
        self.passed.iter().map(|(&slot, &since)| (slot, since))
    }

    /// The group's turn is passed over since then; whether that is new.
    pub(super) fn restore_passed(&mut self, slot: u32, since: Time) -> bool {
        self.passed.insert(slot, since).is_none()
    }

    /// A task of the group starts or has got a reservation, or none waits any more: how long its
    /// turn was passed over is forgotten.
    #[inline]
    pub(super) fn take_turn(&mut self, slot: u32) {
        if !self.passed.is_empty() {
            self.passed.remove(&slot);
        }
    }

    /// Whether no node can be held for tasks of this shape, as things stand.
    #[inline]
    pub(super) fn is_hopeless(&self, shape: ShapeId) -> bool {
        self.hopeless.contains(&shape)
    }

    /// Shapes for which no node can be held.
    pub(super) fn hopeless(&self) -> impl Iterator<Item = ShapeId> + '_ {
        self.hopeless.iter().copied()
    }

    pub(super) fn set_hopeless(&mut self, shape: ShapeId) {
        self.hopeless.insert(shape);
    }

    /// Room has come free, or shapes: new shapes may have the numbers of those that are gone.
    pub(super) fn forget_hopeless(&mut self) {
        if !self.hopeless.is_empty() {
            self.hopeless.clear();
        }
    }
}
