//! The scenario file as it is written, before anything is checked (docs/scenario.md).

use std::collections::BTreeMap;

use meed_config::Spanned;
use meed_config::constraints::ConstraintsForm;
use meed_config::gang::GangForm;
use meed_config::nodes::{NodeForm, ResourceForm};
use meed_config::policy::InToml;
pub(super) use meed_config::quantity::{AmountsByName, Quantity};
use meed_config::queues::QueueForm;
use serde::{Deserialize, Serialize};

/// A queue with the places of what it says.
pub(super) type Queue = QueueForm<InToml, Spanned<String>>;

/// What holds for every tenant whose own table does not say it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a [queues] table")]
pub(super) struct QueueDefaults {
    pub(super) weight: Option<Quantity>,
    pub(super) max: Option<AmountsByName>,
    pub(super) order: Option<Spanned<String>>,
    pub(super) policy: Option<InToml>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawScenario {
    pub(super) cluster: Cluster,
    #[serde(default)]
    pub(super) fairness: Fairness,
    #[serde(default)]
    pub(super) policy: InToml,
    #[serde(default)]
    pub(super) policies: BTreeMap<String, InToml>,
    #[serde(default)]
    pub(super) queue: Vec<Spanned<Queue>>,
    pub(super) queues: Option<Spanned<QueueDefaults>>,
    #[serde(default)]
    pub(super) job: Vec<Spanned<Job>>,
    #[serde(default)]
    pub(super) generator: Vec<Spanned<Generator>>,
    #[serde(default)]
    pub(super) workload: Vec<Spanned<Workload>>,
    pub(super) trace: Option<Spanned<Trace>>,
    #[serde(default)]
    pub(super) change: Vec<Spanned<Change>>,
    #[serde(default)]
    pub(super) instance: Vec<Spanned<Instance>>,
    #[serde(default)]
    pub(super) contribution: Vec<Spanned<Contribution>>,
    pub(super) accounts: Option<Spanned<Accounts>>,
    #[serde(default)]
    pub(super) run: Run,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a [cluster] table")]
pub(super) struct Cluster {
    pub(super) resources: Spanned<Vec<ResourceForm>>,
    #[serde(default)]
    pub(super) node: Vec<Spanned<NodeForm>>,
    pub(super) machines: Option<Spanned<Machines>>,
}

/// Nodes from a file or a published mix, beside those of `node`.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table, as in { file = \"log.machines\" } or { mix = \"google\" }"
)]
pub(super) struct Machines {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) format: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mix: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) count: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) draw: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) seed: Option<u64>,
}

fn one() -> i64 {
    1
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a [fairness] table")]
pub(super) struct Fairness {
    pub(super) resource: Option<Spanned<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a [[job]] table")]
pub(super) struct Job {
    pub(super) queue: String,
    pub(super) name: Option<String>,
    pub(super) submit: Option<Quantity>,
    #[serde(default = "one")]
    pub(super) weight: i64,
    pub(super) tasks: Option<i64>,
    pub(super) demand: Option<AmountsByName>,
    pub(super) duration: Option<DurationValue>,
    pub(super) constraints: Option<ConstraintsForm>,
    pub(super) limit: Option<Quantity>,
    pub(super) checkpoint: Option<Quantity>,
    pub(super) gang: Option<GangForm>,
    pub(super) same: Option<String>,
    #[serde(default)]
    pub(super) group: Vec<Group>,
    pub(super) chain: Option<String>,
    pub(super) pause: Option<Quantity>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a [[job.group]] table")]
pub(super) struct Group {
    #[serde(default)]
    pub(super) stage: u16,
    pub(super) tasks: Option<i64>,
    pub(super) demand: AmountsByName,
    pub(super) duration: DurationValue,
    pub(super) constraints: Option<ConstraintsForm>,
    pub(super) limit: Option<Quantity>,
    pub(super) checkpoint: Option<Quantity>,
    pub(super) gang: Option<GangForm>,
    pub(super) same: Option<String>,
}

/// What is said of tasks besides how many they are, what they ask for and how long they run.
#[derive(Clone, Copy)]
pub(super) struct Terms<'a> {
    pub(super) constraints: Option<&'a ConstraintsForm>,
    pub(super) limit: Option<&'a Quantity>,
    pub(super) checkpoint: Option<&'a Quantity>,
    pub(super) gang: Option<GangForm>,
    pub(super) same: Option<&'a str>,
}

impl Terms<'_> {
    /// Whether nothing is said.
    pub(super) fn is_empty(&self) -> bool {
        let none = self.constraints.is_none() && self.limit.is_none() && self.checkpoint.is_none();
        none && self.gang.is_none() && self.same.is_none()
    }
}

macro_rules! has_terms {
    ($($form:ty),*) => {$(
        impl $form {
            pub(super) fn terms(&self) -> Terms<'_> {
                Terms {
                    constraints: self.constraints.as_ref(),
                    limit: self.limit.as_ref(),
                    checkpoint: self.checkpoint.as_ref(),
                    gang: self.gang,
                    same: self.same.as_deref(),
                }
            }
        }
    )*};
}

