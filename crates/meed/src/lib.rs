//! The pure scheduling engine: who is served next on a shared cluster, and where the work runs.
//!
//! A world (a simulator, a server, a cluster's driver) makes an [`Engine`] from a [`Config`], tells
//! it what happens with [`Engine::apply`], and carries out what [`Engine::decide`] says. The engine
//! is a deterministic state machine without I/O, clock, threads or randomness.
//!
//! Two tenants share one node of two slots. `ads` uses both while `search` wants nothing; when
//! `search` comes back, it is served first until it has had as much:
//!
//! ```
//! use meed::{Config, Engine, Event, JobSpec, NodeSpec, Policy, QueueSpec, ResourceKinds};
//! use meed::{Resources, TaskGroup, Time, Unit, place::FirstFit};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//!
//! let root = Policy::preset("long-term").ok_or("no such preset")?;
//! let config = Config {
//!     kinds: ResourceKinds::new(vec![("slot".to_owned(), Unit::Milli)])?,
//!     measured: 0,
//!     queues: ["ads", "search"].map(|name| QueueSpec::new(name, root.clone())).to_vec(),
//!     nodes: vec![NodeSpec::new("server", Resources::new(&[2000]))],
//!     root,
//! };
//! let mut engine = Engine::new(config, Box::new(FirstFit::new(1)))?;
//! let queue = |name| engine.view().find_queue(name).expect("declared");
//! let [ads, search] = ["ads", "search"].map(queue);
//!
//! // At 0 s `ads` sends four tasks of one slot each; two of them start.
//! let tasks = [TaskGroup::new(4, Resources::new(&[1000]))];
//! engine.apply(Time::ZERO, Event::JobArrived(JobSpec::new(ads, &tasks)))?;
//! let mut running = Vec::new();
//! engine.decide(false, |start| running.push(start));
//! assert_eq!(running.len(), 2);
//!
//! // At 100 s both end, and `search` has come: it has used nothing, so both slots are its.
//! let now = Time::from_secs(100).expect("in range");
//! for ended in running.drain(..) {
//!     engine.apply(now, Event::TaskEnded(ended.allocation))?;
//! }
//! engine.apply(now, Event::JobArrived(JobSpec::new(search, &tasks)))?;
//! engine.decide(false, |start| running.push(start));
//! assert!(running.len() == 2 && running.iter().all(|start| start.queue == search));
//! # Ok(())
//! # }
//! ```
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
mod gang;
mod ids;
mod ledger;
pub mod memory;
mod node_rows;
mod order;
pub mod place;
pub mod policy;
mod quantum;
mod queue_rows;
mod reclaim;
pub mod resources;
mod rows;
pub mod shares;
mod slab;
mod spec;
pub mod state;
mod stop;
pub mod time;

pub use constraints::{Constraints, Labels};
pub use decision::{Choice, Choices, KeyValue, RULES, Reason, Start};
pub use engine::{
    ChildView, Engine, FirstChildren, GangFit, GangPart, GroupView, GuardView, HeldWith, KeyParts,
    MemoryClock, NodeRoom, QueueView, ReservationView, RunningView, View,
};
pub use error::{ConfigError, Rejected};
pub use event::{Effect, Event, JobState};
pub use gang::Gang;
pub use ids::{AllocationId, AllocationMark, JobId, JobTag, NodeId, NodeRow, QueueId};
pub use ledger::Charge;
pub use order::Tier;
pub use policy::{
    Blocked, Estimates, Measure, Memory, Newcomer, Policy, Quantum, Reservations, Scalar, Untried,
};
pub use reclaim::Reclaim;
pub use resources::{MAX_AMOUNT, MAX_KINDS, ResourceKinds, Resources, Unit};
pub use slab::Handle;
pub use spec::{
    Config, Infeasible, JobSpec, MAX_WEIGHT, NodeSpec, QueueChange, QueueSpec, Rank, TaskGroup,
    Weight,
};
pub use state::{STATE_VERSION, State, StateError};
pub use stop::{Manner, Stop, TakeBack, Winner};
pub use time::{MAX_MICROS, MICROS_PER_S, Span, Time};
