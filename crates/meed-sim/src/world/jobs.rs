//! Jobs arrive, their stages begin, their tasks are looked up.

use meed::{JobId, JobSpec, QueueId, Rejected, ResourceKinds};
use meed_driver::Failed;
use meed_journal::Arrival;
use meed_scenario::log::forms;
use meed_workload::{Cause, Job, JobGroup};

use super::World;
use super::desk::{Desk, Fitted};
use super::error::RunError;
use super::notes::number_of;
use super::planned::{Planned, PlannedTasks, stage_from, told};

impl<'a, D: Desk<'a>> World<'a, D> {
    pub(super) fn arrive(&mut self, job: Job, cause: Option<Cause>) -> Result<(), RunError> {
        let number = self.jobs_arrived;
        self.jobs_arrived += 1;
        let (at, leaf) = match self.where_to(job.queue) {
            Ok(found) => found,
            Err(why) => return self.refuse(number, job, cause, why),
        };
        let luck = self.failures.luck(self.arrivals.queue_name(job.queue), &job.label);
        let Fitted { job, submitted } = match self.desk.fit(at, leaf, job) {
            Ok(fitted) => fitted,
            Err(refused) => return self.refuse(number, refused.0, cause, refused.1),
        };
        self.delays.check_job(&job).map_err(|what| RunError::Delays { what })?;
        let (job, submitted) = self.delays.with_master(job, submitted);
        let (first_stage, open) = match self.delays.comes_empty() {
            true => (0, true),
            false => stage_from(&job.groups, 0),
        };
        if let Err(why) = self.check_later_stages(at, leaf, &job.groups[first_stage..]) {
            return self.refuse(number, submitted.unwrap_or(job), cause, why);
        }
        let groups = told(&job.groups[..first_stage]);
        let spec = JobSpec {
            queue: leaf,
            weight: u64::from(job.weight) * 1000,
            groups: &groups,
            open,
            max_attempts: self.max_attempts,
        };
        self.notes.chained |= job.chain.is_some();
        let mut job = Some(job);
        let new = || Planned::new(job.take().expect("once"), number, luck, first_stage);
        let tell = |planned: &Planned, arrival: &mut Arrival, kinds: &ResourceKinds| {
            planned.tell(arrival, cause, submitted.as_ref(), kinds);
        };
        match self.desk.driver_mut(at).job_arrived(self.now, spec, new, tell) {
            Ok(id) => {
                self.notes.begin(self.now, (leaf, number), &groups);
                self.comes_late(at, id);
                Ok(())
            }
            Err(Failed::Rejected(why)) => {
                let job = submitted.or(job).expect("a job that is refused is not taken");
                self.refuse(number, job, cause, why)
            }
            Err(failed) => Err(RunError::of(self.now, failed)),
        }
    }

    /// Who serves the source's queue of that number, and what it is there.
    fn where_to(&self, queue: u32) -> Result<(D::At, QueueId), Rejected> {
        let tree = self.desk.tree();
        // The scenario's reader checks names, so the queue may only have been removed meanwhile, or
        // be a parent.
        let known = self.queues[queue as usize].filter(|&queue| !tree.is_removed(queue));
        let queue = known.ok_or(Rejected::UnknownQueue)?;
        let not_a_leaf = || Rejected::NotALeaf { queue: tree.queue(queue).name.to_owned() };
        self.desk.route(queue).ok_or_else(not_a_leaf)
    }

    /// A stage that could never run refuses the job when it arrives, not when its first stages have
    /// run.
    fn check_later_stages(
        &self,
        at: D::At,
        leaf: QueueId,
        later: &[JobGroup],
    ) -> Result<(), Rejected> {
        if later.is_empty() {
            return Ok(());
        }
        let engine = self.desk.driver(at).engine();
        let is_joint = |group: &JobGroup| group.gang.as_deref().is_some_and(|gang| gang.joint);
        if !later.iter().any(is_joint) {
            return engine.check_tasks(leaf, &told(later));
        }
        // The groups of one stage are one gang, and those of another one are another.
        let tasks = later.iter().map(|group| u64::from(group.count)).sum::<u64>();
        if tasks > u64::from(u32::MAX) {
            return Err(Rejected::TooManyTasks);
        }
        let mut first = 0;
        while first < later.len() {
            let (end, _) = stage_from(later, first);
            engine.check_tasks(leaf, &told(&later[first..end]))?;
            first = end;
        }
        Ok(())
    }

    pub(super) fn begin_stage(&mut self, at: D::At, id: JobId) -> Result<(), RunError> {
        let now = self.now;
        let driver = self.desk.driver_mut(at);
        let Some(live) = driver.job_mut(id) else { return Ok(()) };
        let PlannedTasks::Staged(staged) = &mut live.detail.tasks else { return Ok(()) };
        let (groups, open) = staged.begin_next();
        let leaf_and_number = (live.queue(), number_of(live));
        match driver.tasks_added(now, id, &groups, open, Planned::tell_stage) {
            Ok(()) => {
                self.notes.begin(now, leaf_and_number, &groups);
                self.begun_late(at, id, groups.iter().map(|group| u64::from(group.count)).sum());
                Ok(())
            }
            // The cluster has changed since the job came, and its queue's maximum may have: the job
            // fails.
            Err(Failed::Rejected(_)) => match driver.job_failed(now, id) {
                Ok(failed) => self.job_gone(at, &failed.job, false),
                Err(why) => Err(RunError::of(now, why)),
            },
            Err(failed) => Err(RunError::of(now, failed)),
        }
    }

    fn refuse(
        &mut self,
        number: u64,
        job: Job,
        cause: Option<Cause>,
        why: Rejected,
    ) -> Result<(), RunError> {
        let now = self.now;
        let queue = self.arrivals.queue_name(job.queue);
        if self.strict {
            let (job, queue) = (job.label.to_string(), queue.to_owned());
            return Err(RunError::Refused { job, queue, why });
        }
        let arrival =
            |kinds: &ResourceKinds| forms::whole(number, queue.into(), &job, cause, kinds);
        self.desk.refused(now, &why, arrival).map_err(|why| RunError::of(now, why))?;
        if let Some(chain) = job.chain {
            self.arrivals.chain_ended(chain, now);
        }
        Ok(())
    }
}
