//! The answer of `meed advise` on the cluster that the log ran on is that of a script which counts
//! everything up from `--jobs`.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::fs::{read_to_string, write};

use serde_json::Value;

use crate::cluster::{SLURM_CONF, log_of, sacct};
use crate::common::{folder, succeed};

const CANDIDATES: [&str; 5] =
    ["fair", "fifo", "long-term,half_life=6h", "long-term,half_life=2d", "long-term"];

/// A job that counts.
struct Job {
    tenant: String,
    wait_s: f64,
    job_s: f64,
    tasks: f64,
    width: f64,
    used: f64,
    counted: bool,
}

/// Rows of `--jobs`, by policy. No name in it has a comma but policies, which stand in quotes.
fn jobs(text: &str) -> BTreeMap<String, Vec<Job>> {
    let mut all: BTreeMap<String, Vec<Job>> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let (policy, rest) = match line.strip_prefix('"') {
            Some(line) => line.split_once("\",").unwrap(),
            None => line.split_once(',').unwrap(),
        };
        let cells: Vec<&str> = rest.split(',').collect();
        let number = |at: usize| cells[at].parse::<f64>().unwrap();
        all.entry(policy.to_owned()).or_default().push(Job {
            tenant: cells[1].to_owned(),
            wait_s: number(5),
            job_s: number(6),
            tasks: number(8),
            width: number(9),
            used: number(9) * (number(4) - number(3)),
            counted: cells[10] == "1",
        });
    }
    all
}

/// Each figure of docs/advise.md, by its definition.
fn figures(jobs: &[Job]) -> BTreeMap<&'static str, f64> {
    let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len() as f64;
    let counted = || jobs.iter().filter(|job| job.counted);
    // Use, waits of tasks, tasks, the longest wait.
    let mut tenants: BTreeMap<&str, (f64, f64, f64, f64)> = BTreeMap::new();
    for job in jobs {
        tenants.entry(&job.tenant).or_default().0 += job.used;
    }
    for job in counted() {
        let (_, waits, tasks, longest) = tenants.get_mut(job.tenant.as_str()).unwrap();
        *waits += job.wait_s * job.tasks;
        *tasks += job.tasks;
        *longest = longest.max(job.wait_s);
    }
    let mut tenants: Vec<(f64, f64, f64)> = tenants
        .values()
        .filter(|tenant| tenant.2 > 0.0)
        .map(|(used, waits, tasks, longest)| (*used, waits / tasks, *longest))
        .collect();
    tenants.sort_by(|a, b| a.0.total_cmp(&b.0));
    let waits: Vec<f64> = tenants.iter().map(|tenant| tenant.1).collect();
    let (half, tenth) = (waits.len().div_ceil(2), waits.len().div_ceil(10));
    let mut longest: Vec<f64> = tenants.iter().map(|tenant| tenant.2).collect();
    longest.sort_by(f64::total_cmp);
    let place = 0.9 * (longest.len() - 1) as f64;
    let (low, high) =
        (longest[place as usize], longest[(place as usize + 1).min(longest.len() - 1)]);
    let mut widths: Vec<f64> = counted().map(|job| job.width).collect();
    widths.sort_by(|a, b| b.total_cmp(a));
    let wide = widths[widths.len().div_ceil(10) - 1];
    let wide: Vec<f64> = counted().filter(|job| job.width >= wide).map(|job| job.wait_s).collect();
    let all: Vec<f64> = counted().map(|job| job.job_s).collect();
    [
        ("light", mean(&waits[..half])),
        ("heavy", mean(&waits[waits.len() - tenth..])),
        ("mean", mean(&all)),
        ("longest", low + (high - low) * place.fract()),
        ("wide", mean(&wide)),
    ]
    .into()
}

#[test]
fn the_answer_is_that_of_a_script_over_all_jobs() {
    let folder = folder();
    let path = folder.path();
    write(path.join("sacct.txt"), log_of(&sacct())).unwrap();
    write(path.join("slurm.conf"), SLURM_CONF).unwrap();
    let policies: Vec<&str> = CANDIDATES.iter().flat_map(|policy| ["-p", policy]).collect();
    // All of the log counts: `--jobs` does not tell what a job used in the part that counts.
    let whole = ["--warm-up", "0", "--cool-down", "0"];
    let log = [&["sacct.txt", "--cluster", "slurm.conf", "-q"][..], &whole].concat();
    succeed(path, &[&["simulate"][..], &log, &["--jobs", "jobs.csv"], &policies].concat());
    let out = ["--baseline", "fair", "--loads", "1", "--json"];
    let told = succeed(path, &[&["advise"][..], &log, &out, &policies[2..]].concat());
    let told: Value = serde_json::from_str(&told).unwrap();
    let jobs = jobs(&read_to_string(path.join("jobs.csv")).unwrap());
    let candidates = told["candidates"].as_array().unwrap();
    assert_eq!(candidates.len(), CANDIDATES.len());
    let counted: BTreeMap<&str, _> =
        CANDIDATES.iter().map(|policy| (*policy, figures(&jobs[*policy]))).collect();
    for candidate in candidates {
        let policy = candidate["policy"].as_str().unwrap();
        for (figure, expected) in &counted[policy] {
            let got = candidate["figures"][*figure]["mean"].as_f64().unwrap();
            let near = (got - expected).abs() <= 1e-6 * expected.abs();
            assert!(near, "{policy}: {figure} is {got}, and {expected} by the jobs");
        }
        let [ours, base] = [policy, "fair"].map(|of| &counted[of]);
        let beyond: Vec<&str> = [("heavy", 1.5), ("mean", 1.05)]
            .into_iter()
            .filter(|(figure, most)| ours[figure] > base[figure] * most)
            .map(|(figure, _)| figure)
            .collect();
        assert_eq!(candidate["beyond"], serde_json::json!(beyond), "{policy}");
    }
    // Who is chosen is as good as the best within its bounds, or the baseline where that is no gain
    // beyond chance.
    let is_within = |policy: &&str| {
        let one = candidates.iter().find(|one| one["policy"] == **policy).unwrap();
        one["beyond"].as_array().unwrap().is_empty()
    };
    let light = |policy: &str| counted[policy]["light"];
    let within = CANDIDATES[1..].iter().copied().filter(is_within);
    let best = within.min_by(|a, b| light(a).total_cmp(&light(b))).unwrap();
    let of = |policy: &str| candidates.iter().find(|one| one["policy"] == policy).unwrap();
    let chosen = told["chosen"].as_str().unwrap();
    match of(best)["gains"].as_bool().unwrap() {
        true => assert!(of(chosen)["as_good"] == true && of(chosen)["gains"] == true, "{told:#}"),
        false => assert_eq!(chosen, "fair"),
    }
}
