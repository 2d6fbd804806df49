//! What is seen at a tick (`meed_sim::asked`) as arrays, and answers as ranks.
//!
//! Amounts are handed over in natural units and seconds, as floats: cores, bytes, core-seconds. A
//! tick is taken down without Python's lock, and may cross a thread before Python sees it.

use std::num::NonZeroU32;

use meed::Rank;
use meed_config::units::parse_span;
use meed_sim::asked::{Picture, QueuePicture, places};
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::input;
use crate::table::Table;

/// What stays as it is over a run.
pub(crate) struct Fixed {
    queues: Vec<String>,
    parents: Vec<i64>,
    leaf: Vec<bool>,
    resource: String,
    resources: Vec<String>,
    unit: u64,
}

impl Fixed {
    fn of(seen: &Picture<'_>) -> Fixed {
        let engine = seen.engine;
        let ids = || engine.queue_ids().skip(1);
        let measured = engine.measured();
        Fixed {
            queues: ids().map(|id| engine.queue_name(id).to_owned()).collect(),
            parents: seen.parents.iter().map(|one| one.map_or(-1, |at| at as i64)).collect(),
            leaf: ids().map(|id| engine.queue(id).is_leaf).collect(),
            resource: engine.kinds().name(measured).to_owned(),
            resources: engine.kinds().names().map(str::to_owned).collect(),
            unit: engine.kinds().unit(measured).scale(),
        }
    }

    fn told<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let told = PyDict::new(py);
        told.set_item("queues", self.queues.clone())?;
        told.set_item("parents", PyArray1::from_slice(py, &self.parents))?;
        told.set_item("leaf", PyArray1::from_slice(py, &self.leaf))?;
        told.set_item("resource", &self.resource)?;
        told.set_item("resources", self.resources.clone())?;
        told.set_item("unit", self.unit)?;
        Ok(told)
    }
}

/// A tick, taken down.
pub(crate) struct Seen {
    /// With the first of a run.
    fixed: Option<Fixed>,
    time: f64,
    elapsed: f64,
    job_seconds: f64,
    capacity: Vec<f64>,
    /// Smallest units in a natural one, by resource.
    units: Vec<f64>,
    measured: usize,
    queues: Vec<QueuePicture>,
}

impl Seen {
    /// Without what stays as it is, where that was told.
    pub(crate) fn of(seen: &Picture<'_>, is_first: bool) -> Seen {
        let engine = seen.engine;
        let kinds = engine.kinds();
        let units: Vec<f64> =
            (0..kinds.len()).map(|kind| kinds.unit(kind).scale() as f64).collect();
        let capacity = engine.capacity().as_slice().iter().zip(&units);
        Seen {
            fixed: is_first.then(|| Fixed::of(seen)),
            time: seen.at.as_secs_f64(),
            elapsed: seen.elapsed.as_secs_f64(),
            job_seconds: seen.job_micros as f64 / 1e6,
            capacity: capacity.map(|(&amount, unit)| amount as f64 / unit).collect(),
            measured: engine.measured(),
            units,
            queues: seen.queues.to_vec(),
        }
    }

