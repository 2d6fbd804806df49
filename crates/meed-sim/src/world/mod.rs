//! The virtual-time world: it knows how long tasks run, the engine does not.
//!
//! One loop over instants. At each: all ends, then arrivals and changes, then decisions; a decision
//! to start makes an end event. Under `static` there is one engine per tenant, each with its
//! tenant's share as its only node, in one virtual time; every other policy is one engine over the
//! whole cluster.
//!
//! Cost: ends wait in a timing wheel (its size is what runs at once); arrivals come sorted from
//! their source, one ahead. Memory grows with what is alive, not with the workload. Bounded by the
//! engine.

mod arrivals;
mod attend;
mod attendant;
mod begin;
mod changes;
mod delays;
mod desk;
mod ends;
mod error;
mod failures;
mod jobs;
mod look;
mod notes;
mod partition;
mod planned;
mod played;
mod run;
mod running;
mod script;
mod setup;
mod stopped;
mod stops;
mod wheel;

pub use attendant::Attendant;
pub(crate) use desk::{Desk, OneDriver};
pub use error::RunError;
pub use failures::Failures;
pub use meed_driver::{CountedSpan, Progress, StopAt};
pub use notes::Looks;
pub(crate) use notes::Most;
pub use notes::overtaken::Widths;
pub(crate) use notes::rooms::Window;
pub(crate) use partition::Partition;
pub(crate) use planned::Planned;
pub use run::{Ran, run};
pub use script::{Script, Told, ToldTo};
pub use setup::WorldSetup;
pub use stops::Stops;

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use meed::memory::expect_at;
use meed::{JobId, JobState, QueueId, Rank, Start, Time};
use meed_driver::{Counting, KeptJob, LiveJob, Sampler, finish_of};
use meed_scenario::changes::TimedChange;
use meed_scenario::grants::Delays;

use crate::accounts::Accounts;
use crate::log::SharedLog;
use arrivals::{Arrivals, earlier};
use ends::Ends;
use notes::jobs::Jobs;
use notes::{Notes, number_of};
use running::{Ending, Running};

/// What the run leaves: the books at rest, and what the world knows besides.
pub(crate) struct Finished<D> {
    pub(crate) desk: D,
    pub(crate) end: Time,
    pub(crate) sampler: Option<Sampler>,
    pub(crate) counting: Option<Counting>,
    pub(crate) jobs: Vec<KeptJob>,
    pub(crate) counts: meed_workload::SourceCounts,
    pub(crate) notes: Notes,
    stops: Stops,
    accounts: Option<Box<Accounts>>,
    /// Messages about the first lines that were skipped.
    pub(crate) bad_lines: Vec<String>,
}

pub(crate) struct World<'a, D: Desk<'a>> {
    desk: D,
    /// Queue of the tree for each queue of the source.
    queues: Vec<Option<QueueId>>,
    ends: Ends,
    arrivals: Arrivals<'a>,
    changes: std::vec::IntoIter<TimedChange>,
    next_change: Option<TimedChange>,
    /// Running tasks, by the slots of `ends`; those that were lost or stopped stand there as well.
    tasks: Vec<Running<D::At>>,
    /// Stages that begin at this instant.
    next_stages: Vec<(D::At, JobId)>,
    jobs_arrived: u64,
    failures: Failures,
    max_attempts: u16,
    stop: StopAt,
    strict: bool,
    sampler: Option<Sampler>,
    /// Looks at both ends of the part that counts, where that is not all.
    counting: Option<Counting>,
    attendant: Option<&'a mut dyn Attendant>,
    accounts: Option<Box<Accounts>>,
    /// Ranks that were said for the coming instant.
    said: Vec<(QueueId, Rank)>,
    log: SharedLog<'a>,
    notes: Notes,
    stops: Stops,
    delays: Delays,
    /// Stages that wait for a heartbeat, in order of time and of being told.
    later: BTreeMap<(Time, u64), (D::At, JobId)>,
    laters: u64,
    beats: delays::Beats<D::At>,
    partitioned: bool,
    /// Decisions that were taken elsewhere, instead of the engine's own.
    script: Option<Script<'a>>,
    /// What starts at this instant.
    starts: Vec<(D::At, Start)>,
    now: Time,
}

