//! What is to be run: scenario files, traces and recorded runs, checked and made one value.
//!
//! A [`Scenario`] says what the cluster, the queues, the policies and the workload are. It is read
//! from a file, made of data that a program has, or made of a trace or a recorded run alone;
//! changes ([`Setting`]) are made before anything is checked. [`Scenario::plan`] says what a
//! policy's name means for it, [`Scenario::source`] opens its jobs. Worlds (`meed-sim`) run it.

pub mod changes;
pub mod grants;
pub mod log;
pub mod logged;
pub mod plan;
pub mod plans;
mod scenario;
pub mod slots;

pub use scenario::given::GivenJobs;
pub use scenario::of_log::told_order;
pub use scenario::of_logged::workload_of;
pub use scenario::{
    DEFAULT_POLICIES, LoadError, MOST_SPLIT, SLOTS, STATIC, Scenario, ScenarioError, ScenarioWorld,
    Setting, TraceReading,
};
