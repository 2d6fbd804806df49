//! Python's values as those of a scenario file: dicts, lists, numbers, texts, and durations as
//! `datetime.timedelta`.
//!
//! numpy's scalars and arrays are taken as what they hold (`tolist`). `None` in a dict is a key
//! that is not there. What has no form in a scenario is refused, with the way to it.

use meed::Span;
use meed_config::units::format_span;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};
use toml::Value;

use crate::error::input;

/// Deeper data hold themselves.
const DEEPEST: usize = 64;

/// The data of a scenario; messages call them `name`.
pub(crate) fn read(name: &str, object: &Bound<'_, PyAny>) -> PyResult<Value> {
    let mut way = Vec::new();
    value(object, &mut way).map_err(|failed| match failed {
        Failed::Raised(error) => error,
        Failed::Refused(what) if way.is_empty() => input(format!("{name}: {what}")),
        Failed::Refused(what) => input(format!("{name}: `{}` {what}", way.join("."))),
    })
}

enum Failed {
    Refused(String),
    Raised(PyErr),
}

impl From<PyErr> for Failed {
    fn from(error: PyErr) -> Failed {
        Failed::Raised(error)
    }
}

/// Where it fails, `way` is left at what failed.
fn value(object: &Bound<'_, PyAny>, way: &mut Vec<String>) -> Result<Value, Failed> {
    let refused = |what: String| Err(Failed::Refused(what));
    if way.len() > DEEPEST {
        return refused("is too deep: does it hold itself?".to_owned());
    }
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(Value::String(text.to_str()?.to_owned()));
    }
    // A bool is an int in Python.
    if object.is_instance_of::<PyBool>() {
        return Ok(Value::Boolean(object.extract()?));
    }
    if object.is_instance_of::<PyInt>() {
        return match object.extract() {
            Ok(number) => Ok(Value::Integer(number)),
            Err(_) => refused(format!("is {object}; whole numbers end at 2^63")),
        };
    }
    if object.is_instance_of::<PyFloat>() {
        return Ok(Value::Float(object.extract()?));
    }
    if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
        return list(object, way);
    }
    if let Ok(mapping) = object.cast::<PyMapping>() {
        return table(mapping, way);
    }
    other(object, way)
}

fn list(object: &Bound<'_, PyAny>, way: &mut Vec<String>) -> Result<Value, Failed> {
    let mut values = Vec::new();
    for (number, item) in object.try_iter()?.enumerate() {
        way.push(number.to_string());
        let item = item?;
        if item.is_none() {
            return Err(Failed::Refused("is None; a list has no gaps".to_owned()));
        }
        values.push(value(&item, way)?);
        way.pop();
    }
    Ok(Value::Array(values))
}

fn table(mapping: &Bound<'_, PyMapping>, way: &mut Vec<String>) -> Result<Value, Failed> {
    let mut table = toml::Table::new();
    let put = |key: &Bound<'_, PyAny>, item: &Bound<'_, PyAny>| -> Result<_, Failed> {
        let Ok(key) = key.extract::<String>() else {
            return Err(Failed::Refused(format!("has the key {key:?}; keys are text")));
        };
        way.push(key.clone());
        if !item.is_none() {
            table.insert(key, value(item, way)?);
        }
        way.pop();
        Ok(())
    };
    let mut put = put;
    match mapping.cast::<PyDict>() {
        Ok(dict) => dict.iter().try_for_each(|(key, item)| put(&key, &item))?,
        Err(_) => {
            for pair in mapping.items()?.iter() {
                let (key, item) = pair.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
                put(&key, &item)?;
            }
        }
    }
    Ok(Value::Table(table))
}

/// Durations, paths, and what numpy has.
fn other(object: &Bound<'_, PyAny>, way: &mut Vec<String>) -> Result<Value, Failed> {
    let refused = |what: String| Err(Failed::Refused(what));
    if object.hasattr("total_seconds")? && object.hasattr("microseconds")? {
        let part = |name: &str| object.getattr(name)?.extract::<i64>();
        let (days, seconds, micros) = (part("days")?, part("seconds")?, part("microseconds")?);
        let micros = (days.saturating_mul(86_400).saturating_add(seconds))
            .saturating_mul(1_000_000)
            .saturating_add(micros);
        let span = u64::try_from(micros).ok().and_then(Span::from_micros);
        return match span {
            Some(span) => Ok(Value::String(format_span(span))),
            None => refused(format!("is {object}; durations are 0 to 285 years")),
        };
    }
    if object.hasattr("dtype")? && object.hasattr("tolist")? {
        let kind = object.getattr("dtype")?.getattr("kind")?.extract::<String>()?;
        let plain = match kind.as_str() {
            "m" => object.call_method1("astype", ("timedelta64[us]",))?.call_method0("tolist")?,
            "b" | "i" | "u" | "f" | "U" | "O" => object.call_method0("tolist")?,
            _ => return refused(format!("has numpy's type {}", object.getattr("dtype")?)),
        };
        return value(&plain, way);
    }
    if object.hasattr("__fspath__")? {
        return Ok(Value::String(object.call_method0("__fspath__")?.extract()?));
    }
    refused(format!(
        "is of type {}; a scenario holds dicts, lists, texts, numbers, truth values and timedeltas",
        object.get_type().name()?
    ))
}
