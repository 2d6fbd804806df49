//! `[mapreduce]`: a scenario of the MapReduce world, checked.

mod cluster;
mod hosts;
mod raw;
mod workload;

use crate::classes::{Limits, Rule};
use meed::{NodeSpec, ResourceKinds, Resources, Span, Unit};
use meed_config::units::{parse_amount, parse_span};
use meed_config::{Spanned, tree};
use meed_workload::stretch::Load;

use super::jobs::InlineJobs;
use super::queues;
use super::raw::Quantity;
use super::{DEFAULT_ATTEMPTS, Scenario};
use super::{Place, ScenarioError};
use crate::mapreduce::{Cluster, MapReduceKind, MapReduceSetup};
use meed_config::queues::Names;
pub(super) use raw::RawMapReduce;
use workload::Workload;

/// What a scenario of this world has besides policies and queues.
pub(super) struct MapReducePlan {
    cluster: Cluster,
    limits: Limits,
    kinds: Vec<MapReduceKind>,
    workload: Workload,
    load: Load,
}

/// Whether the text is of this world. Cheap where the word is not in it.
pub(super) fn is_mapreduce(text: &str) -> bool {
    text.contains("mapreduce")
        && toml::from_str::<toml::Table>(text).is_ok_and(|table| table.contains_key("mapreduce"))
}

pub(super) fn parse(
    file: &str,
    text: String,
    added: &[(String, String)],
) -> Result<Scenario, ScenarioError> {
    let raw = read(file, &text)?;
    of_raw(file, raw, text, added, &|_| true)
}

fn read(file: &str, text: &str) -> Result<RawMapReduce, ScenarioError> {
    tree::read(text).map_err(|error| Place { file, text }.toml(&error))
}

/// What `raw` says, which `text` says as well; `added` are queues that only changes name.
pub(super) fn of_raw(
    file: &str,
    raw: RawMapReduce,
    text: String,
    added: &[(String, String)],
    by_arrival: &dyn Fn(&str) -> bool,
) -> Result<Scenario, ScenarioError> {
    let place = Place { file, text: &text };
    refuse_other_world(&raw, &place)?;
    let names = ["map", "reduce"].map(|name| (name.to_owned(), Unit::Milli));
    let kinds = ResourceKinds::new(names.to_vec()).expect("two different names");
    let mut warnings = Vec::new();
    let mut queues = queues::queues(&raw.queue, &kinds, &place, &mut warnings)?;
    queues::with_defaults(&mut queues, raw.queues.as_ref(), &raw.queue, &kinds, &place)?;
    meed_config::queues::settle_orders(&mut queues, by_arrival);
    let (stop, load, _) = super::run_options(&raw.run, &place)?;
    let plan = plan(&raw, load, &place)?;
    let scenario = Scenario {
        file: file.to_owned(),
        seed: raw.run.seed.unwrap_or(0),
        warnings,
        cluster_notes: Vec::new(),
        assumes_size: false,
        format: None,
        measured: super::measured(&raw.fairness, &kinds, &place)?,
        nodes: plan.cluster.machines.iter().map(node).collect(),
        queues,
        base: raw.policy.0.clone(),
        named: super::named(&raw.policies),
        jobs: InlineJobs::default(),
        generators: Vec::new(),
        workloads: Vec::new(),
        trace: None,
        given: None,
        inputs: Vec::new(),
        trace_queues: Vec::new(),
        changes: Vec::new(),
        timetable: None,
        stop,
        load,
        enforce_limit: false,
        fail_per_million: 0,
        max_attempts: DEFAULT_ATTEMPTS,
        checkpoint: None,
        delays: Default::default(),
        infeasible: Default::default(),
        mapreduce: Some(Box::new(plan)),
        kinds,
        text: String::new(),
    };
    scenario.check_added(added)?;
    let names = Names::of(&scenario.queues);
    for (entry, queue) in raw.mapreduce.queues() {
        super::cluster::at(&place, &Spanned::new(entry, ()), names.check_leaf(queue))?;
    }
    scenario.check_policies(&raw.queue, None, &place)?;
    Ok(Scenario { text, ..scenario })
}

fn node(machine: &crate::mapreduce::Machine) -> NodeSpec {
    let slots = [machine.map_slots, machine.reduce_slots].map(|slots| u64::from(slots) * 1000);
    NodeSpec::new(machine.name.clone(), Resources::new(&slots))
}

