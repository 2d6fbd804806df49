//! The most that is free, where there are several kinds ([`super::max_tree`]): a binary tree.
//!
//! A subtree's maxima may stem from different nodes, so a descent may turn back; the answer stays
//! that of a scan.
//!
//! In a full cluster that would be the rule: here a node has processors left, there one has memory.
//! So with two kinds the tree also holds, for each of seven directions s, the most of min(s a, b):
//! whoever fits a demand (d, e) has at least min(s d, e) of it, and for the direction next to the
//! demand's own one node must have nearly both. s a is a float, which keeps order, so nothing that
//! fits is missed.
//!
//! Bound by memory: a change touches log2 k lines of the tree (14 for 10,000 nodes), and stops as
//! soon as an ancestor's maxima do not change.

use super::allowed::Allowed;
use crate::ids::NodeRow;
use crate::memory::expect_at;
use crate::resources::{MAX_KINDS, Resources, fits};

/// Directions for two kinds: times the ratio of the first node's two amounts.
const DIRECTIONS: [f64; 7] = [0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0];

/// Most columns: kinds, or two kinds and their directions.
const COLUMNS: usize = 2 + DIRECTIONS.len();

/// Room for the columns of any number of kinds.
const MAX_ROW: usize = if COLUMNS > MAX_KINDS { COLUMNS } else { MAX_KINDS };

pub(super) struct BinaryTree {
    kinds: usize,
    /// Amounts kept for each vertex: the kinds', then the directions'.
    columns: usize,
    /// Of the second kind to the first; set by the first node.
    ratio: Option<f64>,
    /// Number of leaves, a power of two; the tree is in heap order: the root is 1, leaf i is
    /// `leaves + i`.
    leaves: usize,
    most_free: Vec<u64>,
}

impl BinaryTree {
    pub(super) fn new(kinds: usize) -> BinaryTree {
        let columns = if kinds == 2 { COLUMNS } else { kinds };
        BinaryTree { kinds, columns, ratio: None, leaves: 1, most_free: vec![0; 2 * columns] }
    }

    /// Forgets all nodes.
    pub(super) fn clear(&mut self) {
        self.leaves = 1;
        self.most_free = vec![0; 2 * self.columns];
    }

    fn at(&self, vertex: usize) -> &[u64] {
        &self.most_free[vertex * self.columns..(vertex + 1) * self.columns]
    }

    /// All columns of some amounts: with any other number of kinds than two, these themselves.
    #[inline]
    fn row(&self, amounts: &Resources) -> [u64; MAX_ROW] {
        let mut row = [0; MAX_ROW];
        row[..self.kinds].copy_from_slice(amounts.as_slice());
        if self.kinds == 2 {
            let (a, b) = (amounts.get(0) as f64 * self.ratio.unwrap_or(1.0), amounts.get(1));
            for (column, direction) in row[2..].iter_mut().zip(&DIRECTIONS) {
                *column = ((a * direction) as u64).min(b);
            }
        }
        row
    }

    #[inline]
    fn fits(&self, vertex: usize, demand: &[u64]) -> bool {
        fits(demand, self.at(vertex))
    }

    fn node(&self, leaf: usize) -> NodeRow {
        NodeRow((leaf - self.leaves) as u32)
    }

    fn grow(&mut self, nodes: usize) {
        let leaves = nodes.next_power_of_two();
        let most_free = vec![0; 2 * leaves * self.columns];
        let mut wider = BinaryTree { leaves, most_free, ..*self };
        let (from, to) = (self.leaves * self.columns, leaves * self.columns);
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
        for column in 0..self.columns {
            let left = self.most_free[2 * vertex * self.columns + column];
            let right = self.most_free[(2 * vertex + 1) * self.columns + column];
            let slot = &mut self.most_free[vertex * self.columns + column];
            changed |= *slot != left.max(right);
            *slot = left.max(right);
        }
        changed
    }

