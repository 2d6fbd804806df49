//! From a log to a setting (`meed advise`): which memory serves stated aims best, how sure that is,
//! and what it is called in the configuration of other schedulers.
//!
//! | module | what |
//! |---|---|
//! | [`aims`] | the figures that can be an aim or bounded, and what is asked of them |
//! | [`choice`] | which candidate is chosen, and which others are as good |
//! | [`memory`] | how a candidate remembers, read from its words |
//! | [`settings`] | the same memory in the words of other schedulers, a row each |
//! | [`page`] | the answer for people |
//!
//! One log is one draw of chance. So each candidate is run at several loads: the same jobs, a
//! little faster or slower ([`meed_workload::stretch`]). A candidate is believed to be better than
//! another where it is better at each of them, compared load by load; all else is called chance.
//!
//! Cost: candidates x loads x seeds simulations, on all cores, by [`crate::sweep`].

pub mod aims;
pub mod choice;
pub mod memory;
pub mod page;
pub mod settings;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use meed_sim::scenario::Scenario;
use meed_workload::OnBadLine;
use meed_workload::stretch::Load;

use crate::sweep::{self, Grid, Results, SweepError, SweepRequest};
pub use aims::Aims;
pub use choice::Advice;

/// What every candidate is compared with: sharing without a memory.
pub const BASELINE: &str = "fair";

/// The memories that are tried when none are named: half-lives in about equal ratios, rounds that
/// people settle accounts by, and memory without end.
pub const CANDIDATES: [&str; 12] = [
    "long-term,half_life=1h",
    "long-term,half_life=6h",
    "long-term,half_life=12h",
    "long-term,half_life=1d",
    "long-term,half_life=2d",
    "long-term,half_life=7d",
    "long-term,half_life=14d",
    "long-term,half_life=30d",
    "long-term,round=1d",
    "long-term,round=7d",
    "long-term,round=30d",
    "long-term",
];

/// The loads that are run when none are named, against the log's own, in thousandths.
pub const LOADS: [u32; 3] = [970, 1000, 1030];

/// What is asked for.
#[derive(Clone, Debug)]
pub struct AdviceRequest {
    /// Trace or scenario.
    pub log: PathBuf,
    /// Changes of the scenario.
    pub sets: Vec<String>,
    /// The candidates; [`CANDIDATES`] when there are none.
    pub policies: Vec<String>,
    /// In thousandths of the log's own load; [`LOADS`] when there are none.
    pub loads: Vec<u32>,
    /// How many seeds, at least 1.
    pub seeds: u64,
    /// What is wanted.
    pub aims: Aims,
    /// Whether a wrong line or a refused job stops all.
    pub strict: bool,
}

/// A request whose scenarios and policies were read and found right.
pub struct Question {
    aims: Aims,
    grid: Grid,
    /// As named, the baseline first.
    candidates: Vec<String>,
    loads: usize,
}

impl Question {
    /// Reads everything; nothing is run.
    pub fn prepare(request: &AdviceRequest) -> Result<Question, SweepError> {
        let on_bad_line = if request.strict { OnBadLine::Stop } else { OnBadLine::Skip };
        let own =
            Scenario::load_any(&request.log, &request.sets, on_bad_line).map_err(|source| {
                SweepError::Load { at: "the log".to_owned(), source: Box::new(source) }
            })?;
        let factors = if request.loads.is_empty() { &LOADS[..] } else { &request.loads };
        let loads = factors
            .iter()
            .map(|&factor| scaled(own.load_factor(), factor))
            .collect::<Result<Vec<_>, _>>()?;
        let candidates = candidates(&request.policies)?;
        let grid = Grid::prepare(&SweepRequest {
            scenario: request.log.clone(),
            sets: request.sets.clone(),
            over: vec![format!("load={}", loads.join(","))],
            policies: candidates.clone(),
            seeds: request.seeds,
            first_seed: None,
            strict: request.strict,
        })?;
        Ok(Question { aims: request.aims.clone(), grid, candidates, loads: loads.len() })
    }

    /// The simulations that answer it.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// What is wanted.
    pub fn aims(&self) -> &Aims {
        &self.aims
    }

    /// How many loads are run.
    pub fn loads(&self) -> usize {
        self.loads
    }

    /// Runs all on `threads` threads (0: one per core), and weighs what comes out. `done` is told
    /// the number of finished simulations after each.
    pub fn answer(
        &self,
        threads: usize,
        done: &(dyn Fn(usize) + Sync),
    ) -> Result<(Advice, Results), SweepError> {
        let results = sweep::run(&self.grid, None, threads, done)?;
        Ok((choice::weigh(&self.aims, &self.candidates, &results), results))
    }
}

/// The baseline, then the candidates.
fn candidates(named: &[String]) -> Result<Vec<String>, SweepError> {
    let all: Vec<String> = match named.is_empty() {
        true => CANDIDATES.map(str::to_owned).to_vec(),
        false => named.iter().filter(|name| *name != BASELINE).cloned().collect(),
    };
    if all.is_empty() {
        return Err(SweepError::Settings(format!(
            "--policy {BASELINE} is what all are compared with; name another, as in \
             long-term,half_life=7d"
        )));
    }
    Ok(std::iter::once(BASELINE.to_owned()).chain(all).collect())
}

/// `own` times `factor`, both in thousandths, as `run.load` takes it.
pub(crate) fn scaled(own: Load, factor: u32) -> Result<String, SweepError> {
    let product = u64::from(own.thousandths()) * u64::from(factor) / 1000;
    let load = u32::try_from(product).ok().and_then(Load::from_thousandths);
    let load = load.ok_or_else(|| {
        SweepError::Settings(format!(
            "--loads: {} times the log's own load of {} is not between 0.001 and 1000",
            f64::from(factor) / 1000.0,
            f64::from(own.thousandths()) / 1000.0
        ))
    })?;
    Ok((f64::from(load.thousandths()) / 1000.0).to_string())
}
