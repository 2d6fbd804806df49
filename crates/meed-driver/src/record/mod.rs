//! What a run leaves behind: the record that tables, JSON and reports are made from.
//!
//! The serialised form is Meed's JSON output (docs/json.md), schema [`SCHEMA`]: fields may be added
//! within a schema, never changed or removed. Times are seconds, usage is natural units x seconds
//! (core-seconds, byte-seconds), ratios are plain numbers; a value that does not exist (no job
//! ended, no demand) is `null`.

mod accounts;
mod chart;
pub mod mapreduce;
mod overtaken;

use std::collections::BTreeMap;

use meed::Time;
use meed_journal::JobKey;
use serde::Serialize;

use crate::counting::CountedSpan;
use mapreduce::MapReduceRecord;

pub use accounts::{AccountRecord, AccountsRecord};
pub use chart::{ChartHold, ChartNode, ChartStart, ChartTask, NodeChart};
pub use overtaken::{MostOvertaken, OVERTAKERS, Overtaken, Overtaker, WithReserve};

/// How an assumption begins that says which cluster was assumed: what all figures rest on.
pub const ASSUMED_CLUSTER: &str = "assumed cluster: ";

/// How an assumption begins that says which part of a log makes the figures.
pub const COUNTED: &str = "counted: ";

/// The assumption that says which part of a log makes the figures, where that is not all of it.
pub fn counted_words(assumptions: &[String]) -> Option<&str> {
    assumptions.iter().find_map(|words| words.strip_prefix(COUNTED))
}

/// The assumption that says which cluster was assumed, where one was.
pub fn assumed_cluster(assumptions: &[String]) -> Option<&String> {
    assumptions.iter().find(|words| words.starts_with(ASSUMED_CLUSTER))
}

/// Version of the JSON output.
pub const SCHEMA: u32 = 1;

/// One `meed simulate`: a scenario under one or more policies.
///
/// It is made of [`RunRecord`]s, whose page has an example.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Name of the scenario: its file.
    pub scenario: String,
    /// Seed of all random choices.
    pub seed: u64,
    /// What the input does not hold and Meed assumed, in words.
    pub assumptions: Vec<String>,
    /// What the clock said at time 0, in microseconds since 1970-01-01 UTC, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_us: Option<u64>,
    /// The policy that all others are held against, where somebody named one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// Whether nobody named a policy, so that these are the usual ones.
    #[serde(skip)]
    pub is_usual: bool,
    /// One record per policy, in the order asked for.
    pub runs: Vec<RunRecord>,
}

impl Comparison {
    /// Puts the run of the baseline, which `other` is of, before all.
    pub fn compare_with(&mut self, other: Comparison) {
        self.baseline = other.runs.first().map(|run| run.policy.clone());
        self.runs.splice(0..0, other.runs.into_iter().take(1));
    }
}

