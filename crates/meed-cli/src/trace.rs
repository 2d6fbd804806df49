//! `meed trace`: inspect, convert, generate.

use std::io::BufWriter;
use std::path::Path;

use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};
use indicatif::{ProgressBar, ProgressStyle};
use meed::{ResourceKinds, Unit};
use meed_config::text::{clean, counted};
use meed_scenario::{Scenario, ScenarioWorld};
use meed_workload::convert::convert;
use meed_workload::inspect::{Quantiles, ResourceSummary, Summary, inspect};
use meed_workload::{JobSource, OnBadLine};

use crate::args::{TraceCommand, TraceOptions};
use crate::cluster::ClusterArgs;
use crate::exit::Failure;
use crate::output::{guard, print, print_data, reads_of, remark};

pub(crate) fn run(command: &TraceCommand) -> Result<(), Failure> {
    match command {
        TraceCommand::Inspect { input, cluster, options, json } => {
            show(input, cluster, options, *json)
        }
        TraceCommand::Convert { input, output, options } => write(input, output, options, None),
        TraceCommand::Generate { scenario, output, seed, options } => {
            write(scenario, output, options, *seed)
        }
    }
}

fn open(
    input: &Path,
    options: &TraceOptions,
    cluster: Option<&ClusterArgs>,
    seed: Option<u64>,
) -> Result<(Scenario, Box<dyn JobSource + Send>), Failure> {
    let on_bad_line = OnBadLine::of(options.strict);
    let settings = options.table.with(&options.sets)?;
    let settings = match cluster {
        Some(cluster) => cluster.before(input, settings)?,
        None => settings,
    };
    let scenario = Scenario::load_any(input, &settings, on_bad_line)?;
    if let ScenarioWorld::MapReduce(_) = scenario.world() {
        let what = "is of the MapReduce world, whose tasks have work and no run times; a trace \
            cannot hold them";
        return Err(Failure::Input(format!("{}: {what}", input.display())));
    }
    let source = scenario.source(seed.unwrap_or(scenario.seed), on_bad_line)?;
    Ok((scenario, source))
}

fn show(
    input: &Path,
    cluster: &ClusterArgs,
    options: &TraceOptions,
    json: bool,
) -> Result<(), Failure> {
    let (scenario, mut source) = open(input, options, Some(cluster), None)?;
    let bar = ProgressBar::new(1000);
    bar.set_style(
        ProgressStyle::with_template("reading {bar:24} {percent}%").expect("the template is valid"),
    );
    // The load of a cluster that was made for the log says nothing.
    let capacity = (!scenario.assumes_size()).then(|| scenario.capacity());
    let progress =
        |fraction: Option<f64>| bar.set_position((fraction.unwrap_or(0.0) * 1000.0) as u64);
    let summary = inspect(source.as_mut(), scenario.kinds(), capacity.as_ref(), progress)?;
    bar.finish_and_clear();
    if json {
        let text = serde_json::to_string_pretty(&summary)
            .expect("a summary has no keys that JSON could not have");
        return print_data(&(text + "\n"));
    }
    scenario.warnings.iter().for_each(|warning| remark(warning));
    summary.first_bad_lines.iter().for_each(|line| remark(&format!("wrong: {line}")));
    let first =
        if scenario.has_table() { first_jobs(&summary, scenario.kinds()) } else { String::new() };
    print(&(first + &tables(&summary, scenario.kinds())))
}

/// The first jobs of a table, as they are understood.
fn first_jobs(summary: &Summary, kinds: &ResourceKinds) -> String {
    let each = |resource: &ResourceSummary| format!("{} of each", clean(&resource.resource));
    let fixed = ["job", "queue", "submit, s", "tasks"].map(str::to_owned);
    let header = fixed.into_iter().chain(summary.resources.iter().map(each));
    let header: Vec<String> =
        header.chain(["duration, s", "limit, s"].map(str::to_owned)).collect();
    let mut first = table(&header.iter().map(String::as_str).collect::<Vec<_>>());
    for job in &summary.first_jobs {
        let names = [clean(&job.job).into_owned(), clean(&job.queue).into_owned()];
        let numbers = [job.submit_s.to_string(), job.tasks.to_string()];
        let demand =
            job.demand.iter().enumerate().map(|(kind, each)| amount(*each, kinds.unit(kind)));
        let limit = job.limit_s.map_or("-".to_owned(), |limit| limit.to_string());
        let last = [job.duration_s.to_string(), limit];
        first.add_row(names.into_iter().chain(numbers).chain(demand).chain(last));
    }
    format!("the first jobs, as they are understood:\n{}\n", text(&first))
}

fn tables(summary: &Summary, kinds: &ResourceKinds) -> String {
    let mut text = format!(
        "{}, {}, {}; {} read, {} wrong, {} left out\n",
        counted(summary.jobs, "job"),
        counted(summary.tasks, "task"),
        counted(summary.queues.len() as u64, "queue"),
        counted(summary.lines, "line"),
        summary.bad_lines,
        summary.ignored_lines
    );
    if let (Some(first), Some(last)) = (summary.first_submit_s, summary.last_submit_s) {
        text += &format!(
            "submitted from {first} s to {last} s ({:.1} days)\n",
            (last - first) / 86_400.0
        );
    }
    for assumption in &summary.assumptions {
        text += &format!("assumed: {}\n", clean(assumption));
    }
    let mut spread = table(&["", "min", "mean", "median", "p90", "p99", "max"]);
    for (name, quantiles) in [
        ("tasks per job", &summary.tasks_per_job),
        ("task duration, s", &summary.duration_s),
        ("gap between jobs, s", &summary.gap_s),
    ] {
        spread.add_row(row(name, quantiles));
    }
    let load = resources(summary, kinds);
    let mut by_work: Vec<_> = summary.queues.iter().collect();
    by_work.sort_by(|a, b| b.work[0].total_cmp(&a.work[0]).then(a.queue.cmp(&b.queue)));
    const SHOWN: usize = 12;
    let measured = summary.resources.first().map_or("", |first| first.resource.as_str());
    let work = format!("work, {}-hours", clean(measured));
    let mut queues = table(&["queue", "jobs", "tasks", &work]);
    for queue in by_work.iter().take(SHOWN) {
        queues.add_row([
            clean(&queue.queue).into_owned(),
            queue.jobs.to_string(),
            queue.tasks.to_string(),
            amount(queue.work[0] / 3600.0, kinds.unit(0)),
        ]);
    }
    let more = match by_work.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!("and {more} queues with less work\n"),
    };
    let [spread, load, queues] = [spread, load, queues].map(|table| self::text(&table));
    format!("{text}\n{spread}\n{load}\n{queues}{more}")
}

