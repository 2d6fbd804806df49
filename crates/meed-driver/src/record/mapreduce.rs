//! What a run of the MapReduce world leaves besides the record of every run (docs/json.md).

use serde::Serialize;

/// Jobs, locality, slots; over time and per node.
///
/// It is part of a [`RunRecord`](super::RunRecord), whose page has an example.
#[derive(Clone, Debug, Serialize)]
pub struct MapReduceRecord {
    /// Which maps a slot may run: the name of the rule.
    pub rule: String,
    /// Maps started.
    pub maps: u64,
    /// Of them: on a node that holds the block.
    pub local_maps: u64,
    /// Of the others: in a rack that holds it (nothing with one rack).
    pub rack_maps: u64,
    /// `local_maps / maps`; `null` without maps.
    pub locality: Option<f64>,
    /// Reduces started.
    pub reduces: u64,
    /// Heartbeats of all nodes.
    pub heartbeats: u64,
    /// How often slots were set otherwise than they were (all nodes at once is one).
    pub slot_settings: u64,
    /// Mean time from submission to the end of the last job, over all requests that have ended.
    pub mean_request_s: Option<f64>,
    /// Second attempts; nothing where the scenario has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speculation: Option<Speculation>,
    /// What page caches did; nothing where the scenario has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_cache: Option<PageCacheUse>,
    /// Requests, in order of declaration.
    pub requests: Vec<RequestRecord>,
    /// Jobs, in order of submission.
    pub jobs: Vec<MapReduceJobRecord>,
    /// Nodes, in order of declaration.
    pub nodes: Vec<NodeRecord>,
    /// Samples over time; empty when none were asked for.
    pub series: MapReduceSeries,
}

/// Second attempts of slow tasks.
///
/// It is part of a [`MapReduceRecord`]: the page of [`RunRecord`](super::RunRecord) has an example.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct Speculation {
    /// Started.
    pub copies: u64,
    /// Of them: those that ended before the first attempt did.
    pub won: u64,
}

/// What was read of files on disks.
///
/// It is part of a [`MapReduceRecord`]: the page of [`RunRecord`](super::RunRecord) has an example.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct PageCacheUse {
    /// By all tasks.
    pub read_bytes: u64,
    /// Of them: those that lay in memory.
    pub memory_bytes: u64,
}

/// Jobs that were submitted together.
///
/// It is part of a [`MapReduceRecord`]: the page of [`RunRecord`](super::RunRecord) has an example.
#[derive(Clone, Debug, Serialize)]
pub struct RequestRecord {
    /// Its name.
    pub request: String,
    /// When it was submitted; `null` when it was not.
    pub submit_s: Option<f64>,
    /// When its last job ended; `null` when it did not.
    pub end_s: Option<f64>,
}

/// One job.
///
/// It is part of a [`MapReduceRecord`]: the page of [`RunRecord`](super::RunRecord) has an example.
#[derive(Clone, Debug, Serialize)]
pub struct MapReduceJobRecord {
    /// Its name.
    pub job: String,
    /// Its leaf queue.
    pub queue: String,
    /// Its type.
    pub kind: String,
    /// Bytes of its input.
    pub input_bytes: u64,
    /// When it was submitted.
    pub submit_s: f64,
    /// When its last map had ended, as the scheduler saw it.
    pub maps_end_s: Option<f64>,
    /// When it ended.
    pub end_s: Option<f64>,
    /// Maps started.
    pub maps: u64,
    /// Of them: on a node that holds the block.
    pub local_maps: u64,
    /// Of the others: in a rack that holds it.
    pub rack_maps: u64,
    /// `cpu` or `io` as seen from its first map that ended, under every rule; `null` before.
    pub class: Option<String>,
}

/// One node over the whole run.
///
/// It is part of a [`MapReduceRecord`]: the page of [`RunRecord`](super::RunRecord) has an example.
#[derive(Clone, Debug, Serialize)]
pub struct NodeRecord {
    /// Its name.
    pub node: String,
    /// Busy part of its cores.
    pub cpu_busy: f64,
    /// Read and written, mean.
    pub disk_bytes_per_s: f64,
    /// Received, mean.
    pub network_bytes_per_s: f64,
    /// Maps started there.
    pub maps: u64,
    /// Of them: with the block on the node.
    pub local_maps: u64,
    /// Reduces started there.
    pub reduces: u64,
    /// Its slots at the start and whenever they changed.
    pub slots: Vec<SlotChange>,
}

/// A node's map slots from some instant on. Rules without classes have `any`, the others `cpu` and
/// `io`.
///
/// It is part of a [`NodeRecord`]: the page of [`RunRecord`](super::RunRecord) has an example.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct SlotChange {
    /// From when.
    pub t_s: f64,
    /// For maps of any class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub any: Option<u32>,
    /// For CPU-bound maps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<u32>,
    /// For I/O-bound maps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub io: Option<u32>,
}

/// Samples at equal distances of time.
///
/// It is part of a [`MapReduceRecord`]: the page of [`RunRecord`](super::RunRecord) has an example.
#[derive(Clone, Debug, Default, Serialize)]
pub struct MapReduceSeries {
    /// Times of the samples.
    pub t_s: Vec<f64>,
    /// In the order of [`MapReduceRecord::nodes`].
    pub nodes: Vec<NodeSeries>,
}

/// One node over time. Every array has the length of `t_s`. Tasks and slots are those just before
/// the sample; uses are means since the sample before, the first one's nothing.
///
/// It is part of a [`MapReduceSeries`]: the page of [`RunRecord`](super::RunRecord) has an example.
#[derive(Clone, Debug, Default, Serialize)]
pub struct NodeSeries {
    /// Maps that run of jobs found to be CPU-bound.
    pub cpu_maps: Vec<u32>,
    /// Maps that run of jobs found to be I/O-bound.
    pub io_maps: Vec<u32>,
    /// Maps that run of jobs of no class (yet).
    pub other_maps: Vec<u32>,
    /// Reduces that run.
    pub reduces: Vec<u32>,
    /// Busy part of the cores.
    pub cpu_busy: Vec<f64>,
    /// Bytes per second read and written.
    pub disk_bytes_per_s: Vec<u64>,
    /// Bytes per second received.
    pub network_bytes_per_s: Vec<u64>,
    /// Maps started since the sample before.
    pub maps_started: Vec<u32>,
    /// Of them: with the block on the node.
    pub local_maps_started: Vec<u32>,
}
