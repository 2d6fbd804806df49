//! Why an experiment did not happen or did not end.

use std::io;
use std::path::PathBuf;

use meed_sim::SimulateError;

/// Why a sweep did not happen or did not end.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// The settings are wrong.
    #[error("{0}")]
    Settings(String),
    /// A point cannot be run; found before anything ran.
    #[error("{at}: {source}")]
    Load {
        /// Which point, in words.
        at: String,
        /// Why.
        source: Box<meed_scenario::LoadError>,
    },
    /// A point's run failed.
    #[error("{at}: {source}")]
    Run {
        /// Which point, in words.
        at: String,
        /// Why.
        source: Box<SimulateError>,
    },
    /// The journal cannot be used.
    #[error(transparent)]
    SweepJournal(#[from] JournalError),
    /// No threads.
    #[error("cannot start {threads} threads: {why}")]
    Threads {
        /// How many were asked for.
        threads: usize,
        /// What the operating system says.
        why: String,
    },
}

/// Why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The operating system refused.
    #[error("{}: {action}: {source}", path.display())]
    Io {
        /// The journal or a trace.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// What the operating system says.
        source: io::Error,
    },
    /// It is something else.
    #[error("{}: is no journal of a sweep, and is left alone; choose another \
        --out", path.display())]
    NoJournal {
        /// The file.
        path: PathBuf,
    },
    /// It belongs to another sweep, or is damaged.
    #[error("{}: {why}; --fresh starts over, another --out keeps it", path.display())]
    Other {
        /// The journal.
        path: PathBuf,
        /// In which way.
        why: String,
    },
}
