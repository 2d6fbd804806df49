//! Records are played: what happened and was decided comes from a journal.
//!
//! So a world goes on where its journal ends. Inputs are applied, decisions are taken as they were,
//! and what follows from other records (tasks stopped with their job, a job's end) is passed over,
//! for the engine says it again.

use meed::{Rejected, Time};
use meed_journal::{Arrival, Fact, FactRole, JobKey, Moved, Reclaimed, Started, TaskKey};

use super::Driver;
use super::apply::Taken;
use crate::journal::{Failed, Journal};

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
    /// for fact in [Fact::JobArrived(Box::new(job)), Fact::TaskStarted(start)] {
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
        let told = self.tell_record(at, fact, take);
        self.decided_elsewhere();
        told.map_err(|why| contradicted(fact, why))
    }

    fn tell_record(
        &mut self,
        at: Time,
        fact: &Fact,
        take: &mut dyn FnMut(&Arrival) -> Taken<J>,
    ) -> Result<(), Failed> {
        match fact {
            Fact::JobRefused(refusal) => {
                self.tally.totals.refuse(&refusal.why, &refusal.arrival);
                Ok(())
            }
            Fact::TaskStarted(Started { since: None, job, task, node, .. }) => {
                self.engine.advance(at)?;
                let (job, node) = (self.known_job(job)?, self.known_node(node)?);
                self.start_as_told(job, *task, node).map(|_| ())
            }
            // Decided elsewhere: what becomes of the task other records tell.
            Fact::TaskReclaimed(told) if told.by.is_some() => {
                self.engine.advance(at)?;
                self.note(at, || fact.clone())
            }
            Fact::TaskReclaimed(told) => {
                self.engine.advance(at)?;
                let TaskKey { job, task, attempt } = told.key();
                let id = self.known_attempt(&job, task, attempt)?;
                Ok(self.engine.stop_as_told(id)?)
            }
            // Who reads it decides at that instant, and writes records of that.
            Fact::TimePassed(_) => Ok(self.engine.advance(at)?),
            // Of a task that does not run a record before tells: it was lost with its node.
            Fact::TaskLost(task) if self.known_task(task).is_err() => Ok(()),
            Fact::JobCancelled(cancelled) if cancelled.job.is_none() => Ok(()),
            fact => match fact.kind().role() {
                // A start that was found running, too, is a world's input.
                FactRole::Input | FactRole::Decision => self.apply(at, fact, take).map(|_| ()),
                FactRole::Follows | FactRole::Aside | FactRole::Mark => Ok(()),
            },
        }
    }
}

/// What a record names was not there when it was played.
fn contradicted(fact: &Fact, why: Failed) -> Failed {
    let task = match (fact, &why) {
        (_, Failed::Rejected(Rejected::UnknownJob)) => match job_named(fact) {
            Some(job) => return Failed::Record(format!("job {job} is not there then")),
            None => return why,
        },
        (
            Fact::StartFailed(task)
            | Fact::TaskEnded(task)
            | Fact::TaskFailed(task)
            | Fact::TaskLost(task),
            Failed::Rejected(Rejected::UnknownTask),
        ) => task.key(),
        (
            Fact::TaskMoved(Moved { job, task, attempt, .. }),
            Failed::Rejected(Rejected::UnknownTask),
        ) => TaskKey { job: job.clone(), task: *task, attempt: *attempt },
        (Fact::TaskReclaimed(told), Failed::Rejected(Rejected::UnknownTask)) => {
            Reclaimed::key(told)
        }
        _ => return why,
    };
    Failed::Record(format!("{task} does not run then"))
}

fn job_named(fact: &Fact) -> Option<&JobKey> {
    match fact {
        Fact::TasksAdded(added) => Some(&added.job),
        Fact::JobCancelled(cancelled) => cancelled.job.as_ref(),
        Fact::JobChanged(changed) => Some(&changed.job),
        Fact::TaskStarted(start) => Some(&start.job),
        Fact::TaskWithdrawn(task) => Some(&task.job),
        _ => None,
    }
}
