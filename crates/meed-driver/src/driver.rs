//! The driver: what happened goes in, starts come out.
//!
//! A world tells what it sees by the verbs of this page, each with its time, and asks
//! [`Driver::decide`] (or, where nodes ask for work, [`Driver::offer`]) what starts. At one instant
//! it tells ends first, then arrivals and changes, then asks. References are the engine's handles,
//! which the verbs give out: a world keeps no names to find a job or a task again.
//!
//! Invariant: a row of a job lives exactly as long as the engine knows the job, a row of a task as
//! long as it runs. Cost: O(1) besides the engine's for each verb; no allocation for a task's start
//! or end.

use std::borrow::Cow;

use meed::place::Placement;
use meed::{
    AllocationId, Config, ConfigError, Effect, Engine, Event, JobId, JobSpec, JobState, MAX_KINDS,
    NodeId, NodeSpec, QueueChange, QueueId, QueueSpec, Rejected, Resources, Start, TaskGroup, Time,
};
use meed_workload::JobLabel;

use crate::books::Books;
use crate::capacity::CapacityTime;
use crate::explain::{self, QueueState, Standing, Subject};
use crate::rows::{LiveJob, Rows, Task};
use crate::tally::{QueueTally, Tally, Totals};

/// See the module. `J` is what the world keeps of each live job.
pub struct Driver<J> {
    engine: Engine,
    jobs: Rows<LiveJob<J>>,
    tasks: Rows<Task>,
    /// Which queues have never had children: those that take jobs.
    is_leaf: Vec<bool>,
    tally: Tally,
    capacity: CapacityTime,
    /// Whether something has happened since the last decisions.
    touched: bool,
}

/// What the end of a task did.
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

/// A job that was cancelled.
#[derive(Debug)]
pub struct Cancelled<J> {
    /// The job.
    pub job: LiveJob<J>,
    /// Its running tasks, which the world must stop.
    pub stopped: Vec<Task>,
}

impl<J> Driver<J> {
    /// A driver of the queues and nodes of `config`, placing by `place`.
    pub fn new(config: Config, place: Box<dyn Placement>) -> Result<Driver<J>, ConfigError> {
        let engine = Engine::new(config, place)?;
        let is_leaf: Vec<bool> = engine.queue_ids().map(|id| engine.queue(id).is_leaf).collect();
        let mut tally = Tally::default();
        tally.for_queues(is_leaf.len());
        Ok(Driver {
            engine,
            jobs: Rows::default(),
            tasks: Rows::default(),
            is_leaf,
            tally,
            capacity: CapacityTime::default(),
            touched: false,
        })
    }

    /// The engine, to be read.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// What was counted.
    pub fn counted(&self) -> &Tally {
        &self.tally
    }
}

/// Jobs arrive, grow and go.
impl<J> Driver<J> {
    /// A job arrives. `row` gives what it is called and what the world keeps of it; it is asked
    /// only when the job is taken.
    pub fn job_arrived(
        &mut self,
        now: Time,
        spec: JobSpec<'_>,
        row: impl FnOnce() -> (JobLabel, J),
    ) -> Result<JobId, Rejected> {
        let (queue, unstarted) = (spec.queue, tasks_of(spec.groups));
        match self.apply(now, Event::JobArrived(spec))? {
            Effect::Job(id) => {
                let (label, detail) = row();
                let (submit, ready, again) = (now, now, None);
                let live = LiveJob { id, label, queue, submit, ready, unstarted, again, detail };
                self.jobs.put(id.slot(), live);
                Ok(id)
            }
            _ => unreachable!("an arrival's effect is `Job`"),
        }
    }

    /// A job was refused, by [`Driver::job_arrived`] or by the world.
    pub fn job_refused(&mut self) {
        self.tally.totals.refused += 1;
    }

