//! Tasks that are told to stop for others: when they stop, what is lost of their work, and what the
//! next attempt need not do again.
//!
//! A task stops when its grace is over, unless it ends before. Its work is lost, but for what was
//! saved: with checkpoints every c, the next attempt begins at the last multiple of c that was
//! reached, over all attempts; without, at the beginning.
//!
//! > lost = demand x (what this attempt ran - what it saved)

use std::collections::BTreeMap;

use meed::{Resources, Span};
use meed_driver::record::{RunRecord, StoppedRecord};
use meed_driver::resource_seconds;

/// What was stopped, by queue of the tree.
///
/// [`RunRecord::stopped`](crate::record::RunRecord::stopped) tells them; the page of that record
/// has an example.
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
    pub(super) fn saved(&self, done: u64, own: Option<Span>) -> u64 {
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
