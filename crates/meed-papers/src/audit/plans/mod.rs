//! Who gains by what under prices and plans: a search over random contributions, prices and demand
//! (`meed audit --plans`; docs/prices-and-plans.md has the formulas and the cases by hand).
//!
//! | module | what |
//! |---|---|
//! | [`problem`] | the research problems 1-1, 1-2, 2, 3, 4, I1: what each fixes of a case |
//! | [`property`] | what is asked of an order, what the liar may do, and the formulas |
//! | [`case`] | a few tenants, what each contributes when at which price, and when it has work |
//! | `options`, `result` | what is audited, and how hard; what was found, as programs read it |
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
mod options;
mod page;
pub mod problem;
pub mod property;
mod result;
mod search;
mod simpler;
mod story;
mod text;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod twin;

use std::sync::atomic::{AtomicUsize, Ordering};

pub use files::{replay_plans, write_plans};
pub use options::{PLAN_POLICIES, PlanOptions};
pub use page::{plans_page, plans_summary};
pub use problem::{PLAN_PROBLEMS, PlanProblem};
pub use property::{PLAN_PROPERTIES, PlanProperty};
pub use result::{PLANS_SCHEMA, PlanAudit, PlanCell, PlanCounterexample};

use super::error::AuditError;
use crate::cores;
use options::cannot_be_asked;

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
