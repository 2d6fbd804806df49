//! Why a scenario cannot be read.

use meed_config::TextError;
use meed_workload::TraceError;

/// Why a scenario cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The scenario itself.
    #[error(transparent)]
    Scenario(#[from] TextError),
    /// The trace that it names.
    #[error(transparent)]
    Trace(#[from] TraceError),
}
