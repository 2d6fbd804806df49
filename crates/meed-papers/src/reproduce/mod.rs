//! The papers' tables, examples and figures, measured and set beside what was printed (`meed
//! reproduce`).
//!
//! To add an item: a function in a file of its own under `items/` (one idea each), and a row in
//! [`ITEMS`].
//!
//! An item runs what the paper ran, reads off the same quantities, and says for each whether it
//! came out. A difference is a result, not an error: it is shown with the likely reason.

mod bounds;
mod items;
pub mod markdown;
mod outcome;
mod report;
mod standing;

pub use items::ITEMS;
pub use outcome::{Again, Check, ItemOutcome, Measured, Spread, Verdict};
pub use report::{Cost, Done, page, summary_page, to_json};

use std::path::PathBuf;

/// One table, example or figure of a paper.
pub struct Item {
    /// What users write: `tsc-fig7`.
    pub id: &'static str,
    /// What it is about, in a few words.
    pub title: &'static str,
    /// Where it is printed: "TSC'18 Fig. 7".
    pub source: &'static str,
    /// Measures it.
    pub run: fn(&Context) -> Result<ItemOutcome, ReproduceError>,
}

impl Item {
    /// Whether it runs only when it is named: `all` leaves it out.
    pub fn only_by_name(&self) -> bool {
        items::ONLY_BY_NAME.contains(&self.id)
    }
}

/// What an item may depend on: nothing else, so that the same command gives the same result.
#[derive(Clone, Debug)]
pub struct Context {
    /// Folder with the real traces (docs/real-traces.md), where the user has them.
    pub traces: Option<PathBuf>,
    /// Seeds over which random workloads are repeated, at least 1.
    pub seeds: u64,
    /// The first of them.
    pub first_seed: u64,
    /// Long runs that several items read, each made once.
    shared: items::Shared,
}

impl Context {
    /// With nothing run yet.
    pub fn new(traces: Option<PathBuf>, seeds: u64, first_seed: u64) -> Context {
        Context { traces, seeds: seeds.max(1), first_seed, shared: items::Shared::default() }
    }

    /// The seeds.
    fn seeds(&self) -> impl Iterator<Item = u64> {
        (0..self.seeds).map(|number| self.first_seed.wrapping_add(number))
    }
}

/// Why an item could not be measured.
#[derive(Debug, thiserror::Error)]
pub enum ReproduceError {
    /// A run failed.
    #[error(transparent)]
    Simulate(#[from] meed_sim::SimulateError),
    /// A scenario of ours could not be read.
    #[error(transparent)]
    Load(#[from] meed_scenario::LoadError),
    /// A trace could not be read.
    #[error(transparent)]
    Trace(#[from] meed_workload::TraceError),
    /// The engine refused a configuration of ours.
    #[error(transparent)]
    Config(#[from] meed::ConfigError),
    /// A run failed.
    #[error(transparent)]
    Run(#[from] meed_sim::world::RunError),
    /// A pool of ours cannot be shared out.
    #[error(transparent)]
    Allocate(#[from] meed_level::InputError),
}

/// The items called `ids`, in the order of [`ITEMS`]; for none, or for `all`, all of them but those
/// that run only when they are named. An unknown name gives that name.
pub fn select(ids: &[String]) -> Result<Vec<&'static Item>, String> {
    if let Some(unknown) =
        ids.iter().find(|id| *id != "all" && ITEMS.iter().all(|item| item.id != **id))
    {
        return Err(unknown.clone());
    }
    let all = ids.is_empty() || ids.iter().any(|id| id == "all");
    let wanted = |item: &&Item| all && !item.only_by_name() || ids.iter().any(|id| id == item.id);
    Ok(ITEMS.iter().filter(wanted).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What was printed to the digit comes out to the digit.
    #[test]
    fn worked_examples_are_the_same() {
        let context = Context::new(None, 5, 0);
        for id in [
            "ics-table1",
            "cloudcom-fig1",
            "cloudcom-table1",
            "cloudcom-fig4",
            "tsc-fig2",
            "tsc-choice",
            "tsc-theorem1",
            "drfh-fig1",
            "drfh-fig4",
            "drfh-prop4",
            "drfh-eq9",
        ] {
            let item = select(&[id.to_owned()]).expect("a known item")[0];
            let outcome = (item.run)(&context).expect("runs");
            assert!(!outcome.checks.is_empty(), "{id}");
            // Beside what is printed there may be what is not.
            let printed = outcome.checks.iter().filter(|check| check.verdict != Verdict::Measured);
            for check in printed {
                assert_eq!(check.verdict, Verdict::Same, "{id}: {check:?}");
            }
        }
    }

    #[test]
    fn names() {
        let check = |ids: &[&str], expected: Result<usize, &str>| {
            let ids: Vec<String> = ids.iter().map(|&id| id.to_owned()).collect();
            let found = select(&ids).map(|items| items.len());
            assert_eq!(found, expected.map_err(str::to_owned), "{ids:?}");
        };
        check(&[], Ok(ITEMS.len() - 1));
        check(&["all"], Ok(ITEMS.len() - 1));
        check(&["all", "jas-ablation"], Ok(ITEMS.len()));
        check(&["jas-ablation"], Ok(1));
        check(&["tsc-fig2", "ics-table1", "tsc-fig2"], Ok(2));
        check(&["tsc-fig2", "nonsense"], Err("nonsense"));
        let mut ids: Vec<&str> = ITEMS.iter().map(|item| item.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), ITEMS.len(), "a name twice");
    }
}
