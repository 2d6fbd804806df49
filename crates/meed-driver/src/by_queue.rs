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

#[cfg(test)]
mod tests {
    use meed::{Config, Engine, NodeSpec, Policy, QueueSpec, ResourceKinds, Resources, Unit};

    use super::*;

    /// The root and `count` queues below it.
    fn queues(count: usize) -> Vec<QueueId> {
        let policy = || Policy::preset("fair").expect("a preset's name");
        let queue = |number| QueueSpec {
            name: format!("q{number}"),
            weight: 1000,
            min: None,
            max: None,
            policy: policy(),
        };
        let config = Config {
            kinds: ResourceKinds::new(vec![("slot".to_owned(), Unit::Milli)]).expect("one kind"),
            measured: 0,
            queues: (0..count).map(queue).collect(),
            nodes: vec![NodeSpec::new("n".to_owned(), Resources::new(&[1000]))],
            root: policy(),
        };
        let placement = (meed::place::PLACEMENTS[0].new)(1, 0);
        let engine = Engine::new(config, placement).expect("a cluster");
        engine.view().queue_ids().collect()
    }

    #[test]
    fn a_row_is_found_whichever_queues_were_forgotten() {
        let all = queues(6);
        assert_eq!(all.len(), 7, "with the root");
        for forgotten in 0u32..128 {
            let is_known = |queue: QueueId| forgotten >> queue.index() & 1 == 0;
            // Some come after the others were forgotten.
            for early in 0..=all.len() {
                let mut table = ByQueue::default();
                all[..early].iter().for_each(|&queue| table.add(queue, queue));
                table.retain(is_known);
                all[early..].iter().for_each(|&queue| table.add(queue, queue));
                for (place, &queue) in all.iter().enumerate() {
                    let known = (place >= early || is_known(queue)).then_some(&queue);
                    assert_eq!(table.get(queue), known, "{forgotten:b}, {early}");
                }
            }
        }
    }
}
