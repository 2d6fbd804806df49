//! Rows that the next events will need are asked for before they come.
//!
//! With ten thousand queues and tens of thousands of running tasks the rows of one task lie in some
//! thirty lines of memory that nothing near has touched: handled one after the other, each task
//! waits for one line, then for the next. Who knows what comes some events ahead has them brought
//! meanwhile: a prefetch is an instruction that nobody waits for. What lies behind a row is asked
//! for when the row has come, so there are steps ([`View::expect_task`],
//! [`View::expect_rows`], [`View::expect_behind`]), some events apart.
//!
//! Invariant: nothing is changed, and nothing depends on it; a world that never asks gets the same
//! decisions. Cost: some thirty prefetches for each task.

use super::core::Core;
use super::view::View;
use super::work::Running;
use crate::ids::{AllocationId, QueueId, QueueRow};

/// Rows of fewer queues, or of fewer running tasks, are at hand anyway.
const FEW: usize = 512;

impl<'a> View<'a> {
    /// Whether so much runs that it pays to ask ahead for the rows of tasks that end.
    #[inline]
    pub fn expects_ends(self) -> bool {
        self.core.has_many_tasks()
    }

    /// The task will end soon: has its row brought. The first of four steps, and nothing where the
    /// task is gone.
    #[inline]
    pub fn expect_task(self, id: AllocationId) {
        self.core.work.expect_task(id);
    }

    /// The second step, when the task's row is at hand: has the rows of its job, its node and its
    /// queue brought.
    #[inline]
    pub fn expect_rows(self, id: AllocationId) {
        if let Some(task) = self.core.work.running(id) {
            self.core.expect_rows_of(id, task);
        }
    }

    /// The third step, when those are at hand: has the books of the job and of the queue brought,
    /// and what waits in the queue.
    #[inline]
    pub fn expect_behind(self, id: AllocationId) {
        if let Some(task) = self.core.work.running(id) {
            self.core.books.expect_behind_job(task.job);
            self.core.expect_behind_row(task.queue);
        }
    }

    /// The last step, when those are at hand: has the assumed ends of the queue's tasks brought.
    #[inline]
    pub fn expect_last(self, id: AllocationId) {
        if let Some(task) = self.core.work.running(id) {
            self.core.books.expect_last(task.queue);
        }
    }

    /// A job will come for the queue soon: has the queue's rows brought. The first of two steps.
    #[inline]
    pub fn expect_queue(self, queue: QueueId) {
        if let Some(row) = self.core.tree.row(queue).filter(|_| self.core.has_many_queues()) {
            self.core.expect_rows_of_queue(row);
        }
    }

    /// The second step, when those are at hand: has the queue's books brought, and what waits.
    #[inline]
    pub fn expect_behind_queue(self, queue: QueueId) {
        if let Some(row) = self.core.tree.row(queue).filter(|_| self.core.has_many_queues()) {
            self.core.expect_behind_row(row);
        }
    }
}

impl Core {
    #[inline]
    fn has_many_queues(&self) -> bool {
        self.tree.len() >= FEW
    }

    /// A job comes now, foreseen or not: its queue's rows come side by side, and the last of them
    /// while the job is looked at.
    #[inline]
    pub(super) fn expect_arrival(&self, queue: QueueRow) {
        if self.has_many_queues() {
            self.expect_rows_of_queue(queue);
            self.books.expect_last(queue);
            self.ready.expect_last(queue);
        }
    }

    fn has_many_tasks(&self) -> bool {
        self.work.running_tasks() >= FEW
    }

    /// A task ends now, foreseen or not: its rows come side by side, and those of the queue whose
    /// turn is next while the end is written down.
    #[inline]
    pub(super) fn expect_end(&self, id: AllocationId, task: &Running) {
        if self.has_many_tasks() {
            self.expect_rows_of(id, task);
            self.expect_next();
        }
    }

    /// Has the rows of the queue brought whose turn is next, as far as stored keys tell.
    #[inline]
    fn expect_next(&self) {
        let mut at = QueueRow::ROOT;
        while let Some((_, child)) = self.ready.first(at) {
            at = child;
        }
        if at != QueueRow::ROOT {
            self.expect_rows_of_queue(at);
        }
    }

    #[inline]
    fn expect_rows_of(&self, id: AllocationId, task: &Running) {
        self.work.expect_rows(id, task);
        self.ready.expect_group(task.group);
        self.room.expect(task.node);
        self.books.expect_job(task.job);
        self.expect_rows_of_queue(task.queue);
    }

    #[inline]
    fn expect_rows_of_queue(&self, queue: QueueRow) {
        self.tree.expect(queue);
        self.books.expect(queue);
        self.ready.expect(queue);
    }

    #[inline]
    fn expect_behind_row(&self, queue: QueueRow) {
        self.books.expect_behind(queue);
        self.ready.expect_behind(queue);
    }
}
