//! The outputs as a user gets them: tables as text, JSON and HTML as files, pages of results.
//!
//! One binary, so that it links once.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

mod common;
mod mapreduce;
mod page;
mod report;
mod sample;
