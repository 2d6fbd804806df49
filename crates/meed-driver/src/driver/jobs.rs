//! Jobs arrive, grow and go.

use meed::{Effect, Event, JobId, JobSpec, Rejected, ResourceKinds, TaskGroup, Time};
use meed_config::constraints::ConstraintsForm;
use meed_config::gang::GangForm;
use meed_journal::{
    Amounts, Arrival, Cancelled, Fact, Group, JobChanged, JobEnd, JobKey, Outcome, Refusal,
    TasksAdded,
};

use super::Driver;
use crate::journal::{Failed, Journal};
use crate::rows::{LiveJob, NewJob, Task};

/// A job that was cancelled or could not go on.
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
/// let cancelled = driver.job_cancelled(Time::ZERO, job)?;
/// assert_eq!((cancelled.job.key(), cancelled.stopped.len()), (&7.into(), 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct CancelledJob<J> {
    /// The job.
    pub job: LiveJob<J>,
    /// Its running tasks, which the world must stop.
    pub stopped: Vec<Task>,
}

impl<J, K: Journal> Driver<J, K> {
    /// A job arrives. `new` is asked only when the engine takes it, and `tell` only when there is a
    /// journal: it adds to the record what only the world knows (durations, stages to come, its own
    /// detail).
    pub fn job_arrived(
        &mut self,
        now: Time,
        spec: JobSpec<'_>,
        new: impl FnOnce() -> NewJob<J>,
        tell: impl FnOnce(&J, &mut Arrival, &ResourceKinds),
    ) -> Result<JobId, Failed> {
        let Effect::Job(id) = self.event(now, Event::JobArrived(spec))? else {
            unreachable!("an arrival's effect is `Job`")
        };
        let NewJob { key, name, detail } = new();
        if let Some(index) = &mut self.index {
            index.add_job(&key, id);
        }
        let unstarted = tasks_of(spec.groups);
        let (queue, submit, ready, again) = (spec.queue, now, now, None);
        let live = LiveJob { id, key, name, queue, submit, ready, unstarted, again, detail };
        self.jobs.put(id.slot(), live);
        self.tell(now, |told| {
            let live = told.jobs.get(id.slot()).expect("it has just come");
            let kinds = told.engine.kinds();
            let queue = told.names.queue(told.engine, queue);
            let mut arrival = Arrival::new(queue, live.key.clone(), groups_of(spec.groups, kinds));
            arrival.name.clone_from(&live.name);
            arrival.weight = spec.weight;
            arrival.open = spec.open;
            tell(&live.detail, &mut arrival, kinds);
            Fact::JobArrived(Box::new(arrival))
        })?;
        Ok(id)
    }

    /// A job was refused, by [`Driver::job_arrived`] or by the world itself.
    pub fn job_refused(
        &mut self,
        now: Time,
        why: &Rejected,
        arrival: impl FnOnce(&ResourceKinds) -> Arrival,
    ) -> Result<(), Failed> {
        let (why, arrival) = (why.to_string(), arrival(self.engine.view().kinds()));
        self.tally.totals.refuse(&why, &arrival);
        self.tell(now, |_| Fact::JobRefused(Box::new(Refusal { why, arrival })))
    }

    /// Tasks are added to a live job: its next stage begins. `open`: whether more may come. `tell`
    /// adds to the record what only the world knows.
    pub fn tasks_added(
        &mut self,
        now: Time,
        job: JobId,
        groups: &[TaskGroup],
        open: bool,
        tell: impl FnOnce(&J, &mut TasksAdded),
    ) -> Result<(), Failed> {
        self.event(now, Event::TasksAdded { job, groups, open })?;
        let live = self.live_mut(job);
        (live.ready, live.unstarted) = (now, live.unstarted + tasks_of(groups));
        self.tell(now, |told| {
            let live = told.jobs.get(job.slot()).expect("it lives");
            let groups = groups_of(groups, told.engine.kinds());
            let mut added = TasksAdded { job: live.key.clone(), stage: 0, groups, open };
            tell(&live.detail, &mut added);
            Fact::TasksAdded(added)
        })
    }

