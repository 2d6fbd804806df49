//! A scenario from a trace alone: its queues as tenants of weight 1, on a cluster that its header tells or that is
//! assumed and named as such.

use std::path::Path;

use meed::{ResourceKinds, Unit};
use meed_workload::canonical::CanonicalSource;
use meed_workload::format::TraceFormat;
use meed_workload::swf::{SwfAssumptions, SwfSource};
use meed_workload::{OnBadLine, Origin, TraceError};

use super::{LoadError, Scenario};

/// Slots of the cluster that a trace without one is run on.
const ASSUMED_SLOTS: u64 = 1000;

impl Scenario {
    /// Whether `path` is named like a trace rather than like a scenario.
    pub fn is_trace(path: &Path) -> bool {
        TraceFormat::of_name(path).is_ok()
    }

    /// A scenario file or a trace, by its name.
    pub fn load_any(path: &Path, sets: &[String], on_bad_line: OnBadLine) -> Result<Scenario, LoadError> {
        match Scenario::is_trace(path) {
            true => Scenario::of_trace(path, sets, on_bad_line),
            false => Scenario::load(path, sets, on_bad_line),
        }
    }

    /// The trace as a scenario; `sets` change it as they change a file.
    pub fn of_trace(path: &Path, sets: &[String], on_bad_line: OnBadLine) -> Result<Scenario, LoadError> {
        let (resources, capacity, note) = cluster_for(path)?;
        let trace = toml::Value::String(path.display().to_string());
        let text = format!(
            "[cluster]\nresources = [{resources}]\n\n[[cluster.node]]\nname = \"pool\"\ncapacity = {{ {capacity} }}\n\n\
             [trace]\nfile = {trace}\n"
        );
        let mut scenario =
            Scenario::parse(&path.display().to_string(), &text, Path::new(""), sets, on_bad_line)?;
        if !sets.iter().any(|set| set.starts_with("cluster.")) {
            scenario.warnings.extend(note);
        }
        Ok(scenario)
    }
}

/// Resources and capacity as TOML, and what was assumed.
fn cluster_for(path: &Path) -> Result<(String, String, Option<String>), TraceError> {
    let how = "change it with --set cluster.node.0.capacity";
    match TraceFormat::of_name(path)? {
        TraceFormat::Swf => {
            let kinds = one_kind("cpu");
            let queues = Vec::new();
            let assumptions = SwfAssumptions::default();
            let origin = Origin::path(path);
            // Opened for its header only; the first job's queue being unknown is no concern here.
            let known = SwfSource::with_queues(&origin, &kinds, &assumptions, OnBadLine::Skip, queues);
            let processors = match known {
                Ok(source) => source.header().processors(),
                Err(_) => {
                    SwfSource::open(&origin, &kinds, &assumptions, OnBadLine::Skip)?.header().processors()
                }
            };
            let note = match processors {
                Some(_) => None,
                None => Some(format!(
                    "the header names no MaxProcs; {ASSUMED_SLOTS} cpu are assumed, {how}.cpu=N"
                )),
            };
            Ok(("\"cpu\"".to_owned(), format!("cpu = {}", processors.unwrap_or(ASSUMED_SLOTS)), note))
        }
        TraceFormat::Swim => {
            let note =
                format!("a SWIM trace has no cluster; {ASSUMED_SLOTS} slots are assumed, {how}.slot=N");
            Ok(("\"slot\"".to_owned(), format!("slot = {ASSUMED_SLOTS}"), Some(note)))
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
            let all =
                |what: &dyn Fn(usize) -> String| (0..kinds.len()).map(what).collect::<Vec<_>>().join(", ");
            let note = format!("the trace has no cluster; one node with {} is assumed, {how}", all(&amount));
            Ok((all(&resource), all(&amount), Some(note)))
        }
    }
}

fn one_kind(name: &str) -> ResourceKinds {
    ResourceKinds::new(vec![(name.to_owned(), Unit::Milli)]).expect("one named kind is valid")
}
