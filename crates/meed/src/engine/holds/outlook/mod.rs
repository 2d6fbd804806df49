//! Which nodes are worth a profile, where a task needs a node and all are in question.
//!
//! > first(node) = the first expected end there
//! > ever(node)  = what is free there when all has ended that is expected to end, but for holds
//!
//! A task that does not fit now on a node without holds fits at first(node) at the soonest, and at
//! some known time only if it fits in ever(node); if at none, what is missing is what ever(node)
//! lacks. A tree over the nodes (`blocks`) has of each subtree the least first(node) and the most
//! of ever(node), kind by kind; of the first two kinds, a and b, the most of min(s a, b) as well,
//! for five s: whoever has less than that of both lacks of one (`scale`). So a subtree is passed
//! over without a look at its nodes, and the best is that of a scan.
//!
//! Amounts stand in the tree as they are where the pool has less than 2^31 of a kind, else in
//! larger units, rounded up. So what a subtree misses at least is, for a node, just what it misses:
//! of all nodes that miss the least the first is seen without a look at the others.
//!
//! A start or an end is told: ever(node) follows from what is free and from a sum that is kept, of
//! what tasks hold there whose end is known, and first(node) only falls by a start. After an end it
//! may be too early, until a search would take the node for it, or time reaches it: then the tasks
//! there are read anew.
//!
//! Invariant: what the tree says is never worse than what is true, for nodes that were not touched
//! since it was brought up to date. Cost: O(log nodes) for each that was touched since the last
//! search, and O(tasks on the node) where they are read anew, once for each end at most; a search
//! looks at few nodes but for those as good as the best. A change of the pool is a look at all.

mod blocks;
mod scale;

