//! What runs have left, as tables, JSON, text and pages.
//!
//! A row of each table begins with its policy; columns are called as in the program's JSON and CSV
//! (docs/json.md, docs/jobs.md), and what is there per resource has the resource's name behind it.

use std::collections::{BTreeMap, BTreeSet};

use meed_journal::JobKey;
use meed_report::{TableOptions, bounded_slowdown, summary_table, to_html, to_json};
use meed_sim::record::{
    Comparison, GroupRecord, JobRecord, QueueRecord, QueueSeries, RunRecord, StoppedRecord,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::input;
use crate::table::Table;

/// What runs have left.
#[pyclass(frozen, name = "Results", module = "meed._native")]
pub(crate) struct PyResults {
    comparison: Comparison,
    skipped: Vec<String>,
    has_jobs: bool,
}

impl PyResults {
    pub(crate) fn new(comparison: Comparison, skipped: Vec<String>, jobs: bool) -> PyResults {
        let has_jobs = jobs && comparison.runs.iter().all(|run| run.mapreduce.is_none());
        PyResults { comparison, skipped, has_jobs }
    }

    fn runs(&self) -> &[RunRecord] {
        &self.comparison.runs
    }

    /// Each row of some kind, beside its run.
    fn rows<'a, T>(
        &'a self,
        of: impl Fn(&'a RunRecord) -> &'a [T] + 'a,
    ) -> Vec<(&'a RunRecord, &'a T)> {
        self.runs().iter().flat_map(|run| of(run).iter().map(move |row| (run, row))).collect()
    }

    /// Names of resources: those of all runs.
    fn resources(&self) -> Vec<&str> {
        let names = self.runs().iter().flat_map(|run| run.utilization.keys());
        names.map(String::as_str).collect::<BTreeSet<_>>().into_iter().collect()
    }

    fn has_series(&self) -> PyResult<()> {
        match self.runs().iter().any(|run| !run.series.t_s.is_empty()) {
            true => Ok(()),
            false => Err(input("no samples were taken; simulate(..., series=400) takes 400")),
        }
    }
}

/// A column for each resource.
fn amounts<'a>(
    table: &Table<'_>,
    name: &str,
    resources: &[&str],
    rows: impl Iterator<Item = Option<&'a BTreeMap<String, f64>>> + Clone,
) -> PyResult<()> {
    resources.iter().try_for_each(|resource| {
        let values = rows.clone().map(|row| row.and_then(|row| row.get(*resource)).copied());
        table.maybe(&format!("{name}_{resource}"), values)
    })
}

/// Columns of tasks that were stopped for others, where a policy does that.
fn stopped<'a>(
    table: &Table<'_>,
    resources: &[&str],
    rows: impl Iterator<Item = Option<&'a StoppedRecord>> + Clone,
) -> PyResult<()> {
    if rows.clone().all(|row| row.is_none()) {
        return Ok(());
    }
    table.numbers("stopped_tasks", rows.clone().map(|row| row.map_or(0, |row| row.tasks)))?;
    amounts(table, "stopped_lost", resources, rows.map(|row| row.map(|row| &row.lost)))
}

/// Columns of the same name as the fields that they hold.
macro_rules! columns {
    ($table:ident, $rows:ident, $way:ident: $($field:ident),+ $(,)?) => {
        $($table.$way(stringify!($field), $rows.iter().map(|(_, row)| row.$field))?;)+
    };
}

