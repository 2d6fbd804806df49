//! The trace of a scenario: its file, its format, and what its reader assumes.

use std::path::{Path, PathBuf};

use meed::{ResourceKinds, Unit};
use meed_workload::canonical::CanonicalSource;
use meed_workload::format::TraceFormat;
use meed_workload::swf::{SwfAssumptions, SwfMemory, SwfProcessors, SwfQueues, SwfShape, SwfSource};
use meed_workload::swim::{SwimAssumptions, SwimSource, TenantSplit};
use meed_workload::units::parse_amount;
use meed_workload::{JobSource, OnBadLine, Origin, TraceError};

use super::cluster::amounts;
use super::jobs::span;
use super::raw::{self, Quantity, Tenants};

/// A trace that can be opened again and again.
#[derive(Clone, Debug)]
pub(super) struct TracePlan {
    pub(super) path: PathBuf,
    reader: Reader,
}

#[derive(Clone, Debug)]
enum Reader {
    Swf(SwfAssumptions),
    Swim(Box<SwimAssumptions>),
    Canonical,
}

impl TracePlan {
    /// Reads the keys of `[trace]`; the file is looked for beside the scenario.
    pub(super) fn read(raw: &raw::Trace, folder: &Path, kinds: &ResourceKinds) -> Result<TracePlan, String> {
        let path = folder.join(&raw.file);
        let format = match raw.format.as_deref() {
            None => TraceFormat::of_name(&path).map_err(|why| why.to_string())?,
            Some("swf") => TraceFormat::Swf,
            Some("swim") => TraceFormat::Swim,
            Some("meed") => TraceFormat::Canonical,
            Some(other) => return Err(format!("trace format `{other}` is not one of swf, swim, meed")),
        };
        let reader = match format {
            TraceFormat::Swf => Reader::Swf(swf(raw)?),
            TraceFormat::Swim => Reader::Swim(Box::new(swim(raw, kinds)?)),
            TraceFormat::Canonical => Reader::Canonical,
        };
        let swf_keys = [
            ("queues", raw.queues.is_some()),
            ("shape", raw.shape.is_some()),
            ("processors", raw.processors.is_some()),
            ("processor_resource", raw.processor_resource.is_some()),
            ("memory", raw.memory.is_some()),
            ("memory_resource", raw.memory_resource.is_some()),
            ("min_duration", raw.min_duration.is_some()),
            ("keep_cancelled", raw.keep_cancelled.is_some()),
        ];
        let swim_keys = [
            ("tenants", raw.tenants.is_some()),
            ("split", raw.split.is_some()),
            ("split_seed", raw.split_seed.is_some()),
            ("tenant_weights", raw.tenant_weights.is_some()),
            ("map_bytes", raw.map_bytes.is_some()),
            ("reduce_bytes", raw.reduce_bytes.is_some()),
            ("max_tasks", raw.max_tasks.is_some()),
            ("task_base", raw.task_base.is_some()),
            ("map_bytes_per_s", raw.map_bytes_per_s.is_some()),
            ("reduce_bytes_per_s", raw.reduce_bytes_per_s.is_some()),
            ("map_demand", raw.map_demand.is_some()),
            ("reduce_demand", raw.reduce_demand.is_some()),
        ];
        let foreign = match &reader {
            Reader::Swf(_) => swim_keys.iter().collect::<Vec<_>>(),
            Reader::Swim(_) => swf_keys.iter().collect(),
            Reader::Canonical => swf_keys.iter().chain(&swim_keys).collect(),
        };
        match foreign.iter().find(|(_, given)| *given) {
            Some((key, _)) => Err(format!("`{key}` means nothing for a trace of this format; leave it out")),
            None => Ok(TracePlan { path, reader }),
        }
    }

    /// Opens it anew. `queues`, when known from an earlier opening, spare SWF the pass that collects them.
    pub(super) fn open(
        &self,
        kinds: &ResourceKinds,
        on_bad_line: OnBadLine,
        queues: Option<&[String]>,
    ) -> Result<Box<dyn JobSource + Send>, TraceError> {
        let origin = Origin::path(&self.path);
        Ok(match (&self.reader, queues) {
            (Reader::Swf(assumptions), None) => {
                Box::new(SwfSource::open(&origin, kinds, assumptions, on_bad_line)?)
            }
            (Reader::Swf(assumptions), Some(queues)) => {
                let queues = queues.to_vec();
                Box::new(SwfSource::with_queues(&origin, kinds, assumptions, on_bad_line, queues)?)
            }
            (Reader::Swim(assumptions), _) => {
                Box::new(SwimSource::open(&origin, kinds, assumptions, on_bad_line)?)
            }
            (Reader::Canonical, _) => Box::new(CanonicalSource::open(&origin, Some(kinds), on_bad_line)?),
        })
    }
}

