//! Nodes join, change and leave.

use super::Engine;
use crate::cluster::check_dimensions;
use crate::error::{ConfigError, Rejected};
use crate::resources::Resources;
use crate::spec::{AllocationId, NodeId, NodeSpec};

impl Engine {
    /// Adds a node without sharing out anew.
    pub(super) fn insert_node(&mut self, spec: NodeSpec) -> Result<NodeId, ConfigError> {
        self.cluster.check(&spec, &self.kinds)?;
        let (capacity, labels) = (spec.capacity, spec.labels.clone());
        let node = self.cluster.join(spec);
        self.rules.node_joins(node, &labels);
        self.place.set_pool(&self.cluster.total);
        self.place.set_free(node, &capacity);
        Ok(node)
    }

    pub(super) fn node_joined(&mut self, spec: NodeSpec) -> Result<NodeId, Rejected> {
        let node = self.insert_node(spec)?;
        self.capacity_changed(node);
        Ok(node)
    }

    pub(super) fn node_left(&mut self, node: NodeId) -> Result<Vec<AllocationId>, Rejected> {
        self.live_node(node)?;
        // Nothing may start there while its tasks are put back.
        let lost = self.lose_from(node, |_| true);
        self.cluster.leave(node);
        self.place.leave(node);
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
            let node = self.cluster.nodes[node.index()].spec.name.clone();
            return Err(ConfigError::EmptyNode { node }.into());
        }
        self.cluster.check_total(&capacity, &before, &self.kinds)?;
        let mut used = before;
        used.sub(&self.cluster.free(node));
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
        self.cluster.resize(node, capacity);
        self.capacity_changed(node);
        Ok(lost)
    }

    fn live_node(&self, node: NodeId) -> Result<Resources, Rejected> {
        match self.cluster.nodes.get(node.index()) {
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
        let mut here: Vec<_> = self.running.iter().filter(|(_, task)| task.node == node).collect();
        here.sort_by_key(|(allocation, task)| (task.age(), *allocation));
        let demands =
            here.iter().map(|(allocation, task)| (*allocation, self.shapes[task.shape()].demand));
        let lost: Vec<AllocationId> =
            demands.filter(|(_, demand)| pick(demand)).map(|(at, _)| at).collect();
        for &allocation in &lost {
            self.lose(allocation);
        }
        lost
    }

    /// Free room, shares and possible shapes after `node` changed.
    fn capacity_changed(&mut self, node: NodeId) {
        let free = self.cluster.free(node);
        self.place.set_free(node, &free);
        self.place.set_pool(&self.cluster.total);
        let (rules, cluster) = (&self.rules, &self.cluster);
        self.shapes.refresh_possible(|key| rules.could_hold(key, cluster));
        self.unblock(node);
        self.share_out();
        self.wake();
    }
}
