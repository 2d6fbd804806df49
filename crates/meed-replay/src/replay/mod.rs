//! What if: a recorded run's workload under other policies, or on another cluster, beside the run
//! as it was.
//!
//! A [`Recording`] is one run of a log. Its header makes cluster, tree and policies, its lines make
//! the jobs (`logged/recorded.rs`) and the changes. Under the recorded policy all decisions come
//! out as recorded, and the log to the byte; that is verified each time (`compare.rs`).
//!
//! The recorded run's own record is made by running it again where that takes the recorded
//! decisions. Where it does not (a log of another edition of the rules, one edited by hand), what
//! happened is what the log says: it is then played back, each start as recorded (`world::script`),
//! through the same books (`editions.rs`).

pub(crate) mod compare;
mod editions;
mod live;
mod mapreduce;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use meed::Time;
use meed_driver::record::{Comparison, RunRecord, SCHEMA};
use meed_journal::{Fact, Header, JobKey, Kind};
use meed_scenario::changes::{Change, TimedChange};
use meed_scenario::log::read::{LogError, LogFile, Run};
use meed_scenario::logged::begun::{Begun, begun};
use meed_scenario::logged::recorded::{RecordedWorkload, arrival_of};
use meed_scenario::plan::Plan;
use meed_scenario::{Scenario, ScenarioError, Setting};
use meed_sim::log::Log;
use meed_sim::world::{Failures, Looks, RunError, Script, Told, ToldTo, WorldSetup, run};
use meed_sim::{Watch, add_speedups, run_mapreduce, run_one};
use meed_workload::CLOCK_END_US;

pub(crate) use compare::Compare;
pub use compare::Difference;
pub use editions::{VerifiedRun, verified};

use crate::live::Fates;

/// Why a recorded run cannot be run again.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The log.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A policy's name, a cluster's file, a `--set`.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The run itself.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// One run of a log, ready to be run again.
pub struct Recording {
    pub(crate) log: LogFile,
    pub(crate) run: Run,
    scenario: Scenario,
    workload: RecordedWorkload,
    pub(crate) world: RecordedWorld,
}

/// The world that made a recorded run, with what is known of it besides.
pub(crate) enum RecordedWorld {
    /// Virtual time: tasks run as long as their arrivals say.
    Simulated,
    /// The MapReduce world: it is made again from the scenario's text and the seed.
    MapReduce,
    /// A live world.
    Live {
        /// How long its tasks took.
        fates: Arc<Fates>,
        /// With what the record begins, where that is in the middle.
        begun: Option<Arc<Begun>>,
    },
}

/// What else to run.
#[derive(Clone, Debug, Default)]
pub struct ReplayOptions {
    /// Policies, as words of `--policy`. Where there is none, the recorded one on what is changed.
    pub policies: Vec<String>,
    /// A scenario file whose nodes are to be used.
    pub cluster: Option<PathBuf>,
    /// Changes of the recorded scenario.
    pub settings: Vec<Setting>,
    /// Samples over time; 0 for none.
    pub series_points: usize,
}

impl ReplayOptions {
    fn changes_anything(&self) -> bool {
        self.cluster.is_some() || !self.settings.is_empty()
    }
}

/// What came out.
pub struct Replayed {
    /// The recorded run first, then the others.
    pub comparison: Comparison,
    /// Worth a line to the user each.
    pub remarks: Vec<String>,
    /// The first line that the recorded policy, run again, writes otherwise.
    pub differs: Option<Difference>,
}

/// A run again under the recorded policy.
pub(crate) struct Again {
    pub(crate) record: RunRecord,
    pub(crate) bytes: Option<Difference>,
    pub(crate) decisions: Option<Difference>,
}

impl Recording {
    /// The run of the log at `path` that `which` names by number or policy; without it the only
    /// one.
    pub fn open(path: &Path, which: Option<&str>) -> Result<Recording, LogError> {
        Recording::of(LogFile::open(path)?, which)
    }

