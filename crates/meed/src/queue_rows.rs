//! Which row of the tables is which queue's.
//!
//! Rows are in order of declaration, so that ties go by that order. A queue that is removed keeps
//! its row for a while, with all its history, for it may come back (decision record 10). The rows
//! of those that are removed are bounded: when more are gone than are live, and more than
//! [`REMEMBERED`], half of them are forgotten (`engine::forget` says which), and the rows of all
//! others move up. So the order of all others stays. Numbers are never used again: a handle to a
//! queue that is forgotten is nobody's.
//!
//! Cost: a handle is turned into its row in O(1) as long as nothing was forgotten, in O(log rows)
//! after.

use std::collections::VecDeque;

use crate::spec::{QueueId, QueueRow};
use crate::state::{QueueState, StateError, ensure};

/// So many removed queues are remembered at least.
pub(crate) const REMEMBERED: u32 = 1024;

/// See the module.
#[derive(Clone)]
pub(crate) struct QueueRows {
    /// By row: the queue's number in order of declaration. Ascending; the root is 0.
    numbers: Vec<u32>,
    /// The number of the next queue.
    next: u32,
    /// Rows of removed queues, in order of their going.
    gone: VecDeque<QueueRow>,
    /// Fewest that are remembered of those.
    remembered: u32,
}

impl Default for QueueRows {
    fn default() -> QueueRows {
        QueueRows { numbers: Vec::new(), next: 0, gone: VecDeque::new(), remembered: REMEMBERED }
    }
}

impl QueueRows {
    /// The row of a queue; `None` where it was never declared, or is forgotten.
    #[inline]
    pub(crate) fn row(&self, id: QueueId) -> Option<QueueRow> {
        // Numbers ascend: where one stands at its own place, all before it do.
        if self.numbers.get(id.index()) == Some(&id.0) {
            return Some(QueueRow(id.0));
        }
        self.numbers.binary_search(&id.0).ok().map(|row| QueueRow(row as u32))
    }

    /// Whose row it is.
    #[inline]
    pub(crate) fn id(&self, row: QueueRow) -> QueueId {
        QueueId(self.numbers[row.index()])
    }

    /// All that are remembered, in order of declaration.
    pub(crate) fn ids(&self) -> Vec<QueueId> {
        self.numbers.iter().map(|&number| QueueId(number)).collect()
    }

    /// Whether all numbers have been given.
    pub(crate) fn is_full(&self) -> bool {
        self.next == u32::MAX
    }

    /// The row of a queue that is declared.
    pub(crate) fn declare(&mut self) -> QueueRow {
        self.numbers.push(self.next);
        self.next += 1;
        QueueRow(self.numbers.len() as u32 - 1)
    }

    /// The queue of a row is removed.
    pub(crate) fn remove(&mut self, row: QueueRow) {
        self.gone.push_back(row);
    }

    /// The queue of a row has come back.
    pub(crate) fn revive(&mut self, row: QueueRow) {
        if let Some(at) = self.gone.iter().position(|&gone| gone == row) {
            self.gone.remove(at);
        }
    }

    pub(crate) fn set_remembered(&mut self, least: u32) {
        self.remembered = least;
    }

    /// Where more are gone than are remembered: those, in order of their going, and how many stay.
    pub(crate) fn too_many_gone(&self) -> Option<(&VecDeque<QueueRow>, usize)> {
        let live = self.numbers.len() - self.gone.len();
        let most = live.max(self.remembered as usize);
        (self.gone.len() > most).then_some((&self.gone, most / 2))
    }
}

/// What of a state is told of rows, where it does not follow from the order of the queues.
pub(crate) struct QueueRowsState {
    /// The number of the next queue.
    pub(crate) declared: Option<u32>,
    /// Rows of those that are removed, in order of their going.
    pub(crate) gone: Vec<u32>,
    pub(crate) remembered: Option<u32>,
}

/// As plain data, and back.
impl QueueRows {
    /// The number of a row's queue, where that is not the row's.
    pub(crate) fn number_state(&self, row: QueueRow) -> Option<u32> {
        Some(self.numbers[row.index()]).filter(|&number| number != row.0)
    }

    pub(crate) fn state(&self) -> QueueRowsState {
        let in_order = self.gone.iter().is_sorted();
        let gone = self.gone.iter().filter(|_| !in_order).map(|row| row.0);
        QueueRowsState {
            declared: Some(self.next).filter(|&next| next as usize != self.numbers.len()),
            gone: gone.collect(),
            remembered: Some(self.remembered).filter(|&least| least != REMEMBERED),
        }
    }

    /// The rows of `queues`.
    pub(crate) fn from_state(
        queues: &[QueueState],
        state: &QueueRowsState,
    ) -> Result<QueueRows, StateError> {
        let next = state.declared.unwrap_or(queues.len() as u32);
        let mut numbers: Vec<u32> = Vec::with_capacity(queues.len());
        let mut removed: Vec<u32> = Vec::new();
        for (row, queue) in (0..).zip(queues) {
            let number = queue.number.unwrap_or(row);
            let ascends = numbers.last().is_none_or(|&before| before < number);
            let fine = ascends && number < next && (row > 0 || number == 0);
            ensure!(fine, format!("queues[{row}].number"), "not in order of declaration");
            numbers.push(number);
            if queue.removed.is_some() {
                removed.push(row);
            }
        }
        if !state.gone.is_empty() {
            let mut sorted = state.gone.clone();
            sorted.sort_unstable();
            ensure!(sorted == removed, "queues_gone", "not those that are removed");
            removed.clone_from(&state.gone);
        }
        let gone = removed.into_iter().map(QueueRow).collect();
        Ok(QueueRows { numbers, next, gone, remembered: state.remembered.unwrap_or(REMEMBERED) })
    }
}
