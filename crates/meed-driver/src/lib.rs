//! What every world stands on: one engine, the world's names, its live jobs, metrics, and why
//! things stand as they do.
//!
//! A world is a short loop around a [`Driver`]. It says what happens (a job arrived, a task ended,
//! a node left), asks what starts, and carries that out. Worlds differ in who ends a task and who
//! carries out a start; all else is here, once.
//!
//! | part | what |
//! |---|---|
//! | [`Driver`] | the verbs: what happened goes in, starts come out |
//! | [`LiveJob`] | what the engine does not know of a live job: key and name, since when it waits, the world's own detail |
//! | [`Journal`] | where records go, before anything is carried out |
//! | [`live`] | a driver with a durable journal: recovery, snapshots, nothing carried out before it is durable |
//! | [`Books`] | where the books of each queue are read: in a driver, or in one for each tenant |
//! | [`Tally`], [`CapacityTime`], [`Sampler`] | what is counted while a run goes on |
//! | [`counters`] | what a live driver counts for whoever watches it |
//! | [`metrics`] | the text format of Prometheus, and what is told of queues |
//! | [`explain`] | what stands in the way of a job or a queue, from the books of this instant |
//! | [`record`] | what a run leaves: the form of tables, JSON and reports |
//!
//! A whole world in forty lines: virtual time, tasks that last a second.
//!
//! ```
//! use std::collections::BTreeMap;
//!
//! use meed::place::FirstFit;
//! use meed::{
//!     Config, JobSpec, Measure, NodeSpec, Policy, QueueSpec, ResourceKinds, Resources, Span,
//!     TaskGroup, Time, Unit,
//! };
//! use meed_driver::{Driver, NewJob};
//! use meed_journal::Fact;
//!
//! // A cluster of two cores, and two queues that share it fairly.
//! let kinds = ResourceKinds::new(vec![("cpu".to_owned(), Unit::Milli)])?;
//! let fair = Policy::new(Measure::Allocation);
//! let queue = |name: &str| QueueSpec::new(name, fair.clone());
//! let config = Config {
//!     measured: 0,
//!     root: fair.clone(),
//!     queues: vec![queue("physics"), queue("biology")],
//!     nodes: vec![NodeSpec::new("n1", Resources::new(&[2000]))],
//!     kinds,
//! };
//! let journal: Vec<(Time, Fact)> = Vec::new();
//! let mut driver = Driver::new(config, Box::new(FirstFit::new(1)), journal)?;
//!
//! // Two jobs of three tasks arrive; this world keeps of each how long its tasks last.
//! let groups = [TaskGroup::new(3, Resources::new(&[1000]))];
//! for (number, name) in ["physics", "biology"].iter().enumerate() {
//!     let queue = driver.queue_named(name).expect("it was declared");
//!     let spec = JobSpec::new(queue, &groups);
//!     let lasts = Span::from_secs(1).expect("in range");
//!     let new = || NewJob { key: (number as u64).into(), name: None, detail: lasts };
//!     driver.job_arrived(Time::ZERO, spec, new, |_, _, _| {})?;
//! }
//!
//! // The loop: what starts ends when it has lasted; what has ended makes room.
//! let mut ends = BTreeMap::new();
//! let mut now = Time::ZERO;
//! loop {
//!     let mut started = Vec::new();
//!     driver.decide(|start| started.push(start))?;
//!     for start in started {
//!         let lasts = driver.job(start.job).expect("it lives").detail;
//!         ends.insert((now.saturating_add(lasts), start.allocation), ());
//!     }
//!     let Some(((at, task), ())) = ends.pop_first() else { break };
//!     now = at;
//!     driver.task_ended(now, task)?;
//! }
//!
//! assert_eq!(now, Time::from_secs(3).expect("in range"));
//! assert_eq!(driver.counted().totals.jobs_ended, 2);
//! let starts = driver.journal().iter().filter(|(_, fact)| matches!(fact, Fact::TaskStarted(_)));
//! assert_eq!(starts.count(), 6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Invariants: a driver keeps no second copy of what the engine knows; it reads no clock (time
//! comes with each verb); the same verbs give the same starts.

mod books;
mod by_queue;
mod capacity;
pub mod counters;
mod counting;
mod driver;
pub mod explain;
mod header;
pub mod holdings;
mod index;
mod journal;
pub mod live;
pub mod metrics;
mod names;
mod outcome;
pub mod record;
mod rows;
mod series;
mod state;
mod tally;
mod virtual_time;

pub use books::Books;
pub use capacity::CapacityTime;
pub use counting::{CountedSpan, Counting};
pub use driver::apply::{Applied, RunningTask, Taken};
pub use driver::jobs::CancelledJob;
pub use driver::live::Withdrawn;
pub use driver::tasks::Ended;
pub use driver::{Driver, finish_of};
pub use header::header_of;
pub use journal::{Failed, Journal, Off};
pub use outcome::{Ending, outcome, resource_seconds};
pub use rows::{LiveJob, NewJob, Task, Waiting};
pub use series::Sampler;
pub use state::DRIVER_STATE_VERSION;
pub use tally::{KeptJob, QueueTally, Tally, Times, Totals};
pub use virtual_time::{Progress, StopAt};
