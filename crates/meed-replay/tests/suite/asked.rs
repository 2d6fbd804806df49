//! Pictures against what the log says, orders from outside against the engine's own, and what
//! becomes of a run whose advisor stops it.

use std::ops::ControlFlow;
use std::path::Path;

use meed_workload::{OnBadLine, Origin};
use serde_json::Value;

use meed::{Rank, Span, Time};
use meed_replay::{Recording, verify};
use meed_scenario::Scenario;
use meed_scenario::log::read::LogFile;
use meed_sim::asked::{Advisor, Asker, Picture, QueuePicture, places};
use meed_sim::record::RunRecord;
use meed_sim::world::RunError;
use meed_sim::{Overtaking, SimulateError, SimulateOptions, Unwatched, simulate_attended};

/// Four leaves, two of them below a parent; the last has no children and no jobs.
const CROWD: &str = r#"
[cluster]
resources = ["cpu", "memory"]
[[cluster.node]]
count = 2
capacity = { cpu = 4, memory = "8GiB" }
[[queue]]
name = "g"
weight = 2
[[queue]]
name = "g.a"
[[queue]]
name = "g.b"
weight = 3
[[queue]]
name = "c"
weight = 0.5
[[queue]]
name = "d"
[[generator]]
queue = "g.a"
jobs = 40
tasks = { uniform = [1.0, 6.0] }
duration = { exponential = 50.0 }
demand = { cpu = 1, memory = "1GiB" }
arrivals = { poisson = "30s" }
[[generator]]
queue = "g.b"
jobs = 40
tasks = { uniform = [1.0, 6.0] }
duration = { exponential = 50.0 }
demand = { cpu = 1 }
arrivals = { poisson = "40s" }
[[generator]]
queue = "c"
jobs = 40
tasks = 3
duration = 50
demand = { cpu = 1.5 }
arrivals = { every = 45 }
"#;

fn scenario(text: &str) -> Scenario {
    Scenario::parse("s.toml", text, Path::new("."), &[], OnBadLine::Stop).expect("it is right")
}

/// What a tick showed, without borrows.
#[derive(Clone, PartialEq, Debug)]
struct Shown {
    at: Time,
    elapsed: Span,
    job_micros: u128,
    queues: Vec<QueuePicture>,
}

/// Calls a function, and writes down what it sees.
struct Calls<'c, F> {
    call: F,
    shown: &'c mut Vec<Shown>,
}