    /// Its columns.
    pub(crate) fn told<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let table = Table::new(py);
        let (measured, unit) = (self.measured, self.units[self.measured]);
        let rows = || self.queues.iter();
        let used = |amount: u128| amount as f64 / unit / 1e6;
        table.numbers("weight", rows().map(|row| row.weight as f64 / 1000.0))?;
        table.numbers("share", rows().map(|row| row.share as f64 / unit))?;
        table.numbers("held", rows().map(|row| row.held[measured] as f64 / unit))?;
        table.numbers("wants", rows().map(|row| row.wants as f64 / unit))?;
        table.numbers("running", rows().map(|row| row.running as i64))?;
        table.numbers("waiting", rows().map(|row| row.waiting as i64))?;
        table.numbers("jobs", rows().map(|row| row.jobs as i64))?;
        table.numbers("used", rows().map(|row| used(row.used[measured])))?;
        table.numbers("lately", rows().map(|row| used(row.lately)))?;
        table.numbers("entitled", rows().map(|row| used(row.entitled)))?;
        table.numbers("removed", rows().map(|row| row.removed))?;
        let kinds = self.units.len();
        let flat = |of: &dyn Fn(&QueuePicture, usize) -> f64| -> PyResult<Bound<'py, PyAny>> {
            let each = rows().flat_map(|row| (0..kinds).map(move |kind| of(row, kind)));
            let all: Vec<f64> = each.collect();
            Ok(PyArray1::from_vec(py, all).reshape([self.queues.len(), kinds])?.into_any())
        };
        let told = table.done();
        told.set_item("all_held", flat(&|row, kind| row.held[kind] as f64 / self.units[kind])?)?;
        let all_used =
            |row: &QueuePicture, kind: usize| row.used[kind] as f64 / self.units[kind] / 1e6;
        told.set_item("all_used", flat(&all_used)?)?;
        told.set_item("time", self.time)?;
        told.set_item("elapsed", self.elapsed)?;
        told.set_item("job_seconds", self.job_seconds)?;
        told.set_item("capacity", PyArray1::from_slice(py, &self.capacity))?;
        match &self.fixed {
            Some(fixed) => told.set_item("fixed", fixed.told(py)?)?,
            None => told.set_item("fixed", py.None())?,
        }
        Ok(told)
    }
}

/// What was answered: checked by the package's other half (`_policy.py`), and again here.
#[derive(Clone)]
pub(crate) enum Answer {
    /// The smallest is served first.
    Keys(Vec<f64>),
    /// As they are told.
    Ranks(Vec<Rank>),
}

/// Columns of ranks, in the order of [`Rank`]'s fields.
type Columns<'py> = (
    PyReadonlyArray1<'py, u64>,
    PyReadonlyArray1<'py, u32>,
    PyReadonlyArray1<'py, u32>,
    PyReadonlyArray1<'py, u64>,
);

impl Answer {
    /// Of an array of keys, or a tuple of columns.
    pub(crate) fn of(answer: &Bound<'_, PyAny>) -> PyResult<Answer> {
        if let Ok(keys) = answer.cast::<PyArray1<f64>>() {
            let keys: Vec<f64> = keys.readonly().as_array().iter().copied().collect();
            return match keys.iter().any(|key| key.is_nan()) {
                true => Err(input("a key is not a number")),
                false => Ok(Answer::Keys(keys)),
            };
        }
        let (amount, step, per, quota): Columns<'_> = answer.extract()?;
        let (amount, step) = (amount.as_array(), step.as_array());
        let (per, quota) = (per.as_array(), quota.as_array());
        let each = amount.iter().zip(step).zip(per.iter().zip(quota));
        let rank = |((&amount, &step), (&per, &quota))| {
            let per = NonZeroU32::new(per).ok_or_else(|| input("a rank is divided by zero"))?;
            Ok(Rank { amount, step, per, quota })
        };
        Ok(Answer::Ranks(each.map(rank).collect::<PyResult<_>>()?))
    }

    /// Into ranks of so many queues; why it cannot be.
    pub(crate) fn tell(&self, seen: &Picture<'_>, ranks: &mut [Rank]) -> Result<(), String> {
        let given = match self {
            Answer::Keys(keys) => keys.len(),
            Answer::Ranks(ranks) => ranks.len(),
        };
        if given != ranks.len() {
            return Err(format!("there are {given} keys for {} queues", ranks.len()));
        }
        match self {
            Answer::Keys(keys) => places(keys, seen.parents, ranks),
            Answer::Ranks(told) => ranks.copy_from_slice(told),
        }
        Ok(())
    }
}

/// A cadence as people write it, in microseconds.
#[pyfunction]
pub(crate) fn cadence(text: &str) -> PyResult<u64> {
    let every = parse_span(text).map_err(|why| input(format!("every: {why}")))?;
    match every.as_micros() {
        0 => Err(input("every: a cadence is above zero; None asks at each instant")),
        micros => Ok(micros),
    }
}
