//! `first-fit`: the first node, in order of joining, that has room.
//!
//! A tree over the nodes holds, for each subtree and kind, the most that is free on one of its nodes. With one
//! kind the descent to the first node that fits never turns back: O(log k) for k nodes. With several kinds a
//! subtree's maxima may stem from different nodes, so the descent may turn back; the answer stays that of a scan.
//!
//! Bound by memory: a change touches log2 k lines of the tree (14 for 10,000 nodes), and stops as soon as an
//! ancestor's maxima do not change.

use super::Placement;
use crate::resources::Resources;
use crate::spec::NodeId;

/// See the module.
pub struct FirstFit {
    kinds: usize,
    /// Number of leaves, a power of two; the tree is in heap order: the root is 1, leaf i is `leaves + i`.
    leaves: usize,
    most_free: Vec<u64>,
}

impl FirstFit {
    /// For a cluster of that many resource kinds, without nodes yet.
    pub fn new(kinds: usize) -> FirstFit {
        FirstFit { kinds, leaves: 1, most_free: vec![0; 2 * kinds] }
    }

    fn at(&self, vertex: usize) -> &[u64] {
        &self.most_free[vertex * self.kinds..(vertex + 1) * self.kinds]
    }

    #[inline]
    fn fits(&self, vertex: usize, demand: &[u64]) -> bool {
        self.at(vertex).iter().zip(demand).all(|(free, need)| need <= free)
    }

    fn grow(&mut self, nodes: usize) {
        let leaves = nodes.next_power_of_two();
        let mut wider = FirstFit { kinds: self.kinds, leaves, most_free: vec![0; 2 * leaves * self.kinds] };
        let (from, to) = (self.leaves * self.kinds, leaves * self.kinds);
        wider.most_free[to..to + from].copy_from_slice(&self.most_free[from..]);
        for vertex in (1..leaves).rev() {
            wider.pull(vertex);
        }
        *self = wider;
    }

    /// Recomputes a vertex from its two children; whether it changed.
    #[inline]
    fn pull(&mut self, vertex: usize) -> bool {
        let mut changed = false;
        for kind in 0..self.kinds {
            let left = self.most_free[2 * vertex * self.kinds + kind];
            let right = self.most_free[(2 * vertex + 1) * self.kinds + kind];
            let slot = &mut self.most_free[vertex * self.kinds + kind];
            changed |= *slot != left.max(right);
            *slot = left.max(right);
        }
        changed
    }
}

impl Placement for FirstFit {
    #[inline]
    fn find(&mut self, demand: &Resources) -> Option<NodeId> {
        let demand = demand.as_slice();
        let mut vertex = 1;
        loop {
            if self.fits(vertex, demand) {
                if vertex >= self.leaves {
                    return Some(NodeId((vertex - self.leaves) as u32));
                }
                vertex *= 2;
                continue;
            }
            // Up while a right child, then over to the right sibling.
            while vertex % 2 == 1 {
                if vertex == 1 {
                    return None;
                }
                vertex /= 2;
            }
            vertex += 1;
        }
    }

    #[inline]
    fn may_fit(&self, demand: &Resources) -> bool {
        self.fits(1, demand.as_slice())
    }

    #[inline]
    fn set_free(&mut self, node: NodeId, free: &Resources) {
        if node.index() >= self.leaves {
            self.grow(node.index() + 1);
        }
        let mut vertex = self.leaves + node.index();
        self.most_free[vertex * self.kinds..(vertex + 1) * self.kinds].copy_from_slice(free.as_slice());
        while vertex > 1 {
            vertex /= 2;
            if !self.pull(vertex) {
                return;
            }
        }
    }

    fn why(&self) -> &'static str {
        "first fit: the first node with room"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn finds_what_a_scan_finds(
            kinds in 1usize..4,
            steps in prop::collection::vec((0usize..20, prop::array::uniform3(0u64..6), prop::array::uniform3(1u64..6)), 1..80),
        ) {
            let mut place = FirstFit::new(kinds);
            let mut free: Vec<Resources> = Vec::new();
            for (node, amounts, demand) in steps {
                let node = node.min(free.len());
                let amounts = Resources::new(&amounts[..kinds]);
                if node == free.len() { free.push(amounts) } else { free[node] = amounts }
                place.set_free(NodeId(node as u32), &amounts);
                let demand = Resources::new(&demand[..kinds]);
                let scan = free.iter().position(|room| demand.fits_in(room));
                prop_assert_eq!(place.find(&demand).map(NodeId::index), scan);
                prop_assert!(place.may_fit(&demand) || scan.is_none());
            }
        }
    }
}
