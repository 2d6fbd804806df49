//! `meed audit`.

use std::path::{Path, PathBuf};

use crate::audit::plans::{
    PLAN_POLICIES, PLAN_PROBLEMS, PLAN_PROPERTIES, PlanOptions, PlanProblem, PlanProperty,
    audit_plans, plans_page, plans_summary, replay_plans, write_plans,
};
use crate::audit::pool::{
    POOL_POLICIES, POOL_PROPERTIES, PoolOptions, PoolProperty, audit_pool, pool_page, pool_summary,
    replay_pool, write_pool,
};
use crate::audit::{
    AuditError, AuditOptions, CaseKind, DEFAULT_POLICIES, DEFAULT_TRIALS, PROPERTIES, Property,
    ReplayedCase, Tasks, all_orders, audit, page, replay, summary_page, write_counterexamples,
};
use clap::{Args, ValueEnum};
use meed_files::Guard;
use meed_report::page::{Page, to_html_made, to_text};

use meed_cli::exit::Failure;
use meed_cli::made::made;
use meed_cli::output::{guard, print, print_data, print_styled, table_options};
use meed_cli::watch;

pub(crate) const EXAMPLES: &str = "\
Examples:
  meed audit
  meed audit --policy fair --policy long-term,half_life=30min --out counterexamples
  meed audit --all-orders --tasks unit --out counterexamples
  meed audit --policy karma,cadence=1min --property credit-fairness
  meed audit --property strategy-proofness --trials 2000 --report audit.html
  meed audit --plans --problem 1-2 --out counterexamples
  meed audit --pool --policy drfh --policy per-server-drf --property pareto
  meed audit --case counterexamples/contribution-fair-unit/case.json";

#[derive(Args)]
pub(crate) struct AuditArgs {
    /// Audits greedy policies on pools of unequal servers instead: whole tasks of several
    /// resources, and the properties of the DRFH paper.
    #[arg(long, conflicts_with_all = ["case", "tasks"])]
    pool: bool,
    /// Audits orders where tenants contribute instances and pay for them instead: random
    /// contributions, prices and demand, and what a tenant gains by holding work back, lending,
    /// buying late, a second name, prices.
    #[arg(long, conflicts_with_all = ["case", "tasks", "pool"])]
    plans: bool,
    /// With --plans: a problem of docs/prices-and-plans.md; may be given several times. Default:
    /// all. 1-1, 1-2, 2, 3, 4, I1.
    #[arg(long, value_name = "PROBLEM", requires = "plans", conflicts_with_all = ["case", "pool"])]
    problem: Vec<String>,
    /// A policy, as in `meed simulate`, or another scheduler's order, as in `meed rivals` (not with
    /// --plans or --pool). May be given several times. Tenants form two groups where it names
    /// t_wait. Default: static, fifo, fair, and long-term in six ways; with --plans as-you-pay in
    /// three ways, drf, long-term-drf; with --pool drf, drfh, long-term-drf, per-server-drf, slots,
    /// and other placements.
    #[arg(long, short, value_name = "POLICY", conflicts_with = "case")]
    policy: Vec<String>,
    /// Audits all orders there are: those of the default, Meed's others, and those of `meed
    /// rivals`, whose times are of 10 min and which tick each minute here.
    #[arg(long, conflicts_with_all = ["case", "policy", "pool", "plans"])]
    all_orders: bool,
    /// A property; may be given several times. Default: all. sharing-incentive, workload-incentive,
    /// contribution, strategy-proofness, overclaiming, pareto, false-names, full-weight-names,
    /// bounded-wait, honest-shapes, envy-freeness, credit-fairness, history. With --plans:
    /// sharing-incentive, as-you-pay, holding-back, lending, buying-late, splitting, dear-prices,
    /// driving-prices (docs/prices-and-plans.md). With --pool: envy-freeness, pareto,
    /// group-strategy-proofness, strong-sharing-incentive, weak-sharing-incentive,
    /// single-server-drf, single-resource, bottleneck, population-monotonicity
    /// (docs/properties.md).
    #[arg(long, value_name = "NAME", conflicts_with = "case")]
    property: Vec<String>,
    /// What tasks are like: of one slot and one minute, as divisible demand; or of several slots
    /// and minutes.
    #[arg(long, value_enum, default_value_t = TaskKind::Both, conflicts_with = "case")]
    tasks: TaskKind,
    /// Random cases for each property, policy and kind of tasks.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_TRIALS, value_parser =
        clap::value_parser!(u32).range(1..=1_000_000), conflicts_with = "case")]
    trials: u32,
    /// Seed of all random choices.
    #[arg(long, value_name = "N", default_value_t = 0, conflicts_with = "case")]
    seed: u64,
    /// Writes each counterexample into a folder of its own below this one: scenarios that `meed
    /// simulate` runs, and case.json for --case.
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
    let outputs = [("--json", args.json.as_deref()), ("--report", args.report.as_deref())];
    let mut files = guard(&outputs, &[])?;
    match (args.pool, args.plans) {
        (true, _) => pool(args, &mut files),
        (_, true) => plans(args, &mut files),
        _ => tenants(args, &mut files),
    }
}

