//! Runs of the MapReduce world are logged, run again and explained like all others.

use std::fs;
use std::path::Path;

use crate::common::{folder, meed, succeed};
use serde_json::Value;

const SCENARIO: &str = r#"
[mapreduce]
block = "64MiB"
[[mapreduce.node]]
name = "fast"
count = 2
cores = 4
disk_bytes_per_s = "100MB"
network_bytes_per_s = "100MB"
[[mapreduce.node]]
name = "slow"
count = 2
cores = 2
disk_bytes_per_s = "60MB"
network_bytes_per_s = "100MB"
[[mapreduce.request]]
name = "first"
queue = "a"
kinds = ["terasort", "wordcount"]
input = "3GB"
[[mapreduce.job]]
name = "late"
queue = "b"
kind = "grep"
input = "2GB"
submit = "20s"
[[queue]]
name = "a"
[[queue]]
name = "b"
[run]
seed = 7
"#;

const POLICIES: [&str; 2] = ["fifo,placement=djasl", "long-term,placement=hadoop"];

fn record(folder: &Path, policies: &[&str]) -> Value {
    fs::write(folder.join("s.toml"), SCENARIO).expect("a writable folder");
    let mut args =
        vec!["simulate", "s.toml", "--quiet", "--log", "log.jsonl", "--json", "out.json"];
    policies.iter().for_each(|policy| args.extend(["--policy", policy]));
    succeed(folder, &args);
    json(folder, "out.json")
}

fn json(folder: &Path, file: &str) -> Value {
    let text = fs::read_to_string(folder.join(file)).expect("it was written");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn a_recorded_run_is_run_again_to_the_byte() {
    let folder = folder();
    let recorded = record(folder.path(), &POLICIES);
    for (run, simulated) in ["1", "2"].iter().zip(recorded["runs"].as_array().expect("a list")) {
        succeed(folder.path(), &["replay", "log.jsonl", "--run", run, "--verify"]);
        let again = ["replay", "log.jsonl", "--run", run, "--quiet", "--json", "again.json"];
        succeed(folder.path(), &again);
        let mut again = json(folder.path(), "again.json")["runs"][0].take();
        again["policy"] = simulated["policy"].clone();
        assert_eq!(&again, simulated);
    }
    // The record tells all that happened: as many starts and ends as the run counts.
    let log = fs::read_to_string(folder.path().join("log.jsonl")).expect("it was written");
    let tells = |kind: &str| log.lines().filter(|line| line.contains(kind)).count() as u64;
    let decided = |run: &Value| run["decisions"].as_u64().expect("a count");
    let decisions: u64 = recorded["runs"].as_array().expect("a list").iter().map(decided).sum();
    assert!(decisions > 100, "{decisions}");
    assert_eq!((tells("\"start\":{"), tells("\"end\":{")), (decisions, decisions));
    assert!(log.contains("\"request\":\"first\""), "jobs tell their request");
}

#[test]
fn a_recorded_run_is_run_under_other_policies_as_if_simulated() {
    let folder = folder();
    let both = record(folder.path(), &POLICIES);
    let args = ["replay", "log.jsonl", "--run", "1", "--quiet", "--json", "again.json", "--policy"];
    succeed(folder.path(), &[&args[..], &[POLICIES[1]]].concat());
    assert_eq!(json(folder.path(), "again.json")["runs"][1], both["runs"][1]);

    let set = ["replay", "log.jsonl", "--run", "1", "--set", "run.seed=3"];
    let refused = meed(folder.path(), &set);
    let words = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && words.contains("under other policies only"), "{words}");
}

#[test]
fn a_log_that_was_edited_differs() {
    let folder = folder();
    record(folder.path(), &POLICIES[..1]);
    let log = fs::read_to_string(folder.path().join("log.jsonl")).expect("it was written");
    let (from, to) = ("\"node\":\"fast-0\"", "\"node\":\"slow-0\"");
    let place = log.find("\"start\":{").expect("a start");
    let (head, tail) = log.split_at(place);
    assert!(tail.contains(from), "{}", &tail[..300]);
    fs::write(folder.path().join("log.jsonl"), head.to_owned() + &tail.replacen(from, to, 1))
        .expect("a writable folder");
    let verified = meed(folder.path(), &["replay", "log.jsonl", "--verify"]);
    assert!(!verified.status.success());
}

#[test]
fn a_job_that_waits_for_slots_is_explained() {
    let folder = folder();
    record(folder.path(), &POLICIES[..1]);
    let text = succeed(folder.path(), &["explain", "log.jsonl", "--json", "--job", "late"]);
    let told: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((&told["as_recorded"], &told["queue"]), (&true.into(), &"b".into()), "{told}");
    assert_eq!(told["waits"], true, "{told}");
    assert!(!told["obstacles"].as_array().expect("a list").is_empty(), "{told}");
    // Nothing else is submitted later, so what is foretold is what happened.
    assert_eq!(told["forecast"]["first_start_s"], told["recorded_start_s"], "{told}");
    let queue = succeed(folder.path(), &["explain", "log.jsonl", "--queue", "a", "--at", "5"]);
    assert!(queue.contains('a'));
}
