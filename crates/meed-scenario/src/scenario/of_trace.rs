//! A scenario from a trace alone: its queues as tenants of weight 1, on a cluster that its header
//! tells or that is assumed and named as such.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use meed::{ResourceKinds, Unit};
use meed_config::Place;
use meed_config::nodes::{NodeForm, ResourceForm, UnitForm};
use meed_config::quantity::{AmountsByName, Quantity};
use meed_driver::StopAt;
use meed_driver::record::ASSUMED_CLUSTER;
use meed_workload::canonical::CanonicalSource;
use meed_workload::changed::Changed;
use meed_workload::filling::{Filling, filling};
use meed_workload::format::{TraceFormat, UNKNOWN};
use meed_workload::kubernetes::{KubernetesQueues, KubernetesSource, kubernetes_kinds};
use meed_workload::limits::AtLimit;
use meed_workload::outliers::Outliers;
use meed_workload::philly::PhillySource;
use meed_workload::size::{AssumedSize, SizeRest, assumed_size};
use meed_workload::stretch::Load;
use meed_workload::swf::SwfSource;
use meed_workload::table::table_resources;
use meed_workload::yarn::YarnSource;
use meed_workload::{JobSource, OnBadLine, Origin, TraceError};
use serde::Serialize;

use super::raw;
use super::reader::Reader;
use super::set::{self, Draft};
use super::setting::Setting;
use super::{LoadError, Scenario, ScenarioError, TraceReading, trace_keys};

/// GPUs of a server, of which the pool for a Philly trace is a multiple.
const GPUS_PER_SERVER: u64 = 8;

impl Scenario {
    /// A scenario file or a trace: by its name, and by its beginning where the name does not tell
    /// (`/dev/stdin`).
    pub fn load_any(
        path: &Path,
        settings: &[Setting],
        reading: impl Into<TraceReading>,
    ) -> Result<Scenario, LoadError> {
        match is_trace(path, settings) {
            true => Scenario::of_trace(path, settings, reading),
            false if is_page(path) => Err(TraceError::Settings {
                what: path.display().to_string(),
                why: "this is a page for a browser, no scenario and no log; give the file that it \
                      was made of"
                    .to_owned(),
            }
            .into()),
            false if is_unknown(path) => Err(TraceError::Settings {
                what: path.display().to_string(),
                why: match is_json(path) {
                    true => format!("this is JSON and no scenario, and {UNKNOWN}"),
                    false => format!("this is no scenario, and {UNKNOWN}"),
                },
            }
            .into()),
            false => Scenario::load(path, settings, reading),
        }
    }

    /// Whether the file at `path` is read as a trace, not as a scenario.
    pub fn is_trace(path: &Path, settings: &[Setting]) -> bool {
        is_trace(path, settings)
    }

