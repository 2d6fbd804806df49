//! A scenario from a trace alone: its queues as tenants of weight 1, on a cluster that its header
//! tells or that is assumed and named as such.

use std::path::{Path, PathBuf};

use meed::{ResourceKinds, Unit};
use meed_workload::canonical::CanonicalSource;
use meed_workload::format::TraceFormat;
use meed_workload::philly::{PhillyAssumptions, PhillySource};
use meed_workload::swf::{SwfAssumptions, SwfSource};
use meed_workload::{OnBadLine, Origin, TraceError};

use super::{LoadError, Scenario};

/// Slots of the cluster that a trace without one is run on.
const ASSUMED_SLOTS: u64 = 1000;

/// GPUs of a server, of which the pool for a Philly trace is a multiple.
const GPUS_PER_SERVER: u64 = 8;

impl Scenario {
    /// A scenario file or a trace: by its name, and by its beginning where the name does not tell
    /// (`/dev/stdin`).
    pub fn load_any(
        path: &Path,
        sets: &[String],
        on_bad_line: OnBadLine,
    ) -> Result<Scenario, LoadError> {
        match is_trace(path, sets) {
            true => Scenario::of_trace(path, sets, on_bad_line),
            false => Scenario::load(path, sets, on_bad_line),
        }
    }

    /// The trace as a scenario; `sets` change it as they change a file.
    pub fn of_trace(
        path: &Path,
        sets: &[String],
        on_bad_line: OnBadLine,
    ) -> Result<Scenario, LoadError> {
        let format = match format_set(sets) {
            Some(set) => set,
            None => TraceFormat::of_file(path)?,
        };
        let Cluster { resources, nodes, note } = cluster_for(path, format)?;
        let trace = toml::Value::String(path.display().to_string());
        let mut text =
            format!("[cluster]\nresources = [{resources}]\n{nodes}\n[trace]\nfile = {trace}\n");
        if TraceFormat::of_name(path).ok() != Some(format) {
            text += &format!("format = \"{}\"\n", format.name());
        }
        let mut scenario =
            Scenario::parse(&path.display().to_string(), &text, Path::new(""), sets, on_bad_line)?;
        if !sets.iter().any(|set| set.starts_with("cluster.")) {
            scenario.warnings.extend(note);
        }
        Ok(scenario)
    }
}

/// Where the name of a file does not tell, this much of it is looked at.
const BEGINNING: u64 = 64 << 10;

fn is_trace(path: &Path, sets: &[String]) -> bool {
    if TraceFormat::of_name(path).is_ok() {
        return true;
    }
    if path.extension().is_some_and(|ending| ending == "toml") {
        return false;
    }
    // What cannot be read is said by who reads it.
    let Ok(start) = Origin::path(path).beginning(BEGINNING) else { return false };
    let looks_like_scenario = || String::from_utf8_lossy(&start).contains("[cluster");
    TraceFormat::of_content(&start).is_some()
        || format_set(sets).is_some() && !looks_like_scenario()
}

/// The format that a `--set trace.format=...` names.
fn format_set(sets: &[String]) -> Option<TraceFormat> {
    let value = |set: &String| set.strip_prefix("trace.format=").map(str::to_owned);
    let value = sets.iter().filter_map(value).next_back()?;
    TraceFormat::named(value.trim_matches('"'))
}

/// A cluster as TOML, and what was assumed about it.
struct Cluster {
    resources: String,
    /// Keys of `[cluster]`, and tables of nodes.
    nodes: String,
    note: Option<String>,
}