    #[inline]
    pub(super) fn set_free(&mut self, node: NodeRow, free: &Resources) {
        if node.index() >= self.leaves {
            self.grow(node.index() + 1);
        }
        if self.kinds == 2 && self.ratio.is_none() {
            let (a, b) = (free.get(0) as f64, free.get(1) as f64);
            self.ratio = Some(if a > 0.0 && b > 0.0 { b / a } else { 1.0 });
        }
        let columns = self.columns;
        let mut vertex = self.leaves + node.index();
        let place = vertex * columns..(vertex + 1) * columns;
        match self.kinds {
            2 => {
                let row = self.row(free);
                self.most_free[place].copy_from_slice(&row[..columns]);
            }
            _ => self.most_free[place].copy_from_slice(free.as_slice()),
        }
        while vertex > 1 {
            vertex /= 2;
            if !self.pull(vertex) {
                return;
            }
        }
    }

    /// Has the two lowest of its rows brought.
    #[inline]
    pub(super) fn expect(&self, node: NodeRow) {
        let leaf = self.leaves + node.index();
        expect_at(&self.most_free, leaf * self.columns);
        expect_at(&self.most_free, leaf / 2 * self.columns);
    }

    /// Whether some node may have room.
    #[inline]
    pub(super) fn may_fit(&self, demand: &Resources) -> bool {
        match self.kinds {
            2 => self.fits(1, &self.row(demand)),
            _ => self.fits(1, demand.as_slice()),
        }
    }

    /// The first node with room that is allowed.
    #[inline]
    pub(super) fn first(&self, demand: &Resources, allowed: Allowed<'_>) -> Option<NodeRow> {
        match self.kinds {
            2 => self.first_of(&self.row(demand), allowed),
            _ => self.first_of(demand.as_slice(), allowed),
        }
    }

    /// Whether a node has room.
    #[inline]
    pub(super) fn has_room(&self, node: NodeRow, demand: &Resources) -> bool {
        let known = node.index() < self.leaves;
        known && fits(demand.as_slice(), &self.at(self.leaves + node.index())[..self.kinds])
    }

    #[inline]
    fn first_of(&self, demand: &[u64], allowed: Allowed<'_>) -> Option<NodeRow> {
        let mut vertex = 1;
        loop {
            if self.fits(vertex, demand) {
                if vertex < self.leaves {
                    vertex *= 2;
                    continue;
                }
                if allowed.contains(self.node(vertex)) {
                    return Some(self.node(vertex));
                }
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

    /// The allowed node with room that has most of `kind`; the first of equals.
    pub(super) fn most(
        &self,
        demand: &Resources,
        kind: usize,
        allowed: Allowed<'_>,
    ) -> Option<NodeRow> {
        let demand = self.row(demand);
        let mut best: Option<(u64, usize)> = None;
        // The fuller side is looked at first, so that most of the tree is beaten before it is
        // entered.
        let mut ahead = vec![1];
        while let Some(vertex) = ahead.pop() {
            let bound = self.at(vertex)[kind];
            if !self.fits(vertex, &demand) || best.is_some_and(|(most, _)| bound < most) {
                continue;
            }
            if vertex >= self.leaves {
                let better = best.is_none_or(|(most, leaf)| bound > most || vertex < leaf);
                if better && allowed.contains(self.node(vertex)) {
                    best = Some((bound, vertex));
                }
                continue;
            }
            if bound == best.map_or(0, |(most, _)| most) && self.is_right_of(vertex, best) {
                continue;
            }
            let (left, right) = (2 * vertex, 2 * vertex + 1);
            match self.at(right)[kind] > self.at(left)[kind] {
                true => ahead.extend([left, right]),
                false => ahead.extend([right, left]),
            }
        }
        best.map(|(_, leaf)| self.node(leaf))
    }

    /// Whether all leaves below `vertex` come after the best one: equals there cannot win.
    fn is_right_of(&self, vertex: usize, best: Option<(u64, usize)>) -> bool {
        let height = self.leaves.ilog2() - vertex.ilog2();
        best.is_some_and(|(_, leaf)| vertex << height > leaf)
    }
}
