//! Changes of the cluster and of the queue tree while work runs.

use meed::{NodeSpec, QueueChange, Resources, Time};
use meed_journal::{Cancelled, Fact};

use super::desk::Desk;
use super::{RunError, World};

/// One change and its time.
#[derive(Clone, Debug)]
pub struct TimedChange {
    /// When.
    pub at: Time,
    /// What.
    pub change: Change,
}

/// What a scenario can change.
#[derive(Clone, Debug)]
pub enum Change {
    /// A node joins.
    NodeJoins(NodeSpec),
    /// The node of this name leaves.
    NodeLeaves(String),
    /// The node of this name has another capacity.
    NodeResized(String, Resources),
    /// The queue of this name changes.
    Queue(String, QueueChange),
    /// The queue of this name takes no more jobs and goes when it is empty.
    QueueRemoved(String),
    /// The job of this label is cancelled, if it is alive.
    JobCancelled(String),
}

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
