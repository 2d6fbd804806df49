//! Jobs arrive, their stages begin, their tasks are looked up.

use meed::{JobId, JobSpec, QueueId, Rejected, Span};
use meed_workload::{Cause, Job, JobLabel, TaskGroup};
use smallvec::SmallVec;

use super::desk::{Desk, Fitted};
use super::{Planned, RunError, World};

impl Planned {
    fn new(job: Job, number: u64, luck: u64, first_stage: usize) -> (JobLabel, Planned) {
        let planned = Planned {
            weight: job.weight,
            chain: job.chain,
            number,
            luck,
            first_tasks: first_tasks(&job.groups),
            groups: job.groups,
            told: first_stage,
        };
        (job.label, planned)
    }

    /// How many tasks it has, in all its stages.
    pub(super) fn tasks(&self) -> u64 {
        self.groups.iter().map(|group| u64::from(group.count)).sum()
    }

    /// How long task number `task` (over all groups), which is in `group`, runs.
    #[inline]
    pub(super) fn duration(&self, group: u32, task: u32) -> Span {
        let group = group as usize;
        self.groups[group].duration.get(task - self.first_tasks[group])
    }
}

/// The groups of the stage that begins at `first`, and whether more stages follow.
fn stage_from(groups: &[TaskGroup], first: usize) -> (usize, bool) {
    let stage = groups[first].stage;
    let last = groups[first..]
        .iter()
        .position(|group| group.stage != stage)
        .map_or(groups.len(), |n| first + n);
    (last, last < groups.len())
}

fn told(groups: &[TaskGroup]) -> SmallVec<[meed::TaskGroup; 2]> {
    groups
        .iter()
        .map(|group| meed::TaskGroup {
            count: group.count,
            demand: group.demand,
            constraints: group.constraints.clone(),
        })
        .collect()
}

fn first_tasks(groups: &[TaskGroup]) -> SmallVec<[u32; 2]> {
    let mut next = 0;
    let first = |group: &TaskGroup| {
        next += group.count;
        next - group.count
    };
    groups.iter().map(first).collect()
}

impl<D: Desk> World<'_, D> {
    pub(super) fn arrive(&mut self, job: Job, cause: Option<Cause>) -> Result<(), RunError> {
        let number = self.jobs_arrived;
        self.jobs_arrived += 1;
        let (at, queue, leaf) = match self.where_to(job.queue) {
            Ok(found) => found,
            Err(why) => return self.refuse(job, cause, why),
        };
        let luck = self.failures.luck(self.arrivals.queue_name(job.queue), &job.label);
        let Fitted { job, submitted } = match self.desk.fit(at, leaf, job) {
            Ok(fitted) => fitted,
            Err((job, why)) => return self.refuse(job, cause, why),
        };
        if let Err(why) = self.check_later_stages(at, leaf, &job) {
            return self.refuse(submitted.unwrap_or(job), cause, why);
        }
        let (first_stage, open) = stage_from(&job.groups, 0);
        let groups = told(&job.groups[..first_stage]);
        let spec = JobSpec {
            queue: leaf,
            weight: u64::from(job.weight) * 1000,
            groups: &groups,
            open,
            max_attempts: self.max_attempts,
        };
        let mut job = Some(job);
        let row = || Planned::new(job.take().expect("once"), number, luck, first_stage);
        match self.desk.driver_mut(at).job_arrived(self.now, spec, row) {
            Ok(id) => self.log_arrival(at, id, queue, cause, submitted.as_ref()),
            Err(why) => {
                let job = submitted.or(job).expect("a job that is refused is not taken");
                self.refuse(job, cause, why)
            }
        }
    }

    /// Who serves the source's queue of that number, and what it is in the tree and there.
    fn where_to(&self, queue: u32) -> Result<(D::At, QueueId, QueueId), Rejected> {
        let tree = self.desk.tree();
        // The scenario's reader checks names, so the queue may only have been removed meanwhile, or
        // be a parent.
        let known = self.queues[queue as usize].filter(|&queue| !tree.is_removed(queue));
        let queue = known.ok_or(Rejected::UnknownQueue)?;
        let not_a_leaf = || Rejected::NotALeaf { queue: tree.queue(queue).name.to_owned() };
        let (at, leaf) = self.desk.route(queue).ok_or_else(not_a_leaf)?;
        Ok((at, queue, leaf))
    }

    /// A stage that could never run refuses the job when it arrives, not when its first stages have
    /// run.
    fn check_later_stages(&self, at: D::At, leaf: QueueId, job: &Job) -> Result<(), Rejected> {
        let (first_stage, more) = stage_from(&job.groups, 0);
        if !more {
            return Ok(());
        }
        self.desk.driver(at).engine().check_tasks(leaf, &told(&job.groups[first_stage..]))
    }

    pub(super) fn begin_stage(&mut self, at: D::At, id: JobId) -> Result<(), RunError> {
        let driver = self.desk.driver_mut(at);
        let Some(live) = driver.job_mut(id) else { return Ok(()) };
        let first = live.detail.told;
        let (last, open) = stage_from(&live.detail.groups, first);
        let groups = told(&live.detail.groups[first..last]);
        live.detail.told = last;
        match driver.tasks_added(self.now, id, &groups, open) {
            Ok(()) => self.log_stage(at, id, first, last),
            // The cluster has changed since the job came, and its queue's maximum may have: the job
            // fails.
            Err(_) => self.cancel(at, id),
        }
    }

    /// Ends a job that cannot go on.
    pub(super) fn cancel(&mut self, at: D::At, id: JobId) -> Result<(), RunError> {
        let Ok(cancelled) = self.desk.driver_mut(at).job_cancelled(self.now, id) else {
            return Ok(());
        };
        for task in &cancelled.stopped {
            self.log_task(at, task, Some(&cancelled.job), "stop")?;
        }
        self.job_gone(at, cancelled.job, false)
    }

    fn refuse(&mut self, job: Job, cause: Option<Cause>, why: Rejected) -> Result<(), RunError> {
        let (now, source_queue) = (self.now, job.queue);
        if self.strict {
            let queue = self.arrivals.queue_name(source_queue).to_owned();
            return Err(RunError::Refused { job: job.label.to_string(), queue, why });
        }
        self.desk.refused();
        self.log_refusal(source_queue, &job, cause, &why)?;
        if let Some(chain) = job.chain {
            self.arrivals.chain_ended(chain, now);
        }
        Ok(())
    }
}
