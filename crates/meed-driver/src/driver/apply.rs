//! A [`Fact`] is the command: worlds apply it, journals hold it, and who plays a journal applies it
//! again.
//!
//! [`Driver::apply`] takes inputs ([`meed_journal::FactRole::Input`]); `play.rs` takes all records.

use meed::{
    AllocationId, Infeasible, JobId, JobSpec, JobState, QueueId, Rejected, ResourceKinds, Span,
    TaskGroup, Time,
};
use meed_config::gang::GangForm;
use meed_journal::{
    Arrival, Fact, Group, JobKey, Moved, Name, NodeAmounts, Started, TaskFact, TaskKey, Unplaceable,
};

use super::Driver;
use crate::journal::{Failed, Journal};
use crate::rows::{NewJob, Task};

/// How the world takes a job that arrives.
///
/// The example of [`Live`](crate::live::Live) says so of each job.
pub struct Taken<J> {
    /// What it keeps of it.
    pub detail: J,
    /// How often a task may fail before the job does; 0 for no limit.
    pub max_attempts: u16,
}

/// A task and where it runs.
///
/// The example of [`Live`](crate::live::Live) reads one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunningTask {
    /// The task.
    pub task: TaskKey,
    /// Where.
    pub node: Name,
}

/// What followed from a fact.
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
/// use meed_driver::Taken;
/// use meed_journal::{Fact, TaskFact, TaskKey};
/// let key = TaskKey { job: 7.into(), task: 0, attempt: 0 };
/// let mut driver = driver.find_by_key(); // facts name tasks by their keys
/// let take = &mut |_: &_| Taken { detail: 0, max_attempts: 1 };
/// let applied = driver.apply(Time::ZERO, &Fact::TaskEnded(TaskFact::of(key)), take)?;
/// assert_eq!(applied.job, Some(JobState::Active));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Applied {
    /// What became of the job of a task that ended, failed or was withdrawn.
    pub job: Option<JobState>,
    /// The attempt that a task is which was found running.
    pub adopted: Option<TaskKey>,
    /// Tasks that run no more by the books: the world stops those that still run.
    pub stopped: Vec<RunningTask>,
    /// The task that is no more where it was, as the fact says: undone, lost, or moved.
    pub left: Option<RunningTask>,
}

impl<J, K: Journal> Driver<J, K> {
    /// Applies what happened at `now`; its record is appended to the journal. `take` says what the
    /// world keeps of a job that arrives. Keys must be kept ([`Driver::find_by_key`]).
    ///
    /// # Errors
    ///
    /// A fact that the engine refuses, of a job, task, node or queue that is not there, or that is
    /// no input: then nothing has changed, and there is no record. A journal that fails.
    pub fn apply(
        &mut self,
        now: Time,
        fact: &Fact,
        take: &mut dyn FnMut(&Arrival) -> Taken<J>,
    ) -> Result<Applied, Failed> {
        match fact {
            Fact::JobArrived(arrival) => self.apply_arrival(now, arrival, take),
            Fact::TasksAdded(added) => {
                let job = self.known_job(&added.job)?;
                let groups = read_groups(&added.groups, None, self.engine.view().kinds())?;
                self.tasks_added(now, job, &groups, added.open, |_, told| {
                    (told.stage, told.groups) = (added.stage, added.groups.clone());
                })?;
                Ok(Applied::default())
            }
            Fact::JobCancelled(cancelled) => {
                let key = cancelled.job.as_ref().ok_or(Rejected::UnknownJob)?;
                let gone = self.job_cancelled(now, self.known_job(key)?)?;
                Ok(Applied { stopped: self.of_job(key, &gone.stopped), ..Applied::default() })
            }
            Fact::JobChanged(changed) => {
                let job = self.known_job(&changed.job)?;
                self.job_changed(now, job, changed.weight).map(|()| Applied::default())
            }
            fact => match self.apply_to_task(now, fact)? {
                Some(applied) => Ok(applied),
                None => self.apply_to_cluster(now, fact),
            },
        }
    }

