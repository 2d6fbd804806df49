//! Tasks that are told to stop for others: when they stop, what is lost of their work, and what the
//! next attempt need not do again.
//!
//! A task stops when its grace is over, unless it ends before. Its work is lost, but for what was
//! saved: with checkpoints every c, the next attempt begins at the last multiple of c that was
//! reached, over all attempts; without, at the beginning.
//!
//! > lost = demand x (what this attempt ran - what it saved)

use std::collections::BTreeMap;

use meed::{AllocationId, Resources, Span, Start};
use meed_driver::record::{RunRecord, StoppedRecord};
use meed_driver::resource_seconds;

use super::desk::Desk;
use super::{Ending, RunError, Running, World};

/// What was stopped, by queue of the tree.
#[derive(Default)]
pub struct Stops {
    /// How often tasks that do not say it themselves save what they have done.
    checkpoint: Option<Span>,
    by_queue: BTreeMap<usize, Stopped>,
}

#[derive(Default)]
struct Stopped {
    tasks: u64,
    /// Smallest units x microseconds, kind by kind.
    lost: Vec<u128>,
}

impl Stopped {
    fn add(&mut self, demand: &Resources, lost: u64) {
        self.tasks += 1;
        self.lost.resize(demand.kinds(), 0);
        for (sum, &amount) in self.lost.iter_mut().zip(demand.as_slice()) {
            *sum += u128::from(amount) * u128::from(lost);
        }
    }
}

impl Stops {
    pub(super) fn with_checkpoint(checkpoint: Option<Span>) -> Stops {
        Stops { checkpoint, ..Stops::default() }
    }

    /// How much of `done` is saved, in microseconds; `own`: how often the task itself saves.
    fn saved(&self, done: u64, own: Option<Span>) -> u64 {
        let every = own.or(self.checkpoint).map_or(0, Span::as_micros);
        done.checked_div(every).map_or(0, |times| times * every)
    }

    /// So many microseconds of a task of `queue` have to be done again.
    pub fn lost(&mut self, queue: usize, demand: &Resources, lost: u64) {
        self.by_queue.entry(queue).or_default().add(demand, lost);
    }

    /// In the record of a run under a policy that stops tasks.
    pub fn tell(&self, tree: meed::View<'_>, record: &mut RunRecord) {
        let told = |all: &mut dyn Iterator<Item = &Stopped>| {
            let (mut tasks, mut lost) = (0, vec![0u128; tree.kinds().len()]);
            for stopped in all {
                tasks += stopped.tasks;
                lost.iter_mut().zip(&stopped.lost).for_each(|(sum, lost)| *sum += lost);
            }
            Some(StoppedRecord { tasks, lost: resource_seconds(&lost, tree) })
        };
        record.stopped = told(&mut self.by_queue.values());
        for queue in &mut record.queues {
            let index = tree.find_queue(&queue.queue).map(|id| id.index());
            let ours = index.and_then(|index| self.by_queue.get(&index));
            queue.stopped = told(&mut ours.into_iter());
        }
    }
}

impl<'a, D: Desk<'a>> World<'a, D> {
    /// A task is told to stop: it does when its grace is over.
    pub(super) fn tell_to_stop(&mut self, at: D::At, allocation: AllocationId, grace: Span) {
        let ending = Ending::Stopped;
        self.put_end(self.now.saturating_add(grace), Running { at, allocation, ending });
    }

    /// A task has stopped: it waits again.
    pub(super) fn task_stopped(
        &mut self,
        at: D::At,
        allocation: AllocationId,
    ) -> Result<(), RunError> {
        let now = self.now;
        let driver = self.desk.driver_mut(at);
        let demand = *driver.engine().demand_of(allocation).expect("it runs");
        let started = driver.engine().started(allocation).expect("it runs");
        let why = Some("its room was taken back");
        let task = driver.task_lost(now, allocation, why).map_err(|why| RunError::of(now, why))?;
        let ran = now.saturating_since(started).as_micros();
        let live = driver.job_mut(task.job).expect("its job waits for it");
        let queue = live.queue();
        let before = live.detail.saved(task.task).as_micros();
        let own = live.detail.tasks.checkpoint(task.task);
        let saved = self.stops.saved(before + ran, own).max(before);
        live.detail.save(task.task, span(saved));
        let lost = before + ran - saved;
        let queue = self.desk.in_tree(at, queue).index();
        self.stops.lost(queue, &demand, lost);
        Ok(())
    }

    /// How long a task runs that starts now, and how it ends, unless it is lost before.
    #[inline]
    pub(super) fn attempt_of(&self, at: D::At, start: &Start) -> (Span, Ending) {
        let job = &self.desk.driver(at).job(start.job).expect("a live job starts").detail;
        let duration = job.tasks.duration(start.group, start.task);
        let left = duration.as_micros().saturating_sub(job.saved(start.task).as_micros());
        let attempt = self.failures.run(job.luck, start.task, start.failures, span(left));
        let ending = match (attempt.fails, job.tasks.is_cut()) {
            (true, _) => Ending::Fails,
            (false, true) => Ending::Cut,
            (false, false) => Ending::Done,
        };
        (attempt.lasts, ending)
    }
}

fn span(micros: u64) -> Span {
    Span::from_micros(micros).expect("no longer than another span")
}