has_terms!(Job, Group, Generator, Stage);

/// One duration for all tasks, or one for each.
#[derive(Clone, Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a duration, as in 90 or \"90s\", or a list with one for each task"
)]
pub(super) enum DurationValue {
    Each(Vec<Quantity>),
    Same(Quantity),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a [[generator]] table")]
pub(super) struct Generator {
    pub(super) queue: String,
    pub(super) name: Option<String>,
    pub(super) arrivals: Arrivals,
    pub(super) start: Option<Quantity>,
    pub(super) jobs: Option<u64>,
    pub(super) until: Option<Quantity>,
    #[serde(default = "one")]
    pub(super) weight: i64,
    pub(super) tasks: Option<Dist>,
    pub(super) duration: Option<Dist>,
    #[serde(default)]
    pub(super) per: Per,
    pub(super) demand: Option<AmountsByName>,
    pub(super) constraints: Option<ConstraintsForm>,
    pub(super) limit: Option<Quantity>,
    pub(super) checkpoint: Option<Quantity>,
    pub(super) gang: Option<GangForm>,
    pub(super) same: Option<String>,
    #[serde(default)]
    pub(super) stage: Vec<Stage>,
    #[serde(default)]
    pub(super) group: Vec<Stage>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a [[generator.stage]] or [[generator.group]] table")]
pub(super) struct Stage {
    pub(super) tasks: Dist,
    pub(super) duration: Dist,
    #[serde(default)]
    pub(super) per: Per,
    pub(super) demand: AmountsByName,
    pub(super) constraints: Option<ConstraintsForm>,
    pub(super) limit: Option<Quantity>,
    pub(super) checkpoint: Option<Quantity>,
    pub(super) gang: Option<GangForm>,
    pub(super) same: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a [[workload]] table")]
pub(super) struct Workload {
    pub(super) name: String,
    pub(super) queue: String,
    pub(super) start: Option<Quantity>,
    pub(super) demand: AmountsByName,
    pub(super) task_time_scale: Option<f64>,
    pub(super) submissions: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Per {
    #[default]
    Task,
    Job,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table, as in { poisson = \"10s\" }")]
pub(super) struct Arrivals {
    pub(super) every: Option<Quantity>,
    pub(super) poisson: Option<Quantity>,
    pub(super) gaps: Option<Dist>,
    pub(super) at: Option<Vec<Quantity>>,
    pub(super) closed: Option<u32>,
    pub(super) pause: Option<Dist>,
}

/// A constant, or a table that names a distribution.
#[derive(Clone, Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a number, or one of { uniform = [low, high] }, { exponential = mean }, \
                 { lognormal = [median, sigma] }, { pareto = [scale, shape] }, { choice = [[value, \
                 weight], ..] }, \
                 each with max if need be"
)]
pub(super) enum Dist {
    Constant(Quantity),
    Named(NamedDist),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NamedDist {
    pub(super) uniform: Option<[f64; 2]>,
    pub(super) exponential: Option<f64>,
    pub(super) lognormal: Option<[f64; 2]>,
    pub(super) pareto: Option<[f64; 2]>,
    pub(super) choice: Option<Vec<(f64, u32)>>,
    pub(super) max: Option<f64>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, expecting = "a [trace] table")]
pub(super) struct Trace {
    pub(super) file: String,
    pub(super) format: Option<String>,
    // All but Meed's own
    pub(super) outliers: Option<String>,
    pub(super) window: Option<String>,
    // Tables
    pub(super) partitions: Option<String>,
    // Logs (and `unfinished`)
    pub(super) run: Option<Quantity>,
    // Tables
    pub(super) map: Option<BTreeMap<String, String>>,
    pub(super) separator: Option<String>,
    pub(super) header: Option<bool>,
    pub(super) time_zone: Option<String>,
    pub(super) dates: Option<String>,
    pub(super) decimal: Option<String>,
    pub(super) sizes: Option<String>,
    pub(super) amounts: Option<String>,
    pub(super) dots: Option<String>,
    pub(super) accounts: Option<BTreeMap<String, String>>,
    // SWF, MWF, Google, YARN, Spark and Slurm
    pub(super) queues: Option<String>,
    pub(super) shape: Option<String>,
    pub(super) processors: Option<String>,
    pub(super) processor_resource: Option<String>,
    pub(super) memory: Option<String>,
    pub(super) memory_resource: Option<String>,
    pub(super) limits: Option<String>,
    pub(super) min_duration: Option<Quantity>,
    pub(super) keep_cancelled: Option<bool>,
    // Philly (and `shape`)
    pub(super) align: Option<String>,
    pub(super) offsets: Option<BTreeMap<String, Quantity>>,
    pub(super) gpu_resource: Option<String>,
    // MWF
    pub(super) properties: Option<String>,
    // Google
    pub(super) episode: Option<String>,
    pub(super) reduces: Option<String>,
    pub(super) unfinished: Option<String>,
    pub(super) keep_earlier: Option<bool>,
    pub(super) missing_demand: Option<AmountsByName>,
    pub(super) priorities: Option<[u8; 2]>,
    pub(super) batch_gap: Option<Quantity>,
    // Spark
    pub(super) applications: Option<String>,
    pub(super) container_step: Option<Quantity>,
    // SWIM
    pub(super) tenants: Option<Tenants>,
    pub(super) split: Option<String>,
    pub(super) split_seed: Option<u64>,
    pub(super) tenant_weights: Option<Vec<u32>>,
    pub(super) map_bytes: Option<Quantity>,
    pub(super) reduce_bytes: Option<Quantity>,
    pub(super) max_tasks: Option<u32>,
    pub(super) task_base: Option<Quantity>,
    pub(super) map_bytes_per_s: Option<Quantity>,
    pub(super) reduce_bytes_per_s: Option<Quantity>,
    pub(super) map_demand: Option<AmountsByName>,
    pub(super) reduce_demand: Option<AmountsByName>,
}

/// How many tenants, or their names.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(untagged, expecting = "expected a number of tenants, or a list of their names")]
pub(super) enum Tenants {
    Count(usize),
    Names(Vec<String>),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a [[change]] table")]
pub(super) struct Change {
    pub(super) at: Quantity,
    pub(super) node_joins: Option<NodeForm>,
    pub(super) node_leaves: Option<String>,
    pub(super) node_resized: Option<NodeResized>,
    pub(super) queue: Option<QueueChanged>,
    pub(super) queue_removed: Option<String>,
    pub(super) job_cancelled: Option<Quantity>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NodeResized {
    pub(super) name: String,
    pub(super) capacity: AmountsByName,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct QueueChanged {
    pub(super) name: String,
    pub(super) weight: Option<Quantity>,
    pub(super) min: Option<AmountsByName>,
    pub(super) max: Option<AmountsByName>,
}

/// What instances of a type have.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an [[instance]] table")]
pub(super) struct Instance {
    pub(super) name: String,
    pub(super) capacity: AmountsByName,
    pub(super) weight: Option<Quantity>,
    #[serde(default)]
    pub(super) labels: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a [[contribution]] table")]
pub(super) struct Contribution {
    pub(super) tenant: String,
    pub(super) plan: String,
    pub(super) instance: Option<String>,
    pub(super) capacity: Option<AmountsByName>,
    #[serde(default = "one")]
    pub(super) count: i64,
    pub(super) from: Option<Quantity>,
    pub(super) until: Option<Quantity>,
    pub(super) price: Option<Price>,
    pub(super) fee: Option<Quantity>,
    pub(super) bid: Option<Quantity>,
    pub(super) billing: Option<Quantity>,
}

/// A price, or a series of prices.
#[derive(Clone, Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a price, as in 0.14, a list of [time, price], or { file = \"prices.csv\" \
                 }"
)]
pub(super) enum Price {
    Fixed(Quantity),
    Steps(Vec<(Quantity, Quantity)>),
    File(PriceFile),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PriceFile {
    pub(super) file: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an [accounts] table")]
pub(super) struct Accounts {
    pub(super) entitled: Option<String>,
    pub(super) value: Option<String>,
    pub(super) every: Option<Quantity>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a [run] table")]
pub(super) struct Run {
    pub(super) seed: Option<u64>,
    pub(super) until: Option<Spanned<Quantity>>,
    pub(super) warm_up: Option<Spanned<Quantity>>,
    pub(super) cool_down: Option<Spanned<Quantity>>,
    pub(super) load: Option<Spanned<f64>>,
    pub(super) fail_rate: Option<Spanned<f64>>,
    pub(super) max_attempts: Option<u16>,
    pub(super) checkpoint: Option<Spanned<Quantity>>,
    pub(super) heartbeat: Option<Spanned<Quantity>>,
    pub(super) master_start: Option<Spanned<Quantity>>,
    pub(super) master: Option<Spanned<AmountsByName>>,
    pub(super) most_jobs: Option<u64>,
    #[serde(default)]
    pub(super) enforce_limit: bool,
    #[serde(default)]
    pub(super) infeasible: Option<Spanned<String>>,
}
