//! The JSON output: the record as it is, on one line. Its fields are described in docs/json.md.

use std::path::Path;

use meed_driver::record::Comparison;

use crate::file::{WriteError, write_whole};

/// The record as JSON on one line, with a newline at its end. A float that is not finite becomes
/// `null`.
pub fn to_json(comparison: &Comparison) -> String {
    let mut text = serde_json::to_string(comparison).expect_record();
    text.push('\n');
    text
}

/// Writes [`to_json`] to a file, whole or not at all.
pub fn write_json(comparison: &Comparison, path: &Path) -> Result<(), WriteError> {
    write_whole(path, |out| {
        serde_json::to_writer(&mut *out, comparison)?;
        out.write_all(b"\n")
    })
}

/// Serialising a record to memory has no way to fail: its keys are strings and memory does no input
/// or output.
pub(crate) trait ExpectRecord<T> {
    /// The value; panics if the record could not be serialised.
    fn expect_record(self) -> T;
}

impl<T> ExpectRecord<T> for Result<T, serde_json::Error> {
    fn expect_record(self) -> T {
        self.expect("a record holds only numbers, strings and maps with string keys")
    }
}
