//! What other schedulers would do with one's own log (`meed rivals`): their orders beside Meed's,
//! on one workload, under one placement.
//!
//! | module | what |
//! |---|---|
//! | `rule` | what a rival is: a ledger that ticks, and ranks |
//! | `rules` | a file for each |
//! | [`table`] | a row for each: cadence, parameters, source |
//! | `dominant` | what a rule that counts all resources sees |
//! | [`recorded`] | a rule over runs whose starts and ends are known |
//! | `teller` | a rule in a run: it looks at the engine, and tells ranks (`meed::Measure::Told`) |
//! | [`windows`] | how service spreads over an hour to a month |
//! | `lent` | how long it takes to get back what was lent |
//! | [`liars`] | what a tenant gains by lying, and who pays |
//! | [`figures`] | what is compared |
//! | [`page`] | the comparison for people and programs |
//!
//! Invariants: a run depends on the log, its changes, the order, the load and the seed alone, not
//! on threads. All orders meet the same jobs, nodes, placement and rule for what fits nowhere; only
//! who is served differs. Cost: orders x loads x seeds simulations, on all cores.

mod dominant;
pub mod figures;
mod lent;
pub mod liars;
pub mod page;
pub mod recorded;
mod rule;
mod rules;
pub mod table;
pub(crate) mod teller;
#[cfg(test)]
mod tests;
pub mod windows;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use meed::{QueueId, Rank, Span, Time, View};
use meed_scenario::{Scenario, Setting, TraceReading};
use meed_sim::record::RunRecord;
use meed_sim::world::{Attendant, WorldSetup};
use meed_sim::{SimulateError, Unwatched, run_one};

use crate::cores;
use crate::error::SweepError;
use crate::gain::with_baseline;
use crate::order::{BASELINE, NamedOrder};
use figures::{FIGURES, Observation, Replicates};
use liars::{LIES, Ledger, Liar, Lied, Lying};
use table::RIVALS;
pub use teller::{TOLD, Teller};
use windows::Windows;

/// Meed's orders that are run when none are named, before all rivals.
pub const OWN: [&str; 6] = [
    "fair",
    "long-term",
    "long-term,half_life=1d",
    "long-term,half_life=7d",
    "long-term,half_life=30d",
    "sdrf",
];

/// What is asked for.
#[derive(Clone, Debug)]
pub struct RivalsRequest {
    /// Trace or scenario.
    pub log: PathBuf,
    /// Changes of the scenario.
    pub settings: Vec<Setting>,
    /// Rivals and policies, as they are named; [`OWN`] and all rivals when there are none.
    pub orders: Vec<String>,
    /// What all are compared with, where somebody names it.
    pub baseline: Option<String>,
    /// In thousandths of the log's own load; the log's own when there are none.
    pub loads: Vec<u32>,
    /// How many seeds, at least 1.
    pub seeds: u64,
    /// How often all rivals tick, instead of their own cadences.
    pub cadence: Option<Span>,
    /// How many tenants lie, each by itself.
    pub liars: usize,
    /// How the log is read: what a wrong line stops, a refused job stops as well.
    pub reading: TraceReading,
}

/// A request whose scenarios and orders were read and found right.
pub struct Contest {
    /// The log.
    pub log: PathBuf,
    /// At each load.
    pub scenarios: Vec<Scenario>,
    /// In thousandths of the log's own.
    pub loads: Vec<u32>,
    /// The seeds.
    pub seeds: Vec<u64>,
    /// In the order of the page.
    pub contenders: Vec<NamedOrder>,
    /// Whether the first of them is what all are compared with.
    pub has_baseline: bool,
    /// How many tenants lie, each by itself, at the first load and seed.
    pub liars: usize,
    strict: bool,
}

/// What became of one contender.
pub struct Fared {
    /// Which.
    pub contender: NamedOrder,
    /// By [`FIGURES`]: over loads and seeds.
    pub figures: Vec<Option<Replicates>>,
    /// Mean waits of tenants in seconds at the log's first load and seed: the smallest, quartiles,
    /// the largest.
    pub waits: Option<[f64; 5]>,
    /// By [`LIES`]: what became of each liar.
    pub lies: Vec<Vec<Lied>>,
}

