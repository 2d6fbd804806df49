//! A tree over nodes with sixteen children to a vertex: the least of their first ends, the most of
//! each of their columns.
//!
//! Children lie together, column by column, so that one pass bounds all sixteen (`Short`). Of a
//! node only the kinds are kept: the other columns follow from these (`Scale::widen`), and it is
//! better to reckon them where a node is the best of its block than to fetch them wherever one is
//! looked at. Cost of a change: O(columns), and O(16 columns) for each level at which it is the
//! best of its block, which it seldom is; memory a fifteenth above that of the nodes.

use super::scale::{Columns, MAX_COLUMNS, Scale};
use crate::ids::NodeRow;
use crate::time::Time;

/// Children of a vertex.
pub(super) const FAN: usize = 16;
const BITS: usize = FAN.ilog2() as usize;

/// One column of all children of a vertex.
pub(super) type Lanes = [u32; FAN];

#[derive(Default)]
struct Level {
    columns: usize,
    blocks: usize,
    /// Nobody's, where nothing is expected to end.
    first: Vec<[Time; FAN]>,
    /// Block by block.
    most: Vec<Lanes>,
}

/// See the module. A vertex is a level, from the nodes up, and a place on it.
#[derive(Default)]
pub(super) struct Blocks {
    levels: Vec<Level>,
}

impl Blocks {
    /// Room for at least so many nodes, of which nothing ends and nothing is free; `ends`: whether
    /// anything may end.
    pub(super) fn new(nodes: usize, kinds: usize, ends: bool) -> Blocks {
        // The last block of nodes is whole, for nodes that join.
        let (mut levels, mut places) = (Vec::new(), nodes.max(1).next_multiple_of(FAN));
        let mut columns = kinds;
        loop {
            let blocks = places.div_ceil(FAN);
            let first = vec![[Time::MAX; FAN]; if ends { blocks } else { 0 }];
            let most = vec![[0; FAN]; blocks * columns];
            levels.push(Level { columns, blocks, first, most });
            if places == 1 {
                return Blocks { levels };
            }
            (places, columns) = (blocks, Scale::columns_of(kinds));
        }
    }

    /// For so many nodes there is room.
    pub(super) fn places(&self) -> usize {
        self.levels.first().map_or(0, |nodes| nodes.blocks * FAN)
    }

    /// Vertices on a level; the rest of its last block stands for nobody.
    pub(super) fn on_level(&self, level: usize) -> usize {
        level.checked_sub(1).map_or(self.places(), |below| self.levels[below].blocks)
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
        self.levels[level].first.get(at / FAN).map_or(Time::MAX, |lanes| lanes[at % FAN])
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
        let Level { columns, most, .. } = &self.levels[level];
        &most[block * columns..][..*columns]
    }

    /// A vertex is so; what is above it is not told yet ([`Blocks::pull_all`]). How it was.
    pub(super) fn write(
        &mut self,
        (level, at): (usize, usize),
        first: Time,
        row: &Columns,
    ) -> (Time, Columns) {
        let Level { columns, first: firsts, most, .. } = &mut self.levels[level];
        let mut before = [0; MAX_COLUMNS];
        let lanes = &mut most[at / FAN * *columns..][..*columns];
        for ((lanes, most), before) in lanes.iter_mut().zip(row).zip(&mut before) {
            *before = std::mem::replace(&mut lanes[at % FAN], *most);
        }
        let lane = firsts.get_mut(at / FAN).map(|lanes| &mut lanes[at % FAN]);
        (lane.map_or(Time::MAX, |lane| std::mem::replace(lane, first)), before)
    }

    /// All that is above the nodes, made anew.
    pub(super) fn pull_all(&mut self, scale: &Scale) {
        for level in 1..self.levels.len() {
            for block in 0..self.levels[level - 1].blocks {
                let (first, row) = self.best(scale, (level - 1, block));
                self.write((level, block), first, &row);
            }
        }
    }

