//! A scenario from a log alone: its nodes, queues and policies, and its jobs as a trace.
//!
//! It is made as data in the shape of a scenario file, so settings change it like any file, and the
//! logs of its runs keep it.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use meed::{NodeSpec, QueueChange, ResourceKinds, Resources, Unit};
use meed_config::units::{format_amount, format_span};
use meed_journal::{Header, QueueEntry};
use meed_workload::format::TraceFormat;
use meed_workload::{Job, JobSource, TraceError};
use serde_json::{Map, Value, json};

use super::setting::Setting;
use super::{LoadError, Place, Scenario, TraceReading, delays};
use crate::changes::{Change, TimedChange};
use crate::log::read::{LogError, LogFile};
use crate::logged::cluster::LoggedCluster;
use crate::logged::{LogAssumptions, Logged, LoggedJobs};

/// A table of a scenario.
type Table = Map<String, Value>;

impl Scenario {
    /// The run of the log at `path` that `which` names, with its own nodes, queues and policies;
    /// changed as a file would be.
    pub(super) fn of_log(
        path: &Path,
        which: Option<&str>,
        settings: &[Setting],
        reading: &TraceReading,
    ) -> Result<Scenario, LoadError> {
        let file = path.display().to_string();
        let read = |path| -> Result<_, LogError> {
            let logged = Logged::open(path, which, Scenario::recorded_placing)?;
            let kinds = logged.kinds()?;
            let cluster = LoggedCluster::read(&logged, &kinds)?;
            Ok((logged, kinds, cluster))
        };
        let (logged, kinds, cluster) = read(path).map_err(TraceError::from)?;
        let wrong = |what: String| Place { file: &file, text: "" }.whole(what);
        let mut remarks = cluster.remarks.clone();
        if logged.header().slots_per_server.is_some() {
            let what = "log: slots were shared: nodes and tasks are those slots, and nothing else";
            remarks.push(what.to_owned());
        }
        if cluster.waits_for_nodes {
            let what = "log: tasks that no node could hold wait for one that can, as they did \
                (--set run.infeasible=refuse refuses their jobs)";
            remarks.push(what.to_owned());
        }
        let data = data(&file, &logged, &kinds, &cluster, &mut remarks).map_err(wrong)?;
        let mut scenario = Scenario::of_made(&file, &data, settings, reading)?;
        scenario.warnings.extend(remarks);
        Ok(scenario)
    }
}

/// All jobs of the run of `log` that `which` names by number or policy, as a workload. Its nodes
/// and queues are read as well: what is wrong with them is an error.
pub fn workload_of(log: LogFile, which: Option<&str>) -> Result<Vec<Job>, LogError> {
    let name = Arc::clone(log.file());
    let logged = Logged::of(log, which, Scenario::recorded_placing)?;
    LoggedCluster::read(&logged, &logged.kinds()?)?;
    let mut source = LoggedJobs::of(&logged, &LogAssumptions::default())?.source()?;
    let mut jobs = Vec::new();
    let wrong = |why: TraceError| LogError::whole(&name, why.to_string());
    while let Some(job) = source.next_job().map_err(wrong)? {
        jobs.push(job);
    }
    Ok(jobs)
}

