//! `--jobs`, and what sweeps say of the widest jobs: by hand.

use std::collections::BTreeMap;
use std::fs;

use crate::common::{folder, meed, succeed};
use serde_json::Value;

/// All four cores for 10 s; then a gang of three and a task that came after it fit beside each
/// other. The last job is cut off by the end of the run, and has not started.
const THREE: &str = r#"
[cluster]
resources = ["cpu"]
[[cluster.node]]
capacity = { cpu = 4 }
[run]
until = "20s"
[[queue]]
name = "lab"
[[job]]
queue = "lab"
name = "whole"
duration = 10
demand = { cpu = 4 }
[[job]]
queue = "lab"
name = "gang"
submit = 1
tasks = 3
gang = true
duration = 5
demand = { cpu = 1 }
[[job]]
queue = "lab"
name = "narrow, \"quoted\""
submit = 2
duration = 15
demand = { cpu = 1 }
[[job]]
queue = "lab"
name = "late"
submit = 16
duration = 5
demand = { cpu = 4 }
"#;

#[test]
fn all_jobs_stand_in_the_file() {
    let folder = folder();
    fs::write(folder.path().join("s.toml"), THREE).unwrap();
    let args = ["simulate", "s.toml", "-q", "-p", "fair", "-p", "fifo", "--jobs", "jobs.csv"];
    succeed(folder.path(), &args);
    let of = |policy: &str| {
        format!(
            "{policy},whole,lab,0,0,10,0,10,1,1,4,1\n\
             {policy},gang,lab,1,10,15,9,14,1.4,3,3,1\n\
             {policy},\"narrow, \"\"quoted\"\"\",lab,2,10,,8,,,1,1,1\n\
             {policy},late,lab,16,,,,,,1,4,1\n"
        )
    };
    let heading =
        "policy,job,queue,submit_s,start_s,end_s,wait_s,job_s,slowdown,tasks,width,counted\n"
            .to_owned();
    let written = fs::read_to_string(folder.path().join("jobs.csv")).unwrap();
    assert_eq!(written, heading + &of("fair") + &of("fifo"));
}

#[test]
fn sweeps_tell_what_the_widest_wait() {
    let folder = folder();
    fs::write(folder.path().join("s.toml"), THREE).unwrap();
    let args = ["sweep", "s.toml", "-p", "fair", "-p", "fair,when_blocked=reserve"];
    succeed(folder.path(), &[&args[..], &["--out", "out.csv"]].concat());
    let written = fs::read_to_string(folder.path().join("out.csv")).unwrap();
    let cell = |line: usize, name: &str| {
        let mut rows = written.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let at = rows.next().unwrap().iter().position(|heading| *heading == name).unwrap();
        // The policy of the second line has a comma of its own, in quotes.
        rows.nth(line).unwrap()[at + line].to_owned()
    };
    for line in [0, 1] {
        // Of four jobs a tenth is one, but two are of that width: waits of 0 and, up to the end, 4.
        assert_eq!(cell(line, "wide_wait_s"), "2");
        assert_eq!(cell(line, "wide_longest_wait_s"), "4");
        assert_eq!(cell(line, "narrow_wait_s"), "8.5");
    }
    assert_eq!((cell(0, "held_share"), cell(1, "stops")), (String::new(), String::new()));
    // From 1 s to 10 s nothing is free; from 16 s on the last job holds what is: 3 cores for 4 s of
    // 4 cores for 20 s.
    assert_eq!(cell(1, "held_share"), "0.15");
}

#[test]
fn the_mapreduce_world_has_its_jobs_elsewhere() {
    let folder = folder();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/mapreduce.toml");
    let told = meed(folder.path(), &["simulate", example, "--jobs", "jobs.csv"]);
    let words = String::from_utf8_lossy(&told.stderr).into_owned();
    assert!(!told.status.success() && words.contains("has its jobs in --json"), "{words}");
    assert!(!folder.path().join("jobs.csv").exists());
}

/// Masters of two cores, each with one to three workers of three.
const MASTERS: &str = r#"
[cluster]
resources = ["cpu"]
[[cluster.node]]
count = 3
capacity = { cpu = 5 }
[[queue]]
name = "lab"
[[generator]]
queue = "lab"
arrivals = { every = 2 }
jobs = 20
gang = true
[[generator.group]]
tasks = 1
duration = 3
demand = { cpu = 2 }
[[generator.group]]
tasks = { uniform = [1.0, 3.0] }
duration = { uniform = [1.0, 3.0] }
demand = { cpu = 3 }
"#;

#[test]
fn generated_masters_start_with_their_workers() {
    let folder = folder();
    let path = folder.path();
    fs::write(path.join("s.toml"), MASTERS).unwrap();
    succeed(path, &["trace", "generate", "s.toml", "jobs.jsonl"]);
    let trace = fs::read_to_string(path.join("jobs.jsonl")).unwrap();
    assert_eq!(trace.matches("\"joint\"").count(), 40, "two groups of 20 jobs: {trace}");
    succeed(path, &["simulate", "s.toml", "-q", "-p", "fair", "--log", "log.jsonl"]);
    let log = fs::read_to_string(path.join("log.jsonl")).unwrap();
    let mut started: BTreeMap<String, Vec<(f64, u64)>> = BTreeMap::new();
    for line in log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let start = &line["start"];
        if let Some(together) = start["reason"]["gang"].as_u64() {
            let job = started.entry(start["job"].to_string()).or_default();
            job.push((line["t"].as_f64().unwrap(), together));
        }
    }
    assert_eq!(started.len(), 20);
    for starts in started.values() {
        let tasks = starts.len() as u64;
        assert!((2..=4).contains(&tasks) && starts.iter().all(|it| *it == (starts[0].0, tasks)));
    }
    for (before, after, why) in [
        (
            "gang = true\n",
            "",
            "groups of [[generator.group]] tables start together: write gang = true",
        ),
        ("gang = true\n", "gang = true\nlimit = 9\n", "beside [[generator.group]] tables"),
        ("tasks = 1\n", "tasks = 1\ngang = true\n", "gang = true makes all groups one gang"),
    ] {
        fs::write(path.join("bad.toml"), MASTERS.replacen(before, after, 1)).unwrap();
        let told = meed(path, &["simulate", "bad.toml"]);
        let words = String::from_utf8_lossy(&told.stderr);
        assert!(told.status.code() == Some(3) && words.contains(why), "{why}: {words}");
    }
}
