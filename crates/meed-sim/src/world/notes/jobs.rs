//! Jobs one by one: when each came, began and ended, and how wide it is.
//!
//! Cost: memory grows with the workload; a search by number for each task that starts, among the
//! jobs that are alive.

use std::collections::BTreeMap;

use meed::{QueueId, TaskGroup, Time};
use meed_driver::{KeptJob, LiveJob};

use super::{Planned, number_of};

/// See the module.
#[derive(Default)]
pub(crate) struct Jobs {
    measured: usize,
    /// By the number of a job's arrival.
    alive: BTreeMap<u64, Begun>,
    gone: Vec<KeptJob>,
}

/// What is known of a job that is alive.
#[derive(Clone, Copy, Default)]
struct Begun {
    width: u64,
    first: Option<Time>,
}

impl Jobs {
    /// `measured`: the kind that widths are told in.
    pub(super) fn new(measured: usize) -> Jobs {
        Jobs { measured, ..Jobs::default() }
    }

    /// Tasks of a job begin to wait.
    pub(super) fn begin(&mut self, job: u64, groups: &[TaskGroup]) {
        let begun = self.alive.entry(job).or_default();
        let width = |group: &TaskGroup| {
            let together = group.gang.as_ref().map_or(1, |gang| u64::from(gang.least));
            group.demand.get(self.measured).saturating_mul(together)
        };
        let is_joint = |group: &&TaskGroup| group.gang.as_ref().is_some_and(|gang| gang.joint);
        let joint = groups.iter().filter(is_joint).map(width).fold(0, u64::saturating_add);
        begun.width = groups.iter().map(width).fold(begun.width.max(joint), u64::max);
    }

    /// A task of a job starts.
    pub(super) fn start(&mut self, job: u64, now: Time) {
        if let Some(begun) = self.alive.get_mut(&job) {
            begun.first.get_or_insert(now);
        }
    }

    /// A job of the tree's leaf `queue` is gone: done at `ended`, or not.
    pub(crate) fn gone(&mut self, queue: QueueId, job: &LiveJob<Planned>, ended: Option<Time>) {
        let begun = self.alive.remove(&number_of(job)).unwrap_or_default();
        self.gone.push(KeptJob {
            queue,
            label: job.name().clone(),
            submit: job.submit(),
            started: begun.first,
            ended,
            tasks: job.detail.tasks.count(),
            width: begun.width,
        });
    }

    /// All that are gone, in that order.
    pub(crate) fn all(self) -> Vec<KeptJob> {
        self.gone
    }
}
