//! The nodes: what each holds and what is free on it.
//!
//! Invariant: 0 <= free <= capacity on every node, kind by kind; freeing more than was held stops the program.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::ConfigError;
use crate::resources::{MAX_AMOUNT, ResourceKinds, Resources, Unit};
use crate::spec::{NodeId, NodeSpec};

pub(crate) struct Node {
    pub(crate) spec: NodeSpec,
    pub(crate) free: Resources,
    pub(crate) up: bool,
}

pub(crate) struct Cluster {
    pub(crate) nodes: Vec<Node>,
    /// Capacity of all nodes that are up.
    pub(crate) total: Resources,
    /// Capacities ever seen (node classes): a node that left may come back.
    classes: BTreeMap<Resources, u32>,
    /// Names of the nodes that are up.
    names: BTreeSet<String>,
}

impl Cluster {
    pub(crate) fn new(kinds: usize) -> Cluster {
        let total = Resources::zero(kinds);
        Cluster { nodes: Vec::new(), total, classes: BTreeMap::new(), names: BTreeSet::new() }
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
        let free = spec.capacity;
        self.nodes.push(Node { spec, free, up: true });
        NodeId(self.nodes.len() as u32 - 1)
    }

    pub(crate) fn leave(&mut self, node: NodeId) {
        let node = &mut self.nodes[node.index()];
        assert!(node.up && node.free == node.spec.capacity, "a node leaves once, and empty");
        node.up = false;
        node.free = Resources::zero(node.free.kinds());
        self.total.sub(&node.spec.capacity);
        self.names.remove(&node.spec.name);
    }

    /// Gives `node` another capacity; what its tasks hold must fit it.
    pub(crate) fn resize(&mut self, node: NodeId, capacity: Resources) {
        let node = &mut self.nodes[node.index()];
        let mut held = node.spec.capacity;
        held.sub(&node.free);
        self.total.sub(&node.spec.capacity);
        self.total.add(&capacity);
        node.free = capacity;
        node.free.sub(&held);
        node.spec.capacity = capacity;
        *self.classes.entry(capacity).or_default() += 1;
    }

    /// Whether a node of a class ever seen could hold `demand` when empty.
    pub(crate) fn could_hold(&self, demand: &Resources) -> bool {
        self.classes.keys().any(|capacity| demand.fits_in(capacity))
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
        Some(kind) => {
            Err(ConfigError::AmountOverflow { what: what.to_owned(), kind: kinds.name(kind).to_owned() })
        }
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