#[pymethods]
impl PyResults {
    /// A row for each run.
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let table = Table::new(py);
        let rows: Vec<((), &RunRecord)> = self.runs().iter().map(|run| ((), run)).collect();
        let resources = self.resources();
        table.texts("policy", self.runs().iter().map(|run| run.policy.as_str()))?;
        columns!(table, rows, maybe: mean_job_s, p50_job_s, p99_job_s, mean_wait_s, longest_wait_s);
        columns!(table, rows, numbers: psi, omega);
        columns!(table, rows, maybe: jain);
        columns!(table, rows, numbers: dominant_psi, dominant_omega);
        columns!(table, rows, maybe: dominant_jain);
        let used = self.runs().iter().map(|run| Some(&run.utilization));
        amounts(&table, "utilization", &resources, used)?;
        if self.runs().iter().any(|run| run.held_idle.is_some()) {
            let held = self.runs().iter().map(|run| run.held_idle.as_ref());
            amounts(&table, "held_idle", &resources, held)?;
        }
        stopped(&table, &resources, self.runs().iter().map(|run| run.stopped.as_ref()))?;
        columns!(table, rows, numbers: end_s, events, decisions, refused, failed, unfinished,
            trace_lines, skipped_lines, ignored_lines);
        Ok(table.done())
    }

    /// A row for each tenant of each run.
    fn tenants<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let table = Table::new(py);
        let rows: Vec<(&RunRecord, &QueueRecord)> = self.rows(|run| &run.queues);
        let resources = self.resources();
        table.texts("policy", rows.iter().map(|(run, _)| run.policy.as_str()))?;
        table.texts("queue", rows.iter().map(|(_, row)| row.queue.as_str()))?;
        columns!(table, rows, numbers: weight, share);
        amounts(&table, "usage", &resources, rows.iter().map(|(_, row)| Some(&row.usage)))?;
        if rows.iter().any(|(_, row)| row.held_idle.is_some()) {
            let held = rows.iter().map(|(_, row)| row.held_idle.as_ref());
            amounts(&table, "held_idle", &resources, held)?;
        }
        stopped(&table, &resources, rows.iter().map(|(_, row)| row.stopped.as_ref()))?;
        columns!(table, rows, numbers: charged);
        columns!(table, rows, maybe: rho, dominant_rho);
        columns!(table, rows, numbers: lent, borrowed, balance, jobs, tasks);
        columns!(table, rows, maybe: mean_job_s, p50_job_s, p99_job_s, mean_wait_s, longest_wait_s,
            speedup);
        if rows.iter().any(|(_, row)| row.overtaken.is_some()) {
            let told = |of: fn(&meed_sim::record::Overtaken) -> u64| {
                rows.iter().map(move |(_, row)| row.overtaken.as_ref().map(|told| of(told) as f64))
            };
            table.maybe("overtaken_tasks", told(|told| told.tasks))?;
            table.maybe("overtaken_times", told(|told| told.times))?;
        }
        Ok(table.done())
    }

    /// A row for each parent queue of each run.
    fn groups<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let table = Table::new(py);
        let rows: Vec<(&RunRecord, &GroupRecord)> = self.rows(|run| &run.groups);
        table.texts("policy", rows.iter().map(|(run, _)| run.policy.as_str()))?;
        table.texts("queue", rows.iter().map(|(_, row)| row.queue.as_str()))?;
        columns!(table, rows, numbers: weight);
        let used = rows.iter().map(|(_, row)| Some(&row.usage));
        amounts(&table, "usage", &self.resources(), used)?;
        columns!(table, rows, numbers: charged);
        Ok(table.done())
    }

    /// A row for each job of each run.
    fn jobs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        if !self.has_jobs {
            let mapreduce = self.runs().iter().any(|run| run.mapreduce.is_some());
            return Err(input(match mapreduce {
                true => "jobs of the MapReduce world are in .to_dict()",
                false => "jobs were not kept; simulate(..., keep_jobs=True) keeps them",
            }));
        }
        let table = Table::new(py);
        let rows: Vec<(&RunRecord, &JobRecord)> = self.rows(|run| &run.jobs);
        table.texts("policy", rows.iter().map(|(run, _)| run.policy.as_str()))?;
        labels(&table, &rows)?;
        let queue = |run: &RunRecord, job: &JobRecord| run.queues.get(job.queue).map(|_| job.queue);
        table.texts(
            "queue",
            rows.iter().map(|(run, job)| {
                queue(run, job).map_or("", |number| run.queues[number].queue.as_str())
            }),
        )?;
        let since = |job: &JobRecord, at: Option<f64>| at.map(|at| at - job.submit_s);
        table.numbers("submit_s", rows.iter().map(|(_, job)| job.submit_s))?;
        table.maybe("start_s", rows.iter().map(|(_, job)| job.started_s))?;
        table.maybe("end_s", rows.iter().map(|(_, job)| job.ended_s))?;
        table.maybe("wait_s", rows.iter().map(|(_, job)| since(job, job.started_s)))?;
        table.maybe("job_s", rows.iter().map(|(_, job)| since(job, job.ended_s)))?;
        table.maybe("slowdown", rows.iter().map(|(_, job)| bounded_slowdown(job)))?;
        columns!(table, rows, numbers: tasks, width);
        table.numbers("counted", rows.iter().map(|(_, job)| u64::from(job.counts)))?;
        Ok(table.done())
    }

    /// A row for each sample of each tenant of each run.
    fn series<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.has_series()?;
        let table = Table::new(py);
        let runs = || self.runs().iter();
        let lines = || runs().flat_map(|run| run.queues.iter().zip(&run.series.queues));
        let points = |of: fn(&QueueSeries) -> &Vec<f64>| lines().flat_map(move |(_, one)| of(one));
        let names = runs().flat_map(|run| {
            let rows = run.series.t_s.len() * run.series.queues.len();
            std::iter::repeat_n(run.policy.as_str(), rows)
        });
        table.texts("policy", names)?;
        let queues = runs().flat_map(|run| {
            let rows = run.series.t_s.len();
            let queues = run.queues.iter().take(run.series.queues.len());
            queues.flat_map(move |queue| std::iter::repeat_n(queue.queue.as_str(), rows))
        });
        table.texts("queue", queues)?;
        let times =
            runs().flat_map(|run| run.series.queues.iter().flat_map(|_| run.series.t_s.iter()));
        table.numbers("t_s", times.copied())?;
        table.numbers("demand", points(|one| &one.demand).copied())?;
        table.numbers("allocation", points(|one| &one.allocation).copied())?;
        table.numbers("usage", points(|one| &one.usage).copied())?;
        table.maybe("rho", lines().flat_map(|(_, one)| &one.rho).copied())?;
        table.numbers("balance", points(|one| &one.balance).copied())?;
        table.numbers("charged", points(|one| &one.charged).copied())?;
        Ok(table.done())
    }

    /// A row for each sample of each run.
    fn pool_series<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.has_series()?;
        let table = Table::new(py);
        let runs = || self.runs().iter();
        let names =
            runs().flat_map(|run| std::iter::repeat_n(run.policy.as_str(), run.series.t_s.len()));
        table.texts("policy", names)?;
        table.numbers("t_s", runs().flat_map(|run| &run.series.t_s).copied())?;
        table.numbers("psi", runs().flat_map(|run| &run.series.psi).copied())?;
        table.numbers("omega", runs().flat_map(|run| &run.series.omega).copied())?;
        for resource in self.resources() {
            let used = runs().flat_map(|run| {
                let line = run.series.utilization.get(resource);
                (0..run.series.t_s.len()).map(move |at| line.and_then(|line| line.get(at)).copied())
            });
            table.maybe(&format!("utilization_{resource}"), used)?;
        }
        Ok(table.done())
    }

    #[getter]
    fn scenario(&self) -> &str {
        &self.comparison.scenario
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.comparison.seed
    }

    #[getter]
    fn policies(&self) -> Vec<&str> {
        self.runs().iter().map(|run| run.policy.as_str()).collect()
    }

    #[getter]
    fn assumptions(&self) -> Vec<&str> {
        self.comparison.assumptions.iter().map(String::as_str).collect()
    }

    /// What all are compared with.
    #[getter]
    fn baseline(&self) -> Option<&str> {
        self.comparison.baseline.as_deref()
    }

    /// Of each run how many jobs no node could hold, and the first of them.
    #[getter]
    fn refused(&self) -> Vec<(&str, u64, Option<&str>)> {
        let runs = self.runs().iter();
        runs.map(|run| (run.policy.as_str(), run.refused, run.first_refused.as_deref())).collect()
    }

    /// What is said of lines of a trace that were left out.
    #[getter]
    fn skipped(&self) -> Vec<&str> {
        self.skipped.iter().map(String::as_str).collect()
    }

    /// What `meed simulate --json -` prints.
    fn json(&self, py: Python<'_>) -> String {
        py.detach(|| to_json(&self.comparison))
    }

    /// What `meed simulate` prints.
    fn text(&self, py: Python<'_>, width: usize) -> String {
        py.detach(|| summary_table(&self.comparison, &TableOptions { width, color: false }))
    }

    /// What `meed simulate --report` writes, but for the chart of nodes.
    fn html(&self, py: Python<'_>) -> String {
        py.detach(|| to_html(&self.comparison))
    }
}

/// Names of jobs: numbers where all of them are.
fn labels(table: &Table<'_>, rows: &[(&RunRecord, &JobRecord)]) -> PyResult<()> {
    let number = |(_, job): &(&RunRecord, &JobRecord)| match job.label {
        JobKey::Number(number) => Some(number),
        JobKey::Text(_) => None,
    };
    let numbers: Option<Vec<u64>> = rows.iter().map(number).collect();
    match numbers {
        Some(numbers) => table.numbers("job", numbers),
        None => {
            let names: Vec<String> = rows.iter().map(|(_, job)| job.label.to_string()).collect();
            table.texts("job", names.iter().map(String::as_str))
        }
    }
}
