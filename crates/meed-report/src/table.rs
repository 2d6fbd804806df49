//! The comparison as text for a terminal: policies first, then tenants, packed to the width that
//! there is.

use comfy_table::{Attribute, Cell, CellAlignment, Color, LineStyle, Table, TableStyle};
use meed_driver::record::{Comparison, QueueRecord, RunRecord, assumed_cluster, counted_words};

use crate::gains;
use crate::legend;
use crate::number::{Scale, count};
use crate::overtaken::sentence;
use crate::tenants::{by_rho, quantile, sorted};
use crate::words::{capital, clean, wrap};

/// Up to so many tenants are listed one by one.
const LISTED: usize = 12;
/// Of more tenants, so many with the lowest and so many with the highest rho are listed.
const ENDS: usize = 5;
/// Longer names of tenants are cut.
const NAME_WIDTH: usize = 28;
/// Longer names of policies are cut in the first column, and continued below in headings narrower
/// than that.
const POLICY_WIDTH: usize = 44;
/// Width of a policy's name in a heading; a longer key has a line of its own, up to the next width.
const HEADING_WIDTH: usize = 14;
const WIDEST_HEADING: usize = 24;
/// Of more lines the last ones are left out.
const MOST_LINES: usize = 6;

/// How [`summary_table`] may look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableOptions {
    /// Columns of the terminal; tables wider than this are continued below.
    pub width: usize,
    /// Whether to use colours: not when the output is no terminal.
    pub color: bool,
}

impl Default for TableOptions {
    fn default() -> Self {
        Self { width: 80, color: false }
    }
}

/// The comparison as tables of text: one row per policy, then one row per tenant with columns per
/// policy. Ends with a newline.
pub fn summary_table(comparison: &Comparison, options: &TableOptions) -> String {
    let runs = &comparison.runs;
    let Some(last) = runs.last() else { return "No run.\n".into() };
    let say = |lines: &mut dyn Iterator<Item = String>| -> String {
        lines.map(|line| wrap(&line, options.width, "", "  ")).collect()
    };
    let assumed = assumed_cluster(&comparison.assumptions);
    let assumed = assumed.map(|words| capital(&clean(words)) + ".");
    let counted = counted_words(&comparison.assumptions);
    let counted = counted.map(|words| capital(&clean(words)) + ".");
    let first = assumed.into_iter().chain(counted);
    let gains = say(&mut first.chain(gains::sentences(comparison)));
    let gains = if gains.is_empty() { gains } else { gains + "\n" };
    let (policies, metrics) = (policies(runs), metrics(runs));
    let titles = policies.columns.iter().filter_map(|column| column.title.first());
    let names = metrics.iter().map(|metric| metric.name);
    let columns: Vec<&str> = titles.map(String::as_str).chain(names).collect();
    let legend = say(&mut legend::lines(&columns).chain(legend::measured(last)));
    let remarks = say(&mut remarks(runs).into_iter().chain(overtaken(runs)));
    let policies = policies.render(options);
    let tenants = tenants(runs, last, &metrics, options);
    format!("{gains}{policies}{remarks}\n{tenants}\n{legend}")
}

/// All tenants, or of many the spread and those at its ends.
fn tenants(
    runs: &[RunRecord],
    last: &RunRecord,
    metrics: &[Metric],
    options: &TableOptions,
) -> String {
    let n = last.queues.len();
    if n == 0 {
        return "No tenant.\n".to_owned();
    }
    if n <= LISTED {
        return listing(runs, metrics, &(0..n).collect::<Vec<_>>()).render(options);
    }
    let mut out = format!("Quantiles across {} tenants\n", count(n as u64));
    out += &spread(runs, metrics).render(options);
    let order = by_rho(last);
    let shown: Vec<usize> = if order.len() <= 2 * ENDS {
        order
    } else {
        order[..ENDS].iter().chain(&order[order.len() - ENDS..]).copied().collect()
    };
    if shown.is_empty() {
        return out + "\nNo tenant had demand.\n";
    }
    let under =
        if runs.len() > 1 { format!(" under {}", clean(&last.policy)) } else { String::new() };
    let hidden = count((n - shown.len()) as u64);
    let title = format!("Tenants with the lowest and the highest rho{under} ({hidden} not shown)");
    out.push('\n');
    out += &wrap(&title, options.width, "", "  ");
    out + &listing(runs, metrics, &shown).render(options)
}

/// One quantity of a tenant.
struct Metric {
    name: &'static str,
    scale: Scale,
    of: fn(&QueueRecord) -> Option<f64>,
    /// Values below this are marked.
    mark_below: Option<f64>,
}

