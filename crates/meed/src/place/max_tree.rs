//! A tree over the nodes that holds, for each subtree and kind, the most that is free on one of its
//! nodes.
//!
//! Two questions are asked of it: the first node that fits (first fit), and the node with most of
//! one kind that fits (worst fit). With one kind a descent never turns back: O(log k) for k nodes,
//! and a tree of lines of memory does ([`LineTree`]). With several see [`BinaryTree`].

use super::allowed::Allowed;
use super::binary_tree::BinaryTree;
use super::line_tree::LineTree;
use crate::ids::NodeRow;
use crate::resources::Resources;

pub(super) enum MaxTree {
    One(LineTree),
    Several(BinaryTree),
}

impl MaxTree {
    pub(super) fn new(kinds: usize) -> MaxTree {
        match kinds {
            1 => MaxTree::One(LineTree::default()),
            _ => MaxTree::Several(BinaryTree::new(kinds)),
        }
    }

    /// Forgets all nodes.
    pub(super) fn clear(&mut self) {
        match self {
            MaxTree::One(tree) => *tree = LineTree::default(),
            MaxTree::Several(tree) => tree.clear(),
        }
    }

    #[inline]
    pub(super) fn set_free(&mut self, node: NodeRow, free: &Resources) {
        match self {
            MaxTree::One(tree) => tree.set_free(node, free.get(0)),
            MaxTree::Several(tree) => tree.set_free(node, free),
        }
    }

    /// Has the lines of memory brought that a change of `node` turns first.
    #[inline]
    pub(super) fn expect(&self, node: NodeRow) {
        match self {
            MaxTree::One(tree) => tree.expect(node),
            MaxTree::Several(tree) => tree.expect(node),
        }
    }

    /// Whether some node may have room.
    #[inline]
    pub(super) fn may_fit(&self, demand: &Resources) -> bool {
        match self {
            MaxTree::One(tree) => tree.fits(demand.get(0)),
            MaxTree::Several(tree) => tree.may_fit(demand),
        }
    }

    /// The first node with room that is allowed.
    #[inline]
    pub(super) fn first(&self, demand: &Resources, allowed: Allowed<'_>) -> Option<NodeRow> {
        match self {
            MaxTree::One(tree) => tree.first(demand.get(0), allowed),
            MaxTree::Several(tree) => tree.first(demand, allowed),
        }
    }

    /// The same, where no node but some of these has room: they are looked at, not the tree.
    #[inline]
    pub(super) fn first_among(
        &self,
        demand: &Resources,
        allowed: Allowed<'_>,
        nodes: &[NodeRow],
    ) -> Option<NodeRow> {
        let has_room = |node: NodeRow| match self {
            MaxTree::One(tree) => tree.has_room(node, demand.get(0)),
            MaxTree::Several(tree) => tree.has_room(node, demand),
        };
        nodes.iter().copied().filter(|&node| has_room(node) && allowed.contains(node)).min()
    }

    /// The allowed node with room that has most of `kind`; the first of equals.
    pub(super) fn most(
        &self,
        demand: &Resources,
        kind: usize,
        allowed: Allowed<'_>,
    ) -> Option<NodeRow> {
        match self {
            MaxTree::One(tree) => tree.most(demand.get(0), allowed),
            MaxTree::Several(tree) => tree.most(demand, kind, allowed),
        }
    }
}
