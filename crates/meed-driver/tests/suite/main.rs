//! Crashes of a live driver: whatever breaks, what comes back is what was there.

mod damage;
mod kill;
mod laws;
mod power;
mod world;
