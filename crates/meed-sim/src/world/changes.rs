//! Changes of the cluster and of the queue tree, carried out.

use meed_journal::{Cancelled, Fact};
use meed_scenario::changes::{Change, TimedChange};

use super::World;
use super::desk::Desk;
use super::error::RunError;

impl<'a, D: Desk<'a>> World<'a, D> {
    pub(super) fn change(&mut self, timed: TimedChange) -> Result<(), RunError> {
        let TimedChange { at, change } = timed;
        match &change {
            Change::JobCancelled(label) => self.cancel_labelled(label),
            _ => self.desk.change(at, change).map_err(|why| RunError::of(at, why)),
        }
    }

    fn cancel_labelled(&mut self, label: &str) -> Result<(), RunError> {
        let live = self.desk.drivers().flat_map(|(at, one)| one.jobs().map(move |job| (at, job)));
        let ours = live.filter(|(_, job)| job.name().to_string() == label);
        let first =
            ours.min_by(|(_, a), (_, b)| a.key().cmp(b.key())).map(|(at, job)| (at, job.id()));
        let now = self.now;
        let Some((at, id)) = first else {
            // Nobody is there of that name: that it was asked for is kept.
            let name = || Some(label.into());
            let asked = || Fact::JobCancelled(Cancelled { job: None, name: name() });
            return self.desk.note(now, asked).map_err(|why| RunError::of(now, why));
        };
        let cancelled = self.desk.driver_mut(at).job_cancelled(now, id);
        let job = cancelled.map_err(|why| RunError::of(now, why))?.job;
        self.job_gone(at, &job, false)
    }
}
