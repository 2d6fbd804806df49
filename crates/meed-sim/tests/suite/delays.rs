//! Heartbeats and masters that start: a small run followed by hand, and what is refused.

use serde_json::Value;

use meed_sim::{SimulateOptions, Unwatched, simulate};

use crate::runs::{self, scenario};

/// Two nodes; one is heard at whole seconds, the other half a second later.
const TEXT: &str = r#"
[cluster]
resources = ["slot"]
[[cluster.node]]
count = 2
capacity = { slot = 2 }
[[queue]]
name = "a"
[[job]]
queue = "a"
submit = "0.3s"
[[job.group]]
tasks = 3
demand = { slot = 1 }
duration = "2s"
[[job.group]]
stage = 1
tasks = 1
demand = { slot = 1 }
duration = "1s"
"#;

/// What happened to tasks, and when; `+` where a stage is asked for.
fn told(sets: &[&str]) -> Vec<(f64, String)> {
    let log = runs::log(&scenario(TEXT, sets).unwrap(), "fair");
    let word = |line: &Value| {
        let task = |kind: &str| line.get(kind).map(|it| format!("{kind} {}", it["task"]));
        let added = line.get("tasks_added").map(|_| "+".to_owned());
        task("start").or(task("end")).or(added).map(|word| (line["t"].as_f64().unwrap(), word))
    };
    log.iter().filter_map(word).collect()
}

fn check(sets: &[&str], expected: &[(f64, &str)]) {
    let expected: Vec<(f64, String)> = expected.iter().map(|&(t, w)| (t, w.to_owned())).collect();
    assert_eq!(told(sets), expected, "{sets:?}");
}

#[test]
fn without_them_nothing_is_late() {
    let at_once = [
        (0.3, "start 0"),
        (0.3, "start 1"),
        (0.3, "start 2"),
        (2.3, "end 0"),
        (2.3, "end 1"),
        (2.3, "end 2"),
        (2.3, "+"),
        (2.3, "start 3"),
        (3.3, "end 3"),
    ];
    check(&[], &at_once);
}

/// The job's tasks are asked for a second after it has come, and nothing else is late.
#[test]
fn a_master_starts() {
    let later = [
        (1.3, "+"),
        (1.3, "start 0"),
        (1.3, "start 1"),
        (1.3, "start 2"),
        (3.3, "end 0"),
        (3.3, "end 1"),
        (3.3, "end 2"),
        (3.3, "+"),
        (3.3, "start 3"),
        (4.3, "end 3"),
    ];
    check(&["run.master_start=1"], &later);
}

/// Its master beats at 0.3 s after whole seconds: a task that is granted at 0.5 s runs from 1.3 to
/// 3.3 s, and the node that is heard at half seconds says so at 3.5 s.
#[test]
fn nodes_and_masters_are_heard_at_heartbeats() {
    let late = [
        (0.5, "start 0"),
        (1.0, "start 1"),
        (1.5, "start 2"),
        (3.5, "end 0"),
        (4.0, "end 1"),
        (4.5, "end 2"),
        (5.3, "+"),
        (5.5, "start 3"),
        (7.5, "end 3"),
    ];
    check(&["run.heartbeat=1"], &late);
}

/// Task 0 is the master: it is granted at 0.5 s, is up and asks at 1.5 s, and leaves last.
#[test]
fn a_master_holds_room_until_its_job_has_ended() {
    let held = [
        (0.5, "start 0"),
        (1.5, "+"),
        (1.5, "start 1"),
        (2.0, "start 2"),
        (3.0, "start 3"),
        (4.5, "end 1"),
        (5.0, "end 2"),
        (6.0, "end 3"),
        (6.5, "+"),
        (6.5, "start 4"),
        (8.5, "end 4"),
        (9.5, "end 0"),
    ];
    check(&["run.heartbeat=1", "run.master_start=1", "run.master.slot=1"], &held);
}

/// The run ends with its last event, not with the heartbeats after it; and a static share, which is
/// one node that stands for many, is given as many tasks as the nodes would be.
#[test]
fn a_share_beats_as_often_as_all_nodes() {
    let scenario = scenario(TEXT, &["run.heartbeat=1"]).unwrap();
    for policy in ["fair", "static"] {
        let log = runs::log(&scenario, policy);
        assert_eq!(log.last().unwrap()["t"], 7.5, "{policy}");
    }
}

#[test]
fn what_is_refused() {
    for (sets, words) in [
        (&["run.heartbeat=0"][..], "above zero"),
        (&["run.master.slot=1"], "master_start"),
        (&["run.master_start=1", "run.master.solt=1"], "slot"),
        (&["run.heartbeat=1", "run.checkpoint=1"], "heartbeat"),
    ] {
        let refused = scenario(TEXT, sets).map(|_| ()).unwrap_err().to_string();
        assert!(refused.contains(words), "{sets:?}: {refused}");
    }
}

/// A node that asks is another matter than a server that decides.
#[test]
fn servers_that_decide_are_not_heard_one_by_one() {
    let scenario = scenario(TEXT, &["run.heartbeat=1"]).unwrap();
    for order in ["per-server-drf", "rps-dsf", "tetris"] {
        let policies = vec![order.to_owned()];
        let options = SimulateOptions { policies, ..SimulateOptions::default() };
        let ran = simulate(&scenario, &options, None, &mut Unwatched).map(drop);
        let refused = ran.unwrap_err().to_string();
        for word in ["run.heartbeat", &format!("`{order}`")] {
            assert!(refused.contains(word), "{order}: {refused}");
        }
    }
}
