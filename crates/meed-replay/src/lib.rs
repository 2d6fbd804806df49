//! Recorded runs, run again: the same to the byte, under other policies, and explained.
//!
//! [`replay`] runs what a log recorded again and compares; [`explain`](mod@explain) goes to an
//! instant of it and says why a queue or a job stands as it does.

pub mod explain;
mod live;
mod replay;

pub use replay::{
    Difference, Recording, ReplayError, ReplayOptions, Replayed, VerifiedRun, replay, verified,
    verify,
};
