//! Files in memory, for what is no file: a frame as the table that it is, a dict as its scenario.
//! Whatever reads a log or a scenario then reads them by the same rules.

use std::path::PathBuf;

use meed_files::open::FileInMemory;
use pyo3::prelude::*;

/// A file, as long as somebody holds it.
#[pyclass(frozen, name = "Memory", module = "meed._native")]
pub(crate) struct PyMemory(FileInMemory);

#[pymethods]
impl PyMemory {
    #[new]
    fn new(folder: PathBuf, name: &str, bytes: &[u8]) -> PyMemory {
        PyMemory(FileInMemory::new(&folder, name, bytes))
    }

    /// Where it is read.
    #[getter]
    fn path(&self) -> String {
        self.0.path().display().to_string()
    }
}
