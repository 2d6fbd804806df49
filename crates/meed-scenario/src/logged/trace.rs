//! The jobs of a log's run, and a log as the trace of a scenario: read once, opened for each
//! policy.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use meed::ResourceKinds;
use meed_workload::changed::Changed;
use meed_workload::{JobSource, TraceError};

use super::jobs::{LiveJobs, LogAssumptions, leaves};
use super::recorded::RecordedWorkload;
use super::run::{Logged, PlacingOf};
use super::source::{KindMap, LiveSource};
use crate::log::read::{LogError, LogFile, Run};

/// Its jobs, which can be handed out again and again.
#[derive(Clone)]
pub(crate) enum LoggedJobs {
    Simulated(Box<(LogFile, Run, RecordedWorkload)>),
    Live(Arc<LiveJobs>),
}

impl LoggedJobs {
    /// The jobs of `logged`, in the resources of its cluster.
    pub(crate) fn of(logged: &Logged, assumed: &LogAssumptions) -> Result<LoggedJobs, LogError> {
        let kinds = logged.kinds()?;
        if logged.is_live() {
            return Ok(LoggedJobs::Live(Arc::new(LiveJobs::read(logged, &kinds, assumed)?)));
        }
        let leaves = leaves(&logged.queue_names()).0;
        let mut workload = RecordedWorkload::of_queues(&logged.log, &logged.run, &kinds, leaves)?;
        workload.clock_us = logged.clock_us();
        if !logged.run.finished {
            workload.assumptions.push(logged.cut());
        }
        Ok(LoggedJobs::Simulated(Box::new((logged.log.clone(), logged.run.clone(), workload))))
    }

    /// The jobs from the first on, in the resources of the log.
    pub(crate) fn source(&self) -> Result<Box<dyn JobSource + Send>, LogError> {
        Ok(match self {
            LoggedJobs::Simulated(parts) => {
                let (log, run, workload) = &**parts;
                Box::new(workload.source(log, run)?)
            }
            LoggedJobs::Live(jobs) => Box::new(LiveSource::new(Arc::clone(jobs))),
        })
    }

    /// What is to be said of it before anything runs.
    pub(crate) fn remarks(&self) -> &[String] {
        match self {
            LoggedJobs::Simulated(_) => &[],
            LoggedJobs::Live(jobs) => jobs.remarks(),
        }
    }
}

/// See the module.
#[derive(Clone, Default)]
pub(crate) struct LogTrace {
    assumed: LogAssumptions,
    read: Arc<OnceLock<(ResourceKinds, LoggedJobs)>>,
}

impl fmt::Debug for LogTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LogTrace").field(&self.assumed).finish()
    }
}

impl LogTrace {
    /// Of which so much is taken.
    pub(crate) fn new(assumed: LogAssumptions) -> LogTrace {
        LogTrace { assumed, read: Arc::default() }
    }

    fn jobs(
        &self,
        path: &Path,
        placing: PlacingOf,
    ) -> Result<&(ResourceKinds, LoggedJobs), LogError> {
        if self.read.get().is_none() {
            let logged = Logged::open(path, self.assumed.run.as_deref(), placing)?;
            let jobs = (logged.kinds()?, LoggedJobs::of(&logged, &self.assumed)?);
            // Who comes first has read the same.
            drop(self.read.set(jobs));
        }
        Ok(self.read.get().expect("it was read"))
    }

    /// The jobs from the first on, for a cluster of these resources.
    pub(crate) fn open(
        &self,
        path: &Path,
        kinds: &ResourceKinds,
        placing: PlacingOf,
    ) -> Result<Box<dyn JobSource + Send>, TraceError> {
        let (own, jobs) = self.jobs(path, placing)?;
        let map = KindMap::of(own, kinds)
            .map_err(|why| TraceError::Settings { what: path.display().to_string(), why })?;
        let source = jobs.source()?;
        Ok(match map.is_same() {
            true => source,
            false => Box::new(Changed::new(source, map)),
        })
    }

    /// What is to be said of it before anything runs, once it was opened.
    pub(crate) fn remarks(&self) -> &[String] {
        self.read.get().map_or(&[], |(_, jobs)| jobs.remarks())
    }
}
