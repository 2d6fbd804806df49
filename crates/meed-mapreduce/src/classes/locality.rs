//! Times of a job's maps by node; whether a block is worth its way (JAS, Eq. 6).
//!
//! > NonLocalBenefit = ET_i > ET_j + Transfer_time
//!
//! ET_i: mean time of the job's local tasks on node i, which holds the block; ET_j the same on node
//! j, which asks. What is not known yet does not pay.

use std::collections::BTreeMap;

use meed::time::Span;

/// Times of one job's map tasks, by node: of all of them for its capability, of local ones in the
/// paper's LocalityBenefitTable.
#[derive(Clone, Default, Debug)]
pub struct NodeTimes {
    /// Number and sum, in microseconds.
    nodes: BTreeMap<usize, (u64, u64)>,
}

impl NodeTimes {
    /// A task took `lasted` on `node`.
    pub fn add(&mut self, node: usize, lasted: Span) {
        let (tasks, total_us) = self.nodes.entry(node).or_default();
        (*tasks, *total_us) = (*tasks + 1, total_us.saturating_add(lasted.as_micros()));
    }

    /// Node, number of tasks, and their times together in microseconds, in order of nodes.
    pub fn iter(&self) -> impl Iterator<Item = (usize, u64, u64)> {
        self.nodes.iter().map(|(&node, &(tasks, total_us))| (node, tasks, total_us))
    }

    /// Mean time on `node`.
    pub fn mean_us(&self, node: usize) -> Option<f64> {
        self.nodes.get(&node).map(|&(tasks, total_us)| total_us as f64 / tasks as f64)
    }
}

/// Eq. 6: `there` on the node that holds the block, `here` on the one that asks, in microseconds.
pub fn pays(there: Option<f64>, here: Option<f64>, transfer: Span) -> bool {
    match (there, here) {
        (Some(there), Some(here)) => there > here + transfer.as_micros() as f64,
        _ => false,
    }
}
