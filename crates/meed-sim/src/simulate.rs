//! One workload under several policies, compared.

use std::io::Write;
use std::ops::ControlFlow;
use std::sync::Arc;

use meed_driver::Progress;
use meed_journal::Header;
use meed_mapreduce::MapReduceSetup;
use meed_scenario::plan::Plan;
use meed_scenario::{DEFAULT_POLICIES, STATIC, Scenario, ScenarioError, ScenarioWorld};
use meed_workload::{JobSource, OnBadLine, TraceError};

use crate::accounts::Accounts;
use crate::log::{Log, SharedLog};
use crate::record::{Comparison, RunRecord, SCHEMA};
use crate::rerun::{add_charts, add_reserve};
use crate::world::{Attendant, Failures, Looks, RunError, WorldSetup, run};

/// How a scenario is run.
///
/// ```
/// # let text = r#"
/// # [cluster]
/// # resources = ["cpu"]
/// # node = [{ name = "n", capacity = { cpu = 2 } }]
/// # [[queue]]
/// # name = "ads"
/// # [[job]]
/// # queue = "ads"
/// # duration = "10s"
/// # demand = { cpu = 1 }
/// # "#;
/// # let (reading, folder) = (meed_workload::OnBadLine::Stop, std::path::Path::new("."));
/// # let scenario = meed_scenario::Scenario::parse("s.toml", text, folder, &[], reading)?;
/// use meed_sim::{SimulateOptions, Unwatched, simulate};
/// let policies = vec!["fair".to_owned(), "fifo".to_owned()];
/// let options = SimulateOptions { policies, ..SimulateOptions::default() };
/// let comparison = simulate(&scenario, &options, None, &mut Unwatched)?;
/// let ends: Vec<f64> = comparison.runs.iter().map(|run| run.end_s).collect();
/// assert_eq!(ends, [10.0, 10.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SimulateOptions {
    /// The policies, as words of `--policy`.
    pub policies: Vec<String>,
    /// Instead of the scenario's seed.
    pub seed: Option<u64>,
    /// Samples over time; 0 for none.
    pub series_points: usize,
    /// Whether a wrong line or a refused job stops the run.
    pub strict: bool,
    /// Whether [`RunRecord::jobs`] are kept: memory grows with the workload then. The MapReduce
    /// world keeps its own instead.
    pub keep_jobs: bool,
}

/// What is told of tasks that others overtake, and of room that is held.
///
/// ```
/// # let text = r#"
/// # [cluster]
/// # resources = ["cpu"]
/// # node = [{ name = "n", capacity = { cpu = 2 } }]
/// # [[queue]]
/// # name = "ads"
/// # [[job]]
/// # queue = "ads"
/// # duration = "10s"
/// # demand = { cpu = 1 }
/// # "#;
/// # let (reading, folder) = (meed_workload::OnBadLine::Stop, std::path::Path::new("."));
/// # let scenario = meed_scenario::Scenario::parse("s.toml", text, folder, &[], reading)?;
/// use meed_sim::{Overtaking, SimulateOptions, Unwatched, simulate_telling};
/// let options = SimulateOptions { policies: vec!["fair".to_owned()], ..Default::default() };
/// let told = simulate_telling(&scenario, &options, Overtaking::Told, None, &mut Unwatched)?;
/// let overtaken = told.runs[0].queues[0].overtaken.as_ref().ok_or("it is told")?;
/// assert_eq!(overtaken.times, 0); // there is one job
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Overtaking {
    /// Nothing: costs nothing.
    #[default]
    Nothing,
    /// Who was overtaken, and where a second run is cheap, what `when_blocked = "reserve"` would
    /// have made of it.
    Told,
    /// The same, with a chart of nodes over a window of time, which is another run of each policy.
    Drawn,
}

impl Default for SimulateOptions {
    fn default() -> SimulateOptions {
        let policies = DEFAULT_POLICIES.map(str::to_owned).to_vec();
        SimulateOptions { policies, seed: None, series_points: 0, strict: false, keep_jobs: false }
    }
}