fn metrics(runs: &[RunRecord]) -> Vec<Metric> {
    let all = |of: fn(&QueueRecord) -> Option<f64>| {
        runs.iter().flat_map(move |r| r.queues.iter().map(of))
    };
    let resource = runs.first().map_or("", |r| r.measured.as_str());
    let metric = |name, scale, of, mark_below| Metric { name, scale, of, mark_below };
    let mut metrics = vec![
        metric("rho", Scale::ratio(3), |q| q.rho, Some(0.9995)),
        metric("mean job", Scale::time(all(|q| q.mean_job_s)), |q| q.mean_job_s, None),
        metric("max wait", Scale::time(all(|q| q.longest_wait_s)), |q| q.longest_wait_s, None),
        metric(
            "balance",
            Scale::usage(resource, all(|q| Some(q.balance))),
            |q| Some(q.balance),
            None,
        ),
    ];
    if all(|q| q.speedup).any(|s| s.is_some()) {
        metrics.push(metric("speed-up", Scale::ratio(3), |q| q.speedup, Some(0.9995)));
    }
    metrics
}

fn policies(runs: &[RunRecord]) -> Grid {
    let column = |title: &str,
                  scale: &Scale,
                  of: &dyn Fn(&RunRecord) -> Option<f64>,
                  mark: Option<f64>| Column {
        title: vec![title.into(), scale.unit.clone()],
        cells: runs.iter().map(|r| scale.show(of(r))).collect(),
        marked: runs.iter().map(|r| of(r).zip(mark).is_some_and(|(v, m)| v < m)).collect(),
        starts_group: true,
    };
    let mut columns = vec![
        column("psi", &Scale::ratio(3), &|r| Some(r.psi), None),
        column("omega", &Scale::ratio(3), &|r| Some(r.omega), Some(-0.0005)),
        column("jain", &Scale::ratio(3), &|r| r.jain, None),
    ];
    let mut resources: Vec<&String> = runs.iter().flat_map(|r| r.utilization.keys()).collect();
    resources.sort();
    resources.dedup();
    for resource in resources {
        let used = |r: &RunRecord| r.utilization.get(resource).copied();
        let held = |r: &RunRecord| r.held_idle.as_ref()?.get(resource).copied();
        let name = clean(resource);
        columns.push(column(&format!("{name} used"), &Scale::percent(), &used, None));
        if runs.iter().any(|r| held(r).is_some()) {
            columns.push(column(&format!("{name} held idle"), &Scale::percent(), &held, None));
        }
    }
    let time = |of: fn(&RunRecord) -> Option<f64>| Scale::time(runs.iter().map(of));
    columns.push(column("mean job", &time(|r| r.mean_job_s), &|r| r.mean_job_s, None));
    columns.push(column("end", &time(|r| Some(r.end_s)), &|r| Some(r.end_s), None));
    if runs.iter().any(|r| r.mapreduce.is_some()) {
        let request = |r: &RunRecord| r.mapreduce.as_ref()?.mean_request_s;
        let locality = |r: &RunRecord| r.mapreduce.as_ref()?.locality;
        let settings = |r: &RunRecord| Some(r.mapreduce.as_ref()?.slot_settings as f64);
        columns.push(column("mean request", &time(request), &request, None));
        columns.push(column("local maps", &Scale::percent(), &locality, None));
        columns.push(column("slots set", &Scale::ratio(0), &settings, None));
    }
    Grid {
        key: "policy",
        rows: runs.iter().map(|r| cut(&clean(&r.policy), POLICY_WIDTH)).collect(),
        columns,
    }
}

