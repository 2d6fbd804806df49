//! What a run of the MapReduce world starts from.

use crate::classes::{Limits, Rule};
use meed::{Config, Span, Time};
use meed_driver::StopAt;

use super::cluster::Cluster;
use super::kinds::MapReduceKind;

/// A job to be submitted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlannedJob {
    /// Its name.
    pub name: String,
    /// Full name of its leaf queue.
    pub queue: String,
    /// Number of its type in [`MapReduceSetup::kinds`].
    pub kind: usize,
    /// Bytes of its input.
    pub input_bytes: u64,
}

/// When jobs are submitted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Begin {
    /// At this instant.
    At(Time),
    /// When all jobs of the request of this number have ended, and this much later.
    After(usize, Span),
}

/// Jobs that are submitted together, in this order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MapReduceRequest {
    /// Its name.
    pub name: String,
    /// When.
    pub begin: Begin,
    /// What.
    pub jobs: Vec<PlannedJob>,
}

/// What a run starts from: policies, machines, jobs.
#[derive(Clone, Debug)]
pub struct MapReduceSetup {
    /// Queues and policies; resources `map` and `reduce`; one node for each machine, with its slots
    /// as capacity.
    pub config: Config,
    /// Which maps a slot may run.
    pub rule: &'static Rule,
    /// What the rule takes for given.
    pub limits: Limits,
    /// The machines.
    pub cluster: Cluster,
    /// Types of jobs.
    pub kinds: Vec<MapReduceKind>,
    /// The workload, in order of submission where times are known.
    pub requests: Vec<MapReduceRequest>,
    /// When to stop.
    pub stop: StopAt,
    /// Of where blocks lie.
    pub seed: u64,
    /// Whether a refused job stops the run.
    pub strict: bool,
    /// Samples over time; 0 for none.
    pub series_points: usize,
}
