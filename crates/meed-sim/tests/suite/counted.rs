//! `run.warm_up` and `run.cool_down`: figures are those of a part of the run, computed here anew
//! from when each job came, started and ended.

use std::collections::BTreeMap;

use meed_sim::record::{JobRecord, RunRecord};
use meed_sim::{SimulateOptions, Unwatched, simulate};

use crate::runs::scenario;

const TEXT: &str = r#"
[cluster]
resources = ["cpu"]
[[cluster.node]]
count = 4
capacity = { cpu = 4 }
[[queue]]
name = "a"
[[queue]]
name = "b.one"
[[queue]]
name = "b.two"
[run]
until = "2h"
[[generator]]
queue = "a"
arrivals = { poisson = "20s" }
duration = { exponential = 120 }
demand = { cpu = 2 }
[[generator]]
queue = "b.one"
arrivals = { poisson = "60s" }
duration = { exponential = 300 }
demand = { cpu = 3 }
[[generator]]
queue = "b.two"
arrivals = { poisson = "90s" }
duration = { exponential = 100 }
demand = { cpu = 1 }
"#;

fn run(policy: &str, sets: &[&str]) -> RunRecord {
    let options = SimulateOptions {
        policies: vec![policy.to_owned()],
        keep_jobs: true,
        ..SimulateOptions::default()
    };
    let scenario = scenario(TEXT, sets).unwrap();
    simulate(&scenario, &options, None, &mut Unwatched).unwrap().runs.remove(0)
}

/// Of one tenant, by hand.
#[derive(Default)]
struct Figures {
    waits: Vec<f64>,
    times: Vec<f64>,
    used: f64,
    entitled: f64,
}

/// Overlap of a span with the part that counts.
fn within(from: f64, to: f64, (lo, hi): (f64, f64)) -> f64 {
    (to.min(hi) - from.max(lo)).max(0.0)
}

fn figures(jobs: &[&JobRecord], share: f64, span: (f64, f64), end: f64) -> Figures {
    let mut all = Figures::default();
    let mut steps: Vec<(f64, f64)> = Vec::new();
    for job in jobs {
        let ended = job.ended_s.unwrap_or(end);
        let counts = span.0 <= job.submit_s && job.submit_s < span.1;
        assert_eq!(job.counts, counts, "{job:?}");
        if let Some(started) = job.started_s {
            all.used += job.width * within(started, ended, span);
            all.waits.extend(counts.then_some(started - job.submit_s));
        }
        all.times.extend(job.ended_s.filter(|_| counts).map(|ended| ended - job.submit_s));
        steps.extend([(job.submit_s, job.width), (ended, -job.width)]);
    }
    steps.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut demand, mut since) = (0.0f64, 0.0);
    for (at, by) in steps {
        all.entitled += demand.min(share) * within(since, at, span);
        (demand, since) = (demand + by, at);
    }
    all
}

fn near(one: Option<f64>, other: Option<f64>, what: &str) {
    match (one, other) {
        (Some(one), Some(other)) => {
            let far = (one - other).abs() > 1e-6 * (1.0 + one.abs());
            assert!(!far, "{what}: {one} {other}");
        }
        _ => assert_eq!(one, other, "{what}"),
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

#[test]
fn figures_are_of_what_is_submitted_in_the_part_that_counts() {
    for policy in ["fair", "long-term,half_life=10min", "fifo"] {
        for (sets, span) in [
            (&["run.warm_up=30min", "run.cool_down=20min"][..], (1800.0, 6000.0)),
            (&["run.warm_up=30min"], (1800.0, 7200.0)),
            (&["run.cool_down=1h"], (0.0, 3600.0)),
            (&[], (0.0, 7200.0)),
        ] {
            let run = run(policy, sets);
            let told = run.counted.map(|counted| (counted.from_s, counted.to_s));
            assert_eq!(told, (!sets.is_empty()).then_some(span), "{policy} {sets:?}");
            let mut of: BTreeMap<usize, Vec<&JobRecord>> = BTreeMap::new();
            run.jobs.iter().for_each(|job| of.entry(job.queue).or_default().push(job));
            let shares = [8.0, 4.0, 4.0];
            let mut used = 0.0;
            for (number, queue) in run.queues.iter().enumerate() {
                let name = format!("{policy} {sets:?} {}", queue.queue);
                let own = figures(&of[&number], shares[number], span, run.end_s);
                used += own.used;
                near(queue.mean_wait_s, mean(&own.waits), &name);
                near(queue.mean_job_s, mean(&own.times), &name);
                assert_eq!(queue.jobs, own.times.len() as u64, "{name}");
                assert_eq!(queue.tasks, own.times.len() as u64, "{name}");
                near(queue.usage.get("cpu").copied(), Some(own.used), &name);
                near(queue.rho, Some(own.used / own.entitled), &name);
            }
            let part = used / (16.0 * (span.1 - span.0));
            near(run.utilization.get("cpu").copied(), Some(part), policy);
            let balance: f64 = run.queues.iter().map(|queue| queue.balance).sum();
            assert!(balance.abs() < 1e-3, "{policy} {sets:?}: {balance}");
            let group = run.groups[0].usage["cpu"];
            near(Some(group), Some(run.queues[1].usage["cpu"] + run.queues[2].usage["cpu"]), "b");
        }
    }
}

/// What counts decides nothing, and where all does all is as it was.
#[test]
fn what_counts_decides_nothing() {
    for policy in ["static", "fair", "long-term,half_life=10min"] {
        let (all, part) = (run(policy, &[]), run(policy, &["run.warm_up=1h"]));
        let starts = |run: &RunRecord| -> Vec<(String, Option<f64>, Option<f64>)> {
            let of = |job: &JobRecord| (job.label.to_string(), job.started_s, job.ended_s);
            run.jobs.iter().map(of).collect()
        };
        assert_eq!(starts(&all), starts(&part), "{policy}");
        assert!(all.counted.is_none() && all.mean_job_s != part.mean_job_s, "{policy}");
        assert!(part.jobs.iter().any(|job| job.counts) && part.jobs.iter().any(|job| !job.counts));
    }
}

#[test]
fn a_cool_down_needs_an_end() {
    let text = TEXT.replace("until = \"2h\"", "cool_down = \"5min\"");
    let text = text.replace("demand", "jobs = 5\ndemand");
    let why = scenario(&text, &[]).err().unwrap().to_string();
    assert!(why.contains("counts back from the last submission of a trace"), "{why}");
    assert!(why.contains(":14:"), "{why}");
}
