//! The worlds of virtual time: one workload under many policies, with the same engine that
//! schedules for real.
//!
//! A [`Scenario`](meed_scenario::Scenario) says what the cluster, the queues, the policies and the
//! workload are; [`simulate`] runs it under each policy and returns a [`record::Comparison`]. The
//! simulator knows time; it decides nothing itself.

mod accounts;
pub mod asked;
pub mod holds;
pub mod log;
mod paused;
mod rerun;
mod simulate;
pub mod world;

pub use accounts::Accounts;
pub use meed_driver::record;
pub use meed_scenario::plans::AS_YOU_PAY;
pub use meed_scenario::{DEFAULT_POLICIES, MOST_SPLIT};
pub use paused::{PausedJob, PausedRun};
pub use simulate::{
    Overtaking, SimulateError, SimulateOptions, Unwatched, Watch, add_speedups, run_mapreduce,
    run_one, setup, setup_with, simulate, simulate_attended, simulate_telling,
};
