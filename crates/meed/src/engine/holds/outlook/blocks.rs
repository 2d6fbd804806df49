//! A tree over nodes with sixteen children to a vertex: the least of their first ends, the most of
//! each of their columns.
//!
//! Children lie together, column by column, so that one pass bounds all sixteen (`Short`). Cost of
//! a change: O(columns), and O(16 columns) for each level at which it is the best of its block,
//! which it seldom is; memory a fifteenth above that of the nodes.

use super::scale::{Columns, MAX_COLUMNS};
use crate::spec::NodeRow;
use crate::time::Time;

/// Children of a vertex.
pub(super) const FAN: usize = 16;
const BITS: usize = FAN.ilog2() as usize;

/// One column of all children of a vertex.
pub(super) type Lanes = [u32; FAN];

#[derive(Default)]
struct Level {
    first: Vec<[Time; FAN]>,
    /// Block by block.
    most: Vec<Lanes>,
}

/// See the module. A vertex is a level, from the nodes up, and a place on it.
#[derive(Default)]
pub(super) struct Blocks {
    columns: usize,
    levels: Vec<Level>,
}

impl Blocks {
    /// Room for at least so many nodes, of which nothing ends and nothing is free.
    pub(super) fn new(nodes: usize, columns: usize) -> Blocks {
        // The last block of nodes is whole, for nodes that join.
        let (mut levels, mut places) = (Vec::new(), nodes.max(1).next_multiple_of(FAN));
        loop {
            let blocks = places.div_ceil(FAN);
            let (first, most) = (vec![[Time::MAX; FAN]; blocks], vec![[0; FAN]; blocks * columns]);
            levels.push(Level { first, most });
            if places == 1 {
                return Blocks { columns, levels };
            }
            places = blocks;
        }
    }

    /// For so many nodes there is room.
    pub(super) fn places(&self) -> usize {
        self.levels.first().map_or(0, |nodes| nodes.first.len() * FAN)
    }

    /// Vertices on a level; the rest of its last block stands for nobody.
    pub(super) fn on_level(&self, level: usize) -> usize {
        level.checked_sub(1).map_or(self.places(), |below| self.levels[below].first.len())
    }

    /// The vertex of all.
    pub(super) fn root(&self) -> (usize, usize) {
        (self.levels.len() - 1, 0)
    }

    /// The node of a vertex, or the first below it.
    pub(super) fn first_row(&self, (level, at): (usize, usize)) -> NodeRow {
        NodeRow(u32::try_from(at << (BITS * level)).unwrap_or(u32::MAX))
    }

    pub(super) fn first(&self, (level, at): (usize, usize)) -> Time {
        self.levels[level].first[at / FAN][at % FAN]
    }

    /// Its columns; those beyond are nothing.
    pub(super) fn most(&self, (level, at): (usize, usize)) -> Columns {
        let mut row = [0; MAX_COLUMNS];
        let lanes = self.lanes((level, at / FAN));
        row.iter_mut().zip(lanes).for_each(|(most, lanes)| *most = lanes[at % FAN]);
        row
    }

    /// The columns of all vertices of a block.
    pub(super) fn lanes(&self, (level, block): (usize, usize)) -> &[Lanes] {
        &self.levels[level].most[block * self.columns..][..self.columns]
    }

    /// A vertex is so; what is above it is not told yet ([`Blocks::pull_all`]).
    pub(super) fn write(&mut self, (level, at): (usize, usize), first: Time, row: &Columns) {
        let Level { first: firsts, most } = &mut self.levels[level];
        firsts[at / FAN][at % FAN] = first;
        let lanes = most[at / FAN * self.columns..].iter_mut().take(self.columns);
        lanes.zip(row).for_each(|(lanes, most)| lanes[at % FAN] = *most);
    }

    /// All that is above the nodes, made anew.
    pub(super) fn pull_all(&mut self) {
        for level in 1..self.levels.len() {
            for block in 0..self.levels[level - 1].first.len() {
                let (first, row) = self.best((level - 1, block));
                self.write((level, block), first, &row);
            }
        }
    }

    /// The best of a block.
    fn best(&self, (level, block): (usize, usize)) -> (Time, Columns) {
        let first = self.levels[level].first[block].iter().copied().min();
        let mut row = [0; MAX_COLUMNS];
        for (most, lanes) in row.iter_mut().zip(self.lanes((level, block))) {
            // Below 2^31: signed ones are compared faster.
            *most = lanes.iter().fold(0, |most: i32, &lane| most.max(lane as i32)) as u32;
        }
        (first.unwrap_or(Time::MAX), row)
    }

    /// A node is so, and all above it know.
    pub(super) fn set(&mut self, node: usize, first: Time, row: &Columns) {
        let (mut at, mut first, mut row) = (node, first, *row);
        for level in 0..self.levels.len() {
            let (block, lane) = (at / FAN, at % FAN);
            let above = (level + 1 < self.levels.len())
                .then(|| (self.first((level + 1, block)), self.most((level + 1, block))));
            let here = &mut self.levels[level];
            let before = std::mem::replace(&mut here.first[block][lane], first);
            // Whether it was, or is, the best of its block, and by that another.
            let mut tells = false;
            if let Some((above, _)) = above {
                tells |= first < above || before == above && first != before;
            }
            let lanes = here.most[block * self.columns..].iter_mut().take(self.columns);
            for (column, lanes) in lanes.enumerate() {
                let before = std::mem::replace(&mut lanes[lane], row[column]);
                if let Some((_, above)) = &above {
                    let (now, above) = (row[column], above[column]);
                    tells |= now > above || before == above && now != before;
                }
            }
            if !tells {
                return;
            }
            (first, row) = self.best((level, block));
            at = block;
        }
    }

    /// A node whose first end is no later than this, if there is one: the first.
    pub(super) fn first_by(&self, now: Time) -> Option<NodeRow> {
        let (mut level, mut at) = self.root();
        if self.first((level, at)) > now {
            return None;
        }
        while level > 0 {
            level -= 1;
            let lanes = &self.levels[level].first[at];
            let lane = lanes.iter().position(|&first| first <= now);
            at = at * FAN + lane.expect("the best of the block is no later");
        }
        Some(self.first_row((0, at)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever was set, what stands above is the best of what is below.
    #[test]
    fn tells_the_best_of_each_block() {
        // A block that is not full has a root above it, too: more nodes may join.
        assert_eq!(Blocks::new(1, 3).root(), (1, 0));
        let mut blocks = Blocks::new(600, 3);
        assert!(blocks.places() >= 600);
        let mut draws: u64 = 1;
        let mut draw = |below: u64| {
            draws = draws.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (draws >> 33) % below
        };
        for _ in 0..3000 {
            let node = draw(600) as usize;
            let first = Time::from_micros(draw(40)).expect("in range");
            let mut row = [0; MAX_COLUMNS];
            row[..3].iter_mut().for_each(|most| *most = draw(30) as u32);
            blocks.set(node, first, &row);
        }
        let mut anew = Blocks::new(600, 3);
        for node in 0..600 {
            anew.write((0, node), blocks.first((0, node)), &blocks.most((0, node)));
        }
        anew.pull_all();
        for (one, other) in blocks.levels.iter().zip(&anew.levels) {
            assert_eq!((&one.first, &one.most), (&other.first, &other.most));
        }
        let now = Time::from_micros(3).expect("in range");
        let first = (0..600).find(|&node| blocks.first((0, node)) <= now);
        assert_eq!(blocks.first_by(now).map(NodeRow::index), first);
    }
}
