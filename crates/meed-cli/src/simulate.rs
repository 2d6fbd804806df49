//! `meed simulate`.

use std::path::Path;

use meed_experiments::advise::FAIR;
use meed_experiments::order::{BASELINE, NamedOrder};
use meed_files::Guard;
use meed_scenario::{Scenario, ScenarioWorld, TraceReading};
use meed_sim::record::Comparison;
use meed_sim::{MOST_SPLIT, Overtaking, SimulateOptions, simulate_telling};
use meed_workload::OnBadLine;

use crate::args::SimulateArgs;
use crate::exit::Failure;
use crate::log_file::LogFile;
use crate::made::made_of;
use crate::named::named;
use crate::output::{
    guard, print, print_data, print_styled, reads_of, remark, remark_unless, table_options,
};
use crate::site;
use crate::watch::Terminal;

/// Samples over time when a result is written that shows them.
pub(crate) const SERIES_POINTS: usize = 400;

pub(crate) fn run(args: &SimulateArgs) -> Result<(), Failure> {
    let outputs = [
        ("--json", args.json.as_deref()),
        ("--report", args.report.as_deref()),
        ("--log", args.log.as_deref()),
        ("--jobs", args.jobs.as_deref()),
        ("--accounts", args.accounts.as_deref()),
    ];
    let mut inputs = vec![("scenario", args.scenario.as_path())];
    inputs.extend(args.weights.file());
    inputs.extend(args.cluster.file());
    let mut files = guard(&outputs, &inputs)?;
    let on_bad_line = OnBadLine::of(args.strict);
    let reading = &TraceReading::from(on_bad_line);
    let (given, mut changes) = named(&args.policy)?;
    changes.extend(args.table.with(&args.sets)?);
    let site = (&args.cluster, &args.weights);
    let say = &mut remark_unless(args.quiet);
    let settings = site::before(&args.scenario, site, changes, reading, say)?;
    let scenario = Scenario::load_any(&args.scenario, &settings, reading)?;
    reads_of(&mut files, &scenario)?;
    let is_mapreduce = matches!(scenario.world(), ScenarioWorld::MapReduce(_));
    if args.jobs.is_some() && is_mapreduce {
        let what = "--jobs: a scenario of the MapReduce world has its jobs in --json";
        return Err(Failure::Usage(what.to_owned()));
    }
    if args.accounts.is_some() && !scenario.has_accounts() {
        let what = "--accounts: nobody contributes here; the scenario has no [[contribution]]";
        return Err(Failure::Usage(what.to_owned()));
    }
    if !args.quiet {
        scenario.warnings.iter().for_each(|warning| remark(warning));
        let tenants = scenario.tenant_count();
        if given.is_empty() && !is_mapreduce && tenants > MOST_SPLIT {
            remark(&format!("{tenants} tenants: static is left out; --policy static runs it"));
        }
    }
    let is_usual = given.is_empty();
    let policies = if is_usual { scenario.default_policies() } else { given };
    let baseline = args.baseline.baseline.as_ref();
    let baseline = baseline.map(|words| NamedOrder::find(BASELINE, words, None, &scenario));
    let baseline = baseline.transpose()?;
    let policies = beside(baseline.as_ref(), policies);
    if args.log.is_some() && baseline.is_some() && !args.quiet {
        remark("--log holds the runs of the policies; that of the baseline is not in it");
    }
    let shows_series = args.json.is_some() || args.report.is_some();
    let points = series_points(scenario.queue_count());
    if shows_series && points < SERIES_POINTS && args.series.is_none() && !args.quiet {
        let queues = scenario.queue_count();
        remark(&format!("{queues} queues: {points} samples over time of each; --series N takes N"));
    }
    if !args.quiet {
        let words = policies.iter().flat_map(|words| scenario.words_of_minimums(words));
        words.for_each(|words| remark(&words));
    }
    let options = SimulateOptions {
        policies,
        seed: args.seed,
        series_points: args.series.unwrap_or(if shows_series { points } else { 0 }),
        strict: args.strict,
        keep_jobs: args.jobs.is_some(),
    };
    let mut log = args.log.as_deref().map(|path| LogFile::create(path, &mut files)).transpose()?;
    let mut watch = Terminal::new(args.quiet);
    let overtaking = if args.report.is_some() { Overtaking::Drawn } else { Overtaking::Told };
    let out = log.as_mut().map(LogFile::writer);
    let result = simulate_telling(&scenario, &options, overtaking, out, &mut watch);
    let result = result.and_then(|mut comparison| {
        comparison.is_usual = is_usual;
        if let Some(order) = &baseline {
            // Its records would be those of ranks that were told, and no policy's.
            let ran = order.compare(&scenario, &options, overtaking, &mut watch)?;
            comparison.compare_with(ran);
        }
        Ok(comparison)
    });
    watch.finish();
    let comparison = result?;
    if let Some(path) = &args.report {
        let made = made_of(&scenario);
        files.write_text(path, &meed_report::to_html_made(&comparison, &made))?;
    }
    if let Some(path) = &args.jobs {
        let mut file = files.create(path)?;
        meed_report::write_jobs(&comparison, &mut file).map_err(|why| file.failure(why))?;
        file.finish()?;
    }
    if let Some(path) = &args.accounts {
        let mut file = files.create(path)?;
        meed_report::write_accounts(&comparison, &mut file).map_err(|why| file.failure(why))?;
        file.finish()?;
    }
    if let Some(log) = log {
        log.finish()?;
    }
    show(&comparison, args.json.as_deref(), args.report.as_deref(), args.quiet, &mut files)
}

/// The policies that run beside the baseline: each but that itself, and sharing without a memory.
fn beside(baseline: Option<&NamedOrder>, policies: Vec<String>) -> Vec<String> {
    let Some(baseline) = baseline else { return policies };
    let fair = Some(FAIR.to_owned()).filter(|fair| !policies.contains(fair));
    let all = fair.into_iter().chain(policies);
    all.filter(|words| *words != baseline.words).collect()
}

/// Samples of all queues together where nobody says how many: half a gigabyte of JSON.
const ALL_SAMPLES: usize = 4_000_000;

/// Samples over time that are kept of each of so many queues.
fn series_points(queues: usize) -> usize {
    (ALL_SAMPLES / queues.max(1)).clamp(2, SERIES_POINTS)
}

/// Writes a comparison where it was asked for; on the terminal unless it goes there as JSON or
/// `quiet` says not to.
pub(crate) fn show(
    comparison: &Comparison,
    json: Option<&Path>,
    report: Option<&Path>,
    quiet: bool,
    files: &mut Guard,
) -> Result<(), Failure> {
    match json {
        Some(path) if path == Path::new("-") => {
            return print_data(&meed_report::to_json(comparison));
        }
        Some(path) => meed_report::write_json(comparison, files.create(path)?)?,
        None => {}
    }
    if quiet {
        return Ok(());
    }
    let options = table_options();
    print_styled(&meed_report::summary_table(comparison, &options), &options)?;
    match report {
        Some(path) => print(&format!("\nReport: {}\n", path.display())),
        None => Ok(()),
    }
}
