//! A log's jobs as a source: those that came at a time of their own when it was reached, those that
//! the end of another caused after that end, whenever it is.
//!
//! Memory: the jobs of closed chains (which come in another order under another policy); all others
//! are read as they come. A chain has the jobs that were recorded, no more: where it goes faster
//! than it did, it ends earlier.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use meed::{ResourceKinds, Time};
use meed_journal::{Arrival, Fact, Kind};
use meed_workload::{Cause, Job, JobSource, SourceCounts, TraceError};

use crate::changes::TimedChange;
use crate::log::forms::{change_of, job_of};
use crate::log::read::{LogError, LogFile, LogReader, Run};

/// Kinds of records that tell of a job that comes.
pub const ARRIVALS: &[Kind] = &[Kind::JobArrived, Kind::JobRefused];

/// Kinds of records that make a workload.
const WORKLOAD: &[Kind] = &[
    Kind::JobArrived,
    Kind::JobRefused,
    Kind::JobCancelled,
    Kind::NodeJoined,
    Kind::NodeLeft,
    Kind::NodeResized,
    Kind::QueueChanged,
    Kind::QueueRemoved,
];

/// The job that comes, whether it was refused or not.
pub fn arrival_of(fact: &Fact) -> Option<&Arrival> {
    match fact {
        Fact::JobArrived(arrival) => Some(arrival),
        Fact::JobRefused(refusal) => Some(&refusal.arrival),
        _ => None,
    }
}

/// What a look through a run finds of its workload.
///
/// [`LogFile`] has an example of how the run is opened.
///
/// ```
/// use meed::{ResourceKinds, Unit};
/// use meed_scenario::logged::recorded::RecordedWorkload;
///
/// let kinds = ResourceKinds::new(vec![("cpu".to_owned(), Unit::Milli)])?;
/// let none = RecordedWorkload::none(&kinds);
/// assert!(none.queues.is_empty() && none.changes.is_empty());
/// # Ok::<(), meed::ConfigError>(())
/// ```
#[derive(Clone)]
pub struct RecordedWorkload {
    /// The resources of its cluster.
    pub kinds: ResourceKinds,
    /// All queues that jobs name.
    pub queues: Arc<Vec<String>>,
    numbers: Arc<BTreeMap<String, u32>>,
    /// Jobs that the ends of others caused, by chain.
    chains: Arc<BTreeMap<u32, VecDeque<(Cause, Job)>>>,
    /// Changes of cluster and tree, in order of time.
    pub changes: Vec<TimedChange>,
    /// What the run took for granted.
    pub assumptions: Vec<String>,
    /// What the clock said at time 0, where sources are to tell it.
    pub clock_us: Option<u64>,
}

impl RecordedWorkload {
    /// No jobs: of a world that makes its own.
    pub fn none(kinds: &ResourceKinds) -> RecordedWorkload {
        RecordedWorkload {
            kinds: kinds.clone(),
            queues: Arc::default(),
            numbers: Arc::default(),
            chains: Arc::default(),
            changes: Vec::new(),
            assumptions: Vec::new(),
            clock_us: None,
        }
    }

    /// Looks through `run`.
    pub fn of(
        log: &LogFile,
        run: &Run,
        kinds: &ResourceKinds,
    ) -> Result<RecordedWorkload, LogError> {
        let queues = run.header.queues.iter().map(|form| form.queue.to_string());
        RecordedWorkload::of_queues(log, run, kinds, queues.collect())
    }

