//! What each queue is entitled to: S_i = R * w_i / sum of w_k (Eq. 2), level by level down the
//! tree.
//!
//! A share is kept twice. [`ExactPart`] is the exact fraction of the pool: what is measured of one
//! kind of resource (rho, Psi, Omega, Jain's index) is made of that. [`apportion`] makes whole
//! smallest units, which add up exactly to what is shared: each gets the floor of its quota, and
//! the units that are left go to the largest remainders, ties to the one declared first. Whole
//! units are what is handed out (the nodes of the static partition), what discounts and reclaim
//! compare with, and what lending counts by: use above some shares is always unused share of
//! others plus nothing, so lending balances. Of several kinds, what a dominant share is measured
//! against is such a whole number of 2^-48ths of the pool.

use num_bigint::BigUint;

use crate::order::key::gcd;

/// A part of a whole: a fraction in lowest terms, from nothing to all.
///
/// It is exact as long as both of its numbers fit 64 bits: always with one level of queues, and
/// with several unless weights are many and odd. Beyond that it is rounded down to a 2^63rd of the
/// whole, but never to nothing.
///
/// ```
/// use meed::shares::ExactPart;
///
/// let third = ExactPart::WHOLE.of(1, 3);
/// assert_eq!(third.times(100), (33, 1)); // 33 units and 1 of 3 parts of one
/// assert_eq!(third.down(), 3);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExactPart {
    up: u64,
    down: u64,
}

impl ExactPart {
    /// Nothing of it.
    pub const NOTHING: ExactPart = ExactPart { up: 0, down: 1 };
    /// All of it.
    pub const WHOLE: ExactPart = ExactPart { up: 1, down: 1 };

    /// Of this part, what somebody of `weight` gets where all weigh `all`, which is not 0.
    pub fn of(self, weight: u64, all: u64) -> ExactPart {
        let exact = part_of((self.up.into(), self.down.into()), weight, all);
        let (up, down) = exact.expect("a product of two numbers of 64 bits has at most 128");
        let (up, down) = match (u64::try_from(up), u64::try_from(down)) {
            (Ok(up), Ok(down)) => (up, down),
            _ => {
                let grains = (BigUint::from(up) << 63u8) / down;
                (u64::try_from(grains).unwrap_or(1 << 63).max(1), 1 << 63)
            }
        };
        ExactPart { up, down }
    }

    /// So much of `amount`: whole units, and the rest as a count of [`ExactPart::down`]ths of one.
    pub fn times(self, amount: u64) -> (u64, u64) {
        let (product, down) = (u128::from(self.up) * u128::from(amount), u128::from(self.down));
        // Neither is more than a number of 64 bits: a part of an amount is no more than that.
        ((product / down) as u64, (product % down) as u64)
    }

    /// Into how many parts a unit is divided.
    pub fn down(self) -> u64 {
        self.down
    }

    /// So much of `amount`, for people: to the nearest that a float can be.
    pub fn of_amount(self, amount: u64) -> f64 {
        let (whole, rest) = self.times(amount);
        whole as f64 + rest as f64 / self.down as f64
    }
}

/// `up` / `down` times `weight` / `all`, none of which is 0, in lowest terms; `None`: a number has
/// more than 128 bits.
pub(crate) fn part_of((up, down): (u128, u128), weight: u64, all: u64) -> Option<(u128, u128)> {
    let common = gcd(weight.into(), all.into());
    let (weight, all) = (u128::from(weight) / common, u128::from(all) / common);
    let (above, below) = (gcd(weight, down), gcd(all, up));
    Some(((up / below).checked_mul(weight / above)?, (down / above).checked_mul(all / below)?))
}

