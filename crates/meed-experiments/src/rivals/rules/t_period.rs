//! `t-period`: the T-period mechanism of Dynamic Proportional Sharing (Freeman, Zahedi, Conitzer,
//! Lee, SIGMETRICS'18): lend in the first half of a period, repay in the second.
//!
//! > e = capacity * w / W
//! > first half: x_i = clip(e_i lambda, min(d_i, e_i), min(d_i, 2 e_i)), lambda such that they sum
//! > to the capacity; b_i += what others took of e_i - what i had above e_i
//! > second half, T rounds: x_i = e_i + b_i / T, whatever is wanted
//!
//! Nobody borrows more than e_i a round, for he could not pay more back: so x_i >= 0.
//!
//! Invariant: balances b sum to zero, and |borrowed| <= e_i * T.
//!
//! Here tasks run to their end, and grants are quotas: what of the second half's x_i nobody wants
//! is not left idle, it is served beyond quotas, and costs nothing. Balances count what was used.
//! What was lent is spread over those who left something, in proportion to what they left: ours.
//!
//! Source: our notes of the paper, which is not among our references: they tell lending in the
//! first and repaying in the second part; the bound of e_i is what the repayment needs.

use meed::Rank;

use super::super::rule::{Rule, Seen, between, by_grant};

/// See the module.
pub(crate) struct TPeriod {
    period: f64,
    /// Rounds that are over of this period.
    round: u64,
    balances: Vec<f64>,
}

impl TPeriod {
    /// With the whole period in seconds.
    pub(crate) fn new(period: f64) -> TPeriod {
        TPeriod { period, round: 0, balances: Vec::new() }
    }

    /// Unit-seconds lent, less borrowed.
    #[cfg(test)]
    pub(crate) fn balances(&self) -> &[f64] {
        &self.balances
    }

    /// Rounds of half a period.
    fn half(&self, seen: &Seen<'_>) -> u64 {
        libm::round(self.period / 2.0 / seen.seconds).max(1.0) as u64
    }
}

/// What each has lent, less borrowed, in a round: from what is its own and what it used.
pub(crate) fn lent(rows: &[(f64, f64)]) -> Vec<f64> {
    let over = |&(own, used): &(f64, f64)| (used - own).clamp(0.0, own);
    let left = |&(own, used): &(f64, f64)| (own - used).max(0.0);
    let (overs, lefts): (f64, f64) = (rows.iter().map(over).sum(), rows.iter().map(left).sum());
    let lent = overs.min(lefts);
    let of = |part: f64, whole: f64| if whole > 0.0 { lent * (part / whole) } else { 0.0 };
    rows.iter().map(|row| of(left(row), lefts) - of(over(row), overs)).collect()
}

impl Rule for TPeriod {
    fn tick(&mut self, seen: &Seen<'_>) {
        let half = self.half(seen);
        self.balances.resize(seen.children.len(), 0.0);
        if self.round < half {
            let own = seen.capacity * seen.seconds / seen.weights();
            let row = |child: &super::Child| (own * child.weight, child.used);
            let rows: Vec<(f64, f64)> = seen.children.iter().map(row).collect();
            self.balances.iter_mut().zip(lent(&rows)).for_each(|(sum, lent)| *sum += lent);
        }
        self.round += 1;
        if self.round >= 2 * half {
            self.round = 0;
            self.balances.fill(0.0);
        }
    }

    fn ranks(&mut self, seen: &Seen<'_>, ranks: &mut Vec<Rank>) {
        let (half, weights) = (self.half(seen), seen.weights());
        let own = |child: &super::Child| seen.capacity * (child.weight / weights);
        let grants = if self.round < half {
            let row = |child: &super::Child| {
                let (own, wants) = (own(child), child.wants);
                (child.weight, wants.min(own), wants.min(2.0 * own))
            };
            between(seen.capacity, &seen.children.iter().map(row).collect::<Vec<_>>())
        } else {
            let time = half as f64 * seen.seconds;
            let back = |(child, lent): (&super::Child, &f64)| (own(child) + lent / time).max(0.0);
            seen.children.iter().zip(&self.balances).map(back).collect()
        };
        by_grant(seen, &grants, ranks);
    }
}
