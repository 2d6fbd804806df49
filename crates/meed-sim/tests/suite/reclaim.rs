//! Room that is taken back in a run: who stops when, what is lost, what is saved.

use serde_json::{Value, json};

use crate::runs::{self, scenario};
use meed_sim::{SimulateOptions, Unwatched, simulate};

/// `small` holds both nodes with tasks of ten hours; at 5 h `big`, which has used nothing, wants
/// one of them for an hour.
const TEXT: &str = r#"
[cluster]
resources = ["gpu"]
[[cluster.node]]
name = "n"
count = 2
capacity = { gpu = 8 }
[[queue]]
name = "small"
order = "fifo"
[[queue]]
name = "big"
order = "fifo"
[[job]]
queue = "small"
tasks = 20
demand = { gpu = 1 }
duration = "10h"
[[job]]
queue = "big"
submit = "5h"
demand = { gpu = 8 }
duration = "1h"
"#;

const RULES: &str = "long-term,reclaim_after=30min,reclaim_guard=45min,reclaim_grace=1min";

fn log(policy: &str, sets: &[&str]) -> Vec<Value> {
    runs::log(&scenario(TEXT, sets).unwrap(), policy)
}

fn of<'l>(log: &'l [Value], kind: &str) -> Vec<&'l Value> {
    log.iter().filter(|line| line.get(kind).is_some()).collect()
}

/// When the job of `big` starts, in hours.
fn start_of_big(log: &[Value]) -> f64 {
    let starts = of(log, "start");
    let big = starts.iter().find(|line| line["start"]["queue"] == "big").unwrap();
    big["t"].as_f64().unwrap() / 3600.0
}

fn stopped(sets: &[&str], policy: &str) -> Value {
    let options =
        SimulateOptions { policies: vec![policy.to_owned()], ..SimulateOptions::default() };
    let done = simulate(&scenario(TEXT, sets).unwrap(), &options, None, &mut Unwatched).unwrap();
    let record = serde_json::to_value(&done.runs[0]).unwrap();
    json!([record["stopped"], record["queues"][1]["stopped"]])
}

#[test]
fn who_lent_gets_room_back_within_the_time_that_was_said() {
    let without = log("long-term,when_blocked=reserve", &[]);
    assert_eq!((start_of_big(&without), of(&without, "reclaim").len()), (10.0, 0));
    let with = log(RULES, &[]);
    let told = of(&with, "reclaim");
    assert_eq!(told.len(), 8, "one node is enough");
    for line in &told {
        let told = &line["reclaim"];
        assert_eq!((line["t"].as_f64(), &told["grace_s"]), (Some(5.5 * 3600.0), &json!(60.0)));
        assert_eq!((&told["queue"], &told["for"]["queue"]), (&json!("small"), &json!("big")));
        assert_eq!(told["for"]["waited_s"], json!(1800.0));
        let key = |name: &str| told["for"][name]["value"].as_f64().unwrap();
        assert!(key("first_key") < key("last_key"), "{told}");
    }
    let lost = of(&with, "lost");
    assert_eq!(lost.len(), 8);
    assert!(lost.iter().all(|line| line["t"] == json!(19860.0)), "when the grace is over");
    assert_eq!(start_of_big(&with), 19860.0 / 3600.0);
    let done = with.iter().filter(|line| line["job_end"]["outcome"] == "done").count();
    assert_eq!(done, 2, "who was stopped is done in the end");
}

#[test]
fn lost_work_is_what_has_to_be_done_again() {
    let lost = |seconds: f64| json!({ "tasks": 8, "lost": { "gpu": 8.0 * seconds } });
    let none = json!({ "tasks": 0, "lost": { "gpu": 0.0 } });
    assert_eq!(stopped(&[], RULES), json!([lost(19860.0), none]));
    // The last checkpoint was at 5 h 30 min.
    assert_eq!(stopped(&["run.checkpoint=30min"], RULES), json!([lost(60.0), none]));
    // A job's own are its tasks' alone, and come before the run's.
    let own = |every: &str| format!("job.0.checkpoint={every}");
    assert_eq!(stopped(&[&own("30min")], RULES), json!([lost(60.0), none]));
    let both = [&*own("1h"), "run.checkpoint=30min"];
    assert_eq!(stopped(&both, RULES), json!([lost(1860.0), none]));
    assert_eq!(stopped(&["job.1.checkpoint=30min"], RULES), json!([lost(19860.0), none]));
    assert_eq!(stopped(&[], "long-term,when_blocked=reserve"), json!([null, null]));
    let end = |sets: &[&str]| {
        let log = log(RULES, sets);
        let is_last = |line: &&&Value| line["end"]["task"] == 15;
        of(&log, "end").iter().find(is_last).unwrap()["t"].as_f64().unwrap()
    };
    for checkpoint in ["run.checkpoint=30min", "job.0.checkpoint=30min"] {
        let saved = end(&[]) - end(&[checkpoint]);
        assert_eq!(saved, 5.5 * 3600.0, "{checkpoint}: what was saved is not done again");
    }
}

#[test]
fn nobody_takes_back_more_than_its_share() {
    // Of one node `big` owns half, of two nodes one.
    for (nodes, stops) in [(1, 0), (2, 8)] {
        let log = log(RULES, &[&format!("cluster.node.0.count={nodes}")]);
        assert_eq!(of(&log, "reclaim").len(), stops, "{nodes} nodes");
    }
}

/// Two queues with long tasks for all slots: each gets its half back, and all is done, though
/// nothing is saved.
#[test]
fn roles_do_not_turn_to_and_fro() {
    let text = TEXT.replace("tasks = 20", "tasks = 40").replace(
        "demand = { gpu = 8 }\nduration = \"1h\"",
        "tasks = 16\ndemand = { gpu = 1 }\nduration = \"20h\"",
    );
    for rules in ["", ",reservations=8"] {
        let log = runs::log(&scenario(&text, &[]).unwrap(), &format!("{RULES}{rules}"));
        let stops = of(&log, "reclaim").len();
        assert!((8..=24).contains(&stops), "{rules}: {stops} stops of 56 tasks");
        assert_eq!(of(&log, "job_end").len(), 2, "{rules}");
    }
}

#[test]
fn what_cannot_be_meant_is_said() {
    for (set, message) in [
        ("run.checkpoint=0", "checkpoint must be above zero"),
        ("job.0.checkpoint=0", "checkpoint must be above zero"),
        ("run.checkpoint=soon", "checkpoint: \"soon\" is not a duration"),
        ("policy.reclaim_after=0", "reclaim_after must be above zero"),
        ("policy.reclaim_grace=1h", "no task is stopped for another here"),
    ] {
        let why = scenario(TEXT, &[set]).err().expect("it is wrong");
        assert!(why.contains(message), "{set}: {why}");
    }
}
