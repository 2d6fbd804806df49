//! `meed simulate`.

use std::io::IsTerminal;
use std::path::Path;

use meed_report::TableOptions;
use meed_sim::scenario::Scenario;
use meed_sim::{DEFAULT_POLICIES, Options, simulate};
use meed_workload::OnBadLine;
use meed_workload::create::Output;

use crate::args::SimulateArgs;
use crate::exit::Failure;
use crate::log_file::LogFile;
use crate::output::{print, remark};
use crate::watch::Terminal;

/// Samples over time when a result is written that shows them.
const SERIES_POINTS: usize = 400;

pub(crate) fn run(args: &SimulateArgs) -> Result<(), Failure> {
    check_outputs(args)?;
    let on_bad_line = if args.strict { OnBadLine::Stop } else { OnBadLine::Skip };
    let scenario = Scenario::load_any(&args.scenario, &args.sets, on_bad_line)?;
    if !args.quiet {
        scenario.warnings.iter().for_each(|warning| remark(warning));
    }
    let policies = match args.policy.is_empty() {
        true => DEFAULT_POLICIES.map(str::to_owned).to_vec(),
        false => args.policy.clone(),
    };
    let shows_series = args.json.is_some() || args.report.is_some();
    let options = Options {
        policies,
        seed: args.seed,
        series_points: args.series.unwrap_or(if shows_series { SERIES_POINTS } else { 0 }),
        strict: args.strict,
    };
    let mut log = args.log.as_deref().map(LogFile::create).transpose()?;
    let mut watch = Terminal::new(args.quiet);
    let result = simulate(&scenario, &options, log.as_mut().map(LogFile::writer), &mut watch);
    watch.finish();
    let comparison = result?;
    if let Some(path) = &args.report {
        meed_report::write_html(&comparison, path)?;
    }
    if let Some(log) = log {
        log.finish()?;
    }
    match args.json.as_deref() {
        Some(path) if path == Path::new("-") => return print(&meed_report::to_json(&comparison)),
        Some(path) => meed_report::write_json(&comparison, path)?,
        None => {}
    }
    if args.quiet {
        return Ok(());
    }
    print(&meed_report::summary_table(&comparison, &table_options()))?;
    match &args.report {
        Some(path) => print(&format!("\nReport: {}\n", path.display())),
        None => Ok(()),
    }
}

/// Whether every result has a file of its own that can be written: told before a long run rather than after it.
fn check_outputs(args: &SimulateArgs) -> Result<(), Failure> {
    for (option, path) in [("--report", &args.report), ("--log", &args.log)] {
        if path.as_deref() == Some(Path::new("-")) {
            return Err(Failure::Usage(format!(
                "{option} goes to a file; only --json can go to standard output (-)"
            )));
        }
    }
    let outputs = [("--json", &args.json), ("--report", &args.report), ("--log", &args.log)];
    let files = outputs.into_iter().filter_map(|(option, path)| Some((option, path.as_deref()?)));
    let files: Vec<_> = files.filter(|(_, path)| *path != Path::new("-")).collect();
    for (i, (option, path)) in files.iter().enumerate() {
        if let Some((other, _)) = files[..i].iter().find(|(_, earlier)| earlier == path) {
            return Err(Failure::Usage(format!(
                "{other} and {option} name the same file {}",
                path.display()
            )));
        }
        if *path == args.scenario {
            return Err(Failure::Usage(format!("{option} would overwrite the scenario {}", path.display())));
        }
        // Made beside its place and dropped again, which leaves what was there. A pipe is opened once only.
        if path.metadata().map_or(true, |found| found.is_file() || found.is_dir()) {
            drop(Output::create(path)?);
        }
    }
    Ok(())
}

/// Width and colour of the terminal, or of what stands in for one.
fn table_options() -> TableOptions {
    let terminal = std::io::stdout().is_terminal();
    // Piped into a file or a pager a table may be as wide as it likes to a point.
    let columns = terminal_size::terminal_size().map_or(120, |(width, _)| usize::from(width.0));
    let width = if terminal { columns } else { 120 };
    TableOptions { width, color: terminal && std::env::var_os("NO_COLOR").is_none() }
}
