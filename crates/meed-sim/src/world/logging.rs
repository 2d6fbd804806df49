//! Log lines of the world: names for numbers, built only when there is a log.

use meed::{JobId, QueueId, ResourceKinds, Resources, Start};
use meed_workload::{Durations, Job, TaskGroup};

use super::{LiveTask, RunError, World};
use crate::log::{Arrive, GroupLine, Key, Label, Level, ReasonLine, Record, Started, TaskAt};

impl World<'_> {
    pub(super) fn log_arrival(&mut self, queue: QueueId, job: &Job) -> Result<(), RunError> {
        let tree = self.parts.tree();
        self.log.write(self.now, || {
            let groups = job.groups.iter().filter(|group| group.stage == job.groups[0].stage);
            Record::Arrive(Arrive {
                queue: tree.queue(queue).name,
                job: Label(&job.label),
                stage: 0,
                groups: groups.map(|group| group_line(group, tree.kinds())).collect(),
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
                groups: live.groups[first..last]
                    .iter()
                    .map(|group| group_line(group, tree.kinds()))
                    .collect(),
            })
        })?;
        Ok(())
    }

    pub(super) fn log_start(&mut self, part: u32, start: &Start) -> Result<(), RunError> {
        let engine = &self.parts.engines[part as usize];
        let (tree, jobs) = (self.parts.tree(), &self.jobs[part as usize]);
        let alone = self.parts.is_partitioned();
        self.log.write(self.now, || {
            let live = jobs[start.job.slot()].as_ref().expect("a live job starts");
            let own = tree.queue(live.queue).name;
            let name = |id: QueueId| if alone { own } else { engine.queue(id).name };
            let reason = start.reason.as_deref();
            let levels = reason.map(|reason| reason.levels.as_slice()).unwrap_or_default();
            Record::Start(Started {
                task: TaskAt {
                    queue: own,
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
                    starved_for_s: reason
                        .and_then(|reason| reason.starved_for)
                        .map(|span| span.as_secs_f64()),
                    place: reason.map_or("", |reason| reason.place),
                },
            })
        })?;
        Ok(())
    }

    pub(super) fn log_task(&mut self, part: u32, task: LiveTask, what: &'static str) -> Result<(), RunError> {
        let engine = &self.parts.engines[part as usize];
        let (tree, jobs) = (self.parts.tree(), &self.jobs[part as usize]);
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

fn group_line(group: &TaskGroup, kinds: &ResourceKinds) -> GroupLine {
    GroupLine {
        tasks: group.count,
        demand: natural(&group.demand, kinds),
        duration_s: match &group.duration {
            Durations::Same(span) => vec![span.as_secs_f64()],
            Durations::Each(spans) => spans.iter().map(|span| span.as_secs_f64()).collect(),
        },
    }
}

/// Amounts by name in natural units, without those of nothing.
pub(crate) fn natural(amounts: &Resources, kinds: &ResourceKinds) -> std::collections::BTreeMap<String, f64> {
    let amount = |kind: usize| amounts.get(kind) as f64 / kinds.unit(kind).scale() as f64;
    let some = (0..kinds.len()).filter(|&kind| amounts.get(kind) > 0);
    some.map(|kind| (kinds.name(kind).to_owned(), amount(kind))).collect()
}
