//! `flexible-lending`: the flexible lending mechanism of Dynamic Proportional Sharing (Freeman,
//! Zahedi, Conitzer, Lee, SIGMETRICS'18).
//!
//! > e = capacity * w / W; tokens t_i = e_i * T at the beginning of a horizon of T rounds
//! > each round: x_i = clip(e_i lambda, 0, min(d_i, t_i)) where not all can have what they want,
//! > else x_i = clip(e_i lambda, min(d_i, t_i), t_i); lambda such that they sum to the capacity
//! > t_i -= x_i
//!
//! So what nobody wants is pushed on those who still have tokens, the whole capacity is paid for in
//! each round, and nobody is left with a token in the end: everybody has got e_i * T.
//!
//! Invariant: tokens sum to capacity x what is left of the horizon. Then a new one begins.
//!
//! Here tasks run to their end. Grants are quotas; who has no token left is served after all
//! others, and not left idle as in the paper. A round is paid by what was used, up to one's tokens,
//! and what is missing of the capacity is pushed. Where capacity, weights or tenants change, tokens
//! are scaled to what is left, and a newcomer gets its e_i for the rest of the horizon: ours.
//!
//! Source: our notes of the paper, which is not among our references: the two cases of a round
//! and what is pushed are told there from memory.

use meed::Rank;

use super::super::rule::{KeptOrder, Rule, Seen, between, by_grant, fill};

/// See the module.
pub(crate) struct FlexibleLending {
    horizon: f64,
    /// Rounds that are left of the horizon.
    left: u64,
    tokens: Vec<f64>,
    by_level: KeptOrder,
}

impl FlexibleLending {
    /// With the horizon in seconds.
    pub(crate) fn new(horizon: f64) -> FlexibleLending {
        let (tokens, by_level) = (Vec::new(), KeptOrder::default());
        FlexibleLending { horizon, left: 0, tokens, by_level }
    }

    /// What each has left, unit-seconds.
    #[cfg(test)]
    pub(crate) fn tokens(&self) -> (&[f64], u64) {
        (&self.tokens, self.left)
    }

    /// Tokens sum to what is left of the horizon, whoever came and whatever changed.
    fn endow(&mut self, seen: &Seen<'_>) {
        let rounds = libm::round(self.horizon / seen.seconds).max(1.0) as u64;
        if self.left == 0 {
            (self.left, self.tokens) = (rounds, Vec::new());
        }
        let whole = seen.capacity * seen.seconds * self.left as f64;
        let weights = seen.weights();
        let own = |child: &super::Child| whole * (child.weight / weights);
        let known = self.tokens.len();
        let come: f64 = seen.children[known..].iter().map(own).sum();
        let have: f64 = self.tokens.iter().sum();
        if have > 0.0 {
            let scale = (whole - come).max(0.0) / have;
            self.tokens.iter_mut().for_each(|tokens| *tokens *= scale);
            self.tokens.extend(seen.children[known..].iter().map(own));
        } else {
            self.tokens = seen.children.iter().map(own).collect();
        }
    }
}

/// What each pays of a round of so many unit-seconds, from weights, what was used, and tokens.
pub(crate) fn payments(round: f64, rows: &[(f64, f64, f64)]) -> Vec<f64> {
    let row = |&(weight, used, tokens): &(f64, f64, f64)| (weight, used.min(tokens), tokens);
    between(round, &rows.iter().map(row).collect::<Vec<_>>())
}

impl Rule for FlexibleLending {
    fn tick(&mut self, seen: &Seen<'_>) {
        self.endow(seen);
        let row = |(child, &tokens): (&super::Child, &f64)| (child.weight, child.used, tokens);
        let rows: Vec<_> = seen.children.iter().zip(&self.tokens).map(row).collect();
        let paid = payments(seen.capacity * seen.seconds, &rows);
        self.tokens.iter_mut().zip(paid).for_each(|(t, paid)| *t = (*t - paid).max(0.0));
        self.left -= 1;
    }

    fn ranks(&mut self, seen: &Seen<'_>, ranks: &mut Vec<Rank>) {
        // At the end of a horizon the tokens of the next one count.
        let most = |(i, child): (usize, &super::Child)| match self.left {
            0 => (child.weight, child.wants),
            _ => (child.weight, child.wants.min(self.tokens[i] / seen.seconds)),
        };
        let rows: Vec<(f64, f64)> = seen.children.iter().enumerate().map(most).collect();
        by_grant(seen, &fill(seen.capacity, &rows, &mut self.by_level), ranks);
    }
}
