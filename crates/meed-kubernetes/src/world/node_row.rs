//! What is kept of a node.

use std::collections::BTreeMap;

use meed::{NodeId, Resources};

use super::neighbours::Nodes;
use crate::pod::rule::NodeFacts;

/// What is kept of a node.
pub(super) struct NodeRow {
    pub(super) id: NodeId,
    pub(super) facts: NodeFacts,
    /// Labels that the engine knows of it, for pods that are there.
    pub(super) near: Vec<String>,
    /// What the node tells that it has for pods.
    pub(super) told: Resources,
    /// What pods use that are none of ours.
    pub(super) strangers: Resources,
}

impl Nodes for BTreeMap<String, NodeRow> {
    fn node(&self, name: &str) -> Option<&NodeFacts> {
        self.get(name).map(|row| &row.facts)
    }

    fn all(&self) -> Box<dyn Iterator<Item = &NodeFacts> + '_> {
        Box::new(self.values().map(|row| &row.facts))
    }
}
