//! What tasks needed: each job of Spark as a job, with its stages behind each other.
//!
//! A stage stands behind the last of its parents that ran in the same job. Attempts of a stage and
//! of its tasks are one stage, and its tasks are told by their partitions.

use std::collections::{BTreeMap, BTreeSet};

use super::app::{App, Run};
use super::assumptions::{Holds, SparkAssumptions, SparkEpisode};

/// A job of Spark of which some task ran. Times are milliseconds since 1970.
#[derive(Debug)]
pub(super) struct Needed {
    pub(super) submit: u64,
    /// When its first task was launched.
    pub(super) begin: u64,
    /// By their place behind each other and their numbers.
    pub(super) stages: BTreeMap<(u16, u64), Tasks>,
}

#[derive(Debug, Default)]
pub(super) struct Tasks {
    pub(super) holds: Holds,
    /// How long each ran, by whether it ran still when the log ended.
    pub(super) ended: Vec<u64>,
    pub(super) cut: Vec<u64>,
}

/// How long a task ran, when first, and whether it ran still.
struct Length {
    millis: u64,
    launched: u64,
    cut: bool,
}

/// The jobs of Spark of an application.
pub(super) fn needed(app: &App, assumed: &SparkAssumptions) -> Vec<Needed> {
    let mut jobs_of_stage: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (number, job) in app.jobs.iter().enumerate() {
        job.stages.iter().for_each(|stage| jobs_of_stage.entry(*stage).or_default().push(number));
    }
    // Of those that have the stage the last that had been submitted by then, else the first.
    let job_of = |run: &Run| {
        let all = jobs_of_stage.get(&run.stage)?;
        let submitted = app.stages.get(&run.stage)?.submitted.get(&run.attempt);
        let by_then = |job: &&usize| submitted.is_some_and(|at| app.jobs[**job].submit <= *at);
        all.iter().rev().find(by_then).or(all.first()).copied()
    };
    let mut tasks: BTreeMap<Option<usize>, BTreeMap<u64, BTreeMap<u64, Length>>> = BTreeMap::new();
    for (run, cut) in app.all_runs() {
        let is_total = assumed.episode == SparkEpisode::Total;
        if !is_total && !run.is_good && !cut {
            continue;
        }
        let stages = tasks.entry(job_of(&run)).or_default();
        let lengths = stages.entry(run.stage).or_default();
        let length = lengths.entry(run.part).or_insert(Length {
            millis: 0,
            launched: run.launched,
            cut: false,
        });
        length.millis =
            if is_total { length.millis.saturating_add(run.millis) } else { run.millis };
        length.launched = length.launched.min(run.launched);
        length.cut |= cut;
    }
    tasks.into_iter().map(|(job, stages)| one(app, job, stages, assumed)).collect()
}

fn one(
    app: &App,
    job: Option<usize>,
    stages: BTreeMap<u64, BTreeMap<u64, Length>>,
    assumed: &SparkAssumptions,
) -> Needed {
    let all = || stages.values().flat_map(BTreeMap::values);
    let begin = all().map(|length| length.launched).min().unwrap_or(0);
    let present: BTreeSet<u64> = stages.keys().copied().collect();
    let places = places(app, &present);
    let of = |(stage, lengths): (u64, BTreeMap<u64, Length>)| {
        let profile = app.stages.get(&stage).map_or(0, |stage| stage.profile);
        let mut tasks = Tasks { holds: holds(app, profile, assumed), ..Tasks::default() };
        for length in lengths.values() {
            let list = if length.cut { &mut tasks.cut } else { &mut tasks.ended };
            list.push(length.millis);
        }
        ((places.get(&stage).copied().unwrap_or(0), stage), tasks)
    };
    let submit = job.map_or(begin, |job| app.jobs[job].submit.min(begin));
    Needed { submit, begin, stages: stages.into_iter().map(of).collect() }
}

/// The place of each stage: one more than that of the last of its parents that is there.
fn places(app: &App, present: &BTreeSet<u64>) -> BTreeMap<u64, u16> {
    let mut places: BTreeMap<u64, u16> = BTreeMap::new();
    // In ascending order: parents have smaller numbers.
    for stage in present {
        let parents = app.stages.get(stage).into_iter().flat_map(|stage| &stage.parents);
        let last = parents.filter_map(|parent| places.get(parent)).max();
        places.insert(*stage, last.map_or(0, |last| last.saturating_add(1)));
    }
    places
}

/// What each task of a profile holds: its cores, and as large a part of an executor's memory.
fn holds(app: &App, profile: i64, assumed: &SparkAssumptions) -> Holds {
    let sizes = app.profiles.get(&profile);
    let [cores, gpus] = app.settings.task(sizes);
    let own = || app.executors.values().filter(|executor| executor.profile == profile);
    let seen = own().map(|executor| executor.cores).max();
    let set = sizes.and_then(|sizes| sizes.cores).or_else(|| app.settings.executor_cores());
    let of_executor = seen.or(set).unwrap_or(cores).max(1);
    let executor = match own().any(|executor| executor.is_driver) {
        true => app.settings.driver(of_executor),
        false => app.settings.executor(
            app.manager(),
            sizes,
            profile == 0,
            [of_executor, 0],
            assumed.container_step,
        ),
    };
    let part = u128::from(executor.memory) * u128::from(cores) / u128::from(of_executor);
    let memory = u64::try_from(part).unwrap_or(u64::MAX).min(executor.memory);
    Holds { cores, memory, gpus }
}

/// Thousandths of a core x milliseconds in which executors ran tasks.
pub(super) fn used(app: &App) -> u128 {
    let cores = |profile: i64| u128::from(app.settings.task(app.profiles.get(&profile))[0]);
    let mut of_profile: BTreeMap<i64, u128> = BTreeMap::new();
    for (run, _) in app.all_runs() {
        let profile = app.stages.get(&run.stage).map_or(0, |stage| stage.profile);
        let each = *of_profile.entry(profile).or_insert(0);
        of_profile.insert(profile, each + u128::from(run.millis));
    }
    of_profile.into_iter().map(|(profile, millis)| cores(profile) * millis).sum()
}
