//! `pbs`: OpenPBS fairshare.
//!
//! > each cycle: usage <- usage + used;  every decay time: usage <- max(1, usage * factor)
//! > order: usage / percentage, least first;  percentage = shares / shares of all siblings * above
//!
//! Two entities are compared along the path from the root where they part first, which is what a
//! walk down does. Forgetting comes in steps: a day's use counts in full until the step, and half
//! from then on. Everybody starts with a usage of 1.
//!
//! Source: `src/scheduler/fairshare.cpp` (`decay_fairshare_tree`, `compare_path`), man `pbsfs`.
//! Usage counts the measured resource; PBS's default is CPU seconds. Cycles run when jobs come and
//! go and every 600 s at least (`scheduler_iteration`); here every 600 s.

use meed::Rank;

use super::super::rule::{KeptOrder, Rule, Seen, strict};

/// `FAIRSHARE_MIN_USAGE`.
const LEAST: f64 = 1.0;

/// See the module.
pub(crate) struct Pbs {
    factor: f64,
    decay_time: f64,
    /// Since the last decay.
    elapsed: f64,
    usage: Vec<f64>,
    order: KeptOrder,
}

impl Pbs {
    /// With `fairshare_decay_factor`, and `fairshare_decay_time` in seconds.
    pub(crate) fn new(factor: f64, decay_time: f64) -> Pbs {
        let order = KeptOrder::default();
        Pbs { factor, decay_time, elapsed: 0.0, usage: Vec::new(), order }
    }
}

/// What the scheduler compares.
pub(crate) fn usage_by_percentage(usage: f64, percentage: f64) -> f64 {
    if percentage > 0.0 { usage / percentage } else { f64::INFINITY }
}

impl Rule for Pbs {
    fn tick(&mut self, seen: &Seen<'_>) {
        self.usage.resize(seen.children.len(), LEAST);
        for (usage, child) in self.usage.iter_mut().zip(seen.children) {
            *usage += child.used;
        }
        self.elapsed += seen.seconds;
        while self.decay_time > 0.0 && self.elapsed >= self.decay_time {
            self.elapsed -= self.decay_time;
            self.usage.iter_mut().for_each(|usage| *usage = (*usage * self.factor).max(LEAST));
        }
    }

    fn ranks(&mut self, seen: &Seen<'_>, ranks: &mut Vec<Rank>) {
        let shares = seen.weights();
        let of = |(child, &usage): (&super::Child, &f64)| {
            usage_by_percentage(usage, child.weight / shares)
        };
        let values: Vec<f64> = seen.children.iter().zip(&self.usage).map(of).collect();
        strict(&values, &mut self.order, ranks);
    }
}
