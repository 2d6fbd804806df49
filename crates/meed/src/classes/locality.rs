//! Whether a block is worth its way: local times by node, and JAS Eq. 6.
//!
//! > NonLocalBenefit = ET_i > ET_j + Transfer_time
//!
//! ET_i: mean time of the job's local tasks on node i, which holds the block; ET_j the same on node j, which asks. What is
//! not known yet does not pay.

use std::collections::BTreeMap;

use crate::time::Span;

/// Times of one job's local map tasks, by node: the paper's LocalityBenefitTable.
#[derive(Clone, Default, Debug)]
pub struct LocalTimes {
    /// Number and sum, in microseconds.
    nodes: BTreeMap<usize, (u64, u64)>,
}

impl LocalTimes {
    /// A local task took `lasted` on `node`.
    pub fn add(&mut self, node: usize, lasted: Span) {
        let (tasks, total_us) = self.nodes.entry(node).or_default();
        (*tasks, *total_us) = (*tasks + 1, total_us.saturating_add(lasted.as_micros()));
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
