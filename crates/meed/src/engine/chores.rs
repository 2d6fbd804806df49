//! What the clock alone changes: rounds begin, landmarks move, quanta are refreshed.
//!
//! Chores are done when the first event at or after their time comes, before it is taken in. The
//! books do them (`books::chores`); here running tasks are told to them, and the keys that may have
//! fallen are brought up to date afterwards.
//!
//! The running tasks of a job are charged by the job's quantum of now (ICS'14 Eq. 15, Sec. 5.2.2):
//! where a refresh changes it, their charges follow at the same instant, at every level and in the
//! guard's ledgers. They fall where the job learns that its tasks are short, so the keys of the job
//! and of all queues above are brought up to date at once. Without an event in between nobody reads
//! a charge, and what a charge is at an instant depends on the quantum of that instant alone: so it
//! does not matter that a refresh is done at the first event after its time. Cost: O(running tasks
//! of the jobs whose mean has changed), those that started at one instant at once; nothing where no
//! order on the job's path charges by learnt quanta.

use std::collections::{BTreeMap, BTreeSet};

use super::books::Used;
use super::core::Core;
use super::room::Room;
use super::work::Running;
use crate::ids::{JobId, QueueRow};
use crate::order::Requantified;

/// What a running task counts by.
pub(super) fn used<'a>(room: &'a Room, task: &Running) -> Used<'a> {
    Used {
        job: task.job,
        queue: task.queue,
        demand: room.demand(task.shape),
        node_weight: room.weight(task.node),
    }
}

/// What begins at this instant.
pub(super) struct Begun {
    /// Jobs whose quanta are others, where quanta were refreshed.
    learnt: Option<Vec<JobId>>,
    /// Domains that begin a round.
    pub(super) rounds: Vec<usize>,
}

impl Core {
    /// Quanta are refreshed and rounds begin, where their time has come: what tasks hold goes on
    /// into the rounds.
    pub(super) fn begin(&mut self) -> Begun {
        let learnt = self.books.refresh_quanta(self.now, &self.tree);
        self.refreshes += u64::from(learnt.is_some());
        let rounds = self.books.begin_rounds(self.now);
        if !rounds.is_empty() {
            for (_, task) in self.work.all_running() {
                let started = (task.started, task.quantum);
                self.books.straddle(&self.tree, &rounds, &used(&self.room, task), started);
            }
        }
        Begun { learnt, rounds }
    }

    /// Clocks move on, and keys and charges follow what has begun.
    pub(super) fn follow(&mut self, Begun { learnt, rounds: mut changed }: Begun) {
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
        // By the rounds and clocks of now.
        let learnt = learnt.unwrap_or_default();
        let recharged = self.charge_by_new_quanta(&learnt);
        recharged.into_iter().for_each(|queue| self.note_recharged(queue));
        learnt.into_iter().for_each(|job| self.rekey_job(job));
        for domain in changed {
            let (queues, jobs) = self.books.members(domain);
            queues.into_iter().for_each(|queue: QueueRow| self.rekey(queue));
            jobs.into_iter().for_each(|job| self.rekey_job(job));
        }
        self.rekey_guard();
        self.schedule_chores();
    }

    /// Finds when the next chore is due.
    pub(super) fn schedule_chores(&mut self) {
        self.books.schedule(self.guard.as_ref().and_then(|guard| guard.next_chore()));
    }

    /// What a queue is charged has changed by a refresh of quanta, and its key may have fallen.
    fn note_recharged(&mut self, queue: QueueRow) {
        if queue.index() >= self.recharged.len() {
            self.recharged.resize(self.tree.len(), 0);
        }
        self.recharged[queue.index()] = self.refreshes;
        self.rekey(queue);
    }

    /// The running tasks of these jobs are charged by their jobs' quanta of now. The queues whose
    /// charges that changes.
    fn charge_by_new_quanta(&mut self, jobs: &[JobId]) -> BTreeSet<QueueRow> {
        let mut changed = BTreeSet::new();
        for &job in jobs {
            let leaf = self.work.job(job).expect("it is alive").queue;
            if !self.books.charges_learnt(&self.tree, leaf) {
                continue;
            }
            let quantum = self.books.job_quantum(job);
            let mut alike = BTreeMap::new();
            for id in self.work.running_of(job) {
                let task = self.work.running(id).expect("it runs");
                let weight = self.room.weight(task.node);
                let key = (task.started, task.quantum, task.shape.number(), weight);
                alike.entry(key).or_insert((task.shape, 0)).1 += 1;
                self.work.set_quantum(id, quantum);
            }
            let row = |((started, before, _, node_weight), (shape, tasks))| {
                let used = Used { job, queue: leaf, demand: self.room.demand(shape), node_weight };
                (used, Requantified { tasks, started, before, after: quantum })
            };
            let tasks: Vec<_> = alike.into_iter().map(row).collect();
            if tasks.is_empty() {
                continue;
            }
            self.books.change_quanta(self.now, &self.tree, (job, leaf), &tasks);
            if let Some(guard) = &mut self.guard {
                guard.change_quanta(self.now, leaf, &tasks);
            }
            changed.extend(self.tree.up(leaf).map(|(queue, _)| queue));
        }
        changed
    }
}