use super::kept::expected_end;
use super::profile::Need;
use crate::engine::Engine;
use crate::resources::Resources;
use crate::spec::NodeRow;
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
    /// Of each node, as it is told next to what is above it.
    first: Vec<Time>,
    scale: Scale,
    /// What tasks hold on each node whose end is known, kind by kind.
    known: Vec<u64>,
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
        if need.limit.is_none() || node.index() >= self.places {
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
        if need.limit.is_none() || node.index() >= self.places {
            return;
        }
        let sums = self.known[node.index() * self.kinds..].iter_mut();
        sums.zip(need.demand.as_slice()).for_each(|(sum, of)| *sum = sum.wrapping_sub(*of));
        self.early[node.index()] = true;
    }

    /// Whether it is known that nothing is expected to end on the node.
    pub(super) fn expects_no_end(&self, node: NodeRow) -> bool {
        let known = self.known.get(node.index() * self.kinds..);
        let sums = known.and_then(|known| known.get(..self.kinds));
        let told = self.places > 0 && self.upset.is_empty();
        told && sums.is_some_and(|sums| sums.iter().all(|sum| *sum == 0))
    }

    /// Rows of nodes have moved.
    pub(super) fn forget(&mut self) {
        *self = Outlook::default();
    }

    /// Brings it up to date.
    pub(super) fn refresh(&mut self, engine: &Engine) {
        let nodes = engine.room.nodes();
        if self.places == 0 || nodes > self.places || self.scale.total != *engine.room.total() {
            return self.make(engine, nodes);
        }
        let upset = std::mem::take(&mut self.upset);
        upset.into_iter().for_each(|node| self.read(engine, node));
        let mut touched = std::mem::take(&mut self.touched);
        touched.sort_unstable();
        touched.dedup();
        touched.drain(..).for_each(|node| self.set(engine, node));
        self.touched = touched;
        // Tasks that were to have ended are beyond their limits.
        while let Some(node) = self.blocks.first_by(engine.now) {
            self.read_and_set(engine, node);
        }
    }

    fn make(&mut self, engine: &Engine, nodes: usize) {
        self.kinds = engine.kinds.len();
        // Room for as many again as it has: nodes that join seldom make it anew.
        self.blocks = Blocks::new(nodes.next_power_of_two(), Scale::columns_of(self.kinds));
        self.places = self.blocks.places();
        self.first = vec![Time::MAX; self.places];
        self.scale = Scale::of(engine.room.total());
        self.known = vec![0; self.places * self.kinds];
        self.early = vec![false; self.places];
        self.touched.clear();
        self.upset.clear();
        for row in (0..nodes as u32).map(NodeRow) {
            self.read(engine, row);
            let columns = self.columns(engine, row);
            self.blocks.write((0, row.index()), self.first[row.index()], &columns);
        }
        self.blocks.pull_all();
    }

    fn set(&mut self, engine: &Engine, node: NodeRow) {
        let columns = self.columns(engine, node);
        self.blocks.set(node.index(), self.first[node.index()], &columns);
    }

    fn read_and_set(&mut self, engine: &Engine, node: NodeRow) {
        self.read(engine, node);
        self.set(engine, node);
    }

    /// Reads what runs on the node.
    fn read(&mut self, engine: &Engine, node: NodeRow) {
        let at = node.index();
        let sums = &mut self.known[at * self.kinds..][..self.kinds];
        sums.fill(0);
        let mut first = Time::MAX;
        let limited = engine.room.any_limited().then(|| engine.work.on_node(node));
        for task in limited.into_iter().flatten() {
            let limit = engine.room.limit(task.shape);
            if limit.is_none() {
                continue;
            }
            let end = expected_end(task.started, limit, engine.now);
            first = first.min(end.unwrap_or(Time::MAX));
            let demand = engine.room.demand(task.shape).as_slice();
            sums.iter_mut().zip(demand).for_each(|(sum, of)| *sum = sum.wrapping_add(*of));
        }
        self.first[at] = first;
        self.early[at] = false;
    }

    /// The columns of a node.
    fn columns(&self, engine: &Engine, node: NodeRow) -> Columns {
        let free = engine.room.balance(node);
        let known = &self.known[node.index() * self.kinds..];
        let both = free[..self.kinds].iter().zip(known);
        self.scale.columns(both.map(|(free, &known)| {
            let ever = free + i128::from(known);
            u64::try_from(ever.max(0)).unwrap_or(u64::MAX)
        }))
    }

    /// Asks `look` for nodes that may fit at a known time. `may_be` is told a node, the soonest
    /// instant for it and whether that is a node or the first of several, and says whether it may
    /// be so.
    pub(super) fn search_known(
        &mut self,
        engine: &Engine,
        demand: &Resources,
        mut may_be: impl FnMut(Time, NodeRow) -> bool,
        mut look: impl FnMut(NodeRow, bool),
    ) {
        let needs = self.scale.columns(demand.as_slice().iter().copied());
        let mut vertices = vec![self.blocks.root()];
        while let Some((level, at)) = vertices.pop() {
            let first = self.blocks.first((level, at));
            let fits = || {
                let most = self.blocks.most((level, at));
                most.iter().zip(&needs).all(|(most, need)| need <= most)
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
                self.read_and_set(engine, row);
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
        demand: &Resources,
        most: impl Fn() -> Option<u64>,
        may_be: impl Fn(u64, NodeRow) -> bool,
        look: impl FnMut(NodeRow, bool),
    ) {
        let (scale, short) = (&self.scale, Short::of(&self.scale, demand));
        let needs = scale.columns(demand.as_slice().iter().copied());
        let (root, blocks) = (self.blocks.root(), &self.blocks);
        let worth = |vertex: (usize, usize)| {
            let may_be = |missing| may_be(missing, blocks.first_row(vertex));
            scale.missing_below(&blocks.most(vertex), demand, &needs, may_be).is_some()
        };
        let limit = || short.limit(most());
        Search { outlook: self, short: &short, limit, worth, look }.below((root.0, 0));
    }
}

/// A walk through the blocks, the best first.
struct Search<'a, Limit, Worth, Look> {
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
        let mut lower = self.short.of_all(outlook.blocks.lanes((level, block)));
        let there = outlook.blocks.on_level(level) - block * FAN;
        lower.iter_mut().skip(there).for_each(|nobody| *nobody = f32::INFINITY);
        loop {
            // Of like ones the first.
            let (mut lane, mut least) = (0, lower[0]);
            for (at, &bound) in lower.iter().enumerate().skip(1) {
                if bound < least {
                    (lane, least) = (at, bound);
                }
            }
            if least > (self.limit)() {
                return;
            }
            lower[lane] = f32::INFINITY;
            let at = block * FAN + lane;
            if !(self.worth)((level, at)) {
                continue;
            }
            match level.checked_sub(1) {
                Some(below) => self.below((below, at)),
                None => {
                    let node = outlook.blocks.first_row((0, at));
                    (self.look)(node, outlook.expects_no_end(node));
                }
            }
        }
    }
}
