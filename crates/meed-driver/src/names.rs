//! The world's stable names and the engine's handles, both ways.
//!
//! Names of queues and nodes are made once each, when a record first needs them, and shared from
//! then on. Finding a job or a task again by its key costs a tree, which is kept only where the
//! world asks for it ([`crate::Driver::find_by_key`]): a world that holds handles needs none.

use std::collections::BTreeMap;

use meed::{AllocationId, Engine, JobId, NodeId, QueueId};
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
            None => kept(&mut self.queues, id.index(), engine.queue(id).name),
        }
    }

    pub(crate) fn node(&mut self, engine: &Engine, id: NodeId) -> Name {
        kept(&mut self.nodes, id.index(), &engine.node(id).0.name)
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

/// Live jobs and running tasks by their keys.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    jobs: BTreeMap<JobKey, JobId>,
    /// By job and number of the task.
    tasks: BTreeMap<(JobId, u32), AllocationId>,
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

    pub(crate) fn add_task(&mut self, job: JobId, task: u32, id: AllocationId) {
        self.tasks.insert((job, task), id);
    }

    pub(crate) fn drop_task(&mut self, job: JobId, task: u32) {
        self.tasks.remove(&(job, task));
    }

    pub(crate) fn task(&self, job: JobId, task: u32) -> Option<AllocationId> {
        self.tasks.get(&(job, task)).copied()
    }
}
