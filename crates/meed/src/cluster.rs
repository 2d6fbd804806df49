//! The nodes: what each holds and what is free on it.
//!
//! Invariant: 0 <= free <= capacity on every node, kind by kind; freeing more than was held stops
//! the program.

use std::collections::{BTreeMap, BTreeSet};

use crate::constraints::Labels;
use crate::error::ConfigError;
use crate::resources::{MAX_AMOUNT, ResourceKinds, Resources, Unit, fits};
use crate::spec::{NodeId, NodeSpec};

pub(crate) struct Node {
    pub(crate) spec: NodeSpec,
    pub(crate) up: bool,
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
    /// Capacities ever seen (node classes): a node that left may come back.
    classes: BTreeMap<Resources, u32>,
    /// Names of the nodes that are up.
    names: BTreeSet<String>,
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
            classes: BTreeMap::new(),
            names: BTreeSet::new(),
        }
    }

    fn row(&self, node: NodeId) -> std::ops::Range<usize> {
        node.index() * self.kinds..(node.index() + 1) * self.kinds
    }

    /// delta of Eq. 9, in thousandths.
    #[inline]
    pub(crate) fn weight(&self, node: NodeId) -> u32 {
        self.weights[node.index()]
    }

    pub(crate) fn free(&self, node: NodeId) -> Resources {
        Resources::new(&self.free[self.row(node)])
    }

    /// Whether `demand` is free on `node`.
    #[inline]
    pub(crate) fn has_room(&self, node: NodeId, demand: &Resources) -> bool {
        fits(demand.as_slice(), &self.free[self.row(node)])
    }

    /// Takes `demand` from what is free on `node`; what is left.
    #[inline]
    pub(crate) fn take(&mut self, node: NodeId, demand: &Resources) -> Resources {
        let row = self.row(node);
        for (free, amount) in self.free[row].iter_mut().zip(demand.as_slice()) {
            *free = free.checked_sub(*amount).expect("a placement named a node without room");
        }
        self.free(node)
    }

    /// Gives `demand` back to `node`; what is free now.
    #[inline]
    pub(crate) fn give_back(&mut self, node: NodeId, demand: &Resources) -> Resources {
        let row = self.row(node);
        let capacity = &self.capacity[row.clone()];
        for ((free, amount), most) in self.free[row].iter_mut().zip(demand.as_slice()).zip(capacity)
        {
            *free += amount;
            assert!(*free <= *most, "more was freed on a node than it holds");
        }
        self.free(node)
    }

    fn set_rows(&mut self, node: NodeId, free: &Resources, capacity: &Resources) {
        let row = self.row(node);
        self.free[row.clone()].copy_from_slice(free.as_slice());
        self.capacity[row].copy_from_slice(capacity.as_slice());
    }

    /// What is wrong with a node of this specification, joining now.
    pub(crate) fn check(&self, spec: &NodeSpec, kinds: &ResourceKinds) -> Result<(), ConfigError> {
        check_dimensions(&format!("node `{}`", spec.name), &spec.capacity, kinds)?;
        if self.names.contains(&spec.name) {
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

    pub(crate) fn join(&mut self, spec: NodeSpec) -> NodeId {
        self.total.add(&spec.capacity);
        *self.classes.entry(spec.capacity).or_default() += 1;
        self.names.insert(spec.name.clone());
        self.free.extend(spec.capacity.as_slice());
        self.capacity.extend(spec.capacity.as_slice());
        self.weights.push(spec.weight);
        self.nodes.push(Node { spec, up: true });
        NodeId(self.nodes.len() as u32 - 1)
    }

    pub(crate) fn leave(&mut self, id: NodeId) {
        let free = self.free(id);
        let node = &mut self.nodes[id.index()];
        assert!(node.up && free == node.spec.capacity, "a node leaves once, and empty");
        node.up = false;
        self.names.remove(&node.spec.name);
        self.total.sub(&node.spec.capacity);
        let nothing = Resources::zero(self.kinds);
        self.set_rows(id, &nothing, &nothing);
    }

    /// Gives `node` another capacity; what its tasks hold must fit it.
    pub(crate) fn resize(&mut self, id: NodeId, capacity: Resources) {
        let mut held = self.nodes[id.index()].spec.capacity;
        held.sub(&self.free(id));
        self.total.sub(&self.nodes[id.index()].spec.capacity);
        self.total.add(&capacity);
        let mut free = capacity;
        free.sub(&held);
        self.nodes[id.index()].spec.capacity = capacity;
        self.set_rows(id, &free, &capacity);
        *self.classes.entry(capacity).or_default() += 1;
    }

    /// Whether a node of a class ever seen could hold `demand` when empty.
    pub(crate) fn could_hold(&self, demand: &Resources) -> bool {
        self.classes.keys().any(|capacity| demand.fits_in(capacity))
    }

    /// Whether a node that `among` picks could hold `demand` when empty, of all that were ever
    /// seen. O(nodes).
    pub(crate) fn could_hold_among(
        &self,
        demand: &Resources,
        among: impl Fn(NodeId) -> bool,
    ) -> bool {
        let picked = |(id, node): (NodeId, &Node)| demand.fits_in(&node.spec.capacity) && among(id);
        (0..).map(NodeId).zip(&self.nodes).any(picked)
    }

    /// Capacities that were ever seen, in order.
    pub(crate) fn classes(&self) -> impl Iterator<Item = &Resources> {
        self.classes.keys()
    }

    /// A node once had this capacity.
    pub(crate) fn add_class(&mut self, capacity: Resources) {
        self.classes.entry(capacity).or_default();
    }

    /// Labels of all nodes that were ever seen.
    pub(crate) fn labels(&self) -> impl Iterator<Item = (NodeId, &Labels)> {
        (0..).map(NodeId).zip(&self.nodes).map(|(id, node)| (id, &node.spec.labels))
    }

    /// The class with the largest amounts, to be named in a refusal.
    pub(crate) fn largest(&self) -> Option<&Resources> {
        self.classes.keys().next_back()
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
    let word = |kind: usize| {
        let (name, amount) = (kinds.name(kind), amounts.get(kind));
        match kinds.unit(kind) {
            Unit::Bytes => format!("{name} {amount} bytes"),
            Unit::Milli => format!("{name} {}", amount as f64 / 1000.0),
        }
    };
    (0..kinds.len()).filter(|&kind| amounts.get(kind) > 0).map(word).collect::<Vec<_>>().join(", ")
}
