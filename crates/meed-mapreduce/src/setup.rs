//! What a run of the MapReduce world starts from.

use std::ops::ControlFlow;

use crate::classes::{Limits, Rule};
use meed::{Config, Span, Time};
use meed_driver::record::RunRecord;
use meed_driver::{Ending, Journal, Progress, StopAt, outcome};

use super::blocks::Racks;
use super::error::MapReduceError;
use super::hosts::Host;
use super::kinds::MapReduceKind;
use super::machines::{Machine, SpeedChange};
use super::tasks::Shape;
use super::world::{Finished, MapReduceWorld};

/// The machines and how they are shared.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// The nodes, in the order of their heartbeats.
    pub machines: Vec<Machine>,
    /// What some of them share.
    pub hosts: Vec<Host>,
    /// Later changes of their speeds, in order of time.
    pub changes: Vec<SpeedChange>,
    /// Every node says so often what has ended, and asks for work; the first beats are spread
    /// evenly over it.
    pub heartbeat: Span,
    /// Size of a block, the input of one map.
    pub block_bytes: u64,
    /// Nodes that hold each block.
    pub replicas: u32,
    /// Bandwidth that a disk loses for each further stream, in thousandths.
    pub seek_penalty: u32,
    /// Bandwidth of the link into each rack; `None`: never the bottleneck.
    pub uplink_bytes_per_s: Option<u64>,
    /// Every task takes it before it does anything.
    pub start_up: Span,
    /// How long the master needs.
    pub master: Master,
    /// How often a reduce writes its output to its own disk.
    pub output_copies: u32,
    /// What of Hadoop is modelled besides.
    pub as_hadoop: AsHadoop,
}

/// What Hadoop does and the paper does not speak of; nothing of it by default.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct AsHadoop {
    /// Nodes that each block of a reduce's output is written to, in a pipeline; `None`: to its own
    /// disk only (`Cluster::output_copies`).
    pub output_replicas: Option<u32>,
    /// A reduce reads maps' outputs from the disks of so many nodes at once; `None`: they come from
    /// memory, of all nodes together.
    pub parallel_copies: Option<u32>,
    /// Slow tasks get a second attempt.
    pub speculative: bool,
    /// What was read or written lately is read from memory.
    pub page_cache: bool,
}

impl Cluster {
    /// What phases of tasks depend on.
    pub(super) fn shape<'a>(&self, racks: &'a Racks) -> Shape<'a> {
        Shape {
            racks,
            uplinks: self.uplink_bytes_per_s.is_some(),
            fetches: self.as_hadoop.parallel_copies.is_some(),
            replicates: self.as_hadoop.output_replicas.is_some(),
            page_cache: self.as_hadoop.page_cache,
        }
    }
}

/// How long the master needs; it does one thing after the other, as Hadoop 0.20's JobTracker does
/// under its lock.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Master {
    /// For a heartbeat.
    pub beat: Span,
    /// For each task that it starts there, besides.
    pub task: Span,
}

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

/// Runs one setup to its end. `policy` names the run in its record; records go to `log`, which the
/// caller flushes; `progress` is told now and then how far the run is, and may stop it.
pub fn run(
    policy: &str,
    setup: MapReduceSetup,
    log: Box<dyn Journal + '_>,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<RunRecord, MapReduceError> {
    let world = MapReduceWorld::new(setup, log)?;
    let Finished { mut driver, end, sampler, record: mapreduce } = world.run(progress)?;
    let mut record =
        outcome(policy, &mut driver, Ending { end, sampler, jobs: Vec::new(), counting: None })
            .map_err(|why| MapReduceError::Change { at: end, why })?;
    record.mapreduce = Some(Box::new(mapreduce));
    Ok(record)
}