    fn apply_arrival(
        &mut self,
        now: Time,
        arrival: &Arrival,
        take: &mut dyn FnMut(&Arrival) -> Taken<J>,
    ) -> Result<Applied, Failed> {
        let Taken { detail, max_attempts } = take(arrival);
        let limit = arrival.limit_of_groups();
        let groups = read_groups(&arrival.groups, limit, self.engine.view().kinds())?;
        let max_attempts = arrival.max_attempts.unwrap_or(max_attempts);
        let spec = JobSpec {
            queue: self.known_queue(&arrival.queue)?,
            weight: arrival.weight,
            groups: &groups,
            open: arrival.open,
            max_attempts,
        };
        let new = || NewJob { key: arrival.job.clone(), name: arrival.name.clone(), detail };
        self.job_arrived(now, spec, new, |_, told, _| told.clone_from(arrival))?;
        Ok(Applied::default())
    }

    /// `None`: it tells of no task.
    fn apply_to_task(&mut self, now: Time, fact: &Fact) -> Result<Option<Applied>, Failed> {
        let applied = match fact {
            Fact::TaskStarted(Started { since: Some(since), job, task, node, by, .. }) => {
                let (job, node) = (self.known_job(job)?, self.known_node(node)?);
                let id = self.task_adopted(now, (job, *task), node, *since, by.as_ref())?;
                let row = *self.running(id).expect("it was adopted");
                let adopted = Some(self.named(&row).task);
                Applied { adopted, ..Applied::default() }
            }
            Fact::TaskEnded(task) => {
                let ended = self.task_ended(now, self.known_task(task)?)?;
                self.became(&task.job, ended.state, &ended.stopped)
            }
            Fact::TaskFailed(task) => {
                let ended = self.task_failed(now, self.known_task(task)?)?;
                self.became(&task.job, ended.state, &ended.stopped)
            }
            Fact::StartFailed(task) => {
                let row = self.start_failed(now, self.known_task(task)?, task.why.as_deref())?;
                Applied { left: Some(self.named(&row)), ..Applied::default() }
            }
            Fact::TaskLost(task) => {
                let row = self.task_lost(now, self.known_task(task)?, task.why.as_deref())?;
                Applied { left: Some(self.named(&row)), ..Applied::default() }
            }
            Fact::TaskWithdrawn(task) => {
                let job = self.known_job(&task.job)?;
                let gone = self.task_withdrawn(now, job, task.task, task.why.as_deref())?;
                self.became(&task.job, gone.state, gone.stopped.as_slice())
            }
            Fact::TaskMoved(Moved { job, task, attempt, node }) => {
                let id = self.known_attempt(job, *task, *attempt)?;
                let to = self.known_node(node)?;
                let left = self.named(self.running(id).expect("it was found"));
                self.task_moved(now, id, to)?;
                Applied { left: Some(left), ..Applied::default() }
            }
            _ => return Ok(None),
        };
        Ok(Some(applied))
    }

    fn apply_to_cluster(&mut self, now: Time, fact: &Fact) -> Result<Applied, Failed> {
        let kinds = self.engine.view().kinds();
        match fact {
            Fact::NodeJoined(node) => {
                let spec = node.read(kinds).map_err(Failed::Record)?;
                self.node_joined(now, spec)?;
            }
            Fact::NodeLeft(node) => {
                let lost = self.node_left(now, self.known_node(&node.name)?)?;
                return Ok(self.stopping_all(&lost));
            }
            Fact::NodeResized(NodeAmounts { name, capacity, keeps_tasks, .. }) => {
                let capacity = capacity.read(kinds).map_err(Failed::Record)?;
                let id = self.known_node(name)?;
                if !keeps_tasks {
                    let lost = self.node_changed(now, id, capacity)?;
                    return Ok(self.stopping_all(&lost));
                }
                self.node_resized(now, id, capacity)?;
            }
            Fact::NodeCordoned(node) => {
                self.node_cordoned(now, self.known_node(&node.name)?, node.why.as_deref())?;
            }
            Fact::NodeUncordoned(node) => {
                self.node_uncordoned(now, self.known_node(&node.name)?, node.why.as_deref())?;
            }
            Fact::NodeRelabelled(node) => {
                self.node_relabelled(now, self.known_node(&node.name)?, node.labels.clone())?;
            }
            Fact::NodeUsedByOthers(node) => {
                let used = node.used.read(kinds).map_err(Failed::Record)?;
                self.node_used_by_others(now, self.known_node(&node.name)?, used)?;
            }
            Fact::Infeasible(Unplaceable { waits: true }) => {
                self.set_infeasible(now, Infeasible::Wait)?;
            }
            Fact::Infeasible(Unplaceable { waits: false }) => {
                self.set_infeasible(now, Infeasible::Refuse)?;
            }
            Fact::QueueAdded(queue) => {
                let root = self.engine.view().policy(QueueId::ROOT);
                let spec = queue.read(root, kinds).map_err(Failed::Record)?;
                self.queue_added(now, spec, queue.own.clone())?;
            }
            Fact::QueueChanged(queue) => {
                let change = queue.read(kinds).map_err(Failed::Record)?;
                self.queue_changed(now, self.known_queue(&queue.name)?, change)?;
            }
            Fact::QueueRemoved(queue) => {
                self.queue_removed(now, self.known_queue(&queue.name)?)?;
            }
            Fact::PoliciesChanged(told) => self.apply_policies(now, told)?,
            Fact::TimePassed(decide) => {
                self.engine.advance(now)?;
                self.note(now, || Fact::TimePassed(*decide))?;
            }
            other => {
                let word = other.kind().word();
                return Err(Failed::Record(format!("`{word}` is no input: a world tells none")));
            }
        }
        Ok(Applied::default())
    }

