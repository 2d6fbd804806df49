//! Which nodes satisfy the label rules of tasks.
//!
//! Equal rules are kept once, with the set of nodes that satisfy them; the set
//! is complete when it is made, and is told of each node that joins or gets other labels. Cost:
//! O(nodes) for rules seen for the first time, O(distinct rules) when a node joins, one bit for
//! each look.

use std::collections::BTreeMap;

use super::shapes::ShapeKey;
use crate::cluster::{Cluster, in_words};
use crate::constraints::{Constraints, LabelValues, Labels};
use crate::error::Rejected;
use crate::ids::{JobId, NodeRow};
use crate::place::{Allowed, NodeSet, TakenNodes};
use crate::resources::{ResourceKinds, Resources};
use crate::spec::TaskGroup;

/// Number of a set of rules.
pub(in crate::engine) type RulesId = u32;

/// All sets of rules that tasks have had.
#[derive(Default)]
pub(super) struct Rules {
    sets: Vec<(Constraints, NodeSet)>,
    by_labels: BTreeMap<(LabelValues, LabelValues), RulesId>,
    /// Labels that keep gangs together, numbered from 1.
    together: Vec<String>,
}

impl Rules {
    /// A node joins, or has these labels from now on.
    pub(super) fn node_joins(&mut self, node: NodeRow, labels: &Labels) {
        for (constraints, nodes) in &mut self.sets {
            nodes.set(node, constraints.allow(labels));
        }
    }

    /// Rows have moved.
    pub(super) fn nodes_moved(&mut self, cluster: &Cluster) {
        for (constraints, nodes) in &mut self.sets {
            *nodes = NodeSet::default();
            for (node, labels) in cluster.labels() {
                nodes.set(node, constraints.allow(labels));
            }
        }
    }

    /// The number of these rules; `None` for none.
    pub(super) fn intern(
        &mut self,
        constraints: &Constraints,
        cluster: &Cluster,
    ) -> Option<RulesId> {
        if !constraints.names_labels() {
            return None;
        }
        let labels = (constraints.require.clone(), constraints.forbid.clone());
        if let Some(&id) = self.by_labels.get(&labels) {
            return Some(id);
        }
        let mut nodes = NodeSet::default();
        for (node, labels) in cluster.labels() {
            nodes.set(node, constraints.allow(labels));
        }
        let id = self.sets.len() as RulesId;
        self.sets.push((constraints.clone(), nodes));
        self.by_labels.insert(labels, id);
        Some(id)
    }

    /// The number of a label that keeps gangs together, from 1.
    pub(super) fn number_label(&mut self, label: &str) -> u32 {
        let known = self.together.iter().position(|known| known == label);
        let at = known.unwrap_or_else(|| {
            self.together.push(label.to_owned());
            self.together.len() - 1
        });
        at as u32 + 1
    }

    /// The label of that number.
    pub(super) fn label(&self, number: u32) -> &str {
        &self.together[number as usize - 1]
    }

    /// All labels that keep gangs together, in order of number.
    pub(super) fn together(&self) -> &[String] {
        &self.together
    }

    /// The same rules, and `value` for the label of that number: no node, where the rules want
    /// another value of it.
    pub(super) fn narrowed(
        &mut self,
        rules: Option<RulesId>,
        label: u32,
        value: String,
        cluster: &Cluster,
    ) -> Option<RulesId> {
        let wide = rules.map(|id| self.sets[id as usize].0.clone());
        let mut narrow = Constraints { distinct_nodes: false, ..wide.unwrap_or_default() };
        let label = self.label(label).to_owned();
        let asked = narrow.require.insert(label.clone(), vec![value.clone()]);
        if asked.is_some_and(|asked| !asked.is_empty() && !asked.contains(&value)) {
            // One of the gang was adopted where it may not be.
            let forbidden = narrow.forbid.entry(label).or_insert_with(|| vec![value.clone()]);
            if !forbidden.is_empty() && !forbidden.contains(&value) {
                forbidden.push(value);
            }
        }
        self.intern(&narrow, cluster)
    }

    /// All of them, by number.
    pub(super) fn all(&self) -> impl Iterator<Item = &Constraints> {
        self.sets.iter().map(|(constraints, _)| constraints)
    }

    fn nodes(&self, rules: Option<RulesId>) -> Option<&NodeSet> {
        rules.map(|id| &self.sets[id as usize].1)
    }

    /// What of a task decides where it may run.
    pub(super) fn key(&mut self, group: &TaskGroup, job: JobId, cluster: &Cluster) -> ShapeKey {
        let constraints = group.constraints.as_deref();
        // Of a gang that one value keeps together all tasks are where there is a value.
        let same = group.gang.as_ref().and_then(|gang| gang.same.as_ref());
        let rules = match same {
            None => constraints.and_then(|constraints| self.intern(constraints, cluster)),
            Some(label) => {
                let mut labelled = constraints.cloned().unwrap_or_default();
                labelled.distinct_nodes = false;
                labelled.require.entry(label.clone()).or_default();
                self.intern(&labelled, cluster)
            }
        };
        ShapeKey {
            rules,
            distinct: constraints.filter(|constraints| constraints.distinct_nodes).map(|_| job),
            ..ShapeKey::of(group.demand)
        }
    }

    /// The nodes that tasks of a shape may run on; `taken` by the slot of the job.
    #[inline]
    pub(super) fn allowed<'a>(&'a self, key: &ShapeKey, taken: &'a [TakenNodes]) -> Allowed<'a> {
        if key.rules.is_none() && key.distinct.is_none() {
            return Allowed::ANY;
        }
        Allowed {
            eligible: self.nodes(key.rules),
            taken: key.distinct.and_then(|job| taken.get(job.slot())),
        }
    }

    /// Whether a node that is remembered could hold tasks of a shape when empty.
    pub(super) fn could_hold(&self, key: &ShapeKey, cluster: &Cluster) -> bool {
        match self.nodes(key.rules) {
            None => cluster.could_hold(&key.demand),
            Some(nodes) => cluster.could_hold_among(&key.demand, |node| nodes.contains(node)),
        }
    }
}

/// Whether a node that is remembered could hold a task of `group` when empty; why not.
pub(super) fn check_possible(
    group: &TaskGroup,
    cluster: &Cluster,
    kinds: &ResourceKinds,
) -> Result<(), Rejected> {
    let refusal = |largest: Option<Resources>| {
        let nothing = String::from("nothing: it has no nodes");
        Rejected::FitsNoNode {
            demand: in_words(&group.demand, kinds),
            largest: largest.map_or(nothing, |largest| in_words(&largest, kinds)),
        }
    };
    if !cluster.could_hold(&group.demand) {
        return Err(refusal(cluster.largest().copied()));
    }
    let named = group.constraints.as_deref().filter(|constraints| constraints.names_labels());
    let Some(constraints) = named else { return Ok(()) };
    let allowed = |node: NodeRow| constraints.allow(&cluster.nodes[node.index()].spec.labels);
    if cluster.could_hold_among(&group.demand, allowed) {
        return Ok(());
    }
    Err(Rejected::NoNodeAllowed {
        demand: in_words(&group.demand, kinds),
        rules: constraints.to_string(),
    })
}