/// Why a simulation ended early.
#[derive(Debug, thiserror::Error)]
pub enum SimulateError {
    /// The scenario, or a policy's name.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The trace.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The run itself.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// What the caller is told while policies run.
///
/// [`Unwatched`] watches nothing.
///
/// ```
/// use std::ops::ControlFlow;
/// use meed_sim::world::Progress;
/// use meed_sim::{SimulateOptions, Watch, simulate};
///
/// /// The policies that have begun.
/// struct Begun(Vec<String>);
/// impl Watch for Begun {
///     fn begins(&mut self, policy: &str) {
///         self.0.push(policy.to_owned());
///     }
///     fn goes_on(&mut self, _: Progress) -> ControlFlow<()> {
///         ControlFlow::Continue(())
///     }
///     fn skipped(&mut self, _: &str, _: &[String]) {}
/// }
/// # let text = r#"
/// # [cluster]
/// # resources = ["cpu"]
/// # node = [{ name = "n", capacity = { cpu = 2 } }]
/// # [[queue]]
/// # name = "ads"
/// # [[job]]
/// # queue = "ads"
/// # duration = "10s"
/// # demand = { cpu = 1 }
/// # "#;
/// # let (reading, folder) = (meed_workload::OnBadLine::Stop, std::path::Path::new("."));
/// # let scenario = meed_scenario::Scenario::parse("s.toml", text, folder, &[], reading)?;
/// let mut watch = Begun(Vec::new());
/// simulate(&scenario, &SimulateOptions::default(), None, &mut watch)?;
/// assert_eq!(watch.0, ["static", "fair", "long-term"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Watch {
    /// A policy's run begins.
    fn begins(&mut self, policy: &str);
    /// It goes on, unless told to stop: then the run ends with [`RunError::Stopped`].
    fn goes_on(&mut self, progress: Progress) -> ControlFlow<()>;
    /// The source has these to say about lines that it skipped.
    fn skipped(&mut self, policy: &str, bad_lines: &[String]);
}

/// Watches nothing.
///
/// The example of [`SimulateOptions`] runs so.
pub struct Unwatched;

impl Watch for Unwatched {
    fn begins(&mut self, _: &str) {}
    fn goes_on(&mut self, _: Progress) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
    fn skipped(&mut self, _: &str, _: &[String]) {}
}

/// Runs `scenario` under each policy, one after the other. The same scenario, options and seed give
/// the same result, and the same log to the byte, on every machine.
pub fn simulate(
    scenario: &Scenario,
    options: &SimulateOptions,
    log: Option<&mut dyn Write>,
    watch: &mut dyn Watch,
) -> Result<Comparison, SimulateError> {
    simulate_telling(scenario, options, Overtaking::Nothing, log, watch)
}

/// The same, and who was overtaken.
pub fn simulate_telling(
    scenario: &Scenario,
    options: &SimulateOptions,
    overtaking: Overtaking,
    log: Option<&mut dyn Write>,
    watch: &mut dyn Watch,
) -> Result<Comparison, SimulateError> {
    simulate_attended(scenario, options, overtaking, Vec::new(), log, watch)
}