/// The scenario, as a file would say it.
fn data(
    file: &str,
    logged: &Logged,
    kinds: &ResourceKinds,
    cluster: &LoggedCluster,
    remarks: &mut Vec<String>,
) -> Result<Value, String> {
    let header = logged.header();
    if cluster.nodes.is_empty() && cluster.changes.is_empty() {
        return Err("tells of no node".to_owned());
    }
    let resource = |kind| {
        let unit = if kinds.unit(kind) == Unit::Bytes { "bytes" } else { "milli" };
        json!({ "name": kinds.name(kind), "unit": unit })
    };
    let resources: Vec<Value> = (0..kinds.len()).map(resource).collect();
    let node: Vec<Value> = cluster.nodes.iter().map(|spec| node(spec, kinds)).collect();
    let mut cuts = Cuts { most: most(cluster, kinds), queues: BTreeSet::new() };
    let queue = cluster.queues.iter().map(|entry| queue(entry, kinds, &mut cuts));
    let queue = queue.collect::<Result<Vec<_>, _>>()?;
    let change = cluster.changes.iter().map(|timed| change(timed, kinds, &mut cuts));
    let change: Vec<Value> = change.collect();
    let cut = cuts.queues.iter();
    let cut = cut.map(|name| format!("log: the minimum of queue `{name}` is cut to all there is"));
    remarks.extend(cut);
    let mut policy = header.base.clone().unwrap_or_else(|| header.root.clone());
    if header.base.is_none() {
        policy.insert("placement".to_owned(), header.placement.clone().into());
    }
    let mut trace = Table::new();
    trace.insert("file".to_owned(), file.into());
    trace.insert("format".to_owned(), TraceFormat::Log.name().into());
    if let Some(number) = logged.number() {
        trace.insert("run".to_owned(), number.to_string().into());
    }
    Ok(json!({
        "cluster": { "resources": resources, "node": node },
        "fairness": { "resource": header.measured },
        "policy": policy,
        "policies": header.policies,
        "queue": queue,
        "change": change,
        "trace": trace,
        "run": run(header, kinds, cluster.waits_for_nodes)?,
    }))
}

/// All that the cluster ever has, as a scenario's minimums are checked.
fn most(cluster: &LoggedCluster, kinds: &ResourceKinds) -> Resources {
    let mut most = Resources::zero(kinds.len());
    let joins = cluster.changes.iter().filter_map(|timed| match &timed.change {
        Change::NodeJoins(node) => Some(&node.capacity),
        Change::NodeResized(_, capacity) => Some(capacity),
        _ => None,
    });
    let there = cluster.nodes.iter().map(|node| &node.capacity);
    there.chain(joins).for_each(|capacity| most.add(capacity));
    most
}

/// Minimums are at most what all nodes ever have: more could not be read.
struct Cuts {
    most: Resources,
    /// Queues whose minimum was more.
    queues: BTreeSet<String>,
}

impl Cuts {
    fn cut(&mut self, queue: &str, min: Resources) -> Resources {
        let mut least = min;
        let amounts = least.as_mut_slice().iter_mut().zip(self.most.as_slice());
        amounts.for_each(|(min, most)| *min = (*min).min(*most));
        if least != min {
            self.queues.insert(queue.to_owned());
        }
        least
    }
}

fn run(header: &Header, kinds: &ResourceKinds, waits: bool) -> Result<Table, String> {
    let mut run = Table::new();
    let mut say = |key: &str, value: Value| drop(run.insert(key.to_owned(), value));
    say("seed", i64::try_from(header.seed).map_err(|_| "its seed is too large")?.into());
    if waits {
        say("infeasible", "wait".into());
    }
    if !header.world.is_empty() {
        return Ok(run);
    }
    say("max_attempts", header.max_attempts.into());
    if let Some(rate) = &header.fail_rate {
        let parts = rate.parts(1_000_000, 999_999).map_err(|why| format!("fail_rate: {why}"))?;
        say("fail_rate", (parts as f64 / 1e6).into());
    }
    if let Some(every) = header.checkpoint {
        say("checkpoint", format_span(every).into());
    }
    if let Some(until) = header.until {
        let span = until.saturating_since(meed::Time::ZERO);
        say("until", format_span(span).into());
    }
    let delays = delays::of_detail(&header.detail, kinds)?;
    if let Some(heartbeat) = delays.heartbeat {
        say("heartbeat", format_span(heartbeat).into());
    }
    if delays.master_start > meed::Span::ZERO {
        say("master_start", format_span(delays.master_start).into());
    }
    if let Some(master) = &delays.master {
        say("master", amounts(master, kinds, 0));
    }
    Ok(run)
}

