//! Meed as a module of Python: the compiled half of the package `meed` (docs/python.md).
//!
//! Here are values in and out, and nothing that decides: scenarios are read by `meed-scenario`,
//! shares are computed by `meed-level`, tables are those of `meed-driver`'s records. `package/meed`
//! is the half that people see: it gives names, defaults and types.
//!
//! Invariants: whatever takes long runs without Python's lock; whatever fails does so with a
//! `meed.Error` that says what the program would have said; a panic becomes an exception.

mod allocate;
mod arrow;
mod asked;
mod attended;
mod columns;
mod error;
mod experiments;
mod jobs;
mod memory;
mod read;
mod recorded;
mod results;
mod scenario;
mod session;
mod simulate;
mod table;
mod value;
mod written;

use pyo3::prelude::*;

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let error = py.get_type::<error::Error>();
    // Of those that the other half raises: all are of input.
    error.setattr("code", error::INPUT)?;
    module.add("Error", error)?;
    module.add("VERSION", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<jobs::PyJobs>()?;
    module.add_class::<scenario::PyScenario>()?;
    module.add_class::<results::PyResults>()?;
    module.add_class::<session::PySession>()?;
    module.add_class::<memory::PyMemory>()?;
    module.add_class::<experiments::PyAnswer>()?;
    module.add_class::<allocate::PyAllocation>()?;
    module.add_function(wrap_pyfunction!(simulate::simulate, module)?)?;
    module.add_function(wrap_pyfunction!(asked::cadence, module)?)?;
    module.add_function(wrap_pyfunction!(allocate::allocate, module)?)?;
    module.add_function(wrap_pyfunction!(allocate::allocate_document, module)?)?;
    module.add_function(wrap_pyfunction!(arrow::stream_of, module)?)?;
    module.add_function(wrap_pyfunction!(written::table_of_arrow, module)?)?;
    module.add_function(wrap_pyfunction!(written::table_of_arrays, module)?)?;
    module.add_function(wrap_pyfunction!(read::read_jobs, module)?)?;
    module.add_function(wrap_pyfunction!(read::trace_of, module)?)?;
    module.add_function(wrap_pyfunction!(read::document, module)?)?;
    module.add_function(wrap_pyfunction!(experiments::changes, module)?)?;
    module.add_function(wrap_pyfunction!(experiments::advise, module)?)?;
    module.add_function(wrap_pyfunction!(experiments::sweep, module)?)?;
    module.add_function(wrap_pyfunction!(experiments::rivals, module)?)?;
    module.add_function(wrap_pyfunction!(experiments::audit, module)?)?;
    module.add_function(wrap_pyfunction!(recorded::explain, module)?)?;
    module.add_function(wrap_pyfunction!(recorded::replay, module)?)?;
    module.add_function(wrap_pyfunction!(recorded::verify, module)?)?;
    Ok(())
}
