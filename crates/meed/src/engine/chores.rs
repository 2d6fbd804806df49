//! What the clock alone changes: rounds begin, landmarks move, quanta are refreshed.
//!
//! Chores are done when the first event at or after their time comes, before it is taken in. The
//! books do them (`books::chores`); here running tasks are told to them, and the keys that may have
//! fallen are brought up to date afterwards.

use super::Engine;
use super::books::Used;
use super::room::Room;
use super::work::Running;
use crate::spec::QueueRow;

/// What a running task counts by.
pub(super) fn used<'a>(room: &'a Room, task: &Running) -> Used<'a> {
    Used {
        job: task.job,
        queue: task.queue,
        demand: room.demand(task.shape),
        node_weight: room.weight(task.node),
    }
}

impl Engine {
    /// Finds when the next chore is due.
    pub(super) fn schedule_chores(&mut self) {
        self.books.schedule(self.guard.as_ref().and_then(|guard| guard.next_chore()));
    }

    pub(super) fn do_chores(&mut self) {
        self.refreshes += u64::from(self.books.refresh_quanta(self.now, &self.tree));
        let mut changed = self.books.begin_rounds(self.now);
        if !changed.is_empty() {
            for (_, task) in self.work.all_running() {
                let started = (task.started, task.quantum);
                self.books.straddle(&self.tree, &changed, &used(&self.room, task), started);
            }
            self.straddle_idle(&changed);
        }
        changed.extend(self.books.move_landmarks(self.now));
        // The guard's clock is that of the root's policy, which is among the domains.
        self.sweeps += u64::from(!changed.is_empty());
        if let Some(guard) = &mut self.guard {
            let running = self.work.all_running();
            guard.chores(
                self.now,
                running.map(|(_, task)| (used(&self.room, task), (task.started, task.quantum))),
            );
        }
        for domain in changed {
            let (queues, jobs) = self.books.members(domain);
            queues.into_iter().for_each(|queue: QueueRow| self.rekey(queue));
            jobs.into_iter().for_each(|job| self.rekey_job(job));
        }
        self.rekey_guard();
        self.schedule_chores();
    }
}
