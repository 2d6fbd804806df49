//! Where lines come from.

use std::io::{self, BufRead};

/// Gives lines one after the other, without their line breaks.
///
/// ```
/// use std::convert::Infallible;
/// use meed_journal::{LineSource, Reader};
///
/// /// Lines in memory.
/// struct Lines<'a>(std::str::Lines<'a>);
/// impl LineSource for Lines<'_> {
///     type Error = Infallible;
///     fn next_line(&mut self) -> Result<Option<&[u8]>, Infallible> {
///         Ok(self.0.next().map(str::as_bytes))
///     }
/// }
/// let mut lines = Lines("one\ntwo".lines());
/// assert_eq!(lines.next_line(), Ok(Some(&b"one"[..])));
/// assert!(Reader::new("memory".into(), lines).next_any().is_err()); // `two` is no record
/// ```
pub trait LineSource {
    /// What can go wrong.
    type Error;

    /// The next line; `None` at the end.
    fn next_line(&mut self) -> Result<Option<&[u8]>, Self::Error>;

    /// Whether `error` says that the input ends in the middle, as a crash leaves a compressed file.
    fn cut_short(_error: &Self::Error) -> bool {
        false
    }
}

/// The lines of a buffered reader of plain text.
///
/// ```
/// use meed_journal::{BufLines, LineSource};
///
/// let mut lines = BufLines::new(&b"one\ntwo\n"[..]);
/// assert_eq!(lines.next_line()?, Some(&b"one"[..]));
/// assert_eq!(lines.next_line()?, Some(&b"two"[..]));
/// assert_eq!(lines.next_line()?, None);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct BufLines<R> {
    input: R,
    line: Vec<u8>,
}

impl<R: BufRead> BufLines<R> {
    /// The lines of `input`.
    pub fn new(input: R) -> BufLines<R> {
        BufLines { input, line: Vec::new() }
    }
}

impl<R: BufRead> LineSource for BufLines<R> {
    type Error = io::Error;

    fn next_line(&mut self) -> io::Result<Option<&[u8]>> {
        self.line.clear();
        if self.input.read_until(b'\n', &mut self.line)? == 0 {
            return Ok(None);
        }
        let line = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        Ok(Some(line.strip_suffix(b"\r").unwrap_or(line)))
    }
}
