//! How well a task is aligned with a server, exactly (Tetris; Grandl et al., SIGCOMM 2014).
//!
//! > a(D, l) = sum over r of (D_r / c_lr) * (free_lr / c_lr),  c_l what the server has
//!
//! Tasks are compared on one server at a time, so every a is multiplied by the squares of all that
//! the server has: what remains is a whole number, D_r times a factor that is made once.
//!
//! > S(D) = sum over r of D_r * f_r,  f_r = free_r * product over s other than r of c_s^2
//!
//! Invariant: amounts are at most 2^53 and free_r <= c_r, so with k kinds S has at most 106 k + 3
//! bits, and 2 k words of 64 hold it. Cost: O(k^2) words for the factors, O(k^2) for a score.

use crate::resources::{MAX_KINDS, Resources};

const WORDS: usize = 2 * MAX_KINDS;

/// A whole number, the highest word first: so the derived order is that of the numbers. All scores
/// that are compared have equally many words; what is behind them is zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Score([u64; WORDS]);

/// What scores are made by, on one server.
pub(super) struct Alignment {
    factors: [Score; MAX_KINDS],
    words: usize,
}

impl Score {
    const ZERO: Score = Score([0; WORDS]);

    /// Adds so many times `other`.
    #[inline]
    fn add(&mut self, words: usize, other: &Score, times: u64) {
        let mut carry = 0u128;
        for (mine, theirs) in self.0[..words].iter_mut().zip(&other.0[..words]).rev() {
            // At most (2^64 - 1)^2 + 2 (2^64 - 1).
            let here = u128::from(*theirs) * u128::from(times) + u128::from(*mine) + carry;
            (*mine, carry) = (here as u64, here >> 64);
        }
        debug_assert_eq!(carry, 0, "a score has at most 106 bits a kind");
    }
}

impl Alignment {
    /// On a server that has `capacity`, of which so much is free.
    pub(super) fn on(capacity: &Resources, free: &Resources) -> Alignment {
        let words = 2 * capacity.kinds();
        let mut factors = [Score::ZERO; MAX_KINDS];
        let has = capacity.as_slice();
        for (kind, factor) in factors.iter_mut().enumerate().take(has.len()) {
            // Of what it has not nobody that fits asks for any.
            factor.0[words - 1] = if has[kind] > 0 { free.get(kind) } else { 0 };
            let others = has.iter().enumerate().filter(|&(other, &has)| other != kind && has > 0);
            for (_, &other) in others {
                for _ in 0..2 {
                    let before = std::mem::replace(factor, Score::ZERO);
                    factor.add(words, &before, other);
                }
            }
        }
        Alignment { factors, words }
    }

    /// The larger, the better a task that asks for so much is aligned.
    #[inline]
    pub(super) fn score(&self, demand: &Resources) -> Score {
        let mut score = Score::ZERO;
        for (&amount, factor) in demand.as_slice().iter().zip(&self.factors) {
            if amount > 0 {
                score.add(self.words, factor, amount);
            }
        }
        score
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;
    use proptest::prelude::*;

    /// The sum over a common denominator, by a library.
    fn aligned(capacity: &[u64], free: &[u64], demand: &[u64]) -> (BigUint, BigUint) {
        let nothing = (BigUint::from(0u64), BigUint::from(1u64));
        let rows = capacity.iter().zip(free).zip(demand).filter(|((has, _), _)| **has > 0);
        rows.fold(nothing, |(up, down), ((&has, &free), &asked)| {
            let (part, whole) = (BigUint::from(asked) * free, BigUint::from(has) * has);
            (up * &whole + part * &down, down * whole)
        })
    }

    proptest! {
        /// Two tasks compare as their alignments do, up to the largest amounts, also where they are
        /// nearly or quite alike.
        #[test]
        fn scores_compare_as_exact_fractions(
            rows in prop::collection::vec(
                (0u64..=1 << 53, any::<u64>(), any::<u64>(), any::<u64>(), 0u64..3), 1..=MAX_KINDS,
            ),
            alike: bool,
        ) {
            let capacity: Vec<u64> = rows.iter().map(|row| row.0).collect();
            let free: Vec<u64> = rows.iter().map(|row| row.1 % (row.0 + 1)).collect();
            let of = |from: u64, free: u64| from % (free + 1);
            let both = || rows.iter().zip(&free);
            let one: Vec<u64> = both().map(|(row, &free)| of(row.2, free)).collect();
            let other: Vec<u64> = match alike {
                false => both().map(|(row, &free)| of(row.3, free)).collect(),
                true => one.iter().zip(&rows).map(|(one, row)| one.saturating_sub(row.4)).collect(),
            };
            let scores = Alignment::on(&Resources::new(&capacity), &Resources::new(&free));
            let score = |demand: &[u64]| scores.score(&Resources::new(demand));
            let ((a, b), (c, d)) =
                (aligned(&capacity, &free, &one), aligned(&capacity, &free, &other));
            prop_assert_eq!(score(&one).cmp(&score(&other)), (a * d).cmp(&(c * b)));
        }
    }

    #[test]
    fn what_there_is_more_of_counts_more() {
        let scores = Alignment::on(&Resources::new(&[10, 20]), &Resources::new(&[10, 5]));
        let score = |demand: &[u64]| scores.score(&Resources::new(demand));
        // 1 of 10 where all is free, 8 of 20 where a quarter is.
        assert_eq!(score(&[1, 0]), score(&[0, 8]));
        assert!(score(&[2, 0]) > score(&[1, 7]) && score(&[0, 0]) == Score::ZERO);
    }
}
