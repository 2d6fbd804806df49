//! The properties of DRFH Sec. 3.3 and 4.5, put to the test for whole tasks on unequal servers: how
//! often a greedy policy misses each, by how much at worst, and the case that shows it (`meed audit
//! --pool`).
//!
//! | module | what |
//! |---|---|
//! | [`property`] | the properties and their measures |
//! | [`case`] | small pools of servers, users, claims; drawn, changed, made smaller |
//! | `run` | a case as a scenario file, and what a policy decides of it |
//! | `measure` | from decisions to a value |
//! | `search` | known and random cases, climbs, finer tasks, the worst made small |
//! | `page`, `replay` | the report; counterexamples as files |
//!
//! All users want more than there is and nothing runs: what is decided at that instant is the
//! allocation. Past usage is not part of it, so `long-term-drf` is judged as it begins. The exact
//! policies are judged by tests of `meed-level`.

pub mod case;
mod measure;
mod page;
pub mod property;
mod replay;
mod run;
mod search;

#[cfg(test)]
mod tests;

pub use page::{pool_page, pool_summary};
pub use property::{POOL_PROPERTIES, PoolProperty};
pub use replay::{replay_pool, write_pool};

use serde::Serialize;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::AuditError;
use crate::cores;
use case::PoolCase;

/// Version of the JSON form.
pub const POOL_SCHEMA: u32 = 1;

/// Policies that are audited when none is named.
pub const POOL_POLICIES: [&str; 8] = [
    "drf",
    "drf,placement=worst-fit",
    "drfh",
    "drfh,placement=cosine",
    "drfh,placement=power-of-two",
    "long-term-drf",
    "per-server-drf",
    "slots",
];

/// What is audited, and how hard.
#[derive(Clone, Debug)]
pub struct PoolOptions {
    /// Words of `--policy`.
    pub policies: Vec<String>,
    /// In the order of [`POOL_PROPERTIES`].
    pub properties: Vec<PoolProperty>,
    /// Random cases for each property and policy.
    pub trials: u32,
    /// Seed of all random choices.
    pub seed: u64,
}

/// All searches of one `meed audit --pool`.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PoolAudit {
    /// [`POOL_SCHEMA`].
    pub schema: u32,
    /// Tells it from an audit of tenants over time.
    pub pool: bool,
    /// Seed of all random choices.
    pub seed: u64,
    /// Random cases of each search.
    pub trials: u32,
    /// How many times finer the tasks of `showed_fine` are.
    pub fine: u32,
    /// Words of `--policy`.
    pub policies: Vec<String>,
    /// What was searched for.
    pub properties: Vec<PoolProperty>,
    /// One for each property and policy; in this order.
    pub cells: Vec<PoolCell>,
}

/// One search.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PoolCell {
    /// Of which property.
    pub property: PoolProperty,
    /// Under which policy.
    pub policy: String,
    /// Random cases.
    pub trials: u32,
    /// In how many of them somebody lacks more than one task.
    pub showed: u32,
    /// In how many of them, with finer tasks, somebody lacks more than whole tasks explain.
    pub showed_fine: u32,
    /// Mean over the random cases of the worst user's value, tasks as drawn, and finer.
    pub mean: f64,
    /// See `mean`.
    pub mean_fine: f64,
    /// Largest value met in the random and known cases with tasks as drawn, and finer.
    pub largest: f64,
    /// See `largest`.
    pub largest_fine: f64,
    /// The case that exceeds most what whole tasks explain, made small.
    pub counterexample: Option<PoolCounterexample>,
}

/// A violation.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PoolCounterexample {
    /// See [`property`].
    pub value: f64,
    /// What whole tasks explain of it.
    pub tolerance: f64,
    /// The user that it is about.
    pub user: String,
    /// Tasks that it runs.
    pub has: f64,
    /// Tasks that it could run.
    pub could: f64,
    /// In words.
    pub story: Vec<String>,
    /// The case itself.
    pub case: PoolCase,
}

/// Searches on all cores. `progress` is told how many of how many searches are done.
pub fn audit_pool(
    options: &PoolOptions,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<PoolAudit, AuditError> {
    // All names first: a typo in the last is told before the first is searched.
    let example = search::classics(PoolProperty::Pareto);
    for words in &options.policies {
        example.iter().take(1).try_for_each(|case| run::of_case(case, false, words).map(|_| ()))?;
    }
    let pairs: Vec<(PoolProperty, &String)> = options
        .properties
        .iter()
        .flat_map(|&property| options.policies.iter().map(move |words| (property, words)))
        .collect();
    let done = AtomicUsize::new(0);
    let cells = cores::map(&pairs, |(property, words)| {
        let cell = search::search(*property, words, options)?;
        progress(done.fetch_add(1, Ordering::Relaxed) + 1, pairs.len());
        Ok::<_, AuditError>(cell)
    })?;
    Ok(PoolAudit {
        schema: POOL_SCHEMA,
        pool: true,
        seed: options.seed,
        trials: options.trials,
        fine: search::FINE,
        policies: options.policies.clone(),
        properties: options.properties.clone(),
        cells,
    })
}
