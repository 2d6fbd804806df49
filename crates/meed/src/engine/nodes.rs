//! Nodes join, change and leave.

use super::Engine;
use crate::cluster::check_dimensions;
use crate::error::{ConfigError, Rejected};
use crate::resources::Resources;
use crate::spec::{AllocationId, NodeId, NodeSpec};

impl Engine {
    pub(super) fn node_joined(&mut self, spec: NodeSpec) -> Result<NodeId, Rejected> {
        let node = self.room.join(spec, &self.kinds)?;
        self.capacity_changed(node);
        Ok(node)
    }

    pub(super) fn node_left(&mut self, node: NodeId) -> Result<Vec<AllocationId>, Rejected> {
        self.live_node(node)?;
        // Nothing may start there while its tasks are put back.
        let lost = self.lose_from(node, |_| true);
        self.room.leave(node);
        self.capacity_changed(node);
        Ok(lost)
    }

    pub(super) fn node_changed(
        &mut self,
        node: NodeId,
        capacity: Resources,
    ) -> Result<Vec<AllocationId>, Rejected> {
        let before = self.live_node(node)?;
        check_dimensions("a node", &capacity, &self.kinds)?;
        if capacity.is_zero() {
            let node = self.room.spec(node).name.clone();
            return Err(ConfigError::EmptyNode { node }.into());
        }
        self.room.check_total(&capacity, &before, &self.kinds)?;
        let mut used = before;
        used.sub(&self.room.free(node));
        // Where all that runs there still fits, nobody has to be asked: worlds that set slots do so
        // for every node.
        let mut room = capacity;
        let lost = match used.fits_in(&capacity) {
            true => Vec::new(),
            false => self.lose_from(node, |demand| {
                let fits = demand.fits_in(&room);
                if fits {
                    room.sub(demand);
                }
                !fits
            }),
        };
        self.room.resize(node, capacity);
        self.capacity_changed(node);
        Ok(lost)
    }

    fn live_node(&self, node: NodeId) -> Result<Resources, Rejected> {
        match self.room.node(node) {
            Some(node) if node.up => Ok(node.spec.capacity),
            _ => Err(Rejected::UnknownNode),
        }
    }

    /// Loses those tasks on `node` for which `pick` says so; it is asked oldest first, so the
    /// newest go.
    fn lose_from(
        &mut self,
        node: NodeId,
        mut pick: impl FnMut(&Resources) -> bool,
    ) -> Vec<AllocationId> {
        let task = |&at: &AllocationId| self.work.running(at).expect("it is in its node's list");
        let mut lost = self.work.running_on(node);
        lost.sort_by_key(|at| (task(at).started, *at));
        lost.retain(|at| pick(self.room.demand(task(at).shape)));
        for &allocation in &lost {
            self.lose(allocation);
        }
        lost
    }

    /// Free room, shares and possible shapes after `node` changed.
    fn capacity_changed(&mut self, node: NodeId) {
        self.room.capacity_changed(node);
        self.unblock(node);
        self.share_out();
        self.wake();
    }
}
