//! The nodes: what each holds and what is free on it.
//!
//! Most nodes are ordinary: 0 <= free <= capacity, kind by kind; freeing more than was held stops
//! the program. A node that is cordoned, or of which others use a part, or on which more runs than
//! it holds, is special: it has a balance, which may be negative, and what is free is what of that
//! may be used (nothing where it is cordoned).
//!
//! > balance = capacity - what tasks hold - what others use

use std::collections::{BTreeMap, BTreeSet};

use crate::constraints::Labels;
use crate::error::ConfigError;
use crate::ids::{NodeId, NodeRow};
use crate::memory::expect_at;
use crate::node_rows::{Moves, NodeRows};
use crate::resources::{MAX_AMOUNT, MAX_KINDS, ResourceKinds, Resources, Unit, fits};
use crate::rows::RowsState;
use crate::spec::NodeSpec;
use crate::state::{NodeState, StateError};

pub(crate) struct Node {
    pub(crate) spec: NodeSpec,
    pub(crate) up: bool,
}

/// What a node has that is out of the ordinary.
struct Special {
    cordoned: bool,
    others: Resources,
    balance: [i128; MAX_KINDS],
}

pub(crate) struct Cluster {
    pub(crate) nodes: Vec<Node>,
    /// Free amounts and capacities, kind by kind, node after node: what every start and end
    /// touches, kept dense.
    free: Vec<u64>,
    capacity: Vec<u64>,
    weights: Vec<u32>,
    kinds: usize,
    /// Capacity of all nodes that are up.
    pub(crate) total: Resources,
    /// Capacities ever seen (node classes), none of which holds another: a node that left may come
    /// back.
    classes: BTreeSet<Resources>,
    /// Names of the nodes that are up.
    names: BTreeMap<String, NodeId>,
    special: BTreeMap<NodeRow, Special>,
    rows: NodeRows,
    /// Told of a node that nobody remembers.
    nobody: NodeSpec,
}

impl Cluster {
    pub(crate) fn new(kinds: usize) -> Cluster {
        Cluster {
            nodes: Vec::new(),
            free: Vec::new(),
            capacity: Vec::new(),
            weights: Vec::new(),
            kinds,
            total: Resources::zero(kinds),
            classes: BTreeSet::new(),
            names: BTreeMap::new(),
            special: BTreeMap::new(),
            rows: NodeRows::default(),
            nobody: NodeSpec::new("", Resources::zero(kinds)),
        }
    }

    /// The node of that name that is up.
    pub(crate) fn find(&self, name: &str) -> Option<NodeId> {
        self.names.get(name).copied()
    }

    /// Which row is whose.
    pub(crate) fn rows(&self) -> &NodeRows {
        &self.rows
    }

    /// Puts numbers right, after all nodes of a state have joined, and left.
    pub(crate) fn restore_rows(
        &mut self,
        nodes: &[NodeState],
        rows: &RowsState,
    ) -> Result<(), StateError> {
        self.rows = NodeRows::of_nodes(nodes, rows)?;
        for (node, row) in self.nodes.iter().zip((0..).map(NodeRow)) {
            if node.up {
                self.names.insert(node.spec.name.clone(), self.rows.id(row));
            }
        }
        Ok(())
    }

    pub(crate) fn rows_mut(&mut self) -> &mut NodeRows {
        &mut self.rows
    }

    /// A node, if it is remembered.
    pub(crate) fn spec_of(&self, id: NodeId) -> &NodeSpec {
        self.rows.row(id).map_or(&self.nobody, |row| &self.nodes[row.index()].spec)
    }

    /// Rows move as `moves` says: nodes that are gone lose theirs.
    pub(crate) fn move_rows(&mut self, moves: &Moves) {
        let kinds = self.kinds;
        moves.retain(&mut self.nodes, 1);
        moves.retain(&mut self.weights, 1);
        moves.retain(&mut self.free, kinds);
        moves.retain(&mut self.capacity, kinds);
        let special = std::mem::take(&mut self.special);
        let moved = special.into_iter().filter_map(|(row, of)| Some((moves.to(row)?, of)));
        self.special = moved.collect();
    }

    #[inline]
    fn row(&self, node: NodeRow) -> std::ops::Range<usize> {
        node.index() * self.kinds..(node.index() + 1) * self.kinds
    }

    /// delta of Eq. 9, in thousandths.
    #[inline]
    pub(crate) fn weight(&self, node: NodeRow) -> u32 {
        self.weights[node.index()]
    }