fn tenants(args: &AuditArgs, files: &mut Guard) -> Result<(), Failure> {
    let options = options(args)?;
    let bar = watch::bar(args.quiet, 1, "{bar:24} {pos} of {len} half searches, {elapsed}");
    let result = audit(&options, &|done, of| {
        bar.set_length(of as u64);
        bar.set_position(done as u64);
    });
    bar.finish_and_clear();
    let result = result?;
    if let Some(folder) = &args.out {
        write_counterexamples(&result, folder, files)?;
    }
    if let Some(path) = &args.report {
        files.write_text(path, &to_html_made(&page(&result)?, &made::<&str>(&[])))?;
    }
    tell(args, &json(&result), &summary_page(&result), files)
}

fn pool(args: &AuditArgs, files: &mut Guard) -> Result<(), Failure> {
    let policies = match args.policy.is_empty() {
        true => POOL_POLICIES.map(str::to_owned).to_vec(),
        false => args.policy.clone(),
    };
    let known: Vec<&str> = POOL_PROPERTIES.iter().map(|row| row.name).collect();
    let properties = chosen("property", &args.property, &known, PoolProperty::named)?;
    let options = PoolOptions { policies, properties, trials: args.trials, seed: args.seed };
    let bar = watch::bar(args.quiet, 1, "{bar:24} {pos} of {len} searches, {elapsed}");
    let result = audit_pool(&options, &|done, of| {
        bar.set_length(of as u64);
        bar.set_position(done as u64);
    });
    bar.finish_and_clear();
    let result = result?;
    if let Some(folder) = &args.out {
        write_pool(&result, folder, files)?;
    }
    if let Some(path) = &args.report {
        files.write_text(path, &to_html_made(&pool_page(&result), &made::<&str>(&[])))?;
    }
    tell(args, &json(&result), &pool_summary(&result), files)
}

fn plans(args: &AuditArgs, files: &mut Guard) -> Result<(), Failure> {
    let policies = match args.policy.is_empty() {
        true => PLAN_POLICIES.map(str::to_owned).to_vec(),
        false => args.policy.clone(),
    };
    let known: Vec<&str> = PLAN_PROPERTIES.iter().map(|row| row.name).collect();
    let properties = chosen("property", &args.property, &known, PlanProperty::named)?;
    let known = PLAN_PROBLEMS.map(|row| row.0);
    let problems = chosen("problem", &args.problem, &known, PlanProblem::named)?;
    let (trials, seed) = (args.trials, args.seed);
    let options = PlanOptions { policies, problems, properties, trials, seed };
    let bar = watch::bar(args.quiet, 1, "{bar:24} {pos} of {len} searches, {elapsed}");
    let result = audit_plans(&options, &|done, of| {
        bar.set_length(of as u64);
        bar.set_position(done as u64);
    });
    bar.finish_and_clear();
    let result = result?;
    if let Some(folder) = &args.out {
        write_plans(&result, folder, files)?;
    }
    if let Some(path) = &args.report {
        files.write_text(path, &to_html_made(&plans_page(&result), &made::<&str>(&[])))?;
    }
    tell(args, &json(&result), &plans_summary(&result), files)
}