    /// A job's weight among the jobs of its queue changes.
    pub fn job_changed(&mut self, now: Time, job: JobId, weight: u64) -> Result<(), Failed> {
        self.event(now, Event::JobChanged { job, weight })?;
        self.tell(now, |told| {
            let live = told.jobs.get(job.slot()).expect("it lives");
            Fact::JobChanged(JobChanged { job: live.key.clone(), weight })
        })
    }

    /// Somebody cancels a job.
    pub fn job_cancelled(&mut self, now: Time, job: JobId) -> Result<CancelledJob<J>, Failed> {
        self.drop_job(now, job, Outcome::Cancelled)
    }

    /// A job cannot go on: it fails, by no word of anybody's.
    pub fn job_failed(&mut self, now: Time, job: JobId) -> Result<CancelledJob<J>, Failed> {
        self.drop_job(now, job, Outcome::Failed)
    }

    fn drop_job(
        &mut self,
        now: Time,
        job: JobId,
        outcome: Outcome,
    ) -> Result<CancelledJob<J>, Failed> {
        let Effect::Lost(stopped) = self.event(now, Event::JobCancelled(job))? else {
            unreachable!("a cancellation's effect is `Lost`")
        };
        if outcome == Outcome::Cancelled {
            self.tell(now, |told| {
                let live = told.jobs.get(job.slot()).expect("it lives");
                let (job, name) = (Some(live.key.clone()), live.name.clone());
                Fact::JobCancelled(Cancelled { job, name })
            })?;
        }
        let stopped = self.take_tasks(&stopped);
        self.tell_tasks(now, &stopped, Fact::TaskStopped)?;
        let mut gone = None;
        self.end_job(now, job, outcome, &mut gone)?;
        Ok(CancelledJob { job: gone.expect("it has just ended"), stopped })
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

    /// The live job of that key, where keys are kept ([`Driver::find_by_key`]).
    pub fn job_of(&self, key: &JobKey) -> Option<JobId> {
        self.index.as_ref()?.job(key, &self.jobs)
    }

    /// All live jobs, in no order that means anything.
    pub fn jobs(&self) -> impl Iterator<Item = &LiveJob<J>> {
        self.jobs.iter()
    }

    #[inline]
    pub(super) fn live_mut(&mut self, id: JobId) -> &mut LiveJob<J> {
        self.jobs.get_mut(id.slot()).expect("a job that the engine knows has a row")
    }

    /// Ends a job, whose row is moved to `gone`: at once, for each place on the way would cost as
    /// much again.
    #[inline]
    pub(super) fn end_job(
        &mut self,
        now: Time,
        id: JobId,
        outcome: Outcome,
        gone: &mut Option<LiveJob<J>>,
    ) -> Result<(), Failed> {
        *gone = self.jobs.take(id.slot());
        let live = gone.as_ref().expect("a job ends once");
        self.tally.job_ended(live.queue, live.submit, now, outcome == Outcome::Done);
        if let Some(index) = &mut self.index {
            index.drop_job(&live.key, id);
        }
        let key = &live.key;
        self.tell(now, |_| Fact::JobEnded(JobEnd { job: key.clone(), outcome, detail: None }))
    }
}

/// The engine refuses a job with more tasks than 32 bits count.
fn tasks_of(groups: &[TaskGroup]) -> u32 {
    groups.iter().map(|group| group.count).sum()
}

/// Equal tasks as records hold them; how long they run is for the world to say.
fn groups_of(groups: &[TaskGroup], kinds: &ResourceKinds) -> Vec<Group> {
    let form = |group: &TaskGroup| Group {
        stage: 0,
        tasks: group.count,
        demand: Amounts::of(&group.demand, kinds),
        durations: Vec::new(),
        constraints: group
            .constraints
            .as_deref()
            .map(|constraints| Box::new(ConstraintsForm::of(constraints))),
        limit: group.limit,
        checkpoint: None,
        gang: GangForm::of(group.gang.as_deref()),
        same: group.gang.as_ref().and_then(|gang| gang.same.clone()),
    };
    groups.iter().map(form).collect()
}
