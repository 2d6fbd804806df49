//! What this world keeps of a live job: its tasks, what is saved of their work, what is late.

use std::collections::BTreeMap;

use meed::{AllocationId, ResourceKinds, Span, Time};
use meed_driver::NewJob;
use meed_journal::{Arrival, Group, TasksAdded};
use meed_scenario::log::forms;
use meed_workload::{Cause, Durations, Job, JobGroup};
use smallvec::SmallVec;

/// What this world keeps of a live job. Its key is its number in order of arrival.
pub(crate) struct Planned {
    pub(super) chain: Option<u32>,
    pub(super) tasks: PlannedTasks,
    /// What its attempts are drawn from, the same under every policy.
    pub(super) luck: u64,
    /// Most jobs have none: a word in each row.
    pub(super) aside: Option<Box<Aside>>,
}

/// What few jobs have.
#[derive(Default)]
pub(super) struct Aside {
    /// How much of its stopped tasks' work need not be done again.
    pub(super) saved: BTreeMap<u32, Span>,
    /// Where grants are late.
    pub(super) late: Option<Late>,
}

impl Planned {
    pub(super) fn saved(&self, task: u32) -> Span {
        let saved = self.aside.as_ref().and_then(|aside| aside.saved.get(&task));
        saved.copied().unwrap_or(Span::ZERO)
    }

    pub(super) fn save(&mut self, task: u32, done: Span) {
        if done > Span::ZERO {
            self.aside.get_or_insert_default().saved.insert(task, done);
        }
    }

    pub(super) fn late(&self) -> Option<&Late> {
        self.aside.as_deref()?.late.as_ref()
    }

    pub(super) fn late_mut(&mut self) -> Option<&mut Late> {
        self.aside.as_deref_mut()?.late.as_mut()
    }
}

/// The tasks of a job, all its stages.
pub(super) enum PlannedTasks {
    /// So many that run equally long and wait at once: most jobs have no others, and need no rows
    /// apart.
    Alike(u32, Span),
    Staged(Box<Staged>),
}

/// Tasks of several groups.
pub(super) struct Staged {
    pub(super) groups: Vec<JobGroup>,
    /// Number of the first task of each group.
    pub(super) first_tasks: SmallVec<[u32; 2]>,
    /// Groups told to the engine so far: those of the stages that have begun.
    pub(super) told: usize,
    /// Nobody knows how long they run: the log ended before they did.
    pub(super) is_cut: bool,
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
    pub(super) fn begin_next(&mut self) -> (SmallVec<[meed::TaskGroup; 2]>, bool) {
        let (last, more) = stage_from(&self.groups, self.told);
        let groups = told(&self.groups[self.told..last]);
        self.told = last;
        (groups, more)
    }
}

impl Planned {
    pub(super) fn new(job: Job, number: u64, luck: u64, first_stage: usize) -> NewJob<Planned> {
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
    pub(super) fn tell(
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
    pub(super) fn tell_stage(&self, added: &mut TasksAdded) {
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
pub(super) fn stage_from(groups: &[JobGroup], first: usize) -> (usize, bool) {
    let stage = groups[first].stage;
    let last = groups[first..]
        .iter()
        .position(|group| group.stage != stage)
        .map_or(groups.len(), |n| first + n);
    (last, last < groups.len())
}

pub(super) fn told(groups: &[JobGroup]) -> SmallVec<[meed::TaskGroup; 2]> {
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

/// What is late of a live job.
pub(super) struct Late {
    /// Since when its master beats.
    pub(super) up: Time,
    /// Whether its first stage was asked for, or will be.
    pub(super) begun: bool,
    /// Tasks of its stages so far that have not ended.
    pub(super) left: u64,
    /// Nothing is left but its master.
    pub(super) over: bool,
    /// Its master, and the number of its node.
    pub(super) master: Option<(AllocationId, u64)>,
}
