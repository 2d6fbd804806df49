//! The histories in a file, one after the other: `cat *.jhist` is one file.
//!
//! A history begins with the line `Avro-Binary` or `Avro-Json`, and a line with the schema. Then
//! its events come: without anything between them, or each on a line. It ends where the next one
//! begins. One that cannot be read is wrong as a whole, and costs none of the others.
//!
//! Cost: each byte is looked at a fixed number of times.

use std::sync::Arc;

use memchr::memmem;

use super::avro::{Bytes, MOST_SCHEMA, Schema, Torn};
use super::event::Event;
use crate::TraceError;
use crate::error::BadRow;
use crate::fields::json_problem;

const BINARY: &[u8] = b"Avro-Binary";
const JSON: &[u8] = b"Avro-Json";

/// Whether a file that begins with this line is one of job histories.
pub(crate) fn is_first_line(line: &[u8]) -> bool {
    line == BINARY || line == JSON
}

/// Whether a history begins here.
fn begins(rest: &[u8]) -> bool {
    let after = [BINARY, JSON].into_iter().find_map(|first| rest.strip_prefix(first));
    after.is_some_and(|after| after.starts_with(b"\n{") || after.starts_with(b"\r\n{"))
}

/// What is told of each history.
pub(super) struct History {
    /// The line on which it begins.
    pub(super) line: u64,
    /// What is wrong with it.
    pub(super) read: Result<(), BadRow>,
}

/// Reads through the histories of a file.
pub(super) struct Histories<'a> {
    rest: &'a [u8],
    line: u64,
    file: &'a Arc<str>,
}

impl<'a> Histories<'a> {
    pub(super) fn new(file: &'a Arc<str>, bytes: &'a [u8]) -> Histories<'a> {
        Histories { rest: bytes, line: 1, file }
    }

    /// Gives each event of the next history to `take`. `None` at the end of the file.
    pub(super) fn next(
        &mut self,
        take: impl FnMut(&Event) -> Result<(), BadRow>,
    ) -> Result<Option<History>, TraceError> {
        let blanks = self.rest.len() - self.rest.trim_ascii_start().len();
        self.pass(blanks);
        if self.rest.is_empty() {
            return Ok(None);
        }
        if !begins(self.rest) {
            // Only where the file begins: other histories are where they were found to begin.
            let why = "a job history begins with the line Avro-Binary or Avro-Json, and a schema";
            let file = Arc::clone(self.file);
            return Err(TraceError::Header { file, line: self.line, why: why.to_owned() });
        }
        let next = memmem::find_iter(&self.rest[1..], b"Avro-").map(|at| at + 1);
        let next = next.into_iter().find(|at| begins(&self.rest[*at..]));
        let line = self.line;
        let history = self.pass(next.unwrap_or(self.rest.len()));
        Ok(Some(History { line, read: read(history, line, take) }))
    }

    /// Passes over so many bytes.
    fn pass(&mut self, bytes: usize) -> &'a [u8] {
        let (passed, rest) = self.rest.split_at(bytes);
        self.line += memchr::memchr_iter(b'\n', passed).count() as u64;
        self.rest = rest;
        passed
    }
}

/// The first line of `rest`, and what follows it.
fn line_of(rest: &[u8]) -> (&[u8], &[u8]) {
    match memchr::memchr(b'\n', rest) {
        Some(at) => (&rest[..at], &rest[at + 1..]),
        None => (rest, &[]),
    }
}

/// Reads one history, which begins on `line`.
fn read(
    history: &[u8],
    line: u64,
    take: impl FnMut(&Event) -> Result<(), BadRow>,
) -> Result<(), BadRow> {
    let (first, rest) = line_of(history);
    let (schema, events) = line_of(rest);
    match first.trim_ascii_end() == BINARY {
        true => read_binary(schema, events, take),
        // The form says what it says without its schema.
        false => read_json(events, line + 2, take),
    }
}

fn read_binary(
    schema: &[u8],
    events: &[u8],
    mut take: impl FnMut(&Event) -> Result<(), BadRow>,
) -> Result<(), BadRow> {
    if schema.len() > MOST_SCHEMA {
        return Err(BadRow::line(format!("its schema has more than {MOST_SCHEMA} bytes")));
    }
    let schema = Schema::read(schema)
        .map_err(|why| BadRow::line(format!("its second line is no schema of Avro: {why}")))?;
    let mut bytes = Bytes::new(events);
    let mut event = Event::default();
    let mut number = 0u64;
    while !bytes.rest.is_empty() {
        number += 1;
        let left = bytes.rest.len();
        let found = schema.event(&mut bytes, &mut event).and_then(|()| {
            let torn = Torn::Wrong("it has no bytes");
            if bytes.rest.len() < left { Ok(()) } else { Err(torn) }
        });
        found.map_err(|torn| {
            let what = match torn {
                Torn::End => "the history ends in the middle of it",
                Torn::Wrong(what) => what,
            };
            BadRow::line(format!("its event {number} cannot be read: {what}"))
        })?;
        take(&event)?;
    }
    Ok(())
}

fn read_json(
    mut events: &[u8],
    mut line: u64,
    mut take: impl FnMut(&Event) -> Result<(), BadRow>,
) -> Result<(), BadRow> {
    let mut event = Event::default();
    while !events.is_empty() {
        let (text, rest) = line_of(events);
        if !text.trim_ascii().is_empty() {
            event.read(text.trim_ascii()).map_err(|why| {
                let what = json_problem(&why);
                BadRow::line(format!("line {line} is no event of a job: {what}"))
            })?;
            take(&event)?;
        }
        events = rest;
        line += 1;
    }
    Ok(())
}