/// One policy's run over the workload.
///
/// ```
/// # use meed::place::FirstFit;
/// # use meed::{Config, JobSpec, NodeSpec, Policy, QueueSpec, ResourceKinds, Resources};
/// # use meed::{TaskGroup, Time, Unit};
/// # use meed_driver::{Driver, NewJob};
/// # let root = Policy::preset("fair").ok_or("no such preset")?;
/// # let config = Config {
/// #     kinds: ResourceKinds::new(vec![("cpu".to_owned(), Unit::Milli)])?,
/// #     measured: 0,
/// #     queues: vec![QueueSpec::new("physics", root.clone())],
/// #     nodes: vec![NodeSpec::new("n1", Resources::new(&[2000]))],
/// #     root,
/// # };
/// # let mut driver = Driver::new(config, Box::new(FirstFit::new(1)), Vec::new())?;
/// # let queue = driver.queue_named("physics").ok_or("declared")?;
/// # let groups = [TaskGroup::new(3, Resources::new(&[1000]))];
/// # let new = || NewJob { key: 7.into(), name: None, detail: 0 };
/// # let job = driver.job_arrived(Time::ZERO, JobSpec::new(queue, &groups), new, |_, _, _| {})?;
/// # let mut starts = Vec::new();
/// # driver.decide(|start| starts.push(start))?;
/// use meed_driver::{Ending, outcome};
/// let end = Time::from_secs(10).ok_or("in range")?;
/// driver.finish(end);
/// let ending = Ending { end, sampler: None, jobs: Vec::new(), counting: None };
/// let run = outcome("fair", &mut driver, ending)?;
/// assert_eq!((run.decisions, run.unfinished, run.utilization["cpu"]), (2, 1, 1.0));
/// assert_eq!(run.queues[0].usage["cpu"], 20.0); // core seconds
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize)]
pub struct RunRecord {
    /// The policy as the user named it.
    pub policy: String,
    /// The one resource that rho, lending and charges are measured in.
    pub measured: String,
    /// When the last event happened.
    pub end_s: f64,
    /// Events given to the engine.
    pub events: u64,
    /// Decisions taken: tasks started.
    pub decisions: u64,
    /// Jobs refused (a task that no node could hold).
    pub refused: u64,
    /// The first of them: its name, its queue, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_refused: Option<String>,
    /// Jobs that failed or were cancelled.
    pub failed: u64,
    /// Jobs still unfinished at the end of the run.
    pub unfinished: u64,
    /// Trace lines read; 0 without a trace.
    pub trace_lines: u64,
    /// Trace lines skipped because they were wrong.
    pub skipped_lines: u64,
    /// Trace lines left out by a documented assumption.
    pub ignored_lines: u64,
    /// Used fraction of capacity x time, per resource.
    pub utilization: BTreeMap<String, f64>,
    /// Fraction of capacity x time that was free, and held for tasks that wait; only where the
    /// policy makes reservations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_idle: Option<BTreeMap<String, f64>>,
    /// Tasks that were stopped for others; only where the policy does that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<StoppedRecord>,
    /// Sharing benefit at the end, Eq. 4 of TSC'18.
    pub psi: f64,
    /// Sharing loss at the end, Eq. 5 of TSC'18 (never above 0).
    pub omega: f64,
    /// Jain index over the rho of all queues with demand; `null` without any.
    pub jain: Option<f64>,
    /// Sharing benefit over accumulated dominant shares ([`QueueRecord::dominant_rho`]).
    pub dominant_psi: f64,
    /// Sharing loss over the same (never above 0).
    pub dominant_omega: f64,
    /// Jain index over the same; `null` without any demand.
    pub dominant_jain: Option<f64>,
    /// Mean seconds from submission to end over all jobs.
    pub mean_job_s: Option<f64>,
    /// Median of the same.
    pub p50_job_s: Option<f64>,
    /// 99th percentile of the same.
    pub p99_job_s: Option<f64>,
    /// Mean seconds from when a task could have started to when it did, over all tasks.
    pub mean_wait_s: Option<f64>,
    /// The longest such wait.
    pub longest_wait_s: Option<f64>,
    /// Leaf queues (the tenants), in order of declaration.
    pub queues: Vec<QueueRecord>,
    /// Parent queues, in order of declaration, without the root.
    pub groups: Vec<GroupRecord>,
    /// The part of the run whose jobs, waits and use make the figures, where that is not all of
    /// it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted: Option<CountedRecord>,
    /// Samples over time; empty arrays when none were asked for.
    pub series: Series,
    /// Jobs, locality, slots and nodes of a run of the MapReduce world; not there for others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mapreduce: Option<Box<MapReduceRecord>>,
    /// What tenants have paid and received; only where they contribute the nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accounts: Option<Box<AccountsRecord>>,
    /// Jobs one by one, where the setup asked for them; not part of the JSON output.
    #[serde(skip)]
    pub jobs: Vec<JobRecord>,
    /// Nodes over a window of time, for the report; not part of the JSON output.
    #[serde(skip)]
    pub chart: Option<Box<NodeChart>>,
}

impl RunRecord {
    /// Those of [`RunRecord::jobs`] that are in figures.
    pub fn counted_jobs(&self) -> impl Iterator<Item = &JobRecord> {
        self.jobs.iter().filter(|job| job.counts)
    }
}

/// The part of a run of which figures are told.
///
/// It is part of a [`RunRecord`], whose page has an example.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct CountedRecord {
    /// Its beginning.
    pub from_s: f64,
    /// Its end.
    pub to_s: f64,
}

impl CountedRecord {
    /// Of a run that ends at `end`.
    pub(crate) fn of(span: CountedSpan, end: Time) -> CountedRecord {
        CountedRecord { from_s: span.from.as_secs_f64(), to_s: span.to.min(end).as_secs_f64() }
    }
}

/// Tasks that were stopped for others.
///
/// It is part of a [`RunRecord`], whose page has an example.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct StoppedRecord {
    /// How many times one was.
    pub tasks: u64,
    /// Their work that has to be done again, per resource, resource-seconds.
    pub lost: BTreeMap<String, f64>,
}

/// One job that was taken.
///
/// It is part of a [`RunRecord`], whose page has an example.
#[derive(Clone, PartialEq, Debug)]
pub struct JobRecord {
    /// Whose, as an index into [`RunRecord::queues`].
    pub queue: usize,
    /// What the source calls it.
    pub label: JobKey,
    /// Whether it is in figures: it was submitted in the part of the run that counts.
    pub counts: bool,
    /// When it arrived.
    pub submit_s: f64,
    /// When its first task started; `None` where none has.
    pub started_s: Option<f64>,
    /// When its last task ended; `None` where it failed, was cancelled or was not done by the end
    /// of the run.
    pub ended_s: Option<f64>,
    /// How many tasks it has.
    pub tasks: u64,
    /// The most of the measured resource that it needs at one instant to start: that of its widest
    /// task, or of all that start together of a gang.
    pub width: f64,
}