    /// Tasks are added to a live job: its next stage begins. `open`: whether more may come.
    pub fn tasks_added(
        &mut self,
        now: Time,
        job: JobId,
        groups: &[TaskGroup],
        open: bool,
    ) -> Result<(), Rejected> {
        self.apply(now, Event::TasksAdded { job, groups, open })?;
        let live = self.live_mut(job);
        (live.ready, live.unstarted) = (now, live.unstarted + tasks_of(groups));
        Ok(())
    }

    /// A job is cancelled.
    pub fn job_cancelled(&mut self, now: Time, job: JobId) -> Result<Cancelled<J>, Rejected> {
        let Effect::Lost(stopped) = self.apply(now, Event::JobCancelled(job))? else {
            unreachable!("a cancellation's effect is `Lost`")
        };
        let stopped = self.take_tasks(&stopped);
        Ok(Cancelled { job: self.end_job(now, job, false), stopped })
    }

    /// A live job.
    #[inline]
    pub fn job(&self, id: JobId) -> Option<&LiveJob<J>> {
        self.jobs.get(id.slot()).filter(|live| live.id == id)
    }

    /// The same, so that the world can change what it keeps of it.
    pub fn job_mut(&mut self, id: JobId) -> Option<&mut LiveJob<J>> {
        self.jobs.get_mut(id.slot()).filter(|live| live.id == id)
    }

    /// All live jobs, in no order that means anything.
    pub fn jobs(&self) -> impl Iterator<Item = &LiveJob<J>> {
        self.jobs.iter()
    }

    fn live_mut(&mut self, id: JobId) -> &mut LiveJob<J> {
        self.jobs.get_mut(id.slot()).expect("a job that the engine knows has a row")
    }

    fn end_job(&mut self, now: Time, id: JobId, done: bool) -> LiveJob<J> {
        let live = self.jobs.take(id.slot()).expect("a job ends once");
        self.tally.job_ended(live.queue, now - live.submit, done);
        live
    }
}

/// Tasks end.
impl<J> Driver<J> {
    /// A task has ended well.
    #[inline]
    pub fn task_ended(&mut self, now: Time, task: AllocationId) -> Result<Ended<J>, Rejected> {
        self.end(now, task, Event::TaskEnded(task), |driver, task| {
            let queue = driver.live_mut(task.job).queue;
            driver.tally.task_ended(queue);
        })
    }

    /// A task has failed; it waits again until its job's attempts are used up.
    pub fn task_failed(&mut self, now: Time, task: AllocationId) -> Result<Ended<J>, Rejected> {
        self.end(now, task, Event::TaskFailed(task), |driver, task| {
            driver.live_mut(task.job).waits_again(task.task, now);
        })
    }

    #[inline]
    fn end(
        &mut self,
        now: Time,
        allocation: AllocationId,
        event: Event<'_>,
        note: impl FnOnce(&mut Driver<J>, &Task),
    ) -> Result<Ended<J>, Rejected> {
        let Effect::Ended { job, state, stopped } = self.apply(now, event)? else {
            unreachable!("an end's effect is `Ended`")
        };
        let task = self.tasks.take(allocation.slot()).expect("a running task has a row");
        note(self, &task);
        let mut ended = Ended { task, state, gone: None, stopped: Vec::new() };
        if matches!(state, JobState::Done | JobState::Failed) {
            ended.stopped = self.take_tasks(&stopped);
            ended.gone = Some(self.end_job(now, job, state == JobState::Done));
        }
        Ok(ended)
    }

    /// Whether the task still runs: it has not ended, was not lost or stopped.
    #[inline]
    pub fn runs(&self, task: AllocationId) -> bool {
        self.tasks.get(task.slot()).is_some_and(|row| row.allocation == task)
    }

    /// Rows of tasks that run no more, by handle.
    fn take_tasks(&mut self, gone: &[AllocationId]) -> Vec<Task> {
        let take =
            |id: &AllocationId| self.tasks.take(id.slot()).expect("a running task has a row");
        let mut tasks: Vec<Task> = gone.iter().map(take).collect();
        tasks.sort_unstable_by_key(|task| task.allocation);
        tasks
    }
}

