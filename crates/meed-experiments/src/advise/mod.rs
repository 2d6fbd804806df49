//! From a log to a setting (`meed advise`): which memory serves stated aims best, how sure that is,
//! and what it is called in the configuration of other schedulers.
//!
//! | module | what |
//! |---|---|
//! | [`aims`] | the figures that can be an aim or bounded, and what is asked of them |
//! | [`chance`] | what chance could have made |
//! | [`choice`] | which candidate is chosen, and which others are as good |
//! | [`memory`] | how a candidate remembers, read from its words |
//! | [`seen`] | what is kept of each run |
//! | [`waits`] | waits in the log itself, beside the simulated ones |
//! | [`ranks`] | Slurm's own ranks at the end of the log, beside those of the baseline |
//! | [`starved`] | a value for the starvation guard |
//! | [`settings`] | the same memory in the words of other schedulers, a row each |
//! | [`site`] | what a site has now, by the format of its log |
//! | [`page`] | the answer for people |
//!
//! One log is one draw of chance. So each candidate is run at several loads: the same jobs, a
//! little faster or slower ([`meed_workload::stretch`]), and all is weighed over tenants and weeks
//! that are drawn anew.
//!
//! Where the size of the cluster is assumed, the question is asked at other sizes as well.
//!
//! Cost: candidates x (loads + other sizes) x seeds simulations, on all cores.

pub mod aims;
pub mod chance;
pub mod choice;
pub mod memory;
pub mod page;
pub mod ranks;
pub mod seen;
pub mod settings;
pub mod site;
pub mod starved;
#[cfg(test)]
mod tests;
pub mod waits;

use std::path::PathBuf;
use std::slice;
use std::sync::atomic::{AtomicUsize, Ordering};

use meed_scenario::{Scenario, Setting, TraceReading};
use meed_workload::format::TraceFormat;
use meed_workload::stretch::Load;

use crate::cores;
use crate::error::SweepError;
pub use crate::gain::FAIR;
use crate::order::{BASELINE, NamedOrder};
pub use aims::Aims;
pub use choice::Advice;
use choice::Telling;
use memory::Remembers;
use ranks::{RankedLog, RanksCompared, SlurmRanks};
use seen::Seen;
use settings::SCHEDULERS;
pub use site::Baseline;
use starved::GuardValue;
use waits::{Waits, WaitsCompared};

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
    pub settings: Vec<Setting>,
    /// What all are compared with; by the format of the log when there is none.
    pub baseline: Option<Baseline>,
    /// The candidates; [`CANDIDATES`] when there are none.
    pub policies: Vec<String>,
    /// In thousandths of the log's own load; [`LOADS`] when there are none.
    pub loads: Vec<u32>,
    /// How many seeds, at least 1.
    pub seeds: u64,
    /// What is wanted.
    pub aims: Aims,
    /// How the log is read: what a wrong line stops, a refused job stops as well.
    pub reading: TraceReading,
}

/// So many times the assumed size the question is asked at as well, in percent.
const OTHER_SIZES: [u64; 2] = [50, 150];

/// A request whose scenarios and policies were read and found right.
pub struct Question {
    /// The log.
    pub log: PathBuf,
    /// At each load.
    pub scenarios: Vec<Scenario>,
    /// The seeds.
    pub seeds: Vec<u64>,
    aims: Aims,
    baseline: Baseline,
    /// As named, the baseline first.
    candidates: Vec<NamedOrder>,
    /// Where the size is assumed: the log on a smaller and on a larger cluster, at its own load.
    sizes: Vec<Scenario>,
    /// Waits in the log itself, and at which load its jobs come as they came there.
    log_waits: Option<(Waits, usize)>,
    /// A value for the starvation guard, where tenants are in groups.
    guard: Option<GuardValue>,
    /// The same where Slurm's ranks at its end are known.
    ranked: Option<(RankedLog, usize)>,
    strict: bool,
}

/// What is answered.
pub struct AdviceAnswer {
    /// For the cluster as it is given, or assumed.
    pub advice: Advice,
    /// The same for other sizes, where the size is assumed: the cluster in words, and the answer.
    pub sizes: Vec<(String, Advice)>,
    /// The order of the site's scheduler with the chosen memory, where it can be told that: its
    /// words, and the aimed figure over the replicates.
    pub told: Option<(String, Vec<f64>)>,
    /// Waits in the log, and of its jobs under the baseline at its own load.
    pub waits: Option<WaitsCompared>,
    /// A value for `t_wait`, where tenants are in groups.
    pub guard: Option<GuardValue>,
    /// Slurm's ranks at the end of the log, and those of the baseline.
    pub ranks: Option<RanksCompared>,
    /// By candidate and replicate.
    pub runs: Vec<Vec<Seen>>,
}

