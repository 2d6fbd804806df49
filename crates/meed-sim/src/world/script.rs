//! Decisions that were taken elsewhere: a recorded run is played back, whatever the engine would
//! decide.
//!
//! Arrivals, ends and changes happen as in every run; only who starts where comes from the log. So
//! a record can be made of a log whose decisions are not this program's: another version's, or
//! another world's.
//!
//! A job is known by the number of its arrival.

use std::sync::Arc;

use meed::{Span, Time};
use meed_driver::Failed;
use meed_journal::JobKey;

use super::desk::Desk;
use super::{RunError, World};

/// What a log tells of a task that was decided.
#[derive(Clone, Debug)]
pub enum ToldTo {
    /// It starts on this node.
    Start(String),
    /// It is to stop within this time.
    Stop(Span),
    /// It was lost, where it still runs: its node shrank.
    Lost,
}

/// A decision, as a log tells it.
#[derive(Clone, Debug)]
pub struct Told {
    /// When.
    pub at: Time,
    /// Number of the job's arrival.
    pub number: u64,
    /// Its key in the log.
    pub job: JobKey,
    /// Its number in the job.
    pub task: u32,
    /// What was decided.
    pub what: ToldTo,
    /// Where it stands.
    pub line: u64,
}

/// Starts in their order.
pub struct Script<'a> {
    file: Arc<str>,
    starts: Box<dyn FnMut() -> Result<Option<Told>, RunError> + 'a>,
    ahead: Option<Told>,
    over: bool,
}

impl<'a> Script<'a> {
    /// Decisions that `starts` tells in their order, of a log that messages call `file`.
    pub fn new(
        file: Arc<str>,
        starts: impl FnMut() -> Result<Option<Told>, RunError> + 'a,
    ) -> Script<'a> {
        Script { file, starts: Box::new(starts), ahead: None, over: false }
    }

    fn peek(&mut self) -> Result<Option<&Told>, RunError> {
        if self.ahead.is_none() && !self.over {
            self.ahead = (self.starts)()?;
            self.over = self.ahead.is_none();
        }
        Ok(self.ahead.as_ref())
    }

    pub(super) fn next_time(&mut self) -> Result<Option<Time>, RunError> {
        Ok(self.peek()?.map(|told| told.at))
    }

    fn pop_at(&mut self, now: Time) -> Result<Option<Told>, RunError> {
        match self.peek()? {
            Some(told) if told.at == now => Ok(self.ahead.take()),
            _ => Ok(None),
        }
    }
}

impl<'a, D: Desk<'a>> World<'a, D> {
    /// The engine decides from now on, and nothing comes from outside: no arrival, no change.
    pub(crate) fn leave_alone(&mut self) {
        self.script = None;
        self.arrivals.close();
        (self.next_change, self.changes) = (None, Vec::new().into_iter());
    }

    pub(super) fn do_as_told(&mut self) -> Result<(), RunError> {
        // What was touched has been decided elsewhere.
        self.desk.decided_elsewhere();
        while let Some(script) = &mut self.script {
            let Some(told) = script.pop_at(self.now)? else { return Ok(()) };
            let file = Arc::clone(&script.file);
            self.do_told(&told).map_err(|what| match what {
                Ok(error) => error,
                Err(what) => RunError::Played { file, line: told.line, what },
            })?;
        }
        Ok(())
    }

    /// Does what is told; in words why that cannot be.
    fn do_told(&mut self, told: &Told) -> Result<(), Result<RunError, String>> {
        let Told { number, job, task, what, .. } = told;
        let found = self.find_job(*number);
        let (at, id) = found.ok_or_else(|| Err(format!("job {job} is not there then")))?;
        // Nothing else need have happened at this instant.
        self.rest_until(self.now).map_err(Ok)?;
        let driver = self.desk.driver_mut(at);
        let node = match what {
            ToldTo::Start(node) => node,
            ToldTo::Lost => {
                let running = driver.engine().running_task(id, *task);
                let Some(running) = running else { return Ok(()) };
                let lost = driver.task_lost(self.now, running, None);
                return lost.map(drop).map_err(|why| Ok(RunError::of(self.now, why)));
            }
            ToldTo::Stop(grace) => {
                let running = driver.engine().running_task(id, *task);
                let running = running
                    .ok_or_else(|| Err(format!("job {job}, task {task}: it does not run then")))?;
                driver.stop_as_told(running).map_err(|why| Ok(RunError::of(self.now, why)))?;
                self.tell_to_stop(at, running, *grace);
                return Ok(());
            }
        };
        let place = driver.node_named(node);
        let place = place.ok_or_else(|| Err(format!("there is no node `{node}` then")))?;
        match driver.start_as_told(id, *task, place) {
            Ok(start) => self.start_task(at, start).map_err(Ok),
            Err(Failed::Rejected(why)) => Err(Err(format!("job {job}, task {task}: {why}"))),
            Err(failed) => Err(Ok(RunError::of(self.now, failed))),
        }
    }
}
