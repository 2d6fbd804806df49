//! Runs recorded and run again: what they report, computed from their logs alone, and what became
//! of live worlds and of logs as workloads.
//!
//! One binary, so that it links once.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod asked;
#[path = "../../../meed-driver/tests/suite/happens.rs"]
mod happens;
mod live;
mod logged;
mod plans;
mod recompute;
#[expect(dead_code, reason = "the driver's own tests use the rest")]
#[path = "../../../meed-driver/tests/suite/world.rs"]
mod world;
