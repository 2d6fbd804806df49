//! Tasks start and end.

use meed::Time;
use meed::{AllocationId, Effect, Event, JobId, JobState, NodeId, QueueId, Start, Stop, TakeBack};
use meed_journal::{Fact, JobKey, LevelChoice, Name, Outcome, Reclaimed, ReclaimedFor};
use meed_journal::{StartReason, Started, TaskFact};

use super::{Driver, Telling};
use crate::index::Index;
use crate::journal::{Failed, Journal};
use crate::rows::{LiveJob, Rows, Task};
use crate::tally::Tally;

/// What the end of a task did.
///
/// ```
/// # use meed::place::FirstFit;
/// # use meed::{Config, JobSpec, NodeSpec, Policy, QueueSpec, ResourceKinds, Resources};
/// # use meed::{TaskGroup, Time, Unit};
/// # use meed_driver::{Driver, NewJob};
/// # let root = Policy::preset("fair").ok_or("no such preset")?;
/// # let config = Config {
/// #     kinds: ResourceKinds::new(vec![("cpu".to_owned(), Unit::Milli)])?,
/// #     measured: 0,
/// #     queues: vec![QueueSpec::new("physics", root.clone())],
/// #     nodes: vec![NodeSpec::new("n1", Resources::new(&[2000]))],
/// #     root,
/// # };
/// # let mut driver = Driver::new(config, Box::new(FirstFit::new(1)), Vec::new())?;
/// # let queue = driver.queue_named("physics").ok_or("declared")?;
/// # let groups = [TaskGroup::new(3, Resources::new(&[1000]))];
/// # let new = || NewJob { key: 7.into(), name: None, detail: 0 };
/// # let job = driver.job_arrived(Time::ZERO, JobSpec::new(queue, &groups), new, |_, _, _| {})?;
/// # let mut starts = Vec::new();
/// # driver.decide(|start| starts.push(start))?;
/// use meed::JobState;
/// let ended = driver.task_ended(Time::ZERO, starts[0].allocation)?;
/// assert_eq!((ended.task.task, ended.state), (0, JobState::Active));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Ended<J> {
    /// The task.
    pub task: Task,
    /// What became of its job.
    pub state: JobState,
    /// The job, where that was its end; else it is still [`Driver::job`].
    pub gone: Option<LiveJob<J>>,
    /// Its other running tasks, where the job has failed: the world must stop them.
    pub stopped: Vec<Task>,
}

/// Tasks end.
impl<J, K: Journal> Driver<J, K> {
    /// A task has ended well.
    #[inline]
    pub fn task_ended(&mut self, now: Time, task: AllocationId) -> Result<Ended<J>, Failed> {
        let (task, state, stopped) = self.end(now, task, Event::TaskEnded(task))?;
        let (queue, submit) = {
            let live = self.live_mut(task.job);
            (live.queue, live.submit)
        };
        self.tally.task_ended(queue, submit);
        self.ended(now, task, state, &stopped, Fact::TaskEnded)
    }

    /// The same of a task of a job of which nobody knows how long it takes: it ran still when its
    /// log ended. Its job counts as unfinished, and is in no figure of times.
    pub fn task_cut(&mut self, now: Time, task: AllocationId) -> Result<Ended<J>, Failed> {
        self.tally.cuts(true);
        let ended = self.task_ended(now, task);
        self.tally.cuts(false);
        ended
    }

    /// A task has failed; it waits again until its job's attempts are used up.
    pub fn task_failed(&mut self, now: Time, task: AllocationId) -> Result<Ended<J>, Failed> {
        let (task, state, stopped) = self.end(now, task, Event::TaskFailed(task))?;
        self.live_mut(task.job).waits_again(task.task, now);
        self.ended(now, task, state, &stopped, Fact::TaskFailed)
    }

    #[inline]
    pub(super) fn end(
        &mut self,
        now: Time,
        allocation: AllocationId,
        event: Event<'_>,
    ) -> Result<(Task, JobState, Vec<AllocationId>), Failed> {
        let Effect::Ended { state, stopped, .. } = self.event(now, event)? else {
            unreachable!("an end's effect is `Ended`")
        };
        Ok((self.take_task(allocation), state, stopped))
    }

