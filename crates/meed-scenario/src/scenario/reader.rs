//! The reader of each format, with what it assumes.

use meed::ResourceKinds;
use meed_workload::canonical::CanonicalSource;
use meed_workload::format::TraceFormat;
use meed_workload::google::{GoogleAssumptions, GoogleSource, GoogleTrace};
use meed_workload::jhist::{HistoryAssumptions, HistorySource};
use meed_workload::kubernetes::{KubernetesQueues, KubernetesSource};
use meed_workload::mwf::{MwfAssumptions, MwfSource};
use meed_workload::philly::{PhillyAssumptions, PhillySource};
use meed_workload::spark::{SparkAssumptions, SparkSource};
use meed_workload::swf::{SwfAssumptions, SwfSource};
use meed_workload::swim::{SwimAssumptions, SwimSource};
use meed_workload::table::{TableAssumptions, TableSource};
use meed_workload::yarn::{YarnAssumptions, YarnSource};
use meed_workload::{JobSource, OnBadLine, Origin, TraceError};

use super::{raw, trace_keys};

/// See the module. Two that are equal read a file alike.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Reader {
    Swf(SwfAssumptions),
    Mwf(MwfAssumptions),
    Google(Box<GoogleAssumptions>),
    Swim(Box<SwimAssumptions>),
    Philly(PhillyAssumptions),
    Yarn(YarnAssumptions),
    History(HistoryAssumptions),
    Spark(SparkAssumptions),
    Kubernetes(KubernetesQueues),
    Canonical,
    Table(Box<TableAssumptions>),
}

/// A source of jobs, or why there is none.
type Opened = Result<Box<dyn JobSource + Send>, TraceError>;

impl Reader {
    /// Of a format, as the keys of `[trace]` say; `None`: a log of Meed's, which has its own.
    pub(super) fn of(
        format: TraceFormat,
        raw: &raw::Trace,
        kinds: &ResourceKinds,
    ) -> Result<Option<Reader>, String> {
        Ok(Some(match format {
            TraceFormat::Swf => Reader::Swf(trace_keys::swf(raw)?),
            TraceFormat::Mwf => Reader::Mwf(trace_keys::mwf(raw)?),
            TraceFormat::Google => Reader::Google(Box::new(trace_keys::google(raw, kinds)?)),
            TraceFormat::Swim => Reader::Swim(Box::new(trace_keys::swim(raw, kinds)?)),
            TraceFormat::Philly => Reader::Philly(trace_keys::philly(raw)?),
            TraceFormat::Yarn => Reader::Yarn(trace_keys::yarn(raw)?),
            TraceFormat::Jhist => Reader::History(trace_keys::history(raw, kinds)?),
            TraceFormat::SparkEventLog => Reader::Spark(trace_keys::spark(raw)?),
            TraceFormat::Kubernetes => Reader::Kubernetes(trace_keys::kubernetes(raw)?),
            TraceFormat::Canonical => Reader::Canonical,
            TraceFormat::Log => return Ok(None),
            TraceFormat::Csv
            | TraceFormat::Tsv
            | TraceFormat::JsonLines
            | TraceFormat::Sacct
            | TraceFormat::SacctJson
            | TraceFormat::Pbs
            | TraceFormat::Lsf
            | TraceFormat::GridEngine
            | TraceFormat::Condor
            | TraceFormat::Openb
            | TraceFormat::Alibaba2018
            | TraceFormat::AzureVms => Reader::Table(Box::new(trace_keys::table(raw, format)?)),
        }))
    }

    /// The jobs of a file that is read once. All queues are known behind the last job.
    pub(super) fn once(
        &self,
        origin: &Origin,
        kinds: &ResourceKinds,
        on_bad_line: OnBadLine,
    ) -> Opened {
        Ok(match self {
            Reader::Swf(assumed) => Box::new(SwfSource::once(origin, kinds, assumed, on_bad_line)?),
            Reader::Mwf(assumed) => Box::new(MwfSource::once(origin, kinds, assumed, on_bad_line)?),
            _ => return self.stream(origin, kinds, on_bad_line, None),
        })
    }

    /// The jobs of a file, of which nothing is kept. Its queues, where they are known, spare logs
    /// that do not declare them the pass that collects them.
    pub(super) fn stream(
        &self,
        origin: &Origin,
        kinds: &ResourceKinds,
        on_bad_line: OnBadLine,
        queues: Option<&[String]>,
    ) -> Opened {
        Ok(match (self, queues.map(<[String]>::to_vec)) {
            (Reader::Swf(assumed), None) => {
                Box::new(SwfSource::open(origin, kinds, assumed, on_bad_line)?)
            }
            (Reader::Swf(assumed), Some(queues)) => {
                Box::new(SwfSource::with_queues(origin, kinds, assumed, on_bad_line, queues)?)
            }
            (Reader::Mwf(assumed), None) => {
                Box::new(MwfSource::open(origin, kinds, assumed, on_bad_line)?)
            }
            (Reader::Mwf(assumed), Some(queues)) => {
                Box::new(MwfSource::with_queues(origin, kinds, assumed, on_bad_line, queues)?)
            }
            (Reader::Google(assumed), _) => {
                let trace = GoogleTrace::read(origin, kinds, assumed, on_bad_line)?;
                Box::new(GoogleSource::new(trace.into()))
            }
            (Reader::Swim(assumed), _) => {
                Box::new(SwimSource::open(origin, kinds, assumed, on_bad_line)?)
            }
            (Reader::Philly(assumed), _) => {
                Box::new(PhillySource::open(origin, kinds, assumed, on_bad_line)?)
            }
            (Reader::Yarn(assumed), _) => {
                Box::new(YarnSource::open(origin, kinds, assumed, on_bad_line)?)
            }
            (Reader::History(assumed), _) => {
                Box::new(HistorySource::open(origin, kinds, assumed, on_bad_line)?)
            }
            (Reader::Spark(assumed), _) => {
                Box::new(SparkSource::open(origin, kinds, assumed, on_bad_line)?)
            }
            (Reader::Kubernetes(queues), _) => {
                Box::new(KubernetesSource::open(origin, kinds, queues, on_bad_line)?)
            }
            (Reader::Table(assumed), _) => {
                Box::new(TableSource::open(origin, kinds, assumed, on_bad_line)?)
            }
            (Reader::Canonical, _) => {
                Box::new(CanonicalSource::open(origin, Some(kinds), on_bad_line)?)
            }
        })
    }
}
