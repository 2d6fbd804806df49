//! The answer of `meed advise` on the cluster that the log ran on is that of a script which counts
//! everything up from `--jobs`, and the use of queues in the part that counts from `--json`.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::fs::{read, read_to_string, write};
use std::path::Path;

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
}

/// Jobs of a CSV of `--jobs` that count. Its names have no comma.
fn jobs(text: &str) -> Vec<Job> {
    let mut rows = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let names = rows.next().unwrap();
    let at = |name: &str| names.iter().position(|found| *found == name).unwrap();
    let [tenant, wait, job, tasks, width, counted] =
        ["queue", "wait_s", "job_s", "tasks", "width", "counted"].map(at);
    let job = |cells: Vec<&str>| {
        let number = |at: usize| cells[at].parse::<f64>().unwrap();
        (cells[counted] == "1").then(|| Job {
            tenant: cells[tenant].to_owned(),
            wait_s: number(wait),
            job_s: number(job),
            tasks: number(tasks),
            width: number(width),
        })
    };
    rows.filter_map(job).collect()
}

/// The figures of a run of `sacct.txt` on `slurm.conf` at a load: as a script would count them up.
pub(crate) fn by_hand(folder: &Path, load: &str, policy: &str) -> BTreeMap<&'static str, f64> {
    let load = format!("run.load={load}");
    let fixed = ["simulate", "sacct.txt", "-q", "--cluster", "slurm.conf", "--set", &load];
    // A name without a comma: cells of the CSV stand between commas.
    let named = format!("one={policy}");
    let more = ["-p", &named, "--jobs", "jobs.csv", "--json", "run.json"];
    succeed(folder, &[&fixed[..], &more].concat());
    let run: Value = serde_json::from_slice(&read(folder.join("run.json")).unwrap()).unwrap();
    let queues = run["runs"][0]["queues"].as_array().unwrap().iter();
    let used = |queue: &Value| {
        (queue["queue"].as_str().unwrap().to_owned(), queue["usage"]["cpu"].as_f64().unwrap())
    };
    figures(&jobs(&read_to_string(folder.join("jobs.csv")).unwrap()), &queues.map(used).collect())
}

/// Each figure of docs/advise.md, by its definition, from what jobs say and tenants have used.
fn figures(jobs: &[Job], used: &BTreeMap<String, f64>) -> BTreeMap<&'static str, f64> {
    let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len() as f64;
    // Waits of tasks, tasks, the longest wait.
    let mut tenants: BTreeMap<&str, (f64, f64, f64)> = BTreeMap::new();
    for job in jobs {
        let (waits, tasks, longest) = tenants.entry(&job.tenant).or_default();
        *waits += job.wait_s * job.tasks;
        *tasks += job.tasks;
        *longest = longest.max(job.wait_s);
    }
    let mut tenants: Vec<(f64, f64, f64)> = tenants
        .iter()
        .map(|(name, (waits, tasks, longest))| (used[*name], waits / tasks, *longest))
        .collect();
    tenants.sort_by(|a, b| a.0.total_cmp(&b.0));
    let waits: Vec<f64> = tenants.iter().map(|tenant| tenant.1).collect();
    let (half, tenth) = (waits.len().div_ceil(2), waits.len().div_ceil(10));
    let mut longest: Vec<f64> = tenants.iter().map(|tenant| tenant.2).collect();
    longest.sort_by(f64::total_cmp);
    let place = 0.9 * (longest.len() - 1) as f64;
    let (low, high) =
        (longest[place as usize], longest[(place as usize + 1).min(longest.len() - 1)]);
    let mut widths: Vec<f64> = jobs.iter().map(|job| job.width).collect();
    widths.sort_by(|a, b| b.total_cmp(a));
    let wide = widths[widths.len().div_ceil(10) - 1];
    let wide = jobs.iter().filter(|job| job.width >= wide).map(|job| job.wait_s);
    let wide: Vec<f64> = wide.collect();
    let all: Vec<f64> = jobs.iter().map(|job| job.job_s).collect();
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
    let log = ["advise", "sacct.txt", "--cluster", "slurm.conf", "-q"];
    let out = ["--baseline", "fair", "--loads", "1", "--json"];
    let told = succeed(path, &[&log[..], &out, &policies[2..]].concat());
    let told: Value = serde_json::from_str(&told).unwrap();
    let candidates = told["candidates"].as_array().unwrap();
    assert_eq!(candidates.len(), CANDIDATES.len());
    let counted: BTreeMap<&str, _> =
        CANDIDATES.iter().map(|policy| (*policy, by_hand(path, "1", policy))).collect();
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
