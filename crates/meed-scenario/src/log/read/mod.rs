//! Reading logs back, compressed or not: files of lines for [`meed_journal::Reader`].
//!
//! A folder that a live world's journal is kept in is read as one log: its segments one after the
//! other. A log may hold several runs; passes over one of them skip the others unread.

mod error;
mod folder;

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use meed_files::lines::Lines;
use meed_files::{FileError, Origin};

pub use error::LogError;
pub use meed_journal::{Header, Run};

/// Longest line: a job of 2^24 tasks with a duration each fits.
const LINE_LIMIT: usize = 1 << 28;

/// Reads records of one run, or of the whole file.
pub type LogReader = meed_journal::Reader<FileLines>;

/// The lines of a file, or of one after the other.
///
/// The example of [`LogFile`] reads them.
pub struct FileLines {
    lines: Lines,
    rest: VecDeque<Origin>,
}

impl FileLines {
    /// How far reading is, as a fraction of the file; `None` where nobody knows.
    pub fn progress(&self) -> Option<f64> {
        self.lines.input().progress()
    }
}

impl meed_journal::LineSource for FileLines {
    type Error = FileError;

    fn next_line(&mut self) -> Result<Option<&[u8]>, FileError> {
        // Twice, for the borrow of a line that is handed out lasts as long as the answer.
        while self.lines.is_at_end()? {
            let Some(next) = self.rest.pop_front() else { return Ok(None) };
            self.lines = Lines::new(next.open()?, LINE_LIMIT);
        }
        self.lines.next_line()
    }

    fn cut_short(error: &FileError) -> bool {
        matches!(error, FileError::Truncated { .. })
    }
}

/// A log and the runs in it.
///
/// ```
/// use meed::Time;
/// use meed_journal::{Fact, Finish, Header, Kind, SCHEMA, Writer};
/// use meed_scenario::log::read::LogFile;
///
/// let path = std::env::temp_dir().join(format!("meed-log-{}.jsonl", std::process::id()));
/// let mut writer = Writer::new(Vec::new());
/// let header = Header { schema: SCHEMA, world: "toy".to_owned(), ..Header::default() };
/// writer.append(Time::ZERO, &Fact::Run(Box::new(header)))?;
/// writer.append(Time::ZERO, &Fact::Finish(Finish::default()))?;
/// std::fs::write(&path, writer.into_inner())?;
///
/// let log = LogFile::open(&path)?;
/// let run = log.run(None)?; // the only one
/// assert_eq!((run.header.world.as_str(), run.finished), ("toy", true));
/// assert!(log.read(run)?.next(&[Kind::Finish])?.is_some());
/// std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct LogFile {
    /// Its parts in order; the first gives the name.
    parts: Vec<Origin>,
    name: Arc<str>,
    runs: Vec<Run>,
}

impl LogFile {
    /// Looks through the log at `path` for its runs: a file, the folder of a live world's journal,
    /// or the state folder in which that is called `journal`.
    pub fn open(path: &Path) -> Result<LogFile, LogError> {
        let inner = path.join("journal");
        let path = if inner.is_dir() { &inner } else { path };
        match path.is_dir() {
            true => LogFile::of_parts(folder::segments(path)?, path.display().to_string().into()),
            false => LogFile::of(Origin::path(path)),
        }
    }

    /// The same of `origin`.
    pub fn of(origin: Origin) -> Result<LogFile, LogError> {
        let name = Arc::clone(origin.name());
        LogFile::of_parts(vec![origin], name)
    }

    fn of_parts(parts: Vec<Origin>, name: Arc<str>) -> Result<LogFile, LogError> {
        let runs = meed_journal::runs(reader(&parts, &name)?)?;
        match runs.is_empty() {
            true => Err(LogError::whole(
                &name,
                "holds no run; a log of `meed simulate --log` begins with a line \
                 {\"seq\":0,\"t\":0.0,\"run\":{..}}",
            )),
            false => Ok(LogFile { parts, name, runs }),
        }
    }

    /// The runs, in their order.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// What messages call it.
    pub fn name(&self) -> &str {
        &self.name
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
                    file: Arc::clone(&self.name),
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
        Err(LogError::Which { file: Arc::clone(&self.name), what })
    }

    /// The records of `run`, the first included.
    pub fn read(&self, run: &Run) -> Result<LogReader, LogError> {
        Ok(reader(&self.parts, &self.name)?.within(run.first_line, run.last_line)?)
    }

    /// The same, to be kept.
    pub fn file(&self) -> &Arc<str> {
        &self.name
    }
}

fn reader(parts: &[Origin], name: &Arc<str>) -> Result<LogReader, LogError> {
    let (first, rest) = parts.split_first().expect("a log has a part");
    let lines = Lines::new(first.open()?, LINE_LIMIT);
    let lines = FileLines { lines, rest: rest.iter().cloned().collect() };
    Ok(LogReader::new(Arc::clone(name), lines))
}
