//! Long-term fairness for Hadoop YARN: what counts, behind one function of a native library.
//!
//! YARN decides where containers run; this crate keeps who has used what. Java (`yarn/`) tells it
//! once a tick what happened, and gets back a row for each queue, each application and each leaf
//! under guard: integers, of which a comparator in Java makes the order, together with what was
//! started since.
//!
//! | part | what |
//! |---|---|
//! | [`message`] | what Java asks, as JSON, and what it is answered |
//! | [`Core`] | a driver with a durable journal: events in, rows out |
//! | `rows` | rows as bytes |
//! | `epochs` | a folder for each epoch of the ResourceManager, and who may write |
//! | `settings` | policies from the keys of `yarn-site.xml` |
//! | [`worker`] | each core on a thread of its own, so that a panic ends neither process nor others |
//! | `exports` | the functions that Java calls: the only unsafe lines |
//!
//! How YARN's words become the engine's: a queue is a queue (without the leading `root.`), an
//! application is an open job, a container is a task that was *adopted* at its creation time, what
//! an application still asks for are waiting tasks. All nodes are cordoned, so the engine starts
//! nothing by itself. What ran when the last epoch ended is ended at its last durable instant, and
//! adopted from that instant on when the node reports it again: so downtime is charged once.
//!
//! Invariants: no clock is read (time comes with each message); what is answered is durable; a fact
//! that the engine refuses is counted and told, and changes nothing.

mod core;
mod epochs;
mod exports;
pub mod message;
mod nowhere;
mod rows;
mod settings;
pub mod worker;

pub use crate::core::{Core, CoreError, PluginAnswer};

/// Both sides speak this version; another one is refused.
pub const PROTOCOL: u32 = 5;
