//! `karma`: Karma's credits (Vuppalapati and others, OSDI'23).
//!
//! > g = alpha * f guaranteed, f the fair share; P = pool - sum of g shared
//! > each quantum: c += P / n for all; what is above g costs a credit a unit, what is left below g
//! > earns one where others take it, the poorest donor first; where not all can have what they
//! > want, the richest borrower first
//!
//! Amounts are real numbers instead of slices, which comes to the same up to a slice. Credits may
//! fall below zero: that is to start with so many that nobody runs out, as the paper advises; only
//! differences matter.
//!
//! Karma takes back from one quantum to the next what it has given. Here tasks run to their end: a
//! quantum's grants are quotas, and credits are settled by what was really used, so that nobody
//! pays for what others still hold. Weights are ours: a unit of a tenant of weight w costs and
//! earns the mean weight over w.
//!
//! Source: the paper, by our notes; the authors' code has no licence and was not used.

use meed::Rank;

use super::super::rule::{Rule, Seen, by_grant, raise};
use super::Child;

/// See the module.
pub(crate) struct Karma {
    alpha: f64,
    credits: Vec<f64>,
}

impl Karma {
    /// With the part of the fair share that is guaranteed.
    pub(crate) fn new(alpha: f64) -> Karma {
        Karma { alpha, credits: Vec::new() }
    }
}

/// A tenant in a quantum.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tenant {
    /// g.
    pub(crate) guaranteed: f64,
    /// What it wants, or has used.
    pub(crate) amount: f64,
    /// Credits for a unit.
    pub(crate) price: f64,
}

/// What each tenant is granted of `shared` units beside all guarantees: `amount` is its demand.
pub(crate) fn grant(shared: f64, credits: &[f64], tenants: &[Tenant]) -> Vec<f64> {
    let below = |t: &Tenant| (t.guaranteed - t.amount).max(0.0);
    let supply = shared + tenants.iter().map(below).sum::<f64>();
    // The richest first: levels rise from the negative.
    let borrows =
        |(t, &credits): (&Tenant, &f64)| (-credits, (t.amount - t.guaranteed).max(0.0), t.price);
    let rows: Vec<(f64, f64, f64)> = tenants.iter().zip(credits).map(borrows).collect();
    let borrowed = raise(supply, &rows);
    tenants.iter().zip(borrowed).map(|(t, more)| t.amount.min(t.guaranteed) + more).collect()
}

/// Free credits for a quantum of `shared` units, then what was used is paid and earned: `amount`.
pub(crate) fn settle(shared: f64, credits: &mut [f64], tenants: &[Tenant]) {
    let free = shared / tenants.len().max(1) as f64;
    credits.iter_mut().for_each(|credits| *credits += free);
    let borrowed = |t: &Tenant| (t.amount - t.guaranteed).max(0.0);
    let lent: f64 = tenants.iter().map(borrowed).sum();
    // Who has fewest earns first; what is shared is lent after all that is left.
    let donors: Vec<(f64, f64, f64)> = tenants
        .iter()
        .zip(credits.iter())
        .map(|(t, &credits)| (credits, (t.guaranteed - t.amount).max(0.0), t.price))
        .collect();
    let earned = raise(lent, &donors);
    for ((credits, t), earned) in credits.iter_mut().zip(tenants).zip(earned) {
        *credits += (earned - borrowed(t)) * t.price;
    }
}

/// Credits of `all`: a newcomer starts with what others have on average.
pub(crate) fn newcomers(credits: &mut Vec<f64>, all: usize) {
    let known = credits.len();
    if known < all {
        let mean = credits.iter().sum::<f64>() / known.max(1) as f64;
        credits.resize(all, mean);
    }
}

/// What of the pool is shared where alpha of it is guaranteed, and the tenants with `amount` of
/// each.
pub(crate) fn quantum(
    alpha: f64,
    seen: &Seen<'_>,
    amount: fn(&Child) -> f64,
) -> (f64, Vec<Tenant>) {
    let weights = seen.weights();
    let mean = weights / seen.children.len().max(1) as f64;
    let tenant = |child: &Child| Tenant {
        guaranteed: alpha * seen.capacity * (child.weight / weights),
        amount: amount(child),
        price: mean / child.weight,
    };
    let tenants = seen.children.iter().map(tenant).collect();
    ((1.0 - alpha) * seen.capacity, tenants)
}

impl Rule for Karma {
    fn tick(&mut self, seen: &Seen<'_>) {
        newcomers(&mut self.credits, seen.children.len());
        let (shared, mut tenants) = quantum(self.alpha, seen, |child| child.used);
        tenants.iter_mut().for_each(|tenant| tenant.amount /= seen.seconds);
        settle(shared, &mut self.credits, &tenants);
    }

    fn ranks(&mut self, seen: &Seen<'_>, ranks: &mut Vec<Rank>) {
        let (shared, tenants) = quantum(self.alpha, seen, |child| child.wants);
        let grants = grant(shared, &self.credits, &tenants);
        by_grant(seen, &grants, ranks);
    }
}
