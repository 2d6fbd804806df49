//! What each node is capable of with tasks of one class, and the slots that it gets for it (JAS,
//! Eq. 2 to 5).
//!
//! > c_y = |M_y| / e_y,  k_y = K * c_y / sum of c_j
//!
//! M_y: the tasks that node y ended of one job (Table 2: of *a* CPU-bound job; jobs differ too much
//! to be mixed), e_y their times together, K all slots of the class. The paper's example prints the
//! inverse of c_y; Eq. 2 and 4 are meant. Each job of the class that ends is learned from. One that
//! ran on some nodes only says how these compare with each other: its values are scaled so that
//! their sum over nodes that were known before stays; where it ran everywhere this is Eq. 3 to the
//! letter. A node that was never measured keeps the slots it had at first and takes no part. Slots
//! are whole by largest remainder, at least one for each measured node, and add up to K.

use super::locality::NodeTimes;
use meed::shares::apportion;

/// The capabilities of one class.
#[derive(Clone, Debug)]
pub struct Capability {
    /// c_y in tasks per 10^15 microseconds, or relative to it; 0: not measured.
    weights: Vec<u64>,
    set: bool,
}

/// So that a task of half an hour still has 19 bits.
const PER_TASK: u64 = 1_000_000_000_000_000;

/// No weight is above this: so their sum over all nodes fits.
const MOST: u64 = 1 << 40;

impl Capability {
    /// Nothing measured on so many nodes.
    pub fn new(nodes: usize) -> Capability {
        Capability { weights: vec![0; nodes], set: false }
    }

    /// A job of the class has ended, its tasks took these times. O(nodes).
    pub fn learn(&mut self, times: &NodeTimes) {
        let fresh: Vec<(usize, u64)> =
            times.iter().map(|(node, tasks, total_us)| (node, weight(tasks, total_us))).collect();
        let sum = |all: &mut dyn Iterator<Item = u64>| all.map(u128::from).sum::<u128>();
        let known = || fresh.iter().filter(|(node, _)| self.weights[*node] > 0);
        let mut old = sum(&mut known().map(|(node, _)| self.weights[*node]));
        let mut new = sum(&mut known().map(|(_, weight)| *weight));
        if new == 0 {
            // None of them was measured before: they are as capable as the others on average.
            let others = self.weights.iter().filter(|weight| **weight > 0);
            old = sum(&mut others.clone().copied()) * fresh.len() as u128;
            new = sum(&mut fresh.iter().map(|(_, weight)| *weight)) * others.count() as u128;
        }
        for (node, weight) in fresh {
            let scaled = (u128::from(weight) * old).checked_div(new).unwrap_or(u128::from(weight));
            self.weights[node] = scaled.clamp(1, u128::from(MOST)) as u64;
        }
    }

    /// Whether slots were ever set by it.
    pub fn is_set(&self) -> bool {
        self.set
    }

    /// How much longer a task takes on `node` than on `other`; `None` where one was not measured.
    pub fn slowdown(&self, node: usize, other: usize) -> Option<f64> {
        let (here, there) = (self.weights[node], self.weights[other]);
        (here > 0 && there > 0).then(|| there as f64 / here as f64)
    }

    /// Slots of each node by capability, `usual` those before any was measured; `None` while none
    /// is.
    pub fn share_out(&mut self, usual: &[u32]) -> Option<Vec<u32>> {
        // Nodes without slots of the class take no part.
        let measured: Vec<usize> =
            (0..usual.len()).filter(|&node| usual[node] > 0 && self.weights[node] > 0).collect();
        if measured.is_empty() {
            return None;
        }
        self.set = true;
        let weights: Vec<u64> = measured.iter().map(|&node| self.weights[node]).collect();
        let all: u64 = measured.iter().map(|&node| u64::from(usual[node])).sum();
        let mut parts = apportion(all, &weights);
        // There is a slot for each of them: the one that gives has two or more.
        while let Some(without) = parts.iter().position(|&part| part == 0) {
            let most = (0..parts.len()).rev().max_by_key(|&i| parts[i]).unwrap_or(without);
            (parts[most], parts[without]) = (parts[most] - 1, 1);
        }
        let mut slots = usual.to_vec();
        measured.iter().zip(parts).for_each(|(&node, part)| slots[node] = part as u32);
        Some(slots)
    }
}

/// c_y as a whole number.
fn weight(tasks: u64, total_us: u64) -> u64 {
    let weight = u128::from(tasks) * u128::from(PER_TASK) / u128::from(total_us.max(1));
    weight.clamp(1, u128::from(MOST)) as u64
}
