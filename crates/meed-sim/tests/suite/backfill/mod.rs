//! Backfilling as in the textbook: slow, obvious twins, what they promise, and the simulator beside
//! them, start for start.

mod by_hand;
pub(crate) mod engine;
mod promises;
pub(crate) mod twins;
// With the keys `reservations` and `limit`: mod reserve;
mod wait;
