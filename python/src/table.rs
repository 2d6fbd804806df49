//! Tables for Python: a dict of numpy arrays of equal length.
//!
//! Numbers are handed over without a copy (the vector becomes the array's memory). A name is one
//! Python string, however often it stands in a column.

use std::collections::BTreeMap;

use numpy::{Element, PyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

pub(crate) struct Table<'py> {
    py: Python<'py>,
    columns: Bound<'py, PyDict>,
}

impl<'py> Table<'py> {
    pub(crate) fn new(py: Python<'py>) -> Table<'py> {
        Table { py, columns: PyDict::new(py) }
    }

    pub(crate) fn done(self) -> Bound<'py, PyDict> {
        self.columns
    }

    pub(crate) fn numbers<T: Element>(
        &self,
        name: &str,
        values: impl IntoIterator<Item = T>,
    ) -> PyResult<()> {
        let values: Vec<T> = values.into_iter().collect();
        self.columns.set_item(name, PyArray1::from_vec(self.py, values))
    }

    /// What does not exist is not a number.
    pub(crate) fn maybe(
        &self,
        name: &str,
        values: impl IntoIterator<Item = Option<f64>>,
    ) -> PyResult<()> {
        self.numbers(name, values.into_iter().map(|value| value.unwrap_or(f64::NAN)))
    }

    pub(crate) fn texts<'a>(
        &self,
        name: &str,
        values: impl IntoIterator<Item = &'a str>,
    ) -> PyResult<()> {
        let mut known: BTreeMap<&str, Py<PyAny>> = BTreeMap::new();
        let mut text = |value: &'a str| {
            let made = || PyString::new(self.py, value).into_any().unbind();
            known.entry(value).or_insert_with(made).clone_ref(self.py)
        };
        let values: Vec<Py<PyAny>> = values.into_iter().map(&mut text).collect();
        self.objects(name, values)
    }

    /// What does not exist is None.
    pub(crate) fn maybe_texts<'a>(
        &self,
        name: &str,
        values: impl IntoIterator<Item = Option<&'a str>>,
    ) -> PyResult<()> {
        let text = |value: Option<&str>| match value {
            Some(value) => PyString::new(self.py, value).into_any().unbind(),
            None => self.py.None(),
        };
        self.objects(name, values.into_iter().map(text).collect())
    }

    pub(crate) fn objects(&self, name: &str, values: Vec<Py<PyAny>>) -> PyResult<()> {
        self.columns.set_item(name, PyArray1::from_vec(self.py, values))
    }
}
