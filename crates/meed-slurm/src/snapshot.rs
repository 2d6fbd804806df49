//! What a round knows of the cluster: everything that the pure middle sees.

use std::collections::BTreeMap;

use meed::Resources;

use crate::read::jobs::{SlurmJob, Suspension};
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
    /// Records of `slurmctld`, ended ones as long as it keeps them.
    pub jobs: Vec<SlurmJob>,
    /// Of jobs that are suspended or have been: when, where that was asked.
    pub suspensions: BTreeMap<u32, Suspension>,
    /// Site factors of jobs that wait.
    pub factors: BTreeMap<u32, i64>,
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
            jobs: Vec::new(),
            suspensions: BTreeMap::new(),
            factors: BTreeMap::new(),
            runs: Vec::new(),
            is_accounted: true,
        }
    }
}
