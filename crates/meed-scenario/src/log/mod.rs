//! The log of a run, read: a record for each event and each decision (docs/log.md).
//!
//! The log is a journal ([`meed_journal`]); readers need nothing else: it holds all that is needed
//! to run its workload again. It is read strictly ([`read`]).

pub mod forms;
pub(crate) mod infeasible;
pub mod read;
