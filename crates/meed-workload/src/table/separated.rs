//! Records of separated values: CSV, TSV, semicolons, bars.
//!
//! A field may stand in double quotes, as RFC 4180 has it, and then hold separators and line breaks
//! (of at most [`MOST_LINES`] lines). Where a quote is opened and not closed, the line that opens
//! it is wrong, and the lines after it are read as if it were not there: one stray quote costs one
//! row, not the rest of the file.
//!
//! Cost: a line without a quote is copied once and searched once, by `memchr`; others go through
//! `csv-core`.

use std::collections::VecDeque;

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};
use meed_files::lines::{LINE_LIMIT, Lines};
use meed_files::open::Origin;

use super::record::Record;
use crate::TraceError;
use crate::error::BadRow;

/// Most lines of one record.
const MOST_LINES: usize = 64;
/// Most bytes of one record in quotes.
const MOST_BYTES: usize = 1 << 20;
/// Most columns.
pub(super) const MOST_COLUMNS: usize = 1000;

/// Separators that are known, most usual first, with their names in settings.
pub(super) const SEPARATORS: [(&str, u8); 4] =
    [(",", b','), ("tab", b'\t'), (";", b';'), ("|", b'|')];

/// The separator of this line: the one that is there most often outside quotes.
pub(super) fn separator_of(line: &[u8]) -> Option<u8> {
    let mut counts = [0usize; SEPARATORS.len()];
    let mut quoted = false;
    for byte in line {
        quoted ^= *byte == b'"';
        if let Some(at) = SEPARATORS.iter().position(|(_, known)| known == byte).filter(|_| !quoted)
        {
            counts[at] += 1;
        }
    }
    // The first of equals.
    let best = (0..counts.len()).rev().max_by_key(|&at| counts[at])?;
    (counts[best] > 0).then(|| SEPARATORS[best].1)
}

/// The separator of a file, by its first line that holds something.
pub(super) fn separator_in(origin: &Origin) -> Result<u8, TraceError> {
    let mut lines = Lines::new(origin.open()?, LINE_LIMIT);
    while let Some(line) = lines.next_line()? {
        let line = line.trim_ascii();
        if !line.is_empty() {
            return Ok(separator_of(line).unwrap_or(b','));
        }
    }
    Ok(b',')
}

/// See the module.
pub(super) struct Separated {
    pub(super) lines: Lines,
    separator: u8,
    /// Whether a quote is more than a letter.
    has_quotes: bool,
    /// Lines that were read for a record that was none: to be read again.
    pending: VecDeque<(u64, Vec<u8>)>,
    quotes: Reader,
}

impl Separated {
    pub(super) fn new(lines: Lines, separator: u8) -> Separated {
        let quotes = ReaderBuilder::new().delimiter(separator).build();
        Separated { lines, separator, has_quotes: true, pending: VecDeque::new(), quotes }
    }

    /// Of a program that never puts a field in quotes: each is a letter.
    pub(super) fn without_quotes(self) -> Separated {
        Separated { has_quotes: false, ..self }
    }

    /// The next record that is not empty; `None` at the end. What is wrong with it concerns it
    /// alone, and its line is in `record`.
    pub(super) fn next(
        &mut self,
        record: &mut Record,
    ) -> Result<Option<Result<(), BadRow>>, TraceError> {
        loop {
            let Some(found) = self.take_line(record)? else { return Ok(None) };
            if found {
                return Ok(Some(match split(record, self.separator, self.has_quotes) {
                    Plain::Split => Ok(()),
                    Plain::TooMany => Err(too_many()),
                    Plain::Quoted => self.quoted(record)?,
                }));
            }
        }
    }

    /// The next line into `record`; whether there is anything in it.
    fn take_line(&mut self, record: &mut Record) -> Result<Option<bool>, TraceError> {
        if let Some((line, text)) = self.pending.pop_front() {
            record.clear(line);
            record.text.extend_from_slice(&text);
        } else {
            let number = self.lines.number() + 1;
            record.clear(number);
            match self.lines.next_line()? {
                None => return Ok(None),
                Some(text) => record.text.extend_from_slice(text),
            }
        }
        Ok(Some(!record.text.trim_ascii().is_empty()))
    }

    /// The record that begins with the line in `record`, which has a quote.
    fn quoted(&mut self, record: &mut Record) -> Result<Result<(), BadRow>, TraceError> {
        let mut taken = vec![(record.line, std::mem::take(&mut record.text))];
        let mut bytes = taken[0].1.len();
        self.quotes.reset();
        loop {
            let (_, text) = &taken[taken.len() - 1];
            if let Some(found) = feed(&mut self.quotes, record, text) {
                return Ok(found);
            }
            let mut next = Record::default();
            let more = taken.len() < MOST_LINES && bytes < MOST_BYTES;
            if !more || self.take_line(&mut next)?.is_none() {
                break;
            }
            bytes += next.text.len();
            taken.push((next.line, next.text));
        }
        let again = taken.split_off(1);
        again.into_iter().rev().for_each(|line| self.pending.push_front(line));
        let what = format!("a quote is opened and not closed within {MOST_LINES} lines");
        Ok(Err(BadRow::line(what)))
    }
}

/// Gives a line to the state machine; the record, once it is whole.
fn feed(quotes: &mut Reader, record: &mut Record, line: &[u8]) -> Option<Result<(), BadRow>> {
    let mut ends = [0usize; MOST_COLUMNS + 1];
    for mut input in [line, b"\n"] {
        while !input.is_empty() {
            let (start, fields) = (record.text.len(), record.fields.len());
            record.text.resize(start + input.len() + 8, 0);
            let spare = &mut ends[..(MOST_COLUMNS + 1).saturating_sub(fields)];
            let (result, read, written, ended) =
                quotes.read_record(input, &mut record.text[start..], spare);
            record.text.truncate(start + written);
            for end in &spare[..ended] {
                let from = record.fields.last().map_or(0, |(_, to)| *to);
                record.fields.push((from, *end));
            }
            input = &input[read..];
            match result {
                ReadRecordResult::Record => {
                    let whole = record.fields.len() <= MOST_COLUMNS;
                    return Some(if whole { Ok(()) } else { Err(too_many()) });
                }
                ReadRecordResult::OutputEndsFull => return Some(Err(too_many())),
                // The output always has room for the rest of the line.
                ReadRecordResult::InputEmpty
                | ReadRecordResult::OutputFull
                | ReadRecordResult::End => {}
            }
        }
    }
    None
}

fn too_many() -> BadRow {
    BadRow::line(format!("more than {MOST_COLUMNS} columns"))
}

/// What a line is.
enum Plain {
    Split,
    Quoted,
    TooMany,
}

/// Splits the line in `record`, if it has no quote that means something.
fn split(record: &mut Record, separator: u8, has_quotes: bool) -> Plain {
    let mut from = 0;
    let quote = if has_quotes { b'"' } else { separator };
    for at in memchr::memchr2_iter(separator, quote, &record.text) {
        if record.text[at] != separator {
            record.fields.clear();
            return Plain::Quoted;
        }
        record.fields.push((from, at));
        from = at + 1;
    }
    record.fields.push((from, record.text.len()));
    if record.fields.len() > MOST_COLUMNS { Plain::TooMany } else { Plain::Split }
}