/// What a reader must know before he trusts the numbers: refused, unfinished, skipped, left out.
fn remarks(runs: &[RunRecord]) -> Vec<String> {
    let text = |r: &RunRecord| {
        let plural = |n: u64, one: &str, many: &str| {
            format!("{} {}", count(n), if n == 1 { one } else { many })
        };
        let mut parts = Vec::new();
        if r.refused > 0 {
            let (first, refused) = (r.first_refused.as_deref().map(clean), r.refused);
            let words = match (first, refused) {
                (Some(why), 1) => format!("1 job refused ({why})"),
                (Some(why), _) => format!("{} jobs refused (the first: {why})", count(refused)),
                (None, _) => plural(refused, "job refused", "jobs refused"),
            };
            parts.push(words);
        }
        if r.unfinished > 0 {
            parts.push(plural(r.unfinished, "job unfinished", "jobs unfinished"));
        }
        if r.failed > 0 {
            parts.push(plural(r.failed, "job failed or cancelled", "jobs failed or cancelled"));
        }
        if let Some(stopped) = r.stopped.as_ref().filter(|stopped| stopped.tasks > 0) {
            parts.push(plural(
                stopped.tasks,
                "task stopped for another",
                "tasks stopped for others",
            ));
        }
        // Told even when it is nothing: whoever reads figures of a trace wants to know that none is
        // missing.
        if r.trace_lines > 0 {
            let lines = plural(r.trace_lines, "trace line", "trace lines");
            let (bad, ignored) = (count(r.skipped_lines), count(r.ignored_lines));
            parts.push(format!("{lines} read, {bad} wrong and skipped, {ignored} left out"));
        }
        parts.join(", ")
    };
    let texts: Vec<String> = runs.iter().map(text).collect();
    let same = texts.windows(2).all(|w| w[0] == w[1]);
    match texts.first() {
        Some(first) if same && first.is_empty() => Vec::new(),
        Some(first) if same && runs.len() == 1 => vec![first.clone()],
        Some(first) if same => vec![format!("every policy: {first}")],
        _ => runs
            .iter()
            .zip(&texts)
            .filter(|(_, text)| !text.is_empty())
            .map(|(run, text)| format!("{}: {text}", clean(&run.policy)))
            .collect(),
    }
}

/// Whom others overtook, where that matters.
fn overtaken(runs: &[RunRecord]) -> impl Iterator<Item = String> {
    runs.iter().filter_map(move |run| {
        let text = clean(&sentence(run)?);
        Some(if runs.len() > 1 { format!("{}: {text}", clean(&run.policy)) } else { text })
    })
}

/// One row per tenant, one group of columns per metric, one column per policy within.
fn listing(runs: &[RunRecord], metrics: &[Metric], tenants: &[usize]) -> Grid {
    let names = runs.last().map_or(&[][..], |r| &r.queues);
    let rows = tenants
        .iter()
        .filter_map(|&i| names.get(i))
        .map(|q| cut(&clean(&q.queue), NAME_WIDTH))
        .collect();
    let columns = each_column(runs, metrics, |run, metric| {
        tenants.iter().map(|&i| run.queues.get(i).and_then(metric.of)).collect()
    });
    Grid { key: "tenant", rows, columns }
}

/// Quantiles of every metric across the tenants.
fn spread(runs: &[RunRecord], metrics: &[Metric]) -> Grid {
    let rows = ["min", "p10", "median", "p90", "max"].map(String::from).to_vec();
    let columns = each_column(runs, metrics, |run, metric| {
        let values = sorted(run.queues.iter().map(metric.of));
        [0.0, 0.1, 0.5, 0.9, 1.0].map(|q| quantile(&values, q)).to_vec()
    });
    Grid { key: "", rows, columns }
}

fn each_column(
    runs: &[RunRecord],
    metrics: &[Metric],
    values: impl Fn(&RunRecord, &Metric) -> Vec<Option<f64>>,
) -> Vec<Column> {
    let mut columns = Vec::new();
    let lines = runs.iter().map(|run| broken(&run.policy).len()).max().unwrap_or(1);
    for metric in metrics {
        for (i, run) in runs.iter().enumerate() {
            let values = values(run, metric);
            let first = |text: &str| if i == 0 { text.to_string() } else { String::new() };
            let mut title = vec![first(metric.name), first(&metric.scale.unit)];
            if runs.len() > 1 {
                title.extend(heading(&run.policy, lines));
            }
            columns.push(Column {
                title,
                cells: values.iter().map(|v| metric.scale.show(*v)).collect(),
                marked: values
                    .iter()
                    .map(|v| v.zip(metric.mark_below).is_some_and(|(v, m)| v < m))
                    .collect(),
                starts_group: i == 0,
            });
        }
    }
    columns
}

/// A table that may be too wide: its columns are dealt out over several tables that repeat the
/// first column.
struct Grid {
    key: &'static str,
    rows: Vec<String>,
    columns: Vec<Column>,
}

struct Column {
    title: Vec<String>,
    cells: Vec<String>,
    marked: Vec<bool>,
    /// A table is broken here rather than within a group.
    starts_group: bool,
}

impl Column {
    fn width(&self) -> usize {
        let text = self.title.iter().chain(&self.cells).map(|s| s.chars().count()).max();
        text.unwrap_or(0) + if self.starts_group { 3 } else { 2 }
    }
}

