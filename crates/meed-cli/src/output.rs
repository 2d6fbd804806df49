//! Standard output: a reader that has gone (`| head`) is no failure.

use std::io::{ErrorKind, Write};

use crate::exit::Failure;

pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Failure::Silent),
        Err(error) => Err(Failure::File(format!("cannot write to standard output: {error}"))),
    }
}

/// A remark that is not part of the result.
pub(crate) fn remark(text: &str) {
    // Without standard error there is nobody to be told.
    let _ = writeln!(std::io::stderr(), "meed: {text}");
}
