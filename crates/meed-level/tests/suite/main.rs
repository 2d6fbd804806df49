//! The exact allocation as a whole: the papers' examples, a slow twin (a general LP solver, round
//! by round), proven properties on random pools, problems that were solved wrongly once, and
//! refusals.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;
mod documents;
mod found;
mod outsider;
mod papers;
mod properties;
mod refusals;
mod twin;