/// Tables and keys that mean nothing here.
fn refuse_other_world(raw: &RawMapReduce, place: &Place<'_>) -> Result<(), ScenarioError> {
    let tables = [
        ("cluster", &raw.cluster, "nodes are [[mapreduce.node]]"),
        ("job", &raw.job, "jobs are [[mapreduce.job]]"),
        ("generator", &raw.generator, "jobs are [[mapreduce.job]] and [[mapreduce.request]]"),
        ("workload", &raw.workload, "jobs are [[mapreduce.job]] and [[mapreduce.request]]"),
        ("trace", &raw.trace, "jobs are [[mapreduce.job]] and [[mapreduce.request]]"),
        ("change", &raw.change, "speeds change with [[mapreduce.node.change]]"),
    ];
    for (name, table, instead) in tables {
        if let Some(table) = table {
            let what = format!("`{name}` means nothing beside [mapreduce]: {instead}");
            return Err(place.error(table.span(), what));
        }
    }
    if let Some(rate) = &raw.run.fail_rate {
        return Err(place.error(
            rate.span(),
            "fail_rate means nothing beside [mapreduce]: tasks do not fail there",
        ));
    }
    if raw.run.enforce_limit {
        return Err(place
            .whole("enforce_limit means nothing beside [mapreduce]: tasks have no limits there"));
    }
    if let Some(given) = &raw.run.infeasible {
        let what = "infeasible means nothing beside [mapreduce]: every task fits a slot there";
        return Err(place.error(given.span(), what));
    }
    if raw.run.checkpoint.is_some() {
        return Err(
            place.whole("checkpoint means nothing beside [mapreduce]: nobody is stopped there")
        );
    }
    if raw.run.heartbeat.is_some() || raw.run.master_start.is_some() || raw.run.master.is_some() {
        return Err(place.whole(
            "heartbeat, master_start and master of [run] mean nothing beside [mapreduce], which \
             has heartbeats of its own",
        ));
    }
    if raw.run.max_attempts.is_some() {
        return Err(
            place.whole("max_attempts means nothing beside [mapreduce]: tasks do not fail there")
        );
    }
    Ok(())
}

fn plan(raw: &RawMapReduce, load: Load, place: &Place<'_>) -> Result<MapReducePlan, ScenarioError> {
    let cluster = cluster::cluster(&raw.mapreduce, place)?;
    let limits = limits(&raw.mapreduce, &cluster, place)?;
    let kinds = workload::kinds(&raw.mapreduce.kind, place)?;
    let workload = workload::workload(&raw.mapreduce, &kinds, cluster.block_bytes, place)?;
    Ok(MapReducePlan { cluster, limits, kinds, workload, load })
}

/// What the rules compare with.
fn limits(
    raw: &raw::MapReduce,
    cluster: &Cluster,
    place: &Place<'_>,
) -> Result<Limits, ScenarioError> {
    let disks = cluster.machines.iter().map(|machine| u128::from(machine.speeds.disk_bytes_per_s));
    let mean = (disks.sum::<u128>() / cluster.machines.len() as u128) as u64;
    let busy = optional(place, &raw.overload_cpu, "overload_cpu", |raw| match thousandths(raw)? {
        busy @ 1..=1000 => Ok(busy as u32),
        _ => Err(format!("{} must be above 0, at most 1: a part of the cores", raw.text())),
    })?;
    let beats = cluster.heartbeat.as_micros();
    Ok(Limits {
        disk_bytes_per_s: optional(
            place,
            &raw.average_disk_bytes_per_s,
            "average_disk_bytes_per_s",
            cluster::bandwidth,
        )?
        .unwrap_or(mean),
        cpu_busy: busy.unwrap_or(OVERLOAD_CPU),
        io_bytes_per_s: optional(
            place,
            &raw.overload_io_bytes_per_s,
            "overload_io_bytes_per_s",
            cluster::bandwidth,
        )?
        .unwrap_or(OVERLOAD_IO),
        threshold: whole(place, &raw.threshold, "threshold", 1, 1 << 30)?.unwrap_or(THRESHOLD),
        local_wait: optional(place, &raw.local_wait, "local_wait", span)?
            .unwrap_or(Span::from_micros(beats + beats / 2).unwrap_or(Span::MAX)),
    })
}

/// Algorithm 10's default: 90 %.
const OVERLOAD_CPU: u32 = 900;
/// Algorithm 10's default: 35 MB, in a second.
const OVERLOAD_IO: u64 = 35_000_000;
/// Fig. 10's best.
const THRESHOLD: u32 = 300;

