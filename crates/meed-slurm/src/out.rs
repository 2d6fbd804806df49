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

    /// One line; names in it cannot give orders to a terminal. Whether somebody reads: who does so
    /// no more is no reason to stop ordering jobs.
    pub(crate) fn line(&mut self, text: &str) -> bool {
        writeln!(self.0, "{}", clean(text)).and_then(|()| self.0.flush()).is_ok()
    }

    /// Orders to a terminal. Whether somebody reads.
    pub(crate) fn raw(&mut self, orders: &str) -> bool {
        self.0.write_all(orders.as_bytes()).and_then(|()| self.0.flush()).is_ok()
    }
}
