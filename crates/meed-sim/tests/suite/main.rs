//! Runs of the simulator from outside: their figures computed again from their logs, and rules that
//! hold over whole runs.
//!
//! One binary, so that it links once.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod backfill;
mod charts;
mod delays;
mod dominant;
mod given;
#[path = "../../../meed-driver/tests/suite/happens.rs"]
mod happens;
mod joint;
mod limits;
mod live;
mod load;
mod logged;
mod mapreduce;
mod mapreduce_as_hadoop;
mod mapreduce_attempts;
mod mapreduce_pages;
mod plans;
mod plans_audit;
mod plans_spread;
mod reclaim;
mod recompute;
mod runs;
mod ties;
#[expect(dead_code, reason = "the driver's own tests use the rest")]
#[path = "../../../meed-driver/tests/suite/world.rs"]
mod world;
