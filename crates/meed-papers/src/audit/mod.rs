//! The properties of TSC'18 Table 2, put to the test: a search for a counterexample to each, under
//! each policy (`meed audit`).
//!
//! | module | what |
//! |---|---|
//! | [`property`] | the properties and their exact measures |
//! | `options`, `error` | which orders are audited, and how hard; why an audit could not be made |
//! | [`case`] | small shared clusters, demands, lies; what whole tasks may explain |
//! | `draft`, `ground` | a case as a run and as a scenario file; a policy resolved once |
//! | `measure`, `idle`, `starved`, `envy`, `credit`, `past` | from runs to a value |
//! | `random`, `classics`, `search`, `shrink` | the search |
//! | `proofs` | where a property holds by proof, with the proof's words |
//! | `replay` | counterexamples as files, and files evaluated again to the same number |
//! | `page` | the report |
//! | [`plans`] | another search: prices, plans and payments (docs/prices-and-plans.md) |
//! | [`pool`] | another search: greedy policies on unequal servers (DRFH Sec. 3.3) |
//!
//! A search can find counterexamples; it cannot prove that there are none. "None found" says only
//! that.

pub mod case;
mod case_file;
mod classics;
mod course;
mod credit;
mod draft;
mod envy;
mod error;
mod ground;
mod idle;
mod measure;
mod options;
mod page;
mod past;
pub mod plans;
pub mod pool;
mod proofs;
pub mod property;
mod random;
mod replay;
mod result;
mod search;
mod shrink;
mod starved;

#[cfg(test)]
mod orders_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod twin;

pub use case::Tasks;
pub use case_file::{CaseKind, ReplayedCase};
pub use error::AuditError;
pub use options::{AuditOptions, DEFAULT_POLICIES, DEFAULT_TRIALS, all_orders};
pub use page::{page, summary_page};
pub use property::{PROPERTIES, Property};
pub use replay::{replay, write_counterexamples};
pub use result::{Audit, AuditCell, AuditVerdict, Counterexample, SCHEMA};

use std::sync::atomic::{AtomicUsize, Ordering};

use ground::Ground;
use options::cannot_be_audited;
use search::Search;

use crate::cores;

/// Searches for counterexamples on all cores. `progress` is told how many of how many halves of
/// searches are done.
pub fn audit(
    options: &AuditOptions,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Audit, AuditError> {
    let alone = Ground::of(meed_scenario::STATIC)?;
    // All names first: a typo in the last is told before the first is searched.
    let ground = |words: &String| match cannot_be_audited(words) {
        Some(_) => Ok(None),
        None => Ground::of(words).map(Some),
    };
    let grounds = options.policies.iter().map(ground).collect::<Result<Vec<_>, _>>()?;
    let mut searches = Vec::new();
    for &tasks in &options.tasks {
        for &property in &options.properties {
            let applies = property.does_not_apply(tasks).is_none();
            let search =
                |ground| Search { property: property.row(), tasks, ground, alone: &alone, options };
            searches.extend(grounds.iter().flatten().filter(|_| applies).map(search));
        }
    }
    let found = find(&searches, progress)?;
    Ok(Audit {
        schema: SCHEMA,
        seed: options.seed,
        trials: options.trials,
        steps: options.steps(),
        policies: options.policies.clone(),
        properties: options.properties.clone(),
        cells: laid_out(options, found),
    })
}

/// What all searches find, in their order.
fn find(
    searches: &[Search<'_>],
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Vec<AuditCell>, AuditError> {
    let done = AtomicUsize::new(0);
    let tick = || progress(done.fetch_add(1, Ordering::Relaxed) + 1, 2 * searches.len());
    let sampled = cores::map(searches, |search| search.sample().inspect(|_| tick()))?;
    let with_own: Vec<(&Search<'_>, _)> = searches.iter().zip(&sampled).collect();
    cores::map(&with_own, |(search, own)| {
        let others: Vec<_> = searches
            .iter()
            .zip(&sampled)
            .filter(|(other, _)| other.is_like(search))
            .map(|(_, all)| all)
            .collect();
        let found = search.finish(own, &others)?;
        tick();
        Ok::<_, AuditError>(result::cell(
            search.property.property,
            search.tasks,
            search.ground,
            found,
        ))
    })
}

/// Cells by kind of tasks, property and policy: what was found, and where nothing can be.
fn laid_out(options: &AuditOptions, found: Vec<AuditCell>) -> Vec<AuditCell> {
    let mut found = found.into_iter();
    let mut cells = Vec::new();
    for &tasks in &options.tasks {
        for &property in &options.properties {
            for policy in &options.policies {
                let why = cannot_be_audited(policy).or(property.does_not_apply(tasks));
                cells.extend(match why {
                    Some(why) => Some(result::does_not_apply(property, tasks, policy, why)),
                    None => found.next(),
                });
            }
        }
    }
    cells
}
