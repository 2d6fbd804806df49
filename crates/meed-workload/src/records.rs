//! The lines of a trace that hold records, counted: what every reader keeps about its file; lines
//! of places within one that is read whole.

use std::sync::Arc;

use crate::error::{BadLines, BadRow, mostly_wrong, no_jobs};
use crate::{BadLine, OnBadLine, SourceCounts, TraceError};
use meed_files::lines::Lines;
use meed_files::open::Input;

pub(crate) struct Records {
    pub(crate) lines: Lines,
    pub(crate) bad: BadLines,
    /// Lines that hold a record, good or wrong; the reader says which do.
    pub(crate) read: u64,
    /// Records left out by an assumption.
    pub(crate) ignored: u64,
    ended: bool,
}

/// The same for a reader that counts for itself; `line` is the one behind the last.
pub(crate) fn end(input: &Input, line: u64, bad: &mut BadLines) -> Result<(), TraceError> {
    if !input.trailing() {
        return Ok(());
    }
    let format = input.compression().name();
    let what = format!("bytes that are none of it follow the end of its {format} data");
    bad.note(input.name(), line, BadRow::line(what))
}

/// The same for a file whose `bytes` were read whole.
pub(crate) fn end_of_whole(
    input: &Input,
    bytes: &[u8],
    bad: &mut BadLines,
) -> Result<(), TraceError> {
    let lines = memchr::memchr_iter(b'\n', bytes).count() as u64;
    end(input, lines + 1, bad)
}

impl Records {
    pub(crate) fn new(lines: Lines, on_bad_line: OnBadLine) -> Records {
        Records { lines, bad: BadLines::new(on_bad_line), read: 0, ignored: 0, ended: false }
    }

    /// Notes that the line read last is wrong; an error where that stops the reading.
    pub(crate) fn note(&mut self, problem: BadRow) -> Result<(), TraceError> {
        self.note_at(self.lines.number(), problem)
    }

    /// The same of a line that was read before.
    pub(crate) fn note_at(&mut self, line: u64, problem: BadRow) -> Result<(), TraceError> {
        let name = Arc::clone(self.lines.input().name());
        self.bad.note(&name, line, problem)
    }

    /// Refuses a file, read to its end, most of whose lines are wrong; `wanted` says what a right
    /// one looks like.
    pub(crate) fn ensure_most(&self, wanted: &str) -> Result<(), TraceError> {
        mostly_wrong(self.lines.input().name(), self.read, &self.bad, wanted).map_or(Ok(()), Err)
    }

    /// The file has ended. What follows the end of compressed data is passed over, as gzip does,
    /// but not in silence.
    pub(crate) fn end(&mut self) -> Result<(), TraceError> {
        match std::mem::replace(&mut self.ended, true) {
            true => Ok(()),
            false => end(self.lines.input(), self.lines.number() + 1, &mut self.bad),
        }
    }

    /// Counts of a source that has handed out so many jobs.
    pub(crate) fn counts(&self, jobs: u64) -> SourceCounts {
        SourceCounts { lines: self.read, jobs, bad: self.bad.count(), ignored: self.ignored }
    }

    pub(crate) fn bad_lines(&self) -> Vec<&BadLine> {
        self.bad.first().iter().collect()
    }

    pub(crate) fn progress(&self) -> Option<f64> {
        self.lines.input().progress()
    }

    /// Why the file, read to its end, is none with jobs; `wanted` says what one looks like.
    pub(crate) fn no_jobs(&self, wanted: &str) -> TraceError {
        no_jobs(self.lines.input().name(), self.read, self.ignored, &self.bad, wanted)
    }
}

/// Lines of places in the file, which only ascend. O(file) in all.
pub(crate) struct LineNumbers<'a> {
    bytes: &'a [u8],
    at: usize,
    line: u64,
}

impl<'a> LineNumbers<'a> {
    /// Of a file's bytes.
    pub(crate) fn new(bytes: &'a [u8]) -> LineNumbers<'a> {
        LineNumbers { bytes, at: 0, line: 1 }
    }

    /// The line on which `part` of the file begins.
    pub(crate) fn of(&mut self, part: &str) -> u64 {
        let place = (part.as_ptr() as usize).saturating_sub(self.bytes.as_ptr() as usize);
        let passed = self.bytes.get(self.at..place).unwrap_or_default();
        self.line += passed.iter().filter(|byte| **byte == b'\n').count() as u64;
        self.at = self.at.max(place);
        self.line
    }
}
