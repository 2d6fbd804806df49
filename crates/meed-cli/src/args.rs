//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use meed_config::policy::{KEYS, STATIC, orders};
use meed_scenario::Setting;

use crate::baseline::BaselineArgs;
use crate::cluster::ClusterArgs;
use crate::exit::{EXIT_CODES, Failure};
use crate::weights::WeightArgs;

const EXAMPLES: &str = "\
Examples:
  meed simulate examples/lending.toml --report report.html
  meed trace inspect CTC-SP2.swf.gz
  meed help simulate";

/// Long-term fair scheduling: who is served next on a shared cluster, and where the work runs.
#[derive(Parser)]
#[command(name = "meed", version, after_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"),
    max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What `meed` does itself. Commands that programs beside it run are in `programs`.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Runs a scenario or a trace under several policies and compares how tenants fare.
    #[command(after_help = format!("{SIMULATE_EXAMPLES}\n\n{EXIT_CODES}"))]
    Simulate(SimulateArgs),
    /// Runs a scenario at every combination of some settings, on all cores, and says how the
    /// results depend on them.
    #[command(after_help = format!("{}\n\n{EXIT_CODES}", crate::sweep::EXAMPLES))]
    Sweep(crate::sweep::SweepArgs),
    /// Takes a log, and names the half-life or round that serves your aims best, as the setting of
    /// Meed and of other schedulers.
    #[command(after_help = format!("{}\n\n{EXIT_CODES}", crate::advise::EXAMPLES))]
    Advise(crate::advise::AdviseArgs),
    /// Says whether scenarios, traces and a server's configuration are right, without running
    /// anything.
    #[command(after_help = format!("{}\n\n{EXIT_CODES}", crate::check::EXAMPLES))]
    Check(crate::check::CheckArgs),
    /// Writes a file to begin with: a scenario, or a server's configuration.
    #[command(after_help = format!("{}\n\n{EXIT_CODES}", crate::init::EXAMPLES))]
    Init(crate::init::InitArgs),
    /// Runs a log under the orders of other schedulers (Slurm, HTCondor, PBS, Kueue, KAI and
    /// others) beside Meed's, and says who fares better under which.
    #[command(after_help = format!("{}\n\n{EXIT_CODES}", crate::rivals::EXAMPLES))]
    Rivals(crate::rivals::RivalsArgs),
    /// Runs a recorded workload again: under other policies, on another cluster, beside the run as
    /// it was.
    #[command(after_help = format!("{}\n\n{EXIT_CODES}", crate::replay::EXAMPLES))]
    Replay(crate::replay::ReplayArgs),
    /// Says why a job or a queue waits: what stands in its way, who is ahead and when its turn
    /// would come.
    #[command(after_help = format!("{}\n\n{EXIT_CODES}", crate::explain::EXAMPLES))]
    Explain(crate::explain::ExplainArgs),
    /// Looks at traces, converts and makes them.
    #[command(
        subcommand,
        after_help = format!("Examples:\n  meed trace inspect CTC-SP2.swf.gz\n  meed trace convert \
            CTC-SP2.swf.gz \
                              ctc.jsonl.zst\n\n{EXIT_CODES}")
    )]
    Trace(TraceCommand),
    /// Shares a pool of servers among users exactly, and proves that nobody can have more.
    #[command(after_help = format!("{}\n\n{EXIT_CODES}", crate::allocate::EXAMPLES))]
    Allocate(crate::allocate::AllocateArgs),
    /// Runs the canonical workloads and prints how fast they ran.
    #[command(after_help = format!("Examples:\n  meed bench\n  meed bench \
        --quick\n\n{EXIT_CODES}"))]
    Bench(BenchArgs),
    /// Prints a script that completes `meed`'s commands in your shell, and the names of a server's
    /// jobs and queues.
    #[command(after_help = "Examples:\n  source <(meed completions bash)       # in ~/.bashrc\n  \
                            source <(meed completions zsh)        # in ~/.zshrc, behind \
                            compinit\n  meed completions fish | source        # in \
                            ~/.config/fish/config.fish")]
    Completions {
        /// Which shell.
        shell: clap_complete::Shell,
    },
    /// Writes the manual: a page for `meed`, and one for each command (`man meed-simulate`).
    #[command(
        after_help = format!("Examples:\n  meed man ~/.local/share/man/man1\n\n{EXIT_CODES}")
    )]
    Man {
        /// Where to; made where it is not there.
        folder: PathBuf,
    },
}