/// Nodes and queues come, change and go.
impl<J> Driver<J> {
    /// A node joins.
    pub fn node_joined(&mut self, now: Time, spec: NodeSpec) -> Result<NodeId, Rejected> {
        self.pass(now);
        match self.apply(now, Event::NodeJoined(spec))? {
            Effect::Node(id) => Ok(id),
            _ => unreachable!("a node's joining has the effect `Node`"),
        }
    }

    /// A node leaves: its tasks wait again.
    pub fn node_left(&mut self, now: Time, node: NodeId) -> Result<Vec<Task>, Rejected> {
        self.lose(now, Event::NodeLeft(node))
    }

    /// A node's capacity changes: the newest tasks that no longer fit wait again.
    pub fn node_changed(
        &mut self,
        now: Time,
        node: NodeId,
        capacity: Resources,
    ) -> Result<Vec<Task>, Rejected> {
        self.lose(now, Event::NodeChanged(node, capacity))
    }

    /// A queue is added below an existing one.
    pub fn queue_added(&mut self, now: Time, spec: QueueSpec) -> Result<QueueId, Rejected> {
        match self.apply(now, Event::QueueAdded(spec))? {
            Effect::Queue(id) => {
                self.is_leaf.push(true);
                self.tally.for_queues(self.is_leaf.len());
                if let Some(parent) = self.engine.queue(id).parent {
                    self.is_leaf[parent.index()] = false;
                }
                Ok(id)
            }
            _ => unreachable!("a queue's addition has the effect `Queue`"),
        }
    }

    /// A queue's weight or bounds change.
    pub fn queue_changed(
        &mut self,
        now: Time,
        queue: QueueId,
        change: QueueChange,
    ) -> Result<(), Rejected> {
        self.apply(now, Event::QueueChanged(queue, change)).map(|_| ())
    }

    /// A queue takes no more jobs and goes when its last has ended.
    pub fn queue_removed(&mut self, now: Time, queue: QueueId) -> Result<(), Rejected> {
        self.apply(now, Event::QueueRemoved(queue)).map(|_| ())
    }

    /// The node of that name that joined last: a node may leave and come back.
    pub fn node_named(&self, name: &str) -> Option<NodeId> {
        self.engine.node_ids().rev().find(|&id| self.engine.node(id).0.name == name)
    }

    /// Tasks that run no more wait again from now on.
    fn lose(&mut self, now: Time, event: Event<'_>) -> Result<Vec<Task>, Rejected> {
        self.pass(now);
        let Effect::Lost(lost) = self.apply(now, event)? else {
            unreachable!("a node's change has the effect `Lost`")
        };
        let lost = self.take_tasks(&lost);
        for task in &lost {
            self.live_mut(task.job).waits_again(task.task, now);
        }
        Ok(lost)
    }

    /// The capacity of now was there until now.
    fn pass(&mut self, now: Time) {
        self.capacity.pass(now.max(self.engine.now()), self.engine.capacity());
    }
}

/// Tasks start.
impl<J> Driver<J> {
    /// What starts now: `on` is told each, in order; nothing where nothing has happened since the
    /// last time. `explain`: with reasons.
    pub fn decide(&mut self, explain: bool, mut on: impl FnMut(Start)) {
        if !std::mem::take(&mut self.touched) {
            return;
        }
        let Driver { engine, jobs, tasks, tally, .. } = self;
        let now = engine.now();
        engine.decide(explain, |start| {
            started(now, &start, jobs, tasks, tally);
            on(start);
        });
    }

