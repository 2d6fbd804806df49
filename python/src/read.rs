//! The jobs of a log as columns, by whatever reader it has; and back, in Meed's own form.
//!
//! A row is a group of equal tasks that run equally long: most jobs are one row. Rows of one job
//! have its `number`, and those that differ in run time alone its `group`. Columns that say nothing
//! of any job (`stage`, `gang`, `limit` and so on) are left out.

use meed::{Constraints, ResourceKinds, Span, Time};
use meed_config::constraints::ConstraintsForm;
use meed_workload::canonical::CanonicalWriter;
use meed_workload::{Durations, Job, JobGroup, JobLabel, JobSource, OnBadLine};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::error::{input, of_trace};
use crate::jobs::PyJobs;
use crate::scenario::PyScenario;
use crate::table::Table;

/// A row of the frame.
struct Row {
    number: u64,
    group: u32,
    label: JobLabel,
    queue: u32,
    submit: Time,
    waited: Option<Span>,
    weight: u32,
    tasks: u32,
    duration: Span,
    /// What else is said of the group.
    about: JobGroup,
}

/// All rows, and what is said of them.
struct Log {
    rows: Vec<Row>,
    queues: Vec<String>,
    skipped: Vec<String>,
    assumptions: Vec<String>,
    clock_us: Option<u64>,
}

/// Rows of a job.
fn rows_of(number: u64, job: Job, waited: Option<Span>, rows: &mut Vec<Row>) {
    for (place, group) in job.groups.into_iter().enumerate() {
        let mut add = |tasks: u32, duration: Span| {
            rows.push(Row {
                number,
                group: place as u32,
                label: job.label.clone(),
                queue: job.queue,
                submit: job.submit,
                waited,
                weight: job.weight,
                tasks,
                duration,
                about: JobGroup { duration: Durations::Same(Span::ZERO), ..group.clone() },
            });
        };
        match &group.duration {
            Durations::Same(span) => add(group.count, *span),
            Durations::Each(spans) => spans
                .chunk_by(|one, next| one == next)
                .for_each(|equal| add(equal.len() as u32, equal[0])),
        }
    }
}

fn log_of(source: &mut dyn JobSource) -> Result<Log, meed_workload::TraceError> {
    let mut rows = Vec::new();
    let mut number = 0;
    while let Some(job) = source.next_job()? {
        let waited = source.waited();
        rows_of(number, job, waited, &mut rows);
        number += 1;
    }
    let bad = source.bad_lines();
    Ok(Log {
        rows,
        queues: source.queues().to_vec(),
        skipped: bad.iter().map(|line| format!("skipped {line}")).collect(),
        assumptions: source.assumptions(),
        clock_us: source.clock_us(),
    })
}

/// Columns of jobs, what was left out, what was assumed, and what the clock said at time 0.
type Told<'py> = (Bound<'py, PyDict>, Vec<String>, Vec<String>, Option<u64>);

/// The jobs of a scenario.
#[pyfunction]
pub(crate) fn read_jobs<'py>(
    py: Python<'py>,
    scenario: PyRef<'py, PyScenario>,
    seed: Option<u64>,
    strict: bool,
) -> PyResult<Told<'py>> {
    let scenario = &scenario.scenario;
    let read = || {
        let seed = seed.unwrap_or(scenario.seed);
        let mut source = scenario.source(seed, OnBadLine::of(strict))?;
        log_of(source.as_mut())
    };
    let log = py.detach(read).map_err(|why| of_trace(&why))?;
    let table = Table::new(py);
    columns(&table, &log, scenario.kinds())?;
    Ok((table.done(), log.skipped, log.assumptions, log.clock_us))
}

fn seconds(span: Option<Span>) -> Option<f64> {
    span.map(Span::as_secs_f64)
}

