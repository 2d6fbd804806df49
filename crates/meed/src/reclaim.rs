//! Room is taken back from tasks that run, for a queue that is owed: by what rules, and what the
//! engine decides then (`engine::holds::reclaim`).

use crate::decision::KeyValue;
use crate::resources::Resources;
use crate::spec::{AllocationId, JobId, NodeId, QueueId};
use crate::time::Span;

/// When running tasks may be stopped for others that have a reservation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Reclaim {
    /// How long a reservation has waited before tasks are stopped for it, and then before that is
    /// tried again.
    pub after: Span,
    /// A task that has run less is not stopped.
    pub min_runtime: Span,
    /// No task is stopped where, by the ledgers, its queue would come before the other again within
    /// this time: the guard against swings.
    pub guard: Span,
    /// How long a task that is to stop may take for it.
    pub grace: Span,
}

impl Reclaim {
    /// The usual rules for one that waits so long: tasks of less than five minutes are not stopped,
    /// what was taken back is kept at least as long as was waited for it, and a task has 30 s to
    /// stop.
    ///
    /// ```
    /// use meed::{Reclaim, Span};
    ///
    /// let hour = Span::from_secs(3600).ok_or("in range")?;
    /// let rules = Reclaim::new(hour);
    /// assert_eq!((rules.after, rules.guard), (hour, hour));
    /// # Ok::<(), &str>(())
    /// ```
    pub fn new(after: Span) -> Reclaim {
        let seconds = |seconds| Span::from_secs(seconds).unwrap_or(Span::ZERO);
        let (min_runtime, grace) = (seconds(300), seconds(30));
        Reclaim { after, min_runtime, guard: after.max(grace), grace }
    }

    /// What is wrong with the rules, if anything.
    pub(crate) fn problem(&self) -> Option<String> {
        if self.after == Span::ZERO {
            return Some("reclaim_after must be above zero".to_owned());
        }
        (self.guard < self.grace).then(|| {
            "reclaim_guard must not be below reclaim_grace: the order could turn before the tasks \
             have stopped"
                .to_owned()
        })
    }
}

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