    #[inline]
    fn ended(
        &mut self,
        now: Time,
        task: Task,
        state: JobState,
        stopped: &[AllocationId],
        what: fn(TaskFact) -> Fact,
    ) -> Result<Ended<J>, Failed> {
        self.tell(now, |told| what(told.task(&task)))?;
        let mut ended = Ended { task, state, gone: None, stopped: Vec::new() };
        let outcome = match state {
            JobState::Active | JobState::Drained => return Ok(ended),
            JobState::Done => Outcome::Done,
            JobState::Failed => Outcome::Failed,
        };
        ended.stopped = self.take_tasks(stopped);
        self.tell_tasks(now, &ended.stopped, Fact::TaskStopped)?;
        self.end_job(now, task.job, outcome, &mut ended.gone)?;
        Ok(ended)
    }

    /// The task will end soon: has its row brought ([`meed::View::expect_task`]). The first of
    /// four steps; nothing changes, and no world need ask.
    #[inline]
    pub fn expect_task(&self, task: AllocationId) {
        self.tasks.expect(task.slot());
        self.engine.view().expect_task(task);
    }

    /// The second step, when the task's row is at hand: has the rows of its job, its node and its
    /// queue brought.
    #[inline]
    pub fn expect_rows(&self, task: AllocationId) {
        if let Some(row) = self.running(task) {
            self.jobs.expect(row.job.slot());
            self.engine.view().expect_rows(task);
        }
    }

    /// The third step, when those are at hand: has the rest of the job's row brought, the counts of
    /// its queue, and what [`meed::View::expect_behind`] names.
    #[inline]
    pub fn expect_behind(&self, task: AllocationId) {
        if let Some(live) = self.running(task).and_then(|row| self.jobs.get(row.job.slot())) {
            live.expect();
            self.tally.expect(live.queue);
            self.engine.view().expect_behind(task);
        }
    }

    /// The last step, when those are at hand: has the place brought where the job's time will
    /// stand, and what [`meed::View::expect_last`] names.
    #[inline]
    pub fn expect_last(&self, task: AllocationId) {
        if let Some(live) = self.running(task).and_then(|row| self.jobs.get(row.job.slot())) {
            self.tally.expect_behind(live.queue);
            self.engine.view().expect_last(task);
        }
    }

    /// A job will come for the queue soon: has the queue's rows brought. The first of two steps.
    #[inline]
    pub fn expect_queue(&self, queue: QueueId) {
        self.engine.view().expect_queue(queue);
        self.tally.expect(queue);
    }

    /// The second step, when those are at hand ([`meed::View::expect_behind_queue`]).
    #[inline]
    pub fn expect_behind_queue(&self, queue: QueueId) {
        self.engine.view().expect_behind_queue(queue);
    }

    /// Whether the task still runs: it has not ended, was not lost or stopped.
    #[inline]
    pub fn runs(&self, task: AllocationId) -> bool {
        self.running(task).is_some()
    }

    /// A task that runs.
    #[inline]
    pub fn running(&self, task: AllocationId) -> Option<&Task> {
        self.tasks.get(task.slot()).filter(|row| row.allocation == task)
    }

    /// The running task of that job and number, where keys are kept ([`Driver::find_by_key`]).
    pub fn task_of(&self, job: &JobKey, task: u32) -> Option<AllocationId> {
        self.index.as_ref()?.task((job, task), &self.jobs, &self.tasks)
    }

    #[inline]
    pub(super) fn take_task(&mut self, id: AllocationId) -> Task {
        let task = self.tasks.take(id.slot()).expect("a running task has a row");
        if let Some(index) = &mut self.index {
            let live = self.jobs.get(task.job.slot()).expect("its job lives until this is told");
            index.drop_task(&live.key, task.task, id);
        }
        task
    }

    /// Rows of tasks that run no more, by handle.
    pub(super) fn take_tasks(&mut self, gone: &[AllocationId]) -> Vec<Task> {
        let mut tasks: Vec<Task> = gone.iter().map(|&id| self.take_task(id)).collect();
        tasks.sort_unstable_by_key(|task| task.allocation);
        tasks
    }

    pub(super) fn tell_tasks(
        &mut self,
        now: Time,
        tasks: &[Task],
        what: fn(TaskFact) -> Fact,
    ) -> Result<(), Failed> {
        tasks.iter().try_for_each(|task| self.tell(now, |told| what(told.task(task))))
    }
}

