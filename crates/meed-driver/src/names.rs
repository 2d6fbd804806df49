//! The world's stable names and the engine's handles, both ways.
//!
//! Names of queues and nodes are made once each, when a record first needs them, and shared from
//! then on. They are kept by row, each with the number of whose it is: a number is never another's,
//! so where it is the same nothing of the engine's is read. Jobs and tasks are found by their keys
//! in [`crate::index`].

use meed::{Engine, NodeId, QueueId};
use meed_journal::Name;

/// Names as records hold them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    queues: Vec<Option<(QueueId, Name)>>,
    nodes: Vec<Option<(NodeId, Name)>>,
    /// What the only queue is called in records, where the engine calls it otherwise.
    pub(crate) alone: Option<Name>,
}

impl Names {
    pub(crate) fn queue(&mut self, engine: &Engine, id: QueueId) -> Name {
        match &self.alone {
            Some(name) => name.clone(),
            None => {
                // By row, as nodes.
                let row = engine.queue_row(id).unwrap_or(0);
                kept(&mut self.queues, row, id, || engine.queue_name(id))
            }
        }
    }

    /// The same without keeping it: shared where a record has needed it.
    pub(crate) fn shared_node(&self, engine: &Engine, id: NodeId) -> Name {
        let row = engine.node_row(id).map_or(0, |row| row.index());
        match self.nodes.get(row) {
            Some(Some((whose, name))) if *whose == id => name.clone(),
            _ => engine.node(id).0.name.as_str().into(),
        }
    }

    pub(crate) fn node(&mut self, engine: &Engine, id: NodeId) -> Name {
        // By row: a name is made anew where rows have moved.
        let row = engine.node_row(id).map_or(0, |row| row.index());
        kept(&mut self.nodes, row, id, || &engine.node(id).0.name)
    }
}

fn kept<'t, I: Copy + PartialEq>(
    names: &mut Vec<Option<(I, Name)>>,
    row: usize,
    id: I,
    text: impl FnOnce() -> &'t str,
) -> Name {
    if names.len() <= row {
        names.resize_with(row + 1, || None);
    }
    match &names[row] {
        Some((whose, name)) if *whose == id => name.clone(),
        _ => {
            let name = Name::from(text());
            names[row] = Some((id, name.clone()));
            name
        }
    }
}
