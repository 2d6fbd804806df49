//! Log lines of the world: names for numbers, built only when there is a log.

use meed::{AllocationId, JobId, QueueId, Rejected, ResourceKinds, Start};
use meed_config::constraints::ConstraintsForm;
use meed_workload::{Cause, Job, TaskGroup};

use super::{LiveTask, RunError, World};
use crate::log::{
    Amounts, Arrive, DurationsLine, GroupLine, Key, Label, Level, ReasonLine, Record, Refuse,
    Seconds, Started, TaskAt, Terms,
};

impl World<'_> {
    /// `submitted` is the job before it was cut to a share, where it was.
    pub(super) fn log_arrival(
        &mut self,
        queue: QueueId,
        job: &Job,
        cause: Option<Cause>,
        submitted: Option<&Job>,
    ) -> Result<(), RunError> {
        let tree = self.parts.tree();
        self.log.write(self.now, || {
            let (kinds, first) = (tree.kinds(), job.groups[0].stage);
            let now = job
                .groups
                .iter()
                .position(|group| group.stage != first)
                .unwrap_or(job.groups.len());
            let submitted = submitted.map_or(&[][..], |job| &job.groups);
            Record::Arrive(Arrive {
                queue: tree.queue(queue).name,
                job: Label(&job.label),
                stage: 0,
                terms: Terms { weight: job.weight, chain: job.chain, cause },
                groups: group_lines(&job.groups[..now], kinds),
                later: group_lines(&job.groups[now..], kinds),
                submitted: group_lines(submitted, kinds),
            })
        })?;
        Ok(())
    }

    pub(super) fn log_refusal(
        &mut self,
        queue: u32,
        job: &Job,
        cause: Option<Cause>,
        why: &Rejected,
    ) -> Result<(), RunError> {
        let queue = self.arrivals.queue_name(queue);
        let tree = self.parts.tree();
        self.log.write(self.now, || {
            Record::Refuse(Refuse {
                queue,
                job: Label(&job.label),
                why: why.to_string(),
                terms: Terms { weight: job.weight, chain: job.chain, cause },
                groups: group_lines(&job.groups, tree.kinds()),
            })
        })?;
        Ok(())
    }

    pub(super) fn log_stage(
        &mut self,
        part: u32,
        id: JobId,
        first: usize,
        last: usize,
    ) -> Result<(), RunError> {
        let (tree, jobs) = (self.parts.tree(), &self.jobs[part as usize]);
        self.log.write(self.now, || {
            let live = jobs[id.slot()].as_ref().expect("its stage has just begun");
            Record::Arrive(Arrive {
                queue: tree.queue(live.queue).name,
                job: Label(&live.label),
                stage: live.groups[first].stage,
                terms: Terms::default(),
                groups: live.groups[first..last]
                    .iter()
                    .map(|group| GroupLine { stage: 0, ..group_line(group, tree.kinds()) })
                    .collect(),
                later: Vec::new(),
                submitted: Vec::new(),
            })
        })?;
        Ok(())
    }

    pub(super) fn log_start(&mut self, part: u32, start: &Start) -> Result<(), RunError> {
        let engine = &self.parts.engines[part as usize];
        let jobs = &self.jobs[part as usize];
        self.log.write(self.now, || {
            let live = jobs[start.job.slot()].as_ref().expect("a live job starts");
            // Alone on its share a tenant is the only queue.
            let alone =
                self.parts.is_partitioned().then(|| self.parts.tree().queue(live.queue).name);
            let name = |id: QueueId| alone.unwrap_or_else(|| engine.queue(id).name);
            let reason = start.reason.as_deref();
            let levels = reason.map(|reason| reason.levels.as_slice()).unwrap_or_default();
            Record::Start(Started {
                task: TaskAt {
                    queue: name(start.queue),
                    job: Label(&live.label),
                    task: start.task,
                    node: &engine.node(start.node).0.name,
                },
                failures: start.failures,
                reason: ReasonLine {
                    levels: levels
                        .iter()
                        .map(|choice| Level {
                            chosen: name(choice.chosen),
                            key: Key::of(choice.key),
                            runner_up: choice.runner_up.map(|(queue, _)| name(queue)),
                            runner_up_key: choice.runner_up.map(|(_, key)| Key::of(key)),
                        })
                        .collect(),
                    starved_for_s: reason.and_then(|reason| reason.starved_for).map(Seconds),
                    place: reason.map_or("", |reason| reason.place),
                },
            })
        })?;
        Ok(())
    }

    /// Tasks that end with their job before their time.
    pub(super) fn log_stopped(
        &mut self,
        part: u32,
        stopped: &[AllocationId],
    ) -> Result<(), RunError> {
        for task in self.take_tasks(part, stopped) {
            self.log_task(&task, "stop")?;
        }
        Ok(())
    }

    pub(super) fn log_task(&mut self, task: &LiveTask, what: &'static str) -> Result<(), RunError> {
        let engine = &self.parts.engines[task.part as usize];
        let (tree, jobs) = (self.parts.tree(), &self.jobs[task.part as usize]);
        self.log.write(self.now, || {
            let live = jobs[task.job.slot()].as_ref().expect("its job is live until it has ended");
            Record::Task {
                what,
                task: TaskAt {
                    queue: tree.queue(live.queue).name,
                    job: Label(&live.label),
                    task: task.task,
                    node: &engine.node(task.node).0.name,
                },
            }
        })?;
        Ok(())
    }
}

fn group_lines<'a>(groups: &'a [TaskGroup], kinds: &'a ResourceKinds) -> Vec<GroupLine<'a>> {
    groups.iter().map(|group| group_line(group, kinds)).collect()
}

fn group_line<'a>(group: &'a TaskGroup, kinds: &'a ResourceKinds) -> GroupLine<'a> {
    GroupLine {
        stage: group.stage,
        tasks: group.count,
        demand: Amounts(&group.demand, kinds),
        duration_s: DurationsLine(&group.duration),
        constraints: group.constraints.as_deref().map(ConstraintsForm::of),
    }
}
