//! Lines for the operator, on standard error.

/// Writes a line.
#[expect(clippy::print_stderr, reason = "a daemon's log is its standard error")]
pub(crate) fn line(text: &str) {
    eprintln!("meed: {text}");
}
