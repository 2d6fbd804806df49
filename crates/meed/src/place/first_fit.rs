//! `first-fit`: the first node, in order of joining, that has room.
//!
//! Source: DRFH Sec. 5.2 (progressive filling). Cost: O(log k) with one kind, see [`MaxTree`].

use super::allowed::Allowed;
use super::max_tree::MaxTree;
use super::placement::Placement;
use crate::ids::NodeRow;
use crate::resources::Resources;

/// The first node, in order of joining, that has room (`first-fit`, DRFH Sec. 5.2).
///
/// ```
/// use meed::place::{Allowed, FirstFit, Placement};
/// use meed::{NodeRow, Resources};
///
/// let mut place = FirstFit::new(1);
/// for (row, free) in [(0, 500), (1, 1000), (2, 4000)] {
///     place.set_free(NodeRow::new(row), &Resources::new(&[free]));
/// }
/// let found = place.find(&Resources::new(&[1000]), Allowed::default());
/// assert_eq!(found, Some(NodeRow::new(1)));
/// ```
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
