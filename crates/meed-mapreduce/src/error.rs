//! What ends a run of this world early.

use meed::{ConfigError, Rejected, Time};
use meed_driver::Failed;

use crate::classes::ClassesError;

/// Why a run of the MapReduce world could not be finished.
#[derive(Debug, thiserror::Error)]
pub enum MapReduceError {
    /// The caller has stopped it.
    #[error("stopped at {at}")]
    Stopped {
        /// Virtual time.
        at: Time,
    },
    /// The log could not be written.
    #[error("cannot write the log: {0}")]
    Log(#[from] std::io::Error),
    /// The engine refused a configuration that the scenario's reader should have refused.
    #[error("{0}")]
    Config(#[from] ConfigError),
    /// A rule of class-aware placement cannot be used.
    #[error("{0}")]
    Classes(#[from] ClassesError),
    /// The engine refused an event.
    #[error("change at {at}: {why}")]
    Change {
        /// When the event happened.
        at: Time,
        /// The engine's words.
        why: Rejected,
    },
    /// A job was refused, and the run is strict.
    #[error("job {job} of queue `{queue}`: {why}")]
    Refused {
        /// Its label.
        job: String,
        /// Its queue.
        queue: String,
        /// The engine's words.
        why: Rejected,
    },
}

impl MapReduceError {
    /// What a driver could not do at `at`.
    pub(crate) fn of(at: Time, failed: Failed) -> MapReduceError {
        match failed {
            Failed::Rejected(why) => MapReduceError::Change { at, why },
            Failed::Journal(error) => MapReduceError::Log(error),
            // Of records that are played: this world plays none.
            other => MapReduceError::Log(std::io::Error::other(other.to_string())),
        }
    }
}
