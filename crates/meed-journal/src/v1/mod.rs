//! Logs of schema 1, as `meed simulate --log` wrote them before: read as the records of today.
//!
//! A job was known by queue and label, which need not be distinct; of several the first that can be
//! meant was. Here each gets its key, the number of its arrival, and each start its attempt.
//! Memory: what is alive, and a bit for each of its tasks.

mod convert;
mod line;

pub(crate) use convert::Convert;
pub(crate) use line::Line;