    /// At most one task starts on `node`, which asks for work ([`Engine::offer_if`]). `rank` and
    /// `accept` are given the job and the number of the group in it.
    pub fn offer(
        &mut self,
        now: Time,
        node: NodeId,
        explain: bool,
        rank: &mut dyn FnMut(&LiveJob<J>, u32) -> Option<u32>,
        accept: &mut dyn FnMut(&LiveJob<J>, u32) -> bool,
    ) -> Result<Option<Start>, Rejected> {
        self.engine.advance(now)?;
        let jobs = &self.jobs;
        let row = |id: JobId| jobs.get(id.slot()).expect("a job that the engine knows has a row");
        let start = self.engine.offer_if(
            node,
            explain,
            &mut |id, group| rank(row(id), group),
            &mut |id, group| accept(row(id), group),
        );
        if let Some(start) = &start {
            self.started(start);
        }
        Ok(start)
    }

    /// A task starts because it was decided elsewhere: whoever's turn it is.
    pub fn start_as_told(
        &mut self,
        job: JobId,
        task: u32,
        node: NodeId,
    ) -> Result<Start, Rejected> {
        let start = self.engine.start_as_told(job, task, node)?;
        self.started(&start);
        Ok(start)
    }

    /// Lets go of what has happened since the last decisions: they were taken elsewhere.
    pub fn decided_elsewhere(&mut self) {
        self.touched = false;
    }

    fn started(&mut self, start: &Start) {
        let now = self.engine.now();
        started(now, start, &mut self.jobs, &mut self.tasks, &mut self.tally);
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
) {
    let live = jobs.get_mut(start.job.slot()).expect("a job that the engine knows has a row");
    let (queue, since) = (live.queue, live.starts(start.task));
    tally.task_started(queue, now - since);
    let Start { allocation, job, task, node, .. } = *start;
    tasks.put(allocation.slot(), Task { allocation, job, task, node });
}

/// The run goes on, and ends.
impl<J> Driver<J> {
    /// Counts what is still there at the end of a run: jobs that are not done, tasks that wait.
    pub fn finish(&mut self, end: Time) {
        for live in self.jobs.iter() {
            if let Some(waiting) = live.waiting() {
                self.tally.still_waits(live.queue, end.saturating_since(waiting.since));
            }
            self.tally.totals.unfinished += 1;
        }
    }

    /// How a leaf queue, or a job of it, stands at `now`: nothing is run again.
    ///
    /// # Errors
    ///
    /// Where `now` lies before the last event, or there is no such leaf.
    pub fn explain(
        &mut self,
        now: Time,
        leaf: QueueId,
        subject: Subject,
    ) -> Result<Standing, Rejected> {
        self.engine.advance(now)?;
        match self.leaf(leaf) {
            Some(_) => Ok(explain::standing(self, self, (leaf, leaf), subject)),
            None => Err(Rejected::UnknownQueue),
        }
    }

    /// The books of all leaf queues at `now`, in order of declaration.
    pub fn queues(&mut self, now: Time) -> Result<Vec<(QueueId, QueueState)>, Rejected> {
        self.engine.advance(now)?;
        Ok(explain::queues(self))
    }

    #[inline]
    fn apply(&mut self, now: Time, event: Event<'_>) -> Result<Effect, Rejected> {
        self.touched = true;
        self.tally.totals.events += 1;
        self.engine.apply(now, event)
    }
}

impl<J> Books for Driver<J> {
    fn tree(&self) -> &Engine {
        &self.engine
    }

    #[inline]
    fn leaf(&self, queue: QueueId) -> Option<(&Engine, QueueId)> {
        self.is_leaf[queue.index()].then_some((&self.engine, queue))
    }

    fn advance(&mut self, now: Time) -> Result<(), Rejected> {
        self.engine.advance(now)
    }

    fn tally(&self, leaf: QueueId) -> &QueueTally {
        self.tally.queue(leaf)
    }

    fn totals(&self) -> Cow<'_, Totals> {
        Cow::Borrowed(&self.tally.totals)
    }

    fn capacity_time(&self, now: Time) -> [u128; MAX_KINDS] {
        self.capacity.until(now, self.engine.capacity())
    }
}

fn tasks_of(groups: &[TaskGroup]) -> u64 {
    groups.iter().map(|group| u64::from(group.count)).sum()
}
