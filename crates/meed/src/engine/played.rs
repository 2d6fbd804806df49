//! Starts that were decided elsewhere: a log that is played back tells what was decided, and the
//! books follow.

use super::Engine;
use crate::decision::Start;
use crate::error::Rejected;
use crate::spec::{JobId, NodeId};

impl Engine {
    /// Starts task number `task` of `job` on `node` now, whoever's turn it is: everything counts as
    /// if [`Engine::decide`] had decided it. A refused start changes nothing. O(groups of the job)
    /// besides the start.
    pub fn start_as_told(
        &mut self,
        job: JobId,
        task: u32,
        node: NodeId,
    ) -> Result<Start, Rejected> {
        let live = self.jobs.get(job).ok_or(Rejected::UnknownJob)?;
        let up = self
            .cluster
            .nodes
            .get(node.index())
            .filter(|node| node.up)
            .ok_or(Rejected::UnknownNode)?;
        let name = up.spec.name.clone();
        let (queue, groups) = (live.queue, live.groups.clone());
        let wanted = groups.into_iter().find(|&slot| self.groups[slot as usize].may_take(task));
        let slot = wanted.ok_or(Rejected::UnknownTask)?;
        let group = &mut self.groups[slot as usize];
        if !self.shapes[group.shape].demand.fits_in(&self.cluster.free(node)) {
            return Err(Rejected::NoRoom { node: name });
        }
        if !self.rules.allowed(&self.shapes[group.shape].key, &self.jobs).contains(node) {
            return Err(Rejected::NodeNotAllowed { node: name });
        }
        let (group, failures) = (group.number, group.take_task(task));
        let allocation = self.start_taken(slot, node, task, failures);
        Ok(Start { allocation, job, task, group, queue, node, failures, reason: None })
    }
}
