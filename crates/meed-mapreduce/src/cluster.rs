//! The cluster as it is declared: machines, how fast each is and becomes, and what all of them go
//! by.

use meed::{Span, Time};

use super::hosts::{Host, HostsOf};

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

/// How long the master needs; it does one thing after the other, as Hadoop 0.20's JobTracker does
/// under its lock.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Master {
    /// For a heartbeat.
    pub beat: Span,
    /// For each task that it starts there, besides.
    pub task: Span,
}

/// A node as declared.
#[derive(Clone, PartialEq, Debug)]
pub struct Machine {
    /// Its name, distinct.
    pub name: String,
    /// Number of cores.
    pub cores: u32,
    /// How fast its parts are.
    pub speeds: Speeds,
    /// Number of its rack.
    pub rack: u32,
    /// What it shares with others.
    pub hosts: HostsOf,
    /// How much of what each of its reduces merges stays in memory; `None`: nothing does.
    pub cache_bytes: Option<u64>,
    /// What it has for a page cache, and for its tasks.
    pub memory_bytes: Option<u64>,
    /// What its tasks hold of it.
    pub task_bytes: u64,
    /// Map tasks at once, as configured.
    pub map_slots: u32,
    /// Reduce tasks at once.
    pub reduce_slots: u32,
}

/// How fast a node is; may change while work runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Speeds {
    /// Of one core, in thousandths of the reference core.
    pub core: u32,
    /// Of the disk with a single stream.
    pub disk_bytes_per_s: u64,
    /// Of the incoming network link.
    pub network_bytes_per_s: u64,
}

/// From `at` on the node has other speeds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SpeedChange {
    /// When.
    pub at: Time,
    /// Which node.
    pub node: usize,
    /// What it has from then on; the rest stays.
    pub core: Option<u32>,
    /// See [`Speeds`].
    pub disk_bytes_per_s: Option<u64>,
    /// See [`Speeds`].
    pub network_bytes_per_s: Option<u64>,
}
