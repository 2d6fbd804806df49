//! Starts and stops that were decided elsewhere: a log that is played back tells what was decided,
//! and the books follow.

use super::Engine;
use crate::decision::Start;
use crate::error::Rejected;
use crate::spec::{AllocationId, JobId, NodeId};

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
        let live = self.core.work.job(job).ok_or(Rejected::UnknownJob)?;
        let node = self.core.live_node(node)?;
        let name = || self.core.room.spec(node).name.clone();
        let mut groups = live.groups().iter().copied();
        let wanted = groups.find(|&slot| self.core.work.group(slot).may_take(task));
        let slot = wanted.ok_or(Rejected::UnknownTask)?;
        let shape = self.core.work.group(slot).shape;
        if self.core.room.is_cordoned(node) {
            return Err(Rejected::Cordoned { node: name() });
        }
        if !self.core.room.demand(shape).fits_in(&self.core.room.free(node)) {
            return Err(Rejected::NoRoom { node: name() });
        }
        if !self.core.room.allows(shape, node) {
            return Err(Rejected::NodeNotAllowed { node: name() });
        }
        self.core.share_out_if_due();
        self.reservations.drop_hold_on(&mut self.core, slot, node);
        self.reservations.upset_node(&mut self.core, node, false);
        Ok(self.start(slot, Some(task), node, None))
    }

    /// A task is told to stop because that was decided elsewhere, as in a journal.
    pub fn stop_as_told(&mut self, task: AllocationId) -> Result<(), Rejected> {
        if self.core.work.running(task).is_none() {
            return Err(Rejected::UnknownAllocation);
        }
        self.reservations.stop_as_told(task);
        Ok(())
    }
}
