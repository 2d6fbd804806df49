//! `sdrf`: Stateful DRF (Sadok, Campista, Costa, IEEE Trans. Computers 70(7), 2021) over one
//! resource.
//!
//! > o = max(0, held - e),  e = capacity * w / W the reserve;  dc/dt = (o - c) / tau
//! > priority = (held + c) / w, the least first
//!
//! The commitment c remembers use above the reserve alone; who stays within it is never charged,
//! and who idles earns nothing. What is held moves the order at once, c with the clock: it is told
//! at each tick, so between two ticks it is out by a part of at most tick / tau.
//!
//! Source: the formulas of the paper as our notes tell them (the authors' code has no licence and
//! was not used). The paper's users have equal weights: w is ours. Its simulator serves users below
//! their reserve by DRF first (`ReservedSDRF`); that step is left out. Over several resources the
//! paper takes the largest commitment: this rule counts the measured resource alone.

use meed::Rank;

use super::super::rule::{Rule, Seen, per};

/// See the module.
pub(crate) struct Sdrf {
    tau: f64,
    commitments: Vec<f64>,
}

impl Sdrf {
    /// With tau in seconds.
    pub(crate) fn new(tau: f64) -> Sdrf {
        Sdrf { tau, commitments: Vec::new() }
    }
}

/// The commitment after `seconds` with an over-use of `over`.
pub(crate) fn commitment(before: f64, over: f64, seconds: f64, tau: f64) -> f64 {
    let old = if tau > 0.0 { libm::exp(-seconds / tau) } else { 0.0 };
    over + (before - over) * old
}

impl Rule for Sdrf {
    fn tick(&mut self, seen: &Seen<'_>) {
        self.ticks(seen, 1);
    }

    fn ticks(&mut self, seen: &Seen<'_>, more: u64) {
        self.commitments.resize(seen.children.len(), 0.0);
        let (weights, seconds) = (seen.weights(), seen.seconds * more as f64);
        for (before, child) in self.commitments.iter_mut().zip(seen.children) {
            let reserve = seen.capacity * (child.weight / weights);
            *before = commitment(*before, (child.held - reserve).max(0.0), seconds, self.tau);
        }
    }

    fn ranks(&self, seen: &Seen<'_>, ranks: &mut Vec<Rank>) {
        let fine = libm::floor(seen.fineness(f64::from(1u32 << 20)));
        ranks.clear();
        let rank = |(child, commitment): (&super::Child, &f64)| Rank {
            amount: (commitment * seen.unit * fine) as u64,
            step: fine as u32,
            per: per(child.weight),
            quota: u64::MAX,
        };
        ranks.extend(seen.children.iter().zip(&self.commitments).map(rank));
    }
}
