//! Where a run's jobs come from: the sources of a scenario, put together; and jobs that a program
//! hands over.
//!
//! A program that has its jobs in memory (a table of columns, for one) hands over how to open them:
//! each run reads them from their beginning, and no text and no list of all jobs lies between.
//! Their queues are tenants as those of a trace are: the scenario need not name them.

use std::path::Path;
use std::sync::Arc;

use meed::ResourceKinds;
use meed_workload::changed::Changed;
use meed_workload::generate::Generator;
use meed_workload::limits::AtLimit;
use meed_workload::macro_workload::MacroSource;
use meed_workload::merge::Merge;
use meed_workload::noted::Noted;
use meed_workload::outliers::WithoutOutliers;
use meed_workload::stretch::Load;
use meed_workload::{JobSource, OnBadLine, TraceError};
use serde::Serialize;

use super::{LoadError, Scenario, TraceReading, is_closed};

/// Jobs that a program hands over.
///
/// [`Scenario::of_data_with`] takes it, and has an example; what it opens is run by a [`Scenario`].
pub trait GivenJobs: Send + Sync {
    /// They from their beginning, for a cluster of these resources: in order of submission, each of
    /// which passes [`meed_workload::Job::check`]. The same each time, for every run asks anew.
    fn open(&self, kinds: &ResourceKinds) -> Result<Box<dyn JobSource + Send>, TraceError>;
}

impl Scenario {
    /// [`Scenario::of_data`] with jobs that `data` do not say. A scenario with a trace, or of the
    /// MapReduce world, takes none.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use meed::{ResourceKinds, Resources, Span, Time};
    /// use meed_scenario::{GivenJobs, Scenario};
    /// use meed_workload::inline::Inline;
    /// use meed_workload::{Durations, Job, JobGroup, JobLabel, JobSource, OnBadLine, TraceError};
    /// use serde_json::json;
    ///
    /// /// A job of a minute every hour.
    /// struct Hourly;
    ///
    /// impl GivenJobs for Hourly {
    ///     fn open(&self, kinds: &ResourceKinds) -> Result<Box<dyn JobSource + Send>, TraceError> {
    ///         let minute = Durations::Same(Span::from_secs(60).unwrap_or_default());
    ///         let job = |hour: u64| Job {
    ///             label: JobLabel::Number(hour),
    ///             queue: 0,
    ///             submit: Time::from_secs(3600 * hour).unwrap_or_default(),
    ///             weight: 1,
    ///             chain: None,
    ///             groups: vec![JobGroup::new(1, Resources::new(&[1000]), minute.clone())],
    ///         };
    ///         let queues = vec!["clock".to_owned()];
    ///         Ok(Box::new(Inline::new(queues, (0..24).map(job).collect(), kinds.len())?))
    ///     }
    /// }
    ///
    /// let cluster = json!({ "resources": ["slot"], "node": [{ "capacity": { "slot": 2 } }] });
    /// let data = json!({ "cluster": cluster });
    /// let jobs = Arc::new(Hourly);
    /// let day = Scenario::of_data_with("a day", &data, jobs, ".".as_ref(), OnBadLine::Stop)?;
    /// assert_eq!(day.queue_names().collect::<Vec<_>>(), ["clock"]);
    /// # Ok::<(), meed_scenario::LoadError>(())
    /// ```
    pub fn of_data_with(
        name: &str,
        data: &impl Serialize,
        jobs: Arc<dyn GivenJobs>,
        folder: &Path,
        reading: impl Into<TraceReading>,
    ) -> Result<Scenario, LoadError> {
        Scenario::of_value(name, data, Some(jobs), folder, &reading.into())
    }

    /// Learns the queues of jobs that are handed over.
    pub(super) fn open_given(&mut self) -> Result<(), LoadError> {
        let Some(given) = &self.given else { return Ok(()) };
        if self.trace.is_some() {
            let what = "has a [trace], and is handed jobs as well; it takes one of them";
            return Err(self.error(what).into());
        }
        let source = given.open(&self.kinds)?;
        self.trace_queues = source.queues().to_vec();
        meed_config::queues::add(&mut self.queues, &self.trace_queues, &mut self.warnings);
        Ok(())
    }

    /// The workload, from its beginning.
    pub fn source(
        &self,
        seed: u64,
        on_bad_line: OnBadLine,
    ) -> Result<Box<dyn JobSource + Send>, TraceError> {
        let mut sources: Vec<Box<dyn JobSource + Send>> = Vec::new();
        if !self.jobs.is_empty() {
            sources.push(Box::new(self.jobs.source(self.kinds.len())?));
        }
        for spec in &self.generators {
            let generator = Generator::new(spec.clone(), self.kinds.len(), seed)?;
            // When a chain's next job comes follows from the end of the last: there is nothing to
            // stretch.
            sources.push(match is_closed(spec) || self.load == Load::ONE {
                true => Box::new(generator),
                false => Box::new(Changed::new(generator, self.load)),
            });
        }
        for spec in &self.workloads {
            let source = MacroSource::new(spec, self.kinds.len(), seed)?;
            sources.push(match spec.is_closed() || self.load == Load::ONE {
                true => Box::new(source),
                false => Box::new(Changed::new(source, self.load)),
            });
        }
        if let Some(trace) = &self.trace {
            let source = trace.open(&self.kinds, on_bad_line, Some(&self.trace_queues))?;
            let outliers = self.outliers.as_ref().filter(|outliers| !outliers.is_empty());
            let source: Box<dyn JobSource + Send> = match outliers {
                None => source,
                Some(outliers) => Box::new(WithoutOutliers::new(source, Arc::clone(outliers))),
            };
            sources.push(match self.load == Load::ONE {
                true => source,
                false => Box::new(Changed::new(source, self.load)),
            });
        }
        if let Some(given) = &self.given {
            let source = given.open(&self.kinds)?;
            sources.push(match self.load == Load::ONE {
                true => source,
                false => Box::new(Changed::new(source, self.load)),
            });
        }
        let source: Box<dyn JobSource + Send> = match sources.len() {
            1 => sources.remove(0),
            _ => Box::new(Merge::new(sources)?),
        };
        let source: Box<dyn JobSource + Send> = match self.cluster_notes.is_empty() {
            true => source,
            false => Box::new(Noted::new(source, self.cluster_notes.clone())),
        };
        Ok(match self.enforce_limit {
            true => Box::new(Changed::new(source, AtLimit)),
            false => source,
        })
    }
}
