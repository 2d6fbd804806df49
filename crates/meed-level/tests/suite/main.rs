//! The exact allocation as a whole: the papers' examples, a slow twin (a general LP solver, round by round), proven
//! properties on random pools, and refusals.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;
mod documents;
mod outsider;
mod papers;
mod properties;
mod refusals;
mod twin;
