//! Which row of the tables is which queue's.
//!
//! Rows are in order of declaration, so that ties of those that were never served go by that order.
//! A queue that is removed keeps its row for a while, with all its history, for it may come back
//! (decision record 10). The rows of those that are removed are bounded ([`crate::rows`]);
//! `engine::forget` says which go.

use crate::ids::{QueueId, QueueRow};
use crate::rows::{Rows, RowsState, Words};
use crate::state::{QueueState, StateError, ensure};

/// See the module.
pub(crate) type QueueRows = Rows<QueueId, QueueRow>;

impl QueueRows {
    /// The rows of `queues`.
    pub(crate) fn of_queues(
        queues: &[QueueState],
        state: &RowsState,
    ) -> Result<QueueRows, StateError> {
        let words =
            Words { list: "queues", order: "declaration", gone: "not those that are removed" };
        let root = queues.first().and_then(|root| root.number).unwrap_or(0);
        ensure!(root == 0, "queues[0].number", "not in order of {}", words.order);
        let given = queues.iter().map(|queue| (queue.number, queue.removed.is_some()));
        Rows::from_state(given, state, &words)
    }
}