impl Contest {
    /// Reads everything; nothing is run.
    pub fn prepare(request: &RivalsRequest) -> Result<Contest, SweepError> {
        let load = |settings: &[Setting], at: String| {
            let read = Scenario::load_any(&request.log, settings, &request.reading);
            read.map_err(|source| SweepError::Load { at, source: Box::new(source) })
        };
        let own = load(&request.settings, "the log".to_owned())?;
        let contenders = contenders(request, &own)?;
        let first = own.seed;
        let loads = if request.loads.is_empty() { vec![1000] } else { request.loads.clone() };
        let whole = own.load_factor();
        let scenario = |&factor: &u32| {
            let factor = crate::advise::scaled(whole, factor)?;
            let settings = [&request.settings[..], &[Setting::load(factor)]].concat();
            load(&settings, format!("load {factor}"))
        };
        let scenarios = match request.loads.is_empty() {
            true => vec![own],
            false => loads.iter().map(scenario).collect::<Result<Vec<_>, _>>()?,
        };
        let last = request.seeds.checked_sub(1).and_then(|more| first.checked_add(more));
        let Some(last) = last else {
            let seeds = request.seeds;
            return Err(SweepError::Settings(format!("--seeds is {seeds}; at least 1 is needed")));
        };
        let seeds = (first..=last).collect();
        let (log, strict) = (request.log.clone(), request.reading.is_strict());
        // There are no more than there are tenants.
        let liars = request.liars.min(scenarios[0].queue_count());
        let has_baseline = request.baseline.is_some();
        let contest =
            Contest { log, scenarios, loads, seeds, contenders, has_baseline, liars, strict };
        for contender in &contest.contenders {
            contest.setup(contender, 0, contest.seeds[0])?;
        }
        Ok(contest)
    }

    /// How many simulations there are at most.
    pub fn runs(&self) -> usize {
        let truth = self.scenarios.len() * self.seeds.len();
        self.contenders.len() * (truth + self.liars * LIES.len())
    }