const SIMULATE_EXAMPLES: &str = "\
Examples:
  meed simulate examples/lending.toml --report report.html
  meed simulate CTC-SP2.swf.gz --policy static --policy fair --policy long-term
  meed simulate cluster.toml --policy long-term,half_life=24h --policy long-term,round=24h
  meed simulate cluster.toml --set policy.quantum=30s --set queue.ads.weight=2 --json result.json
  meed simulate jobs.csv --map tenant=team,submit=created,duration=took:min,memory=mem:GiB
  meed simulate decisions.jsonl --run 2 --policy fair --policy long-term
  meed simulate cluster.toml --policy long-term --log run.jsonl.zst";

/// A file to read; `-` is standard input.
pub(crate) fn input(text: &str) -> Result<PathBuf, std::convert::Infallible> {
    Ok(PathBuf::from(if text == "-" { "/dev/stdin" } else { text }))
}

/// What `--policy` takes, from the tables of orders and keys.
fn policy_help() -> String {
    let orders: Vec<&str> = [STATIC].into_iter().chain(orders()).collect();
    format!(
        "A policy to run: {} or a [policies] name of the scenario, with `,key=value` to change its \
         keys; as-you-pay where tenants contribute; with NAME= before it the name that it is \
         called. May be given several times. \
         Default: static (up to 50 tenants), fair, long-term",
        orders.join(", ")
    )
}

/// The same, with all keys.
fn policy_keys() -> String {
    let keys = KEYS.iter().map(|key| format!("  {}: {}", key.name, key.about));
    format!("{}.\n\nKeys:\n{}", policy_help(), keys.collect::<Vec<_>>().join("\n"))
}

#[derive(Args)]
pub(crate) struct SimulateArgs {
    /// Scenario (TOML, docs/scenario.md), or a trace: .swf, .mwf, .tsv (SWIM), task_events*.csv
    /// (Google), .csv (Philly), a YARN ResourceManager's list of applications (JSON), .jsonl,
    /// sacct --parsable2, accounting logs of PBS and LSF, condor_history -jsonl, any table with
    /// one job a row (--map), a log of Meed's or the folder of a journal; compressed or not. `-`
    /// is standard input.
    #[arg(value_parser = input)]
    pub(crate) scenario: PathBuf,
    #[arg(long, short, value_name = "POLICY", help = policy_help(), long_help = policy_keys())]
    pub(crate) policy: Vec<String>,
    #[command(flatten)]
    pub(crate) baseline: BaselineArgs,
    /// Seed of all random choices, instead of the scenario's.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Writes the result as JSON (docs/json.md); `-` for standard output, instead of the table.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Writes a self-contained HTML report with plots.
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    /// Writes all events and decisions as JSON lines (docs/log.md); compressed when the name ends
    /// in .gz, .zst or .xz.
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
    /// Writes all jobs one by one as CSV (docs/jobs.md); compressed as the log.
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) jobs: Option<PathBuf>,
    /// Writes what each tenant has paid and received as CSV (docs/prices-and-plans.md), where
    /// tenants contribute the nodes.
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) accounts: Option<PathBuf>,
    /// Changes a key of the scenario before it is read, as in policy.quantum=5,
    /// queue.ads.weight=2 or cluster.node.0.count=20.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) sets: Vec<String>,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
    #[command(flatten)]
    pub(crate) weights: WeightArgs,
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// Stops at the first wrong line of a trace and at the first job that cannot run, instead of
    /// counting them.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Samples over time for JSON and report; 0 for none. Default: 400 with --json or --report.
    #[arg(long, value_name = "N")]
    pub(crate) series: Option<usize>,
    /// Prints no table and no progress.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// What is said of a trace that is somebody's own table, or a log.
#[derive(Args)]
pub(crate) struct TableArgs {
    /// Format of the trace, where its name and content do not tell: csv, tsv, jsonl (tables of
    /// jobs), sacct, swf and so on (docs/scenario.md, trace.format).
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<String>,
    /// What is in which column of a table, as in tenant=user,submit=start_time,memory=mem:GiB
    /// (docs/traces.md). May be given several times.
    #[arg(long, value_name = "KEY=COLUMN,...")]
    pub(crate) map: Vec<String>,
    /// Which run of a log that holds several is meant, where a log is the trace (docs/traces.md).
    #[arg(long, value_name = "N|POLICY")]
    pub(crate) run: Option<String>,
    /// The part of the log that is read, by dates or by times since its first job (7d..35d): jobs
    /// that ran at FROM start there with what is left of them. `all`: all of it; without the
    /// option it is found (docs/traces.md).
    #[arg(long, value_name = "FROM..TO")]
    pub(crate) window: Option<String>,
    /// Leaves what is submitted in the first TIME out of figures. Default for a bare trace: as long
    /// as an empty cluster takes to fill.
    #[arg(long, value_name = "TIME")]
    pub(crate) warm_up: Option<String>,
    /// The same of what is submitted in the last TIME.
    #[arg(long, value_name = "TIME")]
    pub(crate) cool_down: Option<String>,
}