/// The same, where somebody may look on: `attendants` has one for each policy, in their order, and
/// may be shorter. What he tells queues is heard where the order is `told`. His run is made once:
/// nothing says what `when_blocked = "reserve"` would have made of it.
pub fn simulate_attended(
    scenario: &Scenario,
    options: &SimulateOptions,
    overtaking: Overtaking,
    attendants: Vec<Option<&mut dyn Attendant>>,
    mut log: Option<&mut dyn Write>,
    watch: &mut dyn Watch,
) -> Result<Comparison, SimulateError> {
    let seed = options.seed.unwrap_or(scenario.seed);
    let on_bad_line = OnBadLine::of(options.strict);
    // All names first: a typo in the last is told before the first has run.
    let plans =
        options.policies.iter().map(|words| scenario.plan(words)).collect::<Result<Vec<_>, _>>()?;
    let mut comparison = Comparison {
        schema: SCHEMA,
        scenario: scenario.file.clone(),
        seed,
        assumptions: Vec::new(),
        clock_us: None,
        baseline: None,
        is_usual: false,
        runs: Vec::new(),
    };
    let is_attended = attendants.iter().any(Option::is_some);
    if let ScenarioWorld::MapReduce(_) = scenario.world() {
        if is_attended {
            let what = "is of the MapReduce world, in which nobody may tell queues their ranks";
            return Err(scenario.error(what).into());
        }
        comparison.runs = mapreduce_runs(scenario, options, seed, log, watch)?;
        return Ok(comparison);
    }
    let mut attendants = attendants.into_iter();
    for (words, plan) in options.policies.iter().zip(plans) {
        let mut attendant = attendants.next().flatten();
        if attendant.is_some() && plan.partitioned {
            let what = format!("`{words}` serves each tenant alone, and has no order to be told");
            return Err(scenario.error(&what).into());
        }
        let has_second = attendant.is_none();
        watch.begins(words);
        let source = scenario.source(seed, on_bad_line)?;
        if comparison.runs.is_empty() {
            comparison.assumptions = source.assumptions();
            comparison.clock_us = source.clock_us().filter(|&at| at < meed_workload::CLOCK_END_US);
        }
        comparison.assumptions.extend(scenario.words_of_minimums(words));
        let mut out = log.as_mut().map_or(Log::off(), |out| Log::to(&mut **out));
        let header = || Header {
            epoch_us: source.clock_us().filter(|&at| at < meed_workload::CLOCK_END_US),
            ..scenario.header(words, seed, &plan, source.assumptions())
        };
        out.header(header).map_err(RunError::Log)?;
        let setup = WorldSetup {
            strict: options.strict,
            series_points: options.series_points,
            keep_jobs: options.keep_jobs,
            looks: Looks { overtaken: overtaking != Overtaking::Nothing, ..Looks::default() },
            attendant: attendant.as_mut().map(|one| &mut **one as &mut dyn Attendant),
            log: out,
            ..setup_of(scenario, plan, seed, source)
        };
        let mut ran = run(words, setup, None, &mut |progress| watch.goes_on(progress))?;
        watch.skipped(words, &ran.bad_lines);
        if has_second {
            add_reserve(scenario, words, seed, (&mut ran.record, &ran.most), watch)?;
        }
        comparison.runs.push(ran.record);
    }
    add_speedups(&mut comparison.runs);
    if overtaking == Overtaking::Drawn && !is_attended {
        add_charts(scenario, &options.policies, seed, &mut comparison.runs, watch)?;
    }
    Ok(comparison)
}

/// The runs of a scenario of the MapReduce world.
fn mapreduce_runs(
    scenario: &Scenario,
    options: &SimulateOptions,
    seed: u64,
    mut log: Option<&mut dyn Write>,
    watch: &mut dyn Watch,
) -> Result<Vec<RunRecord>, SimulateError> {
    let run = |words: &String| {
        watch.begins(words);
        let plan = scenario.plan(words)?;
        let setup = scenario.mapreduce_setup(words, seed)?.expect("a scenario of that world");
        let setup = MapReduceSetup {
            strict: options.strict,
            series_points: options.series_points,
            ..setup
        };
        let mut out = log.as_mut().map_or(Log::off(), |out| Log::to(&mut **out));
        let header = || scenario.header(words, seed, &plan, Vec::new());
        out.header(header).map_err(RunError::Log)?;
        Ok(run_mapreduce(words, setup, out, watch)?)
    };
    options.policies.iter().map(run).collect()
}

/// Runs one setup of the MapReduce world to its end, as [`run_one`] does for the other world;
/// records go to `log`.
pub fn run_mapreduce(
    policy: &str,
    setup: MapReduceSetup,
    log: Log<'_>,
    watch: &mut dyn Watch,
) -> Result<RunRecord, RunError> {
    let log = SharedLog::new(log.into());
    let journal = Box::new(SharedLog::clone(&log));
    let mut progress = |progress| watch.goes_on(progress);
    let record = meed_mapreduce::run(policy, setup, journal, &mut progress)?;
    log.borrow_mut().finish()?;
    Ok(record)
}

