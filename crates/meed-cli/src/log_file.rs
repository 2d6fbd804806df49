//! Where `--log` goes: a file that appears whole or not at all.

use std::io::{BufWriter, Write};
use std::path::Path;

use meed_files::{Guard, Output};

use crate::exit::Failure;

/// The log's file while it is written.
pub(crate) struct LogFile(BufWriter<Output>);

impl LogFile {
    pub(crate) fn create(path: &Path, files: &mut Guard) -> Result<LogFile, Failure> {
        Ok(LogFile(BufWriter::with_capacity(1 << 16, files.create(path)?)))
    }

    pub(crate) fn writer(&mut self) -> &mut dyn Write {
        &mut self.0
    }

    /// The run is over: the file takes its name.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        let output = self.0.into_inner().map_err(|error| {
            let (why, writer) = (error.error().to_string(), error.into_inner());
            Failure::File(format!("cannot write {}: {why}", writer.get_ref().name()))
        })?;
        Ok(output.finish()?)
    }
}
