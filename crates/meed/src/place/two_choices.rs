//! `power-of-two`: two nodes are drawn at random, and the one that fits better by Eq. 9 of DRFH
//! takes the task.
//!
//! Source: DRFH Sec. 5.2, after Mitzenmacher 2001. Where neither has room, the first node with room
//! takes it: a placement never refuses a demand that fits somewhere. Drawn by SplitMix64 from the
//! run's seed, so that the same run draws the same. Cost: O(1) while nodes have room; first fit's
//! otherwise.

use super::allowed::Allowed;
use super::fit::{Mismatch, Scales};
use super::max_tree::MaxTree;
use super::placement::Placement;
use crate::ids::NodeRow;
use crate::resources::Resources;

/// Two nodes are drawn at random, and the one that fits better by DRFH Eq. 9 takes the task
/// (`power-of-two`). Where neither has room, the first node with room takes it.
///
/// ```
/// use meed::place::{Allowed, Placement, TwoChoices};
/// use meed::{NodeRow, Resources};
///
/// let mut place = TwoChoices::new(1, 42); // the same seed draws the same nodes
/// for (row, free) in [(0, 500), (1, 500), (2, 4000)] {
///     place.set_free(NodeRow::new(row), &Resources::new(&[free]));
/// }
/// let found = place.find(&Resources::new(&[1000]), Allowed::default());
/// assert_eq!(found, Some(NodeRow::new(2))); // the only one with room
/// ```
pub struct TwoChoices {
    tree: MaxTree,
    free: Vec<Resources>,
    /// Nodes that have joined and not left.
    up: Vec<NodeRow>,
    scales: Scales,
    state: u64,
}

impl TwoChoices {
    /// For a cluster of that many resource kinds, without nodes yet.
    pub fn new(kinds: usize, seed: u64) -> TwoChoices {
        TwoChoices {
            tree: MaxTree::new(kinds),
            free: Vec::new(),
            up: Vec::new(),
            scales: Scales::of(&Resources::zero(kinds)),
            state: seed,
        }
    }

    /// SplitMix64 (Steele, Lea, Flood 2014), taken to a node by the high half of a 128-bit product.
    fn draw(&mut self) -> NodeRow {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let bits = u128::from(z ^ (z >> 31));
        self.up[((bits * self.up.len() as u128) >> 64) as usize]
    }
}

impl Placement for TwoChoices {
    fn find(&mut self, demand: &Resources, allowed: Allowed<'_>) -> Option<NodeRow> {
        if self.up.is_empty() || !self.tree.may_fit(demand) {
            return None;
        }
        let drawn = [self.draw(), self.draw()];
        let fits =
            |node: &NodeRow| demand.fits_in(&self.free[node.index()]) && allowed.contains(*node);
        let by = Mismatch::new(&self.scales, demand);
        let fit = |node: NodeRow| by.of(self.free[node.index()].as_slice());
        let better = |a: NodeRow, b: NodeRow| {
            if by.compare(&fit(a), &fit(b)).then(a.cmp(&b)).is_le() { a } else { b }
        };
        drawn.into_iter().filter(fits).reduce(better).or_else(|| self.tree.first(demand, allowed))
    }

    fn may_fit(&self, demand: &Resources) -> bool {
        self.tree.may_fit(demand)
    }

    fn set_free(&mut self, node: NodeRow, free: &Resources) {
        self.tree.set_free(node, free);
        if node.index() >= self.free.len() {
            self.free.resize(node.index() + 1, Resources::zero(free.kinds()));
            self.up.push(node);
        }
        self.free[node.index()] = *free;
    }

    fn leave(&mut self, node: NodeRow) {
        self.up.retain(|&up| up != node);
    }

    fn expect(&self, node: NodeRow) {
        self.tree.expect(node);
    }

    fn clear(&mut self) {
        self.tree.clear();
        self.free.clear();
        self.up.clear();
    }

    fn set_pool(&mut self, pool: &Resources) {
        self.scales = Scales::of(pool);
    }

    fn draws(&self) -> bool {
        true
    }

    fn random_state(&self) -> u64 {
        self.state
    }

    fn set_random_state(&mut self, state: u64) {
        self.state = state;
    }

    fn why(&self) -> &'static str {
        "power of two choices: the better fit of two nodes drawn at random, or the first with room"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two of 64 nodes stay. Both fit, and first fit would take the one that fits worse.
    #[test]
    fn draws_no_node_that_has_left() {
        let full = Resources::new(&[100, 100]);
        let mut place = TwoChoices::new(2, 1);
        place.set_pool(&Resources::new(&[6400, 6400]));
        (0..64).for_each(|node| place.set_free(NodeRow(node), &full));
        for node in 0..62 {
            place.leave(NodeRow(node));
            place.set_free(NodeRow(node), &Resources::zero(2));
        }
        place.set_free(NodeRow(62), &Resources::new(&[100, 50]));
        let found = (0..400).map(|_| place.find(&Resources::new(&[10, 10]), Allowed::ANY));
        let better = found.filter(|&node| node == Some(NodeRow(63))).count();
        // Of two draws one at least names it three times in four; among 64 nodes it would be once
        // in thirty-two.
        assert!((270..330).contains(&better), "{better} of 400");
    }
}