    /// Has the lines of memory brought in which its rows begin.
    #[inline]
    pub(crate) fn expect(&self, node: NodeRow) {
        let first = node.index() * self.kinds;
        expect_at(&self.free, first);
        expect_at(&self.capacity, first);
        expect_at(&self.weights, node.index());
    }

    /// What is free on `node`, kind by kind.
    #[inline]
    pub(crate) fn free_row(&self, node: NodeRow) -> &[u64] {
        &self.free[self.row(node)]
    }

    #[inline]
    pub(crate) fn free(&self, node: NodeRow) -> Resources {
        Resources::new(&self.free[self.row(node)])
    }

    /// Whether `demand` is free on `node`.
    #[inline]
    pub(crate) fn has_room(&self, node: NodeRow, demand: &Resources) -> bool {
        fits(demand.as_slice(), &self.free[self.row(node)])
    }

    /// What `node` has for us, were nothing of ours there; `None`: nothing new may start on it.
    #[inline]
    pub(crate) fn for_ours(&self, node: NodeRow) -> Option<Resources> {
        // A node that is up has something, and one that has left nothing.
        let row = self.capacity.get(self.row(node)).filter(|row| row.iter().any(|it| *it > 0))?;
        let mut room = Resources::new(row);
        if let Some(special) = self.special.get(&node) {
            let others = special.others.as_slice();
            let both = room.as_mut_slice().iter_mut().zip(others);
            both.for_each(|(room, others)| *room = room.saturating_sub(*others));
            return Some(room).filter(|_| !special.cordoned);
        }
        Some(room)
    }

    /// Takes `demand` from what is free on `node`; what is left.
    #[inline]
    pub(crate) fn take(&mut self, node: NodeRow, demand: &Resources) -> Resources {
        if self.is_special(node) {
            assert!(self.has_room(node, demand), "a placement named a node without room");
            return self.take_anyway(node, demand);
        }
        let row = self.row(node);
        for (free, amount) in self.free[row].iter_mut().zip(demand.as_slice()) {
            *free = free.checked_sub(*amount).expect("a placement named a node without room");
        }
        self.free(node)
    }

    /// Gives `demand` back to `node`; what is free now.
    #[inline]
    pub(crate) fn give_back(&mut self, node: NodeRow, demand: &Resources) -> Resources {
        if self.is_special(node) {
            self.shift(node, demand, &Resources::zero(self.kinds));
            return self.free(node);
        }
        let row = self.row(node);
        let capacity = &self.capacity[row.clone()];
        for ((free, amount), most) in self.free[row].iter_mut().zip(demand.as_slice()).zip(capacity)
        {
            *free += amount;
            assert!(*free <= *most, "more was freed on a node than it holds");
        }
        self.free(node)
    }

    #[inline]
    fn is_special(&self, node: NodeRow) -> bool {
        !self.special.is_empty() && self.special.contains_key(&node)
    }

    /// Takes `demand` whether it is free or not; what is left.
    pub(crate) fn take_anyway(&mut self, node: NodeRow, demand: &Resources) -> Resources {
        self.shift(node, &Resources::zero(self.kinds), demand);
        self.free(node)
    }

    fn make_special(&mut self, node: NodeRow) -> &mut Special {
        let (free, kinds) = (self.free(node), self.kinds);
        self.special.entry(node).or_insert_with(|| {
            let mut balance = [0; MAX_KINDS];
            balance.iter_mut().zip(free.as_slice()).for_each(|(to, &free)| *to = i128::from(free));
            Special { cordoned: false, others: Resources::zero(kinds), balance }
        })
    }

    /// Adds to the balance of a node, and takes from it.
    fn shift(&mut self, node: NodeRow, more: &Resources, less: &Resources) {
        let special = self.make_special(node);
        for ((balance, &more), &less) in
            special.balance.iter_mut().zip(more.as_slice()).zip(less.as_slice())
        {
            *balance += i128::from(more) - i128::from(less);
        }
        self.show_free(node);
    }

    /// What is free follows from the balance; a node that is ordinary again is so treated.
    fn show_free(&mut self, node: NodeRow) {
        let row = self.row(node);
        let Some(special) = self.special.get(&node) else { return };
        for (free, &balance) in self.free[row].iter_mut().zip(&special.balance) {
            let there = u64::try_from(balance.max(0)).expect("no more than the capacity");
            *free = if special.cordoned { 0 } else { there };
        }
        let below = special.balance[..self.kinds].iter().any(|&balance| balance < 0);
        if !below && !special.cordoned && special.others.is_zero() {
            self.special.remove(&node);
        }
    }

    /// Whether nothing new may start on `node`.
    pub(crate) fn is_cordoned(&self, node: NodeRow) -> bool {
        self.special.get(&node).is_some_and(|special| special.cordoned)
    }

