//! What a run reports, computed again from its log alone, by other code and in whole numbers.

pub(crate) mod scenarios;
mod tally;

use meed_replay::{Recording, verify};
use meed_scenario::Scenario;
use meed_scenario::log::read::LogFile;
use meed_sim::{SimulateOptions, Unwatched, simulate};
use meed_workload::{OnBadLine, Origin};
use proptest::prelude::*;

/// Runs `text` under each policy and checks every run against its log.
fn check(text: &str, policies: &[&str]) -> usize {
    let scenario = Scenario::parse("s.toml", text, std::path::Path::new("."), &[], OnBadLine::Skip)
        .expect("a valid scenario");
    let policies: Vec<String> = policies.iter().map(|policy| (*policy).to_owned()).collect();
    let mut log = Vec::new();
    let options = SimulateOptions { policies, series_points: 20, ..SimulateOptions::default() };
    let comparison =
        simulate(&scenario, &options, Some(&mut log), &mut Unwatched).expect("it runs through");
    check_again(&log, comparison.runs.len());
    // Looking at a run changes nothing in it.
    let mut unsampled = Vec::new();
    let options = SimulateOptions { series_points: 0, ..options };
    simulate(&scenario, &options, Some(&mut unsampled), &mut Unwatched).expect("it runs through");
    assert!(unsampled == log, "samples changed the run");
    let lines: Vec<serde_json::Value> = String::from_utf8(log)
        .expect("the log is text")
        .lines()
        .map(|line| serde_json::from_str(line).expect("each line is JSON"))
        .collect();
    let runs: Vec<&[serde_json::Value]> =
        lines.chunk_by(|_, next| next.get("run").is_none()).collect();
    assert_eq!(runs.len(), comparison.runs.len());
    for (run, record) in runs.iter().zip(&comparison.runs) {
        tally::check(run, record, text);
    }
    lines.len()
}

/// Each run of the log, run again, writes the same bytes.
fn check_again(log: &[u8], runs: usize) {
    let log = LogFile::of(Origin::bytes("log", log)).expect("a log");
    assert_eq!(log.runs().len(), runs);
    for run in 1..=runs {
        let recording = Recording::of(log.clone(), Some(&run.to_string())).expect("a run");
        assert_eq!(verify(&recording, &mut Unwatched).expect("it runs again"), None);
    }
}

const ALL: [&str; 6] = [
    "static",
    "fair",
    "fifo",
    "long-term",
    "long-term,half_life=7s,discount=0.5,t_wait=2s",
    "long-term,round=9s,newcomer=early-bird,quantum=1500ms,when_blocked=wait",
];

#[test]
fn table_1() {
    let mut text = include_str!("../../../../../examples/table1.toml").to_owned();
    // The other code reads plain seconds.
    for minutes in 1..=4 {
        text = text.replace(&format!("\"{minutes}min\""), &(60 * minutes).to_string());
    }
    check(&text, &ALL);
}

#[test]
fn changes_stages_chains_and_failures() {
    for text in scenarios::BY_HAND {
        check(text, &ALL);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    #[test]
    fn random_scenarios(plan in scenarios::plan()) {
        check(&plan.to_toml(), &ALL);
    }
}
