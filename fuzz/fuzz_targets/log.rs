//! Logs: read, run again and explained, taken as workloads, or refused with a message.
#![no_main]

use std::ops::ControlFlow;

use libfuzzer_sys::fuzz_target;
use meed_replay::explain::{LogSubject, explain};
use meed_replay::{Recording, ReplayOptions, replay};
use meed_scenario::log::read::LogFile;
use meed_scenario::workload_of;
use meed_sim::Watch;
use meed_sim::world::Progress;
use meed_workload::Origin;

struct StopSoon;

impl Watch for StopSoon {
    fn begins(&mut self, _: &str) {}
    fn goes_on(&mut self, _: Progress) -> ControlFlow<()> {
        ControlFlow::Break(())
    }
    fn skipped(&mut self, _: &str, _: &[String]) {}
}

/// Whether the numbers of tasks are small and none fails again and again: the fuzzer wants many
/// short runs.
fn is_small(data: &[u8]) -> bool {
    let text = String::from_utf8_lossy(data);
    !text.contains("fail_rate")
        && text
            .split("\"tasks\":")
            .skip(1)
            .all(|rest| rest.bytes().take_while(|byte| byte.is_ascii_digit()).count() < 4)
}

fuzz_target!(|data: &[u8]| {
    let log = match LogFile::of(Origin::bytes("log", data)) {
        Ok(log) => log,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    if !is_small(data) {
        return;
    }
    match workload_of(log.clone(), Some("1")) {
        Ok(jobs) => assert!(jobs.is_sorted_by_key(|job| job.submit)),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    let recording = match Recording::of(log, Some("1")) {
        Ok(recording) => recording,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let options =
        ReplayOptions { policies: vec!["fair".to_owned()], series_points: 4,
            ..ReplayOptions::default() };
    if let Err(error) = replay(&recording, &options, None, &mut StopSoon) {
        assert!(!error.to_string().is_empty());
    }
    for subject in [LogSubject::Job("0".to_owned()), LogSubject::Queue("G2".to_owned())] {
        if let Err(error) = explain(&recording, &subject, None) {
            assert!(!error.to_string().is_empty());
        }
    }
});
