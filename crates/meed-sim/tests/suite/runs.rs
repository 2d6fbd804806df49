//! Scenarios from text, and the log of a run.

use std::path::Path;

use meed_scenario::{Scenario, Setting};
use meed_sim::{SimulateOptions, Unwatched, simulate};
use meed_workload::OnBadLine;
use serde_json::Value;

/// The scenario of `text` with `sets` (`KEY=VALUE`), or what is wrong with it.
pub(crate) fn scenario(text: &str, sets: &[&str]) -> Result<Scenario, String> {
    let settings: Result<Vec<Setting>, _> = sets.iter().map(|set| Setting::parse(set)).collect();
    let settings = settings.map_err(|why| why.to_string())?;
    Scenario::parse("s.toml", text, Path::new("."), &settings, OnBadLine::Stop)
        .map_err(|why| why.to_string())
}

/// The log of its run under `policy`, line by line.
pub(crate) fn log(scenario: &Scenario, policy: &str) -> Vec<Value> {
    let options =
        SimulateOptions { policies: vec![policy.to_owned()], ..SimulateOptions::default() };
    let mut log = Vec::new();
    simulate(scenario, &options, Some(&mut log), &mut Unwatched).unwrap();
    let log = String::from_utf8(log).unwrap();
    log.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
