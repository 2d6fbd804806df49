//! What each queue is entitled to as a part of the root, exactly, and the order of leaves by it:
//! what the starvation guard compares (TSC'18 Sec. 5.1, Eq. 2, Algorithm 2).
//!
//! > e = product over the path of w / (sum of w over the children of one parent)
//! > key = u / e
//!
//! A parent's sum is over all its live children, busy or idle, as shares are given out
//! (`Tree::share_out`). The sum over the children of the root is common to all leaves and is left
//! out, so in a tree of one level e is w, and the keys are those of single-level LTRF.
//!
//! Exact: e is kept in lowest terms, in 128 bits where these hold it and in integers of any length
//! where they do not. So no depth and no weight exists at which rounding decides. A comparison is
//! made with floats where they are far enough apart, then in 256 bits, and at last with integers of
//! any length. Cost: O(queues) for a change of the tree, O(1) for a comparison.

use std::cmp::Ordering;

use num_bigint::BigUint;

use super::tree::Tree;
use crate::ids::QueueRow;
use crate::order::heap::Item;
use crate::order::key::{Level, cmp_wide_ratios, gcd};
use crate::shares::part_of;

/// A part of the root over the sum of the weights of the root's children, in lowest terms.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Part {
    Short { part: u128, whole: u128 },
    Long(Box<(BigUint, BigUint)>),
}

impl Part {
    const ONE: Part = Part::Short { part: 1, whole: 1 };

    /// This, times `weight` / `sum`; neither is zero.
    fn times(&self, weight: u64, sum: u64) -> Part {
        if let Part::Short { part, whole } = *self
            && let Some((part, whole)) = part_of((part, whole), weight, sum)
        {
            return Part::Short { part, whole };
        }
        let common = gcd(weight.into(), sum.into()) as u64;
        let (weight, sum) = (weight / common, sum / common);
        let (part, whole) = self.fraction();
        let common = |of: u64, long: &BigUint| {
            let rest = u64::try_from(long % of).expect("less than what divides it");
            gcd(of.into(), rest.into()) as u64
        };
        let (above, below) = (common(weight, &whole), common(sum, &part));
        let part = part / below * (weight / above);
        let whole = whole / above * (sum / below);
        Part::Long(Box::new((part, whole)))
    }

    /// As two integers: the part, and what it is a part of.
    pub(super) fn fraction(&self) -> (BigUint, BigUint) {
        match self {
            Part::Short { part, whole } => (BigUint::from(*part), BigUint::from(*whole)),
            Part::Long(long) => (long.0.clone(), long.1.clone()),
        }
    }

    /// 1 / e as a float where that is sure to be near: within three roundings. Beyond 128 bits it
    /// is not a number, which is never far enough from anything.
    fn inverse(&self) -> f64 {
        match self {
            Part::Short { part, whole } => *whole as f64 / *part as f64,
            Part::Long(_) => f64::NAN,
        }
    }
}

/// Two floats of keys that differ by more than this part of their sum are in the right order: each
/// is off by seven roundings of 2^-53 at most (the amount, its unit, their ratio; 1 / e; the
/// product).
const CERTAIN: f64 = 1.0 / (1u64 << 49) as f64;

/// e of all queues, by row. See the module.
#[derive(Clone, Default)]
pub(super) struct Entitlements {
    parts: Vec<Part>,
    /// 1 / e.
    inverses: Vec<f64>,
}

impl Entitlements {
    /// A queue comes, the root first; its own are known when shares are given out.
    pub(super) fn add_queue(&mut self) {
        self.parts.push(Part::ONE);
        self.inverses.push(1.0);
    }

    /// Of the tree as it is. A removed queue keeps what it had: it demands nothing.
    pub(super) fn share_out(&mut self, tree: &Tree) {
        // Parents are declared before their children.
        for (parent, row) in tree.iter().filter(|(_, row)| !row.is_removed()) {
            let weights = row.children().iter().map(|&child| tree[child].weight());
            let sum = match parent {
                QueueRow::ROOT => 1,
                _ => weights.sum(),
            };
            for &child in row.children() {
                let part = self.parts[parent.index()].times(tree[child].weight(), sum);
                self.inverses[child.index()] = part.inverse();
                self.parts[child.index()] = part;
            }
        }
    }

    pub(super) fn of(&self, queue: QueueRow) -> &Part {
        &self.parts[queue.index()]
    }