/// Splits `total` by `weights`; zero weights get nothing. All zero: everybody gets nothing.
pub fn apportion(total: u64, weights: &[u64]) -> Vec<u64> {
    let sum: u128 = weights.iter().map(|&w| u128::from(w)).sum();
    if sum == 0 {
        return vec![0; weights.len()];
    }
    let product = |weight: u64| u128::from(total) * u128::from(weight);
    let mut parts: Vec<u64> = weights.iter().map(|&w| (product(w) / sum) as u64).collect();
    let left = (total - parts.iter().sum::<u64>()) as usize;
    let mut by_remainder: Vec<usize> = (0..weights.len()).collect();
    by_remainder.sort_by_key(|&i| (std::cmp::Reverse(product(weights[i]) % sum), i));
    for &i in &by_remainder[..left] {
        parts[i] += 1;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn remainders_go_to_the_largest_then_the_first() {
        for (total, weights, expected) in [
            (100, vec![1, 1, 1], vec![34, 33, 33]),
            (100, vec![1, 2], vec![33, 67]),
            (5, vec![0, 1], vec![0, 5]),
            (5, vec![0, 0], vec![0, 0]),
            (1 << 53, vec![1 << 30, 1 << 30], vec![1 << 52, 1 << 52]),
            (7, vec![], vec![]),
        ] {
            assert_eq!(apportion(total, &weights), expected, "{total} by {weights:?}");
        }
    }

    #[test]
    fn parts_are_exact() {
        let third = ExactPart::WHOLE.of(1000, 3000);
        assert_eq!((third.times(100_000), third.down()), ((33_333, 1), 3));
        let small = ExactPart::WHOLE.of(1000, 1_500_000);
        assert_eq!((small.times(1000), small.down()), ((0, 1000), 1500));
        assert_eq!(third.of(500, 1000).times(12), (2, 0));
        assert_eq!((third.of_amount(1), ExactPart::NOTHING.of_amount(7)), (1.0 / 3.0, 0.0));
        // Two hundred levels of odd weights: not nothing.
        let deep = (0..200).fold(ExactPart::WHOLE, |part, level| part.of(7 + level, 1_000_003));
        assert_eq!(deep, ExactPart { up: 1, down: 1 << 63 });
    }

    proptest! {
        /// Level by level down a tree, against fractions that are never shortened.
        #[test]
        fn parts_are_products_of_fractions(
            levels in prop::collection::vec((1u64..=1_000_000_000, 0u64..1 << 50), 1..6),
            amount in 0..=crate::MAX_AMOUNT,
        ) {
            let (mut up, mut down) = (BigUint::from(1u8), BigUint::from(1u8));
            let mut part = ExactPart::WHOLE;
            for (weight, others) in levels {
                let all = weight + others;
                part = part.of(weight, all);
                (up, down) = (up * weight, down * all);
            }
            let (whole, rest) = part.times(amount);
            prop_assert!(rest < part.down() && part.up > 0);
            // (whole + rest / down) is up / down of the amount, or less by a 2^63rd for each level.
            let exact = &up * amount * part.down();
            let got = (BigUint::from(whole) * part.down() + rest) * &down;
            let error = ((&down * amount * part.down() * 6u8) >> 63u8) + &down;
            match part.down() == 1 << 63 {
                false => prop_assert_eq!(got, exact),
                true => prop_assert!(got <= &exact + &error && exact <= got + error),
            }
        }

        #[test]
        fn adds_up_and_stays_within_a_unit_of_the_quota(total in 0u64..1 << 53,
            weights in prop::collection::vec(1u64..1_000_000_000, 1..50)) {
            let parts = apportion(total, &weights);
            prop_assert_eq!(parts.iter().sum::<u64>(), total);
            let sum: u128 = weights.iter().map(|&w| u128::from(w)).sum();
            for (part, weight) in parts.iter().zip(&weights) {
                let (exact, floor) = (u128::from(total) * u128::from(*weight),
                    u128::from(*part) * sum);
                prop_assert!(floor <= exact + sum && exact < floor + sum + 1);
            }
        }
    }
}
