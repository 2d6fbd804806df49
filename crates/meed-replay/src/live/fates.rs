//! What a live world's records say of how long tasks run.
//!
//! A live world does not know that when a job arrives: the ends tell. An attempt that failed took
//! from its start to its failure, and fails again after as long wherever it starts; a task that
//! ended well took from the last start to its end. Of all others only a lower bound is known (they
//! ran still when the record ended, were stopped with their job, or never started): from the
//! instant at which they start they run to the end of the record.
//!
//! Memory: O(tasks that started).

use std::collections::{BTreeMap, BTreeSet};

use meed::{Span, Time};
use meed_journal::{Fact, JobKey, Kind, Name, TaskKey};
use meed_scenario::log::read::{LogError, LogFile, Run};
use meed_scenario::logged::begun::Begun;
use smallvec::SmallVec;

use super::Mode;

/// What becomes of an attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Fate {
    /// How long it runs.
    pub(super) lasts: Span,
    pub(super) fails: bool,
}

#[derive(Default)]
struct TaskFates {
    /// The start that has no end yet, and where.
    since: Option<(Time, Name)>,
    fails: SmallVec<[Span; 1]>,
    ends: Option<Span>,
}

/// See the module.
#[derive(Default)]
pub(crate) struct Fates {
    tasks: BTreeMap<JobKey, BTreeMap<u32, TaskFates>>,
    /// Starts that were undone, whose task was told to stop, lost, or turned out to run elsewhere:
    /// when and where.
    befell: BTreeMap<TaskKey, (Time, Name)>,
    /// Those of them that did not go on.
    stopped: BTreeSet<TaskKey>,
    /// Attempts that were told to stop for others: when, and how long they ran where they did.
    reclaimed: BTreeMap<TaskKey, (Time, Span)>,
    /// Queues that came while the record went on.
    pub(crate) queues_added: Vec<String>,
    /// Starts that somebody else decided.
    pub(crate) adopted: u64,
    /// Tasks that ran when it ended.
    pub(crate) running: u64,
    /// Other tasks of which no end is told.
    pub(crate) endless: u64,
}

impl Fates {
    /// Looks through `run`, which may begin in the middle.
    pub(crate) fn of(log: &LogFile, run: &Run, begun: Option<&Begun>) -> Result<Fates, LogError> {
        let mut fates = Fates::default();
        for (key, node, since) in begun.iter().flat_map(|begun| &begun.running) {
            fates.task(&key.job, key.task).since = Some((*since, node.clone()));
        }
        let mut reader = log.read(run)?;
        let groups = begun.iter().flat_map(|begun| &begun.jobs).flat_map(|(_, job)| &job.groups);
        let mut tasks = groups.map(|group| u64::from(group.tasks)).sum::<u64>()
            + begun.map_or(0, |begun| begun.running.len() as u64);
        let mut ended = 0;
        while let Some((_, record)) = reader.next_any()? {
            let kind = record.fact.kind();
            let groups = match &record.fact {
                Fact::JobArrived(arrival) => &arrival.groups[..],
                Fact::TasksAdded(added) => &added.groups[..],
                _ => &[],
            };
            tasks += groups.iter().map(|group| u64::from(group.tasks)).sum::<u64>();
            ended += u64::from(kind == Kind::TaskEnded);
            fates.learn(record.t, &record.fact);
        }
        let all = fates.tasks.values().flat_map(|tasks| tasks.values());
        fates.running = all.filter(|task| task.since.is_some()).count() as u64;
        fates.endless = tasks.saturating_sub(ended + fates.running);
        Ok(fates)
    }

    fn learn(&mut self, t: Time, fact: &Fact) {
        match fact {
            Fact::QueueAdded(form) => self.queues_added.push(form.queue.to_string()),
            Fact::TaskStarted(start) => {
                self.adopted += u64::from(start.since.is_some());
                let since = start.since.unwrap_or(t);
                self.task(&start.job, start.task).since = Some((since, start.node.clone()));
            }
            Fact::TaskEnded(task) => {
                let fates = self.task(&task.job, task.task);
                fates.ends = fates.since.take().map(|(since, _)| t.saturating_since(since));
            }
            Fact::TaskFailed(task) => {
                let fates = self.task(&task.job, task.task);
                let lasted = fates.since.take().map(|(since, _)| t.saturating_since(since));
                fates.fails.extend(lasted);
            }
            Fact::TaskLost(task) | Fact::StartFailed(task) => {
                if let Some(start) = self.task(&task.job, task.task).since.take() {
                    if let Some((_, ran)) = self.reclaimed.get_mut(&task.key()) {
                        *ran = t.saturating_since(start.0);
                    }
                    self.stopped.insert(task.key());
                    self.befell.entry(task.key()).or_insert(start);
                }
            }
            Fact::TaskReclaimed(told) => {
                if let Some(start) = self.task(&told.job, told.task).since.clone() {
                    self.reclaimed.insert(told.key(), (t, Span::ZERO));
                    self.befell.entry(told.key()).or_insert(start);
                }
            }
            Fact::TaskMoved(moved) => {
                if let Some(start) = self.task(&moved.job, moved.task).since.clone() {
                    let (job, task, attempt) = (moved.job.clone(), moved.task, moved.attempt);
                    self.befell.entry(TaskKey { job, task, attempt }).or_insert(start);
                }
            }
            Fact::TaskStopped(task) | Fact::TaskWithdrawn(task) => {
                self.task(&task.job, task.task).since = None;
            }
            _ => {}
        }
    }

    fn task(&mut self, job: &JobKey, task: u32) -> &mut TaskFates {
        if !self.tasks.contains_key(job) {
            self.tasks.insert(job.clone(), BTreeMap::new());
        }
        self.tasks.get_mut(job).expect("it is there now").entry(task).or_default()
    }

    /// When and where an attempt started to which something happened that is told.
    pub(super) fn started(&self, task: &TaskKey) -> Option<&(Time, Name)> {
        self.befell.get(task)
    }

    /// When an attempt was told to stop for others.
    pub(super) fn reclaimed_at(&self, task: &TaskKey) -> Option<Time> {
        self.reclaimed.get(task).map(|(at, _)| *at)
    }

    /// Whether an attempt did not go on: it was undone, or the task was lost.
    pub(super) fn is_stopped(&self, task: &TaskKey) -> bool {
        self.stopped.contains(task)
    }

    /// What becomes of an attempt that started at `started` on `node`, after so many that failed;
    /// `None`: it is not known to end, or the record tells what happens to it before.
    pub(super) fn of_attempt(
        &self,
        key: &TaskKey,
        failures: u16,
        (started, node): (Time, &str),
        mode: Mode,
    ) -> Option<Fate> {
        let stopped = self.stopped.contains(key);
        // Under another policy nobody may tell it to stop.
        let reclaimed = self.reclaimed.get(key).filter(|_| mode == Mode::Otherwise);
        let least = reclaimed.map_or(Span::ZERO, |(_, ran)| *ran);
        if stopped
            && reclaimed.is_none()
            && self.started(key).is_some_and(|at| at.0 == started && *at.1 == *node)
        {
            return None;
        }
        let fates = self.tasks.get(&key.job)?.get(&key.task)?;
        match fates.fails.get(usize::from(failures)) {
            Some(&lasts) => Some(Fate { lasts: lasts.max(least), fails: true }),
            None => fates.ends.map(|lasts| Fate { lasts: lasts.max(least), fails: false }),
        }
    }
}
