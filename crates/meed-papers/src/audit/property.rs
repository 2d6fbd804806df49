//! The properties that are audited, each with its exact measure.
//!
//! The first five are those of TSC'18 Sec. 3 (ICS'14 Sec. 3), whose wording leaves open what is
//! measured. Ours is below: U_i(x) is the *useful* work that tenant i has done by the end T of run
//! x, in slot-seconds; F_i(x) counts useless tasks too; S_i is its share (Eq. 2). Every value is a
//! part of S_i * T, what its contribution alone delivers over the run, so values of small and large
//! clusters compare. Above 0 speaks against the property.
//!
//! | property | value |
//! |---|---|
//! | sharing incentive | max over i of (U_i(alone) - U_i(shared)) / (S_i T); alone: the same work on its share only |
//! | cost-efficient workload incentive | (U_i(wasting) - U_i(honest)) / (S_i T); wasting: adds useless tasks |
//! | resource-as-you-contributed | max over i of 1 - F_i / (S_i / R * sum F), after all have wanted all they can get for so long that every debt can be settled |
//! | strategy-proofness | (U_i(lying) - U_i(honest)) / (S_i T); lying: useless tasks, work held back |
//! | overclaiming | min(F_i(lying) - F_i(honest), sum over j of max(U_j(honest) - U_j(lying), 0)) / (S_i T) |
//! | Pareto efficiency | idle slots for which a waiting task is small enough, over time, / (R T) |
//! | false names | (U_i(names) - U_i(honest)) / (S_i T); names: two queues with half the weight each, or leaving and coming back |
//! | full-weight names | the same; names: two queues, each with the whole weight |
//! | bounded wait | longest time for which i waits, holds nothing, and has used less of its share than every other that wants something, / T |
//! | honest shapes | (U_i(lying) - U_i(honest)) / (S_i T); lying: wider tasks, limits below run times |
//! | envy | max over i, j of (U_i(with what j held, times S_i / S_j) - U_i) / (S_i T); divisible |
//! | credit fairness | max over i of the larger of sharing incentive's and min(c_i, sum over j of min(-c_j, H_ij)) / (S_i T); see `credit` |
//! | history | (U_i(lying, after t0) - U_i(honest, after t0) - loss before t0) / (S_i T); lying: useless tasks, or work given up, all over by t0 |
//!
//! *Overclaiming* is strategy-proofness as the papers argue it (CloudCom'14 Fig. 1): a tenant that
//! asks for more than it needs gets more, and others less. The last seven are not in that table.

use serde::{Deserialize, Serialize};

use super::case::{LieKind, Tasks};

/// A property of TSC'18 Sec. 3 that is audited. Its value is a part of what a tenant's contribution
/// alone delivers over the run; above 0 it speaks against the property.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Property {
    /// No tenant gets less than alone on its share.
    SharingIncentive,
    /// Useless work does not pay.
    WorkloadIncentive,
    /// What was lent comes back.
    Contribution,
    /// Lying about demand does not bring more useful work.
    StrategyProofness,
    /// Asking for more than one needs takes nothing from others.
    Overclaiming,
    /// Nothing is idle that somebody could use.
    Pareto,
    /// Going by several names does not pay, when they share one weight.
    FalseNames,
    /// Going by several names does not pay, when each has the whole weight.
    FullWeightNames,
    /// Nobody whose turn it is waits without end.
    BoundedWait,
    /// Asking for wider tasks, or for less time, does not pay.
    HonestShapes,
    /// Nobody would rather have held what another held.
    EnvyFreeness,
    /// What was lent and used can be had back, and nobody has less than alone.
    CreditFairness,
    /// Lying for a while does not pay afterwards.
    History,
}

/// What a case is compared with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Against {
    /// The same work with each tenant alone on its share.
    Alone,
    /// What is contributed: nothing else is run.
    Contribution,
    /// What could have run at the time: nothing else is run.
    Idle,
    /// The same tenant, lying.
    Lie,
    /// When it was served: nothing else is run.
    Turn,
    /// What others held: nothing else is run.
    Others,
    /// The same work with each tenant alone on its share, and who lent to whom.
    Lenders,
    /// The same tenant, lying for a while; what came later.
    Past,
}

impl Against {
    /// Whether a run with a lie is compared.
    pub(super) fn is_lie(self) -> bool {
        matches!(self, Against::Lie | Against::Past)
    }

    /// Whether a run alone on the shares is compared.
    pub(super) fn is_alone(self) -> bool {
        matches!(self, Against::Alone | Against::Lenders)
    }

    /// Whether what happened in the course of runs is looked at.
    pub(super) fn needs_course(self) -> bool {
        !matches!(self, Against::Alone | Against::Contribution | Against::Lie)
    }
}

