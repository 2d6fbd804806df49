//! A log as a workload: what came when, from which queue, what it asked for, and how long it ran.
//!
//! | a run of | its jobs | how long tasks run |
//! |---|---|---|
//! | the simulator | those of its arrivals, closed chains too | as its arrivals say |
//! | a live world | those of its arrivals, and tasks that were added | as its ends tell (`ran`) |
//!
//! Nothing else of the record counts: who started where and when is decided anew, by any policy.
//! That is how this differs from a replay, which keeps to the recorded instants of all that came
//! from outside, and so can say nothing of a record that begins in the middle. Nodes, queues and
//! policies of the run are a scenario of their own (`cluster.rs`, `scenario/of_logged.rs`).
//!
//! Time 0 is the first instant of the run. Invariant: a simulated run's workload under the same
//! policy gives that run again, line by line. Cost: a simulated run is read as it goes, a live one
//! whole, O(tasks that started).

pub(crate) mod cluster;
mod head;
mod jobs;
mod labels;
mod ran;
mod source;
#[cfg(test)]
mod tests;
mod trace;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use meed::{Infeasible, ResourceKinds, Resources, Time};
use meed_driver::{Driver, Off};
use meed_journal::Header;
use meed_workload::{CLOCK_END_US, Job, JobSource, TraceError};

use crate::live::{Came, begun};
use crate::log::read::{LogError, LogFile, Run};
use crate::replay::{WORLD, Workload};
use crate::scenario::{Scenario, infeasible};
use jobs::LiveJobs;
use source::LiveSource;
pub(crate) use trace::LogTrace;

/// Which run of a log is meant, and what is taken of it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct LogAssumptions {
    /// Its number, or its policy; without it the only one.
    pub(crate) run: Option<String>,
    /// Tasks of which no end is known are left out.
    pub(crate) drops_unfinished: bool,
}

/// A run of a log.
pub(crate) struct Logged {
    log: LogFile,
    run: Run,
    /// With what it begins, where that is in the middle.
    head: Option<Head>,
}

/// A driver that is only looked at.
type Head = Driver<Came, Off>;

/// Its jobs, which can be handed out again and again.
#[derive(Clone)]
pub(crate) enum LoggedJobs {
    Simulated(Box<(LogFile, Run, Workload)>),
    Live(Arc<LiveJobs>),
}

/// How long after the beginning of its run something was told, as an instant.
fn shifted(begin: Time, t: Time) -> Time {
    Time::ZERO.saturating_add(t.saturating_since(begin))
}

/// All jobs of the run of `log` that `which` names by number or policy, as a workload. Its nodes
/// and queues are read as well: what is wrong with them is an error.
pub fn workload_of(log: LogFile, which: Option<&str>) -> Result<Vec<Job>, LogError> {
    let logged = Logged::of(log, which)?;
    cluster::LoggedCluster::read(&logged, &logged.kinds()?)?;
    let mut source = logged.jobs(&LogAssumptions::default())?.source()?;
    let mut jobs = Vec::new();
    let wrong = |why: TraceError| LogError::whole(logged.log.file(), why.to_string());
    while let Some(job) = source.next_job().map_err(wrong)? {
        jobs.push(job);
    }
    Ok(jobs)
}

impl Logged {
    /// The run of the log at `path` that `which` names.
    pub(crate) fn open(path: &Path, which: Option<&str>) -> Result<Logged, LogError> {
        Logged::of(LogFile::open(path)?, which)
    }

    fn of(log: LogFile, which: Option<&str>) -> Result<Logged, LogError> {
        let run = log.run(which)?.clone();
        if run.header.world == WORLD {
            let what = "is of the MapReduce world, in which tasks take as long as others let them: \
                a workload cannot hold them; `meed replay` runs it under other policies";
            return Err(LogError::whole(log.file(), what));
        }
        let mut logged = Logged { log, run, head: None };
        if logged.is_live() {
            logged.head = logged.read_head()?;
        }
        Ok(logged)
    }

