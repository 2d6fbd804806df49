//! The virtual-time simulator: one workload under many policies, with the same engine that
//! schedules for real.
//!
//! A [`Scenario`](scenario::Scenario) file says what the cluster, the queues, the policies and the
//! workload are; [`simulate`] runs it under each policy and returns a [`record::Comparison`]. The
//! simulator knows time; it decides nothing itself.

pub mod asked;
pub mod changes;
pub mod explain;
mod holds;
mod live;
pub mod log;
mod logged;
mod plans;
pub mod replay;
mod rerun;
pub mod scenario;
mod simulate;
mod slots;
pub mod world;

pub use meed_driver::record;
pub use plans::{AS_YOU_PAY, Accounts};
pub use simulate::{
    DEFAULT_POLICIES, MOST_SPLIT, Overtaking, SimulateError, SimulateOptions, Unwatched, Watch,
    run_mapreduce, run_one, simulate, simulate_attended, simulate_telling,
};
