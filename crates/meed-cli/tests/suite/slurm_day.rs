//! Two minutes of a Slurm 22.05.8 (`cargo xtask slurm long-day`), with the ranks that it had at
//! their end.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{folder, succeed};

const JOBS: &str = include_str!("../data/slurm-day/jobs.txt");
const SHARES: &str = include_str!("../data/slurm-day/shares.txt");
const SLURM_CONF: &str = include_str!("../data/slurm-day/slurm.conf");

/// `meed advise` on the day, with these words besides.
fn args(more: &[&'static str]) -> Vec<&'static str> {
    [&["advise", "jobs.txt", "--cluster", "slurm.conf", "-p", "long-term"], more].concat()
}

fn ranks(folder: &Path, shares: &str, more: &[&'static str]) -> Value {
    fs::write(folder.join("shares.txt"), shares).expect("a writable folder");
    let args = args(&[&["-q", "--json", "--weights", "shares.txt"], more].concat());
    let told: Value = serde_json::from_str(&succeed(folder, &args)).expect("JSON");
    told["ranks"].clone()
}

fn counts(ranks: &Value) -> [u64; 4] {
    ["users", "pairs", "log", "simulated"].map(|key| ranks[key].as_u64().expect("a number"))
}

const TREE: &[&str] = &["--map", "tenant=Account/User", "--loads", "1"];

#[test]
fn users_stand_as_in_slurm() {
    let folder = folder();
    let path = folder.path();
    fs::write(path.join("jobs.txt"), JOBS).expect("a writable folder");
    fs::write(path.join("slurm.conf"), SLURM_CONF).expect("a writable folder");
    let told = ranks(path, SHARES, TREE);
    assert_eq!(counts(&told), [5, 10, 10, 10], "{told}");
    // RawUsage is within 2 % of the rule, with five periods in a half-life.
    let used = |who: &str| told["used_s"][who].as_f64().expect("a number");
    assert_eq!(used("slurm"), 1231.0);
    assert!((used("log") / used("slurm") - 1.0).abs() < 0.02, "{told}");

    // Two users change their places: their pairs with each other and those between are others.
    let (first, last) = ("|0.833333", "|0.166667");
    let changed = SHARES.replace(first, "|?").replace(last, first).replace("|?", last);
    assert_eq!(counts(&ranks(path, &changed, TREE)), [5, 10, 3, 3]);
    // Whom Slurm puts alike makes no pair.
    let alike = SHARES.replace(first, last);
    assert_eq!(counts(&ranks(path, &alike, TREE))[1], 9);
    // As tenants without accounts they stand in one level.
    let flat = ranks(path, SHARES, &[]);
    assert!(counts(&flat)[2] < 10, "{flat}");
    // Other memories than the site's.
    let other = ["--map", "tenant=Account/User", "--baseline", "fair-tree,half_life=1s"];
    let told = ranks(path, SHARES, &other);
    assert!(told["used_s"]["log"].as_f64() < Some(100.0), "{told}");
}

#[test]
fn nothing_is_told_of_ranks_that_are_not_known() {
    let folder = folder();
    let path = folder.path();
    fs::write(path.join("jobs.txt"), JOBS).expect("a writable folder");
    fs::write(path.join("slurm.conf"), SLURM_CONF).expect("a writable folder");
    for (shares, more) in [
        (SHARES, &["--map", "tenant=Account/User", "--baseline", "fair"][..]),
        (SHARES, &["--map", "tenant=Account/User", "--loads", "0.9"]),
        ("queue,weight\noptics.man,3\n", TREE),
    ] {
        assert_eq!(ranks(path, shares, more), Value::Null, "{more:?}");
    }
}

#[test]
fn ranks_stand_in_the_answer() {
    let folder = folder();
    let path = folder.path();
    for (name, text) in [("jobs.txt", JOBS), ("slurm.conf", SLURM_CONF), ("shares.txt", SHARES)] {
        fs::write(path.join(name), text).expect("a writable folder");
    }
    let all = args(&[&["--weights", "shares.txt"], TREE].concat());
    let text = succeed(path, &all).split_whitespace().collect::<Vec<_>>().join(" ");
    let words = "Slurm's own ranks of 5 users at the end of the log: of 10 pairs 10 stand so under \
                 fair-tree,half_life=5min,cadence=1min by the log's own starts, and 10 in the \
                 simulation. The log has 101 % of the use that Slurm counts.";
    assert!(text.contains(words), "{text}");
}
