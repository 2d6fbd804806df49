//! Nodes join, change and leave.

use super::Engine;
use crate::cluster::check_dimensions;
use crate::constraints::Labels;
use crate::error::{ConfigError, Rejected};
use crate::event::Effect;
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
        self.check_resize(node, &capacity)?;
        let used = self.room.held(node);
        // Where all that runs there still fits, nobody has to be asked: worlds that set slots do so
        // for every node.
        let (mut room, others) = (capacity, self.room.others(node));
        for (room, others) in room.as_mut_slice().iter_mut().zip(others.as_slice()) {
            *room = room.saturating_sub(*others);
        }
        let lost = match used.fits_in(&room) {
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

    /// The same, but what runs there goes on: the node is over-full until enough has ended.
    pub(super) fn node_resized(
        &mut self,
        node: NodeId,
        capacity: Resources,
    ) -> Result<Effect, Rejected> {
        self.check_resize(node, &capacity)?;
        self.room.resize(node, capacity);
        self.capacity_changed(node);
        Ok(Effect::None)
    }

    fn check_resize(&self, node: NodeId, capacity: &Resources) -> Result<(), Rejected> {
        let before = self.live_node(node)?;
        check_dimensions("a node", capacity, &self.kinds)?;
        if capacity.is_zero() {
            let node = self.room.spec(node).name.clone();
            return Err(ConfigError::EmptyNode { node }.into());
        }
        Ok(self.room.check_total(capacity, &before, &self.kinds)?)
    }

    /// Nothing new starts on the node, or again. What runs goes on, and the pool and all shares
    /// stay as they are: a cordon is for a while, and nobody's share is to jump twice for it.
    pub(super) fn node_cordoned(
        &mut self,
        node: NodeId,
        cordoned: bool,
    ) -> Result<Effect, Rejected> {
        self.live_node(node)?;
        self.room.set_cordoned(node, cordoned);
        self.has_room_now(node);
        Ok(Effect::None)
    }

    /// The node has other labels; what runs there goes on.
    pub(super) fn node_relabelled(
        &mut self,
        node: NodeId,
        labels: Labels,
    ) -> Result<Effect, Rejected> {
        self.live_node(node)?;
        self.room.relabel(node, labels);
        self.has_room_now(node);
        Ok(Effect::None)
    }

    /// Others use so much of the node, which may be more than it has: that is not free, and charged
    /// to nobody. The pool and all shares stay as they are.
    pub(super) fn node_used_by_others(
        &mut self,
        node: NodeId,
        amounts: Resources,
    ) -> Result<Effect, Rejected> {
        self.live_node(node)?;
        check_dimensions("what others use of a node", &amounts, &self.kinds)?;
        self.room.set_others(node, amounts);
        self.has_room_now(node);
        Ok(Effect::None)
    }

    /// What was found to fit nowhere may fit on `node` now.
    pub(super) fn has_room_now(&mut self, node: NodeId) {
        self.unblock(node);
        self.wake();
    }

    pub(super) fn live_node(&self, node: NodeId) -> Result<Resources, Rejected> {
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
