//! What an audit of prices and plans found, as programs read it (docs/json.md).

use serde::Serialize;

use super::case::PlanCase;
use super::problem::PlanProblem;
use super::property::PlanProperty;

/// Version of the JSON form.
pub const PLANS_SCHEMA: u32 = 1;

/// All searches of one `meed audit --plans`.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PlanAudit {
    /// [`PLANS_SCHEMA`].
    pub schema: u32,
    /// Tells it from other audits.
    pub plans: bool,
    /// Seed of all random choices.
    pub seed: u64,
    /// Random cases of each search.
    pub trials: u32,
    /// Words of `--policy`.
    pub policies: Vec<String>,
    /// Under which problems.
    pub problems: Vec<PlanProblem>,
    /// What was searched for.
    pub properties: Vec<PlanProperty>,
    /// One for each problem, property that applies, and policy; in this order.
    pub cells: Vec<PlanCell>,
}

/// One search.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PlanCell {
    /// Of which property.
    pub property: PlanProperty,
    /// Under which problem.
    pub problem: PlanProblem,
    /// Under which policy.
    pub policy: String,
    /// Random cases.
    pub trials: u32,
    /// How many of them showed a violation.
    pub showed: u32,
    /// Mean value over them.
    pub mean: f64,
    /// The worst violation, made small.
    pub counterexample: Option<PlanCounterexample>,
}

/// A violation.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PlanCounterexample {
    /// See [`super::property`].
    pub value: f64,
    /// What whole tasks and ticks explain of it.
    pub tolerance: f64,
    /// The tenant that it is about.
    pub tenant: String,
    /// In words.
    pub story: Vec<String>,
    /// The case itself.
    pub case: PlanCase,
}
