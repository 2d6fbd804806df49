//! A log as the trace of a scenario: read once, opened for each policy.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use meed::ResourceKinds;
use meed_workload::changed::Changed;
use meed_workload::{JobSource, TraceError};

use super::source::KindMap;
use super::{LogAssumptions, Logged, LoggedJobs};
use crate::log::read::LogError;

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

    fn jobs(&self, path: &Path) -> Result<&(ResourceKinds, LoggedJobs), LogError> {
        if self.read.get().is_none() {
            let logged = Logged::open(path, self.assumed.run.as_deref())?;
            let jobs = (logged.kinds()?, logged.jobs(&self.assumed)?);
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
    ) -> Result<Box<dyn JobSource + Send>, TraceError> {
        let (own, jobs) = self.jobs(path)?;
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
