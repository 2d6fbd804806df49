//! `meed sweep`.

use std::path::{Path, PathBuf};

use clap::Args;
use meed_experiments::sweep::{
    self, Grid, JournalError, Results, SweepError, SweepJournal, SweepRequest,
};
use meed_files::Guard;
use meed_report::page;
use meed_scenario::{Setting, TraceReading};
use meed_workload::OnBadLine;

use crate::baseline::BaselineArgs;
use crate::cluster::ClusterArgs;
use crate::exit::Failure;
use crate::json::JsonArgs;
use crate::made::made_of;
use crate::output::{guard, print, print_styled, reads_of, remark, remark_unless, table_options};
use crate::site;
use crate::watch;
use crate::weights::WeightArgs;

pub(crate) const EXAMPLES: &str = "\
Examples:
  meed sweep examples/lending.toml --over half_life=1h,6h,24h --seeds 5 --report sweep.html
  meed sweep CTC-SP2.swf.gz --over half_life=1h..30d\\ log\\ 8 --over load=0.8,1,1.2 --out ctc.csv
  meed sweep cluster.toml --over queue.0.weight=1..4\\ step\\ 1 --policy fair --policy long-term \
  --out weights.csv
  meed sweep cluster.toml --over policy=fair,long-term,static --over nodes=8..16\\ step\\ 4 --json

Settings (--over): policy; load (how fast jobs come: run.load); nodes (cluster.node.0.count); \
until (run.until); keys of \
the policy (round, half_life, discount, quantum, t_wait, newcomer, ...); and any key of the \
scenario as --set takes \
it. Values: a list; A..B step S; A..B log N (N values in equal ratios). See docs/sweep.md.";

#[derive(Args)]
pub(crate) struct SweepArgs {
    /// Scenario (TOML, docs/scenario.md), or a trace; `-` is standard input.
    #[arg(value_parser = crate::args::input)]
    pub(crate) scenario: PathBuf,
    /// A setting and its values, as in half_life=1h,6h,24h. Several make all combinations; the
    /// first varies slowest.
    #[arg(long, value_name = "KEY=V1,V2,..")]
    pub(crate) over: Vec<String>,
    /// A policy to run, as in `meed simulate`. May be given several times. Default: fair,
    /// long-term.
    #[arg(long, short, value_name = "POLICY")]
    pub(crate) policy: Vec<String>,
    #[command(flatten)]
    pub(crate) baseline: BaselineArgs,
    /// Runs each combination with so many seeds, one after the other from the first on.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seeds: u64,
    /// The first seed, instead of the scenario's.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Changes a key of the scenario at every point, as in `meed simulate`.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) sets: Vec<String>,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
    #[command(flatten)]
    pub(crate) weights: WeightArgs,
    /// Writes all results as CSV (docs/sweep.md). Finished points are kept in FILE.journal while it
    /// runs: the same command goes on where a stopped one was.
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) out: Option<PathBuf>,
    /// Forgets what a stopped sweep has finished.
    #[arg(long, requires = "out")]
    pub(crate) fresh: bool,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
    /// Writes a self-contained HTML report with plots.
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    /// Runs so many points at once. Default: one per core. Results do not depend on it.
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

pub(crate) fn run(args: &SweepArgs) -> Result<(), Failure> {
    let mut files = outputs(args)?;
    let reading = TraceReading::from(OnBadLine::of(args.strict));
    let (policies, mut changes) = crate::named::named(&args.policy)?;
    changes.extend(Setting::parse_all(&args.sets)?);
    let site = (&args.cluster, &args.weights);
    let say = &mut remark_unless(args.quiet);
    let settings = site::before(&args.scenario, site, changes, &reading, say)?;
    let grid = Grid::prepare(&SweepRequest {
        scenario: args.scenario.clone(),
        settings,
        over: args.over.clone(),
        policies,
        baseline: args.baseline.baseline.clone(),
        seeds: args.seeds,
        first_seed: args.seed,
        reading,
    })?;
    grid.scenarios.iter().try_for_each(|scenario| reads_of(&mut files, scenario))?;
    if !args.quiet {
        remarks(&grid);
    }
    if !args.quiet && args.over.is_empty() {
        remark("nothing varies but policies and seeds; --over half_life=1d,7d varies a setting");
    }
    let journal = match &args.out {
        Some(out) => Some(
            SweepJournal::open(&journal_of(out), &grid, args.fresh).map_err(SweepError::from)?,
        ),
        None => None,
    };
    let found = journal.as_ref().map_or(0, |journal| journal.finished().len());
    if found > 0 && !args.quiet {
        remark(&format!("{found} of {} points were finished before", grid.points.len()));
    }
    let template = "{bar:24} {pos} of {len} points, {elapsed} gone, {eta} to go";
    let bar = watch::bar(args.quiet, grid.points.len() as u64, template);
    let threads = threads(args.threads, grid.points.len(), args.quiet);
    let results = sweep::run(&grid, journal, threads, &|done| bar.set_position(done as u64));
    bar.finish_and_clear();
    write(args, &grid, &results?, &mut files)
}

