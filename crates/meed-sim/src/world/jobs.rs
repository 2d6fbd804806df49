//! Jobs arrive, their stages begin, their tasks are looked up.

use meed::{JobId, JobSpec, QueueId, Rejected, ResourceKinds, Span};
use meed_driver::{Failed, NewJob};
use meed_journal::{Arrival, Group, TasksAdded};
use meed_scenario::log::forms;
use meed_workload::{Cause, Durations, Job, JobGroup};
use smallvec::SmallVec;

use super::desk::{Desk, Fitted};
use super::notes::number_of;
use super::{Planned, RunError, World};

/// The tasks of a job, all its stages.
pub(super) enum PlannedTasks {
    /// So many that run equally long and wait at once: most jobs have no others, and need no rows
    /// apart.
    Alike(u32, Span),
    Staged(Box<Staged>),
}

/// Tasks of several groups.
pub(super) struct Staged {
    groups: Vec<JobGroup>,
    /// Number of the first task of each group.
    first_tasks: SmallVec<[u32; 2]>,
    /// Groups told to the engine so far: those of the stages that have begun.
    told: usize,
    /// Nobody knows how long they run: the log ended before they did.
    is_cut: bool,
}

impl PlannedTasks {
    fn new(groups: Vec<JobGroup>, first_stage: usize) -> PlannedTasks {
        match groups.as_slice() {
            [
                JobGroup {
                    count,
                    duration: Durations::Same(span),
                    checkpoint: None,
                    cut: false,
                    ..
                },
            ] if first_stage > 0 => PlannedTasks::Alike(*count, *span),
            _ => {
                let first_tasks = first_tasks(&groups);
                let is_cut = groups.iter().any(|group| group.cut);
                let staged = Staged { groups, first_tasks, told: first_stage, is_cut };
                PlannedTasks::Staged(Box::new(staged))
            }
        }
    }

    /// Whether nobody knows how long they run: the log ended before they did.
    #[inline]
    pub(super) fn is_cut(&self) -> bool {
        matches!(self, PlannedTasks::Staged(staged) if staged.is_cut)
    }

    /// How many there are, in all stages.
    pub(super) fn count(&self) -> u64 {
        match self {
            PlannedTasks::Alike(count, _) => u64::from(*count),
            PlannedTasks::Staged(staged) => {
                staged.groups.iter().map(|group| u64::from(group.count)).sum()
            }
        }
    }

    /// The number of the first of the last `tasks` tasks of a group.
    pub(super) fn first_of_last(&self, group: u32, tasks: u64) -> u32 {
        let (first, count) = match self {
            PlannedTasks::Alike(count, _) => (0, *count),
            PlannedTasks::Staged(staged) => {
                let group = group as usize;
                (staged.first_tasks[group], staged.groups[group].count)
            }
        };
        first + count.saturating_sub(tasks.try_into().unwrap_or(u32::MAX))
    }

    /// Whether stages are to come.
    pub(super) fn has_more(&self) -> bool {
        match self {
            PlannedTasks::Alike(..) => false,
            PlannedTasks::Staged(staged) => staged.told < staged.groups.len(),
        }
    }

    /// How long task number `task` (over all groups), which is in `group`, runs.
    #[inline]
    pub(super) fn duration(&self, group: u32, task: u32) -> Span {
        match self {
            PlannedTasks::Alike(_, span) => *span,
            PlannedTasks::Staged(staged) => {
                let group = group as usize;
                staged.groups[group].duration.get(task - staged.first_tasks[group])
            }
        }
    }
}

impl PlannedTasks {
    /// How often task number `task` saves what it has done, where the task itself says so.
    pub(super) fn checkpoint(&self, task: u32) -> Option<Span> {
        let PlannedTasks::Staged(staged) = self else { return None };
        let group = staged.first_tasks.partition_point(|first| *first <= task) - 1;
        staged.groups[group].checkpoint
    }
}

impl Staged {
    /// The next stage: its groups, and whether more follow. It has begun.
    fn begin_next(&mut self) -> (SmallVec<[meed::TaskGroup; 2]>, bool) {
        let (last, more) = stage_from(&self.groups, self.told);
        let groups = told(&self.groups[self.told..last]);
        self.told = last;
        (groups, more)
    }
}

impl Planned {
    fn new(job: Job, number: u64, luck: u64, first_stage: usize) -> NewJob<Planned> {
        let name = forms::name_beside(number, &job.label);
        let tasks = PlannedTasks::new(job.groups, first_stage);
        NewJob {
            key: number.into(),
            name,
            detail: Planned { chain: job.chain, tasks, luck, aside: None },
        }
    }

    /// What only this world knows of an arrival; `submitted` is the job before it was cut to a
    /// share, where it was.
    fn tell(
        &self,
        arrival: &mut Arrival,
        cause: Option<Cause>,
        submitted: Option<&Job>,
        kinds: &ResourceKinds,
    ) {
        match &self.tasks {
            PlannedTasks::Alike(_, span) => {
                arrival.groups.iter_mut().for_each(|group| group.durations = vec![*span]);
            }
            PlannedTasks::Staged(staged) => {
                let (now, later) = staged.groups.split_at(staged.told);
                tell_plans(&mut arrival.groups, now);
                arrival.later = forms::groups(later, kinds);
            }
        }
        forms::terms(arrival, self.chain, cause);
        arrival.detail = forms::cut_told(self.tasks.is_cut());
        arrival.submitted = forms::groups(submitted.map_or(&[][..], |job| &job.groups), kinds);
        // All tasks that may come are told.
        arrival.open = false;
    }

    /// The same of the stage that has begun last.
    fn tell_stage(&self, added: &mut TasksAdded) {
        if let PlannedTasks::Staged(staged) = &self.tasks {
            let groups = &staged.groups[staged.told - added.groups.len()..staged.told];
            added.stage = groups[0].stage;
            tell_plans(&mut added.groups, groups);
        }
        added.open = false;
    }
}

/// What the engine was not told of these groups.
fn tell_plans(told: &mut [Group], groups: &[JobGroup]) {
    for (told, planned) in told.iter_mut().zip(groups) {
        told.durations = forms::durations(&planned.duration);
        told.checkpoint = planned.checkpoint;
    }
}

/// The groups of the stage that begins at `first`, and whether more stages follow.
fn stage_from(groups: &[JobGroup], first: usize) -> (usize, bool) {
    let stage = groups[first].stage;
    let last = groups[first..]
        .iter()
        .position(|group| group.stage != stage)
        .map_or(groups.len(), |n| first + n);
    (last, last < groups.len())
}

fn told(groups: &[JobGroup]) -> SmallVec<[meed::TaskGroup; 2]> {
    groups
        .iter()
        .map(|group| meed::TaskGroup {
            count: group.count,
            demand: group.demand,
            constraints: group.constraints.clone(),
            limit: group.limit,
            gang: group.gang.clone(),
        })
        .collect()
}

fn first_tasks(groups: &[JobGroup]) -> SmallVec<[u32; 2]> {
    let mut next = 0;
    let first = |group: &JobGroup| {
        next += group.count;
        next - group.count
    };
    groups.iter().map(first).collect()
}

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