/// A property's row.
pub struct PropertyRow {
    /// Which.
    pub property: Property,
    /// What users write.
    pub name: &'static str,
    /// Its name in the papers, or ours.
    pub title: &'static str,
    /// What a positive value means, in words.
    pub means: &'static str,
    /// Whether TSC'18 Table 2 marks it for MLRF, LTRF and H-LTRF; `None`: not in the papers.
    pub table_2: Option<[bool; 3]>,
    pub(super) against: Against,
    /// What the liar may do.
    pub(super) lies: &'static [LieKind],
}

/// All properties, in the order in which they are shown.
pub const PROPERTIES: &[PropertyRow] = &[
    PropertyRow {
        property: Property::SharingIncentive,
        name: "sharing-incentive",
        title: "sharing incentive",
        means: "work that a tenant would have done by then alone on its share, and has not",
        table_2: Some([true, true, true]),
        against: Against::Alone,
        lies: &[],
    },
    PropertyRow {
        property: Property::WorkloadIncentive,
        name: "workload-incentive",
        title: "cost-efficient workload incentive",
        means: "useful work that a tenant gains by running useless tasks",
        table_2: Some([false, true, true]),
        against: Against::Lie,
        lies: &[LieKind::Useless],
    },
    PropertyRow {
        property: Property::Contribution,
        name: "contribution",
        title: "resource-as-you-contributed fairness",
        means: "what a tenant still lacks of its contribution when all debts could be settled",
        table_2: Some([false, true, true]),
        against: Against::Contribution,
        lies: &[],
    },
    PropertyRow {
        property: Property::StrategyProofness,
        name: "strategy-proofness",
        title: "strategy-proofness",
        means: "useful work that a tenant gains by lying about its demand",
        table_2: Some([false, true, true]),
        against: Against::Lie,
        lies: &[LieKind::Later, LieKind::Useless],
    },
    PropertyRow {
        property: Property::Overclaiming,
        name: "overclaiming",
        title: "strategy-proofness, in what is received",
        means: "what a tenant takes from others by asking for more than it needs",
        table_2: Some([false, true, true]),
        against: Against::Lie,
        lies: &[LieKind::Useless],
    },
    PropertyRow {
        property: Property::Pareto,
        name: "pareto",
        title: "Pareto efficiency",
        means: "capacity left idle while a task waited that would have fitted",
        table_2: Some([true, true, true]),
        against: Against::Idle,
        lies: &[],
    },
    PropertyRow {
        property: Property::FalseNames,
        name: "false-names",
        title: "false names, one weight",
        means: "useful work that a tenant gains by two queues with one weight, or by coming back \
            under a new name",
        table_2: None,
        against: Against::Lie,
        lies: &[LieKind::SplitWeight, LieKind::Rejoin],
    },
    PropertyRow {
        property: Property::FullWeightNames,
        name: "full-weight-names",
        title: "false names, full weight each",
        means: "useful work that a tenant gains by a second queue of the same weight",
        table_2: None,
        against: Against::Lie,
        lies: &[LieKind::SplitFull],
    },
    PropertyRow {
        property: Property::BoundedWait,
        name: "bounded-wait",
        title: "bounded wait",
        means: "time for which a tenant waits at a stretch that holds nothing and has used least",
        table_2: None,
        against: Against::Turn,
        lies: &[],
    },
    PropertyRow {
        property: Property::HonestShapes,
        name: "honest-shapes",
        title: "strategy-proofness of widths and limits",
        means: "useful work that a tenant gains by asking for wider tasks or for less time",
        table_2: None,
        against: Against::Lie,
        lies: &[LieKind::Wider, LieKind::ShortLimit],
    },
    PropertyRow {
        property: Property::EnvyFreeness,
        name: "envy-freeness",
        title: "envy-freeness over time",
        means: "work that a tenant would have done by then with what another held, by their shares",
        table_2: None,
        against: Against::Others,
        lies: &[],
    },
    PropertyRow {
        property: Property::CreditFairness,
        name: "credit-fairness",
        title: "credit fairness",
        means: "what a tenant lacks of its share alone, or has lent and not got back from debtors \
            that held slots meanwhile",
        table_2: None,
        against: Against::Lenders,
        lies: &[],
    },
    PropertyRow {
        property: Property::History,
        name: "history",
        title: "strategy-proofness of history",
        means: "useful work that a tenant gains later by having lied before, less what it lost",
        table_2: None,
        against: Against::Past,
        lies: &[LieKind::Useless, LieKind::Forgo],
    },
];

impl Property {
    /// Why it says nothing about tasks of this kind, where that is so.
    pub(super) fn does_not_apply(self, tasks: Tasks) -> Option<&'static str> {
        let what = "what a tenant could do with another's slots depends on how its tasks fit into \
                    them, and not on their number alone";
        (self == Property::EnvyFreeness && tasks == Tasks::Whole).then_some(what)
    }

    /// Its row.
    pub fn row(self) -> &'static PropertyRow {
        PROPERTIES.iter().find(|row| row.property == self).expect("every property has a row")
    }

    /// The property that users call `name`.
    pub fn named(name: &str) -> Option<Property> {
        PROPERTIES.iter().find(|row| row.name == name).map(|row| row.property)
    }
}
