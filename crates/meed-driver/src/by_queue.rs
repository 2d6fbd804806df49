//! A table with a row for each queue that the engine remembers.
//!
//! Queues are numbered in order of declaration, so rows are in that order, and a queue's row is its
//! number as long as none was forgotten. Cost of a look: O(1) until then, O(log rows) after.

use std::ops::{Index, IndexMut};

use meed::QueueId;

/// See the module. Invariant: numbers ascend, one for each row.
#[derive(Clone, Debug)]
pub(crate) struct ByQueue<T> {
    queues: Vec<QueueId>,
    rows: Vec<T>,
}

impl<T> Default for ByQueue<T> {
    fn default() -> ByQueue<T> {
        ByQueue { queues: Vec::new(), rows: Vec::new() }
    }
}

impl<T> ByQueue<T> {
    pub(crate) fn of(rows: impl IntoIterator<Item = (QueueId, T)>) -> ByQueue<T> {
        let (queues, rows) = rows.into_iter().unzip();
        ByQueue { queues, rows }
    }

    #[inline]
    fn row(&self, queue: QueueId) -> Option<usize> {
        // Numbers ascend from 0: where the last is its own row, all are.
        if self.queues.last().is_none_or(|last| last.index() + 1 == self.queues.len()) {
            return (queue.index() < self.rows.len()).then_some(queue.index());
        }
        self.queues.binary_search(&queue).ok()
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    #[inline]
    pub(crate) fn get(&self, queue: QueueId) -> Option<&T> {
        self.row(queue).map(|row| &self.rows[row])
    }

    /// A row for a queue that has just been declared; one that came back has its own.
    pub(crate) fn add(&mut self, queue: QueueId, row: T) {
        if self.row(queue).is_none() {
            debug_assert!(self.queues.last().is_none_or(|&last| last < queue), "{queue:?}");
            self.queues.push(queue);
            self.rows.push(row);
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (QueueId, &T)> {
        self.queues.iter().copied().zip(&self.rows)
    }

    /// Keeps the rows of queues that `known` knows.
    pub(crate) fn retain(&mut self, known: impl Fn(QueueId) -> bool) {
        let mut queues = self.queues.iter();
        self.rows.retain(|_| queues.next().is_some_and(|&queue| known(queue)));
        self.queues.retain(|&queue| known(queue));
    }
}

impl<T> Index<QueueId> for ByQueue<T> {
    type Output = T;

    #[inline]
    fn index(&self, queue: QueueId) -> &T {
        let row = self.row(queue).expect("the engine knows the queue");
        &self.rows[row]
    }
}

impl<T> IndexMut<QueueId> for ByQueue<T> {
    #[inline]
    fn index_mut(&mut self, queue: QueueId) -> &mut T {
        let row = self.row(queue).expect("the engine knows the queue");
        &mut self.rows[row]
    }
}
