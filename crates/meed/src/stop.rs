//! What the engine decides where room is taken back: who is to stop, and for whom
//! (`engine::holds::reclaim`).

use crate::decision::KeyValue;
use crate::ids::{AllocationId, JobId, NodeId, QueueId};
use crate::reclaim::Reclaim;
use crate::resources::Resources;
use crate::time::Span;

/// A running task is to stop: its room is taken back for others. When it has, the world tells
/// [`crate::Event::TaskLost`] (or its end, where it ended before): it waits again, and that is no
/// attempt.
#[derive(Clone, PartialEq, Debug)]
pub struct Stop {
    /// The task.
    pub allocation: AllocationId,
    /// Its job.
    pub job: JobId,
    /// Its number in the job, over all groups.
    pub task: u32,
    /// Its leaf queue.
    pub queue: QueueId,
    /// Where it runs.
    pub node: NodeId,
    /// For how long it has run.
    pub ran: Span,
    /// How long it may take to stop.
    pub grace: Span,
    /// For whom.
    pub winner: Winner,
}

/// For whom a task is to stop, and why for him.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Winner {
    /// The job that has the reservation.
    pub job: JobId,
    /// The number of its group in the job.
    pub group: u32,
    /// Its leaf queue.
    pub queue: QueueId,
    /// How long it has had the reservation.
    pub waited: Span,
    /// The queue that has both below it.
    pub among: QueueId,
    /// The winner's side there, and its key.
    pub first: (QueueId, KeyValue),
    /// The side of the task that is to stop, and its key, which comes later.
    pub last: (QueueId, KeyValue),
}

/// What is asked of the engine where another scheduler places what starts: whom to stop for a leaf
/// that has waited ([`crate::Engine::take_back`]).
pub struct TakeBack<'a> {
    /// Grace, guard and least run; `after` is the asker's business.
    pub rules: Reclaim,
    /// The leaf that waits.
    pub leaf: QueueId,
    /// For how long.
    pub waited: Span,
    /// For so many tasks at most.
    pub most: usize,
    /// Whether a job could start something, if there were room.
    pub may_start: &'a dyn Fn(JobId) -> bool,
    /// What may become of a running task: its job, and its number in that.
    pub manner: &'a dyn Fn(JobId, u32) -> Manner,
    /// What a queue keeps whatever is owed.
    pub floor: &'a dyn Fn(QueueId) -> Option<Resources>,
}

/// What may become of a running task where room is taken back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Manner {
    /// It may be stopped in its turn.
    InTurn,
    /// After all others, and only where nothing else of its job goes on.
    Last,
    /// It is not stopped.
    Never,
}