/// How many ends before its own a task's rows are asked for, step by step: its slot, its row, the
/// rows that this names, what lies behind them, and behind that. A step takes memory a part of the
/// time between two ends; so few ahead, what was asked for is still in the cache that is next.
const ENDS_AHEAD: [usize; 5] = [10, 8, 6, 4, 2];

/// Instants between two words about progress.
const INSTANTS_PER_PROGRESS: u64 = 4096;

impl<'a, D: Desk<'a>> World<'a, D> {
    /// Runs to the end. With `script`, it decides.
    pub(crate) fn run(
        mut self,
        script: Option<Script<'a>>,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Finished<D>, RunError> {
        self.begin(script)?;
        self.run_to(self.stop.at, progress)?;
        self.finish()
    }

    /// Reads the first job. Before anything else. With `script`, it decides.
    pub(crate) fn begin(&mut self, script: Option<Script<'a>>) -> Result<(), RunError> {
        if script.is_some() {
            self.desk.losses_are_told();
        }
        self.script = script;
        Ok(self.arrivals.fill()?)
    }

    /// Runs until nothing is left that happens at `last` or before.
    pub(crate) fn run_to(
        &mut self,
        last: Time,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<(), RunError> {
        let mut instants = 0u64;
        while let Some(at) = self.next_instant()? {
            if at > last {
                break;
            }
            self.count_until(at);
            self.sample_until(at);
            self.attend(at)?;
            self.now = at;
            self.instant()?;
            if self.notes.looks()
                && let Some((_, driver)) = self.desk.drivers().next()
            {
                self.notes.look(driver);
            }
            if self.notes.found.is_some() {
                break;
            }
            instants += 1;
            if instants.is_multiple_of(INSTANTS_PER_PROGRESS) {
                let fraction = self.arrivals.progress();
                let jobs = self.desk.drivers().map(|(_, one)| one.counted().totals.jobs_ended);
                let word = Progress { now: at, jobs_ended: jobs.sum(), fraction };
                if progress(word).is_break() {
                    return Err(RunError::Stopped { at });
                }
            }
        }
        Ok(())
    }

    /// The next instant at which something happens.
    pub(crate) fn next_instant(&mut self) -> Result<Option<Time>, RunError> {
        // Ends of tasks that were lost or stopped meanwhile are no instants: nothing happens then.
        while self.ends.next_slot().is_some_and(|slot| !self.runs(slot)) {
            self.ends.pop();
        }
        let mut next = earlier(self.ends.next_time(), self.arrivals.next_time());
        if let Some(change) = &self.next_change {
            next = earlier(next, Some(change.at));
        }
        next = earlier(next, self.next_later());
        next = earlier(next, self.next_beat());
        match &mut self.script {
            Some(script) => next = earlier(next, script.next_time()?),
            // By time alone something is decided only while something runs.
            None if self.ends.next_time().is_some() => next = earlier(next, self.desk.next_look()),
            None => {}
        }
        Ok(next)
    }

    /// Goes through one instant, which is not before the last.
    fn instant(&mut self) -> Result<(), RunError> {
        while let Some(slot) = self.ends.pop_at(self.now) {
            self.expect_ends();
            if self.runs(slot) {
                self.end_task(self.tasks[slot as usize])?;
            }
        }
        self.tell_ranks()?;
        while self.next_change.as_ref().is_some_and(|change| change.at == self.now) {
            let change = std::mem::replace(&mut self.next_change, self.changes.next());
            if let Some(change) = change {
                self.stirs();
                self.beats.forget_nodes();
                self.change(change)?;
            }
        }
        self.take_later();
        if !self.next_stages.is_empty() {
            self.stirs();
            for (at, job) in std::mem::take(&mut self.next_stages) {
                self.begin_stage(at, job)?;
            }
        }
        while self.arrivals.next_time() == Some(self.now) {
            let (job, cause) = self.arrivals.pop()?;
            self.expect_arrival(OneDriver::expect_queue);
            self.stirs();
            self.arrive(job, cause)?;
            self.expect_arrival(OneDriver::expect_behind_queue);
        }
        self.decide()
    }

    /// Has rows of the tasks that end next brought, step by step.
    #[inline]
    fn expect_ends(&self) {
        if !self.desk.expects_ends() {
            return;
        }
        let task = |others| {
            let task = &self.tasks[self.ends.coming(others)? as usize];
            Some((self.desk.driver(task.at), task.allocation))
        };
        let [slot, row, rows, behind, last] = ENDS_AHEAD;
        if let Some(slot) = self.ends.coming(slot) {
            expect_at(&self.tasks, slot as usize);
        }
        if let Some((driver, task)) = task(row) {
            driver.expect_task(task);
        }
        if let Some((driver, task)) = task(rows) {
            driver.expect_rows(task);
        }
        if let Some((driver, task)) = task(behind) {
            driver.expect_behind(task);
        }
        if let Some((driver, task)) = task(last) {
            driver.expect_last(task);
        }
    }

    /// The same of the queue for which the next job comes: its rows, and then what lies behind. A
    /// queue that was removed has its rows all the same.
    #[inline]
    fn expect_arrival(&self, expect: impl Fn(&OneDriver<'a>, QueueId)) {
        if let Some(queue) = self.arrivals.next_queue()
            && let Some(Some(queue)) = self.queues.get(queue as usize)
            && let Some((at, leaf)) = self.desk.route(*queue)
        {
            expect(self.desk.driver(at), leaf);
        }
    }

    /// Whether the task of that slot still runs.
    #[inline]
    fn runs(&self, slot: u32) -> bool {
        let task = &self.tasks[slot as usize];
        self.desk.driver(task.at).runs(task.allocation)
    }

    fn end_task(&mut self, task: Running<D::At>) -> Result<(), RunError> {
        let Running { at, allocation, ending } = task;
        self.stirs();
        self.notes.end(self.now, allocation, matches!(ending, Ending::Stopped));
        let driver = self.desk.driver_mut(at);
        let ended = match ending {
            Ending::Done => driver.task_ended(self.now, allocation),
            Ending::Cut => driver.task_cut(self.now, allocation),
            Ending::Fails => driver.task_failed(self.now, allocation),
            Ending::Stopped => return self.task_stopped(at, allocation),
        };
        let ended = ended.map_err(|why| RunError::of(self.now, why))?;
        let drained = ended.state == JobState::Drained;
        if self.delays.is_off() {
            if drained {
                self.next_stages.push((at, ended.task.job));
            }
        } else if matches!(ending, Ending::Done | Ending::Cut) && ended.gone.is_none() {
            self.ended_late(at, ended.task.job, ended.task.task, drained);
        }
        match &ended.gone {
            Some(job) => {
                let is_known = !matches!(ending, Ending::Cut);
                self.job_gone(at, job, is_known && ended.state == JobState::Done)
            }
            None => Ok(()),
        }
    }

    /// A job is there no more.
    fn job_gone(&mut self, at: D::At, job: &LiveJob<Planned>, done: bool) -> Result<(), RunError> {
        let now = self.now;
        if let Some(jobs) = &mut self.notes.jobs {
            jobs.gone(self.desk.in_tree(at, job.queue()), job, done.then_some(now));
        }
        if let Some(chain) = job.detail.chain {
            self.arrivals.chain_ended(chain, now);
        }
        self.desk.job_gone(now, at).map_err(|why| RunError::of(now, why))
    }

    fn decide(&mut self) -> Result<(), RunError> {
        self.know_nodes();
        if self.script.is_some() {
            return self.do_as_told();
        }
        if !self.beats.is_off() {
            return self.offer_late();
        }
        let mut starts = std::mem::take(&mut self.starts);
        let decided = match self.desk.next_look() == Some(self.now) {
            true => self.desk.look(self.now, &mut starts),
            false => self.desk.decide(&mut starts),
        };
        decided.map_err(|why| RunError::of(self.now, why))?;
        // At most instants nothing starts.
        if !starts.is_empty() {
            for (at, start) in starts.drain(..) {
                self.start_task(at, start)?;
            }
        }
        self.starts = starts;
        for (at, stop) in self.desk.take_stops() {
            self.tell_to_stop(at, stop.allocation, stop.grace);
        }
        Ok(())
    }

    fn start_task(&mut self, at: D::At, start: Start) -> Result<(), RunError> {
        let driver = self.desk.driver(at);
        self.notes.start(driver, &start);
        if !self.delays.is_off() {
            self.start_late(at, &start);
            return Ok(());
        }
        let (lasts, ending) = self.attempt_of(at, &start);
        let task = Running { at, allocation: start.allocation, ending };
        self.put_end(self.now.saturating_add(lasts), task);
        Ok(())
    }

    /// A task ends so then, unless it is lost before.
    #[inline]
    fn put_end(&mut self, end: Time, task: Running<D::At>) {
        let slot = self.ends.push(end) as usize;
        match self.tasks.get_mut(slot) {
            Some(place) => *place = task,
            // Slots are dense: a new one is always the next.
            None => self.tasks.push(task),
        }
    }

    /// All jobs one by one; those that are there at the end last, in order of arrival.
    fn all_jobs(&self, mut jobs: Jobs) -> Vec<KeptJob> {
        let all = self.desk.drivers().flat_map(|(at, one)| one.jobs().map(move |job| (at, job)));
        let left: BTreeMap<u64, _> = all.map(|(at, job)| (number_of(job), (at, job))).collect();
        for (at, job) in left.into_values() {
            jobs.gone(self.desk.in_tree(at, job.queue()), job, None);
        }
        jobs.all()
    }

    fn sample_until(&mut self, at: Time) {
        let Some(sampler) = &mut self.sampler else { return };
        while let Some(t) = sampler.due_before(at) {
            sampler.sample(t, &mut self.desk);
        }
    }

    /// What counts begins or ends by `at`: the books are looked at as of then. Nothing is changed,
    /// so what is sampled or seen of times before comes after that.
    fn count_until(&mut self, at: Time) {
        let Some(counting) = &mut self.counting else { return };
        while let Some(due) = counting.due(at) {
            counting.look(due, &self.desk);
        }
    }

    fn finish(mut self) -> Result<Finished<D>, RunError> {
        let end = self.now.max(if self.stop.hold { self.stop.at } else { Time::ZERO });
        self.count_until(end);
        self.sample_until(end);
        self.attend_end(end)?;
        if let Some(accounts) = &mut self.accounts {
            accounts.ends(end, &self.desk);
        }
        if let Some(sampler) = &mut self.sampler {
            sampler.last(end, &mut self.desk);
        }
        self.desk.finish(end);
        let jobs = self.notes.jobs.take().map_or_else(Vec::new, |jobs| self.all_jobs(*jobs));
        if let Some((_, driver)) = self.desk.drivers().next() {
            self.notes.finish(driver);
        }
        let last = finish_of(&self.desk.totals());
        self.desk.note(end, || last).map_err(|why| RunError::of(end, why))?;
        self.log.borrow_mut().finish()?;
        Ok(Finished {
            desk: self.desk,
            end,
            sampler: self.sampler,
            counting: self.counting,
            jobs,
            counts: self.arrivals.counts(),
            bad_lines: self.arrivals.bad_lines(),
            notes: self.notes,
            stops: self.stops,
            accounts: self.accounts,
        })
    }
}
