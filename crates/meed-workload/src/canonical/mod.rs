//! Meed's own trace format: JSON lines, exact, made to be written by scripts.
//!
//! The first line is a header object (`{"meed_trace":1,"resources":{...},"queues":[...]}`), every
//! other line one job; `docs/trace-format.md` is its description. Numbers are read from their text,
//! never through floating point: times to the microsecond, amounts to the kind's smallest unit, so
//! that what is written reads back equal.
//!
//! Invariant: [`CanonicalSource`] of what a [`CanonicalWriter`] wrote gives equal jobs, and the
//! writer writes only what the reader takes. Cost: memory for one line, which is at most
//! [`LINE_LIMIT`].

mod json;
mod read;
mod write;

pub use read::CanonicalSource;
pub use write::CanonicalWriter;

/// Version of the format that is written and read.
pub const VERSION: u32 = 1;

/// Longest line, in bytes: a whole job with a duration for every task is one line.
pub const LINE_LIMIT: usize = 64 << 20;

#[cfg(test)]
mod tests;