    /// The trace as a scenario, changed as a file would be.
    pub fn of_trace(
        path: &Path,
        settings: &[Setting],
        reading: impl Into<TraceReading>,
    ) -> Result<Scenario, LoadError> {
        let reading = &reading.into();
        let format = match format_set(settings) {
            Some(set) => set?,
            None if is_mapped(settings) => TraceFormat::of_table(path),
            None => TraceFormat::of_file(path)?,
        };
        if format == TraceFormat::Log {
            let run = told(path, settings, reading)?.trace.run.map(|run| run.text());
            return Scenario::of_log(path, run.as_deref(), settings, reading);
        }
        let told = told(path, settings, reading)?;
        let (mut cluster, note) = match told.has_nodes {
            true => (Cluster::of(kinds_of(path, format, &told)?), None),
            false => cluster_for(path, format, &told)?,
        };
        let note = told.keep_given(&mut cluster, note);
        let file = path.display().to_string();
        let unnamed = TraceFormat::of_name(path).ok() != Some(format);
        let name = unnamed.then(|| format.name().to_owned());
        let mut trace = raw::Trace { file: file.clone(), format: name, ..raw::Trace::default() };
        let spreads = told.has_nodes && told.trace.shape.is_none() && SPREAD.contains(&format);
        let is_of_others = trace_keys::OF_OTHERS.contains(&format);
        trace.window = Some("find".to_owned()).filter(|_| is_of_others);
        let keeps = told.has_nodes && PARTITIONED.contains(&format);
        trace.partitions = keeps.then(|| "nodes".to_owned());
        trace.shape = spreads.then(|| "gang".to_owned());
        let says_blocked = |setting: &Setting| setting.touches(&["policy", "when_blocked"]);
        let reserves = LIMITED.contains(&format) && !settings.iter().any(says_blocked);
        let policy = reserves.then_some(Policy { when_blocked: "reserve" });
        let made = Made { cluster, trace, policy };
        let mut scenario = Scenario::of_made(&file, &made, settings, reading)?;
        if told.trace.outliers.is_none() && is_of_others && scenario.trace.is_some() {
            let outliers = scenario.outliers_of()?;
            if !outliers.is_empty() {
                let settings = [settings, &[Setting::trace_outliers(true)]].concat();
                return Scenario::of_trace(path, &settings, reading);
            }
            scenario.outliers = Some(Arc::new(outliers));
        }
        scenario.format = Some(format);
        scenario.assumes_size = note.is_some() && told.cluster == ToldCluster::Nothing;
        if spreads {
            let words = "a job of several nodes has a task on each, and all start together \
                (trace.shape = \"rigid\": it holds all on one node)";
            scenario.cluster_notes.push(words.to_owned());
        }
        if reserves {
            scenario.cluster_notes.push(EASY.to_owned());
        }
        if note.is_none()
            && told.cluster == ToldCluster::Nothing
            && let Some((_, by)) = BY_THE_LOG.iter().find(|(known, _)| *known == format)
        {
            let known = format!("the cluster is {}, {by}", scenario.cluster_in_words());
            scenario.cluster_notes.insert(0, known);
        }
        let is_of_queues =
            |setting: &Setting| setting.is_within(&["queue"]) || setting.is_within(&["queues"]);
        let has_weights = settings.iter().any(is_of_queues);
        if !has_weights && scenario.trace_queues.len() > 1 {
            scenario.cluster_notes.push(EQUAL.to_owned());
        }
        scenario.leave_out_ends(&told, is_of_others)?;
        if let Some(note) = note {
            scenario.cluster_notes.insert(0, note.clone());
            scenario.warnings.push(note);
        }
        Ok(scenario)
    }
}

impl Scenario {
    /// What is submitted while the cluster fills, or when nothing comes any more, is left out of
    /// figures; of the logs of others by itself, where nobody says it.
    fn leave_out_ends(&mut self, told: &Told, is_of_others: bool) -> Result<(), LoadError> {
        let kind = self.measured;
        let outliers = self.outliers.clone().unwrap_or_default();
        let [says_first, says_last] = told.ends;
        let Some(ran) = self.footprints()? else { return Ok(()) };
        let chosen =
            filling(ran, &outliers, kind).filter(|_| is_of_others && !(says_first && says_last));
        let last = ran.last_submission(&outliers);
        let counting = &mut self.counting;
        if let Some(Filling { time, .. }) = chosen {
            counting.warm_up = if says_first { counting.warm_up } else { time };
            counting.cool_down = if says_last { counting.cool_down } else { time };
            counting.last = last;
        }
        let (counting, until) = (*counting, (self.stop != StopAt::END).then_some(self.stop.at));
        let span = counting.span(Load::ONE, until.map(|until| self.load.origin(until)));
        let Some(ran) = self.ran.take() else { return Ok(()) };
        let (counted, all) = ran.submitted_in(&outliers, span.from, span.to);
        if !span.is_all() {
            self.cluster_notes.push(counting.words(chosen, counted, all));
        }
        Ok(())
    }
}

/// Formats that may say how large their cluster is, and how.
const BY_THE_LOG: [(TraceFormat, &str); 2] = [
    (TraceFormat::Swf, "by the header of the log (MaxProcs)"),
    (TraceFormat::Mwf, "by the machines file beside the log"),
];

/// Formats whose jobs are spread over nodes where these are known, unless `shape` says otherwise.
const SPREAD: [TraceFormat; 6] = [
    TraceFormat::Sacct,
    TraceFormat::SacctJson,
    TraceFormat::Pbs,
    TraceFormat::Lsf,
    TraceFormat::Condor,
    TraceFormat::Swf,
];

/// Formats whose jobs name their partition as nodes do.
const PARTITIONED: [TraceFormat; 2] = [TraceFormat::Sacct, TraceFormat::SacctJson];

