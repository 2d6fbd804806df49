//! What orders that know weights alone are told of contributions: each queue's part of what its
//! siblings are entitled to.
//!
//! Weights are whole thousandths up to a bound, so ratios are kept exactly where small whole
//! numbers express them, and to nine digits otherwise. Who is entitled to nothing has the smallest
//! weight that there is.

use std::collections::BTreeMap;

use meed::MAX_WEIGHT;

use super::timetable::gcd;

/// Weights in thousandths whose ratios are those of `shares`.
pub(super) fn weights(shares: &[u128]) -> Vec<u64> {
    let divisor = shares.iter().fold(0, |divisor, &share| gcd(share, divisor)).max(1);
    let most = shares.iter().max().map_or(1, |most| most / divisor).max(1);
    let limit = u128::from(MAX_WEIGHT);
    let mut factor = 1u128;
    while most <= limit / (factor * 10) {
        factor *= 10;
    }
    let weight = |share: &u128| match most <= limit {
        true => share / divisor * factor,
        false => {
            // Shares are below 2^100; what is lost is below a thousandth.
            let (share, most) = (share / divisor, most);
            let down = most.ilog2().saturating_sub(90);
            (share >> down) * limit / (most >> down)
        }
    };
    shares.iter().map(|share| weight(share).clamp(1, limit) as u64).collect()
}

/// Whose child is who, and which queue is which tenant.
pub(super) struct Tree {
    /// By queue: its tenant's number.
    tenants: Vec<Option<usize>>,
    /// By queue: its parent's place.
    parents: Vec<Option<usize>>,
    /// Places of those below one parent, or below none.
    families: Vec<Vec<usize>>,
}

impl Tree {
    /// Of these queues by full names, and these tenants among them.
    pub(super) fn of(queues: &[&str], tenants: &[String]) -> Tree {
        let places: BTreeMap<&str, usize> =
            queues.iter().enumerate().map(|(place, name)| (*name, place)).collect();
        let tenants: BTreeMap<&str, usize> =
            tenants.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
        let parent = |name: &&str| places.get(name.rsplit_once('.')?.0).copied();
        let parents: Vec<Option<usize>> = queues.iter().map(parent).collect();
        let mut families: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
        for (queue, parent) in parents.iter().enumerate() {
            families.entry(*parent).or_default().push(queue);
        }
        Tree {
            tenants: queues.iter().map(|name| tenants.get(name).copied()).collect(),
            parents,
            families: families.into_values().collect(),
        }
    }

    /// Each queue's weight, where tenants have these shares.
    pub(super) fn weights(&self, shares: &[u128]) -> Vec<u64> {
        let own = self.tenants.iter().map(|tenant| tenant.map_or(0, |tenant| shares[tenant]));
        let own: Vec<u128> = own.collect();
        let mut sums = own.clone();
        for (queue, share) in own.iter().enumerate().filter(|(_, share)| **share > 0) {
            let mut above = self.parents[queue];
            while let Some(parent) = above {
                sums[parent] += share;
                above = self.parents[parent];
            }
        }
        let mut all = vec![0; sums.len()];
        for children in &self.families {
            let shares: Vec<u128> = children.iter().map(|&child| sums[child]).collect();
            children.iter().zip(weights(&shares)).for_each(|(&child, weight)| all[child] = weight);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_ratios_are_exact_and_large_ones_within_bounds() {
        let [a, b, c] = weights(&[30, 10, 0])[..] else { panic!("three weights") };
        assert_eq!((a, c), (3 * b, 1));
        assert!(a <= MAX_WEIGHT && b >= MAX_WEIGHT / 31);
        let large = weights(&[u128::from(u64::MAX) * 1_000_000_007, 1 << 70, 1]);
        assert_eq!((large[0], large[2]), (MAX_WEIGHT, 1));
        assert_eq!(weights(&[0, 0]), [1, 1]);
    }

    #[test]
    fn parents_have_what_their_children_have() {
        let tenants = ["g.a".to_owned(), "g.b".to_owned(), "c".to_owned()];
        let tree = Tree::of(&["g", "g.a", "g.b", "c"], &tenants);
        let weights = tree.weights(&[1, 2, 6]);
        assert_eq!((weights[3], weights[2]), (2 * weights[0], 2 * weights[1]));
    }
}
