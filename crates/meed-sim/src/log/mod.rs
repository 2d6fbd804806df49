//! The log: a line of JSON for each event and each decision, with its time and its reason
//! (docs/log.md).
//!
//! The log is the typed event stream of a run; readers need nothing else: it holds all that is
//! needed to run its workload again. It is written as it happens ([`Log`]) and read back strictly
//! ([`read`]).
//!
//! Invariant: amounts and times survive the way to a file and back to the unit
//! ([`meed_config::number`]).

mod header;
pub mod read;
mod write;

pub use header::Header;
pub(crate) use header::{
    AmountsLine, BoundsLine, Keys, NodeLine, QueueLine, amounts_line, bounds_line,
};
pub use write::Log;
pub(crate) use write::{
    Amounts, Arrive, DurationsLine, GroupLine, Key, Label, Level, ReasonLine, Record, Refuse,
    Seconds, Started, TaskAt, Terms,
};
