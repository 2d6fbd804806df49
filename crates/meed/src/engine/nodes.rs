//! Nodes join, change and leave.

use super::Engine;
use super::core::Core;
use crate::cluster::check_dimensions;
use crate::constraints::Labels;
use crate::error::{ConfigError, Rejected};
use crate::event::Effect;
use crate::ids::{AllocationId, NodeId, NodeRow};
use crate::resources::Resources;
use crate::spec::NodeSpec;

impl Engine {
    pub(super) fn node_joined(&mut self, spec: NodeSpec) -> Result<NodeId, Rejected> {
        let node = self.core.room.join(spec, &self.core.kinds)?;
        self.capacity_changed(node);
        let id = self.core.room.id(node);
        self.forget_nodes();
        Ok(id)
    }

    /// Rows of nodes that left long ago are given up, now and then.
    fn forget_nodes(&mut self) {
        let Engine { core, reservations, .. } = self;
        let Some(moves) = core.room.forget_nodes() else { return };
        core.work.move_rows(&moves);
        core.rescaling.move_rows(&moves);
        reservations.move_rows(&moves);
        if let Some(servers) = &mut core.servers {
            servers.move_rows(&moves);
        }
    }

    pub(super) fn node_left(&mut self, node: NodeId) -> Result<Vec<AllocationId>, Rejected> {
        let node = self.core.live_node(node)?;
        if self.core.room.spec(node).capacity == *self.core.room.total() {
            // Of an empty cluster nothing is a part: dominant shares stay parts of the last one.
            self.core.share_out_if_due();
        }
        // Nothing may start there while its tasks are put back.
        let lost = self.lose_from(node, |_| true);
        self.core.room.leave(node);
        self.reservations.forget_idle_on(&mut self.core, node);
        self.capacity_changed(node);
        Ok(lost)
    }

    pub(super) fn node_changed(
        &mut self,
        node: NodeId,
        capacity: Resources,
    ) -> Result<Vec<AllocationId>, Rejected> {
        let node = self.core.check_resize(node, &capacity)?;
        let used = self.core.room.held(node);
        // Where all that runs there still fits, nobody has to be asked: worlds that set slots do so
        // for every node.
        let (mut room, others) = (capacity, self.core.room.others(node));
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
        self.core.room.resize(node, capacity);
        self.capacity_changed(node);
        Ok(lost)
    }

    /// The same, but what runs there goes on: the node is over-full until enough has ended.
    pub(super) fn node_resized(
        &mut self,
        node: NodeId,
        capacity: Resources,
    ) -> Result<Effect, Rejected> {
        let node = self.core.check_resize(node, &capacity)?;
        self.core.room.resize(node, capacity);
        self.capacity_changed(node);
        Ok(Effect::None)
    }

    /// Nothing new starts on the node, or again. What runs goes on, and the pool and all shares
    /// stay as they are: a cordon is for a while, and nobody's share is to jump twice for it.
    pub(super) fn node_cordoned(
        &mut self,
        node: NodeId,
        cordoned: bool,
    ) -> Result<Effect, Rejected> {
        let node = self.core.live_node(node)?;
        self.core.room.set_cordoned(node, cordoned);
        self.has_room_now(node);
        Ok(Effect::None)
    }

    /// The node has other labels; what runs there goes on.
    pub(super) fn node_relabelled(
        &mut self,
        node: NodeId,
        labels: Labels,
    ) -> Result<Effect, Rejected> {
        let node = self.core.live_node(node)?;
        self.core.room.relabel(node, labels);
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
        let node = self.core.live_node(node)?;
        check_dimensions("what others use of a node", &amounts, &self.core.kinds)?;
        self.core.room.set_others(node, amounts);
        self.has_room_now(node);
        Ok(Effect::None)
    }

    /// What was found to fit nowhere may fit on `node` now.
    pub(super) fn has_room_now(&mut self, node: NodeRow) {
        self.reservations.upset_node(&mut self.core, node, true);
        self.core.unblock(node);
        self.core.wake();
    }

    /// Loses those tasks on `node` for which `pick` says so. It is asked in the order in which they
    /// started, those of one instant in the order of the log: an older task that fits stays before
    /// a newer one, and one that does not is lost though a newer and smaller one may stay.
    fn lose_from(
        &mut self,
        node: NodeRow,
        mut pick: impl FnMut(&Resources) -> bool,
    ) -> Vec<AllocationId> {
        let shape = |at: AllocationId| self.core.work.running(at).expect("it runs there").shape;
        let mut lost = self.core.work.running_on(node);
        lost.retain(|&at| pick(self.core.room.demand(shape(at))));
        for &allocation in &lost {
            self.lose(allocation);
        }
        lost
    }

    /// Free room, shares and possible shapes after `node` changed.
    fn capacity_changed(&mut self, node: NodeRow) {
        let Engine { core, reservations, .. } = self;
        core.room.capacity_changed(node);
        reservations.pool_changed();
        reservations.upset_node(core, node, true);
        core.unblock(node);
        core.shares_change(false);
        core.wake();
    }
}

impl Core {
    fn check_resize(&self, node: NodeId, capacity: &Resources) -> Result<NodeRow, Rejected> {
        let node = self.live_node(node)?;
        let before = self.room.spec(node).capacity;
        check_dimensions("a node", capacity, &self.kinds)?;
        if capacity.is_zero() {
            let node = self.room.spec(node).name.clone();
            return Err(ConfigError::EmptyNode { node }.into());
        }
        self.room.check_total(capacity, &before, &self.kinds)?;
        Ok(node)
    }

    /// The row of a node that is up.
    pub(super) fn live_node(&self, id: NodeId) -> Result<NodeRow, Rejected> {
        let row = self.room.row(id).filter(|&row| self.room.node(row).is_some_and(|node| node.up));
        row.ok_or(Rejected::UnknownNode)
    }
}
