//! What the program says.

use std::io::Write;

use meed_config::text::clean;

/// Standard output, or whatever else takes lines.
pub(crate) struct Out(Box<dyn Write>);

impl Out {
    /// Says it to `to`.
    pub(crate) fn new(to: Box<dyn Write>) -> Out {
        Out(to)
    }

    /// One line; names in it cannot give orders to a terminal.
    pub(crate) fn line(&mut self, text: &str) {
        // Who reads no more is no reason to stop ordering jobs.
        let _ = writeln!(self.0, "{}", clean(text));
        let _ = self.0.flush();
    }
}