/// Tasks start.
impl<J, K: Journal> Driver<J, K> {
    /// What starts now: `on` is told each, in order, once all their records are in the journal;
    /// nothing where nothing has happened since the last time.
    pub fn decide(&mut self, mut on: impl FnMut(Start)) -> Result<(), Failed> {
        if !std::mem::take(&mut self.touched) {
            return Ok(());
        }
        let Driver { engine, jobs, tasks, tally, index, starts, tells, .. } = self;
        let now = engine.view().now();
        // With a journal come reasons; without, a start need not wait for its record.
        engine.decide(*tells && self.reasons, |start| {
            started(now, &start, jobs, tasks, tally, index);
            match *tells {
                true => starts.push(start),
                false => on(start),
            }
        });
        if !self.starts.is_empty() {
            let starts = std::mem::take(&mut self.starts);
            let told = starts.iter().try_for_each(|start| self.tell_start(start));
            self.starts = starts;
            told?;
            self.journal.commit()?;
            self.starts.drain(..).for_each(on);
        }
        self.decide_stops()
    }

    /// Running tasks that are told to stop for others, from now on, in order of decision: a world
    /// asks after each decision, stops them, and tells [`Driver::task_lost`] when they have.
    pub fn take_stops(&mut self) -> Vec<Stop> {
        std::mem::take(&mut self.stops)
    }

    /// When to ask for decisions next though nothing happens ([`meed::View::next_look`]).
    pub fn next_look(&self) -> Option<Time> {
        self.engine.view().next_look()
    }

    /// A task is told to stop because that was decided elsewhere.
    pub fn stop_as_told(&mut self, task: AllocationId) -> Result<(), Failed> {
        Ok(self.engine.stop_as_told(task)?)
    }

    /// Whom to stop for a leaf that has waited, where another scheduler places
    /// ([`meed::Engine::take_back`]). `by`: it is recorded, as decided by that world; without it is
    /// only told.
    pub fn take_back(
        &mut self,
        now: Time,
        wanted: &TakeBack<'_>,
        by: Option<&Name>,
    ) -> Result<Vec<Stop>, Failed> {
        self.engine.advance(now)?;
        let stops = self.engine.take_back(wanted);
        for stop in stops.iter().filter(|_| by.is_some()) {
            let attempt = self.running(stop.allocation).map_or(0, |task| task.attempt);
            let record = |told: &mut Telling<'_, J>| {
                Box::new(Reclaimed { by: by.cloned(), ..told.stop(stop, attempt) })
            };
            self.tell(now, |told| Fact::TaskReclaimed(record(told)))?;
        }
        Ok(stops)
    }

    fn decide_stops(&mut self) -> Result<(), Failed> {
        let mut told = false;
        while let Some(stop) = self.engine.next_stop() {
            let attempt = self.running(stop.allocation).map_or(0, |task| task.attempt);
            let record = |told: &mut Telling<'_, J>| Box::new(told.stop(&stop, attempt));
            self.tell(self.engine.view().now(), |told| Fact::TaskReclaimed(record(told)))?;
            self.stops.push(stop);
            told = true;
        }
        if told { self.journal.commit() } else { Ok(()) }.map_err(Failed::from)
    }

    /// The same at `now`, whether something has happened or not: where every instant has its
    /// decision, as in a live world.
    pub fn decide_at(&mut self, now: Time, on: impl FnMut(Start)) -> Result<(), Failed> {
        self.engine.advance(now)?;
        self.touched = true;
        self.decide(on)
    }

    /// At most one task starts on `node`, which asks for work ([`meed::Engine::offer_if`]). `rank`
    /// and `accept` are given the job and the number of the group in it.
    pub fn offer(
        &mut self,
        now: Time,
        node: NodeId,
        rank: &mut dyn FnMut(&LiveJob<J>, u32) -> Option<u32>,
        accept: &mut dyn FnMut(&LiveJob<J>, u32) -> bool,
    ) -> Result<Option<Start>, Failed> {
        self.engine.advance(now)?;
        let jobs = &self.jobs;
        let row = |id: JobId| jobs.get(id.slot()).expect("a job that the engine knows has a row");
        let start = self.engine.offer_if(
            node,
            self.tells && self.reasons,
            &mut |id, group| rank(row(id), group),
            &mut |id, group| accept(row(id), group),
        );
        start.map(|start| self.starts_one(start)).transpose()
    }

    /// A task starts because it was decided elsewhere: whoever's turn it is.
    pub fn start_as_told(&mut self, job: JobId, task: u32, node: NodeId) -> Result<Start, Failed> {
        let start = self.engine.start_as_told(job, task, node)?;
        self.starts_one(start)
    }

    /// Lets go of what has happened since the last decisions: they were taken elsewhere.
    pub fn decided_elsewhere(&mut self) {
        self.touched = false;
    }

    fn starts_one(&mut self, start: Start) -> Result<Start, Failed> {
        let Driver { engine, jobs, tasks, tally, index, .. } = self;
        started(engine.view().now(), &start, jobs, tasks, tally, index);
        if self.tells {
            self.tell_start(&start)?;
            self.journal.commit()?;
        }
        Ok(start)
    }

    fn tell_start(&mut self, start: &Start) -> Result<(), Failed> {
        let attempt = self.running(start.allocation).map_or(0, |task| task.attempt);
        let Driver { engine, names, jobs, .. } = self;
        let mut told = Telling { engine: engine.view(), names, jobs };
        let mut started = told.start(start, attempt);
        if self.reasons {
            // Of a start that was told, nobody knows why.
            let mut why = self.why.take().unwrap_or_default();
            match start.reason.as_deref() {
                Some(reason) => told.reason(reason, &mut why),
                None => *why = StartReason::default(),
            }
            started.reason = Some(why);
        }
        let mut fact = Fact::TaskStarted(started);
        self.journal.append(self.engine.view().now(), &fact)?;
        if let Fact::TaskStarted(Started { reason, .. }) = &mut fact {
            self.why = reason.take();
        }
        Ok(())
    }
}

