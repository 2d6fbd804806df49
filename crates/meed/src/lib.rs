//! The pure scheduling engine: who is served next on a shared cluster, and where the work runs.
//!
//! A world (a simulator, a server, a cluster's driver) makes an [`Engine`] from a [`Config`], tells
//! it what happens with [`Engine::apply`], and carries out what [`Engine::decide`] says. The engine
//! is a deterministic state machine without I/O, clock, threads or randomness.
//!
//! Where to find what: the policies that users name are rows of [`policy::PRESETS`], their keys
//! files in `order/`, usage over time in `ledger/`, placements in [`place`], fairness measures in
//! [`fairness`].

mod cluster;
pub mod constraints;
mod decision;
mod engine;
mod error;
mod event;
pub mod fairness;
mod ledger;
mod order;
pub mod place;
pub mod policy;
mod quantum;
pub mod resources;
pub mod shares;
mod slab;
mod spec;
pub mod time;

pub use constraints::{Constraints, Labels};
pub use decision::{Choice, KeyValue, Reason, Start};
pub use engine::{ChildView, Engine, GroupView, GuardView, QueueView};
pub use error::{ConfigError, Rejected};
pub use event::{Effect, Event, JobState};
pub use ledger::Charge;
pub use order::Tier;
pub use policy::{Blocked, Measure, Memory, Newcomer, Policy, Quantum, Scalar};
pub use resources::{MAX_AMOUNT, MAX_KINDS, ResourceKinds, Resources, Unit};
pub use slab::Handle;
pub use spec::{
    AllocationId, AllocationMark, Config, JobId, JobMark, JobSpec, MAX_WEIGHT, NodeId, NodeSpec,
    QueueChange, QueueId, QueueSpec, TaskGroup, Weight,
};
pub use time::{MAX_MICROS, MICROS_PER_S, Span, Time};