    /// Runs all on `threads` threads (0: one per core). `done` is told the number of finished
    /// simulations after each.
    pub fn run(
        &self,
        threads: usize,
        done: &(dyn Fn(usize) + Sync),
    ) -> Result<Vec<Fared>, SweepError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|why| SweepError::Threads { threads, why: why.to_string() })?;
        let points: Vec<(usize, usize, u64)> = (0..self.contenders.len())
            .flat_map(|who| (0..self.scenarios.len()).map(move |scenario| (who, scenario)))
            .flat_map(|(who, load)| self.seeds.iter().map(move |&seed| (who, load, seed)))
            .collect();
        let finished = AtomicUsize::new(0);
        let one_done = || done(finished.fetch_add(1, Ordering::Relaxed) + 1);
        let observed: Vec<Observation> = pool.install(|| {
            cores::map(&points, |&(who, scenario, seed)| {
                let seen = self.observe(&self.contenders[who], scenario, seed)?;
                one_done();
                Ok::<_, SweepError>(seen)
            })
        })?;
        let replicates = self.scenarios.len() * self.seeds.len();
        let truths: Vec<&Ledger> = observed.iter().step_by(replicates).map(|o| &o.ledger).collect();
        let liars = self.draw(truths.first().copied());
        let lies: Vec<Lied> = pool.install(|| {
            let points: Vec<(usize, &Liar)> = (0..truths.len())
                .flat_map(|who| liars.iter().map(move |liar| (who, liar)))
                .collect();
            cores::map(&points, |&(who, liar)| {
                let lied = self.lie(&self.contenders[who], liar, truths[who])?;
                one_done();
                Ok::<_, SweepError>(lied)
            })
        })?;
        let each = liars.len() / LIES.len();
        let standing = |(who, (contender, seen)): (usize, (&NamedOrder, &[Observation]))| {
            let own = &lies[who * liars.len()..(who + 1) * liars.len()];
            Fared {
                contender: contender.clone(),
                figures: (0..FIGURES.len()).map(|at| Replicates::of(seen, at)).collect(),
                waits: seen.first().and_then(|first| first.waits),
                lies: own.chunks(each.max(1)).map(<[Lied]>::to_vec).collect(),
            }
        };
        let all = self.contenders.iter().zip(observed.chunks(replicates));
        Ok(all.enumerate().map(standing).collect())
    }

    /// Who lies and how: each lie of [`LIES`] in turn, by the same tenants.
    fn draw(&self, truth: Option<&Ledger>) -> Vec<Liar> {
        let seed = self.seeds[0];
        let drawn = truth.map_or(Vec::new(), |truth| truth.draw(self.liars, seed));
        let lies = LIES.iter().flat_map(|&(lie, ..)| drawn.iter().map(move |one| (lie, one)));
        lies.map(|(lie, one)| Liar { tenant: one.clone(), lie, seed }).collect()
    }

    /// A run at the first load and seed in which one lies.
    fn lie(&self, contender: &NamedOrder, liar: &Liar, truth: &Ledger) -> Result<Lied, SweepError> {
        let mut setup = self.setup(contender, 0, self.seeds[0])?;
        let most = setup.config.largest_node();
        let (source, said) = Lying::new(setup.source, liar.clone(), most);
        setup.source = Box::new(source);
        let mut watcher = watcher(contender);
        let run = self.watched(contender, setup, &mut watcher)?;
        Ok(Lied::of(liar, &said, truth, &Ledger::of(&run)))
    }

    fn setup<'a>(
        &self,
        contender: &NamedOrder,
        scenario: usize,
        seed: u64,
    ) -> Result<WorldSetup<'a>, SweepError> {
        let words = match &contender.rival {
            Some(_) => TOLD,
            None => contender.words.as_str(),
        };
        let setup = meed_sim::setup(&self.scenarios[scenario], words, seed);
        setup.map_err(|source| failed(contender, source))
    }

    fn observe(
        &self,
        contender: &NamedOrder,
        scenario: usize,
        seed: u64,
    ) -> Result<Observation, SweepError> {
        let mut watcher = watcher(contender);
        let setup = self.setup(contender, scenario, seed)?;
        let run = self.watched(contender, setup, &mut watcher)?;
        Ok(Observation::of(&run, &watcher.windows))
    }

    fn watched<'a>(
        &self,
        contender: &NamedOrder,
        setup: WorldSetup<'a>,
        watcher: &'a mut Watcher,
    ) -> Result<RunRecord, SweepError> {
        watcher.windows = Windows::over(setup.counted);
        let setup =
            WorldSetup { strict: self.strict, keep_jobs: true, attendant: Some(watcher), ..setup };
        let run = run_one(&contender.words, setup, &mut Unwatched);
        run.map_err(|source| failed(contender, SimulateError::Run(source)))
    }
}

fn watcher(order: &NamedOrder) -> Watcher {
    Watcher { teller: order.rival.clone().map(Teller::new), windows: Windows::new() }
}

fn failed(contender: &NamedOrder, source: SimulateError) -> SweepError {
    SweepError::Run { at: contender.words.clone(), source: Box::new(source) }
}

/// Those that are named, or all.
fn contenders(request: &RivalsRequest, scenario: &Scenario) -> Result<Vec<NamedOrder>, SweepError> {
    let all = || OWN.into_iter().chain(RIVALS.iter().map(|rival| rival.name)).map(str::to_owned);
    let named = &request.orders;
    let names = if named.is_empty() { all().collect() } else { named.clone() };
    let baseline = request.baseline.as_deref();
    let contender = |words: &String| {
        let option = if Some(words.as_str()) == baseline { BASELINE } else { "--policy" };
        NamedOrder::find(option, words, request.cadence, scenario)
    };
    with_baseline(baseline, names).iter().map(contender).collect()
}

/// Looks on: takes notes, and tells ranks where there is a rival.
struct Watcher {
    teller: Option<Teller>,
    windows: Windows,
}

impl Attendant for Watcher {
    fn passes(
        &mut self,
        at: Time,
        engine: View<'_>,
        say: &mut dyn FnMut(QueueId, Rank),
    ) -> ControlFlow<()> {
        self.windows.passes(at, engine);
        match &mut self.teller {
            Some(teller) => teller.passes(at, engine, say),
            None => ControlFlow::Continue(()),
        }
    }
}
