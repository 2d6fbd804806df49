//! The properties of DRFH Sec. 3.3 and 4.5, for whole tasks placed by a greedy policy.
//!
//! n_i: the tasks that user i runs; m_i: those that it could have, which is what differs between
//! the rows.
//!
//! > value = max over users i of 1 - n_i / m_i  (of a coalition: the least, for all have to gain)
//!
//! | property | m_i | whole tasks alone explain, in tasks |
//! |---|---|---|
//! | envy-freeness | with what another user holds, server by server | one task of the other's less |
//! | Pareto optimality | the most, divisible, with nobody else having less | e_i |
//! | group strategy-proofness | as a member of a coalition that claims other demands | 2 e_i |
//! | strong sharing incentive | with 1/n of every server, divisible | e_i |
//! | weak sharing incentive | with 1/n of every resource, split as in the proof of Prop. 5, or by server | e_i |
//! | single-server DRF | by exact DRF on one server | e_i |
//! | single-resource fairness | by exact max-min fairness, with one resource | e_i |
//! | bottleneck fairness | the same, where all need most of the same resource | e_i |
//! | population monotonicity | n_i before another user left | 2 e_i |
//!
//! > e_i = k sum over users j of d_j / d_i + max over j of d_j / d_i,  d_j the dominant share of
//! > one task of j, k the servers
//!
//! On each server divisible tasks may leave a part of a task of every user, which whole ones
//! cannot; and at each start somebody is up to one task ahead.

use serde::{Deserialize, Serialize};

/// A property of DRFH Sec. 3.3 and 4.5, for whole tasks placed by a greedy policy. Its value is the
/// largest part of the tasks that a user could have and lacks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PoolProperty {
    /// Nobody would run more with what another has.
    EnvyFreeness,
    /// Nobody can have more without somebody having less.
    Pareto,
    /// No coalition gains, all of it, by claiming other demands.
    GroupStrategyProofness,
    /// At least what an equal part of every server would give.
    StrongSharingIncentive,
    /// At least what some equal partition would give.
    WeakSharingIncentive,
    /// On one server it is DRF.
    SingleServerDrf,
    /// With one resource it is max-min fair.
    SingleResource,
    /// Where all need most of one resource it is max-min fair.
    Bottleneck,
    /// Who stays loses nothing when another leaves.
    PopulationMonotonicity,
}

/// A property's row.
pub struct PoolRow {
    /// Which.
    pub property: PoolProperty,
    /// What users write.
    pub name: &'static str,
    /// Its name in the paper.
    pub title: &'static str,
    /// What a value means, in words.
    pub means: &'static str,
    /// What the paper says of divisible tasks under DRFH.
    pub paper: &'static str,
}

/// All, in the order in which they are shown.
pub const POOL_PROPERTIES: &[PoolRow] = &[
    PoolRow {
        property: PoolProperty::EnvyFreeness,
        name: "envy-freeness",
        title: "envy-freeness",
        means: "of the tasks that a user would run with another's allocation, those that it does \
            not",
        paper: "proved, Prop. 1",
    },
    PoolRow {
        property: PoolProperty::Pareto,
        name: "pareto",
        title: "Pareto optimality",
        means: "of the tasks that a user could run with nobody having less, those that it does not",
        paper: "proved, Prop. 2",
    },
    PoolRow {
        property: PoolProperty::GroupStrategyProofness,
        name: "group-strategy-proofness",
        title: "group strategy-proofness",
        means: "of the tasks that lying brings each member of a coalition, those that honesty does \
            not",
        paper: "proved, Prop. 3",
    },
    PoolRow {
        property: PoolProperty::StrongSharingIncentive,
        name: "strong-sharing-incentive",
        title: "strong sharing incentive",
        means: "of the tasks that an equal part of every server would serve, those that the policy \
            does not",
        paper: "does not hold, Prop. 4; proved for per-server DRF",
    },
    PoolRow {
        property: PoolProperty::WeakSharingIncentive,
        name: "weak-sharing-incentive",
        title: "weak sharing incentive",
        means: "of the tasks that the better of two equal partitions would serve, those that the \
            policy does not",
        paper: "proved, Prop. 5",
    },
    PoolRow {
        property: PoolProperty::SingleServerDrf,
        name: "single-server-drf",
        title: "single-server DRF",
        means: "of the tasks that DRF gives on one server, those that the policy does not",
        paper: "proved, Prop. 6",
    },
    PoolRow {
        property: PoolProperty::SingleResource,
        name: "single-resource",
        title: "single-resource fairness",
        means: "of the tasks of the max-min fair allocation of the only resource, those that the \
            policy does not give",
        paper: "proved, Prop. 7",
    },
    PoolRow {
        property: PoolProperty::Bottleneck,
        name: "bottleneck",
        title: "bottleneck fairness",
        means: "of the tasks of the max-min fair allocation of the common bottleneck, those that \
            the policy does not give",
        paper: "proved, Prop. 8",
    },
    PoolRow {
        property: PoolProperty::PopulationMonotonicity,
        name: "population-monotonicity",
        title: "population monotonicity",
        means: "of the tasks that a user ran before another left, those that it does not run \
            afterwards",
        paper: "proved, Prop. 9",
    },
];

impl PoolProperty {
    /// Its row.
    pub fn row(self) -> &'static PoolRow {
        POOL_PROPERTIES.iter().find(|row| row.property == self).expect("every property has a row")
    }

    /// The property that users call `name`.
    pub fn named(name: &str) -> Option<PoolProperty> {
        POOL_PROPERTIES.iter().find(|row| row.name == name).map(|row| row.property)
    }

    /// Whether two runs are compared.
    pub(super) fn deviates(self) -> bool {
        matches!(self, PoolProperty::GroupStrategyProofness | PoolProperty::PopulationMonotonicity)
    }
}
