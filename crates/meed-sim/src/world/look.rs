//! What those who explain a run may see of it between two instants.

use meed::{JobId, Time};
use meed_journal::JobKey;

use super::World;
use super::desk::Desk;
use super::error::RunError;
use super::notes::Notes;

impl<'a, D: Desk<'a>> World<'a, D> {
    pub(crate) fn desk(&self) -> &D {
        &self.desk
    }

    /// The same, for what passes without anything happening.
    pub(crate) fn desk_mut(&mut self) -> &mut D {
        &mut self.desk
    }

    /// What was noted so far.
    pub(crate) fn notes(&self) -> &Notes {
        &self.notes
    }

    /// The same, to take it.
    pub(crate) fn notes_mut(&mut self) -> &mut Notes {
        &mut self.notes
    }

    /// Lets time pass to `now` without anything happening.
    pub(crate) fn rest_until(&mut self, now: Time) -> Result<(), RunError> {
        self.desk.advance(now).map_err(|why| RunError::Change { at: now, why })
    }

    /// The live job that arrived as number `number`.
    pub(crate) fn find_job(&self, number: u64) -> Option<(D::At, JobId)> {
        let live = self.desk.drivers().flat_map(|(at, one)| one.jobs().map(move |job| (at, job)));
        let key = JobKey::from(number);
        let mut meant = live.filter(|(_, job)| *job.key() == key);
        meant.next().map(|(at, job)| (at, job.id()))
    }
}
