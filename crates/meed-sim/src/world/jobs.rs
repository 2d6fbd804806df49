//! Jobs arrive, their stages begin, their tasks are looked up.

use meed::{Effect, Event, JobId, JobSpec, QueueId, Rejected, Span, Time};
use meed_journal::Outcome;
use meed_workload::{Cause, Job, TaskGroup};
use smallvec::SmallVec;

use super::partition::fit_to_share;
use super::{KeptJob, LiveJob, RunError, World};

impl LiveJob {
    fn new(
        id: JobId,
        queue: QueueId,
        job: Job,
        now: Time,
        number: u64,
        luck: u64,
        first_stage: usize,
    ) -> LiveJob {
        LiveJob {
            id,
            label: job.label,
            queue,
            submit: now,
            chain: job.chain,
            number,
            luck,
            first_tasks: first_tasks(&job.groups),
            unstarted: tasks_of(&job.groups[..first_stage]),
            groups: job.groups,
            told: first_stage,
            ready: now,
            again: None,
            attempts: None,
        }
    }

    pub(super) fn to_keep(&self, ended: Option<Time>) -> KeptJob {
        let (queue, label, tasks) = (self.queue, self.label.clone(), tasks_of(&self.groups));
        KeptJob { queue, label, submit: self.submit, ended, tasks }
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

fn tasks_of(groups: &[TaskGroup]) -> u64 {
    groups.iter().map(|group| u64::from(group.count)).sum()
}

impl World<'_> {
    pub(super) fn arrive(&mut self, job: Job, cause: Option<Cause>) -> Result<(), RunError> {
        let number = self.jobs_arrived;
        self.jobs_arrived += 1;
        let queue = self.queues[job.queue as usize];
        let routed = queue.filter(|&queue| !self.parts.tree().is_removed(queue));
        let Some((queue, (part, leaf))) =
            routed.and_then(|queue| Some((queue, self.parts.route(queue)?)))
        else {
            // The scenario's reader checks names, so this is a queue that was removed meanwhile, or
            // a parent.
            let why = match queue {
                Some(queue) if !self.parts.tree().is_removed(queue) => {
                    Rejected::NotALeaf { queue: self.parts.tree().queue(queue).name.to_owned() }
                }
                _ => Rejected::UnknownQueue,
            };
            return self.refuse(number, job, cause, why);
        };
        if self.parts.is_draining(part) {
            let queue = self.parts.tree().queue(queue).name.to_owned();
            return self.refuse(number, job, cause, Rejected::Draining { queue });
        }
        let luck = self.failures.luck(self.arrivals.queue_name(job.queue), &job.label);
        let (job, submitted) = match self.parts.is_partitioned() {
            false => (job, None),
            true => {
                let share = *self.parts.engines[part as usize].capacity();
                match fit_to_share(job.clone(), &share) {
                    Some(cut) if cut == job => (job, None),
                    Some(cut) => (cut, Some(job)),
                    None => {
                        let why = Rejected::FitsNoNode {
                            demand: "some of a resource".to_owned(),
                            largest: "nothing of it".to_owned(),
                        };
                        return self.refuse(number, job, cause, why);
                    }
                }
            }
        };
        if let Err(why) = self.check_later_stages(part, leaf, &job) {
            return self.refuse(number, submitted.unwrap_or(job), cause, why);
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
        self.parts.touch(part);
        match self.apply(part, Event::JobArrived(spec)) {
            Ok(Effect::Job(id)) => {
                self.log_arrival(number, queue, &job, cause, submitted.as_ref())?;
                self.keep(
                    part,
                    id,
                    LiveJob::new(id, queue, job, self.now, number, luck, first_stage),
                );
            }
            Ok(_) => unreachable!("an arrival's effect is `Job`"),
            Err(why) => return self.refuse(number, submitted.unwrap_or(job), cause, why),
        }
        Ok(())
    }

    /// A stage that could never run refuses the job when it arrives, not when its first stages have
    /// run.
    fn check_later_stages(&self, part: u32, leaf: QueueId, job: &Job) -> Result<(), Rejected> {
        let (first_stage, more) = stage_from(&job.groups, 0);
        if !more {
            return Ok(());
        }
        self.parts.engines[part as usize].check_tasks(leaf, &told(&job.groups[first_stage..]))
    }

    fn keep(&mut self, part: u32, id: JobId, live: LiveJob) {
        let jobs = &mut self.jobs[part as usize];
        match jobs.get_mut(id.slot()) {
            Some(slot) => *slot = Some(live),
            // Slots are dense: a new one is always the next.
            None => jobs.push(Some(live)),
        }
    }

    pub(super) fn begin_stage(&mut self, part: u32, id: JobId) -> Result<(), RunError> {
        let now = self.now;
        let Some(live) = self.jobs[part as usize][id.slot()].as_mut() else { return Ok(()) };
        let first = live.told;
        let (last, open) = stage_from(&live.groups, first);
        let groups = told(&live.groups[first..last]);
        (live.told, live.ready, live.unstarted) = (last, now, tasks_of(&live.groups[first..last]));
        self.parts.touch(part);
        match self.apply(part, Event::TasksAdded { job: id, groups: &groups, open }) {
            Ok(_) => self.log_stage(part, id, first, last),
            // The cluster has changed since the job came, and its queue's maximum may have: the job
            // fails.
            Err(_) => self.cancel(part, id, Outcome::Failed),
        }
    }

    /// Ends a job that cannot go on.
    pub(super) fn cancel(
        &mut self,
        part: u32,
        id: JobId,
        outcome: Outcome,
    ) -> Result<(), RunError> {
        self.parts.touch(part);
        match self.apply(part, Event::JobCancelled(id)) {
            Ok(Effect::Lost(stopped)) => {
                self.log_stopped(part, &stopped)?;
                self.end_job(part, id, outcome)
            }
            Ok(_) => unreachable!("a cancellation's effect is `Lost`"),
            Err(_) => Ok(()),
        }
    }

    fn refuse(
        &mut self,
        number: u64,
        job: Job,
        cause: Option<Cause>,
        why: Rejected,
    ) -> Result<(), RunError> {
        let (now, source_queue) = (self.now, job.queue);
        if self.strict {
            let queue = self.arrivals.queue_name(source_queue).to_owned();
            return Err(RunError::Refused { job: job.label.to_string(), queue, why });
        }
        self.tally.refused += 1;
        self.log_refusal(number, source_queue, &job, cause, &why)?;
        if let Some(chain) = job.chain {
            self.arrivals.chain_ended(chain, now);
        }
        Ok(())
    }
}
