//! Decisions that were taken elsewhere: a recorded run is played back, whatever the engine would
//! decide.
//!
//! Arrivals, ends and changes happen as in every run; only who starts where comes from the log. So
//! a record can be made of a log whose decisions are not this program's: another version's, or
//! another world's.
//!
//! A job is known by queue and label. Labels need not be distinct: of several the first that can
//! start is meant.

use std::sync::Arc;

use meed::Time;
use meed_workload::JobLabel;

use super::desk::Desk;
use super::{RunError, World};

/// A start, as a log tells it.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) at: Time,
    pub(crate) queue: String,
    pub(crate) job: JobLabel,
    pub(crate) task: u32,
    pub(crate) node: String,
    /// Where it stands.
    pub(crate) line: u64,
}

/// Starts in their order.
pub(crate) struct Script<'a> {
    file: Arc<str>,
    starts: Box<dyn FnMut() -> Result<Option<Told>, RunError> + 'a>,
    ahead: Option<Told>,
    over: bool,
}

impl<'a> Script<'a> {
    pub(crate) fn new(
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

impl<'a, D: Desk> World<'a, D> {
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
            self.start_told(&told).map_err(|what| match what {
                Ok(error) => error,
                Err(what) => RunError::Played { file, line: told.line, what },
            })?;
        }
        Ok(())
    }

    /// Starts what is told; in words why that cannot be.
    fn start_told(&mut self, told: &Told) -> Result<(), Result<RunError, String>> {
        let Told { queue, job, task, node, .. } = told;
        let route = self.desk.tree().find_queue(queue).and_then(|id| self.desk.route(id));
        let (at, leaf) = route.ok_or_else(|| Err(format!("there is no leaf queue `{queue}`")))?;
        let driver = self.desk.driver(at);
        let named = driver.jobs().filter(|live| live.label() == job && live.queue() == leaf);
        let mut jobs: Vec<(u64, meed::JobId)> =
            named.map(|live| (live.detail.number, live.id())).collect();
        jobs.sort_unstable();
        let place = driver.node_named(node);
        let place = place.ok_or_else(|| Err(format!("there is no node `{node}` then")))?;
        let mut why = format!("job {job} of queue `{queue}` is not there then");
        for (_, id) in jobs {
            match self.desk.driver_mut(at).start_as_told(id, *task, place) {
                Ok(start) => return self.start_task(at, start).map_err(Ok),
                Err(rejected) => why = format!("job {job}, task {task}: {rejected}"),
            }
        }
        Err(Err(why))
    }
}
