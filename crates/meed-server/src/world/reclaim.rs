//! Room that is taken back: a task that was told to stop for another is asked to end, and waits
//! again when it has.
//!
//! | the server dies | what the next one does |
//! |---|---|
//! | before the decision is durable | nothing was decided |
//! | between decision and signal | asks again: the engine says who is stopping ([`World::told_before`]) |
//! | between signal and end | asks again, which a supervisor that was asked does not hear; or finds the result |
//!
//! The order stands in the task's folder before the signal is sent, so the supervisor knows the
//! grace and the reason. The engine counts the task as running until it has stopped.

use std::collections::BTreeMap;

use meed::{QueueId, Span};
use meed_journal::{Fact, JobKey, TaskKey};

use super::{World, WorldError};
use crate::books::{JobRow, TaskRow};
use crate::run::{EndCause, StopOrder, TaskEnd};

impl World {
    /// Whether it is to be decided though nothing has happened.
    pub(super) fn is_to_look(&self) -> bool {
        self.live.next_look().is_some_and(|at| at <= self.meta.clock.now())
    }

    /// How long until it is to be decided though nothing happens.
    pub fn next_look(&self) -> Option<std::time::Duration> {
        let at = self.live.next_look()?;
        let left = at.saturating_since(self.meta.clock.now());
        Some(std::time::Duration::from_micros(left.as_micros()))
    }

    /// A task is told to stop, for the job of that key.
    pub(super) fn take_back(
        &mut self,
        task: &TaskKey,
        grace: Span,
        winner: Option<&JobKey>,
    ) -> Vec<Fact> {
        let order = StopOrder {
            grace_ms: grace.as_micros().div_ceil(1000),
            winner: winner.and_then(JobRow::id_of),
        };
        let Some(run) = self.runs.get_mut(task) else { return Vec::new() };
        run.gives_back = Some(order);
        if run.watched.is_some() {
            self.ask_to_give_back(task);
            return Vec::new();
        }
        // It waits for its processors or GPUs: nothing of it was begun.
        self.free(task);
        let why = "its room was taken back before it began";
        vec![Fact::start_failed(task.clone(), Some(why))]
    }

    /// Leaves the order, and asks the supervisor to end.
    pub(super) fn ask_to_give_back(&mut self, task: &TaskKey) {
        let Some(run) = self.runs.get(task) else { return };
        let (Some(order), Some(watched)) = (run.gives_back, run.watched.as_ref()) else { return };
        // Without the order it is stopped as well, by its own grace.
        if let Err(error) = run.folder.write_stop(&order) {
            self.remarks.push(format!("{}: {error}", run.folder.path().display()));
        }
        watched.ask_to_end();
        if let Some(id) = JobRow::id_of(&task.job) {
            self.watched.touch(id);
        }
    }

    /// After a restart: tasks that were told to stop and run still, with the order for each.
    pub(super) fn told_before(
        &self,
        winners: &BTreeMap<TaskKey, JobKey>,
    ) -> BTreeMap<TaskKey, StopOrder> {
        let rules = self.live.engine().policy(QueueId::ROOT).reclaim;
        let grace_ms = rules.map_or(0, |rules| rules.grace.as_micros().div_ceil(1000));
        let order = |task: TaskKey| {
            let winner = winners.get(&task).and_then(JobRow::id_of);
            (task, StopOrder { grace_ms, winner })
        };
        self.live.stopping().map(|running| order(running.task)).collect()
    }

    /// A task has stopped for another, and waits again: into the books, with the work that is lost.
    pub(super) fn count_stop(&mut self, task: &TaskKey, ended: TaskEnd) -> Result<(), WorldError> {
        let Some(id) = JobRow::id_of(&task.job) else { return Ok(()) };
        let ran = ended.began.map_or(0, |began| ended.at.boot_us.saturating_sub(began.boot_us));
        if let Some(row) = self.row_mut(id) {
            row.stops += 1;
            row.lost_us = row.lost_us.saturating_add(ran);
        }
        let number = self.number(task)?;
        let before = self.books.task(id, number)?.unwrap_or_default();
        let (attempt, stops, ended) = (self.attempt(task)?, before.stops + 1, Some(ended));
        let row = TaskRow { attempt, stops, ended, ..before };
        self.writes.task(id, number, &row);
        Ok(())
    }

    /// The journal holds a loss that the books may not have yet.
    pub(super) fn count_loss_again(&mut self, task: &TaskKey) -> Result<(), WorldError> {
        let folder = self.places.run(task);
        let ended = folder.ended();
        let ended = ended.map_err(WorldError::system(folder.path().display().to_string()))?;
        if let Some(ended) = ended.filter(|ended| ended.cause == EndCause::Reclaimed) {
            self.count_stop(task, ended)?;
            self.write(false)?;
            self.over.push(folder);
        }
        Ok(())
    }
}
