//! Records are played: what happened and was decided comes from a journal, through the same verbs.
//!
//! So a world goes on where its journal ends. What follows from other records (tasks lost with
//! their node, tasks stopped with their job, a job's end) is not played: the engine says it again.

use meed::{Infeasible, JobSpec, ResourceKinds, Span, TaskGroup, Time};
use meed_config::gang::GangForm;
use meed_journal::{Arrival, Fact, Group, JobKey, Moved, Started, TaskFact, TaskKey, Unplaceable};

use super::Driver;
use crate::journal::{Failed, Journal};
use crate::rows::NewJob;

/// How the world takes a job that is played.
pub struct Taken<J> {
    /// What it keeps of it.
    pub detail: J,
    /// How often a task may fail before the job does; 0 for no limit.
    pub max_attempts: u16,
}

impl<J, K: Journal> Driver<J, K> {
    /// Plays one record that happened at `at`; nothing is appended to the journal. `take` says what
    /// the world keeps of a job that arrives. Keys must be kept ([`Driver::find_by_key`]).
    ///
    /// ```
    /// use meed::{Config, Measure, NodeSpec, Policy, QueueSpec, ResourceKinds, Resources};
    /// use meed::{Time, Unit};
    /// use meed_driver::{Driver, Off, Taken};
    /// use meed_journal::{Amounts, Arrival, Fact, Group, Started, TaskFact};
    ///
    /// let kinds = ResourceKinds::new(vec![("cpu".to_owned(), Unit::Milli)])?;
    /// let one = Amounts::of(&Resources::new(&[1000]), &kinds);
    /// let fair = Policy::new(Measure::Allocation);
    /// let config = Config {
    ///     measured: 0,
    ///     root: fair.clone(),
    ///     queues: vec![QueueSpec {
    ///         name: "a".to_owned(), weight: 1000, min: None, max: None, policy: fair,
    ///     }],
    ///     nodes: vec![NodeSpec::new("n", Resources::new(&[2000]))],
    ///     kinds,
    /// };
    /// let place = Box::new(meed::place::FirstFit::new(1));
    /// let mut driver = Driver::new(config, place, Off)?.find_by_key();
    /// let mut take = |_: &Arrival| Taken { detail: (), max_attempts: 0 };
    ///
    /// let group = Group { tasks: 1, demand: one, ..Group::default() };
    /// let job = Arrival::new("a".into(), 7.into(), vec![group]);
    /// let start = Started {
    ///     queue: "a".into(), job: 7.into(), task: 0, attempt: 0, node: "n".into(), failures: 0,
    ///     by: None, since: None, reason: None, detail: None,
    /// };
    /// for fact in [Fact::Arrive(Box::new(job)), Fact::Start(start)] {
    ///     driver.play(Time::ZERO, &fact, &mut take)?;
    /// }
    /// assert!(driver.task_of(&7.into(), 0).is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn play(
        &mut self,
        at: Time,
        fact: &Fact,
        take: &mut dyn FnMut(&Arrival) -> Taken<J>,
    ) -> Result<(), Failed> {
        self.untold(|driver| driver.tell_again(at, fact, take))
    }

    /// The same, but what is told again goes to the journal of this driver: what happened once
    /// happens to another world. Where a node shrinks, the engine says who is lost, unless
    /// [`Driver::losses_are_told`].
    pub fn tell_again(
        &mut self,
        at: Time,
        fact: &Fact,
        take: &mut dyn FnMut(&Arrival) -> Taken<J>,
    ) -> Result<(), Failed> {
        let told = self.tell_fact(at, fact, take);
        self.decided_elsewhere();
        told
    }

    fn tell_fact(
        &mut self,
        at: Time,
        fact: &Fact,
        take: &mut dyn FnMut(&Arrival) -> Taken<J>,
    ) -> Result<(), Failed> {
        match fact {
            Fact::Arrive(arrival) => self.play_arrival(at, arrival, take),
            Fact::Refuse(refusal) => {
                self.tally.totals.refuse(&refusal.why, &refusal.arrival);
                Ok(())
            }
            Fact::TasksAdded(added) => {
                let job = self.known_job(&added.job)?;
                let groups = read_groups(&added.groups, None, self.engine.view().kinds())?;
                self.tasks_added(at, job, &groups, added.open, |_, told| {
                    (told.stage, told.groups) = (added.stage, added.groups.clone());
                })
            }
            Fact::JobCancelled(cancelled) => match &cancelled.job {
                Some(key) => self.job_cancelled(at, self.known_job(key)?).map(|_| ()),
                None => Ok(()),
            },
            Fact::JobChanged(changed) => {
                self.job_changed(at, self.known_job(&changed.job)?, changed.weight)
            }
            Fact::Start(Started { since: Some(since), job, task, node, by, .. }) => {
                let (job, node) = (self.known_job(job)?, self.known_node(node)?);
                self.task_adopted(at, (job, *task), node, *since, by.as_ref()).map(|_| ())
            }
            Fact::Start(start) => {
                self.engine.advance(at)?;
                let (job, node) = (self.known_job(&start.job)?, self.known_node(&start.node)?);
                self.start_as_told(job, start.task, node).map(|_| ())
            }
            Fact::End(task) => self.task_ended(at, self.known_task(task)?).map(|_| ()),
            Fact::Fail(task) => self.task_failed(at, self.known_task(task)?).map(|_| ()),
            Fact::Undone(task) => {
                self.start_failed(at, self.known_task(task)?, task.why.as_deref()).map(|_| ())
            }
            // A task that does not run was lost with its node, of which a record before tells.
            Fact::Lost(task) => match self.known_task(task) {
                Ok(id) => self.task_lost(at, id, task.why.as_deref()).map(|_| ()),
                Err(_) => Ok(()),
            },
            Fact::Withdrawn(task) => {
                let job = self.known_job(&task.job)?;
                self.task_withdrawn(at, job, task.task, task.why.as_deref()).map(|_| ())
            }
            // Decided elsewhere: what becomes of the task other records tell.
            Fact::Reclaim(told) if told.by.is_some() => {
                self.engine.advance(at)?;
                self.note(at, || fact.clone())
            }
            Fact::Reclaim(told) => {
                self.engine.advance(at)?;
                let id = self.known_task(&TaskFact::of(told.key()))?;
                Ok(self.engine.stop_as_told(id)?)
            }
            Fact::Moved(Moved { job, task, attempt, node }) => {
                let (task, attempt) = (*task, *attempt);
                let key = TaskKey { job: job.clone(), task, attempt };
                let id = self.known_task(&TaskFact::of(key))?;
                self.task_moved(at, id, self.known_node(node)?)
            }
            Fact::NodeJoins(node) => {
                let spec = node.read(self.engine.view().kinds()).map_err(Failed::Record)?;
                self.node_joined(at, spec).map(|_| ())
            }
            Fact::NodeLeaves(node) => self.node_left(at, self.known_node(&node.name)?).map(|_| ()),
            Fact::NodeResized(node) => {
                let capacity =
                    node.capacity.read(self.engine.view().kinds()).map_err(Failed::Record)?;
                let id = self.known_node(&node.name)?;
                match node.keeps_tasks {
                    true => self.node_resized(at, id, capacity),
                    false => self.node_changed(at, id, capacity).map(|_| ()),
                }
            }
            Fact::NodeCordoned(node) => {
                self.node_cordoned(at, self.known_node(&node.name)?, node.why.as_deref())
            }
            Fact::NodeUncordoned(node) => {
                self.node_uncordoned(at, self.known_node(&node.name)?, node.why.as_deref())
            }
            Fact::NodeRelabelled(node) => {
                self.node_relabelled(at, self.known_node(&node.name)?, node.labels.clone())
            }
            Fact::NodeStrangers(node) => {
                let used = node.used.read(self.engine.view().kinds()).map_err(Failed::Record)?;
                self.node_used_by_others(at, self.known_node(&node.name)?, used)
            }
            Fact::Infeasible(Unplaceable { waits }) => {
                self.set_infeasible(at, if *waits { Infeasible::Wait } else { Infeasible::Refuse })
            }
            Fact::QueueAdded(queue) => {
                self.queue_added(at, self.read_queue(queue)?, queue.own.clone()).map(|_| ())
            }
            Fact::QueueChanged(queue) => {
                let change = queue.read(self.engine.view().kinds()).map_err(Failed::Record)?;
                self.queue_changed(at, self.known_queue(&queue.name)?, change)
            }
            Fact::QueueRemoved(queue) => self.queue_removed(at, self.known_queue(&queue.name)?),
            Fact::PoliciesChanged(told) => self.play_policies(at, told),
            Fact::Decide(_) => Ok(self.engine.advance(at)?),
            follows if FOLLOWS.contains(&follows.kind()) => Ok(()),
            other => {
                let word = other.kind().word();
                Err(Failed::Record(format!("a record `{word}` cannot be played yet")))
            }
        }
    }

    fn play_arrival(
        &mut self,
        at: Time,
        arrival: &Arrival,
        take: &mut dyn FnMut(&Arrival) -> Taken<J>,
    ) -> Result<(), Failed> {
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
        self.job_arrived(at, spec, new, |_, told, _| told.clone_from(arrival)).map(|_| ())
    }

    fn known_job(&self, key: &JobKey) -> Result<meed::JobId, Failed> {
        self.job_of(key).ok_or_else(|| Failed::Record(format!("job {key} is not there then")))
    }

    fn known_task(&self, task: &TaskFact) -> Result<meed::AllocationId, Failed> {
        let this = |id: &meed::AllocationId| {
            self.running(*id).is_some_and(|row| row.attempt == task.attempt)
        };
        let found = self.task_of(&task.job, task.task).filter(this);
        found.ok_or_else(|| Failed::Record(format!("{} does not run then", task.key())))
    }
}

/// Kinds of records that follow from others, or that change nothing.
const FOLLOWS: &[meed_journal::Kind] = {
    use meed_journal::Kind::*;
    &[Run, Open, Clock, Stop, JobEnd, Note, Snapshot, Finish, Other]
};

/// Tasks as records tell of them; `limit` is their limit where their group says none.
pub(crate) fn read_groups(
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
