//! `condor`: HTCondor's negotiator with effective user priorities.
//!
//! > RUP <- max(0.5, RUP * b + used * (1 - b)),  b = 0.5^(dt / half-life)
//! > EUP = RUP * factor;  slice_i = total * (1 / EUP_i) / sum of 1 / EUP over who has idle jobs
//!
//! Each cycle serves in order of EUP, nobody beyond his slice; what slices are not filled is cut
//! anew among the others. Here slices are quotas: below his slice the least EUP comes first, and
//! whoever has his slice waits for all others. `used` is what is held at the update.
//!
//! Weights: shares settle where share^2 is in proportion to 1 / factor, so a weight of w is a
//! factor of 1000 / w^2. Not here: HTCondor matches in its cycle alone and lets claims be used
//! again for 20 min; here room that comes free within a cycle is given out at once, by the slices
//! of the last one.
//!
//! Source: `src/condor_negotiator.V6/Accountant.cpp` and `matchmaker.cpp`.

use meed::Rank;

use super::super::rule::{KeptOrder, Rule, Seen, fill, geometric, kept, strict};

/// The least RUP.
const LEAST: f64 = 0.5;

/// `DEFAULT_PRIO_FACTOR`.
const FACTOR: f64 = 1000.0;

/// See the module.
pub(crate) struct Condor {
    half_life: f64,
    rup: Vec<f64>,
    order: KeptOrder,
    by_level: KeptOrder,
}

impl Condor {
    /// With `PRIORITY_HALFLIFE` in seconds.
    pub(crate) fn new(half_life: f64) -> Condor {
        let (order, by_level) = (KeptOrder::default(), KeptOrder::default());
        Condor { half_life, rup: Vec::new(), order, by_level }
    }
}

/// The real user priority after a time with `used`, before its floor.
pub(crate) fn real_priority(rup: f64, used: f64, b: f64) -> f64 {
    rup * b + used * (1.0 - b)
}

impl Rule for Condor {
    fn tick(&mut self, seen: &Seen<'_>) {
        self.ticks(seen, 1);
    }

    fn ticks(&mut self, seen: &Seen<'_>, more: u64) {
        self.rup.resize(seen.children.len(), LEAST);
        let (b, _) = geometric(kept(self.half_life, seen.seconds), more);
        for (rup, child) in self.rup.iter_mut().zip(seen.children) {
            // It moves towards what is held without turning, so the floor can be put last.
            *rup = real_priority(*rup, child.held, b).max(LEAST);
        }
    }

    fn ranks(&mut self, seen: &Seen<'_>, ranks: &mut Vec<Rank>) {
        let factor = |weight: f64| FACTOR / (weight * weight);
        let eup = |(child, &rup): (&super::Child, &f64)| rup * factor(child.weight);
        let values: Vec<f64> = seen.children.iter().zip(&self.rup).map(eup).collect();
        let pie = |(child, eup): (&super::Child, &f64)| match child.waits() {
            true => (1.0 / eup, child.wants),
            false => (0.0, 0.0),
        };
        let pie: Vec<(f64, f64)> = seen.children.iter().zip(&values).map(pie).collect();
        strict(&values, &mut self.order, ranks);
        for (rank, slice) in ranks.iter_mut().zip(fill(seen.capacity, &pie, &mut self.by_level)) {
            rank.quota = seen.smallest(slice);
        }
    }
}
