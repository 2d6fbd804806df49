//! Jobs in columns: a frame of pandas, polars or Arrow, or a dict of numpy arrays.
//!
//! A row is a job, of equal tasks of one stage. Of a frame that `meed.read` gave, rows with one
//! `number` are a job, and those of one `group` of it tasks that differ in run time alone. Columns
//! are read where they stand, each time that a run comes to a row. Kept besides are the order of
//! rows by submission (8 bytes a row) and the number of each row's queue (4 bytes). Rows that can
//! be no job are refused with their number: to leave rows out is the frame's business, where it
//! shows.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BooleanArray, DurationMicrosecondArray, Float64Array, Int64Array, RecordBatch,
    StringArray, TimestampMicrosecondArray,
};
use meed::{Gang, ResourceKinds, Resources, Span, Time};
use meed_config::quantity::Quantity;
use meed_config::units::parse_amount;
use meed_config::words::did_you_mean;
use meed_scenario::GivenJobs;
use meed_workload::{
    Durations, Job, JobGroup, JobLabel, JobSource, MAX_TASKS, SourceCounts, TraceError,
};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use crate::arrow::batches;
use crate::columns::{Cells, Names, Numbered, instants, scaled, spans, whole};
use crate::error::input;
use crate::read::constraints;

/// What messages call the rows.
const FILE: &str = "jobs";
/// A missing time in numpy.
const NOT_A_TIME: i64 = i64::MIN;

/// Jobs in columns.
#[pyclass(frozen, name = "Jobs", module = "meed._native")]
pub(crate) struct PyJobs {
    frame: Arc<Frame>,
}

impl PyJobs {
    pub(crate) fn given(&self) -> Arc<dyn GivenJobs> {
        Arc::new(Given(Arc::clone(&self.frame)))
    }
}

/// A column's name, or one amount for all rows.
#[derive(FromPyObject)]
enum Demand {
    Whole(i64),
    Fraction(f64),
    Text(String),
}

/// A column of Python's own, by what is in it.
pub(crate) type Column<'py> = (String, String, Bound<'py, PyAny>);

#[pymethods]
impl PyJobs {
    /// From what has `__arrow_c_stream__`.
    #[staticmethod]
    fn of_arrow(
        frame: &Bound<'_, PyAny>,
        columns: BTreeMap<String, String>,
        demand: Option<BTreeMap<String, Demand>>,
    ) -> PyResult<PyJobs> {
        let batches = batches(frame)?;
        PyJobs::of_batches(frame.py(), batches, &columns, demand)
    }

    /// From columns of numbers, texts, instants and durations.
    #[staticmethod]
    fn of_arrays(
        py: Python<'_>,
        arrays: Vec<Column<'_>>,
        columns: BTreeMap<String, String>,
        demand: Option<BTreeMap<String, Demand>>,
    ) -> PyResult<PyJobs> {
        PyJobs::of_batches(py, vec![batch_of(&arrays)?], &columns, demand)
    }

    /// Names of tenants, in order of their first appearance.
    #[getter]
    fn queues(&self) -> Vec<&str> {
        self.frame.queues.iter().map(String::as_str).collect()
    }

    fn __len__(&self) -> usize {
        self.frame.len()
    }
}

impl PyJobs {
    fn of_batches(
        py: Python<'_>,
        batches: Vec<RecordBatch>,
        columns: &BTreeMap<String, String>,
        demand: Option<BTreeMap<String, Demand>>,
    ) -> PyResult<PyJobs> {
        let read = || Frame::read(batches, columns, demand);
        let frame = py.detach(read).map_err(|why| input(format!("{FILE}: {why}")))?;
        Ok(PyJobs { frame: Arc::new(frame) })
    }
}