/// Formats of batch systems, whose jobs carry time limits and which backfill behind a reservation.
const LIMITED: [TraceFormat; 6] = [
    TraceFormat::Sacct,
    TraceFormat::SacctJson,
    TraceFormat::Swf,
    TraceFormat::Mwf,
    TraceFormat::Pbs,
    TraceFormat::Lsf,
];

/// What is said of these.
const EASY: &str = "backfilling as batch systems do it (EASY): the first job that does not fit has \
    a reservation, by the time limits that users gave (policy.when_blocked = \"skip\": none has)";

/// What is said where no file gives weights.
const EQUAL: &str = "every tenant has an equal share, for nobody gave weights (--weights FILE, or \
    --set queue.NAME.weight=2)";

/// Where the name of a file does not tell, this much of it is looked at.
const BEGINNING: u64 = 64 << 10;

fn is_trace(path: &Path, settings: &[Setting]) -> bool {
    if TraceFormat::of_name(path).is_ok() || path.is_dir() {
        return true;
    }
    if path.extension().is_some_and(|ending| ending == "toml") {
        return false;
    }
    // What cannot be read is said by who reads it.
    let Ok(start) = Origin::path(path).beginning(BEGINNING) else { return false };
    let looks_like_scenario = || String::from_utf8_lossy(&start).contains("[cluster");
    TraceFormat::of_content(&start).is_some()
        || (format_set(settings).is_some() || is_mapped(settings)) && !looks_like_scenario()
}

/// Whether a file is HTML, as reports are.
fn is_page(path: &Path) -> bool {
    let start = Origin::path(path).beginning(BEGINNING).unwrap_or_default();
    let start = start.trim_ascii_start().to_ascii_lowercase();
    start.starts_with(b"<!doctype html") || start.starts_with(b"<html")
}

/// Whether a file that is no trace is no scenario either: nothing in it looks like TOML.
fn is_unknown(path: &Path) -> bool {
    if path.extension().is_some_and(|ending| ending == "toml") {
        return false;
    }
    if is_json(path) {
        return true;
    }
    let Ok(start) = Origin::path(path).beginning(BEGINNING) else { return false };
    let lines = || start.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let has_table = lines().any(|line| line.starts_with(b"["));
    let holds_something = lines().any(|line| !line.is_empty() && line[0] != b'#');
    let is_toml = || toml::from_str::<toml::Table>(&String::from_utf8_lossy(&start)).is_ok();
    holds_something && !has_table && !is_toml()
}

/// Whether a file begins as an object of JSON, or as an array of them: TOML has a name behind `[`.
fn is_json(path: &Path) -> bool {
    let start = Origin::path(path).beginning(BEGINNING).unwrap_or_default();
    let start = start.trim_ascii_start();
    let array = start.strip_prefix(b"[").map(<[u8]>::trim_ascii_start);
    start.starts_with(b"{") || array.is_some_and(|array| matches!(array, [b'{' | b']', ..]))
}

/// Whether some change says what the columns of the trace are.
fn is_mapped(settings: &[Setting]) -> bool {
    settings.iter().any(|setting| setting.is_within(&["trace", "map"]))
}

/// The format that a change of `trace.format` names.
fn format_set(settings: &[Setting]) -> Option<Result<TraceFormat, TraceError>> {
    let said = settings.iter().rev().find_map(Setting::said_format)?;
    Some(said.map_err(|name| TraceError::Settings {
        what: "trace.format".to_owned(),
        why: format!(
            "`{name}` is not one of {}",
            TraceFormat::names().collect::<Vec<_>>().join(", ")
        ),
    }))
}

/// What is made of a trace, in the shape of a scenario file.
#[derive(Serialize)]
struct Made {
    cluster: Cluster,
    trace: raw::Trace,
    #[serde(skip_serializing_if = "Option::is_none")]
    policy: Option<Policy>,
}

/// What batch systems do, which an order alone does not say.
#[derive(Serialize)]
struct Policy {
    when_blocked: &'static str,
}

/// The cluster of a trace: as scenario files write it.
#[derive(Serialize)]
struct Cluster {
    resources: Vec<ResourceForm>,
    #[serde(skip_serializing_if = "Option::is_none")]
    machines: Option<raw::Machines>,
    node: Vec<NodeForm>,
}