impl Question {
    /// Reads everything; nothing is run.
    pub fn prepare(request: &AdviceRequest) -> Result<Question, SweepError> {
        let reading = &request.reading;
        let load = |more: &[Setting], at: &str| {
            let settings = [&request.settings[..], more].concat();
            Scenario::load_any(&request.log, &settings, reading)
                .map_err(|source| SweepError::Load { at: at.to_owned(), source: Box::new(source) })
        };
        let own = load(&[], "the log")?;
        let spared = own.without_search();
        let baseline = request.baseline.clone().unwrap_or_else(|| site::of_format(own.format()));
        let candidates = candidates(&baseline.words, &request.policies)?;
        let order = |words: &String| {
            let option = if *words == baseline.words { BASELINE } else { "--policy" };
            NamedOrder::find(option, words, None, &own)
        };
        let candidates = candidates.iter().map(order).collect::<Result<Vec<_>, _>>()?;
        let factors = if request.loads.is_empty() { &LOADS[..] } else { &request.loads };
        let sizes = match own.assumes_size() {
            false => Vec::new(),
            true => {
                let at_size = |percent: &u64| {
                    load(&[own.pool_sets(*percent), spared.clone()].concat(), "another size")
                };
                OTHER_SIZES.iter().map(at_size).collect::<Result<Vec<_>, _>>()?
            }
        };
        let (first, own_load) = (own.seed, own.load_factor());
        let own_at = factors.iter().position(|factor| *factor == 1000);
        let log_waits = match own_at {
            None => None,
            Some(at) => {
                let read = Waits::of_log(&own, first).map_err(|source| SweepError::Load {
                    at: "the log".to_owned(),
                    source: Box::new(source.into()),
                })?;
                read.map(|waits| (waits, at))
            }
        };
        let guard = GuardValue::of_log(&own, first).map_err(|source| SweepError::Load {
            at: "the log".to_owned(),
            source: Box::new(source.into()),
        })?;
        let mut own = Some(own);
        let at_load = |&factor: &u32| {
            // At its own load the log is read already.
            if let Some(own) = own.take_if(|_| factor == 1000) {
                return Ok(own);
            }
            let at_load = Setting::load(scaled(own_load, factor)?);
            load(&[slice::from_ref(&at_load), &spared].concat(), at_load.words())
        };
        let last = request.seeds.checked_sub(1).and_then(|more| first.checked_add(more));
        let Some(last) = last else {
            let seeds = request.seeds;
            return Err(SweepError::Settings(format!("--seeds is {seeds}; at least 1 is needed")));
        };
        let scenarios = factors.iter().map(at_load).collect::<Result<Vec<_>, _>>()?;
        Ok(Question {
            log: request.log.clone(),
            scenarios,
            seeds: (first..=last).collect(),
            aims: request.aims.clone(),
            baseline,
            candidates,
            sizes,
            log_waits,
            guard,
            ranked: None,
            strict: request.reading.is_strict(),
        })
    }

    /// Slurm said at the end of the log where users stand: the answer compares that with the
    /// baseline, where it is Slurm's order and the log is of `sacct` and is run at its own load.
    ///
    /// # Errors
    ///
    /// Those of the log.
    pub fn ranked_by_slurm(&mut self, ranks: SlurmRanks) -> Result<(), SweepError> {
        let own = |scenario: &Scenario| scenario.load_factor().thousandths() == 1000;
        let (Some(at), Some(rival)) =
            (self.scenarios.iter().position(own), self.candidates[0].rival.clone())
        else {
            return Ok(());
        };
        let scenario = &self.scenarios[at];
        let is_log = matches!(scenario.format(), Some(TraceFormat::Sacct | TraceFormat::SacctJson));
        if ranks.is_empty() || rival.rival.of != site::SLURM || !is_log {
            return Ok(());
        }
        let read = RankedLog::read(scenario, self.seeds[0], ranks, rival);
        let read = read.map_err(|source| SweepError::Run {
            at: self.baseline.words.clone(),
            source: Box::new(source),
        })?;
        self.ranked = read.map(|ranked| (ranked, at));
        Ok(())
    }

    /// What is wanted.
    pub fn aims(&self) -> &Aims {
        &self.aims
    }

    /// Whether the size of the cluster is assumed.
    pub fn is_assumed(&self) -> bool {
        !self.sizes.is_empty()
    }

    /// What all are compared with.
    pub fn baseline(&self) -> &Baseline {
        &self.baseline
    }

    /// How many loads are run.
    pub fn loads(&self) -> usize {
        self.scenarios.len()
    }

    /// How many simulations there are at most.
    pub fn count(&self) -> usize {
        let each = self.scenarios.len() + self.sizes.len();
        (self.candidates.len() * each + self.scenarios.len()) * self.seeds.len()
    }

