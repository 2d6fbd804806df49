//! The most that is free, where there is one kind ([`super::max_tree`]): eight children a vertex,
//! whose maxima stand side by side in one line of memory.
//!
//! > entry i of line l of a level  =  the most of line 8 l + i of the level below
//!
//! With 10,000 nodes a way down reads five lines, where a binary tree reads fourteen numbers one
//! after the other. A change goes up only as far as maxima change, and a line is looked through
//! only where its largest entry falls. Cost: O(log k) for k nodes.

use super::allowed::Allowed;
use crate::ids::NodeRow;
use crate::memory::expect_at;

/// Entries of a line.
const WIDTH: usize = 8;

/// What is free on eight nodes, or the most of eight lines.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct Line([u64; WIDTH]);

impl Line {
    #[inline]
    fn most(&self) -> u64 {
        self.0.iter().copied().fold(0, u64::max)
    }

    /// The first entry at `from` or after it that is as large as `demand`. All are compared, for a
    /// way out in between would be guessed wrongly.
    #[inline]
    fn first(&self, demand: u64, from: usize) -> Option<usize> {
        let bit = |bits: u32, place: usize| bits | u32::from(self.0[place] >= demand) << place;
        let fits = (0..WIDTH).fold(0, bit) >> from << from;
        (fits != 0).then(|| fits.trailing_zeros() as usize)
    }
}

/// See the module. Invariant: the last level is one line.
pub(super) struct LineTree {
    /// What is free on the nodes, then level by level.
    levels: Vec<Vec<Line>>,
    /// The most of all.
    most: u64,
}

impl Default for LineTree {
    fn default() -> LineTree {
        LineTree { levels: vec![vec![Line::default()]], most: 0 }
    }
}

impl LineTree {
    /// Room for a node of that number.
    #[cold]
    fn grow(&mut self, node: usize) {
        let (mut lines, mut level) = (node / WIDTH + 1, 0);
        loop {
            if level == self.levels.len() {
                // What was the top is the first below the new one.
                let mut top = Line::default();
                top.0[0] = self.most;
                self.levels.push(vec![top]);
            }
            let known = &mut self.levels[level];
            known.resize(lines.max(known.len()), Line::default());
            if known.len() == 1 {
                return;
            }
            (lines, level) = (known.len().div_ceil(WIDTH), level + 1);
        }
    }

    #[inline]
    pub(super) fn set_free(&mut self, node: NodeRow, free: u64) {
        let mut at = node.index();
        if at / WIDTH >= self.levels[0].len() {
            self.grow(at);
        }
        let mut now = free;
        for level in 0..self.levels.len() {
            let line = at / WIDTH;
            let before = std::mem::replace(&mut self.levels[level][line].0[at % WIDTH], now);
            at = line;
            let most = match self.levels.get(level + 1) {
                Some(above) => above[at / WIDTH].0[at % WIDTH],
                None => self.most,
            };
            if before < most && now <= most {
                return;
            }
            now = if now >= most { now } else { self.levels[level][line].most() };
            if now == most {
                return;
            }
        }
        self.most = now;
    }

    /// Has the two lowest of its lines brought.
    #[inline]
    pub(super) fn expect(&self, node: NodeRow) {
        let mut at = node.index();
        for level in self.levels.iter().take(2) {
            at /= WIDTH;
            expect_at(level, at);
        }
    }

    /// Whether some node has so much.
    #[inline]
    pub(super) fn fits(&self, demand: u64) -> bool {
        self.most >= demand
    }

    #[inline]
    pub(super) fn has_room(&self, node: NodeRow, demand: u64) -> bool {
        let line = self.levels[0].get(node.index() / WIDTH);
        line.is_some_and(|line| line.0[node.index() % WIDTH] >= demand)
    }

    /// The first node with room that is allowed.
    #[inline]
    pub(super) fn first(&self, demand: u64, allowed: Allowed<'_>) -> Option<NodeRow> {
        let mut node = self.down(self.levels.len() - 1, 0, demand, 0)?;
        while !allowed.contains(NodeRow(node as u32)) {
            node = self.next(node, demand)?;
        }
        Some(NodeRow(node as u32))
    }

