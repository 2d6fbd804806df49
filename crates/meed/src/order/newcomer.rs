//! What a child that comes later is topped up with (ICS'14 Sec. 5.1: wall clock, pseudo-accumulated
//! resources).
//!
//! Early bird (Eq. 10, 16): phi_i = w_i * max over active k with a_k < a_i of f_k / w_k. The paper
//! writes the maximum of f_k, which is the same at equal weights; weighted totals are what Eq. 11
//! compares. Average: phi_i = w_i * sum f_k / sum w_k over the same k. Zero: nothing. Without an
//! active earlier child, nothing.
//!
//! Cost: O(children) once for each arrival (per round), and only where the policy asks for it.

use std::cmp::Ordering;

use super::key::{cmp_ratios, mul_div};
use crate::ledger::Charge;
use crate::policy::Newcomer;

/// phi for a newcomer of `weight`, from charge and weight of each active child that arrived
/// strictly earlier.
pub(crate) fn pseudo_accumulated(
    rule: Newcomer,
    weight: u64,
    earlier: impl Iterator<Item = (Charge, u64)>,
) -> Charge {
    match rule {
        Newcomer::Zero => 0,
        Newcomer::EarlyBird => earlier
            .reduce(|best, next| match cmp_ratios(next.0, next.1, best.0, best.1) {
                Ordering::Greater => next,
                _ => best,
            })
            .map_or(0, |(charge, of)| mul_div(charge, weight, of)),
        Newcomer::Average => {
            let (charges, weights) = earlier
                .fold((0u128, 0u64), |sum, next| (sum.0.saturating_add(next.0), sum.1 + next.1));
            if weights == 0 { 0 } else { mul_div(charges, weight, weights) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// A top-up is rounded down, by less than one.
        #[test]
        fn a_top_up_is_rounded_by_less_than_one(
            charge in 0u128..1 << 90, of in 1u64..1 << 30, weight in 1u64..1 << 30,
        ) {
            for rule in [Newcomer::EarlyBird, Newcomer::Average] {
                let phi = pseudo_accumulated(rule, weight, [(charge, of)].into_iter());
                let (of, exact) = (u128::from(of), charge * u128::from(weight));
                prop_assert!(phi * of <= exact && exact < (phi + 1) * of);
            }
        }
    }

    #[test]
    fn tops_up_by_weight() {
        let others = [(600, 1000), (900, 3000)];
        for (rule, weight, expected) in [
            (Newcomer::Zero, 1000, 0),
            (Newcomer::EarlyBird, 1000, 600),
            (Newcomer::EarlyBird, 2000, 1200),
            (Newcomer::Average, 1000, 375),
            (Newcomer::Average, 4000, 1500),
        ] {
            assert_eq!(
                pseudo_accumulated(rule, weight, others.into_iter()),
                expected,
                "{rule:?} {weight}"
            );
        }
        assert_eq!(pseudo_accumulated(Newcomer::EarlyBird, 1000, std::iter::empty()), 0);
    }
}