/// The rows follow a start.
#[inline]
fn started<J>(
    now: Time,
    start: &Start,
    jobs: &mut Rows<LiveJob<J>>,
    tasks: &mut Rows<Task>,
    tally: &mut Tally,
    index: &mut Option<Index>,
) {
    let live = jobs.get_mut(start.job.slot()).expect("a job that the engine knows has a row");
    let (since, attempt) = live.starts(start.task);
    tally.task_started(live.queue, since, now);
    let Start { allocation, job, task, node, .. } = *start;
    if let Some(index) = index {
        index.add_task(&live.key, task, allocation);
    }
    tasks.put(allocation.slot(), Task { allocation, job, task, attempt, node });
}

impl<J> Telling<'_, J> {
    pub(super) fn task(&self, task: &Task) -> TaskFact {
        let live = self.jobs.get(task.job.slot()).expect("its job lives until this is told");
        let (job, attempt) = (live.key.clone(), task.attempt);
        TaskFact { job, task: task.task, attempt, why: None, detail: None }
    }

    fn start(&mut self, start: &Start, attempt: u32) -> Started {
        let key = self.jobs.get(start.job.slot()).expect("a live job starts").key.clone();
        Started {
            queue: self.queue(start.queue),
            job: key,
            task: start.task,
            attempt,
            node: self.names.node(self.engine, start.node),
            failures: start.failures,
            by: None,
            since: None,
            reason: None,
            detail: None,
        }
    }

    fn stop(&mut self, stop: &Stop, attempt: u32) -> Reclaimed {
        let key = |job: JobId| self.jobs.get(job.slot()).expect("a live job").key.clone();
        let (job, winner_job) = (key(stop.job), key(stop.winner.job));
        let winner = ReclaimedFor {
            queue: self.queue(stop.winner.queue),
            job: winner_job,
            waited: stop.winner.waited,
            first: self.queue(stop.winner.first.0),
            first_key: stop.winner.first.1.into(),
            last: self.queue(stop.winner.last.0),
            last_key: stop.winner.last.1.into(),
        };
        Reclaimed {
            queue: self.queue(stop.queue),
            job,
            task: stop.task,
            attempt,
            node: self.names.node(self.engine, stop.node),
            ran: stop.ran,
            grace: stop.grace,
            by: None,
            winner,
        }
    }

    /// Writes a reason over `why`, whose room is used again.
    fn reason(&mut self, reason: &meed::Reason, why: &mut StartReason) {
        let mut name = |id: QueueId| self.queue(id);
        let levels = reason.levels.iter().map(|choice| LevelChoice {
            chosen: name(choice.chosen),
            key: choice.key.into(),
            runner_up: choice.runner_up.map(|(queue, _)| name(queue)),
            runner_up_key: choice.runner_up.map(|(_, key)| key.into()),
        });
        why.levels.clear();
        why.levels.extend(levels);
        let &meed::Reason { starved_for, reserved_for, gang, place, .. } = reason;
        (why.starved_for, why.reserved_for, why.gang) = (starved_for, reserved_for, gang);
        why.place = place.into();
    }
}
