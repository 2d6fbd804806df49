//! Which nodes are worth a profile, where a task needs a node and all are in question.
//!
//! > first(node) = the first expected end there
//! > ever(node)  = what is free there when all has ended that is expected to end, but for holds
//!
//! A task that does not fit now on a node without holds fits at first(node) at the soonest, and at
//! some known time only if it fits in ever(node); if at none, what is missing is what ever(node)
//! lacks. A tree over the nodes has of each subtree the least first(node) and the most of
//! ever(node), kind by kind; of the first two kinds, a and b, the most of min(s a, b) as well, for
//! five s: whoever has less than that of both lacks of one. So a subtree is passed over without a
//! look at its nodes, and the best is that of a scan.
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

use smallvec::{SmallVec, smallvec};

use super::kept::expected_end;
use super::plan::PARTS;
use super::profile::Need;
use crate::engine::Engine;
use crate::resources::{MAX_KINDS, Resources};
use crate::spec::NodeRow;
use crate::time::Time;

/// Powers of two that s is, in parts of the pool, and how much each is raised by.
const DIRECTIONS: [u32; 5] = [0, 1, 2, 3, 4];
const RAISED: u32 = 2;

/// Most columns of a vertex.
const MAX_COLUMNS: usize = MAX_KINDS + DIRECTIONS.len();

type Columns = [u32; MAX_COLUMNS];

/// How amounts stand in columns: in units of so large a power of two that what the pool has takes
/// 31 bits, rounded up.
#[derive(Default)]
struct Scale {
    /// What all nodes had when it was made.
    total: Resources,
    /// The same, or one where that is nothing.
    whole: [u64; MAX_KINDS],
    shifts: [u32; MAX_KINDS],
    /// s for each direction, in units of b for one of a, in parts of `1 << FINE`.
    ratios: [u64; DIRECTIONS.len()],
}

const FINE: u32 = 16 + RAISED;

impl Scale {
    fn of(total: &Resources) -> Scale {
        let (mut whole, mut shifts) = ([1; MAX_KINDS], [0; MAX_KINDS]);
        for ((whole, shift), &total) in whole.iter_mut().zip(&mut shifts).zip(total.as_slice()) {
            *whole = total.max(1);
            *shift = (u64::BITS - total.leading_zeros()).saturating_sub(31);
        }
        let (a, b) = (whole[0] >> shifts[0], whole[1] >> shifts[1]);
        // Any will do; these tell most where nodes have of both what the pool has.
        let ratio = ((b << 16) / a.max(1)).clamp(1, 1 << 24);
        let ratios = DIRECTIONS.map(|direction| ratio << direction);
        Scale { total: *total, whole, shifts, ratios }
    }

    #[inline]
    fn units(&self, kind: usize, amount: u64) -> u32 {
        let shift = self.shifts[kind];
        let units = (amount >> shift) + u64::from(amount & ((1 << shift) - 1) > 0);
        // More than all of the pool is as good as that.
        u32::try_from(units).unwrap_or(u32::MAX)
    }

    /// s a, rounded up, where it is below b, in units of b.
    #[inline]
    fn along(&self, direction: usize, a: u32, b: u32) -> u32 {
        let raised = u64::from(a) * self.ratios[direction];
        raised.div_ceil(1 << FINE).min(u64::from(b)) as u32
    }

    /// The most of a for which s a, rounded up, is at most this.
    #[inline]
    fn before(&self, direction: usize, along: u32) -> u64 {
        (u64::from(along) << FINE) / self.ratios[direction].max(1)
    }

    /// What of an amount so many units lack, in parts of the pool, as places are ranked
    /// ([`Engine::rank_missing`]).
    #[inline(always)]
    fn lacks(&self, kind: usize, amount: u64, units: u32) -> u64 {
        let missing = amount.saturating_sub(u64::from(units) << self.shifts[kind]);
        match missing {
            0 => 0,
            1..=0xFFFF_FFFF => (missing << 32) / self.whole[kind].max(1),
            _ => {
                let parts = u128::from(missing) * PARTS / u128::from(self.whole[kind]);
                u64::try_from(parts).unwrap_or(u64::MAX)
            }
        }
    }

    /// The columns of amounts.
    #[inline]
    fn columns(&self, amounts: impl Iterator<Item = u64>) -> Columns {
        let mut row = [0; MAX_COLUMNS];
        let mut kinds = 0;
        for (kind, amount) in amounts.enumerate() {
            row[kind] = self.units(kind, amount);
            kinds = kind + 1;
        }
        if kinds > 1 {
            let (a, b) = (row[0], row[1]);
            let columns = row[kinds..].iter_mut().take(DIRECTIONS.len()).enumerate();
            columns.for_each(|(direction, column)| *column = self.along(direction, a, b));
        }
        row
    }
}

