//! The run of a log that is taken as a workload: its header, and with what it begins.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use meed::place::Placement;
use meed::{Infeasible, ResourceKinds, Resources, Time};
use meed_config::TextError;
use meed_driver::{Driver, Off};
use meed_journal::Header;
use meed_workload::CLOCK_END_US;

use super::begun::{Came, begun};
use crate::log::infeasible::of_detail;
use crate::log::read::{LogError, LogFile, Run};
use crate::plan::NewPlacement;

/// A run of a log.
pub(crate) struct Logged {
    pub(super) log: LogFile,
    pub(super) run: Run,
    /// With what it begins, where that is in the middle.
    pub(super) head: Option<Head>,
}

/// A driver that is only looked at.
pub(super) type Head = Driver<Came, Off>;

/// How a run placed tasks: its placement, for so many resources and drawn from that seed.
pub(crate) struct Placing {
    pub(crate) new: NewPlacement,
    pub(crate) kinds: usize,
    pub(crate) seed: u64,
}

impl Placing {
    fn placement(&self) -> Box<dyn Placement> {
        (self.new)(self.kinds, self.seed)
    }
}

/// Finds it in the header of a run. What is wrong with the header is an error that is about the
/// place of the second argument, `FILE:LINE`.
pub(crate) type PlacingOf = fn(&Header, &str) -> Result<Placing, TextError>;

/// How long after the beginning of its run something was told, as an instant.
pub(super) fn shifted(begin: Time, t: Time) -> Time {
    Time::ZERO.saturating_add(t.saturating_since(begin))
}

impl Logged {
    /// The run of the log at `path` that `which` names.
    pub(crate) fn open(
        path: &Path,
        which: Option<&str>,
        placing: PlacingOf,
    ) -> Result<Logged, LogError> {
        Logged::of(LogFile::open(path)?, which, placing)
    }

    /// The same of an opened log.
    pub(crate) fn of(
        log: LogFile,
        which: Option<&str>,
        placing: PlacingOf,
    ) -> Result<Logged, LogError> {
        let run = log.run(which)?.clone();
        if run.header.world == meed_mapreduce::WORLD {
            let what = "is of the MapReduce world, in which tasks take as long as others let them: \
                a workload cannot hold them; `meed replay` runs it under other policies";
            return Err(LogError::whole(log.file(), what));
        }
        let mut logged = Logged { log, run, head: None };
        if logged.is_live() {
            logged.head = logged.read_head(placing)?;
        }
        Ok(logged)
    }

    /// The driver with which it begins, where that is in the middle.
    fn read_head(&self, placing: PlacingOf) -> Result<Option<Head>, LogError> {
        let Logged { log, run, .. } = self;
        let place = format!("{}:{}", log.name(), run.first_line);
        let placing = placing(&run.header, &place)?;
        match begun(log, run, || placing.placement())? {
            None => Ok(None),
            Some(begun) => {
                let driver = begun.driver(placing.placement(), Off);
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
    pub(super) fn about(&self) -> String {
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
    pub(super) fn waited_for_nodes(&self) -> Result<bool, LogError> {
        let of_header = of_detail(&self.run.header.detail);
        let of_header = of_header.map_err(|what| self.wrong_header(what))?;
        let of_head = self.head.as_ref().map(|head| head.engine().infeasible());
        Ok(of_header == Infeasible::Wait || of_head == Some(Infeasible::Wait))
    }

    /// The resources of its cluster.
    pub(crate) fn kinds(&self) -> Result<ResourceKinds, LogError> {
        self.run.header.kinds().map_err(|what| self.wrong_header(what))
    }

    /// What is wrong with the first line of the run.
    pub(super) fn wrong_header(&self, what: String) -> LogError {
        LogError::Line { file: Arc::clone(self.log.file()), line: self.run.first_line, what }
    }

    /// What strangers use of nodes when it begins in the middle.
    pub(super) fn strangers(&self) -> BTreeMap<String, Resources> {
        let engine = self.head.iter().map(Driver::engine);
        let nodes = engine.flat_map(|engine| engine.node_ids().map(move |id| (engine, id)));
        let up = nodes.filter(|(engine, id)| engine.is_up(*id));
        up.map(|(engine, id)| (engine.node(id).0.name.clone(), engine.used_by_others(id))).collect()
    }

    /// What the clock said at time 0 of the workload, in microseconds since 1970.
    pub(super) fn clock_us(&self) -> Option<u64> {
        let begin = self.run.begin.as_micros();
        let at = self.run.header.epoch_us.and_then(|epoch| epoch.checked_add(begin));
        at.filter(|&at| at < CLOCK_END_US)
    }

    /// The queues of its header, parents included.
    pub(super) fn queue_names(&self) -> Vec<String> {
        self.header().queues.iter().map(|entry| entry.queue.to_string()).collect()
    }

    /// What is said of a record that ends in the middle.
    pub(super) fn cut(&self) -> String {
        format!(
            "log: it goes to {} (line {}); what came later is not known",
            self.run.end, self.run.last_line
        )
    }
}
