//! What is asked of an order under prices and plans, and how it is measured.
//!
//! U_i: task-minutes of tenant i that are done by the end; alone: by its own contributions only.
//! A_i: those that its contributions could do while they are there, honest. P_i: what it pays.
//! W_i: what it received is worth, all money counted (column `worth` of the statement of account).
//! Honest and lying: the two runs.
//!
//! | property | value, above 0 against it | the lie |
//! |---|---|---|
//! | sharing incentive | max over i of (U_i(alone) - U_i) / A_i | |
//! | resource as you pay | max over i of (P_i - W_i) / P_i, where all always want everything | |
//! | holding back | (U_i(lying) - U_i) / A_i | work of one period comes in a later one |
//! | lending | (U_i(lying) - U_i - max(U_i(lying, alone) - U_i(alone), 0)) / A_i | contributes as long, but earlier, before it has work, what the same money pays for then |
//! | buying late | (U_i(lying) - U_i - (U_i(lying, alone) - U_i(alone))) / A_i | contributes the last part of its time only |
//! | splitting | (U_i(lying) - U_i) / A_i | a second name has the work of some periods, and some of the instances or none |
//! | dear prices | (U_i(lying) - U_i) / A_i | pays several times as much, and is given it back outside |
//! | driving prices | (U_i(lying) - U_i) / A_i | the market's price of one period is several times as high, for all who pay it |
//!
//! With unequal instances (I1) all differences of U / A are taken twice: of task-minutes, and of
//! them weighted by the instance on which they ran, where A_i is weighted by i's own. The smaller
//! counts: no exchange rate between the two explains it. Of splitting only the first is known, for
//! a name that gives nothing has no account.
//!
//! Of lending only counts what others give: where the earlier instances stay until its work comes,
//! what they do for it alone is no gain. Buying late loses work alone; what is not lost among
//! others counts.
//!
//! Alone a tenant has nothing to run on before its contributions begin and after they end. Work
//! that comes while there is no instance at all waits outside, and comes with the first; where none
//! comes any more it is never done. So U_i(alone) is what its instances do while they are there,
//! and is never above A_i.

use serde::{Deserialize, Serialize};

use super::problem::PlanProblem;

/// What is asked of an order under prices and plans. A value above 0 speaks against it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlanProperty {
    /// Nobody receives less than alone.
    SharingIncentive,
    /// What all receive is worth what they paid, when all always want everything.
    AsYouPay,
    /// Holding work back does not pay.
    HoldingBack,
    /// Buying cheap instances to lend them does not pay.
    Lending,
    /// Buying late costs as much work as it would alone.
    BuyingLate,
    /// A second name does not pay.
    Splitting,
    /// Paying more on paper does not pay.
    DearPrices,
    /// Driving up the market's price does not pay.
    DrivingPrices,
}

/// A property's row.
pub struct PlanRow {
    /// Which.
    pub property: PlanProperty,
    /// What users write.
    pub name: &'static str,
    /// In words.
    pub means: &'static str,
}

const fn row(property: PlanProperty, name: &'static str, means: &'static str) -> PlanRow {
    PlanRow { property, name, means }
}

/// All properties, in the order in which they are shown.
pub const PLAN_PROPERTIES: &[PlanRow] = &[
    row(
        PlanProperty::SharingIncentive,
        "sharing-incentive",
        "what a tenant would have received from its own contributions alone, and has not",
    ),
    row(
        PlanProperty::AsYouPay,
        "as-you-pay",
        "what a tenant has paid for and not received, while all always wanted everything",
    ),
    row(PlanProperty::HoldingBack, "holding-back", "what a tenant gains by submitting work later"),
    row(
        PlanProperty::Lending,
        "lending",
        "what a tenant gains, beyond what it would alone, by the same money for earlier instances",
    ),
    row(
        PlanProperty::BuyingLate,
        "buying-late",
        "work that a tenant keeps when it contributes later, and would lose alone",
    ),
    row(PlanProperty::Splitting, "splitting", "what a tenant gains by a second name"),
    row(
        PlanProperty::DearPrices,
        "dear-prices",
        "what a tenant gains by paying more that it is given back outside",
    ),
    row(
        PlanProperty::DrivingPrices,
        "driving-prices",
        "what a tenant gains when the market's price of one period rises for all who pay it",
    ),
];

impl PlanProperty {
    /// Its row.
    pub fn row(self) -> &'static PlanRow {
        PLAN_PROPERTIES.iter().find(|row| row.property == self).expect("every property has a row")
    }

    /// The property that users call `name`.
    pub fn named(name: &str) -> Option<PlanProperty> {
        PLAN_PROPERTIES.iter().find(|row| row.name == name).map(|row| row.property)
    }

    /// Whether a run with a lie is compared.
    pub(super) fn lies(self) -> bool {
        !matches!(self, PlanProperty::SharingIncentive | PlanProperty::AsYouPay)
    }

    /// Whether runs alone are compared.
    pub(super) fn is_alone(self) -> bool {
        matches!(
            self,
            PlanProperty::SharingIncentive | PlanProperty::Lending | PlanProperty::BuyingLate
        )
    }

    /// Whether it can be asked of a problem: a price that stays cannot be driven.
    pub(super) fn applies(self, problem: PlanProblem) -> bool {
        self != PlanProperty::DrivingPrices || problem.moves()
    }
}
