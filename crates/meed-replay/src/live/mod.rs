//! A live world's journal, run again: what happened comes from the records, what starts is decided
//! anew, and how long tasks run is what they took ([`fates`]).
//!
//! | [`Mode`] | what happens | who decides |
//! |---|---|---|
//! | `Again` | all that was recorded | this program, under the recorded policy; each decision is compared |
//! | `AsTold` | all that was recorded, ends too | the record |
//! | `Otherwise` | what came from outside, as far as it can be under another policy | this program |
//!
//! What came from outside: jobs, changes of nodes and queues, tasks that another scheduler started.
//! They come at their recorded instants. What happened to a start (it was undone, the task was lost
//! or turned out to run elsewhere) happens again where the same attempt starts at the same instant
//! on the same node; any other start goes well. What cannot be (a task is withdrawn that has ended)
//! is left out and counted.
//!
//! Invariant: within an instant things happen in the order of the record, ends that it does not
//! have before all else. So under the recorded policy all decisions are the recorded ones.

mod fates;
mod run;
mod stops;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use meed::{AllocationId, JobId, QueueId, Rejected, Time};
use meed_config::policy::PolicySpec;
use meed_driver::{Driver, Failed, Sampler, Taken};
use meed_journal::{Arrival, Fact, Kind, Name, QueueEntry, Reclaimed, Record, Started, TaskKey};
use meed_scenario::log::read::{LogError, LogReader};
use meed_scenario::logged::begun::Came;
use meed_sim::holds::HoldHistory;
use meed_sim::log::SharedLog;
use meed_sim::world::{RunError, Stops};
use serde::Deserialize;

use crate::replay::compare::Difference;
pub(crate) use fates::Fates;
pub(crate) use run::Begin;
use stops::Stopping;

/// Who decides. See the module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    Again,
    AsTold,
    Otherwise,
}

/// A task that runs.
struct Running {
    started: Time,
    node: Name,
    /// When it ends, where that is known, and its place among the ends of one instant.
    due: Option<(Time, u64)>,
    fails: bool,
    /// It was told to stop.
    stopping: Option<Stopping>,
}

/// See the module.
pub(crate) struct World<'a> {
    driver: Driver<Came, SharedLog<'a>>,
    mode: Mode,
    file: Arc<str>,
    /// The records that are left; none once the world is left alone.
    records: Option<LogReader>,
    ahead: Option<(u64, Record)>,
    fates: Arc<Fates>,
    running: BTreeMap<AllocationId, Running>,
    ends: BTreeMap<(Time, u64), AllocationId>,
    order: u64,
    came: u64,
    max_attempts: u16,
    /// Queues that come later have the policy that they were recorded with.
    as_recorded: bool,
    /// The last instant of the record, where it may be cut short.
    cut_at: Option<Time>,
    /// Recorded starts of this instant, not met yet.
    expected: VecDeque<(u64, Started)>,
    /// The same of tasks that were told to stop.
    expected_stops: VecDeque<(u64, Box<Reclaimed>)>,
    /// Of the last record that was read.
    line: u64,
    /// The first decision that is not the recorded one.
    difference: Option<Difference>,
    /// Facts that could not be.
    left_out: u64,
    sampler: Option<Sampler>,
    /// What became of reservations.
    holds: HoldHistory,
    /// What was lost of tasks that were told to stop.
    lost: Stops,
    now: Time,
}

