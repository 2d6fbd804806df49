//! What the fuzz targets share.

use std::ops::ControlFlow;
use std::path::Path;

use meed::{ResourceKinds, Time, Unit};
use meed_scenario::{LoadError, Scenario, Setting};
use meed_sim::world::Progress;
use meed_sim::{SimulateOptions, Watch, simulate};
use meed_workload::canonical::CanonicalSource;
use meed_workload::convert::convert;
use meed_workload::{Job, JobSource, OnBadLine, Origin};

/// Cores and memory.
pub fn kinds() -> ResourceKinds {
    let kinds = vec![("cpu".to_owned(), Unit::Milli), ("memory".to_owned(), Unit::Bytes)];
    ResourceKinds::new(kinds).expect("two different names")
}

/// Shares of a largest machine, as Google's traces have them.
pub fn shares() -> ResourceKinds {
    let kinds = ["cpu", "memory"].map(|name| (name.to_owned(), Unit::Milli));
    ResourceKinds::new(kinds.to_vec()).expect("two different names")
}

/// Most tasks of a fuzzed job that are looked at one by one: the fuzzer wants many short runs.
const MAX_TASKS: u64 = 100_000;

/// Reads `source` to its end and asserts what every source promises, and that a line is a job,
/// wrong or left out. `None` when an error ended it.
pub fn drain(source: &mut dyn JobSource, kinds: &ResourceKinds) -> Option<Vec<Job>> {
    let jobs = drain_events(source, kinds)?;
    let counts = source.counts();
    assert_eq!(counts.lines, counts.jobs + counts.bad + counts.ignored, "every line is accounted \
        for");
    Some(jobs)
}

/// The same of a source whose lines are not jobs.
pub fn drain_events(source: &mut dyn JobSource, kinds: &ResourceKinds) -> Option<Vec<Job>> {
    let queues = source.queues().to_vec();
    for (number, queue) in queues.iter().enumerate() {
        assert!(!queues[..number].contains(queue), "queue {queue:?} twice");
    }
    let mut jobs: Vec<Job> = Vec::new();
    let mut last = Time::ZERO;
    let whole = loop {
        match source.next_job() {
            Ok(Some(job)) => {
                job.check(queues.len(), kinds.len()).expect("every job passes its check");
                assert!(job.submit >= last, "jobs are in order of submission");
                last = job.submit;
                if job.tasks() <= MAX_TASKS {
                    for group in &job.groups {
                        let total: u128 = (0..group.count)
                            .map(|task| u128::from(group.duration.get(task).as_micros()))
                            .sum();
                        assert!(total <= u128::from(group.count) << 53);
                    }
                }
                jobs.push(job);
            }
            Ok(None) => break true,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                break false;
            }
        }
    };
    let counts = source.counts();
    assert_eq!(counts.jobs, jobs.len() as u64, "jobs are counted");
    if whole {
        assert!(counts.lines >= counts.bad + counts.ignored, "no line is counted twice");
        assert_eq!(source.next_job().ok(), Some(None), "the end stays the end");
    }
    assert_eq!(source.bad_lines().len() as u64, counts.bad.min(5));
    whole.then_some(jobs)
}

/// Writes what `open` reads in Meed's own format and asserts that it reads back equal.
pub fn round_trip(mut source: impl JobSource, kinds: &ResourceKinds, jobs: &[Job]) {
    let (bytes, _) = convert(&mut source, kinds, Vec::new(), "copy").expect("what was read can be \
        written");
    let origin = Origin::bytes("copy", bytes);
    let mut copy =
        CanonicalSource::open(&origin, None, OnBadLine::Stop).expect("what was written can be \
            read");
    assert_eq!(copy.queues(), source.queues());
    assert_eq!(copy.kinds(), kinds);
    assert_eq!(drain(&mut copy, kinds).as_deref(), Some(jobs));
}

/// The scenario of `text`; its traces are looked for where there are none.
pub fn scenario(text: &str, sets: &[String]) -> Result<Scenario, LoadError> {
    let settings = Setting::parse_all(sets)?;
    Scenario::parse("f.toml", text, Path::new("/nonexistent"), &settings, OnBadLine::Skip)
}

/// Most nodes, tasks, jobs and so on of a scenario that is looked at: the fuzzer wants many short
/// runs.
const SMALL: f64 = 300.0;

/// Whether all counts of a scenario are small, and its trace none of this machine's files. What is
/// no TOML is small.
pub fn is_small(text: &str) -> bool {
    toml::from_str::<toml::Table>(text).map_or(true, |table| small_table(&table))
}

fn small_table(table: &toml::Table) -> bool {
    table.iter().all(|(key, value)| match key.as_str() {
        "count" | "tasks" | "jobs" | "closed" | "tenants" | "reduces" => small_numbers(value),
        // As many blocks: those of the smallest default.
        "input" => value.as_str().is_none() && small_numbers(value),
        "file" => value.as_str().is_none_or(|file| !file.starts_with('/')),
        // A mix without a count is a cell of thousands of nodes.
        "mix" => table.contains_key("count"),
        _ => small_inside(value),
    })
}

fn small_inside(value: &toml::Value) -> bool {
    match value {
        toml::Value::Table(table) => small_table(table),
        toml::Value::Array(values) => values.iter().all(small_inside),
        _ => true,
    }
}

fn small_numbers(value: &toml::Value) -> bool {
    match value {
        toml::Value::Integer(number) => *number as f64 <= SMALL,
        toml::Value::Float(number) => *number <= SMALL,
        toml::Value::Table(table) => table.values().all(small_numbers),
        toml::Value::Array(values) => values.iter().all(small_numbers),
        // Written with a unit: of time at most, which is a number of seconds.
        toml::Value::String(_) => false,
        _ => true,
    }
}

/// Runs a policy until the first word about progress, and asserts what holds of every run that ends
/// before.
pub fn run_briefly(scenario: &Scenario, policy: &str) {
    let options = SimulateOptions { policies: vec![policy.to_owned()], series_points: 8,
        ..SimulateOptions::default() };
    match simulate(scenario, &options, None, &mut StopSoon) {
        Ok(comparison) => {
            let run = &comparison.runs[0];
            let figures = run.queues.iter()
                .flat_map(|queue| [Some(queue.lent), queue.rho, queue.mean_wait_s]);
            assert!(figures.flatten().chain([run.psi, run.omega]).all(f64::is_finite), "{run:?}");
            assert!(run.utilization.values().all(|used| (0.0..=1.0 + 1e-9).contains(used)),
                "{run:?}");
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

struct StopSoon;

impl Watch for StopSoon {
    fn begins(&mut self, _: &str) {}
    fn goes_on(&mut self, _: Progress) -> ControlFlow<()> {
        ControlFlow::Break(())
    }
    fn skipped(&mut self, _: &str, _: &[String]) {}
}