    /// The best of a block.
    fn best(&self, scale: &Scale, (level, block): (usize, usize)) -> (Time, Columns) {
        let first =
            self.levels[level].first.get(block).and_then(|lanes| lanes.iter().copied().min());
        let (mut row, lanes) = ([0; MAX_COLUMNS], self.lanes((level, block)));
        // Below 2^31: signed ones are compared faster.
        let most =
            |lanes: &Lanes| lanes.iter().fold(0, |most: i32, &it| most.max(it as i32)) as u32;
        row.iter_mut().zip(lanes).for_each(|(best, lanes)| *best = most(lanes));
        if level == 0 && lanes.len() > 1 {
            let further = row[lanes.len()..].iter_mut().zip(scale.along_all(&lanes[0], &lanes[1]));
            further.for_each(|(best, lanes)| *best = most(&lanes));
        }
        (first.unwrap_or(Time::MAX), row)
    }

    /// A node is so, and all above it know.
    pub(super) fn set(&mut self, scale: &Scale, node: usize, first: Time, row: &Columns) {
        let (mut at, mut first, mut row) = (node, first, *row);
        for level in 0..self.levels.len() {
            let (ended, mut before) = self.write((level, at), first, &row);
            if level + 1 == self.levels.len() {
                return;
            }
            if level == 0 {
                scale.widen(&mut before);
                scale.widen(&mut row);
            }
            let above = (level + 1, at / FAN);
            // Whether it was, or is, the best of its block, and by that another.
            let (top, most) = (self.first(above), self.most(above));
            let mut tells = first < top || ended == top && first != ended;
            for ((&now, &before), &most) in row.iter().zip(&before).zip(&most) {
                tells |= now > most || before == most && now != before;
            }
            if !tells {
                return;
            }
            (first, row) = self.best(scale, (level, at / FAN));
            at /= FAN;
        }
    }

    /// Reads a field of each row that a change of the node needs.
    #[inline]
    pub(super) fn glance(&self, node: usize) -> u32 {
        let of = |level: usize, at: usize| {
            self.lanes((level, at / FAN)).iter().fold(0, |seen, lanes| seen ^ lanes[at % FAN])
        };
        of(0, node) ^ of(1, node / FAN)
    }

    /// A node whose first end is no later than this, if there is one: the first.
    pub(super) fn first_by(&self, now: Time) -> Option<NodeRow> {
        let (mut level, mut at) = self.root();
        if self.first((level, at)) > now {
            return None;
        }
        while level > 0 {
            level -= 1;
            let lane = (0..FAN).find(|lane| self.first((level, at * FAN + lane)) <= now);
            at = at * FAN + lane.expect("the best of the block is no later");
        }
        Some(self.first_row((0, at)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::holds::draws::Draws;
    use crate::resources::Resources;

    /// Whatever was set, what stands above is the best of what is below.
    #[test]
    fn tells_the_best_of_each_block() {
        let scale = Scale::of(&Resources::new(&[3000, 7000, 500]));
        // A block that is not full has a root above it, too: more nodes may join.
        assert_eq!(Blocks::new(1, 3, true).root(), (1, 0));
        let mut blocks = Blocks::new(600, 3, true);
        assert!(blocks.places() >= 600);
        let mut draws = Draws(1);
        let mut draw = |below| draws.below(below);
        for _ in 0..3000 {
            let node = draw(600) as usize;
            let first = Time::from_micros(draw(40)).expect("in range");
            let mut row = [0; MAX_COLUMNS];
            row[..3].iter_mut().for_each(|most| *most = draw(30) as u32);
            blocks.set(&scale, node, first, &row);
        }
        let mut anew = Blocks::new(600, 3, true);
        for node in 0..600 {
            anew.write((0, node), blocks.first((0, node)), &blocks.most((0, node)));
        }
        anew.pull_all(&scale);
        for (one, other) in blocks.levels.iter().zip(&anew.levels) {
            assert_eq!((&one.first, &one.most), (&other.first, &other.most));
        }
        // Of each direction what the nodes below have, one by one.
        for block in 0..38 {
            let mut best = [0; MAX_COLUMNS];
            for node in (block * FAN..(block + 1) * FAN).take_while(|&node| node < 600) {
                let mut row = blocks.most((0, node));
                scale.widen(&mut row);
                best.iter_mut().zip(row).for_each(|(best, it)| *best = it.max(*best));
            }
            assert_eq!(blocks.most((1, block)), best);
        }
        let now = Time::from_micros(3).expect("in range");
        let first = (0..600).find(|&node| blocks.first((0, node)) <= now);
        assert_eq!(blocks.first_by(now).map(NodeRow::index), first);
    }
}
