//! Tasks that were overtaken: others, which began to wait later and ask for less, started before
//! them (docs/reservations.md).

use std::collections::BTreeMap;

use meed_journal::JobKey;
use serde::Serialize;

/// How often tasks of a queue were overtaken.
///
/// It is part of a [`QueueRecord`](super::QueueRecord): the page of
/// [`RunRecord`](super::RunRecord) has an example.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Overtaken {
    /// Tasks that were overtaken at least once.
    pub tasks: u64,
    /// How often, over all of them.
    pub times: u64,
    /// The one that was overtaken most; the first of equal ones.
    pub most: Option<MostOvertaken>,
}

/// One task that was overtaken.
///
/// It is part of [`Overtaken`]: the page of [`RunRecord`](super::RunRecord) has an example.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct MostOvertaken {
    /// Its job.
    pub job: JobKey,
    /// What it asks for, natural units.
    pub demand: BTreeMap<String, f64>,
    /// When it began to wait.
    pub since_s: f64,
    /// When it started; `null`: it waited at the end of the run.
    pub started_s: Option<f64>,
    /// How long it waited, up to its start or the end of the run.
    pub waited_s: f64,
    /// How often it was overtaken.
    pub times: u64,
    /// By tasks of which queues: the first [`OVERTAKERS`], most often first.
    pub by: Vec<Overtaker>,
    /// What `when_blocked = "reserve"` would have made of it, as far as somebody has run that.
    pub with_reserve: Option<WithReserve>,
}

/// Queues that [`MostOvertaken::by`] names.
pub const OVERTAKERS: usize = 10;

/// A queue whose tasks overtook.
///
/// It is part of [`MostOvertaken`]: the page of [`RunRecord`](super::RunRecord) has an example.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Overtaker {
    /// Full name.
    pub queue: String,
    /// How often.
    pub times: u64,
}

/// The same task in a second run, in which all is the same but `when_blocked = "reserve"`.
///
/// It is part of [`MostOvertaken`]: the page of [`RunRecord`](super::RunRecord) has an example.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct WithReserve {
    /// How long it waited there; `null`: it had not started by the time at which it did without.
    pub waited_s: Option<f64>,
}