impl Cluster {
    /// No nodes yet, and these resources.
    fn of(kinds: Vec<(String, Unit)>) -> Cluster {
        let resources = kinds.into_iter().map(resource_of).collect();
        Cluster { resources, machines: None, node: Vec::new() }
    }

    /// One node with these amounts.
    fn pool(amounts: AmountsByName) -> Cluster {
        let resources = amounts.keys().cloned().map(ResourceForm::Name).collect();
        Cluster { resources, machines: None, node: vec![NodeForm::one("pool", amounts)] }
    }

    /// One node with so much of one resource.
    fn of_one(name: &str, amount: u64) -> Cluster {
        Cluster::pool([(name.to_owned(), whole(amount))].into())
    }
}

fn whole(amount: u64) -> Quantity {
    i64::try_from(amount).map_or_else(|_| Quantity::Text(amount.to_string()), Quantity::Whole)
}

/// The machines file that lies beside `log.mwf.xz`: `log.machines`, or `log.mwf.machines` as Alea
/// has it.
fn machines_beside(trace: &Path) -> Option<PathBuf> {
    let name = trace.file_name()?.to_string_lossy().into_owned();
    let plain =
        [".gz", ".zst", ".xz"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
    let stem = plain.rsplit_once('.').map_or(plain, |(stem, _)| stem);
    let names = [format!("{stem}.machines"), format!("{plain}.machines")];
    names.iter().map(|name| trace.with_file_name(name)).find(|path| path.is_file())
}

/// The cluster of a trace, and what is assumed of it: of the size that it needs as settings say
/// how it is read.
fn cluster_for(
    path: &Path,
    format: TraceFormat,
    told: &Told<'_>,
) -> Result<(Cluster, Option<String>), LoadError> {
    match format {
        TraceFormat::Swf => {
            let name = told.name(&told.trace.processor_resource, "cpu");
            let kinds = told.kinds(vec![(name.to_owned(), Unit::Milli)])?;
            let assumptions = told.assumed(trace_keys::swf)?;
            let header = SwfSource::header_of(&Origin::path(path), &kinds, &assumptions)?;
            let wrong = || match header.processors_field() {
                Some((key, value)) => {
                    format!("the header's {key} is `{value}`, which is no number above 0")
                }
                None => "the header names no MaxProcs".to_owned(),
            };
            if let Some(processors) = header.processors() {
                return Ok((Cluster::of_one(name, processors), None));
            }
            told.busy_pool(path, format, &kinds, &wrong())
        }
        TraceFormat::Mwf => Ok(match machines_beside(path) {
            Some(machines) => {
                let resources = ["cpu", "memory"].map(|name| ResourceForm::Name(name.to_owned()));
                let machines = raw::Machines {
                    file: Some(machines.display().to_string()),
                    format: Some("alea".to_owned()),
                    ..raw::Machines::default()
                };
                let (resources, machines) = (resources.to_vec(), Some(machines));
                (Cluster { resources, machines, node: Vec::new() }, None)
            }
            None => {
                let name = told.name(&told.trace.processor_resource, "cpu").to_owned();
                let kinds = told.kinds(vec![(name, Unit::Milli)])?;
                let why = "there is no machines file beside the trace (a scenario's [cluster] \
                    machines names one), so there is neither memory nor a label";
                told.busy_pool(path, format, &kinds, why)?
            }
        }),
        TraceFormat::Google => {
            let note = "task_events has no machines; the 12583 published for this cell are \
                assumed, change their number with --set cluster.machines.count=N";
            let memory =
                ResourceForm::Detailed { name: "memory".to_owned(), unit: UnitForm::Milli };
            let mix = Some("google".to_owned());
            let cluster = Cluster {
                resources: vec![ResourceForm::Name("cpu".to_owned()), memory],
                machines: Some(raw::Machines { mix, ..raw::Machines::default() }),
                node: Vec::new(),
            };
            Ok((cluster, Some(note.to_owned())))
        }
        TraceFormat::Swim => {
            let kinds = told.kinds(vec![("slot".to_owned(), Unit::Milli)])?;
            told.busy_pool(path, format, &kinds, "a SWIM trace has no cluster")
        }
        TraceFormat::Philly => {
            let name = told.name(&told.trace.gpu_resource, "gpu");
            let kinds = told.kinds(vec![(name.to_owned(), Unit::Milli)])?;
            let origin = Origin::path(path);
            let assumptions = told.assumed(trace_keys::philly)?;
            let size = PhillySource::open(&origin, &kinds, &assumptions, OnBadLine::Skip)?.size();
            // Whole servers, and rounded down: as much work as the cluster can do between first and
            // last submission.
            let servers = (size.mean_gpus.max(size.widest) / GPUS_PER_SERVER).max(1);
            let gpus = (servers * GPUS_PER_SERVER).max(size.widest);
            let note =
                format!("{ASSUMED_CLUSTER}one pool of {gpus} gpu, {JUST_FULL}; {}", give(name));
            Ok((Cluster::of_one(name, gpus), Some(note)))
        }
        TraceFormat::Yarn => Ok(cluster_for_yarn(path, told)?),
        TraceFormat::Jhist => cluster_for_history(path, told),
        TraceFormat::Kubernetes => Ok(cluster_for_kubernetes(path)?),
        TraceFormat::Log => unreachable!("a log has a cluster of its own"),
        TraceFormat::Canonical => {
            let source = CanonicalSource::open(&Origin::path(path), None, OnBadLine::Skip)?;
            told.busy_pool(path, format, source.kinds(), "the trace has no cluster")
        }
        // A table of jobs, whoever wrote it. A format that is none has an arm above, and
        // one in `kinds_of`: the compiler does not notice a missing one.
        _ => cluster_for_table(path, format, told),
    }
}

/// The resources that jobs of a trace hold, where its nodes are given.
fn kinds_of(
    path: &Path,
    format: TraceFormat,
    told: &Told<'_>,
) -> Result<Vec<(String, Unit)>, LoadError> {
    let cpu = || (told.name(&told.trace.processor_resource, "cpu").to_owned(), Unit::Milli);
    let memory = || (told.name(&told.trace.memory_resource, "memory").to_owned(), Unit::Bytes);
    Ok(match format {
        TraceFormat::Swf => vec![cpu()],
        TraceFormat::Mwf | TraceFormat::Yarn | TraceFormat::Jhist => vec![cpu(), memory()],
        TraceFormat::Philly => {
            vec![(told.name(&told.trace.gpu_resource, "gpu").to_owned(), Unit::Milli)]
        }
        TraceFormat::Swim => vec![("slot".to_owned(), Unit::Milli)],
        TraceFormat::Google => {
            vec![("cpu".to_owned(), Unit::Milli), ("memory".to_owned(), Unit::Milli)]
        }
        TraceFormat::Kubernetes => kubernetes_kinds(),
        TraceFormat::Canonical => {
            let source = CanonicalSource::open(&Origin::path(path), None, OnBadLine::Skip)?;
            let kinds = source.kinds();
            (0..kinds.len()).map(|at| (kinds.name(at).to_owned(), kinds.unit(at))).collect()
        }
        TraceFormat::Log => Vec::new(),
        _ => {
            let options = trace_keys::table(&told.trace, format).map_err(|why| told.error(why))?;
            table_resources(&Origin::path(path), &options)?
        }
    })
}

/// What changes say of a bare trace: how it is read, and what a run makes of its jobs.
struct Told<'a> {
    file: String,
    /// How it is read, and what is read already.
    reading: &'a TraceReading,
    trace: raw::Trace,
    /// Tasks are stopped at their time limits.
    enforce_limit: bool,
    /// The cluster's resources are others than what is assumed here.
    resources: bool,
    /// What is said of the cluster.
    cluster: ToldCluster,
    /// Nodes are named, by a file or one by one.
    has_nodes: bool,
    /// Whether somebody says what is left out of figures at the beginning, and at the end.
    ends: [bool; 2],
    /// Resources whose amounts are given, and on how many nodes.
    given: Vec<String>,
    count: u64,
}

