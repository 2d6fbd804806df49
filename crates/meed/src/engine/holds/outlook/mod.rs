//! Which nodes are worth a profile, where a task needs a node and all are in question.
//!
//! > first(node) = the first expected end there
//! > ever(node)  = what is free there when all has ended that is expected to end, but for holds
//!
//! A task that does not fit now on a node without holds fits at first(node) at the soonest, and at
//! some known time only if it fits in ever(node); if at none, what is missing is what ever(node)
//! lacks. A tree over the nodes (`blocks`) has of each subtree the least first(node) and the most
//! of ever(node), kind by kind; of the first two kinds, a and b, the most of min(s a, b) as well,
//! for three s: whoever has less than that of both lacks of one (`scale`). So a subtree is passed
//! over without a look at its nodes, and the best is that of a scan.
//!
//! Amounts stand in the tree as they are where the pool has less than 2^31 of a kind, else in
//! larger units, rounded up. So what a subtree misses at least is, for a node, just what it misses:
//! of all nodes that miss the least the first is seen without a look at the others.
//!
//! A start or an end is told: ever(node) follows from what is free and from a sum that is kept, of
//! what tasks hold there whose end is known, and first(node) only falls by a start. After an end it
//! may be too early, until a search would take the node for it, or time reaches it: then the tasks
//! there are read anew. Where no task ever had a limit nothing of this is kept: free is ever.
//!
//! Where the placement has an order by which it knows the nodes on which least is missing
//! (`place::missing`), and nobody knows when anything ends, it is asked instead.
//!
//! Invariant: what the tree says is never worse than what is true, for nodes that were not touched
//! since it was brought up to date. Cost: O(log nodes) for each that was touched since the last
//! search, and O(tasks on the node) where they are read anew, once for each end at most; a search
//! looks at few nodes but for those as good as the best. A change of the pool is a look at all.

mod blocks;
mod scale;

use super::kept::expected_end;
use super::profile::Need;
use crate::engine::core::Core;
use crate::ids::NodeRow;
use crate::resources::Resources;
use crate::time::Time;
use blocks::{Blocks, FAN};
use scale::{Columns, Scale, Short};

/// See the module.
#[derive(Default)]
pub(super) struct Outlook {
    kinds: usize,
    /// For so many nodes there is room; none: it is to be made.
    places: usize,
    blocks: Blocks,
    scale: Scale,
    /// Whether anything is expected to end: else there are no rows of the next three.
    limited: bool,
    /// What tasks hold on each node whose end is known, kind by kind.
    known: Vec<u64>,
    /// The first end on each, as it is told next to what is above it.
    first: Vec<Time>,
    /// Whether `first` may be too early.
    early: Vec<bool>,
    /// Nodes that were touched since.
    touched: Vec<NodeRow>,
    /// Those of which it is not known what happened.
    upset: Vec<NodeRow>,
}

impl Outlook {
    /// What is free on the node has changed.
    #[inline]
    pub(super) fn touch(&mut self, node: NodeRow) {
        if self.touched.len() >= self.places {
            // All are looked at next time.
            self.places = 0;
            self.touched.clear();
            self.upset.clear();
        }
        if self.places > 0 {
            self.touched.push(node);
        }
    }

    /// What runs there may be other than was told.
    pub(super) fn upset(&mut self, node: NodeRow) {
        if self.places > 0 {
            self.upset.push(node);
        }
    }

    /// A task starts on the node, which is touched.
    #[inline]
    pub(super) fn starts(&mut self, now: Time, node: NodeRow, need: &Need) {
        if need.limit.is_none() || !self.limited || node.index() >= self.places {
            return;
        }
        let sums = self.known[node.index() * self.kinds..].iter_mut();
        sums.zip(need.demand.as_slice()).for_each(|(sum, of)| *sum = sum.wrapping_add(*of));
        if let Some(end) = expected_end(now, need.limit, now) {
            let first = &mut self.first[node.index()];
            *first = end.min(*first);
        }
    }

    /// A task has ended on the node, which is touched.
    #[inline]
    pub(super) fn ends(&mut self, node: NodeRow, need: &Need) {
        if need.limit.is_none() || !self.limited || node.index() >= self.places {
            return;
        }
        let sums = self.known[node.index() * self.kinds..].iter_mut();
        sums.zip(need.demand.as_slice()).for_each(|(sum, of)| *sum = sum.wrapping_sub(*of));
        self.early[node.index()] = true;
    }