    /// The same of an opened log.
    pub fn of(log: LogFile, which: Option<&str>) -> Result<Recording, LogError> {
        let run = log.run(which)?.clone();
        let place = place(&log, &run);
        let is_mapreduce = run.header.world == meed_mapreduce::WORLD;
        let mut scenario = match is_mapreduce {
            true => mapreduce::scenario_of(&run.header, &place)?,
            false => Scenario::of_header(&run.header, &place)?,
        };
        if !run.finished {
            scenario.stop_at(run.end);
        }
        let none = RecordedWorkload::none(scenario.kinds());
        let (world, workload) = match run.header.world.as_str() {
            "" => (RecordedWorld::Simulated, RecordedWorkload::of(&log, &run, scenario.kinds())?),
            _ if is_mapreduce => (RecordedWorld::MapReduce, none),
            _ => {
                let plan = scenario.recorded_plan(&run.header, &place)?;
                let (kinds, seed) = (plan.config.kinds.len(), scenario.seed);
                let begun = begun(&log, &run, || (plan.placement)(kinds, seed))?.map(Arc::new);
                let fates = Arc::new(Fates::of(&log, &run, begun.as_deref())?);
                (RecordedWorld::Live { fates, begun }, none)
            }
        };
        let recording = Recording { log, run, scenario, workload, world };
        // What is wrong with its policies is told before anything runs.
        match &recording.world {
            RecordedWorld::MapReduce => drop(recording.scenario.plan(recording.policy())?),
            _ => drop(recording.recorded_plan()?),
        }
        Ok(recording)
    }

    /// What the clock said at time 0, in microseconds since 1970, where that is known.
    pub fn clock_us(&self) -> Option<u64> {
        self.run.header.epoch_us.filter(|&at| at < CLOCK_END_US)
    }

    /// The last instant of the record.
    pub fn end(&self) -> Time {
        self.run.end
    }

    /// The policy that it was recorded under.
    pub fn policy(&self) -> &str {
        &self.run.header.policy
    }

    /// Names of its queues, parents included.
    pub fn queue_names(&self) -> impl Iterator<Item = &str> {
        self.scenario.queue_names()
    }

    /// The resources of its cluster.
    pub fn units(&self) -> &meed::ResourceKinds {
        self.scenario.kinds()
    }

    /// What the user should know about the record.
    pub fn remarks(&self) -> Vec<String> {
        if let RecordedWorld::Live { fates, .. } = &self.world {
            return self.live_remarks(fates);
        }
        let cut = format!(
            "{}: the record ends in the middle, after line {} at {}; what came later is not known",
            self.log.name(),
            self.run.last_line,
            self.run.end
        );
        (!self.run.finished).then_some(cut).into_iter().collect()
    }

    pub(crate) fn recorded_plan(&self) -> Result<Plan, LogError> {
        Ok(self.scenario.recorded_plan(&self.run.header, &place(&self.log, &self.run))?)
    }