/// What changes say of a cluster.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ToldCluster {
    /// Nothing of its size.
    Nothing,
    /// Some amounts of its one pool.
    Amounts,
    /// All its nodes.
    Whole,
}

/// Where amounts of the pool are given.
const CAPACITY: [&str; 4] = ["cluster", "node", "0", "capacity"];

/// What `settings` say of `[trace]` and `[run]`; whether the rest means anything is seen later.
fn told<'a>(
    path: &Path,
    settings: &[Setting],
    reading: &'a TraceReading,
) -> Result<Told<'a>, LoadError> {
    #[derive(serde::Deserialize)]
    struct File {
        trace: raw::Trace,
        #[serde(default)]
        run: raw::Run,
    }
    let file = path.display().to_string();
    let is_read = |setting: &&Setting| setting.is_within(&["trace"]) || setting.is_within(&["run"]);
    let own: Vec<Setting> = settings.iter().filter(is_read).cloned().collect();
    let read = |settings: &[Setting]| -> Result<File, LoadError> {
        let named = Setting::trace_file(&file);
        Ok(Draft::of(&file, "", &[&[named], settings].concat())?.read(&file)?)
    };
    let read_all = read(&own);
    let read = read_all.map_err(|why| set::blamed(why, &own, &|others| read(others).err()))?;
    let any = |what: &dyn Fn(&Setting) -> bool| settings.iter().any(what);
    let resources = any(&|setting| setting.touches(&["cluster", "resources"]));
    let has_nodes = any(&|setting| {
        let whole = setting.is(&["cluster", "node"]) || setting.is(&["cluster"]);
        whole || setting.is_within(&["cluster", "machines"])
    });
    let given = settings.iter().filter_map(|setting| setting.name_in(&CAPACITY));
    let given: Vec<String> = given.map(str::to_owned).collect();
    let is_whole = has_nodes || any(&|setting| setting.is(&CAPACITY));
    let cluster = match (is_whole, given.is_empty()) {
        (true, _) => ToldCluster::Whole,
        (false, false) => ToldCluster::Amounts,
        (false, true) => ToldCluster::Nothing,
    };
    let count = settings.iter().filter(|setting| setting.is(&["cluster", "node", "0", "count"]));
    let mut count = count.filter_map(|count| u64::try_from(count.value().as_integer()?).ok());
    let count = count.next_back().unwrap_or(1);
    let (trace, enforce_limit) = (read.trace, read.run.enforce_limit);
    let ends = [read.run.warm_up.is_some(), read.run.cool_down.is_some()];
    Ok(Told {
        trace,
        enforce_limit,
        resources,
        cluster,
        has_nodes,
        ends,
        given,
        count,
        file,
        reading,
    })
}

