//! Where a constraint on the spread of pods holds.

use std::collections::BTreeMap;

use super::{Count, Nodes};
use crate::pod::near::{Labels, Near};
use crate::pod::spread::Spread;

/// See the module.
pub(super) struct SpreadView {
    topology: String,
    /// Pods of each place.
    pods: BTreeMap<String, usize>,
    /// Pods of a place that has room for one more; `None`: none has.
    most: Option<usize>,
}

impl SpreadView {
    /// Of `pod`, which has the constraint; `at` are the pods that it counts. O(nodes).
    pub(super) fn of(pod: &Near, one: &Spread, at: &Count, nodes: &dyn Nodes) -> SpreadView {
        let mut pods: BTreeMap<String, usize> = BTreeMap::new();
        for node in nodes.all().filter(|node| pod.spreads.is_place(one, node)) {
            if let Some(value) = node.labels.get(&one.topology) {
                let here = at.get(&node.name).copied().unwrap_or(0);
                *pods.entry(value.clone()).or_default() += here;
            }
        }
        let least = pods.values().min().copied().unwrap_or(0);
        let most = one.most(&pod.labels, pods.len(), least);
        SpreadView { topology: one.topology.clone(), pods, most }
    }

    pub(super) fn holds(&self, node: &Labels) -> bool {
        let Some(value) = node.get(&self.topology) else { return false };
        let here = self.pods.get(value).copied().unwrap_or(0);
        self.most.is_some_and(|most| here <= most)
    }
}

#[cfg(test)]
mod tests;
