//! Spark's event logs as users give them: told by their content, files and folders.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{fail, folder, meed, succeed};

fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../meed-workload/tests/data/spark")
}

fn inspected(place: &Path, args: &[&str]) -> serde_json::Value {
    let all = [&["trace", "inspect", "--json"], args].concat();
    serde_json::from_str(&succeed(place, &all)).expect("a summary is JSON")
}

#[test]
fn a_folder_of_logs_is_inspected_simulated_and_advised() {
    let place = folder();
    let yarn = samples().join("yarn");
    let yarn = yarn.to_str().expect("a path of letters");
    let summary = inspected(place.path(), &[yarn]);
    assert_eq!(summary["lines"], 3);
    assert_eq!(summary["tasks"], 11);
    let executors = summary["executors"].as_array().expect("a row for each queue");
    let of = |row: &serde_json::Value| {
        let idle = row["idle_share"].as_f64().expect("something was held");
        (row["queue"].as_str().map(str::to_owned), (idle * 1000.0).round())
    };
    let idle: Vec<_> = executors.iter().map(of).collect();
    assert_eq!(idle, [(Some("a".to_owned()), 261.0), (Some("b".to_owned()), 281.0)]);
    let held = executors[0]["held_core_s"].as_f64() < executors[0]["container_core_s"].as_f64();
    assert!(held, "containers are held longer than executors are registered: {executors:?}");
    for shape in ["executors", "tasks"] {
        let set = format!("trace.shape={shape}");
        let text = succeed(place.path(), &["simulate", yarn, "--set", &set]);
        assert!(text.contains("3 trace lines read, 0 wrong"), "{text}");
        let text = succeed(place.path(), &["advise", yarn, "--set", &set]);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("registered executors held 0.092 core-hours"), "{text}");
    }
}

#[test]
fn yarns_list_may_stand_elsewhere() {
    let place = folder();
    let log = "application_1795917867770_0002.zstd";
    for name in [log, "apps.json"] {
        let copied = fs::copy(samples().join("yarn").join(name), place.path().join(name));
        copied.expect("a writable folder");
    }
    let work = |summary: &serde_json::Value| summary["resources"][1]["work"].as_f64().unwrap();
    let alone = work(&inspected(place.path(), &[log]));
    let set = "trace.applications=apps.json";
    let with = work(&inspected(place.path(), &[log, "--set", set]));
    assert!(with > 1.3 * alone, "{alone} {with}");
    // A scenario looks beside itself.
    let scenario = format!(
        "[cluster]\nresources = [\"cpu\", \"memory\"]\n[[cluster.node]]\n\
         capacity = {{ cpu = 8, memory = \"8GiB\" }}\n\
         [trace]\nfile = \"{log}\"\napplications = \"apps.json\"\ncontainer_step = \"1MiB\"\n"
    );
    fs::write(place.path().join("s.toml"), scenario).expect("a writable folder");
    let elsewhere = folder();
    let path = place.path().join("s.toml");
    let summary = inspected(elsewhere.path(), &[path.to_str().expect("a path of letters")]);
    // Smaller containers, and so a longer time of each: the sum is YARN's.
    assert!((work(&summary) / with - 1.0).abs() < 0.001, "{summary}");
    let why = fail(place.path(), &["simulate", log, "--set", "trace.container_step=0"], 3);
    assert!(why.contains("container_step: 0; wanted is a size above 0"), "{why}");
    let why = fail(place.path(), &["simulate", log, "--set", "trace.applications=no.json"], 4);
    assert!(why.contains("no.json"), "{why}");
}

#[test]
fn what_cannot_be_read_is_said() {
    let place = folder();
    fs::write(place.path().join("app-1.snappy"), b"\x82SNAPPY\0\0\0\0\x01\0\0\0\x01\0\0\x10\0")
        .expect("a writable folder");
    let output = meed(place.path(), &["trace", "inspect", "app-1.snappy"]);
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && words.contains("compressed by snappy"), "{words}");
    // A part of a log that is rolled has no beginning.
    let log = fs::read_to_string(samples().join("app-20261201102910-0000")).expect("a sample");
    let rest: String = log.lines().skip(20).map(|line| line.to_owned() + "\n").collect();
    fs::write(place.path().join("events_2_app"), rest).expect("a writable folder");
    let output = meed(place.path(), &["trace", "inspect", "events_2_app"]);
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(words.contains("no event tells which application it is of"), "{words}");
}
