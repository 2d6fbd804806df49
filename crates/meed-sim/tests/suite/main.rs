//! Runs of the simulator from outside: their figures computed again from their logs, and rules that
//! hold over whole runs.
//!
//! One binary, so that it links once.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod backfill;
mod charts;
mod counted;
mod delays;
mod dominant;
mod given;
mod joint;
mod limits;
mod load;
mod mapreduce;
mod mapreduce_as_hadoop;
mod mapreduce_attempts;
mod mapreduce_pages;
mod plans;
mod plans_audit;
mod plans_spread;
mod reclaim;
mod runs;
mod ties;
