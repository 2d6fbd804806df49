//! Backfilling as in the textbook: slow, obvious twins, what they promise, and the simulator beside
//! them, start for start.

mod by_hand;
pub(crate) mod engine;
mod promises;
mod reserve;
pub(crate) mod twins;
mod wait;
