//! Reading logs back: strictly, line by line, compressed or not.
//!
//! What a reader does not know (kinds of lines, fields) it passes over; what it knows must be
//! right, or the file, the line and what would be right are told. A log that ends in the middle (a
//! crash) is good up to there.
//!
//! Cost: one line in memory. A log may hold several runs; passes over one of them skip the others
//! unread.

mod error;
mod line;

use std::path::Path;
use std::sync::Arc;

use meed::Time;
use meed_files::lines::Lines;
use meed_files::{FileError, Origin};

pub use error::LogError;
pub(crate) use line::{Content, Line, TaskLine, What, change_of, job_of};

use super::Header;

/// Longest line: a job of 2^24 tasks with a duration each fits.
const LINE_LIMIT: usize = 1 << 28;

/// A log and the runs in it.
#[derive(Clone)]
pub struct LogFile {
    origin: Origin,
    runs: Vec<Run>,
}

/// One run of a log.
#[derive(Clone, Debug)]
pub struct Run {
    /// Its number in the file, from 1.
    pub number: usize,
    /// Its first line.
    pub header: Header,
    /// Number of its first line in the file, from 1.
    pub first_line: u64,
    /// Number of its last whole line.
    pub last_line: u64,
    /// Time of its last whole line.
    pub end: Time,
    /// Whether its last line is there. It is not when the program that wrote it was stopped.
    pub finished: bool,
}

impl LogFile {
    /// Looks through the log at `path` for its runs.
    pub fn open(path: &Path) -> Result<LogFile, LogError> {
        LogFile::of(Origin::path(path))
    }

    /// The same of `origin`.
    pub fn of(origin: Origin) -> Result<LogFile, LogError> {
        let mut runs: Vec<Run> = Vec::new();
        let mut reader = Reader::open(&origin, 1, u64::MAX)?;
        while let Some((line, found)) = reader
            .find_map(&[What::Run, What::Finish], |line, _, read| {
                Ok(Some((line, (read.t, read.what, read.run()))))
            })?
        {
            match found {
                (t, What::Run, Some(header)) => {
                    let (number, finished) = (runs.len() + 1, false);
                    runs.push(Run {
                        number,
                        header,
                        first_line: line,
                        last_line: line,
                        end: t,
                        finished,
                    });
                }
                (_, What::Finish, _) => {
                    if let Some(run) = runs.last_mut() {
                        run.finished = true;
                    }
                }
                _ => {}
            }
        }
        let (last, ends) = (reader.good, std::mem::take(&mut reader.ends));
        // The last whole line of each run is the one before the next begins.
        for (index, (line, t)) in ends.into_iter().chain([(last.0, last.1)]).enumerate() {
            if let Some(run) = runs.get_mut(index) {
                (run.last_line, run.end) = (line, t);
            }
        }
        match runs.is_empty() {
            true => Err(LogError::whole(
                origin.name(),
                "holds no run; a log of `meed simulate --log` begins with a line \
                 {\"t\":0.0,\"run\":{..}}",
            )),
            false => Ok(LogFile { origin, runs }),
        }
    }

    /// The runs, in their order.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// What messages call it.
    pub fn name(&self) -> &str {
        self.origin.name()
    }

    /// The run that `which` names by its number or its policy; without it the only one.
    pub fn run(&self, which: Option<&str>) -> Result<&Run, LogError> {
        let list = || {
            let of = |run: &Run| format!("{} ({})", run.number, run.header.policy);
            self.runs.iter().map(of).collect::<Vec<_>>().join(", ")
        };
        let Some(which) = which else {
            return match self.runs.as_slice() {
                [only] => Ok(only),
                _ => Err(LogError::Which {
                    file: Arc::clone(self.origin.name()),
                    what: format!(
                        "holds {} runs; choose one with --run: {}",
                        self.runs.len(),
                        list()
                    ),
                }),
            };
        };
        let by_name: Vec<&Run> =
            self.runs.iter().filter(|run| run.header.policy == which).collect();
        let by_number =
            || which.parse().ok().and_then(|number: usize| self.runs.get(number.checked_sub(1)?));
        let what = match (by_name.as_slice(), by_number()) {
            ([one], _) => return Ok(one),
            ([], Some(run)) => return Ok(run),
            ([], None) => format!("has no run `{which}`; its runs are {}", list()),
            _ => format!("has several runs called `{which}`; choose one by its number: {}", list()),
        };
        Err(LogError::Which { file: Arc::clone(self.origin.name()), what })
    }

