//! Dominant shares: the largest part of the pool that something is, over the resource kinds (DRF;
//! DRFH Sec. 4.1).
//!
//! > dominant share = max over r of x_r / C_r,  x what a child holds (`drf`, `drfh`) or what its
//! > ledgers say it has used
//! > (`long-term-drf`), C the pool: the capacity of all nodes together
//!
//! Shares are compared exactly. The pool has as many *parts* as the least common multiple of the
//! capacities, where that is at most 2^53: then every amount is a whole number of parts. Otherwise
//! a share is the fraction x_r / C_r itself ([`Share`]). A kind of which there is nothing does not
//! count.
//!
//! Rounded down are newcomers' terms only (`newcomer`): to parts, of which there are 2^53 where
//! capacities have no common multiple that is small enough.
//!
//! Usage is kept in each kind's own units, a ledger for each kind, so it stays exact when nodes
//! come and go: history counts by the pool of now.

use super::key::{cmp_ratios, gcd, mul_div};
use crate::ledger::{Charge, Ledger};
use crate::resources::{MAX_AMOUNT, MAX_KINDS, Resources};

/// What shares are parts of.
#[derive(Clone, Debug)]
pub(crate) struct Pool {
    capacity: Resources,
    parts: u64,
    /// Whether every amount is a whole number of parts.
    common: bool,
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
            (lcm / gcd(lcm.into(), amount.into()) as u64)
                .checked_mul(amount)
                .filter(|&lcm| lcm <= MAX_AMOUNT)
        });
        let mut per_unit = [0; MAX_KINDS];
        if let Some(parts) = parts {
            for (per_unit, &amount) in per_unit.iter_mut().zip(capacity.as_slice()) {
                *per_unit = parts.checked_div(amount).unwrap_or(0);
            }
        }
        Pool {
            capacity: *capacity,
            parts: parts.unwrap_or(MAX_AMOUNT),
            common: parts.is_some(),
            per_unit,
        }
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

    /// Parts of amounts of all kinds, where they are whole; else `None`.
    pub(crate) fn parts(&self, amounts: &Resources) -> Option<[u128; MAX_KINDS]> {
        if !self.common {
            return None;
        }
        let mut parts = [0; MAX_KINDS];
        for (kind, &amount) in amounts.as_slice().iter().enumerate() {
            parts[kind] = self.parts_of(kind, u128::from(amount));
        }
        Some(parts)
    }

    /// The dominant share of `amounts`.
    #[inline]
    pub(crate) fn share(&self, amounts: &Resources) -> Share {
        let amounts = amounts.as_slice().iter().map(|&amount| u128::from(amount));
        match self.is_whole() {
            true => Share { amount: self.most_parts(amounts), of: 1 },
            false => self.largest(amounts),
        }
    }

    /// The accumulated dominant share of charges, with what it was topped up with, in parts.
    fn share_of_charges(&self, charges: impl Iterator<Item = Charge>, pseudo: Charge) -> Share {
        match self.is_whole() {
            true => Share { amount: self.most_parts(charges).saturating_add(pseudo), of: 1 },
            false if pseudo == 0 => self.largest(charges),
            false => {
                let amount = self.most_parts(charges).saturating_add(pseudo);
                Share { amount, of: self.parts }
            }
        }
    }

    /// The most parts of any kind.
    #[inline]
    fn most_parts(&self, amounts: impl Iterator<Item = u128>) -> u128 {
        amounts.enumerate().map(|(kind, amount)| self.parts_of(kind, amount)).max().unwrap_or(0)
    }

    /// The largest fraction of any kind.
    fn largest(&self, amounts: impl Iterator<Item = u128>) -> Share {
        let capacities = self.capacity.as_slice().iter();
        let there = amounts.zip(capacities).filter(|(_, capacity)| **capacity > 0);
        there
            .map(|(amount, &of)| Share { amount, of })
            .max_by(|a, b| cmp_ratios(a.amount, a.of, b.amount, b.of))
            .unwrap_or(Share { amount: 0, of: 1 })
    }

    /// Whether every amount is a whole number of parts.
    fn is_whole(&self) -> bool {
        self.common
    }

    /// A share in parts, rounded down where there are no common ones: for newcomers' terms, and for
    /// people.
    pub(crate) fn in_parts(&self, share: Share) -> u128 {
        match self.common || share.of == self.parts {
            true => share.amount,
            false => mul_div(share.amount, self.parts, share.of),
        }
    }

    /// What a share of the whole pool is as a number: what shares are divided by to be shown.
    pub(crate) fn whole(&self) -> u64 {
        if self.common { self.parts } else { 1 }
    }

    /// How many parts the pool has.
    pub(crate) fn count(&self) -> u64 {
        self.parts
    }

    /// Capacities, kind by kind.
    pub(crate) fn capacity(&self) -> &Resources {
        &self.capacity
    }
}

/// A dominant share, or one per weight: so many parts of the pool (`of` is 1), or that fraction of
/// it, where it has no common parts. Within one pool all have one unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share {
    pub(crate) amount: u128,
    pub(crate) of: u64,
}

impl Share {
    /// As the denominator of a key: `of` times a weight.
    #[inline]
    pub(crate) fn per(&self, weight: u64) -> u128 {
        u128::from(self.of) * u128::from(weight)
    }

    pub(crate) fn is_less_than(&self, other: &Share) -> bool {
        cmp_ratios(self.amount, self.of, other.amount, other.of).is_lt()
    }
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
    pub(crate) fn share(
        &mut self,
        pool: &Pool,
        mut charge: impl FnMut(&mut Ledger, u64) -> Charge,
    ) -> Share {
        let pseudo = self.pseudo;
        let charges = self.ledgers().map(|(ledger, share)| charge(ledger, share));
        pool.share_of_charges(charges, pseudo)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_whole_where_they_can_be_and_fractions_exact_elsewhere() {
        let pool = |amounts: &[u64]| Pool::new(&Resources::new(amounts));
        // DRFH Sec. 2: 9 CPUs and 18 GB; tasks of <1, 4> and <3, 1> have dominant shares 2/9 and
        // 1/3.
        let drf = pool(&[9, 18]);
        assert_eq!(drf.whole(), 18);
        let share = |pool: &Pool, amounts: &[u64]| {
            let share = pool.share(&Resources::new(amounts));
            (share.amount, share.of)
        };
        assert_eq!(share(&drf, &[1, 4]), (4, 1));
        assert_eq!(share(&drf, &[3, 1]), (6, 1));
        // Without a common multiple that is small enough, as a fraction.
        let (a, b) = ((1 << 52) - 1, (1 << 51) - 1);
        let odd = pool(&[a, b]);
        assert_eq!(odd.whole(), 1);
        assert_eq!(share(&odd, &[a, 0]), (u128::from(a), a));
        // Nearer to each other than any float can tell: a/2 rounded up is the larger part.
        assert_eq!(share(&odd, &[a / 2 + 1, b / 2 + 1]), (u128::from(b / 2 + 1), b));
        assert_eq!(share(&odd, &[a / 2 + 1, b / 2]), (u128::from(a / 2 + 1), a));
        // What there is nothing of does not count.
        assert_eq!(share(&pool(&[10, 0]), &[5, 7]), (5, 1));
    }
}
