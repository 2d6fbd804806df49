//! Crashes of a live driver: whatever breaks, what comes back is what was there.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod damage;
mod kill;
mod laws;
mod power;
mod world;
