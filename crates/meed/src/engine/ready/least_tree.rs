//! A tree that holds, for each subtree, the least of every column of its places' rows: a rank, then
//! an amount of each kind.
//!
//! It is asked for the place of the least rank among those whose amounts all fit. Rows of one
//! vertex and of its sibling stand beside each other, so that a step down reads one or two cache
//! lines. Cost for n places: a change is O(log n), and stops as soon as a subtree's least amounts
//! do not change.

use crate::resources::{Resources, fits};

/// See the module.
#[derive(Default)]
pub(super) struct LeastTree {
    /// The rank and the kinds.
    columns: usize,
    /// A power of two; the tree is in heap order: the root is 1, place i is vertex `places + i`.
    places: usize,
    /// The columns of each vertex; where nobody is, more than anything can have.
    least: Vec<u64>,
}

/// Of nobody.
const NOTHING: u64 = u64::MAX;

impl LeastTree {
    pub(super) fn new(kinds: usize, places: usize) -> LeastTree {
        debug_assert!(places.is_power_of_two());
        LeastTree { columns: kinds + 1, places, least: vec![NOTHING; 2 * places * (kinds + 1)] }
    }

    fn vertex(&self, vertex: usize) -> &[u64] {
        &self.least[vertex * self.columns..(vertex + 1) * self.columns]
    }

    fn vertex_mut(&mut self, vertex: usize) -> &mut [u64] {
        &mut self.least[vertex * self.columns..(vertex + 1) * self.columns]
    }

    /// Rank and amounts at a place.
    pub(super) fn row(&self, place: usize) -> &[u64] {
        self.vertex(self.places + place)
    }

    /// The amounts at a place.
    pub(super) fn least(&self, place: usize) -> &[u64] {
        &self.row(place)[1..]
    }

    /// The least rank of all.
    pub(super) fn least_rank(&self) -> u64 {
        self.vertex(1)[0]
    }

    /// The least amounts of all.
    pub(super) fn least_of_all(&self) -> &[u64] {
        &self.vertex(1)[1..]
    }

    /// Puts a row at a place of a new tree, to be followed by [`LeastTree::pull_all`].
    pub(super) fn put(&mut self, place: usize, row: &[u64]) {
        self.vertex_mut(self.places + place).copy_from_slice(row);
    }

    pub(super) fn pull_all(&mut self) {
        for vertex in (1..self.places).rev() {
            self.pull(vertex);
        }
    }

    pub(super) fn set(&mut self, place: usize, rank: u64, amounts: &[u64]) {
        let vertex = self.places + place;
        let row = self.vertex_mut(vertex);
        row[0] = rank;
        row[1..].copy_from_slice(amounts);
        self.pull_above(vertex);
    }

    pub(super) fn clear(&mut self, place: usize) {
        let vertex = self.places + place;
        self.vertex_mut(vertex).fill(NOTHING);
        self.pull_above(vertex);
    }

    pub(super) fn set_rank(&mut self, place: usize, rank: u64) {
        let vertex = self.places + place;
        if std::mem::replace(&mut self.vertex_mut(vertex)[0], rank) != rank {
            self.pull_above(vertex);
        }
    }

    /// Recomputes a vertex from its two children; whether it changed.
    fn pull(&mut self, vertex: usize) -> bool {
        let (above, below) = self.least.split_at_mut(2 * vertex * self.columns);
        let (left, right) = below[..2 * self.columns].split_at(self.columns);
        let row = &mut above[vertex * self.columns..(vertex + 1) * self.columns];
        let mut changed = false;
        for ((least, left), right) in row.iter_mut().zip(left).zip(right) {
            let now = *left.min(right);
            changed |= std::mem::replace(least, now) != now;
        }
        changed
    }

    fn pull_above(&mut self, mut vertex: usize) {
        while vertex > 1 {
            vertex /= 2;
            if !self.pull(vertex) {
                return;
            }
        }
    }

    /// Names to `visit` places whose amounts fit into one of `rooms` and whose rank is at most
    /// `most`, or what `visit` has last made of it: small ranks first, as far as the tree tells.
    pub(super) fn search(
        &self,
        rooms: &[Resources],
        most: u64,
        visit: &mut impl FnMut(usize) -> Option<u64>,
    ) {
        let mut search = Search { rooms, most, visit };
        if search.passes(self.vertex(1)) {
            self.descend(1, &mut search);
        }
    }

    /// Goes down from a vertex that passes.
    fn descend<F: FnMut(usize) -> Option<u64>>(&self, vertex: usize, search: &mut Search<'_, F>) {
        if vertex >= self.places {
            if let Some(most) = (search.visit)(vertex - self.places) {
                search.most = most;
            }
            return;
        }
        let (left, right) = (2 * vertex, 2 * vertex + 1);
        let swap = self.vertex(right)[0] < self.vertex(left)[0];
        for child in if swap { [right, left] } else { [left, right] } {
            if search.passes(self.vertex(child)) {
                self.descend(child, search);
            }
        }
    }
}

/// A question to the tree.
struct Search<'a, F> {
    rooms: &'a [Resources],
    most: u64,
    visit: &'a mut F,
}

impl<F> Search<'_, F> {
    #[inline]
    fn passes(&self, row: &[u64]) -> bool {
        let (rank, amounts) = (row[0], &row[1..]);
        rank <= self.most && self.rooms.iter().any(|room| fits(amounts, room.as_slice()))
    }
}