    /// Whether it is known that nothing is expected to end on the node.
    pub(super) fn expects_no_end(&self, core: &Core, node: NodeRow) -> bool {
        if !core.room.any_limited() {
            return true;
        }
        let known = self.known.get(node.index() * self.kinds..);
        let sums = known.and_then(|known| known.get(..self.kinds));
        let told = self.limited && self.places > 0 && self.upset.is_empty();
        told && sums.is_some_and(|sums| sums.iter().all(|sum| *sum == 0))
    }

    /// Rows of nodes have moved.
    pub(super) fn forget(&mut self) {
        *self = Outlook::default();
    }

    /// Brings it up to date.
    pub(super) fn refresh(&mut self, core: &Core) {
        let nodes = core.room.nodes();
        let limited = core.room.any_limited();
        let other = self.scale.total != *core.room.total() || self.limited != limited;
        if self.places == 0 || nodes > self.places || other {
            self.limited = limited;
            return self.make(core, nodes);
        }
        let upset = std::mem::take(&mut self.upset);
        upset.into_iter().for_each(|node| self.read(core, node));
        let mut touched = std::mem::take(&mut self.touched);
        touched.sort_unstable();
        touched.dedup();
        // Memory answers for all of them at once.
        let glance = |seen, node: &NodeRow| seen ^ self.blocks.glance(node.index());
        std::hint::black_box(touched.iter().fold(0, glance));
        touched.drain(..).for_each(|node| self.set(core, node));
        self.touched = touched;
        // Tasks that were to have ended are beyond their limits.
        while let Some(node) = self.blocks.first_by(core.now) {
            self.read_and_set(core, node);
        }
    }

    fn make(&mut self, core: &Core, nodes: usize) {
        self.kinds = core.kinds.len();
        // Room for as many again as it has: nodes that join seldom make it anew.
        self.blocks = Blocks::new(nodes.next_power_of_two(), self.kinds, self.limited);
        self.places = self.blocks.places();
        self.scale = Scale::of(core.room.total());
        let rows = if self.limited { self.places } else { 0 };
        self.known = vec![0; rows * self.kinds];
        self.first = vec![Time::MAX; rows];
        self.early = vec![false; rows];
        self.touched.clear();
        self.upset.clear();
        for row in (0..nodes as u32).map(NodeRow) {
            self.read(core, row);
            let columns = self.columns(core, row);
            self.blocks.write((0, row.index()), self.first_on(row), &columns);
        }
        self.blocks.pull_all(&self.scale);
    }

    fn set(&mut self, core: &Core, node: NodeRow) {
        let columns = self.columns(core, node);
        self.blocks.set(&self.scale, node.index(), self.first_on(node), &columns);
    }

    fn first_on(&self, node: NodeRow) -> Time {
        self.first.get(node.index()).copied().unwrap_or(Time::MAX)
    }

    fn read_and_set(&mut self, core: &Core, node: NodeRow) {
        self.read(core, node);
        self.set(core, node);
    }

    /// Reads what runs on the node.
    fn read(&mut self, core: &Core, node: NodeRow) {
        if !self.limited {
            return;
        }
        let at = node.index();
        let sums = &mut self.known[at * self.kinds..][..self.kinds];
        sums.fill(0);
        let mut first = Time::MAX;
        for task in core.work.on_node(node) {
            let limit = core.room.limit(task.shape);
            if limit.is_none() {
                continue;
            }
            let end = expected_end(task.started, limit, core.now);
            first = first.min(end.unwrap_or(Time::MAX));
            let demand = core.room.demand(task.shape).as_slice();
            sums.iter_mut().zip(demand).for_each(|(sum, of)| *sum = sum.wrapping_add(*of));
        }
        self.first[at] = first;
        self.early[at] = false;
    }

    /// The columns of a node.
    fn columns(&self, core: &Core, node: NodeRow) -> Columns {
        let free = core.room.balance(node);
        let known = self.known.get(node.index() * self.kinds..).unwrap_or_default();
        let ever = free[..self.kinds].iter().enumerate().map(|(kind, free)| {
            let ever = free + i128::from(known.get(kind).copied().unwrap_or(0));
            u64::try_from(ever.max(0)).unwrap_or(u64::MAX)
        });
        self.scale.columns(ever)
    }

