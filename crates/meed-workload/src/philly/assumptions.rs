//! What the Philly reader assumes where the file leaves a choice. Every choice can be set.

use jiff::tz::TimeZone;
use meed::{ResourceKinds, Span, Unit};
use meed_config::words::{quote, suggest};

use super::rows::Row;
use super::{PhillyOffsets, last_of_each};
use crate::TraceError;
use crate::fields::pick_kind;
use crate::table::zone_named;

/// How the clocks of the virtual clusters are laid over each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PhillyAlign {
    /// As their dates say; where the file has none, all first jobs come at time 0.
    #[default]
    Usual,
    /// All first jobs come at time 0.
    Start,
    /// All last jobs come at the same time, that of the virtual cluster with the longest record.
    End,
}

/// How a job's GPUs become tasks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PhillyShape {
    /// One task that holds all GPUs at once, on one node: in a cluster of one pool the same as a
    /// gang, and cheaper.
    Rigid,
    /// One task per GPU, each as long as the job: the scheduler may start them one by one.
    Split,
    /// One task per GPU, all of which start together, on whichever nodes: distributed training
    /// starts with all its workers, as it was.
    #[default]
    Gang,
}

/// All choices of the Philly reader.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PhillyAssumptions {
    /// How the clocks of the virtual clusters are laid over each other.
    pub align: PhillyAlign,
    /// How much later than `align` says a virtual cluster begins.
    pub offsets: PhillyOffsets,
    /// How a job's GPUs become tasks.
    pub shape: PhillyShape,
    /// The resource that GPUs are; when not given the one called `gpu`, else the first that is
    /// counted in pieces.
    pub gpu_kind: Option<String>,
    /// The zone of dates; when not given America/Los_Angeles, the zone of the clusters' own logs.
    pub time_zone: Option<String>,
}

/// The zone of Philly's logs: `cluster_gpu_util`, of the same clusters, says PDT and PST.
const HOME: &str = "America/Los_Angeles";

impl PhillyAssumptions {
    /// The kind that GPUs are.
    pub(super) fn resolve(&self, kinds: &ResourceKinds) -> Result<usize, TraceError> {
        let setting = "the Philly reader's gpu_resource";
        let pieces = |kind: usize| kinds.unit(kind) == Unit::Milli;
        let usual = kinds.find("gpu").filter(|&kind| pieces(kind));
        let default = |kind: usize| usual.map_or_else(|| pieces(kind), |usual| kind == usual);
        match pick_kind(kinds, self.gpu_kind.as_deref(), setting, default)? {
            Some(kind) if pieces(kind) => Ok(kind),
            Some(kind) => {
                let why = format!(
                    "\"{}\" is counted in bytes; name a resource counted in pieces",
                    kinds.name(kind)
                );
                Err(TraceError::settings(setting, why))
            }
            None => Err(TraceError::settings(
                setting,
                "all resources are counted in bytes; GPUs are pieces",
            )),
        }
    }

    /// Whether jobs of a file with dates come when those say.
    pub(super) fn keeps_dates(&self) -> bool {
        self.align == PhillyAlign::Usual
    }

    /// The zone of dates.
    pub(super) fn zone(&self) -> Result<TimeZone, TraceError> {
        let name = self.time_zone.as_deref().unwrap_or(HOME);
        zone_named(name).ok_or_else(|| {
            let why = format!(
                "{} is not known; write UTC, an offset as -08:00, or a name as {HOME}",
                quote(name.as_bytes())
            );
            TraceError::settings("the Philly reader's time_zone", why)
        })
    }

    /// When each virtual cluster's clock begins.
    pub(super) fn starts(&self, queues: &[String], rows: &[Row]) -> Result<Vec<Span>, TraceError> {
        for name in self.offsets.keys() {
            if !queues.contains(name) {
                let hint = suggest(name, queues.iter().map(String::as_str));
                let why = format!("the trace has no virtual cluster \"{name}\"; {hint}");
                return Err(TraceError::settings("the Philly reader's offsets", why));
            }
        }
        let last = last_of_each(queues.len(), rows);
        let longest = last.iter().copied().max().unwrap_or(Span::ZERO);
        let start = |(name, last): (&String, &Span)| {
            let aligned = match self.align {
                PhillyAlign::Usual | PhillyAlign::Start => 0,
                PhillyAlign::End => longest.as_micros() - last.as_micros(),
            };
            let own = self.offsets.get(name).map_or(0, |offset| offset.as_micros());
            Span::from_micros(aligned + own).unwrap_or(Span::MAX)
        };
        Ok(queues.iter().zip(&last).map(start).collect())
    }

    /// The choices in words, of a file whose first submission is `first`, where it has dates.
    pub(super) fn words(&self, gpu: &str, first: Option<u64>) -> Vec<String> {
        let offsets = match self.offsets.len() {
            0 => String::new(),
            some => format!(", and {some} of them later by a given offset"),
        };
        let clocks = match (self.align, first) {
            (PhillyAlign::Usual, Some(first)) => format!(
                "Philly: virtual clusters keep their dates{offsets}; time 0 is the first \
                 submission, {}",
                crate::table::format_date(first)
            ),
            (PhillyAlign::Usual | PhillyAlign::Start, _) => {
                format!("{NO_ZERO}; all of them begin at the same time{offsets}")
            }
            (PhillyAlign::End, _) => {
                format!("{NO_ZERO}; the last jobs of all come at the same time{offsets}")
            }
        };
        let shape = match self.shape {
            PhillyShape::Rigid => {
                "a job is one task that holds all its GPUs at once, wherever they are"
            }
            PhillyShape::Split => "a job is one task per GPU",
            PhillyShape::Gang => "a job is one task per GPU, which start together",
        };
        let mut words = vec![
            "Philly: one queue per virtual cluster".to_owned(),
            clocks,
            format!("Philly: {shape}; taken as {gpu}"),
            "Philly: run times are those on the machines of then; jobs without a GPU are left out"
                .to_owned(),
        ];
        if first.is_some() {
            let zone = self.time_zone.as_deref().unwrap_or(HOME);
            let usual = if self.time_zone.is_none() { " (time_zone says another)" } else { "" };
            words.push(format!("Philly: dates without a zone are in {zone}{usual}"));
            words.push(
                "Philly: a job holds the GPUs of its widest attempt, for the GPU-seconds of all \
                 its attempts; the time between them is passed over"
                    .to_owned(),
            );
        }
        words
    }
}

/// What is said of clocks that are laid over each other.
const NO_ZERO: &str = "Philly: the clocks of the virtual clusters have no common zero";