impl World<'_> {
    fn played(&self, line: u64, what: String) -> RunError {
        RunError::Played { file: Arc::clone(&self.file), line, what }
    }

    fn peek(&mut self) -> Result<Option<Time>, RunError> {
        if self.ahead.is_none()
            && let Some(records) = &mut self.records
        {
            let read = records.next_any().map_err(LogError::from);
            self.ahead = read.map_err(|error| RunError::Trace(error.into()))?;
            if self.ahead.is_none() {
                self.records = None;
            }
        }
        Ok(self.ahead.as_ref().map(|(_, record)| record.t))
    }

    /// The next instant at which something happens.
    pub(crate) fn next_instant(&mut self) -> Result<Option<Time>, RunError> {
        while let Some(end) = self.ends.first_entry()
            && !self.driver.runs(*end.get())
        {
            // It was lost or stopped meanwhile.
            self.running.remove(&end.remove());
        }
        let end = self.ends.first_key_value().map(|(&(at, _), _)| at);
        // Up to where things went as told a task may be beyond its end: it ends now. Now is where
        // the books stand: a look may have brought them beyond the last instant.
        let now = self.now.max(self.driver.engine().now());
        let end = end.filter(|_| self.mode != Mode::AsTold).map(|at| at.max(now));
        let record = self.peek()?;
        Ok([end, record, self.next_look()].into_iter().flatten().min())
    }

    /// Goes through the instant `at`, which is the next.
    fn instant(&mut self, at: Time) -> Result<(), RunError> {
        self.now = at;
        let mut records = Vec::new();
        while self.peek()? == Some(at) {
            records.extend(self.ahead.take());
        }
        let mut happened = self.next_look() == Some(at);
        if self.mode != Mode::AsTold {
            for task in self.due_by_themselves(&records) {
                self.end(task)?;
                happened = true;
            }
        }
        for (line, record) in records {
            self.line = line;
            happened |= record.fact.kind().happens();
            self.record(line, record)?;
        }
        match happened && self.mode != Mode::AsTold {
            true => self.decide(),
            false => Ok(()),
        }
    }

    /// Tasks that end now and of which no record of this instant tells so, in order.
    fn due_by_themselves(&self, records: &[(u64, Record)]) -> Vec<AllocationId> {
        let told = |(_, record): &(u64, Record)| match &record.fact {
            Fact::TaskEnded(task) | Fact::TaskFailed(task) => {
                self.driver.task_of(&task.job, task.task)
            }
            _ => None,
        };
        let told: BTreeSet<AllocationId> = records.iter().filter_map(told).collect();
        let due = self.ends.range(..=(self.now, u64::MAX));
        let runs = |task: &AllocationId| self.driver.runs(*task) && !told.contains(task);
        due.map(|(_, &task)| task).filter(runs).collect()
    }

    fn forget(&mut self, task: AllocationId) -> Option<Running> {
        let running = self.running.remove(&task)?;
        if let Some(due) = running.due {
            self.ends.remove(&due);
        }
        Some(running)
    }

    /// One record of this instant.
    fn record(&mut self, line: u64, record: Record) -> Result<(), RunError> {
        let number = self.came;
        self.came += u64::from(matches!(record.fact.kind(), Kind::JobArrived | Kind::JobRefused));
        if self.mode == Mode::AsTold {
            return self.as_told(line, number, &record.fact);
        }
        match record.fact {
            Fact::TaskEnded(ref task) | Fact::TaskFailed(ref task) => {
                let id = self.driver.task_of(&task.job, task.task);
                let due = |id: &AllocationId| {
                    self.running.get(id).is_some_and(|it| it.due.is_some_and(|d| d.0 == self.now))
                };
                id.filter(due).map_or(Ok(()), |id| self.end(id))
            }
            Fact::TaskStarted(start) if start.since.is_none() => {
                self.expected.push_back((line, start));
                Ok(())
            }
            Fact::TaskReclaimed(stop) => {
                if self.mode == Mode::Again {
                    self.expected_stops.push_back((line, stop));
                }
                Ok(())
            }
            Fact::StartFailed(ref task) | Fact::TaskLost(ref task) => {
                let key = task.key();
                let same = self.same_start(&key).filter(|&id| self.is_lost_here(id, &key));
                same.map_or(Ok(()), |id| {
                    self.forget(id);
                    self.happens(line, number, &record.fact)
                })
            }
            Fact::TaskMoved(ref moved) => {
                let (job, task, attempt) = (moved.job.clone(), moved.task, moved.attempt);
                let same = self.same_start(&TaskKey { job, task, attempt });
                same.map_or(Ok(()), |_| self.happens(line, number, &record.fact))
            }
            Fact::QueueAdded(ref form) if !self.as_recorded => {
                let form = self.under_this_policy(form).map_err(|why| self.played(line, why))?;
                self.happens(line, number, &Fact::QueueAdded(Box::new(form)))
            }
            // Another policy holds all the time.
            Fact::PoliciesChanged(_) if !self.as_recorded => self.advance(self.now),
            Fact::JobRefused(ref refusal) if self.mode == Mode::Otherwise => {
                self.arrives(line, number, &refusal.arrival)
            }
            Fact::JobArrived(ref arrival) if self.mode == Mode::Otherwise => {
                self.arrives(line, number, arrival)
            }
            ref fact => self.happens(line, number, fact),
        }
    }

    /// The attempt, where it started when and where the record says: what happened to it happens
    /// again.
    fn same_start(&self, task: &TaskKey) -> Option<AllocationId> {
        let id = self.driver.task_of(&task.job, task.task)?;
        let running = self.running.get(&id)?;
        let attempt = self.driver.running(id)?.attempt == task.attempt;
        let (started, node) = self.fates.started(task)?;
        (attempt && running.started == *started && running.node == *node).then_some(id)
    }

    fn arrives(&mut self, line: u64, number: u64, arrival: &Arrival) -> Result<(), RunError> {
        let fact = Fact::JobArrived(Box::new(arrival.clone()));
        match self.tell(number, &fact) {
            Err(Failed::Rejected(why)) => {
                let refused = self.driver.job_refused(self.now, &why, |_| arrival.clone());
                refused.map_err(|why| RunError::of(self.now, why))
            }
            told => self.judge(line, told),
        }
    }

    /// Something from outside happens.
    fn happens(&mut self, line: u64, number: u64, fact: &Fact) -> Result<(), RunError> {
        if !fact.kind().happens() {
            return self.advance(self.now);
        }
        if let Fact::TaskLost(task) = fact
            && let Some(id) = self.driver.task_of(&task.job, task.task)
        {
            self.count_lost(id);
        }
        let told = self.tell(number, fact);
        if let (Ok(()), Fact::TaskStarted(start)) = (&told, fact) {
            self.adopted(start);
        }
        self.judge(line, told)
    }

    fn tell(&mut self, number: u64, fact: &Fact) -> Result<(), Failed> {
        let max_attempts = self.max_attempts;
        let mut take = |_: &Arrival| Taken { detail: Came { number }, max_attempts };
        self.driver.losses_are_told(self.mode != Mode::Otherwise);
        self.driver.tell_again(self.now, fact, &mut take)
    }

    /// Under another policy something may not be there any more; under the recorded one it is.
    fn judge(&mut self, line: u64, told: Result<(), Failed>) -> Result<(), RunError> {
        match told {
            Ok(()) => Ok(()),
            Err(Failed::Rejected(_) | Failed::Record(_)) if self.mode == Mode::Otherwise => {
                self.left_out += 1;
                Ok(())
            }
            Err(Failed::Rejected(why)) => Err(self.played(line, why.to_string())),
            Err(Failed::Record(what)) => Err(self.played(line, what)),
            Err(failed) => Err(RunError::of(self.now, failed)),
        }
    }

    fn as_told(&mut self, line: u64, number: u64, fact: &Fact) -> Result<(), RunError> {
        self.happens(line, number, fact)?;
        if let Fact::TaskStarted(start) = fact
            && start.since.is_none()
            && let Some(id) = self.driver.task_of(&start.job, start.task)
        {
            self.starts(id, self.now, start.failures);
        }
        Ok(())
    }

    fn adopted(&mut self, start: &Started) {
        if let (Some(since), Some(id)) = (start.since, self.driver.task_of(&start.job, start.task))
        {
            self.starts(id, since, start.failures);
        }
    }

    /// A task runs since `since`: when it ends.
    fn starts(&mut self, id: AllocationId, since: Time, failures: u16) {
        let row = *self.driver.running(id).expect("it runs");
        let job = self.driver.job(row.job).expect("its job lives").key().clone();
        let key = TaskKey { job, task: row.task, attempt: row.attempt };
        let node: Name = self.driver.engine().node(row.node).0.name.as_str().into();
        let fate = self.fates.of_attempt(&key, failures, (since, &node), self.mode);
        let due = fate.map(|fate| {
            self.order += 1;
            (since.saturating_add(fate.lasts).max(self.now), self.order)
        });
        if let Some(due) = due {
            self.ends.insert(due, id);
        }
        let fails = fate.is_some_and(|fate| fate.fails);
        self.running.insert(id, Running { started: since, node, due, fails, stopping: None });
    }

    fn decide(&mut self) -> Result<(), RunError> {
        let mut starts = Vec::new();
        let decided = self.driver.decide_at(self.now, |start| starts.push(start));
        decided.map_err(|why| RunError::of(self.now, why))?;
        for start in &starts {
            self.starts(start.allocation, self.now, start.failures);
        }
        if self.mode == Mode::Again {
            starts.iter().for_each(|start| self.compare(start));
            if let Some((line, start)) = self.expected.front() {
                let recorded = Some(line_of(self.now, Fact::TaskStarted(start.clone())));
                self.differs(Difference { line: *line, recorded, replayed: None });
            }
        }
        self.expected.clear();
        self.told_to_stop();
        Ok(())
    }

    fn compare(&mut self, start: &meed::Start) {
        let row = *self.driver.running(start.allocation).expect("it has just started");
        let live = self.driver.job(row.job).expect("it lives");
        let engine = self.driver.engine();
        let mine = Started {
            queue: engine.queue(live.queue()).name.into(),
            job: live.key().clone(),
            task: row.task,
            attempt: row.attempt,
            node: engine.node(row.node).0.name.as_str().into(),
            failures: start.failures,
            by: None,
            since: None,
            reason: None,
            detail: None,
        };
        let theirs = self.expected.pop_front();
        let who = |start: &Started| (start.key(), start.queue.clone(), start.node.clone());
        let (line, recorded) = match theirs {
            Some((_, theirs)) if who(&theirs) == who(&mine) => return,
            Some((line, theirs)) => (line, Some(line_of(self.now, Fact::TaskStarted(theirs)))),
            // What a crash cut off of the last instant is not known.
            None if self.cut_at == Some(self.now) => return,
            None => (self.line, None),
        };
        let replayed = Some(line_of(self.now, Fact::TaskStarted(mine)));
        self.differs(Difference { line, recorded, replayed });
    }

    fn differs(&mut self, difference: Difference) {
        self.difference.get_or_insert(difference);
    }

    /// A queue that comes, with the policy that it would have had under this run's.
    fn under_this_policy(&self, form: &QueueEntry) -> Result<QueueEntry, String> {
        let kinds = self.driver.engine().kinds();
        let own = PolicySpec::deserialize(&form.own).map_err(|why| why.to_string())?;
        let root = PolicySpec::of(self.driver.engine().policy(QueueId::ROOT), kinds);
        let policy = match serde_json::to_value(own.over(&root)) {
            Ok(serde_json::Value::Object(keys)) => Some(keys),
            _ => unreachable!("keys are an object of plain values"),
        };
        Ok(QueueEntry { policy, ..form.clone() })
    }

    /// The live job that arrived as number `number`.
    pub(crate) fn find_job(&self, number: u64) -> Option<JobId> {
        self.driver.jobs().find(|job| job.detail.number == number).map(|job| job.id())
    }

    /// Lets time pass to `now` without anything happening.
    pub(crate) fn advance(&mut self, now: Time) -> Result<(), RunError> {
        let refused = |why: Rejected| RunError::Change { at: now, why };
        meed_driver::Books::advance(&mut self.driver, now).map_err(refused)
    }
}

fn line_of(t: Time, fact: Fact) -> String {
    let mut line = Vec::new();
    Record { seq: 0, t, fact }.encode(&mut line);
    String::from_utf8_lossy(&line).into_owned()
}
