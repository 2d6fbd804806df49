//! The properties of TSC'18 Table 2, put to the test: a search for a counterexample to each, under
//! each policy (`meed audit`).
//!
//! | module | what |
//! |---|---|
//! | [`property`] | the properties and their exact measures |
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
mod ground;
mod idle;
mod measure;
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
pub use page::{page, summary_page};
pub use property::{PROPERTIES, Property};
pub use replay::{replay, write_counterexamples};
pub use result::{Audit, AuditCell, AuditVerdict, Counterexample, SCHEMA};

use std::sync::atomic::{AtomicUsize, Ordering};

use ground::Ground;
use meed::{Measure, Policy};
use meed_config::policy::{SLOTS, orders};
use meed_experiments::rivals::TOLD;
use meed_experiments::rivals::table::{ParameterForm, RIVALS, Rival};
use meed_sim::AS_YOU_PAY;
use search::Search;

use crate::cores;

/// Policies that are audited when none is named. One minute is every unit task's length, so a
/// `quantum` of one minute is the ideal of a length that is known: what is found then is the rule's
/// own and not the estimate's.
pub const DEFAULT_POLICIES: [&str; 9] = [
    "static",
    "fifo",
    "fair",
    "long-term",
    "long-term,quantum=1min",
    "long-term,quantum=1min,round=10min",
    "long-term,quantum=1min,half_life=10min",
    "long-term,quantum=1min,newcomer=early-bird",
    "long-term,quantum=1min,t_wait=2min",
];

/// How long orders remember in an audit, where runs last minutes: as the long-term ones above.
const REMEMBERED: &str = "10min";
/// How often a rival ticks in an audit.
const RIVALS_CADENCE: &str = "1min";

/// All orders there are, each as it is audited: [`DEFAULT_POLICIES`], Meed's others, and the
/// rivals; every time that says how long something is remembered is ten minutes. An order that is
/// added to a table is one more.
pub fn all_orders() -> Vec<String> {
    let rival = |rival: &Rival| {
        let times = rival.parameters.iter().filter(|one| one.form == ParameterForm::Time);
        let times = times.map(|time| format!(",{}={REMEMBERED}", time.name));
        format!("{}{},cadence={RIVALS_CADENCE}", rival.name, times.collect::<String>())
    };
    let known = |name: &&str| !DEFAULT_POLICIES.contains(name);
    let mut all = DEFAULT_POLICIES.map(str::to_owned).to_vec();
    all.extend(orders().filter(known).map(|name| match Policy::preset(name) {
        Some(policy) if policy.measure == Measure::Commitment => {
            format!("{name},half_life={REMEMBERED}")
        }
        _ => name.to_owned(),
    }));
    all.push(AS_YOU_PAY.to_owned());
    all.extend(RIVALS.iter().map(rival));
    all
}

/// Why no property can be searched for under an order, where that is so.
fn cannot_be_audited(policy: &str) -> Option<&'static str> {
    let name = policy.split(',').next().unwrap_or_default().trim();
    match name {
        SLOTS => Some("slots are a resource of their own; over one resource it is `fair`"),
        TOLD => Some("has no rule of its own: somebody tells it ranks, as the rivals do"),
        AS_YOU_PAY => Some(
            "serves tenants by what they contribute and pay; `meed audit --plans` searches under \
             it",
        ),
        _ => None,
    }
}

/// What is audited, and how hard.
#[derive(Clone, Debug)]
pub struct AuditOptions {
    /// Words of `--policy`.
    pub policies: Vec<String>,
    /// In the order of [`PROPERTIES`].
    pub properties: Vec<Property>,
    /// Kinds of tasks.
    pub tasks: Vec<Tasks>,
    /// Random cases for each property, policy and kind of tasks.
    pub trials: u32,
    /// Seed of all random choices.
    pub seed: u64,
}

impl AuditOptions {
    /// Steps of each climb.
    pub fn steps(&self) -> u32 {
        self.trials
    }
}

impl Default for AuditOptions {
    fn default() -> AuditOptions {
        AuditOptions {
            policies: DEFAULT_POLICIES.map(str::to_owned).to_vec(),
            properties: PROPERTIES.iter().map(|row| row.property).collect(),
            tasks: vec![Tasks::Unit, Tasks::Whole],
            trials: DEFAULT_TRIALS,
            seed: 0,
        }
    }
}

/// Random cases of each search, unless another number is asked for.
pub const DEFAULT_TRIALS: u32 = 120;

/// Why an audit could not be made.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// A run failed, or a policy's words are wrong.
    #[error(transparent)]
    Simulate(#[from] meed_sim::SimulateError),
    /// A file cannot be written, or is one that another output goes to.
    #[error(transparent)]
    Write(#[from] meed_files::GuardError),
    /// A run failed.
    #[error(transparent)]
    Run(#[from] meed_sim::world::RunError),
    /// A scenario could not be read.
    #[error(transparent)]
    Load(#[from] meed_scenario::LoadError),
    /// A workload or a file could not be made.
    #[error(transparent)]
    Trace(#[from] meed_workload::TraceError),
    /// The engine refused a configuration.
    #[error(transparent)]
    Config(#[from] meed::ConfigError),
    /// The exact allocation to compare with refused a case.
    #[error(transparent)]
    Level(#[from] meed_level::InputError),
    /// A log or a case is not what we write.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// A case that is to be replayed is wrong.
    #[error("{file}: {what}")]
    Case {
        /// Its file.
        file: String,
        /// What, and what would be right.
        what: String,
    },
    /// A file cannot be read or a folder cannot be made.
    #[error("{file}: {cause}")]
    File {
        /// Which.
        file: String,
        /// Why.
        cause: std::io::Error,
    },
}

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
