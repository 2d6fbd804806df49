//! What users are shown of the machine, its queues and what stands in a job's way, as programs read
//! it (docs/http.md).

use meed_driver::explain::QueueStatus;
use meed_journal::UnitName;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::room::RoomShown;
use crate::protocol::JobView;
use crate::settings::Role;

/// A resource of the machine.
#[derive(Serialize, ToSchema)]
pub(crate) struct ResourceShown {
    /// Its name.
    pub(super) resource: String,
    /// What it is counted in.
    #[schema(value_type = String)]
    pub(super) unit: UnitName,
    /// What the machine has.
    pub(super) has: f64,
    /// What tasks hold of it.
    pub(super) held: f64,
    /// What is left.
    pub(super) free: f64,
}

/// All queues, and the machine.
#[derive(Serialize, ToSchema)]
pub(crate) struct QueuesShown {
    pub(super) queues: Vec<QueueShown>,
    pub(super) resources: Vec<ResourceShown>,
}

/// The machine.
#[derive(Serialize, ToSchema)]
pub(crate) struct ClusterShown {
    /// Version of the server.
    pub(super) server: String,
    pub(super) nodes: Vec<NodeShown>,
    /// How queues are ordered.
    pub(super) policy: String,
    pub(super) queues: usize,
    /// Jobs that have not ended.
    pub(super) open_jobs: usize,
}

/// A node.
#[derive(Serialize, ToSchema)]
pub(crate) struct NodeShown {
    pub(super) node: String,
    pub(super) resources: Vec<ResourceShown>,
}

/// Who asks.
#[derive(Serialize, ToSchema)]
pub(crate) struct MeShown {
    pub(super) user: String,
    pub(super) role: Role,
    /// Nothing may be changed by this way in.
    pub(super) reads_only: bool,
}

/// How a queue stands.
#[derive(Serialize, ToSchema)]
pub(crate) struct QueueShown {
    /// Its name.
    pub(super) queue: String,
    /// Its place among the queues that are served next; `None`: nothing of it waits.
    pub(super) next: Option<usize>,
    pub(super) weight: f64,
    /// The resource that share, held and demand are of.
    pub(super) measured: String,
    /// What it is entitled to.
    pub(super) share: f64,
    pub(super) held: f64,
    /// Held and waited for.
    pub(super) demand: f64,
    pub(super) waiting_tasks: u64,
    /// Live jobs.
    pub(super) jobs: u64,
    /// Of own queues: usage, balance, rho and so on, in resource-seconds (docs/http.md).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub(super) books: Option<QueueStatus>,
}

/// What stands in a job's way.
#[derive(Serialize, ToSchema)]
pub(crate) struct WhyShown {
    pub(super) job: JobView,
    /// Jobs whose end it waits for.
    pub(super) waits_for: Vec<u64>,
    /// Tasks whose turn has come, while others still hold their devices.
    pub(super) waits_for_devices: usize,
    /// How many of its tasks may run at once (`--array 0-99%8`), where as many run and more wait.
    pub(super) at_most: Option<u32>,
    /// When there is room for a task of it, where some wait.
    pub(super) room: Option<RoomShown>,
    /// How it stands by the scheduler (docs/explain.md); `null`: the scheduler does not know it.
    #[schema(value_type = Option<Object>)]
    pub(super) standing: Option<Value>,
}