    /// A run of the recorded workload on what `scenario` says.
    fn setup<'a>(
        &self,
        scenario: &Scenario,
        plan: Plan,
        changes: Vec<TimedChange>,
        series_points: usize,
        log: Log<'a>,
    ) -> Result<WorldSetup<'a>, LogError> {
        let (per_million, max_attempts) = scenario.failures();
        Ok(WorldSetup {
            config: plan.config,
            placement: plan.placement,
            partitioned: plan.partitioned,
            source: Box::new(self.workload.source(&self.log, &self.run)?),
            changes,
            stop: scenario.stop(),
            failures: Failures { seed: scenario.seed, per_million },
            max_attempts,
            checkpoint: scenario.checkpoint(),
            delays: scenario.delays(),
            infeasible: scenario.infeasible(),
            counted: scenario.counted(),
            strict: false,
            series_points,
            keep_jobs: false,
            looks: Looks::overtaken(),
            attendant: None,
            accounts: None,
            log,
        })
    }

    /// The recorded run again, from its beginning, logging to `log`.
    pub(crate) fn recorded_setup<'a>(
        &self,
        series_points: usize,
        log: Log<'a>,
    ) -> Result<WorldSetup<'a>, LogError> {
        let (plan, changes) = (self.recorded_plan()?, self.workload.changes.clone());
        self.setup(&self.scenario, plan, changes, series_points, log)
    }

    /// The recorded starts, to be played back.
    pub(crate) fn script(&self) -> Result<Script<'static>, LogError> {
        let mut reader = self.log.read(&self.run)?;
        // Of jobs whose keys are not the numbers of their arrivals.
        let mut numbers: BTreeMap<JobKey, u64> = BTreeMap::new();
        let mut arrived = 0;
        let mut next = move || {
            while let Some((line, record)) = reader.next(&[
                Kind::JobArrived,
                Kind::JobRefused,
                Kind::TaskStarted,
                Kind::TaskReclaimed,
                Kind::TaskLost,
            ])? {
                if let Some(arrival) = arrival_of(&record.fact) {
                    if arrival.job != JobKey::Number(arrived) {
                        numbers.insert(arrival.job.clone(), arrived);
                    }
                    arrived += 1;
                }
                let (job, task, what) = match record.fact {
                    Fact::TaskStarted(start) => {
                        (start.job, start.task, ToldTo::Start(start.node.to_string()))
                    }
                    Fact::TaskReclaimed(told) => (told.job, told.task, ToldTo::Stop(told.grace)),
                    Fact::TaskLost(lost) => (lost.job, lost.task, ToldTo::Lost),
                    _ => continue,
                };
                let number = match (numbers.get(&job), &job) {
                    (Some(number), _) | (None, JobKey::Number(number)) => *number,
                    _ => {
                        let what = format!("there is no job {job} by then");
                        return Err(LogError::from(reader.wrong(line, what)));
                    }
                };
                return Ok(Some(Told { at: record.t, number, job, task, what, line }));
            }
            Ok(None)
        };
        let next = move || next().map_err(|error| RunError::Trace(error.into()));
        Ok(Script::new(Arc::clone(self.log.file()), next))
    }

    /// Runs again under the recorded policy and compares with the record; `copy` gets what that
    /// logs.
    pub(crate) fn again(
        &self,
        series_points: usize,
        copy: Option<&mut dyn Write>,
        watch: &mut dyn Watch,
    ) -> Result<Again, ReplayError> {
        watch.begins(self.policy());
        let compare = Compare::new(&self.log, &self.run, copy)?;
        let mut writer = compare.clone();
        let mut log = Log::to(&mut writer);
        let begun = log.header(|| self.run.header.clone()).map_err(RunError::Log);
        let ran = begun.map_err(ReplayError::from);
        let ran = ran.and_then(|()| self.run_recorded(series_points, log, watch));
        // A log that cannot be read is told as what it is, not as a log that cannot be written.
        let (bytes, decisions) = compare.verdict(ran.is_ok() && self.run.finished)?;
        Ok(Again { record: ran?, bytes, decisions })
    }

    fn run_recorded(
        &self,
        series_points: usize,
        log: Log<'_>,
        watch: &mut dyn Watch,
    ) -> Result<RunRecord, ReplayError> {
        let name = self.column();
        if let RecordedWorld::MapReduce = self.world {
            let setup = self.mapreduce_setup(self.policy(), series_points)?;
            return Ok(run_mapreduce(&name, setup, log, watch)?);
        }
        let setup = self.recorded_setup(series_points, log)?;
        Ok(run(&name, setup, None, &mut |progress| watch.goes_on(progress))?.record)
    }

    /// What the recorded run is called beside others.
    fn column(&self) -> String {
        format!("{} (recorded)", self.policy())
    }

    /// The record of what the log says, whoever decided it.
    fn played_back(
        &self,
        series_points: usize,
        watch: &mut dyn Watch,
    ) -> Result<RunRecord, ReplayError> {
        let setup = self.recorded_setup(series_points, Log::off())?;
        let script = Some(self.script()?);
        let ran = run(&self.column(), setup, script, &mut |progress| watch.goes_on(progress))?;
        Ok(ran.record)
    }
}

/// What messages about the header point to.
fn place(log: &LogFile, run: &Run) -> String {
    format!("{}:{}", log.name(), run.first_line)
}

/// Whether running `recording` again gives the recorded log to the byte, or of a live world the
/// recorded decisions; if not, the first difference. A run that another edition of the rules
/// decided is verified by playing it back: see [`verified`].
pub fn verify(
    recording: &Recording,
    watch: &mut dyn Watch,
) -> Result<Option<Difference>, ReplayError> {
    match verified(recording, watch)? {
        VerifiedRun::AsRecorded | VerifiedRun::PlayedBack(_) => Ok(None),
        VerifiedRun::Differs(difference) => Ok(Some(difference)),
    }
}

const PLAYED_BACK: &str = "the recorded run is played back as the log tells it";

