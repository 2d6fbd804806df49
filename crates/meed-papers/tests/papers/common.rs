//! Drives the built program.

use std::path::Path;
use std::process::{Command, Output};

use meed_scenario::Scenario;
use meed_sim::{SimulateOptions, Unwatched};
use meed_workload::OnBadLine;

/// A folder of its own for each test.
pub(crate) fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("there is room for a temporary folder")
}

/// Runs `meed-papers` in `folder`.
pub(crate) fn papers(folder: &Path, args: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_meed-papers"));
    program.args(args).current_dir(folder).output().expect("the program was built")
}

/// Runs `meed-papers`, which must succeed; its standard output.
pub(crate) fn succeed(folder: &Path, args: &[&str]) -> String {
    let output = papers(folder, args);
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "meed-papers {args:?}: {words}");
    String::from_utf8(output.stdout).expect("output is text")
}

/// Runs `meed-papers`, which must end with `code`; what it says on standard error.
pub(crate) fn fail(folder: &Path, args: &[&str], code: i32) -> String {
    let output = papers(folder, args);
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{args:?}: {words}");
    words
}

/// Runs the scenario in `file` under `policy`; every job must run.
pub(crate) fn simulate(folder: &Path, file: &str, policy: &str) {
    let scenario = Scenario::load_any(&folder.join(file), &[], OnBadLine::Stop);
    let scenario = scenario.expect("a scenario that is right");
    let policies = vec![policy.to_owned()];
    let options = SimulateOptions { policies, strict: true, ..SimulateOptions::default() };
    let compared = meed_sim::simulate(&scenario, &options, None, &mut Unwatched);
    assert_eq!(compared.expect("a run that goes on to its end").runs.len(), 1);
}