    pub(crate) fn set_cordoned(&mut self, node: NodeRow, cordoned: bool) {
        self.make_special(node).cordoned = cordoned;
        self.show_free(node);
    }

    /// What others use of `node`.
    pub(crate) fn others(&self, node: NodeRow) -> Resources {
        self.special.get(&node).map_or(Resources::zero(self.kinds), |special| special.others)
    }

    /// What is free on `node`; below zero where more is used of it than it has.
    pub(crate) fn balance(&self, node: NodeRow) -> [i128; MAX_KINDS] {
        if let Some(special) = self.special.get(&node) {
            return special.balance;
        }
        let mut balance = [0; MAX_KINDS];
        let free = &self.free[self.row(node)];
        balance.iter_mut().zip(free).for_each(|(to, &free)| *to = i128::from(free));
        balance
    }

    /// What tasks hold on `node`.
    pub(crate) fn held(&self, node: NodeRow) -> Resources {
        let mut held = self.nodes[node.index()].spec.capacity;
        let Some(special) = self.special.get(&node) else {
            held.sub(&self.free(node));
            return held;
        };
        let others = special.others.as_slice().iter().zip(&special.balance);
        for (held, (&others, balance)) in held.as_mut_slice().iter_mut().zip(others) {
            let amount = i128::from(*held) - i128::from(others) - balance;
            *held = u64::try_from(amount).unwrap_or(u64::MAX);
        }
        held
    }

    pub(crate) fn set_others(&mut self, node: NodeRow, others: Resources) {
        let before = std::mem::replace(&mut self.make_special(node).others, others);
        self.shift(node, &before, &others);
    }

    /// Whether more is used of `node` than it holds.
    pub(crate) fn is_over_full(&self, node: NodeRow) -> bool {
        let below = |special: &Special| special.balance.iter().any(|&balance| balance < 0);
        self.special.get(&node).is_some_and(below)
    }

    pub(crate) fn relabel(&mut self, node: NodeRow, labels: Labels) {
        self.nodes[node.index()].spec.labels = labels;
    }

    fn set_rows(&mut self, node: NodeRow, free: &Resources, capacity: &Resources) {
        let row = self.row(node);
        self.free[row.clone()].copy_from_slice(free.as_slice());
        self.capacity[row].copy_from_slice(capacity.as_slice());
    }

    /// What is wrong with a node of this specification, joining now.
    pub(crate) fn check(&self, spec: &NodeSpec, kinds: &ResourceKinds) -> Result<(), ConfigError> {
        check_dimensions(&format!("node `{}`", spec.name), &spec.capacity, kinds)?;
        if self.rows.is_full() {
            return Err(ConfigError::TooManyNodes);
        }
        if self.names.contains_key(&spec.name) {
            return Err(ConfigError::DuplicateNode { node: spec.name.clone() });
        }
        if spec.capacity.is_zero() {
            return Err(ConfigError::EmptyNode { node: spec.name.clone() });
        }
        if spec.weight == 0 || spec.weight > 10_000 {
            return Err(ConfigError::NodeWeight { node: spec.name.clone() });
        }
        self.check_total(&spec.capacity, &Resources::zero(kinds.len()), kinds)
    }

    /// Whether the total stays within bounds when `more` replaces `less`.
    pub(crate) fn check_total(
        &self,
        more: &Resources,
        less: &Resources,
        kinds: &ResourceKinds,
    ) -> Result<(), ConfigError> {
        for kind in 0..kinds.len() {
            // Each term is below 2^54: no overflow.
            if self.total.get(kind) - less.get(kind) + more.get(kind) > MAX_AMOUNT {
                return Err(ConfigError::TotalOverflow { kind: kinds.name(kind).to_owned() });
            }
        }
        Ok(())
    }

    pub(crate) fn join(&mut self, spec: NodeSpec) -> NodeRow {
        self.total.add(&spec.capacity);
        self.add_class(spec.capacity);
        self.free.extend(spec.capacity.as_slice());
        self.capacity.extend(spec.capacity.as_slice());
        self.weights.push(spec.weight);
        let row = self.rows.come();
        self.names.insert(spec.name.clone(), self.rows.id(row));
        self.nodes.push(Node { spec, up: true });
        row
    }

