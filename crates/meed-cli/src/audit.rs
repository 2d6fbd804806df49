//! `meed audit`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use meed_lab::audit::{
    Audit, AuditError, DEFAULT_POLICIES, DEFAULT_TRIALS, Options, PROPERTIES, Property, Tasks, audit, page,
    replay, summary_page, write_counterexamples,
};
use meed_report::page::{to_text, write_html};

use crate::exit::Failure;
use crate::output::{check_files, print, table_options, write_text};
use crate::watch;

pub(crate) const EXAMPLES: &str = "\
Examples:
  meed audit
  meed audit --policy fair --policy long-term,half_life=30min --out counterexamples
  meed audit --property strategy-proofness --trials 2000 --report audit.html
  meed audit --case counterexamples/contribution-fair-unit/case.json";

#[derive(Args)]
pub(crate) struct AuditArgs {
    /// A policy, as in `meed simulate`. May be given several times. Tenants form two groups where it names t_wait.
    /// Default: static, fifo, fair, and long-term in six ways.
    #[arg(long, short, value_name = "POLICY", conflicts_with = "case")]
    policy: Vec<String>,
    /// A property; may be given several times. Default: all. sharing-incentive, workload-incentive, contribution,
    /// strategy-proofness, overclaiming, pareto, false-names, full-weight-names (docs/properties.md).
    #[arg(long, value_name = "NAME", conflicts_with = "case")]
    property: Vec<String>,
    /// What tasks are like: of one slot and one minute, as divisible demand; or of several slots and minutes.
    #[arg(long, value_enum, default_value_t = TaskKind::Both, conflicts_with = "case")]
    tasks: TaskKind,
    /// Random cases for each property, policy and kind of tasks.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_TRIALS, value_parser = clap::value_parser!(u32).range(1..=1_000_000), conflicts_with = "case")]
    trials: u32,
    /// Seed of all random choices.
    #[arg(long, value_name = "N", default_value_t = 0, conflicts_with = "case")]
    seed: u64,
    /// Writes each counterexample into a folder of its own below this one: scenarios that `meed simulate` runs, and
    /// case.json for --case.
    #[arg(long, value_name = "FOLDER", conflicts_with = "case")]
    out: Option<PathBuf>,
    /// Writes the result as JSON (docs/json.md); `-` for standard output, instead of the tables.
    #[arg(long, value_name = "FILE", conflicts_with = "case")]
    json: Option<PathBuf>,
    /// Writes a self-contained HTML report.
    #[arg(long, value_name = "FILE.html", conflicts_with = "case")]
    report: Option<PathBuf>,
    /// Evaluates a case that --out has written again, instead of searching.
    #[arg(long, value_name = "case.json")]
    case: Option<PathBuf>,
    /// Prints no table and no progress.
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum TaskKind {
    Unit,
    Whole,
    Both,
}

pub(crate) fn run(args: &AuditArgs) -> Result<(), Failure> {
    if let Some(case) = &args.case {
        return again(case);
    }
    let options = options(args)?;
    check_files(
        &[("--json", args.json.as_deref()), ("--report", args.report.as_deref())],
        ("", Path::new("")),
    )?;
    let bar = watch::bar(args.quiet, 1, "{bar:24} {pos} of {len} half searches, {elapsed}");
    let result = audit(&options, &|done, of| {
        bar.set_length(of as u64);
        bar.set_position(done as u64);
    });
    bar.finish_and_clear();
    let result = result?;
    if let Some(folder) = &args.out {
        write_counterexamples(&result, folder)?;
    }
    if let Some(path) = &args.report {
        write_html(&page(&result)?, path)?;
    }
    match args.json.as_deref() {
        Some(path) if path == Path::new("-") => return print(&json(&result)),
        Some(path) => write_text(path, &json(&result))?,
        None => {}
    }
    if args.quiet { Ok(()) } else { print(&to_text(&summary_page(&result), &table_options())) }
}

fn options(args: &AuditArgs) -> Result<Options, Failure> {
    let known = || PROPERTIES.iter().map(|row| row.name).collect::<Vec<_>>().join(", ");
    let named = |name: &String| {
        Property::named(name)
            .ok_or_else(|| Failure::Usage(format!("unknown property `{name}`; known are {}", known())))
    };
    let mut properties = args.property.iter().map(named).collect::<Result<Vec<_>, _>>()?;
    properties.sort();
    properties.dedup();
    if properties.is_empty() {
        properties = PROPERTIES.iter().map(|row| row.property).collect();
    }
    let policies = match args.policy.is_empty() {
        true => DEFAULT_POLICIES.map(str::to_owned).to_vec(),
        false => args.policy.clone(),
    };
    let tasks = match args.tasks {
        TaskKind::Unit => vec![Tasks::Unit],
        TaskKind::Whole => vec![Tasks::Whole],
        TaskKind::Both => vec![Tasks::Unit, Tasks::Whole],
    };
    Ok(Options { policies, properties, tasks, trials: args.trials, seed: args.seed })
}

fn json(result: &Audit) -> String {
    let text = serde_json::to_string(result);
    text.expect("an audit holds only numbers, words and lists of them") + "\n"
}

fn again(case: &Path) -> Result<(), Failure> {
    let replayed = replay(case)?;
    print(&format!(
        "{} under {}, tenant {}: {} (written: {}; whole tasks alone could make {})\n",
        replayed.property.row().title,
        replayed.policy,
        replayed.tenant,
        replayed.value,
        replayed.written,
        replayed.tolerance,
    ))
}

impl From<AuditError> for Failure {
    fn from(error: AuditError) -> Failure {
        match error {
            AuditError::Simulate(error) => error.into(),
            AuditError::Run(error) => error.into(),
            AuditError::Load(error) => error.into(),
            AuditError::Trace(error) => error.into(),
            AuditError::File { .. } => Failure::File(error.to_string()),
            AuditError::Config(_) | AuditError::Json(_) | AuditError::Case { .. } => {
                Failure::Input(error.to_string())
            }
        }
    }
}