/// JSON where it is asked for, and the tables.
fn tell(args: &AuditArgs, json: &str, summary: &Page, files: &mut Guard) -> Result<(), Failure> {
    match args.json.as_deref() {
        Some(path) if path == Path::new("-") => return print_data(json),
        Some(path) => files.write_text(path, json)?,
        None => {}
    }
    let options = table_options();
    if args.quiet { Ok(()) } else { print_styled(&to_text(summary, &options), &options) }
}

/// The properties (or problems: `what`) that are named, in the order in which they are shown; all
/// where none is.
fn chosen<P: Ord>(
    what: &str,
    names: &[String],
    known: &[&str],
    of: fn(&str) -> Option<P>,
) -> Result<Vec<P>, Failure> {
    let named = |name: &str| {
        of(name).ok_or_else(|| {
            Failure::Usage(format!("unknown {what} `{name}`; known are {}", known.join(", ")))
        })
    };
    let mut properties = match names.is_empty() {
        true => known.iter().map(|name| named(name)).collect::<Result<Vec<_>, _>>()?,
        false => names.iter().map(|name| named(name)).collect::<Result<Vec<_>, _>>()?,
    };
    properties.sort();
    properties.dedup();
    Ok(properties)
}

fn options(args: &AuditArgs) -> Result<AuditOptions, Failure> {
    let known: Vec<&str> = PROPERTIES.iter().map(|row| row.name).collect();
    let properties = chosen("property", &args.property, &known, Property::named)?;
    let policies = match (args.all_orders, args.policy.is_empty()) {
        (true, _) => all_orders(),
        (false, true) => DEFAULT_POLICIES.map(str::to_owned).to_vec(),
        (false, false) => args.policy.clone(),
    };
    let tasks = match args.tasks {
        TaskKind::Unit => vec![Tasks::Unit],
        TaskKind::Whole => vec![Tasks::Whole],
        TaskKind::Both => vec![Tasks::Unit, Tasks::Whole],
    };
    Ok(AuditOptions { policies, properties, tasks, trials: args.trials, seed: args.seed })
}

fn json(result: &impl serde::Serialize) -> String {
    let text = serde_json::to_string(result);
    text.expect("an audit holds only numbers, words and lists of them") + "\n"
}

fn again(case: &Path) -> Result<(), Failure> {
    const TASKS: &str = "whole tasks alone could make";
    let line = match CaseKind::of(case) {
        CaseKind::Pool => {
            let replayed = replay_pool(case)?;
            told(&replayed, replayed.property.row().title, "user", TASKS)
        }
        CaseKind::Plans => {
            let replayed = replay_plans(case)?;
            let title = replayed.property.row().name;
            told(&replayed, title, "tenant", "tasks and ticks explain")
        }
        CaseKind::Tenants => {
            let replayed = replay(case)?;
            told(&replayed, replayed.property.row().title, "tenant", TASKS)
        }
    };
    print(&line)
}

/// `who` it is about, and what makes its tolerance.
fn told<P>(replayed: &ReplayedCase<P>, title: &str, who: &str, makes: &str) -> String {
    let ReplayedCase { policy, about, value, written, tolerance, .. } = replayed;
    format!(
        "{title} under {policy}, {who} {about}: {value} (written: {written}; {makes} {tolerance})\n"
    )
}

impl From<AuditError> for Failure {
    fn from(error: AuditError) -> Failure {
        match error {
            AuditError::Simulate(error) => error.into(),
            AuditError::Write(error) => error.into(),
            AuditError::Run(error) => error.into(),
            AuditError::Load(error) => error.into(),
            AuditError::Trace(error) => error.into(),
            AuditError::File { .. } => Failure::File(error.to_string()),
            AuditError::Config(_)
            | AuditError::Level(_)
            | AuditError::Json(_)
            | AuditError::Case { .. } => Failure::Input(error.to_string()),
        }
    }
}
