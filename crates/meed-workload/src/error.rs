//! What can be wrong with a trace, said so that it can be put right.
//!
//! Two classes, kept apart because they are treated differently:
//! - [`BadLine`]: one line is wrong. [`OnBadLine`] decides whether it is skipped and counted or
//!   stops the run; skipped lines are kept in a [`BadLines`] tally, the first few with their
//!   message.
//! - every other [`TraceError`]: the file as a whole cannot be used (unreadable, cut short, empty).
//!   It always stops.
//!
//! Every message names the file, and the line where there is one, as `FILE:LINE: ` so that editors
//! can jump to it.

use std::fmt;
use std::sync::Arc;

use meed_files::FileError;

/// Why a trace cannot be read, made or written.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The file cannot be read or written, or is none of the kind.
    #[error(transparent)]
    File(#[from] FileError),
    /// There is nothing to run.
    #[error("{file}: no jobs: {why}")]
    NoJobs {
        /// The file.
        file: Arc<str>,
        /// How that came about, and what was expected.
        why: String,
    },
    /// There is nothing to run on.
    #[error("{file}: no machines: {why}")]
    NoMachines {
        /// The file.
        file: Arc<str>,
        /// How that came about, and what was expected.
        why: String,
    },
    /// The file's header is missing or does not fit the cluster.
    #[error("{file}:{line}: {why}")]
    Header {
        /// The file.
        file: Arc<str>,
        /// The line.
        line: u64,
        /// What is wrong and what would be right.
        why: String,
    },
    /// One line is wrong, and [`OnBadLine::Stop`] was asked for.
    #[error(transparent)]
    BadLine(Box<BadLine>),
    /// A reader's assumptions or a generator's specification contradict themselves.
    #[error("{what}: {why}")]
    Settings {
        /// Which setting.
        what: String,
        /// What is wrong and what would be right.
        why: String,
    },
    /// A job that cannot be written, or must not be given to a world.
    #[error("{file}: job {job}: {why}")]
    Job {
        /// Where it comes from or should go to.
        file: Arc<str>,
        /// Its label.
        job: String,
        /// What is wrong.
        why: String,
    },
}

impl TraceError {
    pub(crate) fn settings(what: impl Into<String>, why: impl Into<String>) -> TraceError {
        TraceError::Settings { what: what.into(), why: why.into() }
    }

    /// Whether the file itself could not be read or written, whatever is in it.
    pub fn is_file(&self) -> bool {
        matches!(self, TraceError::File(error) if error.is_refusal())
    }

    /// Whether a single line is at fault, not the file.
    pub fn is_bad_line(&self) -> bool {
        matches!(self, TraceError::BadLine(_))
    }
}

/// What to do with a wrong line.
///
/// ```
/// use meed_workload::OnBadLine;
///
/// assert_eq!(OnBadLine::of(true), OnBadLine::Stop);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OnBadLine {
    /// Leave it out, count it, keep the first few messages.
    #[default]
    Skip,
    /// Stop with its message (`--strict`).
    Stop,
}

impl OnBadLine {
    /// What `--strict` says, or that nobody said it.
    ///
    /// ```
    /// use meed_workload::OnBadLine;
    /// assert_eq!([false, true].map(OnBadLine::of), [OnBadLine::Skip, OnBadLine::Stop]);
    /// ```
    pub fn of(strict: bool) -> OnBadLine {
        if strict { OnBadLine::Stop } else { OnBadLine::Skip }
    }
}

/// A wrong line: where, what, and what would be right.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadLine {
    /// The file.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub problem: BadRow,
}

impl fmt::Display for BadLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.problem)
    }
}

impl std::error::Error for BadLine {}

/// What is wrong within a line.
///
/// The example of [`BadLines`] notes one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadRow {
    /// The field, in the format's own words: "column 4 (run time)".
    pub field: Option<String>,
    /// What is wrong and what would be right, without the field.
    pub what: String,
}

impl BadRow {
    /// A problem of the whole line.
    pub fn line(what: impl Into<String>) -> BadRow {
        BadRow { field: None, what: what.into() }
    }

    /// A problem of one field.
    pub fn field(field: impl Into<String>, what: impl Into<String>) -> BadRow {
        BadRow { field: Some(field.into()), what: what.into() }
    }
}

impl fmt::Display for BadRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.field {
            Some(field) => write!(f, "{field}: {}", self.what),
            None => f.write_str(&self.what),
        }
    }
}