    pub(crate) fn leave(&mut self, id: NodeRow) {
        if self.is_special(id) {
            self.set_others(id, Resources::zero(self.kinds));
            self.set_cordoned(id, false);
        }
        let free = self.free(id);
        let node = &mut self.nodes[id.index()];
        assert!(node.up && free == node.spec.capacity, "a node leaves once, and empty");
        node.up = false;
        self.names.remove(&node.spec.name);
        self.total.sub(&node.spec.capacity);
        let nothing = Resources::zero(self.kinds);
        self.set_rows(id, &nothing, &nothing);
        self.rows.go(id);
    }

    /// Gives `node` another capacity, whether what runs there fits it or not.
    pub(crate) fn resize(&mut self, id: NodeRow, capacity: Resources) {
        let before = std::mem::replace(&mut self.nodes[id.index()].spec.capacity, capacity);
        self.total.sub(&before);
        self.total.add(&capacity);
        self.shift(id, &capacity, &before);
        let row = self.row(id);
        self.capacity[row].copy_from_slice(capacity.as_slice());
        self.add_class(capacity);
    }

    /// Whether a node of a class ever seen could hold `demand` when empty.
    pub(crate) fn could_hold(&self, demand: &Resources) -> bool {
        self.classes.iter().any(|capacity| demand.fits_in(capacity))
    }

    /// Whether a node that `among` picks could hold `demand` when empty, of all that are
    /// remembered. O(nodes).
    pub(crate) fn could_hold_among(
        &self,
        demand: &Resources,
        among: impl Fn(NodeRow) -> bool,
    ) -> bool {
        let picked =
            |(id, node): (NodeRow, &Node)| demand.fits_in(&node.spec.capacity) && among(id);
        (0..).map(NodeRow).zip(&self.nodes).any(picked)
    }

    /// Capacities that were ever seen, in order, but for those that others hold.
    pub(crate) fn classes(&self) -> impl Iterator<Item = &Resources> {
        self.classes.iter()
    }

    /// A node once had this capacity. What a smaller one could hold it could hold as well: those
    /// go, or else capacities that are told to the byte would pile up.
    pub(crate) fn add_class(&mut self, capacity: Resources) {
        if !self.could_hold(&capacity) {
            self.classes.retain(|smaller| !smaller.fits_in(&capacity));
            self.classes.insert(capacity);
        }
    }

    /// Takes over the capacities of a state as they are.
    pub(crate) fn set_classes(&mut self, classes: BTreeSet<Resources>) {
        self.classes = classes;
    }

    /// Labels of all nodes that are remembered.
    pub(crate) fn labels(&self) -> impl Iterator<Item = (NodeRow, &Labels)> {
        (0..).map(NodeRow).zip(&self.nodes).map(|(id, node)| (id, &node.spec.labels))
    }

    /// The class with the largest amounts, to be named in a refusal.
    pub(crate) fn largest(&self) -> Option<&Resources> {
        self.classes.last()
    }
}

/// Refuses a vector of another length than the cluster has kinds, or beyond the bound.
pub(crate) fn check_dimensions(
    what: &str,
    amounts: &Resources,
    kinds: &ResourceKinds,
) -> Result<(), ConfigError> {
    if amounts.kinds() != kinds.len() {
        return Err(ConfigError::Dimensions {
            what: what.to_owned(),
            given: amounts.kinds(),
            expected: kinds.len(),
        });
    }
    match (0..kinds.len()).find(|&kind| amounts.get(kind) > MAX_AMOUNT) {
        Some(kind) => Err(ConfigError::AmountOverflow {
            what: what.to_owned(),
            kind: kinds.name(kind).to_owned(),
        }),
        None => Ok(()),
    }
}

/// Amounts in words, natural units: `cpu 0.5, memory 1073741824 bytes`.
pub(crate) fn in_words(amounts: &Resources, kinds: &ResourceKinds) -> String {
    words_of(amounts, kinds, |kind| amounts.get(kind) > 0)
}

/// The bounds that `demand` exceeds, in words: those of other kinds say nothing, and a kind that is
/// not bounded has a bound beyond all amounts.
pub(crate) fn exceeded(demand: &Resources, most: &Resources, kinds: &ResourceKinds) -> String {
    words_of(most, kinds, |kind| demand.get(kind) > most.get(kind))
}

fn words_of(
    amounts: &Resources,
    kinds: &ResourceKinds,
    is_named: impl Fn(usize) -> bool,
) -> String {
    let word = |kind: usize| {
        let (name, amount) = (kinds.name(kind), amounts.get(kind));
        match kinds.unit(kind) {
            Unit::Bytes => format!("{name} {amount} bytes"),
            Unit::Milli => format!("{name} {}", amount as f64 / 1000.0),
        }
    };
    (0..kinds.len()).filter(|&kind| is_named(kind)).map(word).collect::<Vec<_>>().join(", ")
}