/// Amounts by name, but of what is `missing`.
fn amounts(of: &Resources, kinds: &ResourceKinds, missing: u64) -> Value {
    let some = (0..kinds.len()).filter(|&kind| of.get(kind) != missing);
    let one = |kind| {
        let amount = format_amount(of.get(kind), kinds.unit(kind));
        (kinds.name(kind).to_owned(), Value::from(amount))
    };
    Value::Object(some.map(one).collect())
}

fn thousandths(weight: u64) -> Value {
    format_amount(weight, Unit::Milli).into()
}

fn node(spec: &NodeSpec, kinds: &ResourceKinds) -> Value {
    let mut node = Table::new();
    node.insert("name".to_owned(), spec.name.clone().into());
    node.insert("capacity".to_owned(), amounts(&spec.capacity, kinds, 0));
    if spec.weight != 1000 {
        node.insert("weight".to_owned(), thousandths(u64::from(spec.weight)));
    }
    if !spec.labels.is_empty() {
        node.insert("labels".to_owned(), json!(spec.labels));
    }
    Value::Object(node)
}

/// A queue; its minimum is at most what all nodes ever have.
fn queue(entry: &QueueEntry, kinds: &ResourceKinds, cuts: &mut Cuts) -> Result<Value, String> {
    let wrong = |what: &str, why: String| format!("queue `{}`, {what}: {why}", entry.queue);
    let mut queue = Table::new();
    queue.insert("name".to_owned(), entry.queue.to_string().into());
    queue.insert("weight".to_owned(), thousandths(entry.weight));
    if let Some(min) = &entry.min {
        let min = min.read(kinds).map_err(|why| wrong("min", why))?;
        let least = cuts.cut(&entry.queue, min);
        queue.insert("min".to_owned(), amounts(&least, kinds, 0));
    }
    if let Some(max) = &entry.max {
        let max = max.read_maximum(kinds).map_err(|why| wrong("max", why))?;
        queue.insert("max".to_owned(), amounts(&max, kinds, meed::MAX_AMOUNT));
    }
    if !entry.own.is_empty() {
        queue.insert("policy".to_owned(), json!(entry.own));
    }
    Ok(Value::Object(queue))
}

fn change(
    TimedChange { at, change }: &TimedChange,
    kinds: &ResourceKinds,
    cuts: &mut Cuts,
) -> Value {
    let mut table = Table::new();
    let mut say = |key: &str, value: Value| drop(table.insert(key.to_owned(), value));
    say("at", format_span(at.saturating_since(meed::Time::ZERO)).into());
    match change {
        Change::NodeJoins(spec) => say("node_joins", node(spec, kinds)),
        Change::NodeLeaves(name) => say("node_leaves", json!(name)),
        Change::NodeResized(name, capacity) => {
            let capacity = amounts(capacity, kinds, 0);
            say("node_resized", json!({ "name": name, "capacity": capacity }));
        }
        Change::Queue(name, change) => say("queue", queue_change(name, change, kinds, cuts)),
        Change::QueueRemoved(name) => say("queue_removed", json!(name)),
        Change::JobCancelled(label) => say("job_cancelled", json!(label)),
    }
    Value::Object(table)
}

/// A bound that is taken away bounds nothing.
fn queue_change(name: &str, change: &QueueChange, kinds: &ResourceKinds, cuts: &mut Cuts) -> Value {
    let mut table = Table::new();
    table.insert("name".to_owned(), name.into());
    if let Some(weight) = change.weight {
        table.insert("weight".to_owned(), thousandths(weight));
    }
    let open = |amount| Resources::new(&vec![amount; kinds.len()]);
    if let Some(min) = &change.min {
        let min = cuts.cut(name, min.unwrap_or_else(|| open(0)));
        table.insert("min".to_owned(), amounts(&min, kinds, 0));
    }
    if let Some(max) = &change.max {
        let max = max.unwrap_or_else(|| open(meed::MAX_AMOUNT));
        table.insert("max".to_owned(), amounts(&max, kinds, meed::MAX_AMOUNT));
    }
    Value::Object(table)
}