/// Columns of numpy's as a batch.
pub(crate) fn batch_of(arrays: &[Column<'_>]) -> PyResult<RecordBatch> {
    let arrays = arrays.iter().map(|(name, kind, array)| Ok((name, array_of(kind, array)?)));
    let arrays = arrays.collect::<PyResult<Vec<_>>>()?;
    RecordBatch::try_from_iter(arrays)
        .map_err(|why| input(format!("{FILE}: columns differ in length: {why}")))
}

/// A column of numpy's, copied: whoever has it may change it while a run reads.
fn array_of(kind: &str, array: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    let whole = |array: &Bound<'_, PyAny>| -> PyResult<Vec<i64>> {
        Ok(array.extract::<PyReadonlyArray1<'_, i64>>()?.as_array().to_vec())
    };
    let times = |array: &Bound<'_, PyAny>| -> PyResult<Vec<Option<i64>>> {
        let known = |micros: i64| (micros != NOT_A_TIME).then_some(micros);
        Ok(whole(array)?.into_iter().map(known).collect())
    };
    Ok(match kind {
        "whole" => Arc::new(Int64Array::from(whole(array)?)),
        "real" => {
            let array = array.extract::<PyReadonlyArray1<'_, f64>>()?;
            Arc::new(Float64Array::from(array.as_array().to_vec()))
        }
        // Of a table of results: what is not a number is missing.
        "number" => {
            let array = array.extract::<PyReadonlyArray1<'_, f64>>()?;
            let known = |number: &f64| Some(*number).filter(|number| !number.is_nan());
            Arc::new(array.as_array().iter().map(known).collect::<Float64Array>())
        }
        "truth" => {
            let truths = whole(array)?.into_iter().map(|truth| Some(truth != 0));
            Arc::new(truths.collect::<BooleanArray>())
        }
        "instant" => Arc::new(TimestampMicrosecondArray::from(times(array)?)),
        "span" => Arc::new(DurationMicrosecondArray::from(times(array)?)),
        _ => Arc::new(StringArray::from(array.extract::<Vec<Option<String>>>()?)),
    })
}

/// Columns of one batch, ready to be read.
struct Batch {
    columns: BTreeMap<String, ArrayRef>,
    queue_of: Vec<u32>,
    submit: Cells<i128>,
    duration: Cells<i128>,
    tasks: Option<Cells<i128>>,
    weight: Option<Cells<i128>>,
    limit: Option<Cells<i128>>,
    name: Option<Names>,
    /// Of a frame that `meed.read` gave.
    parts: Option<Parts>,
    /// Number of its first row.
    first: u64,
}

/// What tells rows of one job, and says more of their tasks.
struct Parts {
    number: Cells<i128>,
    group: Option<Cells<i128>>,
    stage: Option<Cells<i128>>,
    checkpoint: Option<Cells<i128>>,
    gang: Option<Cells<i128>>,
    joint: Option<Cells<i128>>,
    same: Option<Names>,
    constraints: Option<Names>,
}

struct Frame {
    batches: Vec<Batch>,
    /// Batch and row of each job, by submission; rows of one job one after the other.
    order: Vec<(u32, u32)>,
    /// Where rows of the next job begin, for jobs of several rows.
    ends: Option<Vec<usize>>,
    queues: Vec<String>,
    /// What the clock of the run begins at, in the frame's microseconds.
    origin: i128,
    demand: Option<BTreeMap<String, Demand>>,
    /// Columns that say something else than an amount.
    taken: Vec<String>,
    columns: Vec<String>,
}

/// What must be, and what may be, in a frame: our name, and other names that are taken for it.
const MUST: [(&str, &[&str]); 3] =
    [("queue", &["tenant", "user"]), ("submit", &[]), ("duration", &[])];
const MAY: [(&str, &[&str]); 4] =
    [("tasks", &[]), ("weight", &[]), ("limit", &[]), ("name", &["job"])];
/// What only a frame has that `meed.read` gave: it is told by the first.
const PARTS: [&str; 8] =
    ["number", "group", "stage", "checkpoint", "gang", "joint", "same", "constraints"];

