//! What is measured at each point, and the CSV of all.
//!
//! Numbers are written with as many digits as it takes to read back the same float; what does not
//! exist is an empty cell. The text of a cell is made once, when its point has finished, so a
//! resumed sweep writes the same bytes.

use std::collections::BTreeMap;
use std::io::Write;

use meed_sim::record::{JobRecord, QueueRecord, RunRecord};

use super::grid::{Grid, Point};

/// A measured column: its name, what it is (docs/sweep.md), and how it is taken from a run.
pub struct Column {
    /// Its heading.
    pub name: &'static str,
    /// In words.
    pub what: &'static str,
    of: fn(&RunRecord) -> Option<f64>,
}

/// Below this a tenant counts as having got less than its share: rho is a ratio of exact integers,
/// rounded once.
const ONE: f64 = 1.0 - 1e-9;

const fn column(
    name: &'static str,
    what: &'static str,
    of: fn(&RunRecord) -> Option<f64>,
) -> Column {
    Column { name, what, of }
}

/// All columns, in order; behind them `used_RESOURCE` for each resource.
pub const COLUMNS: [Column; 34] = [
    column("psi", "sharing benefit Psi (TSC'18 Eq. 4)", |run| Some(run.psi)),
    column("omega", "sharing loss Omega (Eq. 5), 0 or below", |run| Some(run.omega)),
    column("jain", "Jain's index over the rho of tenants", |run| run.jain),
    column("rho_min", "smallest rho (Eq. 3) of a tenant", |run| at(run, |q| q.rho, 0.0)),
    column("rho_p10", "10th percentile of rho over tenants", |run| at(run, |q| q.rho, 0.1)),
    column("rho_p50", "median of rho over tenants", |run| at(run, |q| q.rho, 0.5)),
    column("rho_p90", "90th percentile of rho over tenants", |run| at(run, |q| q.rho, 0.9)),
    column("rho_max", "largest rho of a tenant", |run| at(run, |q| q.rho, 1.0)),
    column("tenants", "tenants with demand", |run| Some(values(run, |q| q.rho).len() as f64)),
    column("tenants_below", "of them: with rho below 1", |run| {
        Some(values(run, |q| q.rho).iter().filter(|rho| **rho < ONE).count() as f64)
    }),
    column("mean_job_s", "mean time from submission to end over all jobs, seconds", |run| {
        run.mean_job_s
    }),
    column("p50_job_s", "median of the same", |run| run.p50_job_s),
    column("p99_job_s", "99th percentile of the same", |run| run.p99_job_s),
    column("mean_wait_s", "mean wait of a task over all tasks, seconds", |run| run.mean_wait_s),
    column("longest_wait_s", "longest wait of any task", |run| run.longest_wait_s),
    column("tenant_job_s_p50", "mean job time of the median tenant", |run| {
        at(run, |q| q.mean_job_s, 0.5)
    }),
    column("tenant_job_s_p90", "mean job time of the tenant at the 90th percentile", |run| {
        at(run, |q| q.mean_job_s, 0.9)
    }),
    column("tenant_wait_s_p50", "longest wait of the median tenant", |run| {
        at(run, |q| q.longest_wait_s, 0.5)
    }),
    column("tenant_wait_s_p90", "longest wait of the tenant at the 90th percentile", |run| {
        at(run, |q| q.longest_wait_s, 0.9)
    }),
    column(
        "light_wait_s",
        "mean wait of the lighter half of tenants: mean over them of each one's mean",
        |run| mean_wait(run, |tenants| (0, tenants.div_ceil(2))),
    ),
    column("heavy_wait_s", "the same of the heaviest tenth", |run| {
        mean_wait(run, |tenants| (tenants - tenants.div_ceil(10), tenants))
    }),
    column(
        "wide_wait_s",
        "mean wait of the widest tenth of jobs, from submission to their first task's start",
        |run| wide_waits(run).map(|waits| waits.wide),
    ),
    column("wide_longest_wait_s", "the longest of them", |run| {
        wide_waits(run).map(|waits| waits.longest)
    }),
    column("narrow_wait_s", "mean wait of all other jobs", |run| {
        wide_waits(run).and_then(|waits| waits.others)
    }),
    column("held_share", "part of capacity x time that was held for tasks, and idle", |run| {
        run.held_idle.as_ref().and_then(|held| held.get(&run.measured)).copied()
    }),
    column("stops", "tasks that were stopped for others", |run| {
        run.stopped.as_ref().map(|stopped| stopped.tasks as f64)
    }),
    column("lost_share", "part of all use that was work lost so", lost),
    column("jobs", "jobs that ended", |run| {
        Some(run.queues.iter().map(|q| q.jobs).sum::<u64>() as f64)
    }),
    column("refused", "jobs with a task that no node could hold", |run| Some(run.refused as f64)),
    column("failed", "jobs that failed or were cancelled", |run| Some(run.failed as f64)),
    column("unfinished", "jobs alive at the end", |run| Some(run.unfinished as f64)),
    column("skipped_lines", "wrong lines of the trace", |run| Some(run.skipped_lines as f64)),
    column("borrowed_share", "part of all use that lay above the user's share", borrowed),
    column("end_s", "when the last event happened, seconds", |run| Some(run.end_s)),
];