/// A row for each resource: what ran at once where that is known, and the load of a cluster that
/// was given.
fn resources(summary: &Summary, kinds: &ResourceKinds) -> Table {
    let all = &summary.resources;
    let tells_runs = all.iter().any(|resource| resource.ran_at_once.is_some());
    let tells_load = all.iter().any(|resource| resource.offered_load.is_some());
    let ran = ["ran at once: mean", "99 % of the time", "peak"];
    let mut header = vec!["resource", "work, hours of it", "largest task"];
    header.extend(ran.iter().filter(|_| tells_runs));
    header.extend(tells_load.then_some("offered load"));
    let mut rows = table(&header);
    for (kind, resource) in all.iter().enumerate() {
        let amount = |value: f64| amount(value, kinds.unit(kind));
        let mut row = vec![
            clean(&resource.resource).into_owned(),
            amount(resource.work / 3600.0),
            amount(resource.largest_task),
        ];
        if tells_runs {
            let ran = resource.ran_at_once.map(|ran| [ran.mean, ran.p99, ran.peak]);
            row.extend((0..3).map(|at| ran.map_or("-".to_owned(), |ran| amount(ran[at]))));
        }
        if tells_load {
            let load = resource.offered_load.map(|load| format!("{:.1} %", load * 100.0));
            row.push(load.unwrap_or_default());
        }
        rows.add_row(row);
    }
    rows
}

/// Decimals that are shown of what is known exactly: seconds to the microsecond.
const DECIMALS: usize = 6;
/// Digits of a percentile that mean something: the histogram keeps three.
const DIGITS: usize = 4;

fn row(name: &str, quantiles: &Quantiles) -> Vec<String> {
    let exact = |value: Option<f64>| number(value, |_| DECIMALS);
    let rough = |value: Option<f64>| match value == quantiles.min || value == quantiles.max {
        true => exact(value),
        false => number(value, |value| {
            let before = format!("{:.0}", value.abs()).trim_start_matches('0').len();
            DIGITS.saturating_sub(before).min(DECIMALS)
        }),
    };
    let Quantiles { min, mean, p50, p90, p99, max } = *quantiles;
    let cells = [exact(min), exact(mean), rough(p50), rough(p90), rough(p99), exact(max)];
    std::iter::once(name.to_owned()).chain(cells).collect()
}

fn number(value: Option<f64>, decimals: impl Fn(f64) -> usize) -> String {
    let Some(value) = value else { return "-".to_owned() };
    let text = format!("{:.*}", decimals(value), value);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// An amount for people: bytes with their unit, `16 GiB`; other amounts with one decimal.
fn amount(value: f64, unit: Unit) -> String {
    const BYTES: [(&str, f64); 5] = [
        ("PiB", (1u64 << 50) as f64),
        ("TiB", (1u64 << 40) as f64),
        ("GiB", (1u64 << 30) as f64),
        ("MiB", (1u64 << 20) as f64),
        ("KiB", (1u64 << 10) as f64),
    ];
    match (unit, BYTES.iter().find(|(_, size)| value >= *size)) {
        (Unit::Bytes, Some((name, size))) => {
            format!("{} {name}", number(Some(value / size), |_| 2))
        }
        (Unit::Bytes, None) => format!("{value:.0} B"),
        _ => number(Some(value), |value| if value < 1.0 { 3 } else { 1 }),
    }
}

/// The table with a rule below its heads, as all tables of this program.
fn text(table: &Table) -> String {
    table.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(TableStyle::new().header_separator(LineStyle::none().fill('─')));
    table.force_no_tty();
    table.set_header(header.to_vec());
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn write(
    input: &Path,
    output: &Path,
    options: &TraceOptions,
    seed: Option<u64>,
) -> Result<(), Failure> {
    let mut files = guard(&[("the output", Some(output))], &[("input", input)])?;
    let (scenario, mut source) = open(input, options, None, seed)?;
    reads_of(&mut files, &scenario)?;
    let file = files.create(output)?;
    let name = file.name().to_string();
    let buffered = BufWriter::with_capacity(1 << 16, file);
    let (buffered, counts) = convert(source.as_mut(), scenario.kinds(), buffered, &name)?;
    let file = buffered
        .into_inner()
        .map_err(|error| Failure::File(format!("cannot write {name}: {error}")))?;
    file.finish()?;
    let bad: Vec<String> = source.bad_lines().iter().map(|line| line.to_string()).collect();
    bad.iter().for_each(|line| remark(&format!("skipped {line}")));
    print(&format!(
        "{name}: {} jobs; {} wrong lines skipped, {} left out\n",
        counts.jobs, counts.bad, counts.ignored
    ))
}