impl Frame {
    fn read(
        batches: Vec<RecordBatch>,
        said: &BTreeMap<String, String>,
        demand: Option<BTreeMap<String, Demand>>,
    ) -> Result<Frame, String> {
        let Some(schema) = batches.first().map(RecordBatch::schema) else {
            return Err("there are no rows".to_owned());
        };
        let columns: Vec<String> =
            schema.fields().iter().map(|field| field.name().clone()).collect();
        let mut found = found(&columns, said)?;
        if columns.iter().any(|column| column == PARTS[0]) {
            let parts = PARTS.iter().filter(|part| columns.iter().any(|column| column == *part));
            found.extend(parts.map(|part| ((*part).to_owned(), (*part).to_owned())));
        }
        let mut queues = Numbered::default();
        let (mut read, mut order, mut are_dates) = (Vec::new(), Vec::new(), false);
        let mut jobs: BTreeMap<i128, (i128, u64)> = BTreeMap::new();
        let mut first = 0;
        for batch in batches {
            let rows = batch.num_rows();
            let batch = Batch::read(&batch, &found, &mut queues, first, &mut are_dates)?;
            for row in 0..rows {
                let micros = (batch.submit)(row)
                    .ok_or_else(|| batch.wrong(row, &found["submit"], "is missing"))?;
                let own = order.len() as u64;
                let job = match &batch.parts {
                    None => (micros, own),
                    Some(parts) => {
                        let number = (parts.number)(row)
                            .ok_or_else(|| batch.wrong(row, PARTS[0], "is missing"))?;
                        *jobs.entry(number).or_insert((micros, own))
                    }
                };
                order.push((job, read.len() as u32, row as u32));
            }
            first += rows as u64;
            read.push(batch);
        }
        // Stable: rows of equal times stay in the frame's order, and rows of a job together.
        order.sort_by_key(|(job, _, _)| *job);
        let Some(((earliest, _), _, _)) = order.first() else {
            return Err("there are no rows".to_owned());
        };
        let origin = if are_dates { *earliest } else { 0 };
        let ends = (!jobs.is_empty()).then(|| {
            let new = |at: &usize| order.get(*at).is_none_or(|row| row.0 != order[*at - 1].0);
            (1..=order.len()).filter(new).collect()
        });
        let places = order.iter().map(|(_, batch, row)| (*batch, *row)).collect();
        let taken = found.into_values().collect();
        let queues = queues.names;
        Ok(Frame { batches: read, order: places, ends, queues, origin, demand, taken, columns })
    }

    /// Where amounts of each resource stand.
    fn amounts(&self, kinds: &ResourceKinds) -> Result<Vec<Amounts>, String> {
        let known = || kinds.names().collect::<Vec<_>>().join(", ");
        let mut amounts = Vec::new();
        match &self.demand {
            Some(demand) => {
                for (resource, demand) in demand {
                    let Some(kind) = kinds.find(resource) else {
                        let near = did_you_mean(resource, kinds.names()).unwrap_or_default();
                        let what = format!(
                            "demand: unknown resource `{resource}`; the cluster has {}. {near}",
                            known()
                        );
                        return Err(what.trim_end().to_owned());
                    };
                    amounts.push(self.amount(kinds, kind, demand)?);
                }
            }
            None => {
                for kind in 0..kinds.len() {
                    let name = kinds.name(kind);
                    if self.columns.iter().any(|column| column == name)
                        && !self.taken.iter().any(|column| column == name)
                    {
                        amounts.push(self.column(kinds, kind, name)?);
                    }
                }
            }
        }
        match amounts.is_empty() {
            false => Ok(amounts),
            true => Err(format!(
                "no column is called as a resource of the cluster ({}); say what a task holds, as \
                 in demand={{\"{}\": \"cores\"}} for a column, or 1 for all rows",
                known(),
                kinds.name(0)
            )),
        }
    }

    fn amount(
        &self,
        kinds: &ResourceKinds,
        kind: usize,
        demand: &Demand,
    ) -> Result<Amounts, String> {
        let (quantity, or_column) = match demand {
            Demand::Text(name) if self.columns.contains(name) => {
                return self.column(kinds, kind, name);
            }
            Demand::Text(text) => (Quantity::Text(text.clone()), "; nor is there such a column"),
            Demand::Whole(number) => (Quantity::Whole(*number), ""),
            Demand::Fraction(number) => (Quantity::Fraction(*number), ""),
        };
        let read = parse_amount(&quantity.text(), kinds.unit(kind));
        let amount =
            read.map_err(|why| format!("demand: `{}`: {why}{or_column}", kinds.name(kind)))?;
        Ok(Amounts { kind, name: String::new(), held: Held::Same(amount) })
    }

    fn column(&self, kinds: &ResourceKinds, kind: usize, name: &str) -> Result<Amounts, String> {
        let scale = kinds.unit(kind).scale();
        let read = |batch: &Batch| {
            let column = &batch.columns[name];
            scaled(column, scale).ok_or_else(|| not_of(name, column, "numbers"))
        };
        let cells = self.batches.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        Ok(Amounts { kind, name: name.to_owned(), held: Held::Each(cells) })
    }

