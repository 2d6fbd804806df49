//! Room that has come free since the last decisions, and who may use it.
//!
//! After [`Engine::decide`] nothing that waits fits anywhere (unless the policy is to wait, or a
//! maximum share is in the way): all shapes that are waited for are blocked. An end then makes room
//! on one node. To open every shape that would fit there, only to block all but one again once the
//! first task has taken it, would cost a turn of every list for each end; so shapes stay blocked,
//! and the few nodes that have got room, the fresh ones, are looked at instead.
//!
//! Invariant: a blocked shape fits on no node but a fresh one. When decisions end before fresh room
//! is used up, the shapes that still fit there are opened. Of the parked leaves that fresh nodes
//! help the one whose turn it is is woken, before each walk (`parked`): the others would come after
//! it. Fresh nodes where nothing blocked fits are forgotten at once ([`Engine::sift_fresh`]). Cost
//! of a walk in a deep backlog: a question to the tree of parked leaves, and one to the list of
//! blocked demands.

use smallvec::SmallVec;

use super::Engine;
use super::parked::{AT_ONCE, bound};
use super::queues::Bucket;
use crate::order::key::Key;
use crate::resources::Resources;
use crate::shapes::{ShapeId, ShapeKey};
use crate::spec::{NodeId, QueueId};

/// So many nodes are looked at one by one.
const FEW_NODES: usize = 32;

/// What room does for a parked leaf.
enum Helped {
    Starts,
    /// Something fits, but not below a maximum share.
    Capped,
    Not,
}

impl Engine {
    /// Whether some waiting task may fit somewhere; errs towards yes where what a fresh node would
    /// help has been served elsewhere.
    #[inline]
    pub(super) fn any_startable(&self) -> bool {
        self.shapes.any_startable() || !self.fresh.is_empty()
    }

    /// Whether a task whose shape is blocked fits on `node`.
    #[inline]
    fn helps_blocked(&self, node: NodeId) -> bool {
        self.shapes.any_blocked_fits(&self.cluster.free(node), |key| self.allows_on(key, node))
    }

    /// Forgets the fresh nodes where nothing blocked fits: the invariant holds without them.
    pub(super) fn sift_fresh(&mut self) {
        let mut nodes = std::mem::take(&mut self.fresh);
        nodes.retain(|&node| self.helps_blocked(node));
        self.fresh = nodes;
    }

    /// A task has started on `node`: forgets it where nothing blocked fits any more.
    #[inline]
    pub(super) fn sift(&mut self, node: NodeId) {
        if let Some(at) = self.fresh.iter().position(|&fresh| fresh == node)
            && !self.helps_blocked(node)
        {
            self.fresh.remove(at);
        }
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

    /// `node` has got room: what was found to fit nowhere may fit there.
    #[inline]
    pub(super) fn unblock(&mut self, node: NodeId) {
        match self.fresh.contains(&node) {
            true => {}
            false if self.fresh.len() < FEW_NODES => self.fresh.push(node),
            false => {
                while let Some(leaf) = self.first_helped(&[node], None) {
                    self.wake_leaf(leaf);
                }
                self.open_shapes(node);
            }
        }
    }

    /// Before a walk: wakes the parked leaf whose turn it is among those that fresh nodes help,
    /// unless somebody in the walk comes before it. With `all` it wakes all that they help, for
    /// runners-up are told as well.
    pub(super) fn wake_next(&mut self, all: bool) {
        if self.fresh.is_empty() || self.rescales {
            return;
        }
        let nodes = std::mem::take(&mut self.fresh);
        let below = if all { None } else { self.least_child(QueueId::ROOT).map(|(key, _)| key) };
        while let Some(leaf) = self.first_helped(&nodes, below) {
            self.wake_leaf(leaf);
            if !all {
                break;
            }
        }
        self.fresh = nodes;
    }

    /// Whether a parked leaf is woken whenever it can start something: where its own key does not
    /// tell its turn, or where it counts in the keys of others.
    fn wakes_at_once(&self, leaf: QueueId) -> bool {
        self.queues[leaf.index()].parent != Some(QueueId::ROOT) || self.guard.is_some()
    }

    /// What a parked leaf's key is told by.
    pub(super) fn bound_of(&mut self, leaf: QueueId) -> f64 {
        match self.wakes_at_once(leaf) {
            true => AT_ONCE,
            false => bound(&self.queue_key(QueueId::ROOT, leaf)),
        }
    }

    /// Of the parked leaves that `nodes` help the one with the smallest key, if that is below
    /// `below`; those that wake at once are woken.
    fn first_helped(&mut self, nodes: &[NodeId], below: Option<Key>) -> Option<QueueId> {
        let rooms: SmallVec<[Resources; 1]> =
            nodes.iter().map(|&node| self.cluster.free(node)).collect();
        let mut looked_at: SmallVec<[(QueueId, f64); 8]> = SmallVec::new();
        let (mut at_once, mut capped) = (Vec::new(), Vec::new());
        let mut parked = std::mem::take(&mut self.parked);
        let found = parked.first_helped(&rooms, below, |leaf| {
            match self.starts_on(leaf, nodes) {
                Helped::Starts => {}
                Helped::Not => return None,
                Helped::Capped => {
                    capped.push(leaf);
                    return None;
                }
            }
            if self.wakes_at_once(leaf) {
                at_once.push(leaf);
                return None;
            }
            let key = self.queue_key(QueueId::ROOT, leaf);
            looked_at.push((leaf, bound(&key)));
            Some(key)
        });
        // Keys that rise with time have risen.
        looked_at.iter().for_each(|&(leaf, bound)| parked.set_bound(leaf, bound));
        self.parked = parked;
        // It waits for its maximum share now.
        capped.into_iter().for_each(|leaf| self.park(leaf));
        at_once.into_iter().for_each(|leaf| self.wake_leaf(leaf));
        found.map(|(_, leaf)| leaf)
    }

    /// Whether something of `leaf` fits on one of `nodes`, and may start.
    fn starts_on(&self, leaf: QueueId, nodes: &[NodeId]) -> Helped {
        let mut helped = Helped::Not;
        for bucket in
            self.queues[leaf.index()].buckets.iter().filter(|bucket| !bucket.groups.is_empty())
        {
            let fits = |&node: &NodeId| {
                self.cluster.has_room(node, &bucket.demand)
                    && self.allows_on(&self.shapes[bucket.shape].key, node)
            };
            if !nodes.iter().any(fits) {
                continue;
            }
            if self.capped_by(leaf, bucket.shape).is_none() {
                return Helped::Starts;
            }
            helped = Helped::Capped;
        }
        helped
    }

    fn open_shapes(&mut self, node: NodeId) {
        let (rules, jobs) = (&self.rules, &self.jobs);
        self.shapes
            .unblock(&self.cluster.free(node), |key| rules.allowed(key, jobs).contains(node));
    }

    /// Decisions have been made: whoever may still start is opened, and no node is fresh any more.
    pub(super) fn forget_fresh(&mut self) {
        while let Some(node) = self.fresh.pop() {
            self.open_shapes(node);
        }
    }
}