fn columns(table: &Table<'_>, log: &Log, kinds: &ResourceKinds) -> PyResult<()> {
    let rows = || log.rows.iter();
    let any = |is: fn(&Row) -> bool| log.rows.iter().any(is);
    let queue = |row: &Row| log.queues.get(row.queue as usize).map_or("", String::as_str);
    table.numbers("number", rows().map(|row| row.number))?;
    let number = |row: &Row| match &row.label {
        JobLabel::Number(number) => i64::try_from(*number).ok(),
        JobLabel::Name(_) => None,
    };
    match rows().map(number).collect::<Option<Vec<i64>>>() {
        Some(numbers) => table.numbers("name", numbers)?,
        None => {
            let names: Vec<String> = rows().map(|row| row.label.to_string()).collect();
            table.texts("name", names.iter().map(String::as_str))?;
        }
    }
    let names: Vec<&str> = rows().map(queue).collect();
    table.texts("queue", names.iter().copied())?;
    table.numbers("submit", rows().map(|row| row.submit.as_secs_f64()))?;
    if any(|row| row.waited.is_some()) {
        table.maybe("waited", rows().map(|row| seconds(row.waited)))?;
    }
    if any(|row| row.weight != 1) {
        table.numbers("weight", rows().map(|row| row.weight))?;
    }
    if any(|row| row.group > 0) {
        table.numbers("group", rows().map(|row| row.group))?;
    }
    if any(|row| row.about.stage > 0) {
        table.numbers("stage", rows().map(|row| row.about.stage))?;
    }
    table.numbers("tasks", rows().map(|row| row.tasks))?;
    table.numbers("duration", rows().map(|row| row.duration.as_secs_f64()))?;
    for kind in 0..kinds.len() {
        let scale = kinds.unit(kind).scale() as f64;
        let amount = rows().map(|row| row.about.demand.get(kind) as f64 / scale);
        table.numbers(kinds.name(kind), amount)?;
    }
    if any(|row| row.about.limit.is_some()) {
        table.maybe("limit", rows().map(|row| seconds(row.about.limit)))?;
    }
    if any(|row| row.about.checkpoint.is_some()) {
        table.maybe("checkpoint", rows().map(|row| seconds(row.about.checkpoint)))?;
    }
    if any(|row| row.about.gang.is_some()) {
        let gang = |row: &Row| row.about.gang.as_ref().map(|gang| f64::from(gang.least));
        table.maybe("gang", rows().map(gang))?;
    }
    if any(|row| row.about.gang.as_ref().is_some_and(|gang| gang.joint)) {
        let joint = |row: &Row| row.about.gang.as_ref().is_some_and(|gang| gang.joint);
        table.numbers("joint", rows().map(joint))?;
    }
    if any(|row| row.about.gang.as_ref().is_some_and(|gang| gang.same.is_some())) {
        let same = |row: &Row| row.about.gang.as_ref().and_then(|gang| gang.same.clone());
        let same: Vec<Option<String>> = rows().map(same).collect();
        table.maybe_texts("same", same.iter().map(Option::as_deref))?;
    }
    if any(|row| row.about.constraints.is_some()) {
        let form = |row: &Row| {
            let form = ConstraintsForm::of(row.about.constraints.as_ref()?);
            serde_json::to_string(&form).ok()
        };
        let forms: Vec<Option<String>> = rows().map(form).collect();
        table.maybe_texts("constraints", forms.iter().map(Option::as_deref))?;
    }
    Ok(())
}

/// Jobs that were handed over, as a trace of Meed's own form for a cluster of this scenario's
/// resources.
#[pyfunction]
pub(crate) fn trace_of<'py>(
    py: Python<'py>,
    jobs: PyRef<'py, PyJobs>,
    scenario: PyRef<'py, PyScenario>,
) -> PyResult<Bound<'py, PyBytes>> {
    let (given, kinds) = (jobs.given(), scenario.scenario.kinds().clone());
    let write = || {
        let mut source = given.open(&kinds)?;
        let mut writer = CanonicalWriter::new(Vec::new(), "jobs", &kinds, source.queues())?;
        while let Some(job) = source.next_job()? {
            writer.write(&job)?;
        }
        writer.into_inner()
    };
    let bytes = py.detach(write).map_err(|why| of_trace(&why))?;
    Ok(PyBytes::new(py, &bytes))
}

/// What stands in a cell of the column `constraints`.
pub(crate) fn constraints(text: &str) -> Result<Option<Box<Constraints>>, String> {
    let form: ConstraintsForm = serde_json::from_str(text).map_err(|why| why.to_string())?;
    form.read()
}

/// A document as a scenario is written, as JSON.
#[pyfunction]
pub(crate) fn document(text: &str) -> PyResult<String> {
    let value: toml::Value =
        toml::from_str(text).map_err(|why| input(format!("the scenario: {}", why.message())))?;
    serde_json::to_string(&value).map_err(|why| input(why.to_string()))
}
