//! Dominant shares: the largest part of the pool that something is, over the resource kinds (DRF;
//! DRFH Sec. 4.1).
//!
//! > dominant share = max over r of x_r / C_r,  x what a child holds (`drf`, `drfh`) or what its
//! > ledgers say it has used
//! > (`long-term-drf`), C the pool: the capacity of all nodes together
//!
//! Shares are compared as whole *parts* of the pool. The pool has as many parts as the least common
//! multiple of the capacities, where that is at most 2^53: then every amount is a whole number of
//! parts and nothing is rounded. Otherwise it has 2^53 parts, and an amount is rounded down to one:
//! an error below 10^-15 of the pool, the same on every machine. A kind of which there is nothing
//! does not count.
//!
//! Usage is kept in each kind's own units, a ledger for each kind, so it stays exact when nodes
//! come and go: history counts by the pool of now.

use super::key::mul_div;
use crate::ledger::{Charge, Ledger};
use crate::resources::{MAX_AMOUNT, MAX_KINDS, Resources};

/// What shares are parts of.
#[derive(Clone, Debug)]
pub(crate) struct Pool {
    capacity: Resources,
    parts: u64,
    /// Parts of one smallest unit of each kind, where they are whole; else 0.
    per_unit: [u64; MAX_KINDS],
}

impl Default for Pool {
    fn default() -> Pool {
        Pool::new(&Resources::default())
    }
}

impl Pool {
    pub(crate) fn new(capacity: &Resources) -> Pool {
        let mut there = capacity.as_slice().iter().copied().filter(|&amount| amount > 0);
        let parts = there.try_fold(1u64, |lcm, amount| {
            (lcm / gcd(lcm, amount)).checked_mul(amount).filter(|&lcm| lcm <= MAX_AMOUNT)
        });
        let mut per_unit = [0; MAX_KINDS];
        if let Some(parts) = parts {
            for (per_unit, &amount) in per_unit.iter_mut().zip(capacity.as_slice()) {
                *per_unit = parts.checked_div(amount).unwrap_or(0);
            }
        }
        Pool { capacity: *capacity, parts: parts.unwrap_or(MAX_AMOUNT), per_unit }
    }

    /// Parts of an amount (or of an amount x time) of one kind.
    #[inline]
    fn parts_of(&self, kind: usize, amount: u128) -> u128 {
        match (self.per_unit[kind], self.capacity.get(kind)) {
            (_, 0) => 0,
            (0, capacity) => mul_div(amount, self.parts, capacity),
            // A charge from a time when the pool was larger may be beyond 128 bits: it then comes
            // last all the same.
            (per_unit, _) => amount.saturating_mul(u128::from(per_unit)),
        }
    }

    /// Parts of amounts of all kinds.
    pub(crate) fn parts(&self, amounts: &Resources) -> [u128; MAX_KINDS] {
        let mut parts = [0; MAX_KINDS];
        for (kind, &amount) in amounts.as_slice().iter().enumerate() {
            parts[kind] = self.parts_of(kind, u128::from(amount));
        }
        parts
    }

    /// The dominant share of `amounts`, in parts.
    #[inline]
    pub(crate) fn share(&self, amounts: &Resources) -> u128 {
        let amounts = amounts.as_slice().iter().enumerate();
        amounts.map(|(kind, &amount)| self.parts_of(kind, u128::from(amount))).max().unwrap_or(0)
    }

    /// The same of charges.
    fn share_of_charges(&self, charges: impl Iterator<Item = Charge>) -> u128 {
        charges.enumerate().map(|(kind, charge)| self.parts_of(kind, charge)).max().unwrap_or(0)
    }

    /// What there is of each kind.
    pub(super) fn capacity(&self) -> &Resources {
        &self.capacity
    }

    /// How many parts the pool has: what a share is divided by to be shown.
    pub(crate) fn whole(&self) -> u64 {
        self.parts
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// One child's amounts and ledgers, kind by kind.
#[derive(Clone, Debug)]
pub(crate) struct Vector {
    /// What it holds.
    pub(crate) held: Resources,
    /// S, for the discount: none for jobs.
    pub(crate) shares: Resources,
    /// Where the measure is usage.
    pub(crate) ledgers: Vec<Ledger>,
    /// Pseudo-accumulated resources, in parts (ICS'14 Eq. 6).
    pub(crate) pseudo: Charge,
}

impl Vector {
    pub(crate) fn new(kinds: usize) -> Vector {
        let mut shares = Resources::zero(kinds);
        shares.as_mut_slice().fill(u64::MAX);
        Vector { held: Resources::zero(kinds), shares, ledgers: Vec::new(), pseudo: 0 }
    }

    /// Its ledgers, each with the share of its kind.
    pub(crate) fn ledgers(&mut self) -> impl Iterator<Item = (&mut Ledger, u64)> {
        if self.ledgers.is_empty() {
            self.ledgers.resize_with(self.held.kinds(), Ledger::default);
        }
        self.ledgers.iter_mut().zip(self.shares.as_slice().iter().copied())
    }

    /// Its accumulated dominant share, with what it was topped up with.
    pub(crate) fn charge(
        &mut self,
        pool: &Pool,
        mut charge: impl FnMut(&mut Ledger, u64) -> Charge,
    ) -> Charge {
        let pseudo = self.pseudo;
        let used =
            pool.share_of_charges(self.ledgers().map(|(ledger, share)| charge(ledger, share)));
        used.saturating_add(pseudo)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_whole_where_they_can_be() {
        let pool = |amounts: &[u64]| Pool::new(&Resources::new(amounts));
        // DRFH Sec. 2: 9 CPUs and 18 GB; tasks of <1, 4> and <3, 1> have dominant shares 2/9 and
        // 1/3.
        let drf = pool(&[9, 18]);
        assert_eq!(drf.whole(), 18);
        assert_eq!(drf.share(&Resources::new(&[1, 4])), 4);
        assert_eq!(drf.share(&Resources::new(&[3, 1])), 6);
        // Without a common multiple that is small enough, to 2^-53.
        let odd = pool(&[(1 << 52) - 1, (1 << 51) - 1]);
        assert_eq!(odd.whole(), MAX_AMOUNT);
        assert_eq!(odd.share(&Resources::new(&[(1 << 52) - 1, 0])), u128::from(MAX_AMOUNT));
        // What there is nothing of does not count.
        assert_eq!(pool(&[10, 0]).share(&Resources::new(&[5, 7])), 5);
    }
}
