//! Logs as workloads. A simulated run's own log gives that run again, to the byte; a live world's
//! gives what its records tell, which is computed here by a second code.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use meed_journal::{Fact, Header, JobKey, Kind, Record, TaskKey};
use meed_scenario::{Scenario, Setting};
use meed_sim::{SimulateOptions, Unwatched, simulate};
use meed_workload::{Job, JobSource, OnBadLine};
use proptest::prelude::*;

use crate::live::lives;
use crate::recompute::scenarios;
use crate::world::header;

const POLICIES: [&str; 5] = [
    "static",
    "fair",
    "long-term",
    "long-term,half_life=7s,discount=0.5,t_wait=2s",
    "drf,when_blocked=wait",
];

fn load(path: &Path, sets: &[&str]) -> Scenario {
    let settings: Vec<Setting> = sets.iter().map(|set| set.parse().expect("a change")).collect();
    Scenario::load_any(path, &settings, OnBadLine::Stop).expect("the log is a workload")
}

/// The log of `scenario` under these policies.
fn log_of(scenario: &Scenario, policies: &[&str]) -> String {
    let policies = policies.iter().map(|policy| (*policy).to_owned()).collect();
    let options = SimulateOptions { policies, ..SimulateOptions::default() };
    let mut log = Vec::new();
    simulate(scenario, &options, Some(&mut log), &mut Unwatched).expect("it runs through");
    String::from_utf8(log).expect("the log is text")
}

/// Each run of a log without its header.
fn runs_of(log: &str) -> Vec<String> {
    let mut runs: Vec<String> = Vec::new();
    for line in log.lines() {
        match (line.starts_with("{\"seq\":0,"), runs.last_mut()) {
            (true, _) => runs.push(String::new()),
            (false, Some(run)) => run.extend([line, "\n"]),
            (false, None) => panic!("a log begins with a header"),
        }
    }
    runs
}

/// The law: all that a run's log tells happens again, at the same instants.
fn is_itself(text: &str) {
    let scenario = Scenario::parse("s.toml", text, Path::new("."), &[], OnBadLine::Skip)
        .expect("a valid scenario");
    let log = log_of(&scenario, &POLICIES);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    fs::write(&path, &log).unwrap();
    for (number, (policy, recorded)) in POLICIES.iter().zip(runs_of(&log)).enumerate() {
        let again = load(&path, &[&format!("trace.run=\"{}\"", number + 1)]);
        let again = runs_of(&log_of(&again, &[policy])).remove(0);
        let lines = recorded.lines().zip(again.lines());
        for (recorded, again) in lines {
            assert_eq!(recorded, again, "{policy}: {text}");
        }
        assert_eq!(recorded.lines().count(), again.lines().count(), "{policy}: {text}");
    }
}

#[test]
fn a_simulated_run_comes_out_of_its_log() {
    scenarios::BY_HAND.iter().for_each(|text| is_itself(text));
    is_itself(include_str!("../../../../examples/lending.toml"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn random_runs_come_out_of_their_logs(plan in scenarios::plan()) {
        is_itself(&plan.to_toml());
    }
}

/// What is known of a task, as the records tell it one by one.
#[derive(Default)]
struct Task {
    starts: Vec<(u32, u64)>,
    overs: BTreeMap<u32, (Kind, u64)>,
}

/// Microseconds that each task runs which is told to have run, in order of their jobs.
fn twin(records: &[Record]) -> Vec<u64> {
    let end = records.last().map_or(0, |record| record.t.as_micros());
    let mut tasks: BTreeMap<(JobKey, u32), Task> = BTreeMap::new();
    for record in records {
        let t = record.t.as_micros();
        let kind = record.fact.kind();
        match &record.fact {
            Fact::TaskStarted(start) => {
                let since = start.since.map_or(t, |since| since.as_micros());
                let task = tasks.entry((start.job.clone(), start.task)).or_default();
                task.starts.push((start.attempt, since));
            }
            Fact::TaskEnded(told)
            | Fact::TaskFailed(told)
            | Fact::TaskLost(told)
            | Fact::StartFailed(told)
            | Fact::TaskStopped(told)
            | Fact::TaskWithdrawn(told) => {
                let TaskKey { job, task, attempt } = told.key();
                tasks.entry((job, task)).or_default().overs.insert(attempt, (kind, t));
            }
            _ => {}
        }
    }
    let mut all: Vec<u64> = tasks.into_values().filter_map(|task| length(&task, end)).collect();
    all.sort_unstable();
    all
}

fn length(task: &Task, end: u64) -> Option<u64> {
    let of = |kind: Kind| {
        let over = |&(attempt, since): &(u32, u64)| {
            let (how, at) = task.overs.get(&attempt)?;
            (*how == kind).then_some(at - since)
        };
        task.starts.iter().filter_map(over).collect::<Vec<u64>>()
    };
    let failed = of(Kind::TaskFailed);
    let known =
        of(Kind::TaskEnded).pop().or(of(Kind::TaskStopped).pop()).or(of(Kind::TaskWithdrawn).pop());
    let runs = task.starts.iter().filter(|(attempt, _)| !task.overs.contains_key(attempt));
    let open = runs.map(|(_, since)| end - since).chain(of(Kind::TaskLost)).max();
    let sum: u64 = failed.iter().sum();
    match known.or(open) {
        Some(last) => Some(sum + last),
        None => (!failed.is_empty()).then_some(sum),
    }
}

fn jobs_of(scenario: &Scenario) -> Vec<Job> {
    let mut source = scenario.source(0, OnBadLine::Stop).unwrap();
    std::iter::from_fn(|| source.next_job().unwrap()).collect()
}

#[test]
fn a_live_run_is_what_its_records_tell() {
    for seed in 0..12 {
        let folder = tempfile::tempdir().unwrap();
        let header: Header = header(seed);
        let (_, lines) = lives(folder.path(), seed, 150, header);
        let records: Vec<Record> =
            lines.iter().map(|line| Record::decode(line.as_bytes()).unwrap()).collect();
        let scenario = load(folder.path(), &[]);
        let jobs = jobs_of(&scenario);
        let groups = jobs.iter().flat_map(|job| &job.groups);
        let tasks = groups.flat_map(|group| (0..group.count).map(|i| group.duration.get(i)));
        let mut lengths: Vec<u64> = tasks.map(|span| span.as_micros()).collect();
        lengths.sort_unstable();
        assert_eq!(lengths, twin(&records), "seed {seed}");
        assert!(jobs.is_sorted_by_key(|job| job.submit));
        // What is not known is told, and can be left out.
        let told = scenario.source(0, OnBadLine::Stop).unwrap().assumptions();
        assert!(told.iter().any(|words| words.contains("tasks never ran")), "{told:?}");
        let drop = load(folder.path(), &["trace.unfinished=drop"]);
        let fewer: u64 = jobs_of(&drop).iter().map(Job::tasks).sum();
        assert!(fewer < lengths.len() as u64, "seed {seed}: {fewer}");
        // It runs under any policy, on the nodes and with the queues of the log.
        let log = log_of(&scenario, &["static", "fair", "long-term"]);
        assert_eq!(runs_of(&log).len(), 3);
    }
}
