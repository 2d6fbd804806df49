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
//! | [`LiveJob`] | what the engine does not know of a live job: its label, since when it waits, the world's own detail |
//! | [`Journal`] | where records go, before anything is carried out |
//! | [`live`] | a driver with a durable journal: recovery, snapshots, nothing carried out before it is durable |
//! | [`Books`] | where the books of each queue are read: in a driver, or in one for each tenant |
//! | [`Tally`], [`CapacityTime`], [`Sampler`] | what is counted while a run goes on |
//! | [`explain`] | what stands in the way of a job or a queue, from the books of this instant |
//! | [`record`] | what a run leaves: the form of tables, JSON and reports |
//!
//! Invariants: a driver keeps no second copy of what the engine knows; it reads no clock (time
//! comes with each verb); the same verbs give the same starts.

mod books;
mod capacity;
mod driver;
pub mod explain;
mod journal;
pub mod live;
mod names;
mod outcome;
pub mod record;
mod rows;
mod series;
mod state;
mod tally;

pub use books::Books;
pub use capacity::CapacityTime;
pub use driver::{Cancelled, Driver, Ended, Taken, finish_of};
pub use journal::{Failed, Journal, Off};
pub use outcome::{Ending, outcome};
pub use rows::{LiveJob, NewJob, Task, Waiting};
pub use series::Sampler;
pub use state::DRIVER_STATE_VERSION;
pub use tally::{KeptJob, QueueTally, Tally, Times, Totals};