/// A leaf queue's outcome.
///
/// The example of [`RunRecord`] reads one.
#[derive(Clone, Debug, Serialize)]
pub struct QueueRecord {
    /// Full name, `parent.child`.
    pub queue: String,
    /// Weight among its siblings.
    pub weight: f64,
    /// What it is entitled to at the end of the run, in units of the measured resource.
    pub share: f64,
    /// Accumulated usage per resource (f_i, Eq. 1), resource-seconds.
    pub usage: BTreeMap<String, f64>,
    /// Room that was free and held for its tasks, per resource, resource-seconds; only where the
    /// policy makes reservations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_idle: Option<BTreeMap<String, f64>>,
    /// Tasks of it that were stopped for others; only where the policy does that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<StoppedRecord>,
    /// What its ledger holds against it at the end, resource-seconds (usage after memory, discount
    /// and PAR).
    pub charged: f64,
    /// Fairness degree (Eq. 3): used over what its share alone could have served; `null` without
    /// demand.
    pub rho: Option<f64>,
    /// The same over accumulated dominant shares ([`meed::fairness::dominant`]): equal to `rho`
    /// with one resource.
    pub dominant_rho: Option<f64>,
    /// Unused share that others used, resource-seconds.
    pub lent: f64,
    /// Use above its share, resource-seconds.
    pub borrowed: f64,
    /// `lent - borrowed`: what the pool owes it (negative: it owes the pool).
    pub balance: f64,
    /// Jobs ended.
    pub jobs: u64,
    /// Tasks ended.
    pub tasks: u64,
    /// Mean seconds from submission to end of its jobs.
    pub mean_job_s: Option<f64>,
    /// Median of the same.
    pub p50_job_s: Option<f64>,
    /// 99th percentile of the same.
    pub p99_job_s: Option<f64>,
    /// Mean seconds from when a task could have started to when it did.
    pub mean_wait_s: Option<f64>,
    /// The longest such wait.
    pub longest_wait_s: Option<f64>,
    /// Mean job time under the static partition over mean job time here; `null` without a static
    /// run.
    pub speedup: Option<f64>,
    /// Job times at the percentiles [`JOB_PERCENTILES`]; empty when no job ended.
    pub job_s_percentiles: Vec<f64>,
    /// How often its tasks were overtaken; not there where nobody counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overtaken: Option<Overtaken>,
}

/// Percentiles of [`QueueRecord::job_s_percentiles`].
pub const JOB_PERCENTILES: [f64; 9] = [1.0, 5.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0];

/// A parent queue's outcome: the sums of its leaves.
///
/// It is part of a [`RunRecord`], whose page has an example.
#[derive(Clone, Debug, Serialize)]
pub struct GroupRecord {
    /// Full name.
    pub queue: String,
    /// Weight among its siblings.
    pub weight: f64,
    /// Accumulated usage per resource, resource-seconds.
    pub usage: BTreeMap<String, f64>,
    /// What its own ledger holds against it, resource-seconds.
    pub charged: f64,
}

/// Samples at equal distances of time; all arrays of one series have the length of `t_s`.
///
/// The example of [`Sampler`](crate::Sampler) reads it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Series {
    /// Times of the samples.
    pub t_s: Vec<f64>,
    /// Sharing benefit.
    pub psi: Vec<f64>,
    /// Sharing loss.
    pub omega: Vec<f64>,
    /// Sharing benefit over accumulated dominant shares; empty with one resource.
    pub dominant_psi: Vec<f64>,
    /// Sharing loss over the same; empty with one resource.
    pub dominant_omega: Vec<f64>,
    /// Used fraction of capacity now, per resource.
    pub utilization: BTreeMap<String, Vec<f64>>,
    /// Per leaf queue, in the order of [`RunRecord::queues`], in units of the measured resource.
    pub queues: Vec<QueueSeries>,
}

/// One leaf queue over time.
///
/// The example of [`Sampler`](crate::Sampler) reads it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct QueueSeries {
    /// Held and waited for (d_i).
    pub demand: Vec<f64>,
    /// Held (g_i).
    pub allocation: Vec<f64>,
    /// Accumulated (f_i), resource-seconds.
    pub usage: Vec<f64>,
    /// Fairness degree so far (Eq. 3); `null` before its first demand.
    pub rho: Vec<Option<f64>>,
    /// The same over accumulated dominant shares; empty with one resource.
    pub dominant_rho: Vec<Option<f64>>,
    /// `lent - borrowed` so far, resource-seconds.
    pub balance: Vec<f64>,
    /// What its ledger holds against it, with the assumed time of what runs (ICS'14 Eq. 13),
    /// resource-seconds.
    pub charged: Vec<f64>,
    /// Its time quantum; empty under a policy that learns none.
    pub quantum_s: Vec<f64>,
}
