//! `first-fit`: the first node, in order of joining, that has room.
//!
//! Source: DRFH Sec. 5.2 (progressive filling). Cost: O(log k) with one kind, see [`MaxTree`].

use super::allowed::Allowed;
use super::max_tree::MaxTree;
use super::placement::Placement;
use crate::ids::NodeRow;
use crate::resources::Resources;

/// The first node, in order of joining, that has room (`first-fit`, DRFH Sec. 5.2).
pub struct FirstFit {
    tree: MaxTree,
}

impl FirstFit {
    /// For a cluster of that many resource kinds, without nodes yet.
    pub fn new(kinds: usize) -> FirstFit {
        FirstFit { tree: MaxTree::new(kinds) }
    }
}

impl Placement for FirstFit {
    #[inline]
    fn find(&mut self, demand: &Resources, allowed: Allowed<'_>) -> Option<NodeRow> {
        self.tree.first(demand, allowed)
    }

    #[inline]
    fn find_among(
        &mut self,
        demand: &Resources,
        allowed: Allowed<'_>,
        nodes: &[NodeRow],
    ) -> Option<NodeRow> {
        self.tree.first_among(demand, allowed, nodes)
    }

    #[inline]
    fn may_fit(&self, demand: &Resources) -> bool {
        self.tree.may_fit(demand)
    }

    #[inline]
    fn set_free(&mut self, node: NodeRow, free: &Resources) {
        self.tree.set_free(node, free);
    }

    #[inline]
    fn expect(&self, node: NodeRow) {
        self.tree.expect(node);
    }

    fn clear(&mut self) {
        self.tree.clear();
    }

    fn why(&self) -> &'static str {
        "first fit: the first node with room"
    }
}
