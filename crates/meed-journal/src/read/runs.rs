//! The runs of a log: where each begins and ends.

use meed::Time;

use super::source::LineSource;
use super::{ReadError, Reader};
use crate::header::Header;
use crate::record::{Fact, Kind};

/// One run of a log.
///
/// [`runs`] finds them.
///
/// ```
/// use meed::Time;
/// use meed_journal::*;
///
/// let mut writer = Writer::new(Vec::new());
/// for _ in 0..2 {
///     let header = Header { schema: SCHEMA, ..Header::default() };
///     writer.append(Time::ZERO, &Fact::Run(Box::new(header)))?;
/// }
/// let log = writer.into_inner();
/// let found = runs(Reader::new("a.jsonl".into(), BufLines::new(&log[..])))?;
/// assert_eq!((found.len(), found[1].first_line, found[1].finished), (2, 2, false));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Run {
    /// Its number in the log, from 1.
    pub number: usize,
    /// Its first record.
    pub header: Header,
    /// Number of its first line, from 1.
    pub first_line: u64,
    /// Number of its last whole line.
    pub last_line: u64,
    /// Time of its first record.
    pub begin: Time,
    /// Time of its last whole line.
    pub end: Time,
    /// Whether its last record is there. It is not when the program that wrote it was stopped.
    pub finished: bool,
}

/// Looks through a log for its runs. O(lines); only headers are understood.
pub fn runs<S: LineSource>(mut reader: Reader<S>) -> Result<Vec<Run>, ReadError<S::Error>> {
    let mut runs: Vec<Run> = Vec::new();
    while let Some((line, record)) = reader.next(&[Kind::Run, Kind::Finish])? {
        match record.fact {
            Fact::Run(header) => runs.push(Run {
                number: runs.len() + 1,
                header: *header,
                first_line: line,
                last_line: line,
                begin: record.t,
                end: record.t,
                finished: false,
            }),
            _ => {
                if let Some(run) = runs.last_mut() {
                    run.finished = true;
                }
            }
        }
    }
    // The last whole line of each run is the one before the next begins.
    let ends = reader.ends.iter().copied().chain([reader.good]);
    for (run, (line, t)) in runs.iter_mut().zip(ends) {
        (run.last_line, run.end) = (line, t);
    }
    Ok(runs)
}