    /// Number of jobs.
    fn len(&self) -> usize {
        self.ends.as_ref().map_or(self.order.len(), Vec::len)
    }

    /// The rows of a job.
    fn rows(&self, job: usize) -> &[(u32, u32)] {
        match &self.ends {
            None => &self.order[job..=job],
            Some(ends) => {
                let from = job.checked_sub(1).map_or(0, |before| ends[before]);
                &self.order[from..ends[job]]
            }
        }
    }

    fn job(&self, job: usize, amounts: &[Amounts], kinds: usize) -> Result<Job, String> {
        let rows = self.rows(job);
        let (batch, row) = (&self.batches[rows[0].0 as usize], rows[0].1 as usize);
        let since = (batch.submit)(row).unwrap_or_default() - self.origin;
        let mut groups: Vec<(Option<i128>, JobGroup)> = Vec::new();
        for &(number, row) in rows {
            let (batch, row) = (&self.batches[number as usize], row as usize);
            let group = batch.group(row, number as usize, amounts, kinds)?;
            let own = batch.parts.as_ref().and_then(|parts| parts.group.as_ref()?(row));
            match groups.last_mut() {
                Some((before, last)) if own.is_some() && *before == own => join(last, &group),
                _ => groups.push((own, group)),
            }
        }
        let job = Job {
            label: batch.label(row),
            queue: batch.queue_of[row],
            submit: Time::ZERO.saturating_add(span("submit", since)?),
            weight: count("weight", &batch.weight, row, 1_000_000)?,
            chain: None,
            groups: groups.into_iter().map(|(_, group)| group).collect(),
        };
        job.check(self.queues.len(), kinds)?;
        Ok(job)
    }
}

/// `more` tasks of the same group, of another run time.
fn join(group: &mut JobGroup, more: &JobGroup) {
    let of = |group: &JobGroup| -> Vec<Span> {
        (0..group.count).map(|task| group.duration.get(task)).collect()
    };
    let all = [of(group), of(more)].concat();
    group.count = group.count.saturating_add(more.count);
    group.duration = Durations::Each(all.into());
}

fn span(what: &str, micros: i128) -> Result<Span, String> {
    u64::try_from(micros)
        .ok()
        .and_then(Span::from_micros)
        .ok_or_else(|| format!("{what} is {} s; it must be 0 to 285 years", secs(micros)))
}

/// What need not be there.
fn maybe_span(what: &str, cells: Option<&Cells<i128>>, row: usize) -> Result<Option<Span>, String> {
    let micros = cells.and_then(|cells| cells(row));
    micros.map(|micros| span(what, micros)).transpose()
}

/// A number of things: one, where there is no column.
fn count(what: &str, cells: &Option<Cells<i128>>, row: usize, most: u32) -> Result<u32, String> {
    let Some(cells) = cells else { return Ok(1) };
    let number = cells(row).ok_or_else(|| format!("{what} is missing"))?;
    u32::try_from(number)
        .ok()
        .filter(|number| (1..=most).contains(number))
        .ok_or_else(|| format!("{what} is {number}; it must be 1 to {most}"))
}

fn secs(micros: i128) -> f64 {
    micros as f64 / 1e6
}