impl Told<'_> {
    /// What is told of how the trace is read. Where somebody names the cluster's resources, and so
    /// the amounts as well, the size does not matter, and what is told may be of those resources
    /// only.
    fn keys(&self) -> Cow<'_, raw::Trace> {
        match self.resources {
            true => Cow::default(),
            false => Cow::Borrowed(&self.trace),
        }
    }

    /// What a reader of a format assumes.
    fn assumed<A>(
        &self,
        read: impl FnOnce(&raw::Trace) -> Result<A, String>,
    ) -> Result<A, ScenarioError> {
        read(&self.keys()).map_err(|why| self.error(why))
    }

    /// What a resource is called, unless somebody has named them all.
    fn name<'a>(&self, given: &'a Option<String>, usual: &'a str) -> &'a str {
        given.as_deref().filter(|_| !self.resources).unwrap_or(usual)
    }

    fn kinds(&self, kinds: Vec<(String, Unit)>) -> Result<ResourceKinds, ScenarioError> {
        ResourceKinds::new(kinds).map_err(|why| self.error(why.to_string()))
    }

    /// Where some amounts are given, what nobody says of the others is no limit: an amount that is
    /// made up beside a given one would decide without a word. What is to be said then.
    fn keep_given(&self, cluster: &mut Cluster, note: Option<String>) -> Option<String> {
        let Some(node) = cluster.node.first_mut().filter(|_| note.is_some()) else { return note };
        match self.cluster {
            ToldCluster::Nothing => note,
            ToldCluster::Whole => None,
            ToldCluster::Amounts => {
                let no_limit = i64::try_from(meed::MAX_AMOUNT / self.count.max(1)).unwrap_or(1);
                let is_other = |name: &&String| !self.given.contains(name);
                let others: Vec<String> = node.capacity.keys().filter(is_other).cloned().collect();
                let (first, last) = (others.first()?.clone(), others.join(" and "));
                for name in others {
                    let is_bytes = |form: &ResourceForm| match form {
                        ResourceForm::Name(own) => *own == name && name == "memory",
                        ResourceForm::Detailed { name: own, unit } => {
                            *own == name && *unit == UnitForm::Bytes
                        }
                    };
                    let bytes = cluster.resources.iter().any(is_bytes);
                    let amount = if bytes { no_limit } else { no_limit / 1000 };
                    node.capacity.insert(name, Quantity::Whole(amount));
                }
                Some(format!(
                    "{ASSUMED_CLUSTER}{last} no limit, for nobody says how much there is (--set \
                     cluster.node.0.capacity.{first}=N)"
                ))
            }
        }
    }

    fn error(&self, what: String) -> ScenarioError {
        Place { file: &self.file, text: "" }.whole(what)
    }

    /// The jobs of the trace, for a cluster of these resources.
    fn jobs(
        &self,
        path: &Path,
        format: TraceFormat,
        kinds: &ResourceKinds,
    ) -> Result<Box<dyn JobSource + Send>, LoadError> {
        // A table's own columns say what it holds.
        let keys = match format.table() {
            Some(_) => Cow::Borrowed(&self.trace),
            None => self.keys(),
        };
        let reader = Reader::of(format, &keys, kinds).map_err(|why| self.error(why))?;
        let reader = reader.ok_or_else(|| self.error("is a log of Meed's".to_owned()))?;
        Ok(self.reading.open((path, &reader), kinds, OnBadLine::Skip, None)?)
    }

    /// One pool that the jobs of the trace keep busy.
    fn busy_pool(
        &self,
        path: &Path,
        format: TraceFormat,
        kinds: &ResourceKinds,
        why: &str,
    ) -> Result<(Cluster, Option<String>), LoadError> {
        let mut source = self.jobs(path, format, kinds)?;
        let size = match self.enforce_limit {
            true => assumed_size(&mut Changed::new(source, AtLimit), kinds.len())?,
            false => assumed_size(&mut source, kinds.len())?,
        };
        let kinds = (0..kinds.len()).map(|kind| (kinds.name(kind).to_owned(), kinds.unit(kind)));
        Ok(pool_of(&kinds.collect::<Vec<_>>(), &size, why))
    }
}

