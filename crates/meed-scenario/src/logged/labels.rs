//! Labels of a live world's nodes, as its record tells them.
//!
//! A scenario's nodes keep their labels. So each node has all labels that it ever had, with the
//! last of their values: a rule of a pod is a label that comes with the first pod that has it, and
//! would otherwise hold nowhere. Two things that tasks ask for say nothing in such a run, and are
//! passed over and counted:
//!
//! * values of a label of which some node had several in turn: where they ran it held then;
//! * to be kept away by other tasks (labels that begin `kept away: `, docs/kubernetes.md): nodes
//!   gained and lost these labels with tasks that are elsewhere now.

use std::collections::{BTreeMap, BTreeSet};

use meed::{Constraints, Labels};
use meed_journal::{Fact, Header};

/// So begin labels of nodes from which tasks there keep others away.
const KEPT_AWAY: &str = "kept away: ";

/// See the module.
#[derive(Default)]
pub(super) struct LabelHistory {
    now: BTreeMap<String, Labels>,
    ever: BTreeMap<String, Labels>,
    moving: BTreeSet<String>,
    /// Labels of which some node had several values.
    several: BTreeSet<String>,
    /// How often a node was told other labels.
    pub(super) changes: u64,
}

/// What of a task's constraints was passed over.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct PassedOver {
    /// Other tasks keep it away.
    pub(super) away: bool,
    /// It requires a value that a node had for a time.
    pub(super) value: bool,
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
        let ever = self.ever.entry(node.to_owned()).or_default();
        for (label, value) in labels {
            let before = ever.insert(label.clone(), value.clone());
            if before.is_some_and(|before| before != *value) {
                self.several.insert(label.clone());
            }
        }
    }

    /// What a record tells of labels, if anything.
    pub(super) fn hears(&mut self, fact: &Fact) {
        match fact {
            Fact::NodeJoined(node) => {
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

    /// Whether nodes gain and lose this label with tasks.
    pub(super) fn comes_and_goes(label: &str) -> bool {
        label.starts_with(KEPT_AWAY)
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
            let new = one.iter().filter(|(label, value)| {
                Self::comes_and_goes(label) && other.get(*label) != Some(*value)
            });
            new.map(|(label, _)| label.clone()).collect()
        };
        let moved = [differ(labels, before), differ(before, labels)].concat();
        self.moving.extend(moved);
    }

    /// All labels that a node ever had.
    pub(super) fn of_node(&self, node: &str) -> Labels {
        self.ever.get(node).cloned().unwrap_or_default()
    }

    /// Takes away what says nothing here.
    pub(super) fn settle(&self, constraints: &mut Constraints) -> PassedOver {
        let before = (constraints.forbid.len(), constraints.require.len());
        constraints.forbid.retain(|label, _| !self.moving.contains(label));
        let says =
            |label: &str, values: &[String]| values.is_empty() || !self.several.contains(label);
        constraints.require.retain(|label, values| says(label, values));
        PassedOver {
            away: constraints.forbid.len() < before.0,
            value: constraints.require.len() < before.1,
        }
    }
}
