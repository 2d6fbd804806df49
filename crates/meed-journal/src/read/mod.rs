//! Reading records back: strictly, line by line, one line in memory.
//!
//! What a reader does not know (kinds, fields) it passes over; what it knows must be right, or the
//! file, the line and what would be right are told. A log that ends in the middle (a crash) is good
//! up to its last whole line. Lines of schema 1 become the same records ([`crate::v1`]).

mod runs;
mod source;

use std::sync::Arc;

use meed::Time;

pub use runs::{Run, runs};
pub use source::{BufLines, LineSource};

use crate::header::{Header, SCHEMA};
use crate::record::{Fact, Kind, Line, Record, Wrong, encode};
use crate::v1;

/// Why a log cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError<E> {
    /// Where the lines come from.
    #[error(transparent)]
    Source(E),
    /// A line is wrong.
    #[error("{file}:{line}: {what}")]
    Line {
        /// The file.
        file: Arc<str>,
        /// The line, from 1.
        line: u64,
        /// What is wrong and what would be right.
        what: String,
    },
}

/// What was found and the number of its line, from 1; `None` at the end.
pub type Found<T, S> = Result<Option<(u64, T)>, ReadError<<S as LineSource>::Error>>;

/// How lines are understood: the header of each run says.
enum Schema {
    /// Before the first header.
    Unknown,
    One(Box<v1::Convert>),
    Two,
}

/// With which the lines begin that a store puts between records (meed-store: segments are logs).
const STORE: [&[u8]; 2] = [b"{\"segment\":", b"{\"block\":"];

/// Reads records from lines.
///
/// The [crate's page](crate) has an example that reads what was written.
///
/// ```
/// use meed_journal::{BufLines, Reader};
///
/// let log = &b"no record\n"[..];
/// let mut reader = Reader::new("a.jsonl".into(), BufLines::new(log));
/// let wrong = reader.next_any().unwrap_err().to_string();
/// assert!(wrong.starts_with("a.jsonl:1:"), "{wrong}");
/// ```
pub struct Reader<S> {
    file: Arc<str>,
    source: S,
    schema: Schema,
    /// Lines read so far.
    number: u64,
    /// Number of the last line to be read.
    last: u64,
    /// The last whole line so far, and its time.
    good: (u64, Time),
    /// The same for the end of each run before the current one.
    ends: Vec<(u64, Time)>,
    /// Number of the next record.
    next_seq: u64,
    over: bool,
    /// A line of [`Reader::next_raw`].
    raw: Vec<u8>,
}

impl<S: LineSource> Reader<S> {
    /// Reads from `source`, which messages call `file`. The first record is a header.
    pub fn new(file: Arc<str>, source: S) -> Reader<S> {
        Reader {
            file,
            source,
            schema: Schema::Unknown,
            number: 0,
            last: u64::MAX,
            good: (0, Time::ZERO),
            ends: Vec::new(),
            next_seq: 0,
            over: false,
            raw: Vec::new(),
        }
    }

    /// Reads from the middle of a journal: its next record is number `seq`, not before `t`.
    pub fn going_on(file: Arc<str>, source: S, seq: u64, t: Time) -> Reader<S> {
        let good = (0, t);
        Reader { schema: Schema::Two, next_seq: seq, good, ..Reader::new(file, source) }
    }

    /// Reads the lines from `first` (on which a run begins) to `last` only, numbered from 1.
    pub fn within(mut self, first: u64, last: u64) -> Result<Reader<S>, ReadError<S::Error>> {
        while self.number + 1 < first {
            self.source.next_line().map_err(ReadError::Source)?;
            self.number += 1;
        }
        self.last = last;
        Ok(self)
    }

    /// The next record of the kinds `wanted`, and the number of its line. `None` at the end, also
    /// where the log was cut short.
    pub fn next(&mut self, wanted: &[Kind]) -> Found<Record, S> {
        self.find(Some(wanted))
    }

    /// The next record, of any kind.
    pub fn next_any(&mut self) -> Found<Record, S> {
        self.find(None)
    }

    fn find(&mut self, wanted: Option<&[Kind]>) -> Found<Record, S> {
        while !self.over && self.number < self.last {
            let Some(line) = self.read_line(wanted)? else { break };
            let found = self.accept(line, wanted).map_err(|what| self.wrong(self.number, what))?;
            if let Some(record) = found {
                return Ok(Some((self.number, record)));
            }
        }
        self.over = true;
        Ok(None)
    }

    /// The next line that is neither empty nor a store's own; `None` at the end.
    fn read_line(&mut self, wanted: Option<&[Kind]>) -> Result<Option<Seen>, ReadError<S::Error>> {
        let wrong = loop {
            let bytes = match self.source.next_line() {
                Ok(Some(bytes)) => bytes,
                Ok(None) => return Ok(None),
                // Good up to there: what a crash leaves of a compressed log.
                Err(error) if S::cut_short(&error) => return Ok(None),
                Err(error) => return Err(ReadError::Source(error)),
            };
            self.number += 1;
            if bytes.trim_ascii().is_empty() || STORE.iter().any(|word| bytes.starts_with(word)) {
                if self.number < self.last {
                    continue;
                }
                return Ok(None);
            }
            match parse(&self.schema, bytes, wanted) {
                Ok(seen) => return Ok(Some(seen)),
                Err(wrong) => break wrong,
            }
        };
        let line = self.number;
        // A crash in the middle of a line leaves a piece of JSON at the very end.
        if wrong.cut {
            match self.source.next_line() {
                Ok(None) => return Ok(None),
                Err(error) if S::cut_short(&error) => return Ok(None),
                _ => {}
            }
        }
        Err(self.wrong(line, wrong.what))
    }

