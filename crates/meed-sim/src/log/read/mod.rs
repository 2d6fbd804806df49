//! Reading logs back, compressed or not: files of lines for [`meed_journal::Reader`].
//!
//! A log may hold several runs; passes over one of them skip the others unread.

mod error;

use std::path::Path;
use std::sync::Arc;

use meed_files::lines::Lines;
use meed_files::{FileError, Origin};

pub use error::LogError;
pub use meed_journal::{Header, Run};

/// Longest line: a job of 2^24 tasks with a duration each fits.
const LINE_LIMIT: usize = 1 << 28;

/// Reads records of one run, or of the whole file.
pub(crate) type Reader = meed_journal::Reader<FileLines>;

/// The lines of a file.
pub(crate) struct FileLines(Lines);

impl FileLines {
    pub(crate) fn progress(&self) -> Option<f64> {
        self.0.input().progress()
    }
}

impl meed_journal::LineSource for FileLines {
    type Error = FileError;

    fn next_line(&mut self) -> Result<Option<&[u8]>, FileError> {
        self.0.next_line()
    }

    fn cut_short(error: &FileError) -> bool {
        matches!(error, FileError::Truncated { .. })
    }
}

/// A log and the runs in it.
#[derive(Clone)]
pub struct LogFile {
    origin: Origin,
    runs: Vec<Run>,
}

impl LogFile {
    /// Looks through the log at `path` for its runs.
    pub fn open(path: &Path) -> Result<LogFile, LogError> {
        LogFile::of(Origin::path(path))
    }

    /// The same of `origin`.
    pub fn of(origin: Origin) -> Result<LogFile, LogError> {
        let runs = meed_journal::runs(reader(&origin)?)?;
        match runs.is_empty() {
            true => Err(LogError::whole(
                origin.name(),
                "holds no run; a log of `meed simulate --log` begins with a line \
                 {\"seq\":0,\"t\":0.0,\"run\":{..}}",
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

    /// The records of `run`, the first included.
    pub(crate) fn read(&self, run: &Run) -> Result<Reader, LogError> {
        Ok(reader(&self.origin)?.within(run.first_line, run.last_line)?)
    }

    pub(crate) fn file(&self) -> &Arc<str> {
        self.origin.name()
    }
}

fn reader(origin: &Origin) -> Result<Reader, LogError> {
    let lines = Lines::new(origin.open()?, LINE_LIMIT);
    Ok(Reader::new(Arc::clone(origin.name()), FileLines(lines)))
}
