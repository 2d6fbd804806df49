//! `meed replay`: what if.

use std::path::PathBuf;

use clap::Args;
use meed_config::text::clean;
use meed_replay::{Difference, Recording, ReplayOptions, VerifiedRun, replay, verified};
use meed_scenario::{Scenario, Setting};
use meed_sim::record::Comparison;

use crate::exit::Failure;
use crate::log_file::LogFile;
use crate::made::made;
use crate::named::called;
use crate::output::{guard, print, remark, remark_unless};
use crate::simulate::{SERIES_POINTS, show};
use crate::watch::Terminal;
use crate::weights::WeightArgs;

pub(crate) const EXAMPLES: &str = "\
Examples:
  meed simulate examples/lending.toml --policy long-term --log run.jsonl.zst
  meed replay run.jsonl.zst --policy fair --policy week=long-term,half_life=7d
  meed replay run.jsonl.zst --cluster larger.toml --report report.html
  meed replay run.jsonl.zst --set queue.services.weight=2
  meed replay run.jsonl.zst --verify";

#[derive(Args)]
pub(crate) struct ReplayArgs {
    /// A log of `meed simulate --log` (docs/log.md), compressed or not, or the folder of a live
    /// world's journal.
    #[arg(value_parser = crate::args::input)]
    log_file: PathBuf,
    /// Which run, where the log holds several: its number from 1, or its policy.
    #[arg(long, value_name = "N|POLICY")]
    run: Option<String>,
    /// A policy to run the recorded workload under, as in `meed simulate`. May be given several
    /// times.
    #[arg(long, short, value_name = "POLICY")]
    policy: Vec<String>,
    /// Takes the nodes of this scenario file instead of the recorded ones; its resources must be
    /// the same.
    #[arg(long, value_name = "FILE.toml")]
    cluster: Option<PathBuf>,
    /// Changes a key of the recorded scenario, but for its workload, as in queue.ads.weight=2.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    sets: Vec<String>,
    #[command(flatten)]
    weights: WeightArgs,
    /// Only says whether the recorded policy decides as recorded, and shows the first difference. A
    /// log that earlier rules decided is played back instead (docs/replay.md).
    #[arg(long, conflicts_with_all = ["policy", "cluster", "sets", "weights", "json", "report",
        "log", "series"])]
    verify: bool,
    /// Writes the result as JSON (docs/json.md); `-` for standard output, instead of the table.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Writes a self-contained HTML report with plots.
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Writes the log of what is run: of the recorded policy, or of all others where others are
    /// asked for.
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Samples over time for JSON and report; 0 for none. Default: 400 with --json or --report.
    #[arg(long, value_name = "N")]
    series: Option<usize>,
    /// Prints no table and no progress.
    #[arg(long, short)]
    quiet: bool,
}

pub(crate) fn run(args: &ReplayArgs) -> Result<(), Failure> {
    let outputs = [
        ("--json", args.json.as_deref()),
        ("--report", args.report.as_deref()),
        ("--log", args.log.as_deref()),
    ];
    let mut inputs = vec![("log", args.log_file.as_path())];
    inputs.extend(args.cluster.as_deref().map(|path| ("cluster", path)));
    inputs.extend(args.weights.file());
    let named = args.cluster.as_deref().map_or_else(Vec::new, Scenario::files_named_in);
    inputs.extend(named.iter().map(|path| ("input", path.as_path())));
    let mut files = guard(&outputs, &inputs)?;
    let recording = Recording::open(&args.log_file, args.run.as_deref())?;
    if args.verify {
        return check(args, &recording);
    }
    let shows_series = args.json.is_some() || args.report.is_some();
    let settings = args.weights.before(
        Setting::parse_all(&args.sets)?,
        &mut remark_unless(args.quiet),
        |_| Ok(recording.queue_names().map(str::to_owned).collect()),
    )?;
    let called = called(&args.policy)?;
    let options = ReplayOptions {
        policies: called.iter().map(|(_, policy)| policy.clone()).collect(),
        cluster: args.cluster.clone(),
        settings,
        series_points: args.series.unwrap_or(if shows_series { SERIES_POINTS } else { 0 }),
    };
    let mut log = args.log.as_deref().map(|path| LogFile::create(path, &mut files)).transpose()?;
    let mut watch = Terminal::new(args.quiet);
    let result = replay(&recording, &options, log.as_mut().map(LogFile::writer), &mut watch);
    watch.finish();
    let mut replayed = result?;
    rename(&called, &mut replayed.comparison);
    if !args.quiet {
        replayed.remarks.iter().for_each(|words| remark(words));
    }
    if let Some(path) = &args.report {
        let made = made(&[&args.log_file]);
        files.write_text(path, &meed_report::to_html_made(&replayed.comparison, &made))?;
    }
    if let Some(log) = log {
        log.finish()?;
    }
    let (json, report) = (args.json.as_deref(), args.report.as_deref());
    show(&replayed.comparison, json, report, args.quiet, &mut files)
}

/// Columns are headed by the names that the user gave their policies.
fn rename(called: &[(String, String)], comparison: &mut Comparison) {
    // The recorded run stands before them; what is changed is said behind the name.
    for (run, (name, policy)) in comparison.runs.iter_mut().rev().zip(called.iter().rev()) {
        if let Some(rest) = run.policy.strip_prefix(policy.as_str()) {
            run.policy = format!("{name}{rest}");
        }
    }
}

fn check(args: &ReplayArgs, recording: &Recording) -> Result<(), Failure> {
    let mut watch = Terminal::new(args.quiet);
    let result = verified(recording, &mut watch);
    watch.finish();
    let file = args.log_file.display();
    if !args.quiet {
        recording.remarks().iter().for_each(|words| remark(words));
    }
    match result? {
        VerifiedRun::AsRecorded | VerifiedRun::PlayedBack(_) if args.quiet => Ok(()),
        VerifiedRun::PlayedBack(words) => print(&format!("{}\n", clean(&words))),
        VerifiedRun::AsRecorded => {
            let policy = clean(recording.policy());
            print(&format!("{file}: {policy} decides as recorded, line by line\n"))
        }
        VerifiedRun::Differs(Difference { line, recorded, replayed }) => {
            let or_end = |text: Option<String>| {
                text.map_or_else(|| "(the log ends)".to_owned(), |line| clean(&line).into_owned())
            };
            if !args.quiet {
                let both =
                    format!("recorded  {}\nreplayed  {}\n", or_end(recorded), or_end(replayed));
                print(&format!(
                    "{file}:{line}: the first difference under {}\n{both}",
                    clean(recording.policy())
                ))?;
            }
            Err(Failure::Input(format!("{file}:{line}: differs from what this Meed writes")))
        }
    }
}