/// One pool of vcores and memory that the applications would keep busy from the first submission
/// to the last.
fn cluster_for_yarn(path: &Path, told: &Told<'_>) -> Result<(Cluster, Option<String>), LoadError> {
    let cpu = told.name(&told.trace.processor_resource, "cpu").to_owned();
    let memory_name = told.name(&told.trace.memory_resource, "memory").to_owned();
    let kinds = told.kinds(vec![(cpu.clone(), Unit::Milli), (memory_name.clone(), Unit::Bytes)])?;
    let assumptions = told.assumed(trace_keys::yarn)?;
    let source = YarnSource::open(&Origin::path(path), &kinds, &assumptions, OnBadLine::Skip)?;
    let size = source.size();
    let memory = format!("{}GiB", size.memory.div_ceil(1 << 30));
    let note = format!(
        "{ASSUMED_CLUSTER}one pool of {} {cpu}, {memory} memory, {JUST_FULL}; {}",
        size.vcores,
        give(&cpu)
    );
    let amounts = [(cpu, whole(size.vcores)), (memory_name, Quantity::Text(memory))];
    Ok((Cluster::pool(amounts.into()), Some(note)))
}

/// The same for what the tasks of job histories held.
fn cluster_for_history(
    path: &Path,
    told: &Told<'_>,
) -> Result<(Cluster, Option<String>), LoadError> {
    let cpu = told.name(&told.trace.processor_resource, "cpu").to_owned();
    let memory = told.name(&told.trace.memory_resource, "memory").to_owned();
    let kinds = told.kinds(vec![(cpu, Unit::Milli), (memory, Unit::Bytes)])?;
    told.busy_pool(path, TraceFormat::Jhist, &kinds, "a job history has no cluster")
}

/// One pool of the resources that a table has columns for, that its jobs would keep busy.
fn cluster_for_table(
    path: &Path,
    format: TraceFormat,
    told: &Told<'_>,
) -> Result<(Cluster, Option<String>), LoadError> {
    let options = trace_keys::table(&told.trace, format).map_err(|why| told.error(why))?;
    let origin = Origin::path(path);
    let kinds = table_resources(&origin, &options)?;
    let too_many = |why: meed::ConfigError| TraceError::Header {
        file: told.file.as_str().into(),
        line: 1,
        why: format!("resources: {why}"),
    };
    if let Some(nodes) = nodes_beside(path).filter(|_| format == TraceFormat::Openb) {
        let resources = kinds.into_iter().map(resource_of).collect();
        let machines = raw::Machines {
            file: Some(nodes.display().to_string()),
            format: Some("openb".to_owned()),
            ..raw::Machines::default()
        };
        return Ok((Cluster { resources, machines: Some(machines), node: Vec::new() }, None));
    }
    let known = ResourceKinds::new(kinds.clone()).map_err(too_many)?;
    told.busy_pool(path, format, &known, "the table has no cluster")
}