    /// Asks `look` for nodes that may fit at a known time. `may_be` is told a node, the soonest
    /// instant for it and whether that is a node or the first of several, and says whether it may
    /// be so.
    pub(super) fn search_known(
        &mut self,
        core: &Core,
        demand: &Resources,
        mut may_be: impl FnMut(Time, NodeRow) -> bool,
        mut look: impl FnMut(NodeRow, bool),
    ) {
        let mut needs = self.scale.columns(demand.as_slice().iter().copied());
        self.scale.widen(&mut needs);
        if !self.limited {
            return;
        }
        let mut vertices = vec![self.blocks.root()];
        while let Some((level, at)) = vertices.pop() {
            let first = self.blocks.first((level, at));
            let fits = || {
                let lanes = self.blocks.lanes((level, at / FAN));
                lanes.iter().zip(&needs).all(|(most, &need)| need <= most[at % FAN])
            };
            let row = self.blocks.first_row((level, at));
            if first == Time::MAX || !may_be(first, row) || !fits() {
                continue;
            }
            if level > 0 {
                let from = vertices.len();
                vertices.extend((0..FAN).rev().map(|lane| (level - 1, at * FAN + lane)));
                // The one with the earliest instant is looked at first, of like ones the first.
                vertices[from..]
                    .sort_by_key(|&vertex| std::cmp::Reverse(self.blocks.first(vertex)));
            } else if self.early[at] {
                // It is seen anew.
                self.read_and_set(core, row);
                vertices.push((level, at));
            } else {
                look(row, false);
            }
        }
    }

    /// The same for nodes by what is missing there: `most` is how much may be missing on a node
    /// that is still worth a look, `may_be` whether so much may be missing on this node, the first
    /// of several or one.
    pub(super) fn search_missing(
        &self,
        core: &Core,
        demand: &Resources,
        most: impl Fn() -> Option<u64>,
        may_be: impl Fn(u64, NodeRow) -> bool,
        look: impl FnMut(NodeRow, bool),
    ) {
        let (scale, short) = (&self.scale, Short::of(&self.scale, demand));
        let mut needs = scale.columns(demand.as_slice().iter().copied());
        scale.widen(&mut needs);
        let (root, blocks) = (self.blocks.root(), &self.blocks);
        let worth = |vertex: (usize, usize)| {
            let (most, row) = (blocks.most(vertex), blocks.first_row(vertex));
            match vertex.0 {
                0 => may_be(scale.missing_on(&most, demand), row),
                _ => scale.missing_below(&most, demand, &needs, |it| may_be(it, row)).is_some(),
            }
        };
        let limit = || short.limit(most());
        Search { core, outlook: self, short: &short, limit, worth, look }.below((root.0, 0));
    }
}

/// A walk through the blocks, the best first.
struct Search<'a, Limit, Worth, Look> {
    core: &'a Core,
    outlook: &'a Outlook,
    short: &'a Short,
    /// What a bound may be.
    limit: Limit,
    /// Whether something better may be below a vertex.
    worth: Worth,
    look: Look,
}

impl<Limit, Worth, Look> Search<'_, Limit, Worth, Look>
where
    Limit: Fn() -> f32,
    Worth: Fn((usize, usize)) -> bool,
    Look: FnMut(NodeRow, bool),
{
    /// The vertices of a block.
    fn below(&mut self, (level, block): (usize, usize)) {
        let outlook = self.outlook;
        let lanes = outlook.blocks.lanes((level, block));
        let mut lower = match level {
            0 => self.short.of_nodes(lanes),
            _ => self.short.of_all(lanes),
        };
        let there = outlook.blocks.on_level(level) - block * FAN;
        lower.iter_mut().skip(there).for_each(|nobody| *nobody = f32::INFINITY);
        loop {
            let least = least_of(&lower);
            if least > (self.limit)() || least == f32::INFINITY {
                return;
            }
            // Of like ones the first.
            let Some(lane) = lower.iter().position(|&bound| bound == least) else { return };
            lower[lane] = f32::INFINITY;
            let at = block * FAN + lane;
            if !(self.worth)((level, at)) {
                continue;
            }
            match level.checked_sub(1) {
                Some(below) => self.below((below, at)),
                None => {
                    let node = outlook.blocks.first_row((0, at));
                    (self.look)(node, outlook.expects_no_end(self.core, node));
                }
            }
        }
    }
}

/// The least of all lanes: halves are compared as wholes.
#[inline(always)]
fn least_of(lanes: &[f32; FAN]) -> f32 {
    let mut least = *lanes;
    let mut width = FAN / 2;
    while width > 0 {
        for at in 0..width {
            least[at] = if least[at + width] < least[at] { least[at + width] } else { least[at] };
        }
        width /= 2;
    }
    least[0]
}