fn one_of<T: Clone>(key: &str, value: &Option<String>, known: &[(&str, T)], default: T) -> Result<T, String> {
    let Some(value) = value else { return Ok(default) };
    known.iter().find(|(name, _)| name == value).map(|(_, meaning)| meaning.clone()).ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        format!("trace, {key}: `{value}` is not one of {}", names.join(", "))
    })
}

fn swf(raw: &raw::Trace) -> Result<SwfAssumptions, String> {
    let default = SwfAssumptions::default();
    let queues = [
        ("user", SwfQueues::User),
        ("group", SwfQueues::Group),
        ("executable", SwfQueues::Executable),
        ("queue", SwfQueues::Queue),
        ("partition", SwfQueues::Partition),
        ("single", SwfQueues::Single("all".to_owned())),
    ];
    let processors = [("allocated", SwfProcessors::Allocated), ("requested", SwfProcessors::Requested)];
    let memory =
        [("requested", SwfMemory::Requested), ("used", SwfMemory::Used), ("ignore", SwfMemory::Ignore)];
    Ok(SwfAssumptions {
        queues: one_of("queues", &raw.queues, &queues, default.queues)?,
        shape: one_of(
            "shape",
            &raw.shape,
            &[("rigid", SwfShape::Rigid), ("split", SwfShape::Split)],
            default.shape,
        )?,
        processors: one_of("processors", &raw.processors, &processors, default.processors)?,
        processor_kind: raw.processor_resource.clone(),
        memory: one_of("memory", &raw.memory, &memory, default.memory)?,
        memory_kind: raw.memory_resource.clone(),
        min_duration: raw
            .min_duration
            .as_ref()
            .map_or(Ok(default.min_duration), |raw| span("min_duration", raw))?,
        ignore_cancelled: !raw.keep_cancelled.unwrap_or(!default.ignore_cancelled),
        ignore_partial: default.ignore_partial,
    })
}

fn swim(raw: &raw::Trace, kinds: &ResourceKinds) -> Result<SwimAssumptions, String> {
    let default = SwimAssumptions::default();
    let bytes = |key: &str, value: &Option<Quantity>, default: u64| match value {
        Some(value) => parse_amount(&value.text(), Unit::Bytes).map_err(|why| format!("trace, {key}: {why}")),
        None => Ok(default),
    };
    let demand = |value: &Option<raw::Amounts>| value.as_ref().map(|raw| amounts(raw, kinds)).transpose();
    let seed = match &default.split {
        TenantSplit::Random { seed, .. } => raw.split_seed.unwrap_or(*seed),
        TenantSplit::RoundRobin => raw.split_seed.unwrap_or(1),
    };
    let weights = raw.tenant_weights.clone().unwrap_or_default();
    let random = TenantSplit::Random { seed, weights };
    let splits = [("random", random.clone()), ("round-robin", TenantSplit::RoundRobin)];
    Ok(SwimAssumptions {
        tenants: match &raw.tenants {
            None => default.tenants,
            Some(Tenants::Names(names)) => names.clone(),
            Some(Tenants::Count(count)) if (1..=1_000_000).contains(count) => {
                (1..=*count).map(|number| format!("t{number}")).collect()
            }
            Some(Tenants::Count(count)) => {
                return Err(format!("trace, tenants: {count} is not 1 to 1000000"));
            }
        },
        split: one_of("split", &raw.split, &splits, random)?,
        map_bytes: bytes("map_bytes", &raw.map_bytes, default.map_bytes)?,
        reduce_bytes: bytes("reduce_bytes", &raw.reduce_bytes, default.reduce_bytes)?,
        max_tasks: raw.max_tasks.unwrap_or(default.max_tasks),
        task_base: raw.task_base.as_ref().map_or(Ok(default.task_base), |raw| span("task_base", raw))?,
        map_bytes_per_s: bytes("map_bytes_per_s", &raw.map_bytes_per_s, default.map_bytes_per_s)?,
        reduce_bytes_per_s: bytes("reduce_bytes_per_s", &raw.reduce_bytes_per_s, default.reduce_bytes_per_s)?,
        map_demand: demand(&raw.map_demand)?,
        reduce_demand: demand(&raw.reduce_demand)?,
    })
}
