//! A log as a workload: what came when, from which queue, what it asked for, and how long it ran.
//!
//! | a run of | its jobs | how long tasks run |
//! |---|---|---|
//! | the simulator | those of its arrivals, closed chains too | as its arrivals say |
//! | a live world | those of its arrivals, and tasks that were added | as its ends tell (`ran`) |
//!
//! Nothing else of the record counts: who started where and when is decided anew, by any policy.
//! That is how this differs from a replay, which keeps to the recorded instants of all that came
//! from outside, and so can say nothing of a record that begins in the middle. Nodes, queues and
//! policies of the run are a scenario of their own (`cluster.rs`, `scenario/of_logged.rs`).
//!
//! Time 0 is the first instant of the run. Invariant: a simulated run's workload under the same
//! policy gives that run again, line by line. Cost: a simulated run is read as it goes, a live one
//! whole, O(tasks that started).

pub mod begun;
pub(crate) mod cluster;
mod head;
mod jobs;
mod labels;
mod ran;
pub mod recorded;
mod run;
mod source;
#[cfg(test)]
mod tests;
mod trace;

pub(crate) use jobs::LogAssumptions;
pub(crate) use run::{Logged, Placing};
pub(crate) use trace::{LogTrace, LoggedJobs};
