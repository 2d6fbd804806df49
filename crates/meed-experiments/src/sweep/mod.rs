//! One scenario at every combination of some settings, under some policies, over some seeds (`meed
//! sweep`).
//!
//! | module | what |
//! |---|---|
//! | `values` | lists and ranges as people write them: `1h,6h,24h`, `1..10 step 1`, `1..1000 log 4` |
//! | [`grid`] | settings to points: the cartesian product, each point checked before any runs |
//! | [`journal`] | finished points on disk, so that a sweep that was stopped goes on where it was |
//! | `gains` | what each setting gains against a baseline |
//! | [`results`] | what is measured at each point, as CSV |
//! | [`summary`] | points over their seeds; the best and the worst |
//! | [`page`] | the report |
//!
//! Invariants: the results depend on scenario, settings, policies and seeds alone. They are the
//! same to the byte for any number of threads, in whatever order points finish, and whether a sweep
//! was stopped in between or not. Cost: one simulation per point; all cores; memory for one run per
//! thread, and one row of text per point.

mod gains;
pub mod grid;
pub mod journal;
pub mod page;
pub mod results;
pub mod summary;
#[cfg(test)]
mod tests;
pub(crate) mod values;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;

use meed_scenario::{Setting, TraceReading};
use meed_sim::{SimulateError, SimulateOptions, Unwatched, simulate};

pub use grid::{Axis, Grid, Point};
pub use journal::SweepJournal;
pub use results::{Results, Row};

use crate::cores;
pub use crate::error::{JournalError, SweepError};

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub struct SweepRequest {
    /// Scenario or trace.
    pub scenario: PathBuf,
    /// Changes to the scenario that hold at every point.
    pub settings: Vec<Setting>,
    /// The settings that vary, as `KEY=VALUES`.
    pub over: Vec<String>,
    /// Policies, as words of `--policy`; [`DEFAULT_POLICIES`] when there are none.
    pub policies: Vec<String>,
    /// What all are compared with, where somebody names it: a policy or a rival.
    pub baseline: Option<String>,
    /// How many seeds, at least 1.
    pub seeds: u64,
    /// The first of them; the scenario's own when not given.
    pub first_seed: Option<u64>,
    /// How the trace is read: what a wrong line stops, a refused job stops as well.
    pub reading: TraceReading,
}

/// What is run when no policy is named: what most keys of a policy change, and what does not
/// remember to compare with.
pub const DEFAULT_POLICIES: [&str; 2] = ["fair", "long-term"];

/// Runs all points of `grid` that `journal` does not hold yet, on `threads` threads (0: one per
/// core), and returns the results of all. `done` is told the number of finished points after each.
pub fn run(
    grid: &Grid,
    journal: Option<SweepJournal>,
    threads: usize,
    done: &(dyn Fn(usize) + Sync),
) -> Result<Results, SweepError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|why| SweepError::Threads { threads, why: why.to_string() })?;
    let finished = journal.as_ref().map(|journal| journal.finished().clone()).unwrap_or_default();
    let pending: Vec<&Point> =
        grid.points.iter().filter(|point| !finished.contains_key(&point.number)).collect();
    done(finished.len());
    let state = Mutex::new(State { rows: finished, journal });
    pool.install(|| {
        cores::map(&pending, |point| {
            let cells = measure(grid, point)?;
            let mut state = state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            if let Some(journal) = &mut state.journal {
                journal.append(point.number, &cells)?;
            }
            state.rows.insert(point.number, cells);
            done(state.rows.len());
            Ok::<_, SweepError>(())
        })
    })?;
    let state = state.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    Ok(Results::new(grid, state.rows))
}

struct State {
    rows: BTreeMap<usize, Vec<String>>,
    journal: Option<SweepJournal>,
}

/// Runs one point.
fn measure(grid: &Grid, point: &Point) -> Result<Vec<String>, SweepError> {
    let fail =
        |source: SimulateError| SweepError::Run { at: grid.words(point), source: Box::new(source) };
    let options = SimulateOptions {
        policies: vec![point.policy.clone()],
        seed: Some(point.seed),
        series_points: 0,
        strict: grid.strict,
        keep_jobs: true,
    };
    let scenario = &grid.scenarios[point.scenario];
    if let Some(baseline) = grid.baseline.as_ref().filter(|order| order.words == point.policy) {
        let run = baseline.run(scenario, point.seed, grid.strict)?;
        return Ok(results::measure(&run, &grid.resources));
    }
    let comparison = simulate(scenario, &options, None, &mut Unwatched).map_err(fail)?;
    // One policy was asked for.
    Ok(comparison
        .runs
        .first()
        .map(|run| results::measure(run, &grid.resources))
        .unwrap_or_default())
}
