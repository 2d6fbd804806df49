//! A live world's run from its beginning to its record.

use std::collections::{BTreeMap, VecDeque};
use std::ops::ControlFlow;
use std::sync::Arc;

use meed::{Config, Time};
use meed_driver::record::RunRecord;
use meed_driver::{Driver, Ending, Progress, Sampler, finish_of, outcome};
use meed_scenario::log::read::LogReader;
use meed_scenario::logged::begun::{Begun, Came};
use meed_scenario::plan::NewPlacement;
use meed_sim::holds::HoldHistory;
use meed_sim::log::{Log, SharedLog};
use meed_sim::world::{RunError, Stops};

use super::{Fates, Mode, World};
use crate::replay::compare::Difference;

/// With what a run begins.
pub(crate) struct Begin<'a> {
    pub(crate) mode: Mode,
    pub(crate) config: Config,
    pub(crate) placement: NewPlacement,
    pub(crate) seed: u64,
    pub(crate) max_attempts: u16,
    /// Whether queues that come later have the policy that they were recorded with.
    pub(crate) as_recorded: bool,
    /// The records, which messages call `file`.
    pub(crate) records: LogReader,
    pub(crate) file: Arc<str>,
    pub(crate) fates: Arc<Fates>,
    /// With what it begins, where that is in the middle.
    pub(crate) begun: Option<Arc<Begun>>,
    /// The last instant, where the record may be cut short in it.
    pub(crate) cut_at: Option<Time>,
    pub(crate) series_points: usize,
    pub(crate) log: Log<'a>,
}

/// What came out.
pub(crate) struct Ran {
    pub(crate) record: RunRecord,
    pub(crate) difference: Option<Difference>,
    pub(crate) left_out: u64,
}

/// Instants between two words about progress.
const INSTANTS_PER_PROGRESS: u64 = 4096;

impl<'a> World<'a> {
    pub(crate) fn new(begin: Begin<'a>) -> Result<World<'a>, RunError> {
        let place = (begin.placement)(begin.config.kinds.len(), begin.seed);
        let log = SharedLog::new(begin.log.into());
        let driver: Driver<Came, SharedLog<'a>> = match &begin.begun {
            None => Driver::new(begin.config, place, log)?,
            Some(begun) => begun.driver(place, log).map_err(|what| RunError::Played {
                file: Arc::clone(&begin.file),
                line: 1,
                what,
            })?,
        };
        let driver = driver.find_by_key();
        let points = begin.series_points;
        let begun = begin.begun;
        let mut world = World {
            sampler: (points > 0).then(|| Sampler::new(points, &driver)),
            driver,
            mode: begin.mode,
            file: begin.file,
            records: Some(begin.records),
            ahead: None,
            fates: begin.fates,
            running: BTreeMap::new(),
            ends: BTreeMap::new(),
            order: 0,
            came: begun.as_ref().map_or(0, |begun| begun.jobs.len() as u64),
            max_attempts: begin.max_attempts,
            as_recorded: begin.as_recorded,
            cut_at: begin.cut_at,
            expected: VecDeque::new(),
            expected_stops: VecDeque::new(),
            line: 0,
            difference: None,
            left_out: 0,
            holds: HoldHistory::default(),
            lost: Stops::default(),
            now: Time::ZERO,
        };
        world.now = world.driver.engine().now();
        for id in world.driver.engine().running_ids().collect::<Vec<_>>() {
            let engine = world.driver.engine();
            let since = engine.started(id).unwrap_or(world.now);
            let failures = engine.failures_of(id);
            world.starts(id, since, failures);
        }
        Ok(world)
    }

    /// Runs until nothing is left that happens at `last` or before, or up to the first decision
    /// that is not the recorded one: from there on what was recorded need not be possible here.
    pub(crate) fn run_to(
        &mut self,
        last: Time,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<(), RunError> {
        let mut instants = 0u64;
        while self.difference.is_none()
            && let Some(at) = self.next_instant()?.filter(|at| *at <= last)
        {
            self.sample_until(at);
            self.instant(at)?;
            self.holds.look(self.driver.engine());
            instants += 1;
            if instants.is_multiple_of(INSTANTS_PER_PROGRESS) {
                let fraction = self.records.as_ref().and_then(|read| read.source().progress());
                let jobs_ended = self.driver.counted().totals.jobs_ended;
                if progress(Progress { now: at, jobs_ended, fraction }).is_break() {
                    return Err(RunError::Stopped { at });
                }
            }
        }
        Ok(())
    }

    /// Runs to `end`, up to which it is measured; under a policy that is called `name`.
    pub(crate) fn run(
        mut self,
        name: &str,
        end: Time,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Ran, RunError> {
        self.run_to(end, progress)?;
        self.sample_until(end);
        if let Some(sampler) = &mut self.sampler {
            sampler.last(end, &mut self.driver);
        }
        self.driver.finish(end);
        let last = finish_of(&self.driver.counted().totals);
        self.driver.note(end, || last).map_err(|why| RunError::of(end, why))?;
        self.driver.journal().borrow_mut().finish()?;
        let ending = Ending { end, sampler: self.sampler, jobs: Vec::new(), counting: None };
        let mut record = outcome(name, &mut self.driver, ending)
            .map_err(|why| RunError::Change { at: end, why })?;
        if self.driver.engine().reclaims() {
            self.lost.tell(self.driver.engine(), &mut record);
        }
        Ok(Ran { record, difference: self.difference, left_out: self.left_out })
    }

    fn sample_until(&mut self, at: Time) {
        let Some(sampler) = &mut self.sampler else { return };
        while let Some(t) = sampler.due_before(at) {
            sampler.sample(t, &mut self.driver);
        }
    }

    /// The first decision so far that is not the recorded one.
    pub(crate) fn difference(&mut self) -> Option<Difference> {
        self.difference.take()
    }

    /// Nothing comes from the records any more; this program decides.
    pub(crate) fn leave_alone(&mut self) {
        (self.records, self.ahead, self.mode) = (None, None, Mode::Otherwise);
        self.stop_by_grace();
    }

    /// What became of reservations so far.
    pub(crate) fn hold_history(&self) -> &HoldHistory {
        &self.holds
    }

    pub(crate) fn driver(&self) -> &Driver<Came, SharedLog<'a>> {
        &self.driver
    }
}
