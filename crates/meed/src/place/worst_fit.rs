//! `worst-fit`: the node with most room, so that load is spread.
//!
//! > argmax over nodes with room of free_r,  r the kind of which the task asks for the largest part
//! > of the pool
//!
//! Ties go to the node that joined first. Cost: a branch and bound over [`MaxTree`]; O(log k) where
//! the fullest subtree holds a node that fits, as it mostly does.

use super::allowed::Allowed;
use super::max_tree::MaxTree;
use super::placement::Placement;
use crate::ids::NodeRow;
use crate::order::key::cmp_ratios;
use crate::resources::Resources;

/// The node with most room of the kind of which the task asks for the largest part of the pool
/// (`worst-fit`). Ties go to the node that joined first.
///
/// ```
/// use meed::place::{Allowed, Placement, WorstFit};
/// use meed::{NodeRow, Resources};
///
/// let mut place = WorstFit::new(1);
/// place.set_pool(&Resources::new(&[5000]));
/// for (row, free) in [(0, 1000), (1, 4000)] {
///     place.set_free(NodeRow::new(row), &Resources::new(&[free]));
/// }
/// let found = place.find(&Resources::new(&[1000]), Allowed::default());
/// assert_eq!(found, Some(NodeRow::new(1)));
/// ```
pub struct WorstFit {
    tree: MaxTree,
    pool: Resources,
}

impl WorstFit {
    /// For a cluster of that many resource kinds, without nodes yet.
    pub fn new(kinds: usize) -> WorstFit {
        WorstFit { tree: MaxTree::new(kinds), pool: Resources::zero(kinds) }
    }
}

/// The kind of which `demand` is the largest part of `pool`; the first of equals.
pub(super) fn dominant_kind(demand: &Resources, pool: &Resources) -> usize {
    let part = |kind: usize| (u128::from(demand.get(kind)), pool.get(kind).max(1));
    (1..demand.kinds()).fold(0, |best, kind| {
        let ((a, b), (c, d)) = (part(kind), part(best));
        if cmp_ratios(a, b, c, d).is_gt() { kind } else { best }
    })
}

impl Placement for WorstFit {
    fn find(&mut self, demand: &Resources, allowed: Allowed<'_>) -> Option<NodeRow> {
        self.tree.most(demand, dominant_kind(demand, &self.pool), allowed)
    }

    fn may_fit(&self, demand: &Resources) -> bool {
        self.tree.may_fit(demand)
    }

    fn set_free(&mut self, node: NodeRow, free: &Resources) {
        self.tree.set_free(node, free);
    }

    fn expect(&self, node: NodeRow) {
        self.tree.expect(node);
    }

    fn clear(&mut self) {
        self.tree.clear();
    }

    fn set_pool(&mut self, pool: &Resources) {
        self.pool = *pool;
    }

    fn why(&self) -> &'static str {
        "worst fit: the node with most room"
    }
}
