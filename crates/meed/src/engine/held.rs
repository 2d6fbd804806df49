//! Waiting tasks with reservations are out of the walk: so is a group, a job or a leaf of which all
//! tasks that wait have one.

use super::core::Core;
use crate::ids::{JobId, QueueRow};

impl Core {
    /// Whether the group's waiting tasks all have reservations: then it is not in the walk.
    pub(super) fn is_all_held(&self, slot: u32) -> bool {
        let held = self.reserved.of_group(slot);
        held > 0 && held >= self.work.group(slot).waiting()
    }

    /// A leaf of which all that waits has reservations is out of the walk.
    pub(super) fn park_if_all_held(&mut self, leaf: QueueRow) {
        if self.reserved.is_empty() {
            return;
        }
        let wants = self.ready.buckets(leaf).iter().any(|bucket| !bucket.is_empty());
        if !wants && self.ready.waiting(leaf) > 0 && !self.ready.is_parked(leaf) {
            self.park(leaf);
        }
    }

    /// Fewer tasks of the group wait, or more of them have reservations: where none is left for the
    /// walk, the group is unlisted, and queues that stand by the arrival of its job are told.
    #[inline]
    pub(super) fn fewer_in_walk(&mut self, leaf: QueueRow, slot: u32) {
        let group = self.work.group(slot);
        let (id, waits) = (group.job, group.waiting() > 0);
        if !waits {
            self.reserved.take_turn(slot);
        }
        if !waits || self.is_all_held(slot) {
            self.unlist_group(leaf, slot);
        }
        match self.work.job(id).is_some_and(|job| job.waiting() > 0) {
            false => self.update_arrivals(id, false),
            true => self.note_job_held(slot),
        }
    }

    /// Where all waiting tasks of the job have reservations, queues that stand by the arrival of
    /// what waits stand by others.
    fn note_job_held(&mut self, slot: u32) {
        if self.reserved.is_empty() || !self.books.orders_by_arrival() {
            return;
        }
        let id = self.work.group(slot).job;
        if self.is_job_held(id) {
            self.update_arrivals(id, false);
        }
    }

    /// Whether all waiting tasks of the job have reservations.
    pub(super) fn is_job_held(&self, id: JobId) -> bool {
        let job = self.work.job(id).expect("a group's job is alive");
        let held = |&slot: &u32| self.work.group(slot).waiting() == 0 || self.is_all_held(slot);
        job.groups().iter().all(held)
    }
}
