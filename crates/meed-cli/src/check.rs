//! `meed check`: whether files are right, without running anything.

use std::path::{Path, PathBuf};

use clap::Args;
use meed_scenario::{Scenario, Setting};
use meed_workload::OnBadLine;

use crate::args::input;
use crate::exit::Failure;
use crate::output::{print, remark};
#[cfg(target_os = "linux")]
use crate::programs::SERVER;

pub(crate) const EXAMPLES: &str = "\
Examples:
  meed check scenario.toml
  meed check /etc/meed/meed.toml
  meed check jobs.csv.zst scenarios/*.toml";

#[derive(Args)]
pub(crate) struct CheckArgs {
    /// Scenarios, traces, and configurations of `meed serve`.
    #[arg(required = true, value_name = "FILE", value_parser = input)]
    files: Vec<PathBuf>,
    /// Changes a key of each scenario before it is checked, as in `meed simulate`.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    sets: Vec<String>,
}

/// All are checked; the last that is wrong decides how it ends.
pub(crate) fn run(args: &CheckArgs) -> Result<(), Failure> {
    let settings = Setting::parse_all(&args.sets)?;
    let mut wrong: Option<Failure> = None;
    for file in &args.files {
        match check(file, &settings) {
            Ok(what) => print(&format!("{}: right: {what}\n", file.display()))?,
            Err(failure) => {
                if let Some(before) = wrong.replace(failure) {
                    before.report();
                }
            }
        }
    }
    wrong.map_or(Ok(()), Err)
}

/// What the file is, and holds.
fn check(file: &Path, settings: &[Setting]) -> Result<String, Failure> {
    #[cfg(target_os = "linux")]
    if is_configuration(file) {
        return configuration(file);
    }
    let scenario = Scenario::load_any(file, settings, OnBadLine::Skip)?;
    scenario.warnings.iter().for_each(|warning| remark(&format!("{}: {warning}", file.display())));
    let policies = scenario.default_policies();
    policies.iter().try_for_each(|words| scenario.check_policy(words))?;
    let is_scenario = file.extension().is_some_and(|ending| ending == "toml");
    let kind = if is_scenario { "scenario" } else { "trace" };
    let kinds: Vec<&str> = scenario.kinds().names().collect();
    Ok(format!(
        "a {kind}; tenants: {}; resources: {}; policies unless others are named: {}",
        scenario.tenant_count(),
        kinds.join(", "),
        policies.join(", ")
    ))
}

/// Whether it is TOML without anything to run. What is no TOML is told by who reads scenarios.
#[cfg(target_os = "linux")]
fn is_configuration(file: &Path) -> bool {
    let is_toml = file.extension().is_some_and(|ending| ending == "toml");
    let text = is_toml.then(|| std::fs::read_to_string(file).ok()).flatten();
    text.is_some_and(|text| Scenario::is_without_work(&text))
}

/// A server's configuration is read by the server's program.
#[cfg(target_os = "linux")]
fn configuration(file: &Path) -> Result<String, Failure> {
    let told = SERVER.ask(&["check".into(), "--".into(), file.into()])?;
    Ok(told.trim_end().to_owned())
}
