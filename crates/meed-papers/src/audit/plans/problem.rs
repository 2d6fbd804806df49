//! The research problems of CloudCom'14 Sec. IV-C, and what each fixes of a case.
//!
//! | problem | prices | resources | instances |
//! |---|---|---|---|
//! | 1-1 | one, and it stays | one | equal |
//! | 1-2 | one, and it moves | one | equal |
//! | 2 | one, and it moves | two | equal |
//! | 3 | fixed ones beside one that moves | one | equal |
//! | 4 | fixed ones beside one that moves | two | equal |
//! | I1 | one, and it moves | one | of weights 1 to 3, as many times as dear |

use serde::{Deserialize, Serialize};

/// A research problem of CloudCom'14 Sec. IV-C: which prices, resources and instances there are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum PlanProblem {
    /// 1-1.
    #[serde(rename = "1-1")]
    FixedPrice,
    /// 1-2.
    #[serde(rename = "1-2")]
    MovingPrice,
    /// 2.
    #[serde(rename = "2")]
    SeveralResources,
    /// 3.
    #[serde(rename = "3")]
    MixedPlans,
    /// 4.
    #[serde(rename = "4")]
    MixedResources,
    /// I1.
    #[serde(rename = "I1")]
    UnequalInstances,
}

/// All problems by the names that users write, in the order in which they are shown.
pub const PLAN_PROBLEMS: [(&str, PlanProblem); 6] = [
    ("1-1", PlanProblem::FixedPrice),
    ("1-2", PlanProblem::MovingPrice),
    ("2", PlanProblem::SeveralResources),
    ("3", PlanProblem::MixedPlans),
    ("4", PlanProblem::MixedResources),
    ("I1", PlanProblem::UnequalInstances),
];

impl PlanProblem {
    /// What users write.
    pub fn name(self) -> &'static str {
        let row = PLAN_PROBLEMS.iter().find(|(_, problem)| *problem == self);
        row.map_or("", |(name, _)| name)
    }

    /// The problem that users call `name`.
    pub fn named(name: &str) -> Option<PlanProblem> {
        PLAN_PROBLEMS.iter().find(|row| row.0 == name).map(|row| row.1)
    }

    /// Whether the market's price moves.
    pub(super) fn moves(self) -> bool {
        self != PlanProblem::FixedPrice
    }

    /// Whether some pay a fixed price beside a market's.
    pub(super) fn is_mixed(self) -> bool {
        matches!(self, PlanProblem::MixedPlans | PlanProblem::MixedResources)
    }

    /// Names of the resources.
    pub(super) fn resources(self) -> &'static [&'static str] {
        match self {
            PlanProblem::SeveralResources | PlanProblem::MixedResources => &["cpu", "io"],
            _ => &["slot"],
        }
    }

    /// Of each resource, what an instance has.
    pub(super) fn instance(self) -> u32 {
        match self.resources().len() {
            1 => 1,
            _ => 6,
        }
    }

    /// Instances are contributed by so many.
    pub(super) fn step(self) -> u32 {
        match self.resources().len() {
            1 => 10,
            _ => 4,
        }
    }

    /// The largest weight of an instance.
    pub(super) fn heaviest(self) -> u32 {
        if self == PlanProblem::UnequalInstances { 3 } else { 1 }
    }
}