    /// The driver with which it begins, where that is in the middle.
    fn read_head(&self) -> Result<Option<Head>, LogError> {
        let Logged { log, run, .. } = self;
        let place = format!("{}:{}", log.name(), run.first_line);
        let scenario = Scenario::of_header(&run.header, &place)?;
        let plan = scenario.recorded_plan(&run.header, &place)?;
        let (kinds, seed) = (plan.config.kinds.len(), scenario.seed);
        let place = || (plan.placement)(kinds, seed);
        match begun(log, run, place)? {
            None => Ok(None),
            Some(begun) => {
                let driver = begun.driver(place(), Off);
                let wrong = |what| LogError::whole(log.file(), what);
                let driver = driver.map_err(wrong)?;
                if *driver.engine().kinds() != self.kinds()? {
                    let names: Vec<&str> = driver.engine().kinds().names().collect();
                    let what = format!(
                        "the state that it begins with is of other resources ({}) than its first \
                         line, or of others in size or unit",
                        names.join(", ")
                    );
                    return Err(self.wrong_header(what));
                }
                Ok(Some(driver))
            }
        }
    }

    /// What the workload is of, in words.
    fn about(&self) -> String {
        let Run { header, number, begin, .. } = &self.run;
        let policy = &header.policy;
        let since = match *begin {
            Time::ZERO => String::new(),
            begin => format!(", {begin} after the beginning of its clock"),
        };
        format!(
            "log: run {number}, of the world {}, decided by {policy}; time 0 is its first \
             instant{since}; tasks run as long as the attempt that ended well and those that \
             failed before it together; tasks added to a job later come as another job of its name",
            header.world
        )
    }

    /// The first line of the run.
    pub(crate) fn header(&self) -> &Header {
        &self.run.header
    }

    /// Its number in the log, where that holds several.
    pub(crate) fn number(&self) -> Option<usize> {
        (self.log.runs().len() > 1).then_some(self.run.number)
    }

    /// Whether the ends tell how long tasks run.
    pub(crate) fn is_live(&self) -> bool {
        !self.run.header.world.is_empty()
    }

    /// Whether tasks that no node could hold waited for one that can when it began.
    fn waited_for_nodes(&self) -> Result<bool, LogError> {
        let of_header = infeasible::of_detail(&self.run.header.detail);
        let of_header = of_header.map_err(|what| self.wrong_header(what))?;
        let of_head = self.head.as_ref().map(|head| head.engine().infeasible());
        Ok(of_header == Infeasible::Wait || of_head == Some(Infeasible::Wait))
    }

    /// The resources of its cluster.
    pub(crate) fn kinds(&self) -> Result<ResourceKinds, LogError> {
        self.run.header.kinds().map_err(|what| self.wrong_header(what))
    }

    /// What is wrong with the first line of the run.
    fn wrong_header(&self, what: String) -> LogError {
        LogError::Line { file: Arc::clone(self.log.file()), line: self.run.first_line, what }
    }

    /// What strangers use of nodes when it begins in the middle.
    fn strangers(&self) -> BTreeMap<String, Resources> {
        let engine = self.head.iter().map(Driver::engine);
        let nodes = engine.flat_map(|engine| engine.node_ids().map(move |id| (engine, id)));
        let up = nodes.filter(|(engine, id)| engine.is_up(*id));
        up.map(|(engine, id)| (engine.node(id).0.name.clone(), engine.used_by_others(id))).collect()
    }

    /// What the clock said at time 0 of the workload, in microseconds since 1970.
    fn clock_us(&self) -> Option<u64> {
        let begin = self.run.begin.as_micros();
        let at = self.run.header.epoch_us.and_then(|epoch| epoch.checked_add(begin));
        at.filter(|&at| at < CLOCK_END_US)
    }

    /// Its jobs, in the resources of its cluster.
    pub(crate) fn jobs(&self, assumed: &LogAssumptions) -> Result<LoggedJobs, LogError> {
        let kinds = self.kinds()?;
        if self.is_live() {
            return Ok(LoggedJobs::Live(Arc::new(LiveJobs::read(self, &kinds, assumed)?)));
        }
        let leaves = self.leaves();
        let mut workload = Workload::of_queues(&self.log, &self.run, &kinds, leaves)?;
        workload.clock_us = self.clock_us();
        if !self.run.finished {
            workload.assumptions.push(self.cut());
        }
        Ok(LoggedJobs::Simulated(Box::new((self.log.clone(), self.run.clone(), workload))))
    }

    /// What is said of a record that ends in the middle.
    fn cut(&self) -> String {
        format!(
            "log: it goes to {} (line {}); what came later is not known",
            self.run.end, self.run.last_line
        )
    }

    /// Queues of the header without others below them.
    fn leaves(&self) -> Vec<String> {
        let names = self.run.header.queues.iter().map(|entry| entry.queue.to_string());
        jobs::leaves(&names.collect::<Vec<_>>()).0
    }
}

impl LoggedJobs {
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
