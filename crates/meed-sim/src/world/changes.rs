//! Changes of the cluster and of the queue tree while work runs.

use meed::{NodeSpec, QueueChange, Rejected, Resources, Time};

use super::desk::{Desk, Step};
use super::{RunError, World};
use crate::log::Record;

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

impl<D: Desk> World<'_, D> {
    pub(super) fn change(&mut self, timed: TimedChange) -> Result<(), RunError> {
        let TimedChange { at, change } = timed;
        let kinds = self.desk.tree().kinds();
        self.log.write(at, || Record::Change { change: &change, kinds, of_share: false })?;
        if let Change::JobCancelled(label) = &change {
            return self.cancel_labelled(label);
        }
        let steps = self.desk.change(at, change);
        self.follow(steps)
    }

    /// Tells what follows from a change or an end.
    pub(super) fn follow(
        &mut self,
        steps: Result<Vec<Step<D::At>>, Rejected>,
    ) -> Result<(), RunError> {
        let now = self.now;
        for step in steps.map_err(|why| RunError::Change { at: now, why })? {
            if let Some(change) = &step.follows {
                let kinds = self.desk.tree().kinds();
                self.log.write(now, || Record::Change { change, kinds, of_share: true })?;
            }
            for task in &step.lost {
                self.log_task(step.at, task, None, "lost")?;
            }
        }
        Ok(())
    }

    fn cancel_labelled(&mut self, label: &str) -> Result<(), RunError> {
        let live = self.desk.drivers().flat_map(|(at, one)| one.jobs().map(move |job| (at, job)));
        let ours = live.filter(|(_, job)| job.label().to_string() == label);
        let first = ours.min_by_key(|(_, job)| job.detail.number).map(|(at, job)| (at, job.id()));
        first.map_or(Ok(()), |(at, id)| self.cancel(at, id))
    }
}
