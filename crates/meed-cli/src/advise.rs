//! `meed advise`.

use std::path::PathBuf;

use clap::Args;
use meed_lab::advise::{self, AdviceRequest, Aims, Question, aims};
use meed_report::page;
use meed_sim::scenario::Scenario;
use meed_workload::OnBadLine;

use crate::args::TableArgs;
use crate::exit::Failure;
use crate::output::{guard, print, print_data, print_styled, reads_of, remark, table_options};
use crate::watch;
use crate::weights::WeightArgs;

pub(crate) const EXAMPLES: &str = "\
Examples:
  meed advise CTC-SP2.swf.gz
  meed advise sacct.txt --weights shares.txt --report setting.html
  meed advise jobs.csv --map tenant=team,submit=created,duration=took:min --aim longest
  meed advise CTC-SP2.swf.gz --at-most heavy=1.2 --at-most mean=none
  meed advise cluster.toml -p long-term,half_life=7d -p long-term,round=7d --seeds 5 --json

Figures (--aim, --at-most): light, mean wait of the lighter half of tenants; heavy, of the \
heaviest tenth; mean, mean job time; longest, longest wait at the 90th percentile of tenants; \
wide, mean wait of the widest tenth of jobs; below, tenants with rho below 1. See \
docs/advise.md.";

#[derive(Args)]
pub(crate) struct AdviseArgs {
    /// A trace, as in `meed simulate`, or a scenario.
    #[arg(value_parser = crate::args::input)]
    pub(crate) log: PathBuf,
    /// The figure that is to be as small as can be. Default: light.
    #[arg(long, value_name = "FIGURE")]
    pub(crate) aim: Option<String>,
    /// A figure may be at most so many times what it is under fair; `none` for no bound. May be
    /// given several times. Default: heavy=1.5, mean=1.05.
    #[arg(long, value_name = "FIGURE=RATIO")]
    pub(crate) at_most: Vec<String>,
    /// A candidate, as in `meed simulate`. May be given several times. Default: half-lives from 1 h
    /// to 30 d, rounds of 1, 7 and 30 d, and memory without end.
    #[arg(long, short, value_name = "POLICY")]
    pub(crate) policy: Vec<String>,
    /// The loads at which each is run, against the log's own. Default: 0.97,1,1.03.
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
    /// Prints JSON instead of tables.
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

pub(crate) fn run(args: &AdviseArgs) -> Result<(), Failure> {
    let aims = Aims::read(args.aim.as_deref(), &args.at_most).map_err(Failure::Usage)?;
    let loads = args.loads.iter().map(|load| {
        let factor = aims::thousandths(load.trim());
        factor.map_err(|why| Failure::Usage(format!("--loads: {why}")))
    });
    let loads: Vec<u32> = loads.collect::<Result<_, _>>()?;
    let mut inputs = vec![("log", args.log.as_path())];
    inputs.extend(args.weights.file());
    let mut files = guard(&[("--report", args.report.as_deref())], &inputs)?;
    let on_bad_line = if args.strict { OnBadLine::Stop } else { OnBadLine::Skip };
    let sets = args.weights.before(args.table.with(&args.sets)?, args.quiet, |sets| {
        let scenario = Scenario::load_any(&args.log, sets, on_bad_line)?;
        Ok(scenario.queue_names().map(str::to_owned).collect())
    })?;
    let question = Question::prepare(&AdviceRequest {
        log: args.log.clone(),
        sets,
        policies: args.policy.clone(),
        loads,
        seeds: args.seeds,
        aims,
        strict: args.strict,
    })?;
    let grid = question.grid();
    grid.scenarios.iter().try_for_each(|scenario| reads_of(&mut files, scenario))?;
    if !args.quiet {
        grid.scenarios[0].warnings.iter().for_each(|warning| remark(warning));
    }
    let template = "{bar:24} {pos} of {len} simulations, {elapsed} gone, {eta} to go";
    let bar = watch::bar(args.quiet, grid.points.len() as u64, template);
    let threads = crate::sweep::threads(args.threads, grid.points.len(), args.quiet);
    let answer = question.answer(threads, &|done| bar.set_position(done as u64));
    bar.finish_and_clear();
    let (advice, results) = answer?;
    let notes = grid.scenarios[0].source(grid.seeds[0], on_bad_line)?.assumptions();
    if let Some(path) = &args.report {
        let report = advise::page::page(&question, &advice, Some(&results), &notes);
        files.write_text(path, &page::to_html(&report))?;
    }
    if args.json {
        return print_data(&advise::page::to_json(&question, &advice));
    }
    if args.quiet {
        return Ok(());
    }
    let options = table_options();
    let words = advise::page::page(&question, &advice, None, &notes);
    print_styled(&page::to_text(&words, &options), &options)?;
    if let Some(path) = &args.report {
        print(&format!("Report: {}\n", path.display()))?;
    }
    Ok(())
}
