//! `fair-tree`: Slurm's multifactor plugin with Fair Tree, its default since 19.05.
//!
//! > every 5 min: usage <- (usage + used) * d^dt,  d = 1 - 0.693 / half-life
//! > at each multiple of the reset period: usage <- 0
//! > LF = S / U,  S = shares / shares of all siblings, U = usage / usage of all siblings
//!
//! Siblings by LF, the largest first, users before accounts where equal; strict priority, depth
//! first: which is what a walk from the root does where each level is ranked. Who has used nothing
//! has LF without bound. All siblings count, also those that want nothing.
//!
//! Source: `src/plugins/priority/multifactor/fair_tree.c` and `priority_multifactor.c`. The text
//! says that tied accounts are merged; the code counts ties only up to the first account, so none
//! are, and none are here. The other factors of a job's priority (age, size, QOS, partition) are 0.

use meed::Rank;

use super::super::rule::{KeptOrder, Rule, Seen, geometric, strict};

/// Slurm's ln 2.
const LN_2: f64 = 0.693;

/// See the module.
pub(crate) struct FairTree {
    /// d.
    decay: f64,
    /// Seconds after which all usage is forgotten; 0 for never.
    reset: f64,
    /// Seconds from the beginning to the last tick.
    now: f64,
    usage: Vec<f64>,
    order: KeptOrder,
}

impl FairTree {
    /// With a half-life and a reset period in seconds; 0 for none.
    pub(crate) fn new(half_life: f64, reset: f64) -> FairTree {
        let decay = if half_life > 0.0 { 1.0 - LN_2 / half_life } else { 1.0 };
        let (usage, order) = (Vec::new(), KeptOrder::default());
        FairTree { decay: decay.max(0.0), reset, now: 0.0, usage, order }
    }

    /// Whether a reset lies within so many seconds from now, the last of them included.
    fn resets_within(&self, seconds: f64) -> bool {
        self.reset > 0.0
            && libm::floor((self.now + seconds) / self.reset) > libm::floor(self.now / self.reset)
    }
}

/// LF = S / U.
pub(crate) fn level_fairshare(shares: f64, of_shares: f64, usage: f64, of_usage: f64) -> f64 {
    let (s, u) = (shares / of_shares, if of_usage > 0.0 { usage / of_usage } else { 0.0 });
    if s == 0.0 { 0.0 } else { s / u }
}

impl Rule for FairTree {
    fn tick(&mut self, seen: &Seen<'_>) {
        self.ticks(seen, 1);
    }

    fn ticks(&mut self, seen: &Seen<'_>, more: u64) {
        self.usage.resize(seen.children.len(), 0.0);
        if more > 1 && self.resets_within(seen.seconds * more as f64) {
            // What was used before the reset is forgotten: tick by tick up to it and behind it.
            for _ in 0..more {
                self.ticks(seen, 1);
            }
            return;
        }
        let has_reset = self.resets_within(seen.seconds);
        self.now += seen.seconds * more as f64;
        if has_reset {
            self.usage.fill(0.0);
            return;
        }
        let once = libm::pow(self.decay, seen.seconds);
        let (kept, sum) = geometric(once, more);
        for (usage, child) in self.usage.iter_mut().zip(seen.children) {
            *usage = *usage * kept + child.used * once * sum;
        }
    }

    fn used(&self) -> &[f64] {
        &self.usage
    }

    fn ranks(&mut self, seen: &Seen<'_>, ranks: &mut Vec<Rank>) {
        let (shares, usage) = (seen.weights(), self.usage.iter().sum::<f64>());
        let of = |(child, &used): (&super::Child, &f64)| {
            // The largest first; no bound becomes the least of all.
            -level_fairshare(child.weight, shares, used, usage)
        };
        let values: Vec<f64> = seen.children.iter().zip(&self.usage).map(of).collect();
        strict(&values, &mut self.order, ranks);
        // Users before accounts.
        for (rank, child) in ranks.iter_mut().zip(seen.children) {
            rank.amount = 2 * rank.amount + u64::from(!child.is_leaf);
        }
    }
}
