//! `meed reproduce`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::reproduce::markdown::to_markdown;
use crate::reproduce::{
    Context, Cost, Done, ITEMS, ReproduceError, page, select, summary_page, to_json,
};
use clap::Args;
use meed_report::page::{to_html_made, to_text};

use meed_cli::exit::Failure;
use meed_cli::made::made;
use meed_cli::output::{guard, print, print_data, print_styled, table_options};
use meed_cli::watch;

/// Examples of `--help`.
pub(crate) const EXAMPLES: &str = "\
Examples:
  meed reproduce                                       all items: minutes of processor time; \
  with traces some more
  meed reproduce --traces DIR drfh-fig6 drfh-fig9
  meed reproduce tsc-fig7 tsc-fig8 --report figures.html
  meed reproduce all jas-ablation                      and what runs only by name
  meed reproduce --seeds 100 --json figures.json
  meed reproduce --list";

#[derive(Args)]
pub(crate) struct ReproduceArgs {
    /// What to reproduce, by the names that --list shows; `all`, or nothing, for everything but
    /// what --list marks as only by name.
    #[arg(value_name = "ID")]
    ids: Vec<String>,
    /// Only lists the items.
    #[arg(long)]
    list: bool,
    /// Over how many seeds random workloads are repeated.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64)
        .range(1..=10_000))]
    seeds: u64,
    /// The first seed.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Folder with the real traces (docs/real-traces.md). Default: MEED_TRACES. Without it,
    /// submission times are drawn from a distribution that was fitted to them, and items on
    /// Google's and MetaCentrum's traces are not measured.
    #[arg(long, value_name = "DIR")]
    traces: Option<PathBuf>,
    /// Writes the result as JSON (docs/json.md); `-` for standard output, instead of the table.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Writes a self-contained HTML report with charts.
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Writes the results as a page of Markdown.
    #[arg(long, value_name = "FILE.md")]
    markdown: Option<PathBuf>,
    /// Prints no table and no progress.
    #[arg(long, short)]
    quiet: bool,
}

pub(crate) fn run(args: &ReproduceArgs) -> Result<(), Failure> {
    if args.list {
        return list();
    }
    let items = select(&args.ids).map_err(|unknown| unknown_item(&unknown))?;
    // Set but empty is not set.
    let named =
        || std::env::var_os("MEED_TRACES").filter(|name| !name.is_empty()).map(PathBuf::from);
    let traces = args.traces.clone().or_else(named);
    if let Some(folder) = traces.as_deref().filter(|folder| !folder.is_dir()) {
        return Err(Failure::File(format!(
            "--traces {}: there is no such folder",
            folder.display()
        )));
    }
    let outputs = [
        ("--json", args.json.as_deref()),
        ("--report", args.report.as_deref()),
        ("--markdown", args.markdown.as_deref()),
    ];
    let inputs: Vec<_> = traces.iter().map(|folder| ("trace below", folder.as_path())).collect();
    let mut files = guard(&outputs, &inputs)?;
    let context = Context::new(traces, args.seeds, args.seed);
    let bar = watch::bar(args.quiet, items.len() as u64, "{bar:24} {pos}/{len} {msg}");
    let (mut done, mut costs): (Vec<Done>, Vec<Cost>) = (Vec::new(), Vec::new());
    for item in items {
        bar.set_message(item.id);
        let before = processor_time();
        done.push((item, (item.run)(&context)?));
        let cost = processor_time().zip(before).map(|(now, before)| now.saturating_sub(before));
        costs.extend(cost.map(|cost| Cost { item: item.id, cost }));
        bar.inc(1);
    }
    bar.finish_and_clear();
    if let Some(path) = &args.report {
        files.write_text(path, &to_html_made(&page(&done, &context), &made::<&str>(&[])))?;
    }
    if let Some(path) = &args.markdown {
        files.write_text(path, &to_markdown(&done, &context))?;
    }
    let json = || to_json(&done, &context);
    match args.json.as_deref() {
        Some(path) if path == Path::new("-") => return print_data(&json()),
        Some(path) => files.write_text(path, &json())?,
        None => {}
    }
    match args.quiet {
        true => Ok(()),
        false => {
            let options = table_options();
            let summary = summary_page(&done, &costs, &context);
            print_styled(&to_text(&summary, &options), &options)
        }
    }
}

/// Time that processors have spent on this program so far, on all its threads; nothing where that
/// is not known.
#[cfg(unix)]
fn processor_time() -> Option<Duration> {
    use nix::sys::resource::{UsageWho, getrusage};
    let usage = getrusage(UsageWho::RUSAGE_SELF).ok()?;
    let time = |time: nix::sys::time::TimeVal| {
        let whole = Duration::from_secs(u64::try_from(time.tv_sec()).ok()?);
        Some(whole + Duration::from_micros(u64::try_from(time.tv_usec()).ok()?))
    };
    Some(time(usage.user_time())? + time(usage.system_time())?)
}

#[cfg(not(unix))]
fn processor_time() -> Option<Duration> {
    None
}

fn list() -> Result<(), Failure> {
    let width = ITEMS.iter().map(|item| item.id.len()).max().unwrap_or(0);
    let line = |item: &crate::reproduce::Item| {
        let alone = if item.only_by_name() { " (only by name)" } else { "" };
        format!("{:width$}  {}: {}{alone}\n", item.id, item.source, item.title)
    };
    print(&ITEMS.iter().map(line).collect::<String>())
}

fn unknown_item(unknown: &str) -> Failure {
    let ids: Vec<&str> = ITEMS.iter().map(|item| item.id).collect();
    Failure::Usage(format!(
        "there is nothing called `{unknown}` to reproduce; there are {}",
        ids.join(", ")
    ))
}

impl From<ReproduceError> for Failure {
    fn from(error: ReproduceError) -> Failure {
        match error {
            ReproduceError::Simulate(error) => error.into(),
            ReproduceError::Load(error) => error.into(),
            ReproduceError::Trace(error) => error.into(),
            ReproduceError::Config(error) => Failure::Input(error.to_string()),
            ReproduceError::Run(error) => meed_sim::SimulateError::from(error).into(),
            ReproduceError::Allocate(error) => Failure::Input(error.to_string()),
        }
    }
}
