//! Records of the world: names for numbers, made only when there is a log.

use meed::{AllocationId, JobId, QueueId, Rejected, Start};
use meed_journal::{Fact, LevelChoice, Refusal, StartReason, Started, TaskFact, TasksAdded};
use meed_workload::{Cause, Job};

use super::{LiveTask, RunError, World};
use crate::log::forms;

impl World<'_> {
    /// `submitted` is the job before it was cut to a share, where it was.
    pub(super) fn log_arrival(
        &mut self,
        number: u64,
        queue: QueueId,
        job: &Job,
        cause: Option<Cause>,
        submitted: Option<&Job>,
    ) -> Result<(), RunError> {
        let tree = self.parts.tree();
        self.log.write(self.now, || {
            let name = self.names.queue(queue, tree.queue(queue).name);
            let arrival = forms::arrival(number, name, job, cause, submitted, tree.kinds());
            Fact::Arrive(Box::new(arrival))
        })?;
        Ok(())
    }

    pub(super) fn log_refusal(
        &mut self,
        number: u64,
        queue: u32,
        job: &Job,
        cause: Option<Cause>,
        why: &Rejected,
    ) -> Result<(), RunError> {
        let queue = self.arrivals.queue_name(queue);
        let tree = self.parts.tree();
        self.log.write(self.now, || {
            let arrival = forms::whole(number, queue.into(), job, cause, tree.kinds());
            Fact::Refuse(Box::new(Refusal { why: why.to_string(), arrival }))
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
            let mut groups = forms::groups(&live.groups[first..last], tree.kinds());
            groups.iter_mut().for_each(|group| group.stage = 0);
            let (job, stage) = (live.number.into(), live.groups[first].stage);
            Fact::TasksAdded(TasksAdded { job, stage, groups, open: false })
        })?;
        Ok(())
    }

    pub(super) fn log_start(
        &mut self,
        part: u32,
        start: &Start,
        attempt: u32,
    ) -> Result<(), RunError> {
        let engine = &self.parts.engines[part as usize];
        let jobs = &self.jobs[part as usize];
        let names = &mut self.names;
        self.log.write(self.now, || {
            let live = jobs[start.job.slot()].as_ref().expect("a live job starts");
            // Alone on its share a tenant is the only queue.
            let tree = self.parts.tree();
            let alone = self.parts.is_partitioned().then_some(live.queue);
            let mut name = |id: QueueId| match alone {
                Some(own) => names.queue(own, tree.queue(own).name),
                None => names.queue(id, engine.queue(id).name),
            };
            let reason = start.reason.as_deref();
            let levels = reason.map(|reason| reason.levels.as_slice()).unwrap_or_default();
            let levels = levels.iter().map(|choice| LevelChoice {
                chosen: name(choice.chosen),
                key: choice.key.into(),
                runner_up: choice.runner_up.map(|(queue, _)| name(queue)),
                runner_up_key: choice.runner_up.map(|(_, key)| key.into()),
            });
            let reason = StartReason {
                levels: levels.collect(),
                starved_for: reason.and_then(|reason| reason.starved_for),
                place: reason.map_or("", |reason| reason.place).into(),
            };
            Fact::Start(Started {
                queue: name(start.queue),
                job: live.number.into(),
                task: start.task,
                attempt,
                node: names.node(part, engine, start.node),
                failures: start.failures,
                by: None,
                since: None,
                reason: Some(Box::new(reason)),
                detail: None,
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
            self.log_task(&task, Fact::Stop)?;
        }
        Ok(())
    }

    pub(super) fn log_task(
        &mut self,
        task: &LiveTask,
        what: fn(TaskFact) -> Fact,
    ) -> Result<(), RunError> {
        let jobs = &self.jobs[task.part as usize];
        self.log.write(self.now, || {
            let live = jobs[task.job.slot()].as_ref().expect("its job is live until it has ended");
            let (job, attempt) = (live.number.into(), task.attempt);
            what(TaskFact { job, task: task.task, attempt, why: None, detail: None })
        })?;
        Ok(())
    }
}
