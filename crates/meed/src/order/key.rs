//! The key that children are ordered by: the smallest is served.
//!
//! > (tier, amount / weight, arrival)
//!
//! The ratio is kept as two integers and compared exactly, by cross-multiplying in 192 bits; a
//! float of the same ratio decides most comparisons first. Its relative error is below 2^-51 (three
//! roundings of 2^-53), so two floats that differ by more than 2^-50 of their sum are in the right
//! order, and all others are compared exactly.

use std::cmp::Ordering;

/// Why a child stands where it does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Tier {
    /// It holds less than its minimum share; ordered by how much of it is held.
    BelowMinimum,
    /// Ordered by the policy's measure.
    Ordinary,
}

/// A child's key at one instant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    amount: u128,
    weight: u64,
    approx: f64,
    /// Declaration or arrival order, then the order within: no two keys of a heap are equal.
    tie: (u64, u32),
    tier: Tier,
}

impl Key {
    #[inline]
    pub(crate) fn new(tier: Tier, amount: u128, weight: u64, tie: (u64, u32)) -> Key {
        debug_assert!(weight > 0);
        // Most amounts fit 64 bits, which the machine converts itself; the rounding is the same.
        let float = if amount >> 64 == 0 { amount as u64 as f64 } else { amount as f64 };
        Key { amount, weight, approx: float / weight as f64, tie, tier }
    }

    pub(crate) fn tier(&self) -> Tier {
        self.tier
    }

    /// The ratio, for people.
    pub(crate) fn value(&self) -> f64 {
        self.approx
    }
}

/// The exact comparison of a / b with c / d.
pub(crate) fn cmp_ratios(a: u128, b: u64, c: u128, d: u64) -> Ordering {
    wide_product(a, d).cmp(&wide_product(c, b))
}

/// a * b in 192 bits: the high 128 and the low 64.
fn wide_product(a: u128, b: u64) -> (u128, u64) {
    let low = u128::from(a as u64) * u128::from(b);
    let high = (a >> 64) * u128::from(b) + (low >> 64);
    (high, low as u64)
}

/// floor(a * b / c), at most the largest number.
pub(crate) fn mul_div(a: u128, b: u64, c: u64) -> u128 {
    let (whole, rest) = (a / u128::from(c), a % u128::from(c));
    whole.saturating_mul(u128::from(b)).saturating_add(rest * u128::from(b) / u128::from(c))
}

impl Ord for Key {
    #[inline]
    fn cmp(&self, other: &Key) -> Ordering {
        if self.tier != other.tier {
            return self.tier.cmp(&other.tier);
        }
        const CERTAIN: f64 = 1.0 / (1u64 << 50) as f64;
        let (mine, theirs) = (self.approx, other.approx);
        if (mine - theirs).abs() > (mine + theirs) * CERTAIN {
            return if mine < theirs { Ordering::Less } else { Ordering::Greater };
        }
        cmp_ratios(self.amount, self.weight, other.amount, other.weight)
            .then(self.tie.cmp(&other.tie))
    }
}

impl PartialOrd for Key {
    #[inline]
    fn partial_cmp(&self, other: &Key) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Key {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Schoolbook multiplication in 32-bit limbs: slow, obvious.
    fn limbs(a: u128, b: u64) -> [u32; 6] {
        let digits =
            |x: u128| -> Vec<u64> { (0..4).map(|i| (x >> (32 * i)) as u32 as u64).collect() };
        let (x, y) = (digits(a), digits(u128::from(b)));
        let mut out = [0u64; 7];
        for (i, xi) in x.iter().enumerate() {
            let mut carry = 0;
            for j in 0..2 {
                let sum = out[i + j] + xi * y[j] + carry;
                out[i + j] = sum & 0xffff_ffff;
                carry = sum >> 32;
            }
            let mut place = i + 2;
            while carry > 0 {
                let sum = out[place] + carry;
                out[place] = sum & 0xffff_ffff;
                carry = sum >> 32;
                place += 1;
            }
        }
        let mut big_endian = [0u32; 6];
        for (i, limb) in out[..6].iter().enumerate() {
            big_endian[5 - i] = *limb as u32;
        }
        big_endian
    }

    proptest! {
        #[test]
        fn compares_like_schoolbook_arithmetic(
            a in any::<u128>(), c in any::<u128>(), b in 1..u64::MAX, d in 1..u64::MAX, close in any::<bool>(), shift in 0u32..100,
        ) {
            let (a, c) = (a >> shift, if close { (a >> shift).saturating_add(c % 3) } else { c >> shift });
            let d = if close { b } else { d };
            let slow = limbs(a, d).cmp(&limbs(c, b));
            prop_assert_eq!(cmp_ratios(a, b, c, d), slow);
            let (x, y) = (Key::new(Tier::Ordinary, a, b, (0, 0)), Key::new(Tier::Ordinary, c, d, (0, 0)));
            prop_assert_eq!(x.cmp(&y), slow);
        }

        #[test]
        fn mul_div_is_exact(a in 0..1u128 << 60, b in 0..1u64 << 40, c in 1..1u64 << 40) {
            prop_assert_eq!(mul_div(a, b, c), a * u128::from(b) / u128::from(c));
        }
    }
}