    pub(super) fn known_job(&self, key: &JobKey) -> Result<JobId, Rejected> {
        self.job_of(key).ok_or(Rejected::UnknownJob)
    }

    /// That attempt, not another one of the task.
    pub(super) fn known_task(&self, task: &TaskFact) -> Result<AllocationId, Rejected> {
        self.known_attempt(&task.job, task.task, task.attempt)
    }

    pub(super) fn known_attempt(
        &self,
        job: &JobKey,
        task: u32,
        attempt: u32,
    ) -> Result<AllocationId, Rejected> {
        let this = |id: &AllocationId| self.running(*id).is_some_and(|row| row.attempt == attempt);
        self.task_of(job, task).filter(this).ok_or(Rejected::UnknownTask)
    }

    /// The attempt, where it runs.
    pub(crate) fn running_attempt(&self, task: &TaskKey) -> Result<RunningTask, Rejected> {
        let id = self.known_attempt(&task.job, task.task, task.attempt)?;
        Ok(self.named(self.running(id).expect("it was found")))
    }

    /// A task of a job that lives.
    pub(crate) fn named(&self, row: &Task) -> RunningTask {
        let live = self.job(row.job).expect("its job lives");
        let task = TaskKey { job: live.key().clone(), task: row.task, attempt: row.attempt };
        RunningTask { task, node: self.names.shared_node(self.engine.view(), row.node) }
    }

    /// Tasks of one job, which may be gone.
    fn of_job(&self, job: &JobKey, tasks: &[Task]) -> Vec<RunningTask> {
        let named = |row: &Task| RunningTask {
            task: TaskKey { job: job.clone(), task: row.task, attempt: row.attempt },
            node: self.names.shared_node(self.engine.view(), row.node),
        };
        tasks.iter().map(named).collect()
    }

    /// What became of a job, and its tasks that stop with it.
    fn became(&self, job: &JobKey, state: JobState, stopped: &[Task]) -> Applied {
        Applied { job: Some(state), stopped: self.of_job(job, stopped), ..Applied::default() }
    }

    fn stopping_all(&self, lost: &[Task]) -> Applied {
        let stopped = lost.iter().map(|row| self.named(row)).collect();
        Applied { stopped, ..Applied::default() }
    }
}

/// Tasks as records tell of them; `limit` is their limit where their group says none.
fn read_groups(
    groups: &[Group],
    limit: Option<Span>,
    kinds: &ResourceKinds,
) -> Result<Vec<TaskGroup>, Failed> {
    let read = |group: &Group| -> Result<TaskGroup, String> {
        Ok(TaskGroup {
            count: group.tasks,
            demand: group.demand.read(kinds).map_err(|why| format!("demand: {why}"))?,
            constraints: group.constraints.as_ref().map(|form| form.read()).transpose()?.flatten(),
            limit: match group.limit {
                Some(Span::ZERO) => return Err("limit_s: a limit is above zero".to_owned()),
                own => own.or(limit),
            },
            gang: GangForm::read(group.gang, group.same.as_deref(), group.tasks)?,
        })
    };
    groups.iter().map(read).collect::<Result<_, _>>().map_err(Failed::Record)
}