    /// Checks a line's place in its run, and makes a record of it where it is wanted.
    fn accept(&mut self, seen: Seen, wanted: Option<&[Kind]>) -> Result<Option<Record>, String> {
        let (t, begins, is_unknown) = match &seen {
            Seen::One(line) => (line.t, false, line.is_unknown()),
            Seen::Two(line) => (line.t, line.kind == Kind::Run, line.kind == Kind::Other),
        };
        if begins {
            if self.good.0 > 0 {
                self.ends.push(self.good);
            }
            self.next_seq = 0;
        } else {
            if let Schema::Unknown = self.schema {
                // Whatever it is, it is no log of ours that tells something.
                if is_unknown {
                    return Ok(None);
                }
                return Err("stands before any line `run`, with which a run begins".to_owned());
            }
            if t < self.good.1 {
                return Err(format!("t is {t}, after {} in the line before", self.good.1));
            }
        }
        let record = match seen {
            Seen::One(line) => self.converted(line)?,
            Seen::Two(line) => self.plain(line)?,
        };
        self.good = (self.number, t);
        self.next_seq += 1;
        let is_wanted =
            |record: &Record| wanted.is_none_or(|all| all.contains(&record.fact.kind()));
        Ok(record.filter(is_wanted))
    }

    fn plain(&mut self, line: Line) -> Result<Option<Record>, String> {
        let Line { seq, t, kind, fact } = line;
        if let Some(Fact::Run(header)) = &fact {
            self.schema = schema_of(header)?;
        }
        if let Schema::One(_) = self.schema {
            let fact = fact.map(|fact| match fact {
                Fact::Run(header) => Fact::Run(Box::new(Header { schema: SCHEMA, ..*header })),
                fact => fact,
            });
            return Ok(fact.map(|fact| Record { seq: 0, t, fact }));
        }
        let (seq, expected) = (seq.ok_or(Line::NO_SEQ)?, self.next_seq);
        if seq != expected {
            return Err(format!(
                "record {seq} of kind `{}` stands where record {expected} belongs; records are \
                 numbered without a gap",
                kind.word()
            ));
        }
        Ok(fact.map(|fact| Record { seq, t, fact }))
    }

    fn converted(&mut self, line: v1::Line) -> Result<Option<Record>, String> {
        let Schema::One(convert) = &mut self.schema else { unreachable!("it was read as such") };
        let (seq, t) = (self.next_seq, line.t);
        Ok(Some(Record { seq, t, fact: convert.fact(line)? }))
    }

    /// Whether what is read is of schema 1, and told as schema 2 has it.
    pub fn is_converted(&self) -> bool {
        matches!(self.schema, Schema::One(_))
    }

    /// The next line as a log of this version has it: of schema 2 as it is, of schema 1 written
    /// anew. For a reader of whole runs that asks for nothing else.
    pub fn next_raw(&mut self) -> Found<&[u8], S> {
        if self.over || self.number >= self.last {
            return Ok(None);
        }
        if let Schema::Unknown = self.schema {
            if !self.read_raw()? {
                return Ok(None);
            }
            if let Ok(Line { fact: Some(Fact::Run(header)), .. }) =
                Line::parse(&self.raw, Some(&[]))
            {
                let schema = schema_of(&header).map_err(|what| self.wrong(self.number, what))?;
                self.schema = schema;
                if let Schema::One(_) = self.schema {
                    let fact = Fact::Run(Box::new(Header { schema: SCHEMA, ..*header }));
                    self.raw.clear();
                    encode(0, Time::ZERO, &fact, &mut self.raw);
                    self.next_seq = 1;
                }
            }
            return Ok(Some((self.number, &self.raw)));
        }
        if let Schema::Two = self.schema {
            let number = self.number + 1;
            let line = match self.source.next_line() {
                Err(error) if !S::cut_short(&error) => return Err(ReadError::Source(error)),
                line => line.ok().flatten(),
            };
            self.number += u64::from(line.is_some());
            return Ok(line.map(|line| (number, line)));
        }
        let Some((number, record)) = self.next_any()? else { return Ok(None) };
        self.raw.clear();
        record.encode(&mut self.raw);
        Ok(Some((number, &self.raw)))
    }

    /// Keeps the next line; false at the end.
    fn read_raw(&mut self) -> Result<bool, ReadError<S::Error>> {
        self.raw.clear();
        let Some(line) = self.source.next_line().map_err(ReadError::Source)? else {
            return Ok(false);
        };
        self.raw.extend_from_slice(line);
        self.number += 1;
        Ok(true)
    }

    /// The error of a line.
    pub fn wrong(&self, line: u64, what: String) -> ReadError<S::Error> {
        ReadError::Line { file: Arc::clone(&self.file), line, what }
    }

    /// Where the lines come from.
    pub fn source(&self) -> &S {
        &self.source
    }
}

/// A line of either schema.
enum Seen {
    One(v1::Line),
    Two(Line),
}

fn parse(schema: &Schema, bytes: &[u8], wanted: Option<&[Kind]>) -> Result<Seen, Wrong> {
    if let Schema::One(_) = schema
        && let Some(line) = v1::Line::parse(bytes)?
    {
        return Ok(Seen::One(line));
    }
    // Of this schema, or a header, which is alike in both.
    Line::parse(bytes, wanted).map(Seen::Two)
}

fn schema_of(header: &Header) -> Result<Schema, String> {
    match header.schema {
        1 => Ok(Schema::One(Box::default())),
        SCHEMA => Ok(Schema::Two),
        other => Err(format!("schema {other} is not known; this Meed reads 1 and {SCHEMA}")),
    }
}