/// How many messages of skipped lines are kept.
pub const KEPT_MESSAGES: usize = 5;

/// The tally of wrong lines. Memory: [`KEPT_MESSAGES`] messages, however many lines are wrong.
///
/// ```
/// use meed_workload::OnBadLine;
/// use meed_workload::error::{BadLines, BadRow};
///
/// let mut bad = BadLines::new(OnBadLine::Skip);
/// bad.note(&"a.swf".into(), 7, BadRow::field("submit", "is not a number"))?;
/// assert_eq!((bad.count(), bad.first()[0].line), (1, 7));
/// let mut strict = BadLines::new(OnBadLine::Stop);
/// assert!(strict.note(&"a.swf".into(), 7, BadRow::line("is cut short")).is_err());
/// # Ok::<(), meed_workload::TraceError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct BadLines {
    policy: OnBadLine,
    count: u64,
    first: Vec<BadLine>,
}

impl BadLines {
    /// An empty tally under `policy`.
    pub fn new(policy: OnBadLine) -> BadLines {
        BadLines { policy, count: 0, first: Vec::new() }
    }

    /// Notes a wrong line; an error when the policy is to stop.
    pub fn note(&mut self, file: &Arc<str>, line: u64, problem: BadRow) -> Result<(), TraceError> {
        let bad = BadLine { file: Arc::clone(file), line, problem };
        self.count += 1;
        match self.policy {
            OnBadLine::Stop => Err(TraceError::BadLine(Box::new(bad))),
            OnBadLine::Skip => {
                if self.first.len() < KEPT_MESSAGES {
                    self.first.push(bad);
                }
                Ok(())
            }
        }
    }

    /// How many lines were wrong.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The first of them.
    pub fn first(&self) -> &[BadLine] {
        &self.first
    }
}

/// The error of a file that holds no job, with the likeliest reason.
pub(crate) fn no_jobs(
    file: &Arc<str>,
    lines: u64,
    ignored: u64,
    bad: &BadLines,
    wanted: &str,
) -> TraceError {
    let why = if lines == 0 {
        format!("the file is empty; {wanted}")
    } else if let Some(first) = bad.first().first() {
        format!(
            "{} of {lines} lines are wrong, {ignored} left out; the first: {first}",
            bad.count()
        )
    } else if ignored > 0 {
        format!("all {ignored} were left out by the reader's assumptions; {wanted}")
    } else {
        format!("{lines} lines, none of them a job; {wanted}")
    };
    TraceError::NoJobs { file: Arc::clone(file), why }
}

/// The line of a table that names its columns is wrong, or says that the table is read wrongly.
pub(crate) fn header(file: &Arc<str>, line: u64, why: String) -> TraceError {
    TraceError::Header { file: Arc::clone(file), line, why }
}

/// The error of a file whose format is known, and that has no jobs, as `why` says.
pub(crate) fn no_jobs_in(file: &Arc<str>, why: &str) -> TraceError {
    TraceError::NoJobs { file: Arc::clone(file), why: why.to_owned() }
}

/// The error of a file most of whose lines are wrong: what is left of it is no workload that
/// anybody had. `None` where most are not.
pub(crate) fn mostly_wrong(
    file: &Arc<str>,
    lines: u64,
    bad: &BadLines,
    wanted: &str,
) -> Option<TraceError> {
    let first = bad.first().first().filter(|_| bad.count() > lines / 2)?;
    let (count, line, problem) = (bad.count(), first.line, &first.problem);
    let why = format!(
        "{count} of {lines} lines are wrong, so the file is read wrongly, or is damaged; \
         {problem}; {wanted}"
    );
    Some(TraceError::Header { file: Arc::clone(file), line, why })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tally_keeps_the_first_messages_and_counts_all() {
        let file: Arc<str> = "a.swf".into();
        let mut bad = BadLines::new(OnBadLine::Skip);
        for line in 1..=9 {
            bad.note(&file, line, BadRow::field("column 4 (run time)", "\"x\" is not a number"))
                .unwrap();
        }
        assert_eq!((bad.count(), bad.first().len()), (9, KEPT_MESSAGES));
        assert_eq!(
            bad.first()[1].to_string(),
            "a.swf:2: column 4 (run time): \"x\" is not a number"
        );
        let stop = BadLines::new(OnBadLine::Stop).note(&file, 7, BadRow::line("odd")).unwrap_err();
        assert_eq!(stop.to_string(), "a.swf:7: odd");
        assert!(stop.is_bad_line());
    }
}
