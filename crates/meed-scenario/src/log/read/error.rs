//! What can be wrong with a log.

use std::sync::Arc;

use meed_files::FileError;
use meed_journal::ReadError;
use meed_workload::TraceError;

use meed_config::TextError as ScenarioError;

/// Why a log cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
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
    /// The file as a whole is no log.
    #[error("{file}: {what}")]
    Whole {
        /// The file.
        file: Arc<str>,
        /// What is wrong and what would be right.
        what: String,
    },
    /// It is not said which of several runs, jobs or queues is meant, or none of that name is
    /// there.
    #[error("{file} {what}")]
    Which {
        /// The file.
        file: Arc<str>,
        /// What there is to choose from.
        what: String,
    },
    /// Its header says what cannot be, or what was asked for does not go with it.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
}

impl LogError {
    /// Something wrong with all of the log.
    pub fn whole(file: &Arc<str>, what: impl Into<String>) -> LogError {
        LogError::Whole { file: Arc::clone(file), what: what.into() }
    }
}

impl From<ReadError<FileError>> for LogError {
    fn from(error: ReadError<FileError>) -> LogError {
        match error {
            ReadError::Source(error) => LogError::File(error),
            ReadError::Line { file, line, what } => LogError::Line { file, line, what },
        }
    }
}

impl From<LogError> for TraceError {
    fn from(error: LogError) -> TraceError {
        match error {
            LogError::File(error) => error.into(),
            LogError::Line { file, line, what } => TraceError::Header { file, line, why: what },
            LogError::Whole { file, what } | LogError::Which { file, what } => {
                TraceError::Settings { what: file.to_string(), why: what }
            }
            LogError::Scenario(error) => TraceError::Settings { what: error.file, why: error.what },
        }
    }
}
