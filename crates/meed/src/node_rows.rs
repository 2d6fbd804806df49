//! Which row of the tables is which node's.
//!
//! Rows are in order of joining, so that ties between nodes, and first fit, go by that order.
//! A node that leaves keeps its row for a while: it is named in errors, and what only it could hold
//! is not refused, for it may come back. Of those that left, the last ones are remembered, as many
//! as are up, and [`REMEMBERED`] at least; when there are more, the half that left first is
//! forgotten, and the rows of all others move up ([`Moves`]). So rows are at most twice the nodes
//! that were ever up at once (or [`REMEMBERED`] more), and the order of all others stays: no
//! decision changes, but that a task with label rules that none but a forgotten node could meet is
//! refused.
//!
//! Cost: a join or a leaving is O(1), besides a pass over the rows, the running tasks and the label
//! rules once in half as many leavings as are remembered. A handle is turned into its row in O(1)
//! as long as nothing was forgotten, in O(log rows) after.

use std::collections::VecDeque;

use crate::spec::{NodeId, NodeRow};
use crate::state::{NodeState, StateError, ensure};

/// So many nodes that left are remembered at least.
pub(crate) const REMEMBERED: u32 = 1024;

/// See the module.
pub(crate) struct NodeRows {
    /// By row: the node's number in order of joining. Ascending.
    numbers: Vec<u32>,
    /// The number of the next node.
    next: u32,
    /// Rows of nodes that left, in order of leaving.
    gone: VecDeque<NodeRow>,
    /// Fewest that are remembered of those.
    remembered: u32,
}

impl Default for NodeRows {
    fn default() -> NodeRows {
        NodeRows { numbers: Vec::new(), next: 0, gone: VecDeque::new(), remembered: REMEMBERED }
    }
}

/// Where rows go when some are forgotten: by old row, the new one.
pub(crate) struct Moves(Vec<Option<NodeRow>>);

impl Moves {
    /// The new row of what was in `row`; `None`: it is forgotten.
    pub(crate) fn to(&self, row: NodeRow) -> Option<NodeRow> {
        self.0.get(row.index()).copied().flatten()
    }

    /// Keeps of a table by row, with `width` values in each, what is not forgotten. The table may
    /// be shorter.
    pub(crate) fn retain<T>(&self, table: &mut Vec<T>, width: usize) {
        let mut at = 0;
        table.retain(|_| {
            at += 1;
            self.to(NodeRow(((at - 1) / width) as u32)).is_some()
        });
    }
}

impl NodeRows {
    /// The row of a node; `None` where it never joined, or is forgotten.
    #[inline]
    pub(crate) fn row(&self, id: NodeId) -> Option<NodeRow> {
        // Numbers ascend: where one stands at its own place, all before it do.
        if self.numbers.get(id.index()) == Some(&id.0) {
            return Some(NodeRow(id.0));
        }
        self.numbers.binary_search(&id.0).ok().map(|row| NodeRow(row as u32))
    }

    /// Whose row it is.
    #[inline]
    pub(crate) fn id(&self, row: NodeRow) -> NodeId {
        NodeId(self.numbers[row.index()])
    }

    /// All that are remembered, in order of joining.
    pub(crate) fn ids(&self) -> Vec<NodeId> {
        self.numbers.iter().map(|&number| NodeId(number)).collect()
    }

    /// Whether all numbers have been given.
    pub(crate) fn is_full(&self) -> bool {
        self.next == u32::MAX
    }

    /// The row of a node that joins.
    pub(crate) fn join(&mut self) -> NodeRow {
        self.numbers.push(self.next);
        self.next += 1;
        NodeRow(self.numbers.len() as u32 - 1)
    }

    /// The node of a row has left.
    pub(crate) fn leave(&mut self, row: NodeRow) {
        self.gone.push_back(row);
    }

    pub(crate) fn set_remembered(&mut self, least: u32) {
        self.remembered = least;
    }

