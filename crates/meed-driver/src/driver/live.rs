//! What happens in a live cluster and in no plan: a start that could not be carried out, a task
//! lost without fault, one task of a job withdrawn, a task that runs already, one that runs
//! elsewhere.

use meed::{AllocationId, Effect, Event, JobId, JobState, NodeId, Time};
use meed_journal::{Fact, Moved, Name, Outcome, Started, TaskFact};

use super::Driver;
use crate::journal::{Failed, Journal};
use crate::rows::{LiveJob, Task};

/// What the withdrawal of a task did.
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
/// let withdrawn = driver.task_withdrawn(Time::ZERO, job, 0, Some("not needed"))?;
/// assert_eq!(withdrawn.stopped.map(|task| task.allocation), Some(starts[0].allocation));
/// assert!(withdrawn.gone.is_none()); // two tasks are left
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Withdrawn<J> {
    /// The task, where it ran: the world must stop it.
    pub stopped: Option<Task>,
    /// What became of its job.
    pub state: JobState,
    /// The job, where nothing was left of it.
    pub gone: Option<LiveJob<J>>,
}

impl<J, K: Journal> Driver<J, K> {
    /// A start could not be carried out: it is undone and charged nothing, counts as no attempt,
    /// and the task waits again. `why`: for readers of the record.
    pub fn start_failed(
        &mut self,
        now: Time,
        task: AllocationId,
        why: Option<&str>,
    ) -> Result<Task, Failed> {
        self.without_fault(now, task, Event::StartFailed(task), Fact::StartFailed, why)
    }

    /// A task runs no more, without its fault: what it used stays charged, that was no attempt, and
    /// it waits again.
    pub fn task_lost(
        &mut self,
        now: Time,
        task: AllocationId,
        why: Option<&str>,
    ) -> Result<Task, Failed> {
        // With its node, which is one event: where records tell the losses they come one by one,
        // and the node is over-full until the last of them.
        let with_its_node = self.shrunk.is_some_and(|shrunk| {
            let is_there = self.running(task).is_some_and(|task| task.node == shrunk);
            is_there && self.engine.view().is_overfull(shrunk)
        });
        let lost = self.without_fault(now, task, Event::TaskLost(task), Fact::TaskLost, why)?;
        self.tally.totals.events -= u64::from(with_its_node);
        Ok(lost)
    }

    fn without_fault(
        &mut self,
        now: Time,
        task: AllocationId,
        event: Event<'_>,
        what: fn(TaskFact) -> Fact,
        why: Option<&str>,
    ) -> Result<Task, Failed> {
        let (task, ..) = self.end(now, task, event)?;
        self.live_mut(task.job).waits_again(task.task, now);
        self.tell(now, |told| what(TaskFact { why: why.map(Into::into), ..told.task(&task) }))?;
        Ok(task)
    }

    /// One task of a job is wanted no more, whether it waits or runs.
    pub fn task_withdrawn(
        &mut self,
        now: Time,
        job: JobId,
        task: u32,
        why: Option<&str>,
    ) -> Result<Withdrawn<J>, Failed> {
        let Effect::Ended { state, stopped, .. } =
            self.event(now, Event::TaskWithdrawn { job, task })?
        else {
            unreachable!("a withdrawal's effect is `Ended`")
        };
        let stopped = self.take_tasks(&stopped).pop();
        let live = self.live_mut(job);
        let attempt = match &stopped {
            Some(ran) => ran.attempt,
            None => {
                live.withdraw(task);
                live.starts_before(task)
            }
        };
        self.tell(now, |told| {
            let job = told.jobs.get(job.slot()).expect("it lives until this is told").key.clone();
            let why = why.map(Into::into);
            Fact::TaskWithdrawn(TaskFact { job, task, attempt, why, detail: None })
        })?;
        let mut gone = None;
        match state {
            JobState::Active | JobState::Drained => {}
            JobState::Done => self.end_job(now, job, Outcome::Done, &mut gone)?,
            JobState::Failed => self.end_job(now, job, Outcome::Failed, &mut gone)?,
        }
        Ok(Withdrawn { stopped, state, gone })
    }

    /// A task that waits runs already, since an instant that is not in the future; `by` says who
    /// decided.
    pub fn task_adopted(
        &mut self,
        now: Time,
        (job, task): (JobId, u32),
        node: NodeId,
        since: Time,
        by: Option<&Name>,
    ) -> Result<AllocationId, Failed> {
        let Effect::Started(id) = self.event(now, Event::TaskAdopted { job, task, node, since })?
        else {
            unreachable!("an adoption's effect is `Started`")
        };
        let live = self.live_mut(job);
        let (ready, attempt) = live.starts(task);
        let queue = live.queue;
        self.tally.task_started(queue, ready, since);
        self.tasks.put(id.slot(), Task { allocation: id, job, task, attempt, node });
        if let Some(index) = &mut self.index {
            let live = self.jobs.get(job.slot()).expect("a task of it has just started");
            index.add_task(&live.key, task, id);
        }
        self.tell(now, |told| {
            Fact::TaskStarted(Started {
                queue: told.queue(queue),
                job: told.jobs.get(job.slot()).expect("it lives").key.clone(),
                task,
                attempt,
                node: told.names.node(told.engine, node),
                failures: told.engine.failures_of(id),
                by: by.cloned(),
                since: Some(since),
                reason: None,
                detail: None,
            })
        })?;
        Ok(id)
    }

    /// A task turns out to run on another node, and has done so since its start.
    pub fn task_moved(
        &mut self,
        now: Time,
        task: AllocationId,
        node: NodeId,
    ) -> Result<(), Failed> {
        self.event(now, Event::TaskMoved(task, node))?;
        let row = self.tasks.get_mut(task.slot()).expect("a running task has a row");
        row.node = node;
        let row = *row;
        self.tell(now, |told| {
            let TaskFact { job, task, attempt, .. } = told.task(&row);
            Fact::TaskMoved(Moved { job, task, attempt, node: told.names.node(told.engine, node) })
        })
    }
}
