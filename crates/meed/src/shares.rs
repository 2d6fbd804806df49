//! What each queue is entitled to: S_i = R * w_i / sum of w_k (Eq. 2), level by level down the
//! tree.
//!
//! Shares are whole smallest units and add up exactly to what is shared: each gets the floor of its
//! quota, and the units that are left go to the largest remainders, ties to the one declared first.
//! So use above some shares is always unused share of others plus nothing, and lending balances.

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

    proptest! {
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
