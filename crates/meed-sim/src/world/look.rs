//! What those who explain a run may see of it between two instants.

use meed::{JobId, Time};
use meed_driver::LiveJob;
use meed_workload::JobLabel;

use super::desk::Desk;
use super::{Planned, RunError, World};

impl<D: Desk> World<'_, D> {
    pub(crate) fn desk(&self) -> &D {
        &self.desk
    }

    /// Lets time pass to `now` without anything happening.
    pub(crate) fn rest_until(&mut self, now: Time) -> Result<(), RunError> {
        self.desk.advance(now).map_err(|why| RunError::Change { at: now, why })
    }

    /// The live job of that queue and label that arrived at `submit`; the first where there are
    /// several.
    pub(crate) fn find_job(
        &self,
        queue: &str,
        label: &JobLabel,
        submit: Time,
    ) -> Option<(D::At, JobId)> {
        let (at, _) = self.desk.route(self.desk.tree().find_queue(queue)?)?;
        let is_it = |live: &&LiveJob<Planned>| {
            live.label() == label
                && live.submit() == submit
                && self.desk.queue_name(at, live.queue()) == queue
        };
        let found =
            self.desk.driver(at).jobs().filter(is_it).min_by_key(|live| live.detail.number)?;
        Some((at, found.id()))
    }
}
