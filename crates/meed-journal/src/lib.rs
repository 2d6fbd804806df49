//! What happened in a world, in order: one [`Record`] for writing and reading.
//!
//! A world tells what happens and what is decided as records, each with its number, its time and a
//! [`Fact`]. A record is a line of JSON (docs/log.md, schema 2); lines of schema 1 are read as the
//! same records. Simulated and live worlds write the same: what nobody knows yet (how long a task
//! will run) is missing, and told when it is known.
//!
//! Which type do you want?
//! - to write: [`Writer`], which numbers records; or a [`LineMaker`] with a store of your own
//! - to read: [`Reader`] over any [`LineSource`], or [`Record::decode`] for one line
//! - to find the runs in a file: [`runs`]
//!
//! Identities are the world's own and last for ever: [`JobKey`], [`TaskKey`], and of queues and
//! nodes the [`Name`].
//!
//! ```
//! use meed::Time;
//! use meed_journal::*;
//!
//! let mut writer = Writer::new(Vec::new());
//! let header = Header { schema: SCHEMA, world: "server".to_owned(), ..Header::default() };
//! writer.append(Time::ZERO, &Fact::Run(Box::new(header)))?;
//! let group = Group { tasks: 2, ..Group::default() };
//! let job = Arrival::new("physics".into(), "9f1c".into(), vec![group]);
//! let second = Time::from_secs(1).expect("in range");
//! let seq = writer.append(second, &Fact::job_arrived(job))?;
//! assert_eq!(seq, 1);
//!
//! let log = writer.into_inner();
//! let mut reader = Reader::new("a.jsonl".into(), BufLines::new(&log[..]));
//! let mut jobs = Vec::new();
//! while let Some((_, record)) = reader.next(&[Kind::JobArrived])? {
//!     if let Fact::JobArrived(job) = record.fact {
//!         jobs.push(job.job.to_string());
//!     }
//! }
//! assert_eq!(jobs, ["9f1c"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod amounts;
mod change;
mod detail;
mod exact;
mod fast;
mod header;
mod inputs;
mod job;
mod keys;
mod name;
mod policy;
mod read;
mod reclaim;
mod record;
mod task;
mod v1;
mod write;

pub use amounts::Amounts;
pub use change::*;
pub use detail::Detail;
pub use header::{Header, NodeEntry, QueueEntry, SCHEMA, UnitName};
pub use job::*;
pub use keys::{Keys, keys_line, keys_of, policy_of};
pub use name::{JobKey, Name, TaskKey};
pub use read::{BufLines, Found, LineSource, ReadError, Reader, Run, runs};
pub use reclaim::*;
pub use record::{Fact, FactRole, Kind, LineMaker, Record, Wrong};
pub use task::*;
pub use write::Writer;