pub(crate) fn setup_of<'a>(
    scenario: &Scenario,
    plan: Plan,
    seed: u64,
    source: Box<dyn JobSource + Send>,
) -> WorldSetup<'a> {
    let (per_million, max_attempts) = scenario.failures();
    let delays = plan.delays(scenario.delays());
    let accounts = accounts_of(scenario, &plan);
    let (source, changes): (Box<dyn JobSource>, _) = match plan.slots {
        None => (source, scenario.changes()),
        Some(slots) => (slots.source(source), slots.changes(scenario.changes())),
    };
    WorldSetup {
        config: plan.config,
        placement: plan.placement,
        partitioned: plan.partitioned,
        source,
        changes,
        stop: scenario.stop(),
        failures: Failures { seed, per_million },
        max_attempts,
        checkpoint: scenario.checkpoint(),
        delays,
        infeasible: scenario.infeasible(),
        counted: scenario.counted(),
        strict: false,
        series_points: 0,
        keep_jobs: false,
        looks: Looks::default(),
        attendant: None,
        accounts,
        log: Log::off(),
    }
}

/// What a run of `scenario` under the policy `words` starts from, without samples and log: for
/// callers of [`run_one`] that run many variants of one scenario.
pub fn setup<'a>(
    scenario: &Scenario,
    words: &str,
    seed: u64,
) -> Result<WorldSetup<'a>, SimulateError> {
    has_jobs(scenario)?;
    setup_with(scenario, words, seed, scenario.source(seed, OnBadLine::Skip)?)
}

/// The same with jobs from elsewhere: their queues are names of leaves of `scenario`.
pub fn setup_with<'a>(
    scenario: &Scenario,
    words: &str,
    seed: u64,
    source: Box<dyn JobSource + Send>,
) -> Result<WorldSetup<'a>, SimulateError> {
    has_jobs(scenario)?;
    Ok(setup_of(scenario, scenario.plan(words)?, seed, source))
}

fn has_jobs(scenario: &Scenario) -> Result<(), ScenarioError> {
    match scenario.world() {
        ScenarioWorld::Cluster => Ok(()),
        ScenarioWorld::MapReduce(_) => {
            Err(scenario
                .error("is of the MapReduce world; `Scenario::mapreduce_setup` makes its runs"))
        }
    }
}

/// The books of a run under `plan`, where tenants contribute. Alone on its share a tenant has no
/// node of its own kind, so where instances differ the static partition keeps none.
fn accounts_of(scenario: &Scenario, plan: &Plan) -> Option<Box<Accounts>> {
    let table = scenario.timetable()?;
    let unlike = plan.partitioned && table.weight.is_none();
    let sliced = plan.slots.is_some();
    (!unlike && !sliced).then(|| Box::new(Accounts::new(Arc::clone(table), plan.pays)))
}

/// Runs one setup to its end: what [`simulate`] does for each policy, for callers that make engine
/// and workload themselves. `policy` names the run in its record.
pub fn run_one(
    policy: &str,
    setup: WorldSetup<'_>,
    watch: &mut dyn Watch,
) -> Result<RunRecord, RunError> {
    let ran = run(policy, setup, None, &mut |progress| watch.goes_on(progress))?;
    watch.skipped(policy, &ran.bad_lines);
    Ok(ran.record)
}

/// Mean job time alone on the share over mean job time here (TSC'18 Fig. 8), where the static
/// partition ran as well.
pub fn add_speedups(runs: &mut [RunRecord]) {
    let is_static = |run: &&RunRecord| run.policy.split([' ', ',']).next() == Some(STATIC);
    let Some(alone) = runs.iter().find(|run| run.policy == STATIC).or(runs.iter().find(is_static))
    else {
        return;
    };
    let alone: Vec<Option<f64>> = alone.queues.iter().map(|queue| queue.mean_job_s).collect();
    for run in runs {
        for (queue, alone) in run.queues.iter_mut().zip(&alone) {
            queue.speedup = match (alone, queue.mean_job_s) {
                (Some(alone), Some(here)) if here > 0.0 => Some(alone / here),
                _ => None,
            };
        }
    }
}
