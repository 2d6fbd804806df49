//! `meed rivals`.

use std::path::PathBuf;

use clap::Args;
use meed_lab::advise::aims::thousandths;
use meed_lab::rivals::table::{RIVALS, span};
use meed_lab::rivals::{Contest, RivalsRequest, page};
use meed_report::page::{to_html, to_text};
use meed_sim::scenario::Scenario;
use meed_workload::OnBadLine;

use crate::args::TableArgs;
use crate::exit::Failure;
use crate::output::{guard, print, print_data, print_styled, reads_of, remark, table_options};
use crate::watch;
use crate::weights::WeightArgs;

pub(crate) const EXAMPLES: &str = "\
Examples:
  meed rivals CTC-SP2.swf.gz
  meed rivals CTC-SP2.swf.gz -p long-term -p fair-tree,half_life=14d -p condor
  meed rivals sacct.txt --weights shares.txt --loads 0.97,1,1.03 --report rivals.html
  meed rivals cluster.toml --cadence 5min --set policy.when_blocked=reserve --json";

/// What `--policy` takes besides Meed's own policies, from the table of rivals.
fn rivals_help() -> String {
    let names: Vec<&str> = RIVALS.iter().map(|rival| rival.name).collect();
    format!(
        "A rival ({}) or a policy as in `meed simulate`, with `,key=value` to change its keys. May \
         be given several times. Default: all rivals, fair, and long-term with some memories",
        names.join(", ")
    )
}

/// The same, with all keys.
fn rivals_keys() -> String {
    let rows = RIVALS.iter().flat_map(|rival| {
        let head = format!("  {} ({}): {}", rival.name, rival.of, rival.about);
        let keys = rival.parameters.iter().map(|parameter| {
            format!("      {}={}: {}", parameter.name, parameter.default, parameter.about)
        });
        let cadence = format!("      cadence={}: how often it recomputes ranks", rival.cadence);
        std::iter::once(head).chain(keys).chain([cadence])
    });
    format!("{}.\n\nRivals:\n{}", rivals_help(), rows.collect::<Vec<_>>().join("\n"))
}

#[derive(Args)]
pub(crate) struct RivalsArgs {
    /// A trace, as in `meed simulate`, or a scenario.
    pub(crate) log: PathBuf,
    #[arg(long, short, value_name = "ORDER", help = rivals_help(), long_help = rivals_keys())]
    pub(crate) policy: Vec<String>,
    /// How often all rivals recompute ranks, instead of each at its own cadence.
    #[arg(long, value_name = "TIME")]
    pub(crate) cadence: Option<String>,
    /// The loads at which each is run, against the log's own. Default: the log's own.
    #[arg(long, value_name = "L1,L2,..", value_delimiter = ',')]
    pub(crate) loads: Vec<String>,
    /// Runs each with so many seeds; they change nothing about a trace alone.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seeds: u64,
    /// Changes a key of the scenario, as in `meed simulate`.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) sets: Vec<String>,
    #[command(flatten)]
    pub(crate) weights: WeightArgs,
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// Prints JSON instead of tables (docs/rivals.md).
    #[arg(long)]
    pub(crate) json: bool,
    /// Writes a self-contained HTML report with plots.
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    /// Runs so many simulations at once. Default: one per core. The answer does not depend on it.
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) threads: usize,
    /// Stops at the first wrong line of a trace and at the first job that cannot run, instead of
    /// counting them.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Prints no tables and no progress.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

pub(crate) fn run(args: &RivalsArgs) -> Result<(), Failure> {
    let loads = args.loads.iter().map(|load| {
        thousandths(load.trim()).map_err(|why| Failure::Usage(format!("--loads: {why}")))
    });
    let loads: Vec<u32> = loads.collect::<Result<_, _>>()?;
    let cadence = args.cadence.as_deref().map(span).transpose();
    let cadence = cadence.map_err(|why| Failure::Usage(format!("--cadence: {why}")))?;
    let mut inputs = vec![("log", args.log.as_path())];
    inputs.extend(args.weights.file());
    let mut files = guard(&[("--report", args.report.as_deref())], &inputs)?;
    let on_bad_line = if args.strict { OnBadLine::Stop } else { OnBadLine::Skip };
    let sets = args.weights.before(args.table.with(&args.sets)?, args.quiet, |sets| {
        let scenario = Scenario::load_any(&args.log, sets, on_bad_line)?;
        Ok(scenario.queue_names().map(str::to_owned).collect())
    })?;
    let contest = Contest::prepare(&RivalsRequest {
        log: args.log.clone(),
        sets,
        orders: args.policy.clone(),
        loads,
        seeds: args.seeds,
        cadence,
        strict: args.strict,
    })?;
    contest.scenarios.iter().try_for_each(|scenario| reads_of(&mut files, scenario))?;
    if !args.quiet {
        contest.scenarios[0].warnings.iter().for_each(|warning| remark(warning));
    }
    let template = "{bar:24} {pos} of {len} simulations, {elapsed} gone, {eta} to go";
    let bar = watch::bar(args.quiet, contest.runs() as u64, template);
    let threads = crate::sweep::threads(args.threads, contest.runs(), args.quiet);
    let standings = contest.run(threads, &|done| bar.set_position(done as u64));
    bar.finish_and_clear();
    let standings = standings?;
    let notes = contest.scenarios[0].source(contest.seeds[0], on_bad_line)?.assumptions();
    if let Some(path) = &args.report {
        let report = page::page(&contest, &standings, true, &notes);
        files.write_text(path, &to_html(&report))?;
    }
    if args.json {
        return print_data(&page::to_json(&contest, &standings));
    }
    if args.quiet {
        return Ok(());
    }
    let options = table_options();
    let words = page::page(&contest, &standings, false, &notes);
    print_styled(&to_text(&words, &options), &options)?;
    if let Some(path) = &args.report {
        print(&format!("Report: {}\n", path.display()))?;
    }
    Ok(())
}