/// Heading of a resource's utilisation.
pub fn used(resource: &str) -> String {
    format!("used_{resource}")
}

/// Headings of everything measured.
pub(super) fn names(resources: &[String]) -> Vec<String> {
    COLUMNS
        .iter()
        .map(|column| column.name.to_owned())
        .chain(resources.iter().map(|name| used(name)))
        .collect()
}

/// Everything measured at a point.
pub(super) fn measure(run: &RunRecord, resources: &[String]) -> Vec<String> {
    let measured = COLUMNS.iter().map(|column| (column.of)(run));
    let used = resources.iter().map(|name| run.utilization.get(name).copied());
    measured.chain(used).map(cell).collect()
}

/// The width from which on a job is of the widest tenth.
pub(crate) fn wide_from(run: &RunRecord) -> Option<f64> {
    let mut widths: Vec<f64> = run.counted_jobs().map(|job| job.width).collect();
    widths.sort_by(|a, b| b.total_cmp(a));
    widths.get(widths.len().div_ceil(10).checked_sub(1)?).copied()
}

/// The column of that name, of one run.
pub(crate) fn figure(run: &RunRecord, name: &str) -> Option<f64> {
    let column = COLUMNS.iter().find(|column| column.name == name)?;
    (column.of)(run).filter(|value| value.is_finite())
}

fn cell(value: Option<f64>) -> String {
    // No -0: nothing is lost or gained by it.
    value.filter(|value| value.is_finite()).map_or(String::new(), |value| (value + 0.0).to_string())
}

/// What exists of a figure over tenants, in rising order.
fn values(run: &RunRecord, of: fn(&QueueRecord) -> Option<f64>) -> Vec<f64> {
    let mut values: Vec<f64> =
        run.queues.iter().filter_map(of).filter(|value| value.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The quantile `q` over tenants, between neighbours by interpolation.
fn at(run: &RunRecord, of: fn(&QueueRecord) -> Option<f64>, q: f64) -> Option<f64> {
    super::summary::quantile(&values(run, of), q)
}

fn borrowed(run: &RunRecord) -> Option<f64> {
    of_all_use(run, run.queues.iter().map(|q| q.borrowed).sum())
}

/// Work that was lost by stops, over all use.
fn lost(run: &RunRecord) -> Option<f64> {
    let lost = run.stopped.as_ref()?.lost.get(&run.measured)?;
    of_all_use(run, *lost)
}

fn of_all_use(run: &RunRecord, part: f64) -> Option<f64> {
    let used: f64 = run.queues.iter().filter_map(|q| q.usage.get(&run.measured)).sum();
    (used > 0.0).then(|| part / used)
}

/// Waits of jobs by their width.
struct WideWaits {
    wide: f64,
    longest: f64,
    /// Of the others, where there are any.
    others: Option<f64>,
}

/// The widest tenth are all jobs of the largest widths, down to that with which they are a tenth of
/// all at least. A job that has not started has waited up to the end of the run.
fn wide_waits(run: &RunRecord) -> Option<WideWaits> {
    let waited = |job: &JobRecord| job.started_s.unwrap_or(run.end_s) - job.submit_s;
    let mut jobs: Vec<(f64, f64)> =
        run.counted_jobs().map(|job| (job.width, waited(job))).collect();
    // Waits as well: a sum of floats is the same in one order only.
    jobs.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1)));
    let least = jobs.get(jobs.len().div_ceil(10).checked_sub(1)?)?.0;
    let (wide, others) = jobs.split_at(jobs.partition_point(|(width, _)| *width >= least));
    let mean = |jobs: &[(f64, f64)]| {
        let sum: f64 = jobs.iter().map(|(_, wait)| wait).sum();
        (!jobs.is_empty()).then(|| sum / jobs.len() as f64)
    };
    let longest = wide.iter().map(|(_, wait)| *wait).fold(0.0, f64::max);
    Some(WideWaits { wide: mean(wide)?, longest, others: mean(others) })
}