/// See the module.
#[derive(Default)]
pub(super) struct Outlook {
    kinds: usize,
    columns: usize,
    /// A power of two; the tree is in heap order: the root is 1, node i is `leaves + i`.
    leaves: usize,
    first: Vec<Time>,
    most: Vec<u32>,
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
        if self.touched.len() >= self.leaves {
            // All are looked at next time.
            self.leaves = 0;
            self.touched.clear();
            self.upset.clear();
        }
        if self.leaves > 0 {
            self.touched.push(node);
        }
    }

    /// What runs there may be other than was told.
    pub(super) fn upset(&mut self, node: NodeRow) {
        if self.leaves > 0 {
            self.upset.push(node);
        }
    }

    /// A task starts on the node, which is touched.
    #[inline]
    pub(super) fn starts(&mut self, now: Time, node: NodeRow, need: &Need) {
        if need.limit.is_none() || node.index() >= self.leaves {
            return;
        }
        let sums = self.known[node.index() * self.kinds..].iter_mut();
        sums.zip(need.demand.as_slice()).for_each(|(sum, of)| *sum = sum.wrapping_add(*of));
        if let Some(end) = expected_end(now, need.limit, now) {
            let first = &mut self.first[self.leaves + node.index()];
            *first = end.min(*first);
        }
    }

    /// A task has ended on the node, which is touched.
    #[inline]
    pub(super) fn ends(&mut self, node: NodeRow, need: &Need) {
        if need.limit.is_none() || node.index() >= self.leaves {
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
        let told = self.leaves > 0 && self.upset.is_empty();
        told && sums.is_some_and(|sums| sums.iter().all(|sum| *sum == 0))
    }

    /// Rows of nodes have moved.
    pub(super) fn forget(&mut self) {
        *self = Outlook::default();
    }

    /// Brings it up to date.
    pub(super) fn refresh(&mut self, engine: &Engine) {
        let nodes = engine.room.nodes();
        if self.leaves == 0 || nodes > self.leaves || self.scale.total != *engine.room.total() {
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
        while self.first[1] <= engine.now {
            let mut vertex = 1;
            while vertex < self.leaves {
                vertex = 2 * vertex + usize::from(self.first[2 * vertex] > engine.now);
            }
            self.read_and_set(engine, self.node(vertex));
        }
    }

    fn make(&mut self, engine: &Engine, nodes: usize) {
        self.kinds = engine.kinds.len();
        self.columns = self.kinds + if self.kinds > 1 { DIRECTIONS.len() } else { 0 };
        self.leaves = nodes.next_power_of_two();
        self.first = vec![Time::MAX; 2 * self.leaves];
        self.most = vec![0; 2 * self.leaves * self.columns];
        self.scale = Scale::of(engine.room.total());
        self.known = vec![0; self.leaves * self.kinds];
        self.early = vec![false; self.leaves];
        self.touched.clear();
        self.upset.clear();
        for row in (0..nodes as u32).map(NodeRow) {
            self.read(engine, row);
            self.set_leaf(engine, row);
        }
        for vertex in (1..self.leaves).rev() {
            self.pull(vertex);
        }
    }

    fn node(&self, leaf: usize) -> NodeRow {
        NodeRow((leaf - self.leaves) as u32)
    }

    fn set(&mut self, engine: &Engine, node: NodeRow) {
        self.set_leaf(engine, node);
        let mut vertex = (self.leaves + node.index()) / 2;
        while vertex > 0 && self.pull(vertex) {
            vertex /= 2;
        }
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
        for task in engine.work.on_node(node) {
            let limit = engine.room.limit(task.shape);
            if limit.is_none() {
                continue;
            }
            let end = expected_end(task.started, limit, engine.now);
            first = first.min(end.unwrap_or(Time::MAX));
            let demand = engine.room.demand(task.shape).as_slice();
            sums.iter_mut().zip(demand).for_each(|(sum, of)| *sum = sum.wrapping_add(*of));
        }
        self.first[self.leaves + at] = first;
        self.early[at] = false;
    }

    fn set_leaf(&mut self, engine: &Engine, node: NodeRow) {
        let free = engine.room.balance(node);
        let known = &self.known[node.index() * self.kinds..];
        let both = free[..self.kinds].iter().zip(known);
        let row = self.scale.columns(both.map(|(free, &known)| {
            let ever = free + i128::from(known);
            u64::try_from(ever.max(0)).unwrap_or(u64::MAX)
        }));
        let leaf = self.leaves + node.index();
        self.most[leaf * self.columns..][..self.columns].copy_from_slice(&row[..self.columns]);
    }

    /// A vertex from its two children; whether it has changed.
    fn pull(&mut self, vertex: usize) -> bool {
        let first = self.first[2 * vertex].min(self.first[2 * vertex + 1]);
        let mut changed = std::mem::replace(&mut self.first[vertex], first) != first;
        let (above, below) = self.most.split_at_mut(2 * vertex * self.columns);
        let (left, right) = below[..2 * self.columns].split_at(self.columns);
        let most = &mut above[vertex * self.columns..][..self.columns];
        for ((most, &left), &right) in most.iter_mut().zip(left).zip(right) {
            changed |= std::mem::replace(most, left.max(right)) != left.max(right);
        }
        changed
    }

    fn most(&self, vertex: usize) -> &[u32] {
        &self.most[vertex * self.columns..][..self.columns]
    }

    /// The first row below a vertex.
    fn first_row(&self, vertex: usize) -> NodeRow {
        self.node(vertex << (self.leaves.ilog2() - vertex.ilog2()))
    }

    /// Asks `look` for nodes that may fit at a known time. It is told a node, the soonest instant
    /// for it and whether that is a node or the first of several, and says whether it may be so.
    pub(super) fn search_known(
        &mut self,
        engine: &Engine,
        demand: &Resources,
        mut may_be: impl FnMut(Time, NodeRow) -> bool,
        mut look: impl FnMut(NodeRow, bool),
    ) {
        let needs = self.scale.columns(demand.as_slice().iter().copied());
        let mut vertices = vec![1];
        while let Some(vertex) = vertices.pop() {
            let first = self.first[vertex];
            let fits = || self.most(vertex).iter().zip(&needs).all(|(most, need)| need <= most);
            if first == Time::MAX || !may_be(first, self.first_row(vertex)) || !fits() {
                continue;
            }
            if vertex >= self.leaves {
                let node = self.node(vertex);
                if self.early[node.index()] {
                    // It is seen anew.
                    self.read_and_set(engine, node);
                    vertices.push(vertex);
                } else {
                    look(node, false);
                }
                continue;
            }
            // The one with the earlier instant is looked at first.
            let swapped = self.first[2 * vertex] > self.first[2 * vertex + 1];
            let (one, other) = (2 * vertex + usize::from(swapped), 2 * vertex + 1);
            vertices.extend([other - usize::from(swapped), one]);
        }
    }

    /// The same for nodes by what is missing there, of which it is told no more than is true.
    pub(super) fn search_missing(
        &self,
        demand: &Resources,
        mut may_be: impl FnMut(u128, NodeRow) -> bool,
        mut look: impl FnMut(NodeRow, bool),
    ) {
        let needs = self.scale.columns(demand.as_slice().iter().copied());
        let mut vertices: SmallVec<[(u64, usize); 64]> = smallvec![(0, 1)];
        while let Some((missing, vertex)) = vertices.pop() {
            if !may_be(u128::from(missing), self.first_row(vertex)) {
                continue;
            }
            if vertex >= self.leaves {
                let node = self.node(vertex);
                look(node, self.expects_no_end(node));
                continue;
            }
            let mut bound = |vertex: usize| {
                let each = self.each_missing(vertex, demand);
                let sum = each[0].saturating_add(each[1]).saturating_add(each[2]);
                let may_be = may_be(u128::from(sum), self.first_row(vertex));
                may_be.then(|| (sum.max(self.both_missing(vertex, demand, &needs, each)), vertex))
            };
            let (one, other) = (bound(2 * vertex), bound(2 * vertex + 1));
            // The better of two is looked at first.
            vertices.extend(one.max(other));
            vertices.extend(one.min(other));
        }
    }

    /// What of each kind is missing at least on each node below a vertex, in parts of the pool: of
    /// the first two kinds, and of all others.
    #[inline]
    fn each_missing(&self, vertex: usize, demand: &Resources) -> [u64; 3] {
        let mut each = [0u64; 3];
        let both = demand.as_slice().iter().zip(&self.most(vertex)[..self.kinds]);
        for (kind, (&amount, &units)) in both.enumerate() {
            let sum = &mut each[kind.min(2)];
            *sum = sum.saturating_add(self.scale.lacks(kind, amount, units));
        }
        each
    }

    /// The same of all kinds, for no node has the most of both of the first two.
    fn both_missing(
        &self,
        vertex: usize,
        demand: &Resources,
        needs: &Columns,
        [short_of_a, short_of_b, others]: [u64; 3],
    ) -> u64 {
        let most = self.most(vertex);
        let (Some(&[most_a, most_b]), true) = (most.first_chunk(), self.kinds > 1) else {
            return 0;
        };
        let (a, b) = (demand.get(0), demand.get(1));
        let mut missing: u64 = 0;
        let columns = most[self.kinds..].iter().zip(&needs[self.kinds..]);
        for (direction, (&along, &need)) in columns.enumerate() {
            // Nobody has s a and b above this: each node has no more than it of one.
            if along >= need.min(most_b) {
                continue;
            }
            let before = self.scale.before(direction, along);
            if before < u64::from(most_a) {
                let by_a = self.scale.lacks(0, a, before as u32).saturating_add(short_of_b);
                let by_b = self.scale.lacks(1, b, along).saturating_add(short_of_a);
                missing = missing.max(by_a.min(by_b));
            }
        }
        missing.saturating_add(others)
    }
}