impl Cluster {
    /// One node with this capacity.
    fn pool(
        resources: impl Into<String>,
        capacity: impl std::fmt::Display,
        note: Option<String>,
    ) -> Cluster {
        let nodes = format!("\n[[cluster.node]]\nname = \"pool\"\ncapacity = {{ {capacity} }}\n");
        Cluster { resources: resources.into(), nodes, note }
    }
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

fn cluster_for(path: &Path, format: TraceFormat) -> Result<Cluster, TraceError> {
    let how = "change it with --set cluster.node.0.capacity";
    match format {
        TraceFormat::Swf => {
            let kinds = one_kind("cpu");
            let queues = Vec::new();
            let assumptions = SwfAssumptions::default();
            let origin = Origin::path(path);
            // Opened for its header only; the first job's queue being unknown is no concern here.
            let known =
                SwfSource::with_queues(&origin, &kinds, &assumptions, OnBadLine::Skip, queues);
            let source = match known {
                Ok(source) => source,
                Err(_) => SwfSource::open(&origin, &kinds, &assumptions, OnBadLine::Skip)?,
            };
            let header = source.header();
            let wrong = || match header.processors_field() {
                Some((key, value)) => {
                    format!("the header's {key} is `{value}`, which is no number above 0")
                }
                None => "the header names no MaxProcs".to_owned(),
            };
            let note = match header.processors() {
                Some(_) => None,
                None => Some(format!("{}; {ASSUMED_SLOTS} cpu are assumed, {how}.cpu=N", wrong())),
            };
            let capacity = format!("cpu = {}", header.processors().unwrap_or(ASSUMED_SLOTS));
            Ok(Cluster::pool("\"cpu\"", capacity, note))
        }
        TraceFormat::Mwf => Ok(match machines_beside(path) {
            Some(machines) => {
                let file = toml::Value::String(machines.display().to_string());
                let nodes = format!("machines = {{ file = {file}, format = \"alea\" }}\n");
                Cluster { resources: "\"cpu\", \"memory\"".to_owned(), nodes, note: None }
            }
            None => {
                let note = format!(
                    "there is no machines file beside the trace; one node with {ASSUMED_SLOTS} cpu \
                     is assumed, \
                     without memory and labels; {how}.cpu=N, or name the file in a scenario's \
                     [cluster] machines"
                );
                Cluster::pool("\"cpu\"", format!("cpu = {ASSUMED_SLOTS}"), Some(note))
            }
        }),
        TraceFormat::Google => Ok(Cluster {
            resources: "\"cpu\", { name = \"memory\", unit = \"milli\" }".to_owned(),
            nodes: "machines = { mix = \"google\" }\n".to_owned(),
            note: Some(
                "task_events has no machines; the 12583 published for this cell are assumed, \
                 change their number with \
                 --set cluster.machines.count=N"
                    .to_owned(),
            ),
        }),
        TraceFormat::Swim => {
            let note = format!(
                "a SWIM trace has no cluster; {ASSUMED_SLOTS} slots are assumed, \
                    {how}.slot=N"
            );
            Ok(Cluster::pool("\"slot\"", format!("slot = {ASSUMED_SLOTS}"), Some(note)))
        }
        TraceFormat::Philly => {
            let (origin, kinds) = (Origin::path(path), one_kind("gpu"));
            let assumptions = PhillyAssumptions::default();
            let size = PhillySource::open(&origin, &kinds, &assumptions, OnBadLine::Skip)?.size();
            // Whole servers, and rounded down: as much work as the cluster can do between first and
            // last submission.
            let servers = (size.mean_gpus.max(size.widest) / GPUS_PER_SERVER).max(1);
            let gpus = (servers * GPUS_PER_SERVER).max(size.widest);
            let note = format!(
                "a Philly trace has no cluster; one pool of {gpus} GPUs is assumed, for which the \
                 offered load from \
                 the first submission to the last is about 1; {how}.gpu=N"
            );
            Ok(Cluster::pool("\"gpu\"", format!("gpu = {gpus}"), Some(note)))
        }
        TraceFormat::Canonical => {
            let source = CanonicalSource::open(&Origin::path(path), None, OnBadLine::Skip)?;
            let kinds = source.kinds();
            let name = |kind: usize| toml::Value::String(kinds.name(kind).to_owned());
            let resource = |kind: usize| match kinds.unit(kind) {
                Unit::Bytes => format!("{{ name = {}, unit = \"bytes\" }}", name(kind)),
                Unit::Milli => format!("{{ name = {}, unit = \"milli\" }}", name(kind)),
            };
            let amount = |kind: usize| match kinds.unit(kind) {
                Unit::Bytes => format!("{} = \"{ASSUMED_SLOTS}GiB\"", name(kind)),
                Unit::Milli => format!("{} = {ASSUMED_SLOTS}", name(kind)),
            };
            let all = |what: &dyn Fn(usize) -> String| {
                (0..kinds.len()).map(what).collect::<Vec<_>>().join(", ")
            };
            let note = format!(
                "the trace has no cluster; one node with {} is assumed, \
                {how}",
                all(&amount)
            );
            Ok(Cluster::pool(all(&resource), all(&amount), Some(note)))
        }
    }
}

fn one_kind(name: &str) -> ResourceKinds {
    ResourceKinds::new(vec![(name.to_owned(), Unit::Milli)]).expect("one named kind is valid")
}
