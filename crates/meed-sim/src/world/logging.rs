//! Log lines of the world: names for numbers, built only when there is a log.

use meed::{JobId, QueueId, Rejected, ResourceKinds, Start};
use meed_config::constraints::ConstraintsForm;
use meed_driver::{LiveJob, Task};
use meed_workload::{Cause, Job, TaskGroup};

use super::desk::Desk;
use super::{Planned, RunError, World};
use crate::log::{
    Amounts, Arrive, DurationsLine, GroupLine, Key, Label, Level, ReasonLine, Record, Refuse,
    Seconds, Started, TaskAt, Terms,
};

impl<D: Desk> World<'_, D> {
    /// `submitted` is the job before it was cut to a share, where it was.
    pub(super) fn log_arrival(
        &mut self,
        at: D::At,
        id: JobId,
        queue: QueueId,
        cause: Option<Cause>,
        submitted: Option<&Job>,
    ) -> Result<(), RunError> {
        let (tree, driver) = (self.desk.tree(), self.desk.driver(at));
        self.log.write(self.now, || {
            let (kinds, live) = (tree.kinds(), driver.job(id).expect("it has just come"));
            let job = &live.detail;
            let now = job.told;
            let submitted = submitted.map_or(&[][..], |job| &job.groups);
            Record::Arrive(Arrive {
                queue: tree.queue(queue).name,
                job: Label(live.label()),
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
        let tree = self.desk.tree();
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
        at: D::At,
        id: JobId,
        first: usize,
        last: usize,
    ) -> Result<(), RunError> {
        let tree = self.desk.tree();
        self.log.write(self.now, || {
            let live = self.desk.driver(at).job(id).expect("its stage has just begun");
            let all = &live.detail.groups;
            Record::Arrive(Arrive {
                queue: self.desk.queue_name(at, live.queue()),
                job: Label(live.label()),
                stage: all[first].stage,
                terms: Terms::default(),
                groups: all[first..last]
                    .iter()
                    .map(|group| GroupLine { stage: 0, ..group_line(group, tree.kinds()) })
                    .collect(),
                later: Vec::new(),
                submitted: Vec::new(),
            })
        })?;
        Ok(())
    }

    pub(super) fn log_start(&mut self, at: D::At, start: &Start) -> Result<(), RunError> {
        let driver = self.desk.driver(at);
        self.log.write(self.now, || {
            let live = driver.job(start.job).expect("a live job starts");
            let name = |id: QueueId| self.desk.queue_name(at, id);
            let reason = start.reason.as_deref();
            let levels = reason.map(|reason| reason.levels.as_slice()).unwrap_or_default();
            Record::Start(Started {
                task: TaskAt {
                    queue: name(start.queue),
                    job: Label(live.label()),
                    task: start.task,
                    node: &driver.engine().node(start.node).0.name,
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

    /// `gone`: its job, where that lives no more.
    pub(super) fn log_task(
        &mut self,
        at: D::At,
        task: &Task,
        gone: Option<&LiveJob<Planned>>,
        what: &'static str,
    ) -> Result<(), RunError> {
        let driver = self.desk.driver(at);
        self.log.write(self.now, || {
            let live = gone.or_else(|| driver.job(task.job)).expect("its job lives, or has gone");
            Record::Task {
                what,
                task: TaskAt {
                    queue: self.desk.queue_name(at, live.queue()),
                    job: Label(live.label()),
                    task: task.task,
                    node: &driver.engine().node(task.node).0.name,
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
