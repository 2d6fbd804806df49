//! Workloads from outside: files as they are in the wild, real traces, whole paths through the
//! crate.
//!
//! One binary, so that it links once.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod batch_logs;
mod empty_logs;
mod files;
mod odd_logs;
mod odd_rows;
mod real_traces;
mod slurm;
mod workloads;
