//! Which nodes are worth a profile, where a task needs a node and all are in question.
//!
//! > first(node) = the first expected end there
//! > ever(node)  = what is free there when all has ended that is expected to end, but for holds
//!
//! A task that does not fit now on a node without holds fits at first(node) at the soonest, and at
//! some known time only if it fits in ever(node); if at none, what is missing is what ever(node)
//! lacks. A tree over the nodes has of each subtree the least first(node) and the most of
//! ever(node), kind by kind, in parts of the pool, rounded up; of the first two kinds, a and b, the
//! most of min(s a, b) as well, for seven s: whoever has less than that of both lacks of one. So a
//! subtree is passed over without a look at its nodes, and the best is that of a scan.
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

use super::kept::expected_end;
use super::plan::PARTS;
use super::profile::Need;
use crate::engine::Engine;
use crate::resources::{MAX_KINDS, Resources};
use crate::spec::NodeRow;
use crate::time::Time;

/// Powers of two that s is, and how much each is raised by.
const DIRECTIONS: [u32; 7] = [0, 1, 2, 3, 4, 5, 6];
const RAISED: u32 = 3;

/// Most columns of a vertex.
const MAX_COLUMNS: usize = MAX_KINDS + DIRECTIONS.len();

type Columns = [u64; MAX_COLUMNS];

/// See the module.
#[derive(Default)]
pub(super) struct Outlook {
    kinds: usize,
    columns: usize,
    /// A power of two; the tree is in heap order: the root is 1, node i is `leaves + i`.
    leaves: usize,
    first: Vec<Time>,
    most: Vec<u64>,
    /// What all nodes had when it was made.
    total: Resources,
    /// What tasks hold on each node whose end is known, kind by kind.
    known: Vec<u64>,
    /// Whether `first` may be too early.
    early: Vec<bool>,
    /// Nodes that were touched since.
    touched: Vec<NodeRow>,
    /// Those of which it is not known what happened.
    upset: Vec<NodeRow>,
}

/// s a, rounded up.
fn along(direction: u32, amount: u64) -> u64 {
    (amount << direction).div_ceil(1 << RAISED)
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
        if self.leaves == 0 || nodes > self.leaves || self.total != *engine.room.total() {
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
        self.total = *engine.room.total();
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
        let row = self.columns_of(|kind, total| {
            let ever = free[kind] + i128::from(known[kind]);
            let ever = u64::try_from(ever.max(0)).unwrap_or(u64::MAX);
            parts(ever).div_ceil(u128::from(total))
        });
        let leaf = self.leaves + node.index();
        self.most[leaf * self.columns..][..self.columns].copy_from_slice(&row[..self.columns]);
    }

    /// The columns of amounts in parts of the pool.
    fn columns_of(&self, part: impl Fn(usize, u64) -> u128) -> Columns {
        let mut row = [0; MAX_COLUMNS];
        for (kind, (row, &total)) in row.iter_mut().zip(self.total.as_slice()).enumerate() {
            // No more than the whole, and then a shift has room.
            *row = part(kind, total.max(1)).min(2 * PARTS) as u64;
        }
        if self.kinds > 1 {
            let (a, b) = (row[0], row[1]);
            let columns = row[self.kinds..].iter_mut().zip(DIRECTIONS);
            columns.for_each(|(column, direction)| *column = along(direction, a).min(b));
        }
        row
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

    fn most(&self, vertex: usize) -> &[u64] {
        &self.most[vertex * self.columns..][..self.columns]
    }

    /// The first row below a vertex.
    fn first_row(&self, mut vertex: usize) -> NodeRow {
        while vertex < self.leaves {
            vertex *= 2;
        }
        self.node(vertex)
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
        let needs = self.columns_of(|kind, total| parts(demand.get(kind)) / u128::from(total));
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
        let part = |kind: usize, total: u64| parts(demand.get(kind)) / u128::from(total);
        let needs = self.columns_of(part);
        let mut vertices = vec![(self.missing(1, &needs), 1)];
        while let Some((missing, vertex)) = vertices.pop() {
            if !may_be(u128::from(missing), self.first_row(vertex)) {
                continue;
            }
            if vertex >= self.leaves {
                let node = self.node(vertex);
                look(node, self.expects_no_end(node));
                continue;
            }
            let child = |vertex: usize| (self.missing(vertex, &needs), vertex);
            let (one, other) = (child(2 * vertex), child(2 * vertex + 1));
            vertices.extend([one.max(other), one.min(other)]);
        }
    }

    /// What is missing at least on each node below a vertex.
    fn missing(&self, vertex: usize, needs: &Columns) -> u64 {
        let most = self.most(vertex);
        let lacks = |kind: usize| needs[kind].saturating_sub(most[kind]);
        let mut missing: u64 = (0..self.kinds).map(lacks).sum();
        for (&both, direction) in most[self.kinds..].iter().zip(DIRECTIONS) {
            // Nobody has more than `both` of s a and of b.
            let a = (both << RAISED) >> direction;
            missing = missing.max(needs[0].saturating_sub(a).min(needs[1].saturating_sub(both)));
        }
        missing
    }
}

/// In parts of the pool, once divided by what that has.
fn parts(amount: u64) -> u128 {
    u128::from(amount) * PARTS
}