fn write(
    args: &SweepArgs,
    grid: &Grid,
    results: &Results,
    files: &mut Guard,
) -> Result<(), Failure> {
    if let Some(out) = &args.out {
        let mut file = files.create(out)?;
        results.write_csv(&mut file).map_err(|why| file.failure(why))?;
        file.finish()?;
    }
    if let Some(path) = &args.report {
        let on_bad_line = OnBadLine::of(args.strict);
        let assumed = grid.scenarios[0].source(grid.seeds[0], on_bad_line)?.assumptions();
        let made = made_of(&grid.scenarios[0]);
        let page = sweep::page::page(grid, results, &assumed);
        let report = page::to_html_made(&page, &made);
        files.write_text(path, &report)?;
    }
    if args.json.write(files, || results.to_json(grid))? {
        return Ok(());
    }
    if args.quiet {
        return Ok(());
    }
    let options = table_options();
    print_styled(&page::to_text(&sweep::page::terminal(grid, results), &options), &options)?;
    let written = [
        ("Results", args.out.as_deref()),
        ("JSON", args.json.file()),
        ("Report", args.report.as_deref()),
    ];
    for (what, path) in written {
        if let Some(path) = path {
            print(&format!("{what}: {}\n", path.display()))?;
        }
    }
    Ok(())
}

/// More threads than points have nothing to do, and more than some for each core only cost memory.
const THREADS_PER_CORE: usize = 4;

/// How many of the threads `asked` for are of use; 0 is one per core.
pub(crate) fn threads(asked: usize, points: usize, quiet: bool) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let useful = (cores * THREADS_PER_CORE).min(points.max(1));
    if asked <= useful {
        return asked;
    }
    if !quiet {
        remark(&format!(
            "--threads {asked}: {useful} are used; there are {points} points, and {cores} cores, \
             which serve at most {THREADS_PER_CORE} threads each"
        ));
    }
    useful
}

fn remarks(grid: &Grid) {
    grid.scenarios[0].warnings.iter().for_each(|warning| remark(warning));
    if grid.seeds.len() > 1 && !grid.scenarios.iter().any(|scenario| scenario.is_random()) {
        remark("nothing in this scenario is drawn by the seed: its results are the same at each");
    }
}

/// The journal stands beside the results.
fn journal_of(out: &Path) -> PathBuf {
    let mut name = out.as_os_str().to_owned();
    name.push(".journal");
    PathBuf::from(name)
}

/// The guard of the files; the journal is one, which the sweep opens by itself.
fn outputs(args: &SweepArgs) -> Result<Guard, Failure> {
    let given = [
        ("--out", args.out.as_deref()),
        ("--json", args.json.file()),
        ("--report", args.report.as_deref()),
    ];
    let mut inputs = vec![("scenario", args.scenario.as_path())];
    inputs.extend(args.weights.file());
    inputs.extend(args.cluster.file());
    let mut files = guard(&given, &inputs)?;
    if let Some(out) = &args.out {
        files.claim("the journal of --out", &journal_of(out))?;
    }
    Ok(files)
}

impl From<SweepError> for Failure {
    fn from(error: SweepError) -> Failure {
        let sentence = error.to_string();
        // The code tells what kind of thing is wrong, the sentence at which point.
        let kind = match error {
            SweepError::Settings(_) => return Failure::Usage(sentence),
            SweepError::Load { source, .. } => Failure::from(*source),
            SweepError::Run { source, .. } => Failure::from(*source),
            SweepError::SweepJournal(JournalError::Io { .. }) => Failure::File(sentence.clone()),
            SweepError::SweepJournal(_) => Failure::Input(sentence.clone()),
            SweepError::Threads { .. } => Failure::Run(sentence.clone()),
        };
        match kind {
            Failure::CommandLine(_) | Failure::Usage(_) => Failure::Usage(sentence),
            Failure::Input(_) => Failure::Input(sentence),
            Failure::File(_) => Failure::File(sentence),
            Failure::Run(_) => Failure::Run(sentence),
            // Nothing to say, or of a server, which sweeps have nothing to do with.
            other => other,
        }
    }
}
