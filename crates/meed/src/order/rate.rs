//! What a task counts in a domain.

use crate::resources::Resources;
use crate::time::{Span, Time};

/// What a task counts in a domain: a scalar, or, where dominant shares are compared, an amount of
/// each kind. What it *holds* counts as it is; what it is *charged* counts by the node's weight
/// (theta * delta of ICS'14 Eq. 9).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rate {
    pub(super) holds: u64,
    pub(super) charged: u64,
    pub(super) kinds: Option<Resources>,
    /// In thousandths.
    node_weight: u32,
}

impl Rate {
    #[inline]
    pub(super) fn scalar(holds: u64, charged: u64) -> Rate {
        Rate { holds, charged, kinds: None, node_weight: 1000 }
    }

    pub(super) fn vector(demand: &Resources, node_weight: u32) -> Rate {
        Rate { holds: 0, charged: 0, kinds: Some(*demand), node_weight }
    }

    /// What ledgers are charged for each kind.
    pub(super) fn charged_kinds(&self, kinds: &Resources) -> impl Iterator<Item = u64> {
        let weight = self.node_weight;
        let charged = move |amount: u64| match weight {
            1000 => amount,
            _ => (u128::from(amount) * u128::from(weight) / 1000) as u64,
        };
        let kinds = *kinds;
        (0..kinds.kinds()).map(move |kind| charged(kinds.get(kind)))
    }
}

/// Equal running tasks of a job, started at one instant, that are charged by another quantum.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Requantified {
    pub(crate) tasks: u64,
    pub(crate) started: Time,
    pub(crate) before: Span,
    pub(crate) after: Span,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// theta * delta is whole units: less than one below what it is as a real number.
        #[test]
        fn a_charge_is_rounded_by_less_than_a_unit(amount in 0u64..1 << 53,
            weight in 1u32..10_000) {
            let rate = Rate::vector(&Resources::new(&[amount]), weight);
            let charged = rate.charged_kinds(&Resources::new(&[amount])).next().expect("a kind");
            let exact = u128::from(amount) * u128::from(weight);
            let got = u128::from(charged) * 1000;
            prop_assert!(got <= exact && exact < got + 1000);
        }
    }
}