/// The column for each thing: as somebody says, or by its name.
fn found(
    columns: &[String],
    said: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, String> {
    let has = |name: &str| columns.iter().any(|column| column == name);
    let near = |name: &str| {
        let near = did_you_mean(name, columns.iter().map(String::as_str));
        near.unwrap_or_else(|| format!("there are {}", columns.join(", ")))
    };
    let mut found = BTreeMap::new();
    for (number, (thing, others)) in MUST.iter().chain(&MAY).enumerate() {
        let column = match said.get(*thing) {
            Some(name) if has(name) => Some(name.as_str()),
            Some(name) => {
                return Err(format!("{thing}: there is no column `{name}`; {}", near(name)));
            }
            None => std::iter::once(thing).chain(others.iter()).copied().find(|name| has(name)),
        };
        match column {
            Some(column) => {
                found.insert((*thing).to_owned(), column.to_owned());
            }
            None if number < MUST.len() => {
                return Err(format!(
                    "there is no column `{thing}`; name another, as in {thing}=\"...\"; {}",
                    near(thing)
                ));
            }
            None => {}
        }
    }
    Ok(found)
}

fn not_of(name: &str, column: &ArrayRef, what: &str) -> String {
    format!("column `{name}` is of type {}; it must hold {what}", column.data_type())
}

impl Batch {
    fn read(
        batch: &RecordBatch,
        found: &BTreeMap<String, String>,
        queues: &mut Numbered,
        first: u64,
        are_dates: &mut bool,
    ) -> Result<Batch, String> {
        let fields = batch.schema();
        let columns: BTreeMap<String, ArrayRef> = (fields.fields().iter())
            .zip(batch.columns())
            .map(|(field, column)| (field.name().clone(), Arc::clone(column)))
            .collect();
        let column = |thing: &str| found.get(thing).map(|name| (name, &columns[name]));
        let must = |thing: &str| column(thing).ok_or_else(|| format!("no column `{thing}`"));
        let numbers = |thing: &str, read: fn(&ArrayRef) -> Option<Cells<i128>>, what: &str| {
            let read = |(name, column): (&String, &ArrayRef)| {
                read(column).ok_or_else(|| not_of(name, column, what))
            };
            column(thing).map(read).transpose()
        };
        let durations = "seconds, or durations";
        let (name, cells) = must("submit")?;
        let submit = instants(cells)
            .ok_or_else(|| not_of(name, cells, "seconds, or times of a calendar"))?;
        *are_dates |= submit.are_dates;
        let (name, cells) = must("duration")?;
        let duration = spans(cells).ok_or_else(|| not_of(name, cells, durations))?;
        let names = |(name, column): (&String, &ArrayRef)| {
            Names::of(column).ok_or_else(|| not_of(name, column, "texts or whole numbers"))
        };
        let queue = names(must("queue")?)?;
        let mut read = Batch {
            queue_of: Vec::with_capacity(batch.num_rows()),
            submit: submit.cells,
            duration,
            tasks: numbers("tasks", whole, "whole numbers")?,
            weight: numbers("weight", whole, "whole numbers")?,
            limit: numbers("limit", spans, durations)?,
            name: column("name").map(names).transpose()?,
            parts: column(PARTS[0]).map(|_| Parts::read(&columns)).transpose()?,
            columns: columns.clone(),
            first,
        };
        for row in 0..batch.num_rows() {
            let number = queue.look(row, |name| queues.number(name));
            let number = number.ok_or_else(|| read.wrong(row, &found["queue"], "is missing"))?;
            read.queue_of.push(number);
        }
        Ok(read)
    }

    /// The tasks of a row; `number` is that of the batch.
    fn group(
        &self,
        row: usize,
        number: usize,
        amounts: &[Amounts],
        kinds: usize,
    ) -> Result<JobGroup, String> {
        let duration = (self.duration)(row).ok_or("duration is missing")?;
        let duration = Durations::Same(span("duration", duration)?);
        let mut demand = Resources::zero(kinds);
        for amount in amounts {
            demand.as_mut_slice()[amount.kind] = amount.of(number, row)?;
        }
        let tasks = count("tasks", &self.tasks, row, MAX_TASKS)?;
        // Not every job need have one.
        let limit = maybe_span("limit", self.limit.as_ref(), row)?;
        let mut group = JobGroup { limit, ..JobGroup::new(tasks, demand, duration) };
        if let Some(parts) = &self.parts {
            parts.add(row, &mut group)?;
        }
        Ok(group)
    }

    fn wrong(&self, row: usize, column: &str, what: &str) -> String {
        format!("row {} (counted from 0): `{column}` {what}", self.first + row as u64)
    }

    fn label(&self, row: usize) -> JobLabel {
        let number = self.first + row as u64;
        let Some(names) = &self.name else { return JobLabel::Number(number) };
        if let Some(number) = names.number(row) {
            return JobLabel::Number(number);
        }
        let name = names.look(row, |name| JobLabel::Name(name.into()));
        name.unwrap_or(JobLabel::Number(number))
    }
}

impl Parts {
    fn read(columns: &BTreeMap<String, ArrayRef>) -> Result<Parts, String> {
        let numbers = |name: &str, scale: u64| match columns.get(name) {
            None => Ok(None),
            Some(column) => match scaled(column, scale) {
                None => Err(not_of(name, column, "numbers")),
                cells => Ok(cells),
            },
        };
        let texts = |name: &str| match columns.get(name) {
            None => Ok(None),
            Some(column) => match Names::of(column) {
                None => Err(not_of(name, column, "texts")),
                names => Ok(names),
            },
        };
        Ok(Parts {
            number: numbers(PARTS[0], 1)?.ok_or("no column `number`")?,
            group: numbers("group", 1)?,
            stage: numbers("stage", 1)?,
            checkpoint: numbers("checkpoint", 1_000_000)?,
            gang: numbers("gang", 1)?,
            joint: numbers("joint", 1)?,
            same: texts("same")?,
            constraints: texts("constraints")?,
        })
    }

    /// What these say of the tasks of a row.
    fn add(&self, row: usize, group: &mut JobGroup) -> Result<(), String> {
        let number = |cells: &Option<Cells<i128>>| cells.as_ref().and_then(|cells| cells(row));
        let text = |names: &Option<Names>| {
            let names = names.as_ref()?;
            names.look(row, str::to_owned).filter(|text| !text.is_empty())
        };
        let stage = number(&self.stage).unwrap_or_default();
        group.stage =
            u16::try_from(stage).map_err(|_| format!("stage is {stage}; it must be 0 to 65535"))?;
        group.checkpoint = maybe_span("checkpoint", self.checkpoint.as_ref(), row)?;
        let gang = number(&self.gang).map(|least| {
            let least = u32::try_from(least).map_err(|_| format!("gang is {least}"))?;
            let joint = number(&self.joint).is_some_and(|joint| joint != 0);
            Ok::<_, String>(Box::new(Gang { least, joint, same: text(&self.same) }))
        });
        group.gang = gang.transpose()?;
        let constraints = text(&self.constraints).map(|form| constraints(&form)).transpose();
        group.constraints = constraints.map_err(|why| format!("constraints: {why}"))?.flatten();
        Ok(())
    }
}

/// Amounts of one resource.
struct Amounts {
    kind: usize,
    /// Of the column.
    name: String,
    held: Held,
}

enum Held {
    Same(u64),
    /// A column, batch by batch.
    Each(Vec<Cells<i128>>),
}

impl Amounts {
    fn of(&self, batch: usize, row: usize) -> Result<u64, String> {
        let cells = match &self.held {
            Held::Same(amount) => return Ok(*amount),
            Held::Each(cells) => &cells[batch],
        };
        let name = &self.name;
        let amount = cells(row).ok_or_else(|| format!("`{name}` is missing"))?;
        u64::try_from(amount).map_err(|_| format!("`{name}` is below 0, or too large"))
    }
}

/// The frame as a scenario takes it.
struct Given(Arc<Frame>);

impl GivenJobs for Given {
    fn open(&self, kinds: &ResourceKinds) -> Result<Box<dyn JobSource + Send>, TraceError> {
        let settings = |why| TraceError::Settings { what: FILE.to_owned(), why };
        let amounts = self.0.amounts(kinds).map_err(settings)?;
        let (frame, kinds) = (Arc::clone(&self.0), kinds.len());
        Ok(Box::new(Rows { frame, amounts, kinds, next: 0 }))
    }
}

/// Row after row, by submission.
struct Rows {
    frame: Arc<Frame>,
    amounts: Vec<Amounts>,
    kinds: usize,
    next: usize,
}

impl JobSource for Rows {
    fn queues(&self) -> &[String] {
        &self.frame.queues
    }

    fn next_job(&mut self) -> Result<Option<Job>, TraceError> {
        if self.next >= self.frame.len() {
            return Ok(None);
        }
        let (batch, row) = self.frame.rows(self.next)[0];
        let job = self.frame.job(self.next, &self.amounts, self.kinds);
        self.next += 1;
        job.map(Some).map_err(|why| {
            let row = self.frame.batches[batch as usize].first + u64::from(row);
            TraceError::Settings { what: format!("{FILE}: row {row} (counted from 0)"), why }
        })
    }

    fn counts(&self) -> SourceCounts {
        SourceCounts { jobs: self.next as u64, ..SourceCounts::default() }
    }

    fn progress(&self) -> Option<f64> {
        Some(self.next as f64 / self.frame.len().max(1) as f64)
    }
}