/// The value of a key, read by `read`; its message names the key.
fn optional<T, R>(
    place: &Place<'_>,
    raw: &Option<Spanned<R>>,
    key: &str,
    read: impl Fn(&R) -> Result<T, String>,
) -> Result<Option<T>, ScenarioError> {
    let Some(raw) = raw else { return Ok(None) };
    read(raw.get_ref())
        .map(Some)
        .map_err(|why| place.error(raw.span(), format!("mapreduce, {key}: {why}")))
}

/// The value of a key of a table's own, where it is given; its message names the key.
fn given<T, R>(
    raw: &Option<R>,
    key: &str,
    read: impl Fn(&R) -> Result<T, String>,
) -> Result<Option<T>, String> {
    raw.as_ref().map(read).transpose().map_err(|why| format!(", {key}: {why}"))
}

/// A whole number between two bounds.
fn whole(
    place: &Place<'_>,
    raw: &Option<Spanned<i64>>,
    key: &str,
    low: u32,
    high: u32,
) -> Result<Option<u32>, ScenarioError> {
    optional(place, raw, key, |&number| between(number, low, high))
}

fn between(number: i64, low: u32, high: u32) -> Result<u32, String> {
    let fits = u32::try_from(number).ok().filter(|number| (low..=high).contains(number));
    fits.ok_or_else(|| format!("{number} must be {low} to {high}"))
}

fn span(raw: &Quantity) -> Result<Span, String> {
    parse_span(&raw.text()).map_err(|why| why.to_string())
}

fn bytes(raw: &Quantity) -> Result<u64, String> {
    parse_amount(&raw.text(), Unit::Bytes).map_err(|why| why.to_string())
}

fn thousandths(raw: &Quantity) -> Result<u64, String> {
    parse_amount(&raw.text(), Unit::Milli).map_err(|why| why.to_string())
}

impl Scenario {
    /// Whether it is of the MapReduce world.
    pub fn is_mapreduce(&self) -> bool {
        self.mapreduce.is_some()
    }

    /// The scenario of this world that `text` is.
    /// A leaf that says nothing serves its jobs by arrival where `by_arrival` says so of its name.
    pub(crate) fn of_mapreduce_text(
        file: &str,
        text: String,
        by_arrival: &dyn Fn(&str) -> bool,
    ) -> Result<Scenario, ScenarioError> {
        let raw = read(file, &text)?;
        of_raw(file, raw, text, &[], by_arrival)
    }

    /// Something that this scenario cannot do.
    pub(crate) fn error(&self, what: &str) -> ScenarioError {
        Place { file: &self.file, text: "" }.whole(what)
    }

    /// The policies that are run when none are asked for: not `static` among more than
    /// [`crate::MOST_SPLIT`] tenants, for nobody would give each of so many a part of its own.
    pub fn default_policies(&self) -> Vec<String> {
        match self.is_mapreduce() {
            true => ["hadoop", "dmr", "jas", "jasl", "djasl"]
                .map(|rule| format!("fifo,placement={rule}"))
                .to_vec(),
            false => crate::DEFAULT_POLICIES
                .into_iter()
                .filter(|policy| {
                    *policy != super::STATIC || self.tenant_count() <= crate::MOST_SPLIT
                })
                .chain(self.has_accounts().then_some(crate::AS_YOU_PAY))
                .map(str::to_owned)
                .collect(),
        }
    }

    /// What a run of the MapReduce world under the policy `words` starts from, without samples;
    /// `None` when the scenario is of the other world.
    pub fn mapreduce_setup(
        &self,
        words: &str,
        seed: u64,
    ) -> Result<Option<MapReduceSetup>, ScenarioError> {
        let Some(world) = &self.mapreduce else { return Ok(None) };
        let plan = self.plan(words)?;
        let rule = plan.rule.expect("plans of this world have a rule");
        Ok(Some(MapReduceSetup {
            config: plan.config,
            rule,
            limits: world.limits,
            cluster: world.cluster.clone(),
            requests: world.workload.requests(seed, &world.kinds, world.load),
            kinds: world.kinds.clone(),
            stop: self.stop,
            seed,
            strict: false,
            series_points: 0,
        }))
    }

    /// Whether the rule can be used on the nodes of this scenario.
    pub(super) fn check_rule(&self, rule: &'static Rule) -> Result<(), String> {
        let Some(world) = &self.mapreduce else { return Ok(()) };
        let slots = world.cluster.machines.iter().map(|machine| machine.map_slots).collect();
        crate::classes::Classes::new(rule, world.limits, slots)
            .map(|_| ())
            .map_err(|why| why.to_string())
    }
}
