//! Where `--log` goes: a file that appears whole or not at all.

use std::io::{self, BufWriter, Write};
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
        self
    }

    /// A failed write, with the file that it was for: whoever writes knows no files.
    fn named(&self, error: io::Error) -> io::Error {
        io::Error::new(error.kind(), format!("{}: {error}", self.0.get_ref().name()))
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

impl Write for LogFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(|error| self.named(error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(|error| self.named(error))
    }
}
