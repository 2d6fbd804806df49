//! Labels of a live world's nodes, as its record tells them.
//!
//! A scenario's nodes keep their labels. So each node has all that it ever had: a rule of a pod is
//! a label that comes with the first pod that has it, and would otherwise hold nowhere. What a task
//! *forbids* and nodes gained or lost meanwhile followed where other tasks ran then, and says
//! nothing of a run in which they are elsewhere: it is passed over.

use std::collections::{BTreeMap, BTreeSet};

use meed::{Constraints, Labels};
use meed_journal::{Fact, Header};

/// See the module.
#[derive(Default)]
pub(super) struct LabelHistory {
    now: BTreeMap<String, Labels>,
    ever: BTreeMap<String, Labels>,
    moving: BTreeSet<String>,
    /// How often a node was told other labels.
    pub(super) changes: u64,
}

impl LabelHistory {
    /// Of the nodes of a header.
    pub(super) fn of(header: &Header) -> LabelHistory {
        let mut all = LabelHistory::default();
        header.nodes.iter().for_each(|node| all.joins(&node.name, &node.labels));
        all
    }

    fn joins(&mut self, node: &str, labels: &Labels) {
        self.now.insert(node.to_owned(), labels.clone());
        self.ever.entry(node.to_owned()).or_default().extend(labels.clone());
    }

    /// What a record tells of labels, if anything.
    pub(super) fn hears(&mut self, fact: &Fact) {
        match fact {
            Fact::NodeJoins(node) => {
                // One that comes back may have others than before.
                if self.now.contains_key(node.name.as_str()) {
                    self.moves(&node.name, &node.labels);
                }
                self.joins(&node.name, &node.labels);
            }
            Fact::NodeRelabelled(told) => {
                self.changes += 1;
                self.moves(&told.name, &told.labels);
                self.joins(&told.name, &told.labels);
            }
            _ => {}
        }
    }

    /// These labels come and go with tasks.
    pub(super) fn come_and_go(&mut self, labels: Vec<String>) {
        self.moving.extend(labels);
    }

    /// A node gains and loses labels.
    fn moves(&mut self, node: &str, labels: &Labels) {
        let none = Labels::default();
        let before = self.now.get(node).unwrap_or(&none);
        let differ = |one: &Labels, other: &Labels| -> Vec<String> {
            let new = one.iter().filter(|(label, value)| other.get(*label) != Some(*value));
            new.map(|(label, _)| label.clone()).collect()
        };
        let moved = [differ(labels, before), differ(before, labels)].concat();
        self.moving.extend(moved);
    }

    /// All labels that a node ever had.
    pub(super) fn of_node(&self, node: &str) -> Labels {
        self.ever.get(node).cloned().unwrap_or_default()
    }

    /// Takes away what says nothing here; whether there was some.
    pub(super) fn settle(&self, constraints: &mut Constraints) -> bool {
        let before = constraints.forbid.len();
        constraints.forbid.retain(|label, _| !self.moving.contains(label));
        constraints.forbid.len() < before
    }
}
