//! What a round knows of the cluster: everything that the pure middle sees.

use std::collections::BTreeMap;

use meed::Resources;

use crate::read::jobs::{JobPriority, JobStage, SlurmJob, Suspension};
use crate::read::runs::SlurmRun;

/// An audit asks accounting for runs of so many seconds before now.
pub(crate) const AUDIT: i64 = 600;

/// The cluster at one instant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ClusterSnapshot {
    /// The second in which it was asked for; since 1970. All that happened before it is in here.
    pub at: i64,
    /// What the nodes that take jobs hold together.
    pub pool: Resources,
    /// Records of `slurmctld` by number, ended ones as long as it keeps them.
    pub jobs: BTreeMap<u32, SlurmJob>,
    /// Of jobs that are suspended or have been: when, where that was asked.
    pub suspensions: BTreeMap<u32, Suspension>,
    /// Priorities of jobs that wait.
    pub priorities: BTreeMap<u32, JobPriority>,
    /// Runs from accounting, of jobs that `slurmctld` may have forgotten.
    pub runs: Vec<SlurmRun>,
    /// Accounting answered, where it was asked.
    pub is_accounted: bool,
}

impl Default for ClusterSnapshot {
    fn default() -> ClusterSnapshot {
        ClusterSnapshot {
            at: 0,
            pool: Resources::zero(4),
            jobs: BTreeMap::new(),
            suspensions: BTreeMap::new(),
            priorities: BTreeMap::new(),
            runs: Vec::new(),
            is_accounted: true,
        }
    }
}

impl ClusterSnapshot {
    /// Something waits.
    pub(crate) fn waits(&self) -> bool {
        self.jobs.values().any(|job| job.stage == JobStage::Pending)
    }

    /// The order may change as time passes: something waits for its turn, and something runs.
    pub(crate) fn may_turn(&self) -> bool {
        let runs = self.jobs.values().any(|job| job.stage == JobStage::Running);
        runs && self.jobs.values().any(SlurmJob::is_eligible)
    }

    /// The site factor of a job that waits; 0 is what a new one has.
    pub(crate) fn site_factor(&self, job: u32) -> i64 {
        self.priorities.get(&job).map_or(0, |of| of.site_factor)
    }

    /// The job has that site factor now.
    pub(crate) fn set_factor(&mut self, job: u32, site_factor: i64) {
        if let Some(of) = self.priorities.get_mut(&job) {
            of.all = of.alone().saturating_add(site_factor);
            of.site_factor = site_factor;
        }
    }

    /// Jobs whose turn would be of use, in the order in which Slurm would take them without Meed:
    /// by priority, then by number. Tiers of partitions are left out.
    pub(crate) fn order_alone(&self) -> Vec<u32> {
        let waiting = self.jobs.values().filter(|job| job.is_eligible());
        let alone = |id: u32| self.priorities.get(&id).map_or(0, |of| of.alone());
        let mut order: Vec<u32> = waiting.map(|job| job.id).collect();
        order.sort_by_key(|&id| (std::cmp::Reverse(alone(id)), id));
        order
    }
}
