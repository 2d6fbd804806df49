//! What each node is capable of with tasks of one class, and the slots that it gets for it (JAS, Eq. 2 to 5).
//!
//! > c_y = |M_y| / e_y,  k_y = K * c_y / sum of c_j
//!
//! M_y: the tasks that node y ended since slots were last set, e_y their times together, K all slots of the class. The
//! paper's example prints the inverse of c_y; Eq. 2 and 4 are meant. A node that has ended none since keeps the
//! capability it had; one that never ended any keeps the slots it had at first and takes no part. Slots are whole by
//! largest remainder, at least one for each measured node, and add up to K.

use crate::shares::apportion;
use crate::time::Span;

/// Tasks, and their times together.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
struct Record {
    tasks: u64,
    total_us: u64,
}

/// The records of one class.
#[derive(Clone, Debug)]
pub struct Capability {
    /// Since slots were last set.
    fresh: Vec<Record>,
    /// What slots were last set by.
    used: Vec<Record>,
    set: bool,
}

/// Capabilities are weights in tasks per 10^12 microseconds: 32 bits and more for tasks of up to 4 minutes.
const PER_TASK: u64 = 1_000_000_000_000;

/// No weight is above this: so their sum over all nodes fits.
const MOST: u64 = 1 << 40;

impl Capability {
    /// No records for so many nodes.
    pub fn new(nodes: usize) -> Capability {
        Capability { fresh: vec![Record::default(); nodes], used: vec![Record::default(); nodes], set: false }
    }

    /// A task of the class took `lasted` on `node`.
    pub fn add(&mut self, node: usize, lasted: Span) {
        let record = &mut self.fresh[node];
        record.tasks += 1;
        record.total_us = record.total_us.saturating_add(lasted.as_micros().max(1));
    }

    /// Whether slots were ever set by it.
    pub fn is_set(&self) -> bool {
        self.set
    }

    /// Mean time of a task on `node`, by its latest records.
    pub fn mean_us(&self, node: usize) -> Option<f64> {
        let record = self.latest(node);
        (record.tasks > 0).then(|| record.total_us as f64 / record.tasks as f64)
    }

    fn latest(&self, node: usize) -> Record {
        if self.fresh[node].tasks > 0 { self.fresh[node] } else { self.used[node] }
    }

    /// Slots of each node by capability, `usual` those before any was measured; `None` while none is. The records count
    /// as used from then on.
    pub fn share_out(&mut self, usual: &[u32]) -> Option<Vec<u32>> {
        self.used = (0..self.fresh.len()).map(|node| self.latest(node)).collect();
        self.fresh.fill(Record::default());
        // Nodes without slots of the class take no part.
        let measured: Vec<usize> =
            (0..usual.len()).filter(|&node| usual[node] > 0 && self.used[node].tasks > 0).collect();
        if measured.is_empty() {
            return None;
        }
        self.set = true;
        let weights: Vec<u64> = measured.iter().map(|&node| weight(self.used[node])).collect();
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
fn weight(record: Record) -> u64 {
    let weight = u128::from(record.tasks) * u128::from(PER_TASK) / u128::from(record.total_us);
    (weight as u64).clamp(1, MOST)
}