    /// Runs all on `threads` threads (0: one per core), and weighs what comes out. `done` is told
    /// the number of finished simulations after each.
    pub fn answer(
        &self,
        threads: usize,
        done: &(dyn Fn(usize) + Sync),
    ) -> Result<AdviceAnswer, SweepError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|why| SweepError::Threads { threads, why: why.to_string() })?;
        let finished = AtomicUsize::new(0);
        let run = |orders: &[NamedOrder], scenarios: &[Scenario]| {
            let points: Vec<(&NamedOrder, &Scenario, u64)> = orders
                .iter()
                .flat_map(|order| scenarios.iter().map(move |scenario| (order, scenario)))
                .flat_map(|(order, scenario)| {
                    self.seeds.iter().map(move |&seed| (order, scenario, seed))
                })
                .collect();
            let seen: Vec<Seen> = pool.install(|| {
                cores::map(&points, |&(order, scenario, seed)| {
                    let load = f64::from(scenario.load_factor().thousandths()) / 1000.0;
                    let run = order.run(scenario, seed, self.strict)?;
                    let mut seen = Seen::of(&run, load);
                    if let Some((ranked, _)) = &self.ranked
                        && order.words == self.baseline.words
                    {
                        seen.standings = ranked.simulated(&run);
                    }
                    done(finished.fetch_add(1, Ordering::Relaxed) + 1);
                    Ok::<_, SweepError>(seen)
                })
            })?;
            let each = (scenarios.len() * self.seeds.len()).max(1);
            Ok::<_, SweepError>(seen.chunks(each).map(<[Seen]>::to_vec).collect::<Vec<_>>())
        };
        let runs = run(&self.candidates, &self.scenarios)?;
        let advice = self.weigh(&runs);
        let at_size = |scenario: &Scenario| {
            let runs = run(&self.candidates, std::slice::from_ref(scenario))?;
            Ok::<_, SweepError>((scenario.cluster_in_words(), self.weigh(&runs)))
        };
        let sizes = self.sizes.iter().map(at_size).collect::<Result<Vec<_>, _>>()?;
        let chosen = self.memory_of(&advice.candidates[advice.chosen].policy);
        let words = chosen.and_then(|memory| site::with_memory(&self.baseline.words, memory));
        let told = match words.filter(|_| advice.chosen > 0) {
            None => None,
            Some(words) => {
                let order = NamedOrder::find(BASELINE, &words, None, &self.scenarios[0])?;
                let aim = aims::FIGURES.iter().position(|row| row.name == self.aims.aim.name);
                let seen = run(&[order], &self.scenarios)?;
                let figure = |seen: &Seen| *seen.figures.get(aim?)?;
                Some((words, seen.iter().flatten().filter_map(figure).collect()))
            }
        };
        let waits = self.log_waits.and_then(|(log, at)| {
            let seen = runs.first()?.get(at * self.seeds.len())?;
            Some(WaitsCompared { log, simulated: seen.waits? })
        });
        let ranks = self.ranked.as_ref().and_then(|(ranked, at)| {
            let seen = runs.first()?.get(at * self.seeds.len())?;
            ranked.compare(&seen.standings)
        });
        Ok(AdviceAnswer { advice, sizes, told, waits, guard: self.guard, ranks, runs })
    }

    fn weigh(&self, runs: &[Vec<Seen>]) -> Advice {
        let names: Vec<String> = self.candidates.iter().map(|order| order.words.clone()).collect();
        let site = site::scheduler_of(&self.baseline.words);
        let telling = |order: &NamedOrder| -> Telling {
            let Some(memory) = self.memory_of(&order.words) else { return (false, 0) };
            let can = SCHEDULERS.iter().filter(|row| row.setting(memory).lines.is_some());
            let can: Vec<&str> = can.map(|row| row.name).collect();
            (site.is_some_and(|site| can.contains(&site)), can.len())
        };
        let telling: Vec<Telling> = self.candidates.iter().map(telling).collect();
        choice::weigh(&self.aims, &names, runs, &telling)
    }

    /// How a candidate remembers; nothing where its words do not say it.
    pub(crate) fn memory_of(&self, words: &str) -> Option<Remembers> {
        let scenario = self.scenarios.first()?;
        // One that has a name of its own is known to the scenario alone.
        let named = || scenario.root_policy(words).map(|policy| Remembers::of_policy(&policy));
        Remembers::of(words, scenario.kinds()).or_else(named)
    }
}

/// The baseline, sharing without a memory, then the candidates.
fn candidates(baseline: &str, named: &[String]) -> Result<Vec<String>, SweepError> {
    let mut all = vec![baseline.to_owned()];
    if baseline != FAIR {
        all.push(FAIR.to_owned());
    }
    let known = all.len();
    let others: Vec<String> = match named.is_empty() {
        true => CANDIDATES.map(str::to_owned).to_vec(),
        false => named.to_vec(),
    };
    all.extend(others.into_iter().filter(|name| name != FAIR && name != baseline));
    if all.len() == known {
        return Err(SweepError::Settings(format!(
            "--policy {baseline} is what all are compared with; name another, as in \
             long-term,half_life=7d"
        )));
    }
    Ok(all)
}

/// `own` times `factor`, both in thousandths, as `run.load` takes it.
pub(crate) fn scaled(own: Load, factor: u32) -> Result<f64, SweepError> {
    let product = u64::from(own.thousandths()) * u64::from(factor) / 1000;
    let load = u32::try_from(product).ok().and_then(Load::from_thousandths);
    let load = load.ok_or_else(|| {
        SweepError::Settings(format!(
            "--loads: {} times the log's own load of {} is not between 0.001 and 1000",
            f64::from(factor) / 1000.0,
            f64::from(own.thousandths()) / 1000.0
        ))
    })?;
    Ok(f64::from(load.thousandths()) / 1000.0)
}
