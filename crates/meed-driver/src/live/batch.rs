//! What a world tells of one instant, by names: it holds no handles, which a crash would take.

use meed::{
    Infeasible, JobSpec, JobState, Labels, NodeSpec, Policy, QueueChange, QueueId, QueueSpec,
    Rejected, Resources, Time,
};
use meed_journal::{Arrival, ClockStep, Fact, Group, JobKey, Keys, Name, Note, TaskKey};

use super::book::Book;
use super::{Action, Live};
use crate::driver::{Driver, Ended, read_groups};
use crate::journal::Failed;
use crate::rows::{NewJob, Task};

/// The verbs of one instant; see [`Live::at`]. A verb that the engine refuses changes nothing and
/// leaves no record, but for a job that is refused.
pub struct Batch<'l, J> {
    live: &'l mut Live<J>,
    now: Time,
}

impl<'l, J> Batch<'l, J> {
    pub(super) fn new(live: &'l mut Live<J>, now: Time) -> Batch<'l, J> {
        Batch { live, now }
    }

    pub(super) fn live(&self) -> &Live<J> {
        self.live
    }

    /// The instant.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The queue of that name.
    pub fn find_queue(&self, name: &str) -> Option<QueueId> {
        self.live.engine().find_queue(name)
    }

    /// A job arrives, as its record will tell it. Its key must be new for ever. A job that is
    /// refused leaves a record, too.
    pub fn job_arrived(&mut self, mut arrival: Arrival) -> Result<(), Failed> {
        let Live { driver, take, .. } = &mut *self.live;
        if driver.job_of(&arrival.job).is_some() {
            let why = format!("job {} is there already; keys are used once", arrival.job);
            return Err(Failed::Record(why));
        }
        let groups =
            read_groups(&arrival.groups, arrival.limit_of_groups(), driver.engine().kinds())?;
        let taken = take(&arrival);
        // What is recorded counts after a crash, whatever the world says then.
        let max_attempts = *arrival.max_attempts.get_or_insert(taken.max_attempts);
        let came = self.verb(|driver, now| {
            let queue = driver.known_queue(&arrival.queue)?;
            let (weight, open) = (arrival.weight, arrival.open);
            let spec = JobSpec { queue, weight, groups: &groups, open, max_attempts };
            let (key, name) = (arrival.job.clone(), arrival.name.clone());
            let new = || NewJob { key, name, detail: taken.detail };
            driver.job_arrived(now, spec, new, |_, told, _| told.clone_from(&arrival))
        });
        match came {
            Ok(_) => Ok(()),
            Err(Failed::Rejected(why)) => {
                self.live.driver.job_refused(self.now, &why, |_| arrival)?;
                Err(why.into())
            }
            Err(other) => Err(other),
        }
    }

    /// An open job gets more tasks; `open`: whether still more may come.
    pub fn tasks_added(
        &mut self,
        job: &JobKey,
        groups: &[Group],
        open: bool,
    ) -> Result<(), Failed> {
        let id = self.known_job(job)?;
        let read = read_groups(groups, None, self.live.driver.engine().kinds())?;
        self.verb(|driver, now| {
            driver.tasks_added(now, id, &read, open, |_, told| {
                told.groups = groups.to_vec();
            })
        })
    }

    /// A job's weight among the jobs of its queue changes; in thousandths.
    pub fn job_changed(&mut self, job: &JobKey, weight: u64) -> Result<(), Failed> {
        let id = self.known_job(job)?;
        self.verb(|driver, now| driver.job_changed(now, id, weight))
    }

    /// Somebody cancels a job.
    pub fn job_cancelled(&mut self, job: &JobKey) -> Result<(), Failed> {
        let id = self.known_job(job)?;
        let cancelled = self.verb(|driver, now| driver.job_cancelled(now, id))?;
        self.stop_of(cancelled.job.key(), &cancelled.stopped);
        Ok(())
    }

    /// A task has ended well; what became of its job.
    pub fn task_ended(&mut self, task: &TaskKey) -> Result<JobState, Failed> {
        let id = self.known_task(task)?;
        let ended = self.verb(|driver, now| driver.task_ended(now, id))?;
        Ok(self.after_end(task, &ended))
    }

    /// A task has failed; it waits again until its job's attempts are used up.
    pub fn task_failed(&mut self, task: &TaskKey) -> Result<JobState, Failed> {
        let id = self.known_task(task)?;
        let ended = self.verb(|driver, now| driver.task_failed(now, id))?;
        Ok(self.after_end(task, &ended))
    }

    /// A start could not be carried out: it is undone, charged nothing and no attempt, and the task
    /// waits again.
    pub fn start_failed(&mut self, task: &TaskKey, why: Option<&str>) -> Result<(), Failed> {
        let id = self.known_task(task)?;
        let row = self.verb(|driver, now| driver.start_failed(now, id, why))?;
        self.forget(&row);
        Ok(())
    }

    /// A task runs no more, without its fault; it waits again.
    pub fn task_lost(&mut self, task: &TaskKey, why: Option<&str>) -> Result<(), Failed> {
        let id = self.known_task(task)?;
        let row = self.verb(|driver, now| driver.task_lost(now, id, why))?;
        self.forget(&row);
        Ok(())
    }

    /// One task of a job is wanted no more: where it runs, it is to be stopped. What became of its
    /// job.
    pub fn task_withdrawn(
        &mut self,
        job: &JobKey,
        task: u32,
        why: Option<&str>,
    ) -> Result<JobState, Failed> {
        let id = self.known_job(job)?;
        let withdrawn = self.verb(|driver, now| driver.task_withdrawn(now, id, task, why))?;
        self.stop_of(job, withdrawn.stopped.as_slice());
        Ok(withdrawn.state)
    }

    /// A task that waits runs already, since an instant that is not in the future: somebody else
    /// decided it, `by`. The attempt that it is.
    pub fn task_adopted(
        &mut self,
        job: &JobKey,
        task: u32,
        node: &str,
        since: Time,
        by: Option<&Name>,
    ) -> Result<TaskKey, Failed> {
        let id = self.known_job(job)?;
        let place = self.live.driver.known_node(node)?;
        let adopt = |driver: &mut Driver<J, Book>, now| {
            driver.task_adopted(now, (id, task), place, since, by)
        };
        let allocation = self.verb(adopt)?;
        Ok(self.live.running_task(allocation).task)
    }

    /// A task turns out to run on another node, and has done so since its start.
    pub fn task_moved(&mut self, task: &TaskKey, node: &str) -> Result<(), Failed> {
        let id = self.known_task(task)?;
        let place = self.live.driver.known_node(node)?;
        let before = *self.live.driver.running(id).expect("it was found");
        self.verb(|driver, now| driver.task_moved(now, id, place))?;
        self.forget(&before);
        Ok(())
    }

    /// A start that the journal holds was not carried out before a crash, as the world has made
    /// sure: it is handed out again by the next commit. Nothing is recorded, for nothing changes.
    pub fn start_again(&mut self, task: &TaskKey) -> Result<(), Failed> {
        let id = self.known_task(task)?;
        let super::RunningTask { task, node } = self.live.running_task(id);
        self.live.waits(Action::Start { task, node });
        Ok(())
    }

    /// A node joins.
    pub fn node_joined(&mut self, node: NodeSpec) -> Result<(), Failed> {
        self.verb(|driver, now| driver.node_joined(now, node)).map(|_| ())
    }

    /// A node leaves: its tasks wait again, and are to be stopped should they still run.
    pub fn node_left(&mut self, node: &str) -> Result<(), Failed> {
        let id = self.live.driver.known_node(node)?;
        let lost = self.verb(|driver, now| driver.node_left(now, id))?;
        self.stop(&lost);
        Ok(())
    }

    /// A node's capacity changes: tasks that no longer fit are to be stopped, and wait again
    /// ([`meed::Event::NodeChanged`]).
    pub fn node_changed(&mut self, node: &str, capacity: Resources) -> Result<(), Failed> {
        let id = self.live.driver.known_node(node)?;
        let lost = self.verb(|driver, now| driver.node_changed(now, id, capacity))?;
        self.stop(&lost);
        Ok(())
    }

    /// The same, but what runs there goes on.
    pub fn node_resized(&mut self, node: &str, capacity: Resources) -> Result<(), Failed> {
        let id = self.live.driver.known_node(node)?;
        self.verb(|driver, now| driver.node_resized(now, id, capacity))
    }

    /// Nothing new starts on a node; what runs there goes on.
    pub fn node_cordoned(&mut self, node: &str, why: Option<&str>) -> Result<(), Failed> {
        let id = self.live.driver.known_node(node)?;
        self.verb(|driver, now| driver.node_cordoned(now, id, why))
    }

    /// Tasks may start there again.
    pub fn node_uncordoned(&mut self, node: &str, why: Option<&str>) -> Result<(), Failed> {
        let id = self.live.driver.known_node(node)?;
        self.verb(|driver, now| driver.node_uncordoned(now, id, why))
    }

    /// A node has other labels: these are all.
    pub fn node_relabelled(&mut self, node: &str, labels: Labels) -> Result<(), Failed> {
        let id = self.live.driver.known_node(node)?;
        self.verb(|driver, now| driver.node_relabelled(now, id, labels))
    }

    /// Work that is not this scheduler's uses so much of a node, in all.
    pub fn node_used_by_others(&mut self, node: &str, used: Resources) -> Result<(), Failed> {
        let id = self.live.driver.known_node(node)?;
        self.verb(|driver, now| driver.node_used_by_others(now, id, used))
    }

    /// What becomes, from now on, of tasks that no node could hold.
    pub fn set_infeasible(&mut self, infeasible: Infeasible) -> Result<(), Failed> {
        self.verb(|driver, now| driver.set_infeasible(now, infeasible))
    }

    /// A queue is added below an existing one; `own`: [`Driver::queue_added`].
    pub fn queue_added(&mut self, queue: QueueSpec, own: Keys) -> Result<(), Failed> {
        self.verb(|driver, now| driver.queue_added(now, queue, own)).map(|_| ())
    }

    /// A queue's weight or bounds change.
    pub fn queue_changed(&mut self, queue: &str, change: QueueChange) -> Result<(), Failed> {
        let id = self.live.driver.known_queue(queue)?;
        self.verb(|driver, now| driver.queue_changed(now, id, change))
    }

    /// Queues order otherwise from now on ([`Driver::policies_changed`]): the root, where that is
    /// given, with all that ordered as it did; `others` by their own. Whether that changes
    /// anything.
    pub fn policies_changed(
        &mut self,
        root: Option<Policy>,
        others: &[(&str, Policy)],
    ) -> Result<bool, Failed> {
        let others = self.live.driver.known_policies(others)?;
        self.verb(|driver, now| driver.policies_changed(now, root, others))
    }

    /// A queue takes no more jobs and goes when its last has ended.
    pub fn queue_removed(&mut self, queue: &str) -> Result<(), Failed> {
        let id = self.live.driver.known_queue(queue)?;
        self.verb(|driver, now| driver.queue_removed(now, id))
    }

    /// Keeps a note of the world's own in the journal.
    pub fn note(&mut self, note: Note) -> Result<(), Failed> {
        self.live.driver.note(self.now, || Fact::Note(note))
    }

    /// The wall clock stepped. Instants do not: [`Live::instant`].
    pub fn clock_stepped(&mut self, step: ClockStep) -> Result<(), Failed> {
        self.live.driver.note(self.now, || Fact::Clock(step))
    }

    /// An event that is refused was none: it is not counted either, for it leaves no record.
    pub(super) fn verb<T>(
        &mut self,
        verb: impl FnOnce(&mut Driver<J, Book>, Time) -> Result<T, Failed>,
    ) -> Result<T, Failed> {
        let events = self.live.driver.tally.totals.events;
        let done = verb(&mut self.live.driver, self.now);
        if let Err(Failed::Rejected(_)) = done {
            self.live.driver.tally.totals.events = events;
        }
        done
    }

    fn after_end(&mut self, task: &TaskKey, ended: &Ended<J>) -> JobState {
        self.stop_of(&task.job, &ended.stopped);
        ended.state
    }

    fn known_job(&self, key: &JobKey) -> Result<meed::JobId, Failed> {
        Ok(self.live.driver.job_of(key).ok_or(Rejected::UnknownJob)?)
    }

    /// That attempt, not another one of the task.
    fn known_task(&self, task: &TaskKey) -> Result<meed::AllocationId, Failed> {
        let driver = &self.live.driver;
        let found = driver.task_of(&task.job, task.task);
        let this =
            found.filter(|&id| driver.running(id).is_some_and(|row| row.attempt == task.attempt));
        Ok(this.ok_or(Rejected::UnknownTask)?)
    }

    /// A task runs no more, or not there, and the world knows: a start that was not handed out yet
    /// is none.
    fn forget(&mut self, row: &Task) {
        let super::RunningTask { task, node } = self.live.named(row);
        self.live.forget_start(task, node);
    }

    /// Tasks of jobs that live on.
    fn stop(&mut self, tasks: &[Task]) {
        for row in tasks {
            let super::RunningTask { task, node } = self.live.named(row);
            self.live.stops(task, node);
        }
    }

    /// Tasks of one job, which may be gone.
    fn stop_of(&mut self, job: &JobKey, tasks: &[Task]) {
        for row in tasks {
            let task = TaskKey { job: job.clone(), task: row.task, attempt: row.attempt };
            let node = self.live.driver.engine().node(row.node).0.name.as_str().into();
            self.live.stops(task, node);
        }
    }
}
