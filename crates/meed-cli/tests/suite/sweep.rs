//! `meed sweep` as users run it: stopped and resumed, with wrong settings, and what it leaves
//! behind.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::{fail, folder, meed, succeed};

const SCENARIO: &str = r#"
[cluster]
resources = ["cpu"]
[[cluster.node]]
capacity = { cpu = 8 }
[[queue]]
name = "a"
[[queue]]
name = "b"
[[generator]]
queue = "a"
jobs = 300
arrivals = { poisson = "5s" }
tasks = 4
duration = { exponential = 9 }
demand = { cpu = 1 }
[[generator]]
queue = "b"
jobs = 300
arrivals = { poisson = "5s" }
tasks = 4
duration = { exponential = 9 }
demand = { cpu = 1 }
"#;

const SWEEP: [&str; 9] = [
    "sweep",
    "s.toml",
    "--over",
    "half_life=1min..1h log 4",
    "--over",
    "load=0.8,1",
    "--seeds",
    "3",
    "--quiet",
];

fn with(more: &[&'static str]) -> Vec<&'static str> {
    SWEEP.iter().chain(more).copied().collect()
}

fn place() -> tempfile::TempDir {
    let folder = folder();
    fs::write(folder.path().join("s.toml"), SCENARIO).expect("a writable folder");
    folder
}

fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap_or_else(|why| panic!("{name}: {why}"))
}

#[test]
fn a_killed_sweep_goes_on_and_writes_the_same_bytes() {
    let place = place();
    let folder = place.path();
    succeed(folder, &with(&["--out", "whole.csv", "--threads", "1"]));
    let whole = read(folder, "whole.csv");
    assert_eq!(whole.lines().count(), 49);
    // Killed in earnest, as soon as something has finished.
    let mut child = Command::new(env!("CARGO_BIN_EXE_meed"))
        .args(with(&["--out", "killed.csv", "--threads", "1"]))
        .current_dir(folder)
        .stderr(Stdio::null())
        .spawn()
        .expect("the program was built");
    let journal = folder.join("killed.csv.journal");
    let lines = || fs::read_to_string(&journal).map_or(0, |text| text.lines().count());
    while lines() < 3 && child.try_wait().expect("a child").is_none() {
        std::thread::yield_now();
    }
    child.kill().expect("it is ours");
    child.wait().expect("it has ended");
    assert!(lines() >= 3);
    // And a half line, which a kill rarely leaves.
    let mut bytes = fs::read(&journal).expect("a journal");
    bytes.truncate(bytes.len() - 10);
    fs::write(&journal, bytes).expect("a writable folder");
    succeed(folder, &with(&["--out", "killed.csv", "--threads", "3"]));
    assert_eq!(read(folder, "killed.csv"), whole);
    // All points are known now: a report costs nothing, and the results stay.
    let words = meed(
        folder,
        &[
            "sweep",
            "s.toml",
            "--over",
            "half_life=1min..1h log 4",
            "--over",
            "load=0.8,1",
            "--seeds",
            "3",
            "--out",
            "killed.csv",
            "--report",
            "r.html",
        ],
    );
    assert!(words.status.success());
    assert!(
        String::from_utf8_lossy(&words.stderr).contains("48 of 48 points were finished before")
    );
    assert!(read(folder, "r.html").contains("Sharing benefit Psi"));
    assert_eq!(read(folder, "killed.csv"), whole);
}

#[test]
fn results_are_tables_json_or_files() {
    let place = place();
    let folder = place.path();
    let table = succeed(folder, &["sweep", "s.toml", "--over", "nodes=1,2", "-p", "fair"]);
    assert!(
        table.contains("The best and the worst setting by each figure")
            && table.contains("nodes=2"),
        "{table}"
    );
    let json = succeed(folder, &["sweep", "s.toml", "--over", "nodes=1,2", "-p", "fair", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let used =
        |point: usize| json["points"][point]["measured"]["used_cpu"].as_f64().expect("a number");
    assert!(used(0) > used(1), "{} {}", used(0), used(1));
    assert_eq!(
        fs::read_dir(folder).expect("a folder").count(),
        1,
        "nothing is written that was not asked for"
    );
    let quiet = meed(folder, &with(&["--out", "a.csv.gz"]));
    assert!(quiet.status.success() && quiet.stdout.is_empty() && quiet.stderr.is_empty());
    assert!(fs::read(folder.join("a.csv.gz")).expect("written").starts_with(&[0x1f, 0x8b]));
}

#[test]
fn what_is_wrong_is_said_and_nothing_is_written() {
    let place = place();
    let folder = place.path();
    for (args, code, message) in [
        (&["s.toml", "--over", "halflife=1h"][..], 2, "did you mean `half_life`?"),
        (
            &["s.toml", "--over", "half_life=1h,1y", "--out", "a.csv"],
            3,
            "point 3 (half_life=1y, policy=fair, seed=0): ",
        ),
        (&["s.toml", "--over", "queue.0.wieght=1"], 3, "unknown field `wieght`"),
        (&["none.toml"], 4, "every point: none.toml: cannot be read"),
        (&["s.toml", "--out", "none/a.csv"], 4, "cannot write none/a.csv"),
        (&["s.toml", "--out", "s.toml"], 2, "--out would overwrite the scenario s.toml"),
        (&["s.toml", "--out", "a", "--report", "a"], 2, "--out and --report name the same file a"),
        (&["s.toml", "--fresh"], 2, "--out"),
        (&["s.toml", "--seeds", "0"], 2, "--seeds is 0"),
        (&["s.toml", "--over", "trace.file=none.swf"], 4, "point 1 (trace.file=none.swf): "),
    ] {
        let words = fail(folder, &[&["sweep"], args].concat(), code);
        assert!(words.contains(message), "{args:?}: {words}\n{message}");
        assert_eq!(
            fs::read_dir(folder).expect("a folder").count(),
            1,
            "{args:?} left something behind"
        );
    }
    fs::write(folder.join("a.csv.journal"), "point,psi\n1,2\n").expect("a writable folder");
    let output = meed(folder, &["sweep", "s.toml", "--out", "a.csv"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(
        String::from_utf8_lossy(&output.stderr)
            .contains("a.csv.journal: is no journal of a sweep, and is left alone")
    );
}
