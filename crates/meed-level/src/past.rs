//! The past in one form: every ledger that a policy looks at, as a weight and a history.
//!
//! A policy serves the smallest key first, and a key rises with the dominant share x that a user
//! gets now. Where it is linear in x, all have one level in the end, and
//!
//! > x_i(level) = clip(w_i level - H_i, 0, cap_i)
//!
//! with m the mean weight and `most` the most credits that a user has:
//!
//! | policy | key | w_i | H_i |
//! |---|---|---|---|
//! | `long-term-drf` | (x + used) / weight | weight | used |
//! | `sdrf` | (x + commitment) / weight | weight | commitment |
//! | `mr-karma` | x / weight - credits / m | weight | weight (most - credits) / m |
//! | `as-you-pay` | (received + worth x) / paid | paid / worth | received / worth |
//! | others | x / weight | weight | 0 |
//!
//! Credits lower a key, and levels of the solver begin at 0. So credits count from the richest
//! user's: the solver's levels are above those of the policy by *origin* = most / m.
//!
//! Cost: O(users).

use crate::policy::AllocationPolicy;
use crate::problem::{Problem, User};

/// Weights and histories of all users.
pub(crate) struct Past {
    lines: Vec<(f64, f64)>,
    origin: f64,
}

impl Past {
    pub(crate) fn new(problem: &Problem, policy: AllocationPolicy) -> Past {
        let users = &problem.users;
        let mean = users.iter().map(|user| user.weight).sum::<f64>() / users.len() as f64;
        let most = users.iter().map(|user| user.ledgers.credits).fold(0.0, f64::max);
        let line = |user: &User| match policy {
            AllocationPolicy::LongTermDrf => (user.weight, user.used),
            AllocationPolicy::Sdrf => (user.weight, user.ledgers.commitment),
            AllocationPolicy::MrKarma => {
                (user.weight, user.weight * (most - user.ledgers.credits) / mean)
            }
            AllocationPolicy::AsYouPay => {
                (user.ledgers.paid / problem.worth, user.ledgers.received / problem.worth)
            }
            AllocationPolicy::Drf
            | AllocationPolicy::Drfh
            | AllocationPolicy::PerServerDrf
            | AllocationPolicy::Slots => (user.weight, 0.0),
        };
        let origin = if policy == AllocationPolicy::MrKarma { most / mean } else { 0.0 };
        Past { lines: users.iter().map(line).collect(), origin }
    }

    /// Weight and history of a user.
    pub(crate) fn line(&self, user: usize) -> (f64, f64) {
        self.lines[user]
    }

    /// The policy's level, from the solver's.
    pub(crate) fn level(&self, solved: f64) -> f64 {
        solved - self.origin
    }
}
