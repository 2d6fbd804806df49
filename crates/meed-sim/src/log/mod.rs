//! The log: a record for each event and each decision, with its time and its reason (docs/log.md).
//!
//! The log is a journal ([`meed_journal`]); readers need nothing else: it holds all that is needed
//! to run its workload again. It is written as it happens ([`Log`]) and read back strictly
//! ([`read`]).

pub(crate) mod forms;
pub(crate) mod infeasible;
pub mod read;
mod write;

pub use write::Log;
pub(crate) use write::SharedLog;
