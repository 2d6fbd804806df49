//! Tasks that were stopped before, so that no task is stopped for ever.
//!
//! Where nobody is below a minimum share, room goes to and fro between queues that are owed in
//! turn: on several nodes tasks of three queues can stop each other again and again, though each
//! holds no more than its share and each stop is right by the ledgers. So
//!
//! > a task that was stopped, and had run r, is not stopped again before it has run more than 2 r
//!
//! unless the winner's side is below its minimum share and the task's is not: a minimum is given
//! back at once. One random run is known in which such stops swing (docs/reclaim.md).
//!
//! Proof that a run without such stops ends: each stop of a task doubles r, which stays below the
//! time that the task takes. So a task that takes T is stopped at most 2 + log2 T times (T in
//! microseconds), and loses less than 2 T. Cost: O(log stopped tasks) for each.

use std::collections::BTreeMap;

use crate::time::Span;

/// How long tasks had run that were stopped and have not ended since: the longest of each.
#[derive(Default)]
pub(super) struct StoppedBefore {
    /// By the slot of the job, and the number of the task in it.
    ran: BTreeMap<(u32, u32), Span>,
}

impl StoppedBefore {
    /// Whether a task that has run so long may be stopped again.
    pub(super) fn allow(&self, task: (u32, u32), ran: Span) -> bool {
        let before = self.ran.get(&task);
        before.is_none_or(|before| ran.as_micros() > before.as_micros().saturating_mul(2))
    }

    /// A task has stopped when it had run so long.
    pub(super) fn note(&mut self, task: (u32, u32), ran: Span) {
        let longest = self.ran.entry(task).or_default();
        *longest = ran.max(*longest);
    }

    /// The task runs no more, and will not again.
    pub(super) fn forget(&mut self, task: (u32, u32)) {
        self.ran.remove(&task);
    }

    /// No task of the job will run again.
    pub(super) fn forget_job(&mut self, job: u32) {
        while let Some((&key, _)) = self.ran.range((job, 0)..=(job, u32::MAX)).next() {
            self.ran.remove(&key);
        }
    }

    /// Slot of the job, number of the task, how long it had run: in order.
    pub(super) fn rows(&self) -> impl Iterator<Item = (u32, u32, Span)> + '_ {
        self.ran.iter().map(|(&(job, task), &ran)| (job, task, ran))
    }
}
