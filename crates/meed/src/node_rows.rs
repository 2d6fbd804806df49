//! Which row of the tables is which node's.
//!
//! Rows are in order of joining, so that ties between nodes, and first fit, go by that order.
//! A node that leaves keeps its row for a while: it is named in errors, and what only it could hold
//! is not refused, for it may come back. Of those that left, the last ones are remembered, as many
//! as are up, and [`crate::rows::REMEMBERED`] at least; when there are more, the half that left
//! first is forgotten, and the rows of all others move up ([`Moves`]). So rows are at most twice
//! the nodes that were ever up at once (or that many more), and the order of all others stays: no
//! decision changes, but that a task with label rules that none but a forgotten node could meet is
//! refused.
//!
//! Cost: a join or a leaving is O(1), besides a pass over the rows, the running tasks and the label
//! rules once in half as many leavings as are remembered. How numbers and rows belong together is
//! [`crate::rows`].

use crate::ids::{NodeId, NodeRow};
use crate::rows::{Rows, RowsState, Words, keep, moved};
use crate::state::{NodeState, StateError};

/// See the module.
pub(crate) type NodeRows = Rows<NodeId, NodeRow>;

/// Where rows go when some are forgotten: by old row, whether it stays, and the new one.
pub(crate) struct Moves {
    stays: Vec<bool>,
    moved: Vec<Option<u32>>,
}

impl Moves {
    /// The new row of what was in `row`; `None`: it is forgotten.
    pub(crate) fn to(&self, row: NodeRow) -> Option<NodeRow> {
        self.moved.get(row.index()).copied().flatten().map(NodeRow)
    }

    /// Keeps of a table by row, with `width` values in each, what is not forgotten. The table may
    /// be shorter.
    pub(crate) fn retain<T>(&self, table: &mut Vec<T>, width: usize) {
        keep(table, &self.stays, width);
    }
}

impl NodeRows {
    /// Forgets nodes that left long ago, where there are too many; how all rows move then.
    pub(crate) fn forget_first(&mut self) -> Option<Moves> {
        let mut stays = vec![true; self.len()];
        let (gone, stay) = self.too_many_gone()?;
        let forgotten = gone.len() - stay;
        for row in gone.take(forgotten) {
            stays[row.index()] = false;
        }
        self.forget(&stays);
        Some(Moves { moved: moved(&stays), stays })
    }

    /// The rows of `nodes`.
    pub(crate) fn of_nodes(nodes: &[NodeState], state: &RowsState) -> Result<NodeRows, StateError> {
        let words = Words {
            list: "nodes",
            order: "joining",
            gone: "not the nodes that have left, each once",
        };
        Rows::from_state(nodes.iter().map(|node| (node.number, !node.up)), state, &words)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;
    use crate::rows::REMEMBERED;

    #[test]
    fn rows_do_not_grow_with_what_has_left() {
        let mut rows = NodeRows::default();
        let mut up: VecDeque<NodeId> = VecDeque::new();
        for _ in 0..20_000 {
            rows.forget_first();
            let row = rows.come();
            up.push_back(rows.id(row));
            if up.len() > 100 {
                let first = up.pop_front().expect("some are up");
                let row = rows.row(first).expect("it is up");
                rows.go(row);
                assert_eq!(rows.id(row), first, "it is remembered for a while");
            }
            assert!(up.iter().all(|&id| rows.row(id).is_some_and(|row| rows.id(row) == id)));
        }
        assert!(rows.len() <= 101 + REMEMBERED as usize + 1, "{}", rows.len());
        assert_eq!(rows.row(NodeId(0)), None, "it left long ago");
        assert_eq!(rows.row(NodeId(20_000)), None, "it never joined");
    }
}
