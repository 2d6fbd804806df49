//! Rows that the next events will need are read together, before the first of them comes.
//!
//! With ten thousand queues and tens of thousands of running tasks the rows of one task lie in some
//! thirty lines of memory that nothing near has touched: handled one after the other, each task
//! waits for one line, then for the next. Nobody needs to wait for what he does not use: sixteen
//! tasks' rows, read in a loop that only adds up a field of each, come from memory side by side.
//!
//! Invariant: nothing is changed, and nothing depends on it; a world that never asks gets the same
//! decisions. Cost: some thirty loads for each task.

use smallvec::SmallVec;

use super::Engine;
use super::work::Running;
use crate::spec::{AllocationId, JobId, NodeRow, QueueRow};

/// Tasks that are read together without a place on the heap.
const TOGETHER: usize = 16;

/// Rows of fewer queues, or of fewer running tasks, are at hand anyway.
const FEW: usize = 512;

/// Where the rows of a task are.
struct Places {
    task: AllocationId,
    job: JobId,
    queue: QueueRow,
    group: u32,
    node: NodeRow,
}

impl Places {
    #[inline]
    fn of(id: AllocationId, task: &Running) -> Places {
        let Running { job, queue, group, node, .. } = *task;
        Places { task: id, job, queue, group, node }
    }
}

impl Engine {
    /// These tasks are about to end: reads a field of each row that their ends will need, so that
    /// memory answers for all of them at once. Handles of tasks that are gone are passed over. It
    /// pays where [`Engine::reads_ahead`] says so.
    pub fn read_ahead(&self, tasks: impl Iterator<Item = AllocationId>) {
        let place = |id| Some(Places::of(id, self.work.running(id)?));
        let places: SmallVec<[Places; TOGETHER]> = tasks.filter_map(place).collect();
        let rows = places.iter().fold(0, |seen, at| seen ^ self.glance_rows(at));
        // What lies behind pointers of the rows.
        let behind = places.iter().fold(0, |seen, at| seen ^ self.glance_behind(at.queue));
        std::hint::black_box(rows ^ behind);
    }

    /// The same for one that ends now, which pays even where its end was not foreseen.
    #[inline]
    pub(super) fn read_ahead_end(&self, id: AllocationId, task: &Running) {
        if self.reads_ahead() {
            let at = Places::of(id, task);
            std::hint::black_box(self.glance_rows(&at) ^ self.glance_behind(at.queue));
        }
    }

    /// Reads a field of each row of a queue to which something happens now.
    #[inline]
    pub(super) fn read_ahead_queue(&self, queue: QueueRow) {
        if self.tree.len() < FEW {
            return;
        }
        std::hint::black_box(self.glance_queue(queue) ^ self.glance_behind(queue));
    }

    /// Whether so much runs that reading ahead pays.
    #[inline]
    pub fn reads_ahead(&self) -> bool {
        self.work.running_tasks() >= FEW
    }

    #[inline]
    fn glance_queue(&self, queue: QueueRow) -> u64 {
        self.tree.glance(queue) ^ self.books.glance(queue) ^ self.ready.glance(queue)
    }

    #[inline]
    fn glance_rows(&self, at: &Places) -> u64 {
        let rows = self.work.glance(at.job, at.group) ^ self.room.glance(at.node);
        let rows = rows ^ self.work.glance_links(at.task, at.node);
        rows ^ self.books.glance_job(at.job) ^ self.glance_queue(at.queue)
    }

    #[inline]
    fn glance_behind(&self, queue: QueueRow) -> u64 {
        self.books.glance_behind(queue) ^ self.ready.glance_behind(queue)
    }
}
