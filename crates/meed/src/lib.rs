//! The pure scheduling engine: who is served next on a shared cluster, and where the work runs.

pub mod resources;
pub mod time;

pub use resources::{MAX_AMOUNT, MAX_KINDS, ResourceKinds, Resources, Unit};
pub use time::{MAX_MICROS, MICROS_PER_S, Span, Time};

/// Placeholder.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// Too many kinds.
    #[error("{given} kinds")]
    KindCount {
        /// How many.
        given: usize,
    },
    /// Bad name.
    #[error("{name}")]
    KindName {
        /// Name.
        name: String,
    },
}
