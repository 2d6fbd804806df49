//! Tasks that are told to stop for others in a live world's run.
//!
//! | who decides | what becomes of such a task |
//! |---|---|
//! | the recorded policy | what the record says: it was lost, or ended before |
//! | another policy | it is lost when its grace is over, unless it ends before |
//!
//! An attempt that the record lost so ran no shorter than that. Where it is not told to stop at the
//! recorded instant it goes on, and takes as long as the attempt that ended well, but no less than
//! it had run by then.

use meed::{AllocationId, Span, Stop, Time};
use meed_driver::Failed;
use meed_journal::{Fact, Reclaimed, TaskKey};
use meed_sim::world::RunError;

use super::{Mode, World, line_of};
use crate::replay::compare::Difference;

/// How a task stops that was told to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stopping {
    /// The record tells when.
    AsRecorded,
    /// When its grace is over: that is its end.
    AfterGrace,
}

impl World<'_> {
    /// Whether time alone brings decisions here: where the record has them, it says when.
    fn looks_itself(&self) -> bool {
        let is_alone = self.records.is_none() && self.ahead.is_none();
        self.mode == Mode::Otherwise && (is_alone || !self.as_recorded)
    }

    /// When it is decided next though nothing happens. While nothing runs, nothing can be stopped.
    pub(super) fn next_look(&self) -> Option<Time> {
        let looks = self.looks_itself() && !self.ends.is_empty();
        self.driver.next_look().filter(|_| looks)
    }

    /// It was decided who is to stop.
    pub(super) fn told_to_stop(&mut self) {
        let stops = self.driver.take_stops();
        match self.mode {
            Mode::Again => self.compare_stops(&stops),
            Mode::Otherwise => stops.iter().for_each(|stop| self.tell_to_stop(stop)),
            Mode::AsTold => {}
        }
    }

    fn tell_to_stop(&mut self, stop: &Stop) {
        let key = self.key_of(stop.allocation);
        let is_recorded = self.fates.reclaimed_at(&key) == Some(self.now);
        if is_recorded && self.same_start(&key) == Some(stop.allocation) {
            // Where it was not lost it ended as it would have, or ran still when the record ended.
            if self.fates.is_stopped(&key) {
                self.ends_at(stop.allocation, None, Stopping::AsRecorded);
            }
            return;
        }
        self.stops_after(stop.allocation, stop.grace);
    }

    fn stops_after(&mut self, task: AllocationId, grace: Span) {
        let over = self.now.saturating_add(grace);
        let due = self.running.get(&task).and_then(|running| running.due);
        if due.is_none_or(|due| due.0 > over) {
            self.ends_at(task, Some(over), Stopping::AfterGrace);
        }
    }

    fn ends_at(&mut self, task: AllocationId, at: Option<Time>, stopping: Stopping) {
        let Some(running) = self.running.get_mut(&task) else { return };
        if let Some(due) = running.due.take() {
            self.ends.remove(&due);
        }
        if let Some(at) = at {
            self.order += 1;
            running.due = Some((at, self.order));
            self.ends.insert((at, self.order), task);
        }
        running.stopping = Some(stopping);
    }

    /// No record tells any more when tasks stop that were told to.
    pub(super) fn stop_by_grace(&mut self) {
        let Some(rules) = self.driver.engine().policy(meed::QueueId::ROOT).reclaim else { return };
        let stopping: Vec<AllocationId> = self.driver.engine().stopping().collect();
        stopping.into_iter().for_each(|task| self.stops_after(task, rules.grace));
    }

    /// The grace of a task is over.
    pub(super) fn stops(&mut self, task: AllocationId) -> Result<(), Failed> {
        self.count_lost(task);
        self.driver.task_lost(self.now, task, Some("its room was taken back")).map(drop)
    }

    /// Its work is lost where it was told to stop.
    pub(super) fn count_lost(&mut self, task: AllocationId) {
        let engine = self.driver.engine();
        if !engine.stopping().any(|other| other == task) {
            return;
        }
        let (Some(demand), Some(started)) = (engine.demand_of(task), engine.started(task)) else {
            return;
        };
        let Some(live) = self.driver.running(task).and_then(|row| self.driver.job(row.job)) else {
            return;
        };
        let ran = self.now.saturating_since(started).as_micros();
        self.lost.lost(live.queue().index(), demand, ran);
    }

    /// Whether the recorded loss of an attempt, which started here as there, happens here too.
    pub(super) fn is_lost_here(&self, id: AllocationId, key: &TaskKey) -> bool {
        let stopping = self.running.get(&id).and_then(|running| running.stopping);
        self.mode == Mode::Again
            || self.fates.reclaimed_at(key).is_none()
            || stopping == Some(Stopping::AsRecorded)
    }

    fn compare_stops(&mut self, stops: &[Stop]) {
        let mut expected = std::mem::take(&mut self.expected_stops).into_iter();
        for stop in stops {
            let mine = self.key_of(stop.allocation);
            let (line, recorded) = match expected.next() {
                Some((_, theirs)) if theirs.key() == mine => continue,
                Some((line, theirs)) => (line, Some(self.line_of_stop(theirs))),
                // What a crash cut off of the last instant is not known.
                None if self.cut_at == Some(self.now) => return,
                None => (self.line, None),
            };
            let replayed = Some(format!("{mine} is told to stop at {}", self.now));
            self.differs(Difference { line, recorded, replayed });
        }
        if let Some((line, theirs)) = expected.next() {
            let recorded = Some(self.line_of_stop(theirs));
            self.differs(Difference { line, recorded, replayed: None });
        }
    }

    fn line_of_stop(&self, stop: Box<Reclaimed>) -> String {
        line_of(self.now, Fact::TaskReclaimed(stop))
    }

    fn key_of(&self, id: AllocationId) -> TaskKey {
        let row = self.driver.running(id).expect("it runs");
        let job = self.driver.job(row.job).expect("its job lives").key().clone();
        TaskKey { job, task: row.task, attempt: row.attempt }
    }

    /// Loses a task by itself, or ends it.
    pub(super) fn end(&mut self, task: AllocationId) -> Result<(), RunError> {
        // Its job may have failed a moment ago, and taken it along.
        if !self.driver.runs(task) {
            return Ok(());
        }
        let running = self.forget(task);
        let stops = running.as_ref().and_then(|it| it.stopping) == Some(Stopping::AfterGrace);
        let ended = match running.is_some_and(|it| it.fails) {
            _ if stops => self.stops(task),
            true => self.driver.task_failed(self.now, task).map(drop),
            false => self.driver.task_ended(self.now, task).map(drop),
        };
        ended.map_err(|why| RunError::of(self.now, why))
    }
}