impl Grid {
    fn render(&self, options: &TableOptions) -> String {
        let key_width =
            self.rows.iter().map(|r| r.chars().count()).max().unwrap_or(0).max(self.key.len());
        let room = options.width.saturating_sub(key_width);
        let mut out = String::new();
        for part in deal(&self.columns, room) {
            if !out.is_empty() {
                out.push('\n');
            }
            out += &self.table(part, options.color);
        }
        out
    }

    fn table(&self, columns: &[Column], color: bool) -> String {
        let mut table = Table::new();
        table.load_style(TableStyle::new().header_separator(LineStyle::none().fill('─')));
        if color {
            table.enforce_styling();
        } else {
            table.force_no_tty();
        }
        // An empty second line (no unit anywhere in this part) is left out.
        let depth = columns.iter().map(|c| c.title.len()).max().unwrap_or(0);
        let lines: Vec<usize> = (0..depth)
            .filter(|&l| columns.iter().any(|c| c.title.get(l).is_some_and(|t| !t.is_empty())))
            .collect();
        let bold = |text: String| Cell::new(text).add_attribute(Attribute::Bold);
        let mut header = vec![bold("\n".repeat(lines.len().saturating_sub(1)) + self.key)];
        header.extend(columns.iter().map(|c| {
            let title: Vec<&str> =
                lines.iter().filter_map(|&l| c.title.get(l)).map(String::as_str).collect();
            bold(title.join("\n"))
        }));
        table.set_header(header);
        for (r, name) in self.rows.iter().enumerate() {
            let mut row = vec![Cell::new(name)];
            row.extend(columns.iter().map(|c| {
                let cell = Cell::new(c.cells.get(r).map_or("", String::as_str));
                if c.marked.get(r).copied().unwrap_or(false) {
                    cell.fg(Color::Yellow)
                } else {
                    cell
                }
            }));
            table.add_row(row);
        }
        for (i, column) in table.column_iter_mut().enumerate() {
            match i.checked_sub(1).and_then(|i| columns.get(i)) {
                None => {
                    column.set_padding((0, 0));
                }
                Some(c) => {
                    column.set_padding((if c.starts_group { 3 } else { 2 }, 0));
                    column.set_cell_alignment(CellAlignment::Right);
                }
            }
        }
        table.trim_fmt() + "\n"
    }
}

/// Splits columns into parts that fit in `room`, between groups where that is possible.
fn deal(columns: &[Column], room: usize) -> Vec<&[Column]> {
    let mut parts = Vec::new();
    let (mut start, mut at, mut used) = (0, 0, 0);
    while at < columns.len() {
        let group = 1 + columns[at + 1..].iter().take_while(|c| !c.starts_group).count();
        let width: usize = columns[at..at + group].iter().map(Column::width).sum();
        if used > 0 && used + width > room {
            parts.push(&columns[start..at]);
            (start, used) = (at, 0);
        }
        if used + width <= room {
            used += width;
            at += group;
            continue;
        }
        // A group wider than the terminal: broken within.
        for column in &columns[at..at + group] {
            if used > 0 && used + column.width() > room {
                parts.push(&columns[start..at]);
                (start, used) = (at, 0);
            }
            used += column.width();
            at += 1;
        }
    }
    if start < columns.len() {
        parts.push(&columns[start..]);
    }
    parts
}

/// A name that is too long loses its middle: names often differ at their ends.
fn cut(name: &str, width: usize) -> String {
    let length = name.chars().count();
    if length <= width {
        return name.into();
    }
    let head = width / 2;
    let tail = length - (width - 1 - head);
    name.chars().take(head).chain(['…']).chain(name.chars().skip(tail)).collect()
}

/// A policy's name over so many lines of a heading, at the bottom of them.
fn heading(policy: &str, lines: usize) -> Vec<String> {
    let name = broken(policy);
    let above = lines.saturating_sub(name.len());
    std::iter::repeat_n(String::new(), above).chain(name).collect()
}

/// A policy's name in lines of a heading: one for each key, for a key broken in the middle reads as
/// two.
fn broken(policy: &str) -> Vec<String> {
    let name = clean(policy);
    let parts: Vec<&str> = name.split_inclusive([',', ' ']).collect();
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line) if line.chars().count() + part.chars().count() <= HEADING_WIDTH => {
                *line += part;
            }
            _ => lines.push(cut(part, WIDEST_HEADING)),
        }
    }
    lines.iter_mut().for_each(|line| line.truncate(line.trim_end().len()));
    if lines.len() > MOST_LINES {
        lines.truncate(MOST_LINES - 1);
        lines.push("…".to_owned());
    }
    lines
}