    /// The first node below line `at` of a level that has so much, where an entry at `from` or
    /// after it tells of one.
    #[inline]
    fn down(&self, level: usize, at: usize, demand: u64, from: usize) -> Option<usize> {
        let mut at = at * WIDTH + self.levels[level][at].first(demand, from)?;
        for level in self.levels[..level].iter().rev() {
            at = at * WIDTH + level[at].first(demand, 0)?;
        }
        Some(at)
    }

    /// The first node after `node` that has so much.
    fn next(&self, node: usize, demand: u64) -> Option<usize> {
        let mut at = node;
        (0..self.levels.len()).find_map(|level| {
            let (line, from) = (at / WIDTH, at % WIDTH + 1);
            at = line;
            self.down(level, line, demand, from)
        })
    }

    /// The allowed node with room that has most; the first of equals.
    pub(super) fn most(&self, demand: u64, allowed: Allowed<'_>) -> Option<NodeRow> {
        let mut best: Option<(u64, usize)> = None;
        let beats = |bound: u64, first: usize, best: Option<(u64, usize)>| {
            bound >= demand
                && best.is_none_or(|(most, node)| bound > most || bound == most && first < node)
        };
        // Lines with the most that their entries may give; the fullest is looked at first, so that
        // most of the tree is beaten before it is entered.
        let mut ahead = vec![(self.levels.len() - 1, 0, self.most)];
        while let Some((level, at, bound)) = ahead.pop() {
            let first_below = |at: usize| at * WIDTH.pow(level as u32);
            if !beats(bound, first_below(at * WIDTH), best) {
                continue;
            }
            let entries = &self.levels[level][at].0;
            let mut order: [usize; WIDTH] = std::array::from_fn(|place| place);
            order.sort_unstable_by_key(|&place| (entries[place], std::cmp::Reverse(place)));
            for (bound, at) in order.map(|place| (entries[place], at * WIDTH + place)) {
                match level.checked_sub(1) {
                    Some(below) => ahead.push((below, at, bound)),
                    None if !beats(bound, at, best) => {}
                    None if allowed.contains(NodeRow(at as u32)) => best = Some((bound, at)),
                    None => {}
                }
            }
        }
        best.map(|(_, node)| NodeRow(node as u32))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::NodeSet;
    use super::*;

    proptest! {
        /// Nodes that come in any order, so that the tree grows by several levels at once, and hold
        /// from nothing to amounts that are equal.
        #[test]
        fn tells_what_a_list_tells(
            steps in prop::collection::vec((0usize..5000, 0u64..6, 1u64..6, any::<u64>()), 1..120),
        ) {
            let (mut tree, mut free) = (LineTree::default(), vec![0u64; 5000]);
            for (node, amount, demand, barred) in steps {
                tree.set_free(NodeRow(node as u32), amount);
                free[node] = amount;
                let mut eligible = NodeSet::default();
                for at in (0..free.len()).filter(|at| barred >> (at % 61) & 1 == 0) {
                    eligible.set(NodeRow(at as u32), true);
                }
                let some = Allowed { eligible: Some(&eligible), taken: None };
                for allowed in [Allowed::ANY, some] {
                    let fits = |at: &usize| {
                        free[*at] >= demand && allowed.contains(NodeRow(*at as u32))
                    };
                    let all = || (0..free.len()).filter(fits);
                    let row = |at: usize| NodeRow(at as u32);
                    prop_assert_eq!(tree.first(demand, allowed), all().next().map(row));
                    let fullest = all().max_by_key(|&at| (free[at], std::cmp::Reverse(at)));
                    prop_assert_eq!(tree.most(demand, allowed), fullest.map(row));
                }
                prop_assert_eq!(tree.fits(demand), free.iter().any(|&free| free >= demand));
                let known = tree.has_room(NodeRow(node as u32), demand);
                prop_assert_eq!(known, amount >= demand);
            }
        }
    }
}