    /// Which of two leaves comes first: the keys' ratios are u, by weight 1.
    #[inline]
    pub(super) fn compare(&self, a: &Item, b: &Item) -> Ordering {
        let value = |&(key, queue): &Item| key.value() * self.inverses[queue as usize];
        let (mine, theirs) = (value(a), value(b));
        // Of floats in the middle of their range, whose rounding is known.
        let sure = |value: f64| value > 1e-150 && value < 1e150;
        if sure(mine) && sure(theirs) && (mine - theirs).abs() > (mine + theirs) * CERTAIN {
            return if mine < theirs { Ordering::Less } else { Ordering::Greater };
        }
        self.compare_exactly(a, b)
    }

    /// The same where floats do not tell.
    #[inline(never)]
    fn compare_exactly(&self, a: &Item, b: &Item) -> Ordering {
        let used = |&(key, _): &Item| match key.level() {
            Level::Ratio { amount, weight } => (amount, weight),
            Level::Between { .. } => unreachable!("what was used is a ratio"),
        };
        let (mine, theirs) = (&self.parts[a.1 as usize], &self.parts[b.1 as usize]);
        compare_parts(used(a), mine, used(b), theirs).then(a.0.tie().cmp(&b.0.tie()))
    }
}

/// (amount / of) / e of two, exactly.
fn compare_parts(a: (u128, u128), mine: &Part, b: (u128, u128), theirs: &Part) -> Ordering {
    if mine == theirs || a.0 == 0 || b.0 == 0 {
        return cmp_wide_ratios(a, b);
    }
    let short = |(amount, of): (u128, u128), part: &Part| match *part {
        Part::Short { part, whole } => Some((amount.checked_mul(whole)?, of.checked_mul(part)?)),
        Part::Long(_) => None,
    };
    if let (Some(a), Some(b)) = (short(a, mine), short(b, theirs)) {
        return cmp_wide_ratios(a, b);
    }
    let long = |(amount, of): (u128, u128), part: &Part| {
        let (part, whole) = part.fraction();
        (whole * amount, part * of)
    };
    let ((up, down), (other_up, other_down)) = (long(a, mine), long(b, theirs));
    (up * other_down).cmp(&(other_up * down))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// By schoolbook: never in lowest terms.
    fn plain(path: &[(u64, u64)]) -> (BigUint, BigUint) {
        let one = || (BigUint::from(1u8), BigUint::from(1u8));
        path.iter().fold(one(), |(part, whole), &(weight, sum)| (part * weight, whole * sum))
    }

    fn part_of(path: &[(u64, u64)]) -> Part {
        path.iter().fold(Part::ONE, |part, &(weight, sum)| part.times(weight, sum))
    }

    fn paths() -> impl Strategy<Value = Vec<(u64, u64)>> {
        let weight = prop_oneof![1u64..8, 1u64..1_000_000_001];
        let sum = prop_oneof![1u64..50, 1u64..1 << 40];
        prop::collection::vec((weight, sum), 0..12)
    }

    proptest! {
        #[test]
        fn parts_are_products_in_lowest_terms(path in paths()) {
            let ((up, down), (part, whole)) = (plain(&path), part_of(&path).fraction());
            prop_assert_eq!(up * &whole, &part * down);
            // In lowest terms: Euclid ends at 1.
            let (mut a, mut b) = (part, whole);
            while b != BigUint::default() {
                (a, b) = (b.clone(), a % b);
            }
            prop_assert_eq!(a, BigUint::from(1u8));
        }

        #[test]
        fn compares_like_schoolbook_arithmetic(
            mine in paths(), theirs in paths(), amount in any::<u128>(), shift in 0u32..128,
            other in any::<u128>(), of in 1u64..1 << 53, close in 0u8..4,
        ) {
            let (a, b) = (plain(&mine), plain(&theirs));
            let amount = amount >> shift;
            // What is level with it, or next to that.
            let level = u128::try_from(BigUint::from(amount) * &a.1 * &b.0 / (&a.0 * &b.1));
            let other = match (close, level) {
                (0, _) | (_, Err(_)) => other >> shift,
                (1, Ok(level)) => level,
                (2, Ok(level)) => level.saturating_add(1),
                (_, Ok(level)) => level.saturating_sub(1),
            };
            let left = BigUint::from(amount) * &a.1 * &b.0;
            let right = BigUint::from(other) * &b.1 * &a.0;
            let slow = left.cmp(&right);
            let of = u128::from(of);
            let got = compare_parts((amount, of), &part_of(&mine), (other, of), &part_of(&theirs));
            prop_assert_eq!(got, slow);
            let keys = [amount, other].map(|amount| {
                crate::order::key::Key::of_ratio(crate::order::Tier::Ordinary, amount, of, (0, 0))
            });
            let parts = vec![part_of(&mine), part_of(&theirs)];
            let inverses = parts.iter().map(Part::inverse).collect();
            let all = Entitlements { parts, inverses };
            prop_assert_eq!(all.compare(&(keys[0], 0), &(keys[1], 1)), slow);
        }
    }
}
