//! Columns that another library hands over, and columns for another library: Arrow's C stream
//! interface, in a capsule (PyCapsule interface, `__arrow_c_stream__`). Nothing that is handed over
//! is copied: the columns stay where they are, and are let go when the last run that reads them has
//! ended.

use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{RecordBatch, RecordBatchIterator};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods};

use crate::error::input;
use crate::jobs::{Column, batch_of};

/// All batches that `frame` hands over.
pub(crate) fn batches(frame: &Bound<'_, PyAny>) -> PyResult<Vec<RecordBatch>> {
    let handed = frame.call_method0("__arrow_c_stream__")?;
    let capsule = handed.cast::<PyCapsule>()?;
    let reader = reader(capsule)?;
    let read = |batch: Result<RecordBatch, arrow_schema::ArrowError>| {
        batch.map_err(|why| input(format!("jobs: the frame cannot be read: {why}")))
    };
    // Some libraries make their columns while they hand them over, and may need Python for it.
    reader.map(read).collect()
}

#[expect(unsafe_code, reason = "the interface is a pointer in a capsule")]
fn reader(capsule: &Bound<'_, PyCapsule>) -> PyResult<RecordBatchStreamReader> {
    let stream = capsule.pointer_checked(Some(c"arrow_array_stream"))?;
    // SAFETY: a capsule of this name holds such a stream, says the interface, and nobody else reads
    // it while we hold Python's lock. What is moved out of it is marked as released there, so that
    // the capsule's destructor finds nothing to release.
    let reader = unsafe {
        RecordBatchStreamReader::from_raw(stream.as_ptr().cast::<FFI_ArrowArrayStream>())
    };
    reader.map_err(|why| input(format!("jobs: the frame cannot be read: {why}")))
}

/// Columns of numpy's, as others of this interface take them.
#[pyfunction]
pub(crate) fn stream_of<'py>(
    py: Python<'py>,
    arrays: Vec<Column<'py>>,
) -> PyResult<Bound<'py, PyCapsule>> {
    let batch = batch_of(&arrays)?;
    let schema = batch.schema();
    let batches = RecordBatchIterator::new([Ok(batch)], schema);
    let stream = FFI_ArrowArrayStream::new(Box::new(batches));
    PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
}
