//! The world's stable names and the engine's handles, both ways.
//!
//! Names of queues and nodes are made once each, when a record first needs them, and shared from
//! then on. Finding a job or a task again by its key costs a tree, which is kept only where the
//! world asks for it ([`crate::Driver::find_by_key`]): a world that holds handles needs none.

use std::collections::BTreeMap;

use meed::{Engine, JobId, NodeId, QueueId};
use meed_journal::{JobKey, Name};

/// Names as records hold them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    queues: Vec<Name>,
    nodes: Vec<Name>,
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
                kept(&mut self.queues, row, engine.queue_name(id))
            }
        }
    }

    /// The same without keeping it: shared where a record has needed it.
    pub(crate) fn shared_node(&self, engine: &Engine, id: NodeId) -> Name {
        let text = engine.node(id).0.name.as_str();
        let row = engine.node_row(id).map_or(0, |row| row.index());
        let kept = self.nodes.get(row).filter(|name| name.as_str() == text);
        kept.cloned().unwrap_or_else(|| text.into())
    }

    pub(crate) fn node(&mut self, engine: &Engine, id: NodeId) -> Name {
        // By row: a name is made anew where rows have moved.
        let row = engine.node_row(id).map_or(0, |row| row.index());
        kept(&mut self.nodes, row, &engine.node(id).0.name)
    }
}

fn kept(names: &mut Vec<Name>, index: usize, text: &str) -> Name {
    if names.len() <= index {
        names.resize_with(index + 1, Name::default);
    }
    if names[index].as_str() != text {
        names[index] = text.into();
    }
    names[index].clone()
}

/// Live jobs by their keys. Running tasks are found in their job's row.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    jobs: BTreeMap<JobKey, JobId>,
}

impl Index {
    pub(crate) fn add_job(&mut self, key: &JobKey, id: JobId) {
        self.jobs.insert(key.clone(), id);
    }

    pub(crate) fn drop_job(&mut self, key: &JobKey) {
        self.jobs.remove(key);
    }

    pub(crate) fn job(&self, key: &JobKey) -> Option<JobId> {
        self.jobs.get(key).copied()
    }
}
