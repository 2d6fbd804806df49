//! What is audited under prices and plans, and how hard.

use meed_config::policy::SLOTS;
use meed_experiments::rivals::TOLD;
use meed_scenario::STATIC;

use super::problem::PlanProblem;
use super::property::PlanProperty;

/// Orders that are audited when none is named. Over one resource `drf` is `fair`, and
/// `long-term-drf` is `long-term`.
pub const PLAN_POLICIES: [&str; 5] = [
    "as-you-pay",
    "as-you-pay,value=resource",
    "as-you-pay,entitled=contributed",
    "drf",
    "long-term-drf",
];

/// What is audited, and how hard.
#[derive(Clone, Debug)]
pub struct PlanOptions {
    /// Words of `--policy`.
    pub policies: Vec<String>,
    /// In the order of [`PLAN_PROBLEMS`](super::PLAN_PROBLEMS).
    pub problems: Vec<PlanProblem>,
    /// In the order of [`PLAN_PROPERTIES`](super::PLAN_PROPERTIES).
    pub properties: Vec<PlanProperty>,
    /// Random cases for each problem, property and policy.
    pub trials: u32,
    /// Seed of all random choices.
    pub seed: u64,
}

/// Why an order cannot be searched for here, where that is so.
pub(super) fn cannot_be_asked(name: &str) -> Option<&'static str> {
    match name {
        STATIC => Some(
            "static partitions are what sharing is compared with: name an order that shares what \
             is contributed",
        ),
        SLOTS => Some("slots have no account of what was paid: name another order"),
        TOLD => Some("it has no rule of its own: name one that has"),
        _ => None,
    }
}