    /// Forgets nodes that left long ago, where there are too many; how all rows move then.
    pub(crate) fn forget(&mut self) -> Option<Moves> {
        let up = self.numbers.len() - self.gone.len();
        let most = up.max(self.remembered as usize);
        if self.gone.len() <= most {
            return None;
        }
        let mut stays = vec![true; self.numbers.len()];
        for row in self.gone.drain(..self.gone.len() - most / 2) {
            stays[row.index()] = false;
        }
        let mut next = 0;
        let to = |&stays: &bool| {
            next += u32::from(stays);
            stays.then(|| NodeRow(next - 1))
        };
        let moves = Moves(stays.iter().map(to).collect());
        moves.retain(&mut self.numbers, 1);
        for row in &mut self.gone {
            *row = moves.to(*row).expect("it stays");
        }
        Some(moves)
    }
}

/// What of a state is told of rows, where it does not follow from the order of the nodes.
pub(crate) struct RowsState {
    /// The number of the next node.
    pub(crate) joined: Option<u32>,
    /// Rows of those that left, in order of leaving.
    pub(crate) gone: Vec<u32>,
    pub(crate) remembered: Option<u32>,
}

/// As plain data, and back.
impl NodeRows {
    /// The number of a row's node, where that is not the row's.
    pub(crate) fn number_state(&self, row: u32) -> Option<u32> {
        Some(self.numbers[row as usize]).filter(|&number| number != row)
    }

    pub(crate) fn state(&self) -> RowsState {
        let in_order = self.gone.iter().is_sorted();
        let gone = self.gone.iter().filter(|_| !in_order).map(|row| row.0);
        RowsState {
            joined: Some(self.next).filter(|&next| next as usize != self.numbers.len()),
            gone: gone.collect(),
            remembered: Some(self.remembered).filter(|&least| least != REMEMBERED),
        }
    }

    /// Puts right what joining and leaving one by one cannot tell.
    pub(crate) fn restore(
        &mut self,
        nodes: &[NodeState],
        state: &RowsState,
    ) -> Result<(), StateError> {
        self.remembered = state.remembered.unwrap_or(REMEMBERED);
        self.next = state.joined.unwrap_or(nodes.len() as u32);
        for (row, node) in nodes.iter().enumerate() {
            let number = node.number.unwrap_or(row as u32);
            let before = row.checked_sub(1).map(|before| self.numbers[before]);
            let fine = before.is_none_or(|before| before < number) && number < self.next;
            ensure!(fine, format!("nodes[{row}].number"), "not in order of joining");
            self.numbers[row] = number;
        }
        if state.gone.is_empty() {
            return Ok(());
        }
        let mut sorted: Vec<NodeRow> = state.gone.iter().map(|&row| NodeRow(row)).collect();
        sorted.sort_unstable();
        let fine = sorted.iter().eq(self.gone.iter());
        ensure!(fine, "nodes_gone", "not the nodes that have left, each once");
        self.gone = state.gone.iter().map(|&row| NodeRow(row)).collect();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_do_not_grow_with_what_has_left() {
        let mut rows = NodeRows::default();
        let mut up: VecDeque<NodeId> = VecDeque::new();
        for _ in 0..20_000 {
            rows.forget();
            let row = rows.join();
            up.push_back(rows.id(row));
            if up.len() > 100 {
                let first = up.pop_front().expect("some are up");
                let row = rows.row(first).expect("it is up");
                rows.leave(row);
                assert_eq!(rows.id(row), first, "it is remembered for a while");
            }
            assert!(up.iter().all(|&id| rows.row(id).is_some_and(|row| rows.id(row) == id)));
        }
        assert!(rows.numbers.len() <= 101 + REMEMBERED as usize + 1, "{}", rows.numbers.len());
        assert_eq!(rows.row(NodeId(0)), None, "it left long ago");
        assert_eq!(rows.row(NodeId(20_000)), None, "it never joined");
    }
}
