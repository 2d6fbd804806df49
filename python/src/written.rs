//! A frame as the text of a table: what the reader of tables then guesses and reads is what it
//! would of a file with these columns.
//!
//! Numbers are written as they are, times of a calendar as dates (in UTC where they have a zone),
//! durations in ISO 8601; what is missing is empty. Columns of lists and other things inside things
//! are left out: no table has them.

use std::fmt::Write;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::DataType;
use meed_workload::table::format_date;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::arrow::batches;
use crate::columns::{Names, instants, spans, whole};
use crate::error::input;
use crate::jobs::{Column, batch_of};

/// The table of what has `__arrow_c_stream__`.
#[pyfunction]
pub(crate) fn table_of_arrow<'py>(
    py: Python<'py>,
    frame: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyBytes>> {
    let batches = batches(frame)?;
    let text = py.detach(|| text_of(&batches)).map_err(|why| input(format!("jobs: {why}")))?;
    Ok(PyBytes::new(py, text.as_bytes()))
}

/// The table of columns of numpy's.
#[pyfunction]
pub(crate) fn table_of_arrays<'py>(
    py: Python<'py>,
    arrays: Vec<Column<'py>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let batch = batch_of(&arrays)?;
    let text = py.detach(|| text_of(&[batch])).map_err(|why| input(format!("jobs: {why}")))?;
    Ok(PyBytes::new(py, text.as_bytes()))
}

/// Writes the cell of a row; nothing where there is none.
type Cell = Box<dyn Fn(usize, &mut String)>;

fn text_of(batches: &[RecordBatch]) -> Result<String, String> {
    let Some(schema) = batches.first().map(RecordBatch::schema) else {
        return Err("there are no rows".to_owned());
    };
    let first = batches[0].columns();
    let kept: Vec<usize> = (0..first.len()).filter(|at| cell(&first[*at]).is_some()).collect();
    if kept.is_empty() {
        return Err("no column holds numbers, times or texts".to_owned());
    }
    let mut text = String::new();
    for (place, at) in kept.iter().enumerate() {
        separate(place, &mut text);
        quoted(schema.field(*at).name(), &mut text);
    }
    text.push('\n');
    for batch in batches {
        let cells: Vec<Cell> = kept.iter().filter_map(|at| cell(batch.column(*at))).collect();
        for row in 0..batch.num_rows() {
            let before = text.len();
            for (place, cell) in cells.iter().enumerate() {
                separate(place, &mut text);
                cell(row, &mut text);
            }
            // An empty line is no row to a reader of tables.
            if text.len() == before {
                text.push_str("\"\"");
            }
            text.push('\n');
        }
    }
    Ok(text)
}

fn separate(place: usize, text: &mut String) {
    if place > 0 {
        text.push(',');
    }
}

fn quoted(value: &str, text: &mut String) {
    match value.contains([',', '"', '\n', '\r', ';', '\t', '|']) {
        false => text.push_str(value),
        true => {
            text.push('"');
            text.push_str(&value.replace('"', "\"\""));
            text.push('"');
        }
    }
}

fn cell(column: &ArrayRef) -> Option<Cell> {
    match column.data_type() {
        DataType::Float32 => {
            let numbers = column.as_primitive::<Float32Type>().clone();
            let of = move |row: usize| numbers.is_valid(row).then(|| f64::from(numbers.value(row)));
            Some(real(of))
        }
        DataType::Float64 => {
            let numbers = column.as_primitive::<Float64Type>().clone();
            Some(real(move |row| numbers.is_valid(row).then(|| numbers.value(row))))
        }
        DataType::Timestamp(_, zone) => {
            let has_zone = zone.is_some();
            let times = instants(column)?.cells;
            Some(Box::new(move |row, text| {
                let micros = times(row).and_then(|micros| u64::try_from(micros).ok());
                let date = micros.map(format_date).unwrap_or_default();
                // Without a zone it is one of the table's.
                text.push_str(if has_zone { &date } else { date.trim_end_matches('Z') });
            }))
        }
        DataType::Date32 => {
            let times = instants(column)?.cells;
            Some(Box::new(move |row, text| {
                let micros = times(row).and_then(|micros| u64::try_from(micros).ok());
                let date = micros.map(format_date).unwrap_or_default();
                text.push_str(date.get(..10).unwrap_or_default());
            }))
        }
        DataType::Duration(_) => {
            let spans = spans(column)?;
            Some(Box::new(move |row, text| {
                if let Some(micros) = spans(row) {
                    let sign = if micros < 0 { "-" } else { "" };
                    let (seconds, rest) = (micros.abs() / 1_000_000, micros.abs() % 1_000_000);
                    let _ = write!(text, "{sign}PT{seconds}.{rest:06}S");
                }
            }))
        }
        DataType::Boolean => {
            let values = column.as_boolean().clone();
            Some(Box::new(move |row, text| {
                if values.is_valid(row) {
                    text.push_str(if values.value(row) { "1" } else { "0" });
                }
            }))
        }
        _ => match whole(column) {
            Some(numbers) => Some(Box::new(move |row, text| {
                if let Some(number) = numbers(row) {
                    let _ = write!(text, "{number}");
                }
            })),
            None => {
                let names = Names::of(column)?;
                Some(Box::new(move |row, text| {
                    names.look(row, |name| quoted(name, text));
                }))
            }
        },
    }
}

/// As short as it can be, and not a number as what is missing.
fn real(of: impl Fn(usize) -> Option<f64> + 'static) -> Cell {
    Box::new(move |row, text| {
        if let Some(number) = of(row).filter(|number| number.is_finite()) {
            let _ = write!(text, "{number}");
        }
    })
}
