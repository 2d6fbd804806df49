//! Crashes of a live driver: whatever breaks, what comes back is what was there.
//! `MEED_CRASH_SECONDS` makes the random tests longer (`cargo xtask crash`).
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod ahead;
mod damage;
mod golden;
mod happens;
mod kill;
mod laws;
mod power;
mod queues;
mod told;
mod vocabulary;
mod world;
