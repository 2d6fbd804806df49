//! The world's stable names and the engine's handles, both ways.
//!
//! Names of queues and nodes are made once each, when a record first needs them. They are kept by
//! row, each with the number of whose it is: a number is never another's, so where it is the same
//! nothing of the engine's is read. A short name lies in its row, and the row in one line of
//! memory: that is all that a record reads of a name. Jobs and tasks are found by their keys in
//! [`crate::index`].

use meed::{NodeId, QueueId, View};
use meed_journal::Name;

/// Names as records hold them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    queues: Table<QueueId>,
    nodes: Table<NodeId>,
    /// What the only queue is called in records, where the engine calls it otherwise.
    pub(crate) alone: Option<Name>,
}

impl Names {
    pub(crate) fn queue(&mut self, engine: View<'_>, id: QueueId) -> Name {
        match &self.alone {
            Some(name) => name.clone(),
            None => {
                let text = || (engine.queue_row(id).unwrap_or(0), engine.queue_name(id));
                self.queues.name((id.index(), id), text)
            }
        }
    }

    /// The same without keeping it: shared where a record has needed it.
    pub(crate) fn shared_node(&self, engine: View<'_>, id: NodeId) -> Name {
        let row = || engine.node_row(id).map_or(0, |row| row.index());
        let known = self.nodes.at(id.index(), id).or_else(|| self.nodes.at(row(), id));
        known.cloned().unwrap_or_else(|| engine.node(id).0.name.as_str().into())
    }

    pub(crate) fn node(&mut self, engine: View<'_>, id: NodeId) -> Name {
        let row = || engine.node_row(id).map_or(0, |row| row.index());
        self.nodes.name((id.index(), id), || (row(), &*engine.node(id).0.name))
    }
}

/// Names by row. Rows move when some are forgotten: then a name is made anew.
#[derive(Clone, Debug)]
struct Table<I>(Vec<Option<Row<I>>>);

/// A row begins nowhere but at half a line of memory, so it is never in two.
#[derive(Clone, Debug)]
#[repr(align(32))]
struct Row<I> {
    whose: I,
    name: Name,
}

impl<I> Default for Table<I> {
    fn default() -> Table<I> {
        Table(Vec::new())
    }
}

impl<I: Copy + PartialEq> Table<I> {
    #[inline]
    fn at(&self, row: usize, id: I) -> Option<&Name> {
        let kept = self.0.get(row)?.as_ref();
        kept.filter(|kept| kept.whose == id).map(|kept| &kept.name)
    }

    /// The name of `id`, whose number is its row until some row is forgotten; `text`: the row that
    /// it has now, and its name.
    #[inline]
    fn name<'t>(
        &mut self,
        (number, id): (usize, I),
        text: impl FnOnce() -> (usize, &'t str),
    ) -> Name {
        if let Some(name) = self.at(number, id) {
            return name.clone();
        }
        let (row, text) = text();
        if let Some(name) = self.at(row, id) {
            return name.clone();
        }
        if self.0.len() <= row {
            self.0.resize_with(row + 1, || None);
        }
        let name = Name::from(text);
        self.0[row] = Some(Row { whose: id, name: name.clone() });
        name
    }
}
