//! Why a run could not be finished.

use meed::Time;
use meed_driver::Failed;
use meed_mapreduce::MapReduceError;
use meed_mapreduce::classes::ClassesError;
use meed_workload::TraceError;

/// Why a run could not be finished.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The workload could not be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// Whoever watched it has stopped it.
    #[error("stopped at {at}")]
    Stopped {
        /// Virtual time.
        at: Time,
    },
    /// The log could not be written.
    #[error("cannot write the log: {0}")]
    Log(#[from] std::io::Error),
    /// The engine refused something that the scenario's reader should have found.
    #[error("{0}")]
    Config(#[from] meed::ConfigError),
    /// A rule of class-aware placement cannot be used.
    #[error("{0}")]
    Classes(#[from] ClassesError),
    /// A change of the scenario cannot be made.
    #[error("change at {at}: {why}")]
    Change {
        /// When it was to happen.
        at: Time,
        /// The engine's words.
        why: meed::Rejected,
    },
    /// What delays grants cannot be beside what else is asked for.
    #[error("{what}")]
    Delays {
        /// What cannot be.
        what: String,
    },
    /// A log that is played back contradicts itself.
    #[error("{file}:{line}: {what}")]
    Played {
        /// The log.
        file: std::sync::Arc<str>,
        /// The line.
        line: u64,
        /// What cannot have happened.
        what: String,
    },
    /// A job refused under `--strict`.
    #[error("job {job} of queue `{queue}`: {why}")]
    Refused {
        /// Its label.
        job: String,
        /// Its queue.
        queue: String,
        /// The engine's words.
        why: meed::Rejected,
    },
}

impl RunError {
    /// What a driver could not do at `at`.
    pub fn of(at: Time, failed: Failed) -> RunError {
        match failed {
            Failed::Rejected(why) => RunError::Change { at, why },
            Failed::Journal(error) => RunError::Log(error),
            // Of records that are played: this world plays none.
            other => RunError::Log(std::io::Error::other(other.to_string())),
        }
    }
}

impl From<MapReduceError> for RunError {
    fn from(error: MapReduceError) -> RunError {
        match error {
            MapReduceError::Stopped { at } => RunError::Stopped { at },
            MapReduceError::Log(error) => RunError::Log(error),
            MapReduceError::Config(error) => RunError::Config(error),
            MapReduceError::Classes(error) => RunError::Classes(error),
            MapReduceError::Change { at, why } => RunError::Change { at, why },
            MapReduceError::Refused { job, queue, why } => RunError::Refused { job, queue, why },
        }
    }
}