impl TableArgs {
    /// What `sets` say, and then these, as changes of the scenario's trace.
    pub(crate) fn with(&self, sets: &[String]) -> Result<Vec<Setting>, Failure> {
        let mut all = Setting::parse_all(sets)?;
        all.extend(self.format.as_deref().map(Setting::trace_format));
        all.extend(self.run.as_deref().map(Setting::trace_run));
        all.extend(self.window.as_deref().map(Setting::trace_window));
        all.extend(self.warm_up.as_deref().map(Setting::warm_up));
        all.extend(self.cool_down.as_deref().map(Setting::cool_down));
        for pair in self.map.iter().flat_map(|map| map.split(',')) {
            let known = pair.split_once('=').map(|(key, column)| (key.trim(), column.trim()));
            let Some((key, column)) = known.filter(|(key, _)| !key.is_empty()) else {
                return Err(Failure::Usage(format!(
                    "--map: `{pair}` is not of the form key=column, as in tenant=user"
                )));
            };
            all.push(Setting::trace_column(key, column));
        }
        Ok(all)
    }
}

#[derive(Subcommand)]
pub(crate) enum TraceCommand {
    /// Says what is in a trace (or a scenario's workload): jobs, tenants, sizes, load, wrong lines.
    #[command(after_help = format!("Examples:\n  meed trace inspect CTC-SP2.swf.gz\n  meed trace \
        inspect \
                                    fb.tsv.xz --set trace.tenants=8 --json\n  meed trace inspect \
                                    task_events.csv.gz \
                                    --set trace.unfinished=drop\n  meed trace inspect jobs.csv \
                                    --map tenant=user,submit=start_time\n\n{EXIT_CODES}"))]
    Inspect {
        /// Trace or scenario; `-` is standard input.
        #[arg(value_parser = input)]
        input: PathBuf,
        #[command(flatten)]
        cluster: ClusterArgs,
        #[command(flatten)]
        options: TraceOptions,
        /// Prints JSON instead of tables.
        #[arg(long)]
        json: bool,
    },
    /// Writes a trace in Meed's own format (docs/trace-format.md).
    #[command(after_help = format!("Examples:\n  meed trace convert CTC-SP2.swf.gz \
        ctc.jsonl.zst\n  meed trace \
                                    convert fb.tsv.xz fb.jsonl --set \
                                    trace.tenants=4\n\n{EXIT_CODES}"))]
    Convert {
        /// Trace to read; `-` is standard input.
        #[arg(value_parser = input)]
        input: PathBuf,
        /// File to write; compressed when its name ends in .gz, .zst or .xz.
        output: PathBuf,
        #[command(flatten)]
        options: TraceOptions,
    },
    /// Writes the workload that a scenario's jobs and generators make, as a trace. Closed chains
    /// need a run to know when their jobs end; only the first job of each is written.
    #[command(after_help = format!("Examples:\n  meed trace generate examples/lending.toml \
        jobs.jsonl.zst --seed \
                                    7\n\n{EXIT_CODES}"))]
    Generate {
        /// Scenario to read.
        scenario: PathBuf,
        /// File to write; compressed when its name ends in .gz, .zst or .xz.
        output: PathBuf,
        /// Seed, instead of the scenario's.
        #[arg(long)]
        seed: Option<u64>,
        #[command(flatten)]
        options: TraceOptions,
    },
}

#[derive(Args)]
pub(crate) struct TraceOptions {
    /// Changes a key of the scenario (or of the one made for a bare trace), as in trace.tenants=8.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) sets: Vec<String>,
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// Stops at the first wrong line instead of counting wrong lines.
    #[arg(long)]
    pub(crate) strict: bool,
}

#[derive(Args)]
pub(crate) struct BenchArgs {
    /// A tenth of the work: to see that it runs, not to quote.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Only workloads and policies whose line holds this text.
    #[arg(long, value_name = "TEXT")]
    pub(crate) only: Option<String>,
    /// Prints JSON instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
    /// Also replays this trace under long-term, read and simulated.
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
}