impl<F: FnMut(&Picture<'_>, &mut [Rank]) -> ControlFlow<()>> Advisor for Calls<'_, F> {
    fn advise(&mut self, seen: &Picture<'_>, ranks: &mut [Rank]) -> ControlFlow<()> {
        self.over(seen);
        (self.call)(seen, ranks)
    }

    fn over(&mut self, seen: &Picture<'_>) {
        let Picture { at, elapsed, job_micros, queues, .. } = *seen;
        self.shown.push(Shown { at, elapsed, job_micros, queues: queues.to_vec() });
    }
}

struct Ran {
    record: RunRecord,
    log: Vec<u8>,
    shown: Vec<Shown>,
}

impl Ran {
    /// What happened to tasks: (kind, when, queue, job, task).
    fn tasks(&self) -> Vec<(String, f64, String, u64, u64)> {
        let lines = std::str::from_utf8(&self.log).expect("text").lines();
        let lines = lines.map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        let task = |line: Value| {
            let kind = ["start", "end"].into_iter().find(|kind| line.get(kind).is_some())?;
            let what = &line[kind];
            let number = |key: &str| what[key].as_u64().expect("a number");
            let queue = what["queue"].as_str().unwrap_or_default().to_owned();
            let at = line["t"].as_f64().expect("a time");
            Some((kind.to_owned(), at, queue, number("job"), number("task")))
        };
        lines.filter_map(task).collect()
    }
}

fn ran(
    text: &str,
    words: &str,
    every: Option<u64>,
    call: impl FnMut(&Picture<'_>, &mut [Rank]) -> ControlFlow<()>,
) -> Result<Ran, SimulateError> {
    let scenario = scenario(text);
    let (mut shown, mut log) = (Vec::new(), Vec::new());
    let options = SimulateOptions {
        policies: vec![words.to_owned()],
        keep_jobs: true,
        ..SimulateOptions::default()
    };
    let calls = Box::new(Calls { call, shown: &mut shown });
    let mut asker = Asker::new(every.and_then(Span::from_secs), calls);
    let attendants = vec![(words.split(',').next() == Some("told")).then_some(&mut asker as _)];
    let done = simulate_attended(
        &scenario,
        &options,
        Overtaking::Nothing,
        attendants,
        Some(&mut log),
        &mut Unwatched,
    );
    drop(asker);
    let record = done?.runs.remove(0);
    Ok(Ran { record, log, shown })
}

fn by_keys(
    key: impl Fn(&QueuePicture) -> f64,
) -> impl FnMut(&Picture<'_>, &mut [Rank]) -> ControlFlow<()> {
    move |seen, ranks| {
        let keys: Vec<f64> = seen.queues.iter().map(&key).collect();
        places(&keys, seen.parents, ranks);
        ControlFlow::Continue(())
    }
}

fn used_by_weight(queue: &QueuePicture) -> f64 {
    queue.used[0] as f64 / queue.weight as f64
}

/// Asked at each instant for the use by weight, an order from outside serves as `long-term` does;
/// asked once for what is held by weight, as `fair` does.
#[test]
fn formulas_of_the_engine_make_its_runs() {
    let own =
        ran(CROWD, "long-term,quantum=0", None, |_, _| unreachable!("nobody is asked")).unwrap();
    let told = ran(CROWD, "told", None, by_keys(used_by_weight)).unwrap();
    assert_eq!(told.tasks(), own.tasks());
    assert!(told.tasks().len() > 400);
    // What was used is seen late: somebody is served otherwise.
    let late = ran(CROWD, "told", Some(300), by_keys(used_by_weight)).unwrap();
    assert!(late.tasks() != own.tasks(), "the cadence changes nothing");

    let fair = ran(CROWD, "fair", None, |_, _| unreachable!("nobody is asked")).unwrap();
    let held_by_weight = |seen: &Picture<'_>, ranks: &mut [Rank]| {
        for (rank, queue) in ranks.iter_mut().zip(seen.queues) {
            let per = u32::try_from(queue.weight).unwrap().try_into().unwrap();
            *rank = Rank { step: 1, per, ..Rank::at(0) };
        }
        ControlFlow::Continue(())
    };
    let told = ran(CROWD, "told", Some(3600), held_by_weight).unwrap();
    assert_eq!(told.tasks(), fair.tasks());
    assert!(told.tasks() != own.tasks(), "fair is as long-term");
}

/// Ranks are facts of the log: it is replayed to the byte, without whoever was asked.
#[test]
fn a_log_is_replayed_without_the_advisor() {
    for every in [None, Some(60), Some(7)] {
        let told = ran(CROWD, "told", every, by_keys(used_by_weight)).unwrap();
        let log = LogFile::of(Origin::bytes("log", told.log.clone())).unwrap();
        let recording = Recording::of(log, None).unwrap();
        assert_eq!(verify(&recording, &mut Unwatched).unwrap(), None, "{every:?}");
        assert!(std::str::from_utf8(&told.log).unwrap().contains("queue_changed"));
    }
}

/// Demands of a task in thousandths of a core, by queue of [`CROWD`].
fn cores(queue: &str) -> u64 {
    if queue == "c" { 1500 } else { 1000 }
}

/// What is shown is what the log says of tasks that have started, and not ended, before the tick.
#[test]
fn pictures_are_what_the_log_says() {
    let told = ran(CROWD, "told", Some(60), by_keys(used_by_weight)).unwrap();
    let mut runs: Vec<(u64, u64, String, f64, f64)> = Vec::new();
    for (kind, at, queue, job, task) in told.tasks() {
        match kind.as_str() {
            "start" => runs.push((job, task, queue, at, f64::INFINITY)),
            _ => {
                let of = runs.iter_mut().find(|run| (run.0, run.1) == (job, task));
                of.expect("it has started").4 = at;
            }
        }
    }
    let names = ["g", "g.a", "g.b", "c", "d"];
    let mut before = vec![0.0; names.len()];
    for shown in &told.shown {
        let at = shown.at.as_secs_f64();
        for (place, (name, queue)) in names.iter().zip(&shown.queues).enumerate() {
            let below = |of: &str| of == *name || of.starts_with(&format!("{name}."));
            let mine = || runs.iter().filter(|run| below(&run.2) && run.3 < at);
            let here = || mine().filter(|run| run.4 >= at);
            // At the end all of that instant is seen.
            let is_last = Some(shown) == told.shown.last();
            let held: u64 = here().filter(|_| !is_last).map(|run| cores(&run.2)).sum();
            let running = here().filter(|_| !is_last).count() as u64;
            assert_eq!((queue.held[0], queue.running), (held, running), "{name} at {at}");
            let used: f64 = mine().map(|run| cores(&run.2) as f64 * (run.4.min(at) - run.3)).sum();
            let near = |got: u128, wanted: f64| (got as f64 / 1e6 - wanted).abs() < 1e-3 * at + 1.0;
            assert!(near(queue.used[0], used), "{name} at {at}: {} {used}", queue.used[0]);
            assert!(near(queue.lately, used - before[place]), "{name} at {at}");
            before[place] = used;
        }
    }
}

/// Ticks are at multiples of the cadence up to the end, and time in the system is that of jobs.
#[test]
fn ticks_are_even_and_jobs_are_counted() {
    for every in [Some(60), Some(7), None] {
        let told = ran(CROWD, "told", every, by_keys(used_by_weight)).unwrap();
        let ticks = &told.shown[..told.shown.len() - 1];
        for (at, tick) in ticks.iter().enumerate() {
            if let Some(every) = every {
                assert_eq!(tick.at, Time::ZERO + Span::from_secs(every * at as u64).unwrap());
            }
        }
        for pair in told.shown.windows(2) {
            assert_eq!(pair[0].at + pair[1].elapsed, pair[1].at);
        }
        let last = told.shown.last().unwrap();
        assert_eq!(last.at.as_secs_f64(), told.record.end_s);
        let in_system: u128 = told.shown.iter().map(|tick| tick.job_micros).sum();
        let times = told.record.jobs.iter().map(|job| job.ended_s.unwrap() - job.submit_s);
        assert!((in_system as f64 / 1e6 - times.sum::<f64>()).abs() < 1e-3, "{every:?}");
        let lately: u128 = told.shown.iter().map(|tick| tick.queues[1].lately).sum();
        assert_eq!(lately, last.queues[1].used[0]);
        let entitled: Vec<f64> =
            last.queues.iter().map(|queue| queue.entitled as f64 / 1e9).collect();
        assert!((entitled[0] - entitled[1] - entitled[2]).abs() < 1e-6);
        assert!(entitled[3] > 0.0 && entitled[4] == 0.0);
    }
}

/// `a` goes with its last task, at the instant of a tick: its rank is said before that task ends.
#[test]
fn ranks_of_queues_that_go_at_that_instant_are_heard_by_nobody() {
    let text = r#"
        [cluster]
        resources = ["cpu"]
        [[cluster.node]]
        capacity = { cpu = 1 }
        [[queue]]
        name = "a"
        [[queue]]
        name = "b"
        [[job]]
        queue = "a"
        duration = 60
        demand = { cpu = 1 }
        [[job]]
        queue = "b"
        duration = 90
        demand = { cpu = 1 }
        [[change]]
        at = 30
        queue_removed = "a"
    "#;
    let mut asked = 0;
    let run = ran(text, "told", Some(60), |_, ranks| {
        asked += 1;
        ranks.fill(Rank::at(asked));
        ControlFlow::Continue(())
    });
    let tasks = run.expect("it runs to its end").tasks();
    let ends = tasks.iter().filter(|(kind, ..)| kind == "end").map(|(_, at, ..)| *at);
    assert_eq!(ends.collect::<Vec<_>>(), [60.0, 150.0]);
    assert!(asked >= 2);
}

#[test]
fn an_advisor_may_stop_the_run() {
    let mut asked = 0;
    let stopped = ran(CROWD, "told", Some(60), |_, _| {
        asked += 1;
        if asked == 5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let Err(SimulateError::Run(RunError::Stopped { at })) = stopped else { panic!("it goes on") };
    assert!(at.as_secs_f64() >= 240.0 && at.as_secs_f64() < 300.0, "{at}");
    assert_eq!(asked, 5);
}

#[test]
fn where_nobody_can_be_told_it_is_said() {
    let wrong = |text: &str, words: &str| {
        let scenario = scenario(text);
        let mut shown = Vec::new();
        let call = |_: &Picture<'_>, _: &mut [Rank]| ControlFlow::Continue(());
        let mut asker = Asker::new(None, Box::new(Calls { call, shown: &mut shown }));
        let options =
            SimulateOptions { policies: vec![words.to_owned()], ..SimulateOptions::default() };
        let attendants = vec![Some(&mut asker as _)];
        let nothing = Overtaking::Nothing;
        simulate_attended(&scenario, &options, nothing, attendants, None, &mut Unwatched)
            .unwrap_err()
            .to_string()
    };
    assert!(wrong(CROWD, "static").contains("has no order to be told"));
    let mapreduce = include_str!("../../../../examples/mapreduce.toml");
    assert!(wrong(mapreduce, "told").contains("MapReduce world"));
}

/// A place is the number of siblings with smaller keys.
#[test]
fn places_count_who_is_before() {
    let parents = [None, None, Some(0), Some(0), None, Some(0), Some(1), None];
    let infinite = f64::INFINITY;
    for keys in [
        [3.0, 1.0, 5.0, 5.0, 1.0, 2.0, 9.0, 1.5],
        [0.0, -0.0, -1.0, infinite, -infinite, infinite, 0.0, 0.0],
        [1e300, 1e-300, 5e-324, 0.0, -5e-324, -1e300, 0.0, infinite],
    ] {
        let mut ranks = [Rank::default(); 8];
        places(&keys, &parents, &mut ranks);
        for (queue, rank) in ranks.iter().enumerate() {
            let before = (0..8)
                .filter(|&other| parents[other] == parents[queue] && keys[other] < keys[queue]);
            assert_eq!(*rank, Rank::at(before.count() as u64), "{keys:?} {queue}");
        }
    }
}
