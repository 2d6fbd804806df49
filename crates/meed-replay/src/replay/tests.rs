//! What is played back, through forced starts, is what was decided: the same record, in every
//! figure.

use std::path::Path;

use meed_sim::{SimulateOptions, Unwatched, simulate};
use meed_workload::{OnBadLine, Origin};

use super::*;

const FAILURES: &str = r#"
[cluster]
resources = ["cpu", "memory"]
[[cluster.node]]
count = 2
capacity = { cpu = 4, memory = "4GiB" }
[[queue]]
name = "a.x"
max = { cpu = 3 }
[[queue]]
name = "a.y"
[[queue]]
name = "b"
order = "fifo"
[[generator]]
queue = "a.x"
jobs = 20
tasks = { uniform = [1.0, 9.0] }
duration = { exponential = 7.0 }
limit = 6
demand = { cpu = 1 }
arrivals = { poisson = "4s" }
[[generator]]
queue = "a.y"
jobs = 12
duration = 9
demand = { cpu = 2, memory = "1GiB" }
arrivals = { closed = 3, pause = 1 }
[[generator]]
queue = "b"
jobs = 9
arrivals = { every = 6 }
[[generator.stage]]
tasks = 6
duration = 5
demand = { cpu = 1.5 }
[[generator.stage]]
tasks = 1
duration = 3
limit = 4.5
demand = { memory = "3GiB" }
[[change]]
at = 20
node_leaves = "n0-1"
[[change]]
at = 40
node_joins = { capacity = { cpu = 3, memory = "8GiB" } }
[policies.priced]
prices = { cpu = 3.1, memory = 1e-9 }
[run]
fail_rate = 0.1
"#;

#[test]
fn a_run_played_back_has_the_same_record() {
    let reclaim = "long-term,reclaim_after=1s,reclaim_min_runtime=1s,reclaim_guard=2s,\
                   reclaim_grace=0.5s";
    let policies =
        ["static", "fair", "long-term", "long-term,half_life=20s,discount=0.5,t_wait=3s", reclaim];
    let policies: Vec<String> = policies.map(str::to_owned).to_vec();
    for text in [FAILURES, include_str!("../../../../examples/hierarchy.toml")] {
        let scenario =
            Scenario::parse("s.toml", text, Path::new("."), &[], OnBadLine::Stop).expect("valid");
        let mut log = Vec::new();
        let options = SimulateOptions {
            policies: policies.clone(),
            series_points: 30,
            ..SimulateOptions::default()
        };
        simulate(&scenario, &options, Some(&mut log), &mut Unwatched).expect("it runs through");
        let log = LogFile::of(Origin::bytes("log", log)).expect("a log");
        for run in 1..=policies.len() {
            let recording = Recording::of(log.clone(), Some(&run.to_string())).expect("a run");
            let again = recording.again(30, None, &mut Unwatched).expect("it runs again");
            assert_eq!((again.bytes, again.decisions), (None, None));
            let played = recording.played_back(30, &mut Unwatched).expect("it can be played back");
            // Room is held by plans, which are not played: only their starts and stops are.
            let json = |record: &RunRecord| {
                let mut record = record.clone();
                record.held_idle = None;
                record.queues.iter_mut().for_each(|queue| queue.held_idle = None);
                serde_json::to_string(&record).expect("plain numbers")
            };
            assert_eq!(json(&played), json(&again.record), "{}", recording.policy());
            let stopped = played.stopped.map(|stopped| stopped.tasks > 0);
            assert_ne!(stopped, Some(text != FAILURES), "some tasks are stopped");
        }
    }
}

/// Earlier versions chose by the number of a slot who of one instant is lost with a node that
/// shrinks: their logs are played back as they are.
#[test]
fn who_was_lost_is_what_the_log_says() {
    let text = r#"
[cluster]
resources = ["cpu"]
[[cluster.node]]
name = "n0"
capacity = { cpu = 6 }
[[queue]]
name = "a"
[[job]]
queue = "a"
submit = 9
tasks = 2
demand = { cpu = 3 }
duration = 5
[[change]]
at = 13
node_resized = { name = "n0", capacity = { cpu = 3 } }
"#;
    let scenario =
        Scenario::parse("s.toml", text, Path::new("."), &[], OnBadLine::Stop).expect("valid");
    let mut log = Vec::new();
    let options = SimulateOptions { policies: vec!["fair".into()], ..SimulateOptions::default() };
    simulate(&scenario, &options, Some(&mut log), &mut Unwatched).expect("it runs through");
    let log = String::from_utf8(log).expect("text");
    assert_eq!(log.matches("\"lost\"").count(), 1, "{log}");
    // From there on the tasks are the other ones.
    let (before, after) = log.split_at(log.find("\"node_resized\"").expect("it shrinks"));
    let swap = |text: &str| {
        let other = text.replace("\"task\":0", "\"task\":none");
        other.replace("\"task\":1", "\"task\":0").replace("\"task\":none", "\"task\":1")
    };
    let other = LogFile::of(Origin::bytes("log", (before.to_owned() + &swap(after)).into_bytes()));
    let recording = Recording::of(other.expect("a log"), None).expect("a run");
    let again = recording.again(0, None, &mut Unwatched).expect("it runs again");
    assert!(again.decisions.is_some(), "this version decides otherwise");
    let played = recording.played_back(0, &mut Unwatched).expect("it can be played back");
    let json = |record: &RunRecord| serde_json::to_string(&record.queues).expect("plain numbers");
    assert_eq!(json(&played), json(&again.record), "both tasks are alike");
}

#[test]
fn a_policy_survives_the_header() {
    let scenario =
        Scenario::parse("s.toml", FAILURES, Path::new("."), &[], OnBadLine::Stop).expect("valid");
    for words in [
        "static",
        "fifo",
        "fair,resource=memory,when_blocked=wait",
        "fair,when_blocked=reserve,reservations=all",
        "long-term,reclaim_after=2h,reclaim_min_runtime=1min,reclaim_guard=3h,reclaim_grace=9s",
        "long-term,round=36h,newcomer=early-bird,discount=0.123",
        "long-term,half_life=1.000001s,t_wait=250ms,newcomer=average,quantum=7s",
        "priced,quantum_initial=2s,quantum_interval=300ms",
    ] {
        let plan = scenario.plan(words).expect("a policy");
        let header = scenario.header(words, 7, &plan, Vec::new());
        let text = serde_json::to_string(&header).expect("plain values");
        let back: meed_journal::Header = serde_json::from_str(&text).expect("it was written");
        assert_eq!(serde_json::to_string(&back).expect("plain values"), text);
        let again = Scenario::of_header(&back, "log")
            .expect("a scenario")
            .recorded_plan(&back, "log")
            .expect("a plan");
        assert_eq!(again.config.root, plan.config.root, "{words}");
        let policies = |plan: &Plan| {
            plan.config.queues.iter().map(|queue| queue.policy.clone()).collect::<Vec<_>>()
        };
        assert_eq!(policies(&again), policies(&plan), "{words}");
        assert_eq!(
            (again.partitioned, again.placement_name),
            (plan.partitioned, plan.placement_name)
        );
    }
}