    /// The same, of these queues and what others jobs name.
    pub fn of_queues(
        log: &LogFile,
        run: &Run,
        kinds: &ResourceKinds,
        mut queues: Vec<String>,
    ) -> Result<RecordedWorkload, LogError> {
        let mut numbers: BTreeMap<String, u32> = queues.iter().cloned().zip(0..).collect();
        let mut chains: BTreeMap<u32, VecDeque<(Cause, Job)>> = BTreeMap::new();
        let mut changes = Vec::new();
        let mut reader = log.read(run)?;
        while let Some((line, record)) = reader.next(WORKLOAD)? {
            let t = record.t;
            let Some(arrival) = arrival_of(&record.fact) else {
                let change =
                    change_of(&record.fact, kinds).map_err(|what| reader.wrong(line, what))?;
                changes.extend(change.map(|change| TimedChange { at: t, change }));
                continue;
            };
            let next = queues.len() as u32;
            let queue = match numbers.get(arrival.queue.as_str()) {
                Some(queue) => *queue,
                None => {
                    queues.push(arrival.queue.to_string());
                    numbers.insert(arrival.queue.to_string(), next);
                    next
                }
            };
            // Also what comes by itself is looked at: what is wrong with it is told before anything
            // runs.
            let job = job_of(arrival, t, kinds, queues.len(), queue);
            let (job, cause) = job.map_err(|what| reader.wrong(line, what))?;
            if let (Some(cause), Some(chain)) = (cause, job.chain) {
                chains.entry(chain).or_default().push_back((cause, job));
            }
        }
        Ok(RecordedWorkload {
            kinds: kinds.clone(),
            queues: Arc::new(queues),
            numbers: Arc::new(numbers),
            chains: Arc::new(chains),
            changes,
            assumptions: run.header.assumptions.clone(),
            clock_us: None,
        })
    }

    /// The jobs from the beginning.
    pub fn source(&self, log: &LogFile, run: &Run) -> Result<LogSource, LogError> {
        Ok(LogSource {
            workload: self.clone(),
            chains: (*self.chains).clone(),
            causes: BTreeMap::new(),
            reader: log.read(run)?,
            handed_out: 0,
        })
    }
}

/// A log's jobs as a source: those with a time of their own come at that time, those that the end
/// of another caused come as long after that end as they did.
///
/// [`RecordedWorkload::source`] makes it; the page of [`RecordedWorkload`] has an example.
pub struct LogSource {
    workload: RecordedWorkload,
    chains: BTreeMap<u32, VecDeque<(Cause, Job)>>,
    causes: BTreeMap<u32, Cause>,
    reader: LogReader,
    handed_out: u64,
}

impl JobSource for LogSource {
    fn queues(&self) -> &[String] {
        &self.workload.queues
    }

    fn next_job(&mut self) -> Result<Option<Job>, TraceError> {
        let RecordedWorkload { kinds, queues, numbers, .. } = &self.workload;
        let job = loop {
            let Some((line, record)) = self.reader.next(ARRIVALS).map_err(LogError::from)? else {
                break None;
            };
            let Some(arrival) = arrival_of(&record.fact) else { continue };
            // Seen in the look through the run.
            let queue = numbers.get(arrival.queue.as_str()).copied().unwrap_or(0);
            let job = job_of(arrival, record.t, kinds, queues.len(), queue);
            let wrong = |what| LogError::from(self.reader.wrong(line, what));
            let (job, cause) = job.map_err(wrong)?;
            if cause.is_none() {
                break Some(job);
            }
        };
        self.handed_out += u64::from(job.is_some());
        Ok(job)
    }

    fn job_ended(&mut self, chain: u32, now: Time) -> Option<Job> {
        let (cause, mut job) = self.chains.get_mut(&chain)?.pop_front()?;
        self.causes.insert(chain, cause);
        job.submit = cause.not_before.max(now.saturating_add(cause.pause));
        self.handed_out += 1;
        Some(job)
    }

    fn cause(&self, chain: u32) -> Option<Cause> {
        self.causes.get(&chain).copied()
    }

    fn counts(&self) -> SourceCounts {
        SourceCounts { jobs: self.handed_out, ..SourceCounts::default() }
    }

    fn assumptions(&self) -> Vec<String> {
        self.workload.assumptions.clone()
    }

    fn clock_us(&self) -> Option<u64> {
        self.workload.clock_us
    }

    fn progress(&self) -> Option<f64> {
        self.reader.source().progress()
    }
}
