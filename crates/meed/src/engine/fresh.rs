//! Room that has come free since the last decisions, and who may use it.
//!
//! After [`Engine::decide`] nothing that waits fits anywhere (unless the policy is to wait, or a maximum share is in the
//! way): all shapes that are waited for are blocked. An end then makes room on one node. To open every shape that would
//! fit there, only to block all but one again once the first task has taken it, would cost a turn of every list for each
//! end; so shapes stay blocked, and the few nodes that have got room, the fresh ones, are looked at instead.
//!
//! Invariant: a blocked shape fits on no node but a fresh one. When decisions end before fresh room is used up, the
//! shapes that still fit there are opened. Parked leaves that a fresh node may help are woken at once (`parked`).
//! Cost of an end in a deep backlog: a question to the tree of parked leaves, and to the list of blocked demands.

use super::Engine;
use super::queues::Bucket;
use crate::resources::Resources;
use crate::shapes::{ShapeId, ShapeKey};
use crate::spec::{NodeId, QueueId};

/// So many nodes are looked at one by one.
const FEW_NODES: usize = 8;

impl Engine {
    /// Whether some waiting task may fit somewhere.
    #[inline]
    pub(super) fn any_startable(&self) -> bool {
        let helps = |&node: &NodeId| {
            self.shapes.any_blocked_fits(&self.cluster.free(node), |key| self.allows_on(key, node))
        };
        self.shapes.any_startable() || self.fresh.iter().any(helps)
    }

    /// Whether tasks of this shape may fit somewhere.
    #[inline]
    pub(super) fn is_open(&self, shape: ShapeId) -> bool {
        !self.shapes.is_blocked(shape) || self.fits_fresh(shape, &self.shapes[shape].demand)
    }

    /// The same, without a look at the shape where room is scarce.
    #[inline]
    pub(super) fn is_open_bucket(&self, bucket: &Bucket) -> bool {
        self.shapes.any_startable() && !self.shapes.is_blocked(bucket.shape)
            || self.fits_fresh(bucket.shape, &bucket.demand)
    }

    #[inline]
    fn fits_fresh(&self, shape: ShapeId, demand: &Resources) -> bool {
        let fits = |&node: &NodeId| {
            self.cluster.has_room(node, demand) && self.allows_on(&self.shapes[shape].key, node)
        };
        self.fresh.iter().any(fits)
    }

    #[inline]
    fn allows_on(&self, key: &ShapeKey, node: NodeId) -> bool {
        self.rules.allowed(key, &self.jobs).contains(node)
    }

    /// `node` has `free` now: what was found to fit nowhere may fit there.
    #[inline]
    pub(super) fn unblock(&mut self, node: NodeId, free: &Resources) {
        let known = self.woken.len();
        self.parked.helped_by(free, &mut self.woken);
        if self.woken.len() > known {
            let mut woken = std::mem::take(&mut self.woken);
            let mut at = 0;
            woken.retain(|&leaf| {
                at += 1;
                at <= known || self.waits_for_room_on(leaf, node)
            });
            self.woken = woken;
        }
        match self.fresh.contains(&node) {
            true => {}
            false if self.fresh.len() < FEW_NODES => self.fresh.push(node),
            false => self.open_shapes(node),
        }
    }

    fn waits_for_room_on(&self, leaf: QueueId, node: NodeId) -> bool {
        let fits = |shape: ShapeId, demand: &Resources| {
            self.cluster.has_room(node, demand) && self.allows_on(&self.shapes[shape].key, node)
        };
        let mut buckets = self.queues[leaf.index()].buckets.iter();
        buckets.any(|bucket| !bucket.groups.is_empty() && fits(bucket.shape, &bucket.demand))
    }

    fn open_shapes(&mut self, node: NodeId) {
        let (rules, jobs) = (&self.rules, &self.jobs);
        self.shapes.unblock(&self.cluster.free(node), |key| rules.allowed(key, jobs).contains(node));
    }

    /// Decisions have been made: whoever may still start is opened, and no node is fresh any more.
    pub(super) fn forget_fresh(&mut self) {
        while let Some(node) = self.fresh.pop() {
            self.open_shapes(node);
        }
    }
}
