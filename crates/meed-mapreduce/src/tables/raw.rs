//! The tables of the world as they are written, before anything is checked (docs/mapreduce.md).

use meed_config::Spanned;
use meed_config::quantity::Quantity;
use serde::Deserialize;

/// The `[mapreduce]` table of a scenario, with all tables below it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a [mapreduce] table")]
pub struct MapReduceForm {
    pub(super) heartbeat: Option<Spanned<Quantity>>,
    pub(super) block: Option<Spanned<Quantity>>,
    pub(super) replicas: Option<Spanned<i64>>,
    pub(super) seek_penalty: Option<Spanned<Quantity>>,
    pub(super) uplink_bytes_per_s: Option<Spanned<Quantity>>,
    pub(super) start_up: Option<Spanned<Quantity>>,
    pub(super) output_copies: Option<Spanned<i64>>,
    pub(super) output_replicas: Option<Spanned<i64>>,
    pub(super) parallel_copies: Option<Spanned<i64>>,
    #[serde(default)]
    pub(super) speculative: bool,
    #[serde(default)]
    pub(super) page_cache: bool,
    pub(super) task_memory: Option<Spanned<Quantity>>,
    pub(super) master_heartbeat: Option<Spanned<Quantity>>,
    pub(super) master_task: Option<Spanned<Quantity>>,
    pub(super) average_disk_bytes_per_s: Option<Spanned<Quantity>>,
    pub(super) overload_cpu: Option<Spanned<Quantity>>,
    pub(super) overload_io_bytes_per_s: Option<Spanned<Quantity>>,
    pub(super) threshold: Option<Spanned<i64>>,
    pub(super) local_wait: Option<Spanned<Quantity>>,
    #[serde(default)]
    pub(super) host: Vec<Spanned<Host>>,
    #[serde(default)]
    pub(super) node: Vec<Spanned<Node>>,
    #[serde(default)]
    pub(super) kind: Vec<Spanned<MapReduceKind>>,
    #[serde(default)]
    pub(super) job: Vec<Spanned<Job>>,
    #[serde(default)]
    pub(super) request: Vec<Spanned<Request>>,
}

impl MapReduceForm {
    /// Where each job and request stands in the file, and its queue.
    pub fn queues(&self) -> impl Iterator<Item = (std::ops::Range<usize>, &str)> {
        let jobs = self.job.iter().map(|entry| (entry.span(), entry.get_ref().queue.as_str()));
        jobs.chain(self.request.iter().map(|entry| (entry.span(), entry.get_ref().queue.as_str())))
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a [[mapreduce.host]] table")]
pub(super) struct Host {
    pub(super) name: Option<String>,
    pub(super) count: Option<i64>,
    pub(super) cores: Option<i64>,
    pub(super) disk_bytes_per_s: Option<Quantity>,
    pub(super) seek_penalty: Option<Quantity>,
    pub(super) network_bytes_per_s: Option<Quantity>,
    pub(super) memory: Option<Quantity>,
}

/// The hosts of a node, by name.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "wanted is a name of a [[mapreduce.host]], or a list of such names")]
pub(super) enum OnHosts {
    One(String),
    Several(Vec<String>),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a [[mapreduce.node]] table")]
pub(super) struct Node {
    pub(super) name: Option<String>,
    pub(super) count: Option<i64>,
    pub(super) cores: i64,
    pub(super) speed: Option<Quantity>,
    pub(super) disk_bytes_per_s: Quantity,
    pub(super) network_bytes_per_s: Quantity,
    pub(super) rack: Option<String>,
    pub(super) host: Option<OnHosts>,
    pub(super) memory: Option<Quantity>,
    pub(super) map_slots: Option<i64>,
    pub(super) reduce_slots: Option<i64>,
    #[serde(default)]
    pub(super) change: Vec<SpeedChange>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a [[mapreduce.node.change]] table")]
pub(super) struct SpeedChange {
    pub(super) at: Quantity,
    pub(super) speed: Option<Quantity>,
    pub(super) disk_bytes_per_s: Option<Quantity>,
    pub(super) network_bytes_per_s: Option<Quantity>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a [[mapreduce.kind]] table")]
pub(super) struct MapReduceKind {
    pub(super) name: String,
    pub(super) map_read: Option<Quantity>,
    pub(super) map_cpu_per_mb: Option<Quantity>,
    pub(super) map_output: Option<Quantity>,
    pub(super) shuffle: Option<Quantity>,
    pub(super) reduce_cpu_per_mb: Option<Quantity>,
    pub(super) output: Option<Quantity>,
    pub(super) reduces: Option<Quantity>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a [[mapreduce.job]] table")]
pub(super) struct Job {
    pub(super) queue: String,
    pub(super) name: Option<String>,
    pub(super) kind: String,
    pub(super) input: Quantity,
    pub(super) submit: Option<Quantity>,
    pub(super) count: Option<i64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a [[mapreduce.request]] table")]
pub(super) struct Request {
    pub(super) queue: String,
    pub(super) name: Option<String>,
    pub(super) kinds: Option<Vec<String>>,
    pub(super) input: Input,
    pub(super) order: Option<String>,
    pub(super) at: Option<Quantity>,
    pub(super) count: Option<i64>,
    pub(super) every: Option<Quantity>,
    pub(super) pause: Option<Quantity>,
}

/// One size for all jobs, or a range to draw from.
#[derive(Clone, Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "expected an amount of bytes, as in \"10GB\", or a range [smallest, largest]"
)]
pub(super) enum Input {
    Same(Quantity),
    Between([Quantity; 2]),
}
