//! Who gains by what under prices and plans: a search over random contributions, prices and demand
//! (`meed audit --plans`; docs/prices-and-plans.md has the formulas and the cases by hand).
//!
//! | module | what |
//! |---|---|
//! | [`problem`] | the research problems 1-1, 1-2, 2, 3, 4, I1: what each fixes of a case |
//! | [`property`] | what is asked of an order, what the liar may do, and the formulas |
//! | [`case`] | a few tenants, what each contributes when at which price, and when it has work |
//! | `known`, `simpler` | cases by hand; simpler ones of a case |
//! | `text`, `story` | a case as a scenario, and in words |
//! | `measure` | from scenarios, run, to a value |
//! | `search` | random cases, climbs, finer tasks, the worst made small |
//! | `page`, `files` | the tables; counterexamples as files |
//!
//! A search can find counterexamples; it cannot prove that there are none. The same seed gives the
//! same result, on any number of threads.

pub mod case;
mod files;
mod known;
mod measure;
mod page;
pub mod problem;
pub mod property;
mod search;
mod simpler;
mod story;
mod text;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod twin;

use std::sync::atomic::{AtomicUsize, Ordering};

use meed_config::policy::SLOTS;
use meed_experiments::rivals::TOLD;
use meed_scenario::STATIC;
use serde::Serialize;

pub use files::{replay_plans, write_plans};
pub use page::{plans_page, plans_summary};
pub use problem::{PLAN_PROBLEMS, PlanProblem};
pub use property::{PLAN_PROPERTIES, PlanProperty};

use super::AuditError;
use crate::cores;
use case::PlanCase;

/// Version of the JSON form.
pub const PLANS_SCHEMA: u32 = 1;

/// How much finer tasks are at most.
const FINEST: u32 = 3;

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
    /// In the order of [`PLAN_PROBLEMS`].
    pub problems: Vec<PlanProblem>,
    /// In the order of [`PLAN_PROPERTIES`].
    pub properties: Vec<PlanProperty>,
    /// Random cases for each problem, property and policy.
    pub trials: u32,
    /// Seed of all random choices.
    pub seed: u64,
}

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
    /// See [`property`].
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

/// Why an order cannot be searched for here, where that is so.
fn cannot_be_asked(name: &str) -> Option<&'static str> {
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

/// Searches on all cores. `progress` is told how many of how many searches are done.
pub fn audit_plans(
    options: &PlanOptions,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<PlanAudit, AuditError> {
    // All names first: a typo in the last is told before the first is searched.
    for words in &options.policies {
        let name = words.split(',').next().unwrap_or_default().trim();
        if let Some(what) = cannot_be_asked(name) {
            let file = format!("--policy {name}");
            return Err(AuditError::Case { file, what: what.to_owned() });
        }
        for problem in &options.problems {
            let example = known::known(*problem, PlanProperty::AsYouPay);
            measure::judge(PlanProperty::AsYouPay, &example[0], words)?;
        }
    }
    let mut searches = Vec::new();
    for &problem in &options.problems {
        for &property in options.properties.iter().filter(|property| property.applies(problem)) {
            searches.extend(options.policies.iter().map(|words| (property, problem, words)));
        }
    }
    let done = AtomicUsize::new(0);
    let cells = cores::map(&searches, |&(property, problem, words)| {
        let cell = search::search(property, problem, words, options)?;
        progress(done.fetch_add(1, Ordering::Relaxed) + 1, searches.len());
        Ok::<_, AuditError>(cell)
    })?;
    Ok(PlanAudit {
        schema: PLANS_SCHEMA,
        plans: true,
        seed: options.seed,
        trials: options.trials,
        policies: options.policies.clone(),
        problems: options.problems.clone(),
        properties: options.properties.clone(),
        cells,
    })
}