/// Mean over some tenants of the mean wait of each one's tasks. `which` gives the range among those
/// whose tasks have started, in rising order of what they used of the measured resource; equals in
/// order of declaration.
fn mean_wait(run: &RunRecord, which: fn(usize) -> (usize, usize)) -> Option<f64> {
    let used = |q: &QueueRecord| q.usage.get(&run.measured).copied().unwrap_or(0.0);
    let mut tenants: Vec<(f64, f64)> =
        run.queues.iter().filter_map(|q| Some((used(q), q.mean_wait_s?))).collect();
    tenants.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (from, to) = which(tenants.len());
    let waits = tenants.get(from..to).filter(|waits| !waits.is_empty())?;
    Some(waits.iter().map(|(_, wait)| wait).sum::<f64>() / waits.len() as f64)
}

/// One point and what was measured.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    /// Settings, policy and seed, in the order of [`Results::parameters`].
    pub parameters: Vec<String>,
    /// In the order of [`Results::measured`].
    pub cells: Vec<String>,
}

/// The results of a sweep, in the order of its points.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Results {
    /// Names of settings, `policy` (unless it is a setting) and `seed`.
    pub parameters: Vec<String>,
    /// Names of what was measured.
    pub measured: Vec<String>,
    /// One for each point.
    pub rows: Vec<Row>,
}

impl Results {
    pub(super) fn new(grid: &Grid, mut cells: BTreeMap<usize, Vec<String>>) -> Results {
        let row = |point: &Point| Row {
            parameters: grid.values(point),
            cells: cells.remove(&point.number).unwrap_or_default(),
        };
        Results {
            rows: grid.points.iter().map(row).collect(),
            parameters: grid.parameters(),
            measured: names(&grid.resources),
        }
    }

    /// Writes a heading and one line for each point, comma-separated, quoted where needed.
    pub fn write_csv(&self, out: impl Write) -> std::io::Result<()> {
        let mut csv = csv::Writer::from_writer(out);
        let point = std::iter::once("point");
        csv.write_record(
            point.chain(self.parameters.iter().chain(&self.measured).map(String::as_str)),
        )?;
        for (number, row) in self.rows.iter().enumerate() {
            let number = (number + 1).to_string();
            let cells = row.parameters.iter().chain(&row.cells).map(String::as_str);
            csv.write_record(std::iter::once(number.as_str()).chain(cells))?;
        }
        csv.flush()
    }

    /// All points as JSON objects: parameters as text, what was measured as numbers; with a
    /// baseline what each setting gains.
    pub fn to_json(&self, grid: &Grid) -> String {
        let point = |row: &Row| {
            let parameters = self.parameters.iter().zip(&row.parameters);
            let parameters = parameters
                .map(|(name, value)| (name.clone(), serde_json::Value::from(value.as_str())));
            let measured = self.measured.iter().zip(&row.cells);
            let measured =
                measured.map(|(name, cell)| (name.clone(), cell.parse::<f64>().ok().into()));
            let parameters: serde_json::Map<_, _> = parameters.collect();
            let measured: serde_json::Map<_, _> = measured.collect();
            serde_json::json!({ "parameters": parameters, "measured": measured })
        };
        let points: Vec<_> = self.rows.iter().map(point).collect();
        let mut whole = serde_json::json!({ "schema": 1, "points": points });
        if let Some(baseline) = &grid.baseline {
            whole["baseline"] = baseline.words.as_str().into();
            whole["gains"] = super::gains::to_json(grid, self);
        }
        whole.to_string() + "\n"
    }
}
