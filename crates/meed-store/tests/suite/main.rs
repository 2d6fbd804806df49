//! Both stores against a model, and on a disk that breaks in every way that is allowed, and some
//! that are not. `MEED_CRASH_SECONDS` makes the random tests longer (`cargo xtask crash`).
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod beside;
mod damage;
mod faults;
mod folder;
mod kill;
mod laws;
mod power;
mod workload;
