//! Room that has come free since the last decisions, and whether what is blocked fits there.
//!
//! After [`Engine::decide`](crate::Engine::decide) nothing that waits fits anywhere (unless the
//! policy is to wait, or a maximum share is in the way): all shapes that are waited for are
//! blocked. An end then makes room on one node. To open every shape that would fit there, only to
//! block all but one again once the first task has taken it, would cost a turn of every list for
//! each end; so shapes stay blocked, and the few nodes that have got room, the fresh ones, are
//! looked at instead.
//!
//! Invariant: a blocked shape fits on no node but a fresh one. When decisions end before fresh room
//! is used up, the shapes that still fit there are opened. Fresh nodes where nothing blocked fits
//! are forgotten at once ([`Room::sift_fresh`]). Cost: a question to the list of blocked demands.

use super::shapes::Shape;
use super::{Room, ShapeId};
use crate::ids::NodeRow;
use crate::resources::Resources;

/// So many nodes are looked at one by one.
const FEW_NODES: usize = 32;

impl Room {
    /// Nodes that have got room since the last decisions.
    pub(in crate::engine) fn fresh(&self) -> &[NodeRow] {
        &self.fresh
    }

    /// Whether some waiting task may fit somewhere; errs towards yes where what a fresh node would
    /// help has been served elsewhere.
    #[inline]
    pub(in crate::engine) fn any_startable(&self) -> bool {
        self.shapes.any_startable() || !self.fresh.is_empty()
    }

    /// The same, where no node is fresh.
    pub(in crate::engine) fn any_open(&self) -> bool {
        self.shapes.any_startable()
    }

    /// The only shape that may fit somewhere; `None`: there are several, or none, or a node is
    /// fresh.
    #[inline]
    pub(in crate::engine) fn only_startable(&self) -> Option<ShapeId> {
        match self.shapes.startable() {
            [shape] if self.fresh.is_empty() => Some(*shape),
            _ => None,
        }
    }

    /// Whether a task whose shape is blocked fits on `node`.
    #[inline]
    fn helps_blocked(&self, node: NodeRow) -> bool {
        if !self.shapes.any_blocked() {
            return false;
        }
        let lets_in = |shape: &Shape| self.lets_in(shape, node);
        self.any_offer(node, |free| self.shapes.any_blocked_fits(free, lets_in))
    }

    /// Whether tasks of this shape may be on `node`, where there is room enough for one.
    #[inline]
    pub(super) fn lets_in(&self, shape: &Shape, node: NodeRow) -> bool {
        let key = &shape.key;
        self.allowed(key).contains(node) && self.is_left_open(key, node) && self.may_turn(shape)
    }

    /// Forgets the fresh nodes where nothing blocked fits: the invariant holds without them.
    pub(in crate::engine) fn sift_fresh(&mut self) {
        if self.fresh.is_empty() {
            return;
        }
        let mut nodes = std::mem::take(&mut self.fresh);
        nodes.retain(|&node| self.helps_blocked(node));
        self.fresh = nodes;
    }

    /// A task has started on `node`: forgets it where nothing blocked fits any more.
    #[inline]
    pub(in crate::engine) fn sift(&mut self, node: NodeRow) {
        if let Some(at) = self.fresh.iter().position(|&fresh| fresh == node)
            && !self.helps_blocked(node)
        {
            self.fresh.remove(at);
        }
    }

    /// `node` has got room. Whether it is looked at as a fresh one; where there are too many, the
    /// caller wakes whom it helps and opens its shapes ([`Room::open_shapes`]).
    #[inline]
    pub(in crate::engine) fn freshen(&mut self, node: NodeRow) -> bool {
        self.grown += 1;
        if self.fresh.contains(&node) {
            return true;
        }
        let few = self.fresh.len() < FEW_NODES;
        if few {
            self.fresh.push(node);
        }
        few
    }

    /// Shapes of waiting tasks that may fit somewhere, where no node is fresh, in no order. O(1).
    pub(in crate::engine) fn startable_shapes(&self) -> &[ShapeId] {
        self.shapes.startable()
    }

    /// Whether tasks of this shape may fit somewhere.
    #[inline]
    pub(in crate::engine) fn is_open(&self, shape: ShapeId) -> bool {
        !self.shapes.is_blocked(shape) || self.fits_fresh(shape, &self.shapes[shape].demand)
    }

    /// The same of a shape that asks for `demand`, without a look at it where room is scarce.
    #[inline]
    pub(in crate::engine) fn is_open_for(&self, shape: ShapeId, demand: &Resources) -> bool {
        self.shapes.any_startable() && !self.shapes.is_blocked(shape)
            || self.fits_fresh(shape, demand)
    }

    /// Whether a shape is known to fit nowhere, but perhaps on fresh nodes.
    pub(in crate::engine) fn is_blocked(&self, shape: ShapeId) -> bool {
        self.shapes.is_blocked(shape)
    }

    /// How many shapes were ever opened.
    pub(in crate::engine) fn opened(&self) -> u64 {
        self.shapes.opened()
    }

    /// Those after the first `told`; `None`: too many to be told.
    pub(in crate::engine) fn opened_since(&self, told: u64) -> Option<&[ShapeId]> {
        self.shapes.opened_since(told)
    }

    #[inline]
    fn fits_fresh(&self, shape: ShapeId, demand: &Resources) -> bool {
        self.fresh.iter().any(|&node| self.fits(shape, demand, node))
    }

    /// Blocked shapes that fit on `node` are blocked no more.
    pub(in crate::engine) fn open_shapes(&mut self, node: NodeRow) {
        let offers = self.offers(node);
        let mut shapes = std::mem::take(&mut self.shapes);
        shapes.unblock(&offers, |shape| self.lets_in(shape, node));
        self.shapes = shapes;
    }

    /// Decisions have been made: whoever may still start is opened, and no node is fresh any more.
    pub(in crate::engine) fn forget_fresh(&mut self) {
        while let Some(node) = self.fresh.pop() {
            self.open_shapes(node);
        }
    }
}
