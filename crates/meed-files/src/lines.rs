//! Numbered lines of an [`Input`].
//!
//! `\n` and `\r\n` end a line; the last one needs neither; a byte order mark at the very start is
//! dropped. A line longer than the limit is an error of the file, found after reading no more than
//! that. Cost: a line that lies whole within the input's buffer is not copied; memory is at most
//! one line.

use std::io::{BufRead, ErrorKind};
use std::sync::Arc;

use crate::FileError;
use crate::open::Input;

/// Longest line of a trace with one short record per line.
pub const LINE_LIMIT: usize = 1 << 20;

/// Reads lines one after the other.
///
/// ```
/// use meed_files::Origin;
/// use meed_files::lines::{LINE_LIMIT, Lines};
///
/// let input = Origin::bytes("jobs.csv", b"one\ntwo\n".as_slice()).open()?;
/// let mut lines = Lines::new(input, LINE_LIMIT);
/// assert_eq!(lines.next_line()?, Some(&b"one"[..]));
/// assert_eq!(lines.next_line()?, Some(&b"two"[..]));
/// assert_eq!(lines.next_line()?, None);
/// assert_eq!(lines.number(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Lines {
    input: Input,
    limit: usize,
    number: u64,
    /// Bytes of the input's buffer that the line handed out last occupies.
    taken: usize,
    /// A line that spans buffers.
    joined: Vec<u8>,
}

/// Where the bytes of the next line are.
enum Found {
    /// In the input's buffer, this many (line break included).
    Whole(usize),
    /// In `joined`.
    Joined,
}

impl Lines {
    /// The lines of `input`, none longer than `limit` bytes.
    pub fn new(input: Input, limit: usize) -> Lines {
        Lines { input, limit, number: 0, taken: 0, joined: Vec::new() }
    }

    /// Number of the line handed out last, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Where the lines come from.
    pub fn input(&self) -> &Input {
        &self.input
    }

    /// Whether there is no further line.
    pub fn is_at_end(&mut self) -> Result<bool, FileError> {
        let taken = std::mem::take(&mut self.taken);
        self.input.plain.consume(taken);
        loop {
            match self.input.plain.fill_buf() {
                Ok(buffer) => return Ok(buffer.is_empty()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.input.failure(error, self.number)),
            }
        }
    }

    /// The next line without its line break; `None` at the end.
    pub fn next_line(&mut self) -> Result<Option<&[u8]>, FileError> {
        let taken = std::mem::take(&mut self.taken);
        self.input.plain.consume(taken);
        let Some(found) = self.find()? else { return Ok(None) };
        self.number += 1;
        let line = match found {
            Found::Joined => &self.joined,
            Found::Whole(length) => {
                self.taken = length;
                // Filled by `find`: this reads nothing and cannot fail.
                match self.input.plain.fill_buf() {
                    Ok(buffer) => &buffer[..length],
                    Err(source) => {
                        return Err(FileError::Io {
                            action: "read",
                            file: Arc::clone(&self.input.name),
                            source,
                        });
                    }
                }
            }
        };
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let mark: &[u8] = if self.number == 1 { b"\xef\xbb\xbf" } else { b"" };
        Ok(Some(line.strip_prefix(mark).unwrap_or(line)))
    }

    fn find(&mut self) -> Result<Option<Found>, FileError> {
        self.joined.clear();
        loop {
            let buffer = match self.input.plain.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(self.input.failure(error, self.number)),
            };
            if buffer.is_empty() {
                return Ok((!self.joined.is_empty()).then_some(Found::Joined));
            }
            let (piece, ended) = match memchr::memchr(b'\n', buffer) {
                Some(at) => (&buffer[..=at], true),
                None => (buffer, false),
            };
            // The line break itself is not counted.
            if self.joined.len() + piece.len() > self.limit + usize::from(ended) {
                return Err(FileError::EndlessLine {
                    file: Arc::clone(self.input.name()),
                    line: self.number + 1,
                    limit: self.limit,
                });
            }
            if ended && self.joined.is_empty() {
                return Ok(Some(Found::Whole(piece.len())));
            }
            self.joined.extend_from_slice(piece);
            let length = piece.len();
            self.input.plain.consume(length);
            if ended {
                return Ok(Some(Found::Joined));
            }
        }
    }
}
