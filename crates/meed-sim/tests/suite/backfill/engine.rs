//! Starts as the simulator makes them.

use std::path::Path;

use meed_scenario::Scenario;
use meed_sim::{SimulateOptions, Unwatched, simulate};
use meed_workload::OnBadLine;
use serde_json::Value;

/// One pool, served first come, first served with these keys of `[policy]`.
pub(crate) fn pool(processors: u64, policy: &str) -> String {
    format!(
        "[cluster]\nresources = [\"cpu\"]\n[[cluster.node]]\ncapacity = {{ cpu = {processors} }}\n\
         [policy]\norder = \"fifo\"\n{policy}\n"
    )
}

/// When each job starts, in seconds, the jobs being in order of arrival. Each is one task.
pub(crate) fn starts(text: &str) -> Vec<u64> {
    let scenario =
        Scenario::parse("s.toml", text, Path::new("."), &[], OnBadLine::Stop).expect("a scenario");
    let options = SimulateOptions {
        policies: vec!["fifo".to_owned()],
        strict: true,
        ..SimulateOptions::default()
    };
    let mut log = Vec::new();
    simulate(&scenario, &options, Some(&mut log), &mut Unwatched).expect("it runs");
    let log = String::from_utf8(log).expect("the log is text");
    let mut starts = Vec::new();
    for line in log.lines() {
        let line: Value = serde_json::from_str(line).expect("each line is JSON");
        if line.get("arrive").is_some() {
            starts.push(None);
        }
        if let Some(start) = line.get("start") {
            let job = start["job"].as_u64().expect("a number") as usize;
            let at = line["t"].as_f64().expect("a time");
            assert_eq!(at.fract(), 0.0, "all times are whole seconds");
            assert_eq!(starts[job].replace(at as u64), None, "job {job} starts twice");
        }
    }
    starts.into_iter().map(|start| start.expect("every job starts")).collect()
}