/// What is said of a pool of which nobody knows what ran at once.
const JUST_FULL: &str = "which these jobs would keep just full: the log does not tell when they \
    started";

/// What is said of where a cluster is given.
fn give(name: &str) -> String {
    format!("give yours by --cluster FILE or --set cluster.node.0.capacity.{name}=N")
}

/// One pool of that size, and what is said of it.
fn pool_of(kinds: &[(String, Unit)], size: &AssumedSize, why: &str) -> (Cluster, Option<String>) {
    let amount = |((name, unit), size): (&(String, Unit), &u64)| {
        let amount = match unit {
            Unit::Milli => whole(size.div_ceil(Unit::Milli.scale()).max(1)),
            Unit::Bytes => Quantity::Text(format!("{}GiB", size.div_ceil(1 << 30).max(1))),
        };
        (name.clone(), amount)
    };
    let amounts: AmountsByName = kinds.iter().zip(&size.amounts).map(amount).collect();
    // Of what no job holds nothing is assumed.
    let is_held = |name: &String| {
        let at = kinds.iter().position(|(kind, _)| kind == name);
        at.is_some_and(|at| size.amounts.get(at).is_some_and(|amount| *amount > 0))
    };
    let words = amounts.iter().filter(|(name, _)| is_held(name));
    let words = words.map(|(name, amount)| format!("{} {name}", amount.text()));
    let rest = match size.rest {
        SizeRest::RanAtOnce => "what ran at once in the log in 99 % of the time, or its widest job",
        SizeRest::JustFull => JUST_FULL,
    };
    let outliers = match size.outliers.rows() {
        [] => String::new(),
        [one] => format!(" (without job {}, an outlier)", one.name()),
        [first, others @ ..] => {
            format!(" (without job {} and {} other outliers)", first.name(), others.len())
        }
    };
    let note = format!(
        "{ASSUMED_CLUSTER}one pool of {}, {rest}{outliers} ({why}); {}",
        words.collect::<Vec<_>>().join(", "),
        give(&kinds[0].0)
    );
    let resources = kinds.iter().cloned().map(resource_of).collect();
    let node = vec![NodeForm::one("pool", amounts)];
    (Cluster { resources, machines: None, node }, Some(note))
}

fn resource_of((name, unit): (String, Unit)) -> ResourceForm {
    ResourceForm::Detailed { name, unit: unit.into() }
}

/// One pool of what the pods and Workloads would keep busy from the first submission to the last.
fn cluster_for_kubernetes(path: &Path) -> Result<(Cluster, Option<String>), TraceError> {
    let known = ResourceKinds::new(kubernetes_kinds()).expect("three named kinds are valid");
    let queues = KubernetesQueues::default();
    let source = KubernetesSource::open(&Origin::path(path), &known, &queues, OnBadLine::Skip)?;
    // GPUs count where somebody has some.
    let size = source.size();
    let held: Vec<((String, Unit), u64)> =
        kubernetes_kinds().into_iter().zip(size).filter(|(_, size)| *size > 0).collect();
    let (kinds, amounts): (Vec<_>, Vec<_>) = held.into_iter().unzip();
    let size = AssumedSize { amounts, rest: SizeRest::JustFull, outliers: Outliers::default() };
    Ok(pool_of(&kinds, &size, "the list has no cluster"))
}

/// The node list that lies beside a list of pods, as they are published: `x_pod_list_y.csv` and
/// `x_node_list_all_node.csv`, compressed or not.
fn nodes_beside(pods: &Path) -> Option<PathBuf> {
    let name = pods.file_name()?.to_string_lossy().into_owned();
    let (before, _) = name.split_once("pod_list")?;
    let names =
        ["", ".gz", ".zst", ".xz"].map(|ending| format!("{before}node_list_all_node.csv{ending}"));
    names.iter().map(|name| pods.with_file_name(name)).find(|path| path.is_file())
}
