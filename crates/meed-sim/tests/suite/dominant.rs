//! rho over accumulated dominant shares, as records and series show it, against what is worked out
//! by hand.

use std::path::Path;

use meed_scenario::Scenario;
use meed_sim::record::RunRecord;
use meed_sim::{SimulateOptions, Unwatched, simulate};
use meed_workload::OnBadLine;

fn runs(text: &str, policies: &[&str]) -> Vec<RunRecord> {
    let scenario =
        Scenario::parse("test", text, Path::new("."), &[], OnBadLine::Stop).expect("a scenario");
    let options = SimulateOptions {
        policies: policies.iter().map(|&words| words.to_owned()).collect(),
        series_points: 10,
        strict: true,
        ..SimulateOptions::default()
    };
    simulate(&scenario, &options, None, &mut Unwatched).expect("it runs").runs
}

fn near(got: Option<f64>, expected: f64) {
    assert!(got.is_some_and(|got| (got - expected).abs() < 1e-9), "{got:?} is not {expected}");
}

/// A wants a fifth of the memory for 10 s and gets it; B wants all CPUs and half of the memory, in
/// tasks of a tenth of the CPUs: it gets eight of its ten at once, then two more when A has ended.
/// Entitled to half, B is served 8/10 of the CPUs for 10 s and then 2/10 for 10 s, where its part
/// alone would have served half for 10 s and 2/10 for 10 s.
const TWO: &str = r#"
[cluster]
resources = ["cpu", { name = "memory", unit = "milli" }]
[[cluster.node]]
capacity = { cpu = 10, memory = 20 }
[[queue]]
name = "a"
[[queue]]
name = "b"
[[job]]
queue = "a"
duration = "10s"
demand = { cpu = 2, memory = 4 }
[[job]]
queue = "b"
tasks = 10
duration = "10s"
demand = { cpu = 1, memory = 1 }
"#;

#[test]
fn by_hand() {
    let runs = runs(TWO, &["drf", "static"]);
    near(runs[0].queues[0].dominant_rho, 1.0);
    near(runs[0].queues[1].dominant_rho, (0.8 + 0.2) / (0.5 + 0.2));
    near(Some(runs[0].dominant_psi), 1.0 / 0.7 - 1.0);
    near(Some(runs[0].dominant_omega), 0.0);
    let series = &runs[0].series;
    assert_eq!(series.dominant_omega.len(), series.t_s.len());
    assert_eq!(
        series.queues[1].dominant_rho.last().copied().flatten(),
        runs[0].queues[1].dominant_rho
    );
    // Alone on half of everything each gets what its part serves.
    near(runs[1].queues[0].dominant_rho, 1.0);
    near(runs[1].queues[1].dominant_rho, 1.0);
}

/// With one resource it is rho, and series do not say it twice.
#[test]
fn of_one_resource() {
    let text =
        TWO.replace(", { name = \"memory\", unit = \"milli\" }", "").replace(", memory = 20", "");
    let text = text.replace(", memory = 4", "").replace(", memory = 1", "");
    let run = &runs(&text, &["fair"])[0];
    for queue in &run.queues {
        assert_eq!(queue.dominant_rho, queue.rho);
    }
    assert!(run.queues[1].rho.is_some() && run.series.dominant_psi.is_empty());
    assert_eq!(
        (run.dominant_psi, run.dominant_omega, run.dominant_jain),
        (run.psi, run.omega, run.jain)
    );
}

/// Jobs one by one, where they are asked for: those that ended, and those that were still there.
#[test]
fn jobs_are_kept_where_asked_for() {
    let text = format!("{TWO}\n[run]\nuntil = \"15s\"\n");
    let scenario =
        Scenario::parse("test", &text, Path::new("."), &[], OnBadLine::Stop).expect("a scenario");
    let setup = meed_sim::setup(&scenario, "drf", 0).expect("a setup");
    let run = meed_sim::run_one(
        "drf",
        meed_sim::world::WorldSetup { keep_jobs: true, ..setup },
        &mut Unwatched,
    );
    let jobs = run.expect("it runs").jobs;
    let seen: Vec<_> =
        jobs.iter().map(|job| (job.queue, job.submit_s, job.started_s, job.ended_s)).collect();
    assert_eq!(seen, [(0, 0.0, Some(0.0), Some(10.0)), (1, 0.0, Some(0.0), None)]);
    let seen: Vec<_> = jobs.iter().map(|job| (job.tasks, job.width)).collect();
    assert_eq!(seen, [(1, 2.0), (10, 1.0)]);
    assert!(runs(TWO, &["drf"])[0].jobs.is_empty());
}
