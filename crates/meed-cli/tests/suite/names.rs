//! Queues that are named in changes (`--set`, `--weights`, `--over`): a change that says what holds
//! already changes no decision, and what is wrong with a name is said first.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{folder, meed, succeed};

/// Ties at every instant, between tenants whose alphabetical order is not that of their jobs.
const TABLE: &str = "\
user,submit,duration,cpu
z.zoe,0,100,2
z.ann,0,100,2
mia,0,100,2
bob,0,50,2
z.zoe,0,100,2
z.ann,0,100,2
mia,0,100,2
bob,0,50,2
";

const OWN: &str = "\
[cluster]
resources = [\"cpu\"]
[[cluster.node]]
name = \"n\"
capacity = { cpu = 8 }
[[queue]]
name = \"mia\"
[trace]
file = \"jobs.csv\"
dots = \"path\"
";

/// Weights that hold anyway; also of a parent that only names imply.
const NOTHING: [&[&str]; 4] = [
    &["--set", "queue.bob.weight=1"],
    &["--set", "queue.z.ann.weight=1", "--set", "queue.bob.weight=1"],
    &["--set", "queue.z.weight=1"],
    &["--weights", "ones.csv"],
];

/// What is decided, from a log: all but its header, which holds the text with its changes.
fn decisions(folder: &Path, args: &[&str]) -> Vec<String> {
    succeed(folder, &[args, &["-p", "fair", "--log", "new.jsonl", "--quiet"]].concat());
    let log = fs::read_to_string(folder.join("new.jsonl")).expect("a log");
    log.lines().skip(1).map(str::to_owned).collect()
}

fn told(folder: &Path, args: &[&str]) -> (Option<i32>, String) {
    let failed = meed(folder, args);
    (failed.status.code(), String::from_utf8_lossy(&failed.stderr).into_owned())
}

fn files() -> tempfile::TempDir {
    let folder = folder();
    let write = |name: &str, text: &str| {
        fs::write(folder.path().join(name), text).expect("a writable folder");
    };
    write("jobs.csv", TABLE);
    write("own.toml", OWN);
    write("ones.csv", "queue,weight\nbob,1\nz,1\nz.ann,1\nmia,1\nz.zoe,1\n");
    folder
}

#[test]
fn weights_that_hold_anyway_change_no_decision() {
    let folder = files();
    let path = folder.path();
    let bare = [
        "simulate",
        "jobs.csv",
        "--set",
        "trace.dots=path",
        "--set",
        "cluster.node.0.capacity.cpu=8",
    ];
    for run in [&bare[..], &["simulate", "own.toml"]] {
        let expected = decisions(path, run);
        assert!(expected.len() > 16, "8 jobs come and start");
        for more in NOTHING {
            assert_eq!(decisions(path, &[run, more].concat()), expected, "{run:?} {more:?}");
        }
        // The fourth start is bob's, who holds least for his weight.
        let other = [run, &["--set", "queue.bob.weight=5"]].concat();
        assert_ne!(decisions(path, &other), expected, "another weight decides otherwise");
    }
}

#[test]
fn a_replay_under_weights_that_hold_anyway_is_the_same() {
    let folder = files();
    let path = folder.path();
    // Recorded with and without a change that names queues.
    for more in [&[] as &[&str], NOTHING[1]] {
        let simulate = ["simulate", "own.toml", "-p", "fair", "--log", "run.jsonl", "--quiet"];
        succeed(path, &[&simulate[..], more].concat());
        let expected = decisions(path, &["replay", "run.jsonl"]);
        for again in NOTHING {
            let replay = [&["replay", "run.jsonl"][..], again].concat();
            assert_eq!(decisions(path, &replay), expected, "{more:?}, then {again:?}");
        }
    }
}

#[test]
fn a_name_that_is_wrong_is_said_first() {
    let folder = files();
    let path = folder.path();
    // Below a leaf of the trace: the change is wrong, not the trace.
    let (code, why) = told(path, &["simulate", "jobs.csv", "--set", "queue.mia.x.weight=2"]);
    assert_eq!(code, Some(3), "{why}");
    assert!(why.contains("--set queue.mia.x.weight=2: there is no queue `mia.x`"), "{why}");
}

#[test]
fn one_queue_is_one_axis_however_it_is_written() {
    let folder = files();
    let path = folder.path();
    let sweep = ["sweep", "own.toml", "-p", "fair", "--json", "--quiet"];
    let axes = |first, second| [&sweep[..], &["--over", first, "--over", second]].concat();
    for (first, second) in [
        ("queue.0.weight=1,2", "queue.mia.weight=3,4"),
        ("queue.mia.weight=1,2", "queue.\"mia\".weight=3,4"),
        ("queue.z.ann.weight=1,2", "queue.\"z.ann\".weight=3,4"),
    ] {
        let (code, why) = told(path, &axes(first, second));
        assert_eq!(code, Some(2), "{second}: {why}");
        assert!(why.contains("it varies already, as `queue."), "{why}");
    }
    // The `=` of a name ends no key.
    fs::write(path.join("jobs.csv"), TABLE.replace("bob", "b=o")).expect("writable");
    let args = axes("queue.\"b=o\".weight=1,4", "queue.mia.weight=3,4");
    let swept: Value = serde_json::from_str(&succeed(path, &args)).expect("JSON");
    let found = swept.to_string().matches("\"queue.\\\"b=o\\\".weight\":\"4\"").count();
    assert_eq!(found, 2, "{swept}");
}