    /// The lines of `run`, the first included.
    pub(crate) fn read(&self, run: &Run) -> Result<Reader, LogError> {
        Reader::open(&self.origin, run.first_line, run.last_line)
    }

    pub(crate) fn file(&self) -> &Arc<str> {
        self.origin.name()
    }
}

/// Reads lines of one run, or of the whole file.
pub(crate) struct Reader {
    lines: Lines,
    /// Number of the last line to be read.
    last: u64,
    /// The last whole line so far, and its time.
    good: (u64, Time),
    /// The same for the end of each run before the current one.
    ends: Vec<(u64, Time)>,
    /// Whether a run has begun.
    begun: bool,
    over: bool,
}

impl Reader {
    fn open(origin: &Origin, first: u64, last: u64) -> Result<Reader, LogError> {
        let mut lines = Lines::new(origin.open()?, LINE_LIMIT);
        for _ in 1..first {
            lines.next_line()?;
        }
        Ok(Reader {
            lines,
            last,
            good: (0, Time::ZERO),
            ends: Vec::new(),
            begun: false,
            over: false,
        })
    }

    /// Reads on until `pick` finds something, which is told number, bytes and content of each line
    /// of the kinds `wanted`. `None` at the end, also where the log was cut short.
    pub(crate) fn find_map<T>(
        &mut self,
        wanted: &[What],
        mut pick: impl FnMut(u64, &[u8], Line<'_>) -> Result<Option<T>, String>,
    ) -> Result<Option<T>, LogError> {
        while !self.over && self.lines.number() < self.last {
            let before = self.lines.number();
            let wrong = match self.lines.next_line() {
                Ok(None) => break,
                // Good up to there: what a crash leaves of a compressed log.
                Err(FileError::Truncated { .. }) => break,
                Err(error) => return Err(error.into()),
                Ok(Some(line)) if line.trim_ascii().is_empty() => continue,
                Ok(Some(bytes)) => match Line::parse(bytes, wanted) {
                    Err(wrong) => wrong,
                    Ok(line) => {
                        let (t, begins) = (line.t, line.what == What::Run);
                        if !begins && !self.begun && line.what != What::Other {
                            let what =
                                "stands before any line `run`, with which a run begins".to_owned();
                            return Err(self.wrong(before + 1, what));
                        }
                        let (ended, after) = (self.begun && begins, self.begun && !begins);
                        self.begun |= begins;
                        if after && t < self.good.1 {
                            let what =
                                format!("t is {t}, after {} in the line before", self.good.1);
                            return Err(self.wrong(before + 1, what));
                        }
                        if ended {
                            self.ends.push(self.good);
                        }
                        let found = match wanted.contains(&line.what) {
                            true => pick(before + 1, bytes, line),
                            false => Ok(None),
                        };
                        self.good = (before + 1, t);
                        match found {
                            Ok(None) => continue,
                            Ok(found) => return Ok(found),
                            Err(what) => return Err(self.wrong(before + 1, what)),
                        }
                    }
                },
            };
            // A crash in the middle of a line leaves a piece of JSON at the very end.
            if wrong.cut
                && matches!(self.lines.next_line(), Ok(None) | Err(FileError::Truncated { .. }))
            {
                break;
            }
            return Err(self.wrong(before + 1, wrong.what));
        }
        self.over = true;
        Ok(None)
    }

    /// The next line as it is, unread.
    pub(crate) fn next_raw(&mut self) -> Result<Option<(u64, &[u8])>, LogError> {
        if self.over || self.lines.number() >= self.last {
            return Ok(None);
        }
        let number = self.lines.number() + 1;
        Ok(self.lines.next_line()?.map(|line| (number, line)))
    }

    /// The error of a line.
    pub(crate) fn wrong(&self, line: u64, what: String) -> LogError {
        LogError::Line { file: Arc::clone(self.lines.input().name()), line, what }
    }

    pub(crate) fn progress(&self) -> Option<f64> {
        self.lines.input().progress()
    }
}
