//! Why an audit could not be made.

/// Why an audit could not be made.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// A run failed, or a policy's words are wrong.
    #[error(transparent)]
    Simulate(#[from] meed_sim::SimulateError),
    /// A file cannot be written, or is one that another output goes to.
    #[error(transparent)]
    Write(#[from] meed_files::GuardError),
    /// A run failed.
    #[error(transparent)]
    Run(#[from] meed_sim::world::RunError),
    /// A scenario could not be read.
    #[error(transparent)]
    Load(#[from] meed_scenario::LoadError),
    /// A workload or a file could not be made.
    #[error(transparent)]
    Trace(#[from] meed_workload::TraceError),
    /// The engine refused a configuration.
    #[error(transparent)]
    Config(#[from] meed::ConfigError),
    /// The exact allocation to compare with refused a case.
    #[error(transparent)]
    Level(#[from] meed_level::InputError),
    /// A log or a case is not what we write.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// A case that is to be replayed is wrong.
    #[error("{file}: {what}")]
    Case {
        /// Its file.
        file: String,
        /// What, and what would be right.
        what: String,
    },
    /// A file cannot be read or a folder cannot be made.
    #[error("{file}: {cause}")]
    File {
        /// Which.
        file: String,
        /// Why.
        cause: std::io::Error,
    },
}
