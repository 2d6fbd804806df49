//! Trace readers and generators: from many sources to one canonical workload.
//!
//! A [`JobSource`] is a stream of [`Job`]s in order of submission. Readers (SWIM, SWF, Meed's own format) and
//! generators all make it, worlds take it, and none of them knows policies.

mod job;
mod source;

pub use job::{Durations, Job, JobLabel, TaskGroup};
pub use source::{JobSource, SourceCounts};

/// Placeholder until the readers land.
#[derive(Debug, thiserror::Error)]
#[error("trace")]
pub struct TraceError;