/// Runs what `options` ask for beside the recorded run. `log` gets the logs of what is run: of the
/// recorded policy where nothing else is asked for, otherwise of all others.
pub fn replay(
    recording: &Recording,
    options: &ReplayOptions,
    mut log: Option<&mut dyn Write>,
    watch: &mut dyn Watch,
) -> Result<Replayed, ReplayError> {
    match recording.world {
        RecordedWorld::Simulated => {}
        RecordedWorld::MapReduce => return mapreduce::replay(recording, options, log, watch),
        RecordedWorld::Live { .. } => return live::replay(recording, options, log, watch),
    }
    let mut remarks = recording.remarks();
    let others = Others::of(recording, options, &mut remarks)?;
    let alone = others.plans.is_empty();
    let copy = match (&mut log, alone && !recording.has_other_rules()) {
        (Some(out), true) => Some(&mut **out as &mut dyn Write),
        _ => None,
    };
    let again = recording.again(options.series_points, copy, watch)?;
    if let (Some(out), true) = (&mut log, alone && recording.has_other_rules()) {
        recording.write_by_other_rules(again.bytes.is_some(), &mut **out, watch)?;
    }
    let mut runs = vec![again.record];
    if let Some(difference) = &again.decisions {
        remarks.push(recording.decides_otherwise(difference, PLAYED_BACK));
        runs = vec![recording.played_back(options.series_points, watch)?];
    }
    for (words, plan) in others.plans {
        watch.begins(&words);
        let mut out = log.as_mut().map_or(Log::off(), |out| Log::to(&mut **out));
        let assumptions = || recording.run.header.assumptions.clone();
        let header = || Header {
            epoch_us: recording.clock_us(),
            ..others.scenario.header(&words, others.scenario.seed, &plan, assumptions())
        };
        out.header(header).map_err(RunError::Log)?;
        let changes = others.changes.clone();
        let setup = recording.setup(&others.scenario, plan, changes, options.series_points, out)?;
        runs.push(run_one(&(words + &others.suffix), setup, watch)?);
    }
    if options.changes_anything() {
        // Alone on a share of another cluster is nothing to compare the recorded run with.
        let (recorded, others) = runs.split_at_mut(1);
        add_speedups(recorded);
        add_speedups(others);
    } else {
        add_speedups(&mut runs);
    }
    let comparison = Comparison {
        schema: SCHEMA,
        scenario: recording.run.header.scenario.clone(),
        seed: recording.run.header.seed,
        assumptions: recording.run.header.assumptions.clone(),
        clock_us: recording.clock_us(),
        baseline: None,
        is_usual: false,
        runs,
    };
    Ok(Replayed { comparison, remarks, differs: again.bytes })
}

/// What is run beside the recorded run.
struct Others {
    scenario: Scenario,
    plans: Vec<(String, Plan)>,
    changes: Vec<TimedChange>,
    /// What tells their columns from those of the recorded cluster and tree.
    suffix: String,
}

impl Others {
    fn of(
        recording: &Recording,
        options: &ReplayOptions,
        remarks: &mut Vec<String>,
    ) -> Result<Others, ReplayError> {
        let header = &recording.run.header;
        let mut scenario = match options.settings.is_empty() {
            true => Scenario::of_header(header, &place(&recording.log, &recording.run))?,
            false => Scenario::of_text(header, &options.settings)?,
        };
        if !recording.run.finished {
            scenario.stop_at(recording.run.end);
        }
        let mut words = options.policies.clone();
        if words.is_empty() && options.changes_anything() {
            words.push(header.policy.clone());
        }
        let mut suffix =
            if options.settings.is_empty() { String::new() } else { " (changed)".to_owned() };
        let mut changes = recording.workload.changes.clone();
        if let Some(path) = &options.cluster {
            scenario.take_cluster(path)?;
            suffix += &format!(" (on {})", path.file_name().unwrap_or_default().to_string_lossy());
        }
        if options.changes_anything() {
            let all = changes.len();
            changes = possible(changes, scenario.node_names());
            if changes.len() < all {
                remarks.push(format!(
                    "{} recorded changes of nodes that this cluster does not have are left out",
                    all - changes.len()
                ));
            }
        }
        let plan = |words: &String| {
            // The recorded policy is what the log says it is, whatever its name means to this
            // version.
            let plan = match *words == header.policy && options.settings.is_empty() {
                true => scenario.recorded_plan(header, &place(&recording.log, &recording.run)),
                false => scenario.plan(words).and_then(|plan| {
                    match plan.slots.is_some() || header.slots_per_server.is_some() {
                        true => Err(scenario.no_slots(words)),
                        false => Ok(plan),
                    }
                }),
            };
            plan.map(|plan| (words.clone(), plan))
        };
        let plans = words.iter().map(plan).collect::<Result<Vec<_>, _>>()?;
        Ok(Others { scenario, plans, changes, suffix })
    }
}

/// Those of `changes` that can be made where these nodes are there at the start.
fn possible<'a>(
    changes: Vec<TimedChange>,
    nodes: impl Iterator<Item = &'a str>,
) -> Vec<TimedChange> {
    let mut nodes: BTreeSet<String> = nodes.map(str::to_owned).collect();
    let can = |timed: &TimedChange| match &timed.change {
        Change::NodeJoins(spec) => nodes.insert(spec.name.clone()),
        Change::NodeLeaves(name) => nodes.remove(name),
        Change::NodeResized(name, _) => nodes.contains(name),
        _ => true,
    };
    let mut can = can;
    changes.into_iter().filter(|timed| can(timed)).collect()
}
