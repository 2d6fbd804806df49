//! `kueue-afs`: Kueue's Admission Fair Sharing among the LocalQueues of a ClusterQueue.
//!
//! > every sampling: U <- (1 - a) * U + a * held,  a = 1 - 0.5^(sampling / half-life)
//! > at an admission: + a * request until the next sampling;  order: U / weight, least first
//!
//! What is held at the sampling counts, not what was used in between. The penalty of an entry is
//! told as a rank that rises by what starts: `a` for each unit above what was held at the sampling.
//! Not here: where something ends before the next sampling its penalty goes with it; in Kueue the
//! history it has left stays. Order by priority comes after usage and is not modelled.
//!
//! Source: `pkg/util/admissionfairsharing`, `pkg/cache/queue/afs`. The default half-life of Kueue
//! is 0, which turns the feature off; 7 days stand here.

use meed::Rank;

use super::super::rule::{Rule, Seen, geometric, kept, per};

/// See the module.
pub(crate) struct KueueAfs {
    half_life: f64,
    usage: Vec<f64>,
}

impl KueueAfs {
    /// With `usageHalfLifeTime` in seconds.
    pub(crate) fn new(half_life: f64) -> KueueAfs {
        KueueAfs { half_life, usage: Vec::new() }
    }

    /// `CalculateAlphaRate`.
    fn alpha(&self, sampling: f64) -> f64 {
        alpha(sampling, self.half_life)
    }
}

/// How much a sample counts; 0 without a half-life.
pub(crate) fn alpha(sampling: f64, half_life: f64) -> f64 {
    if half_life > 0.0 { 1.0 - kept(half_life, sampling) } else { 0.0 }
}

impl Rule for KueueAfs {
    fn tick(&mut self, seen: &Seen<'_>) {
        self.ticks(seen, 1);
    }

    fn ticks(&mut self, seen: &Seen<'_>, more: u64) {
        self.usage.resize(seen.children.len(), 0.0);
        let (old, _) = geometric(1.0 - self.alpha(seen.seconds), more);
        for (usage, child) in self.usage.iter_mut().zip(seen.children) {
            *usage = *usage * old + child.held * (1.0 - old);
        }
    }

    fn ranks(&mut self, seen: &Seen<'_>, ranks: &mut Vec<Rank>) {
        let alpha = self.alpha(seen.seconds);
        let fine = seen.fineness(f64::from(1u32 << 20) / alpha.max(1e-9));
        let step = libm::round(alpha * fine).min(f64::from(u32::MAX)) as u32;
        ranks.clear();
        for (child, usage) in seen.children.iter().zip(&self.usage) {
            // What is held adds its penalty again; of the last sample that is in the usage.
            let without = usage * fine - child.held * f64::from(step);
            ranks.push(Rank {
                amount: (without * seen.unit).max(0.0) as u64,
                step,
                per: per(child.weight),
                quota: u64::MAX,
            });
        }
    }
}
