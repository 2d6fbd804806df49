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
///
/// ```
/// # use meed::{
/// #     Blocked, Config, Engine, Event, JobSpec, Measure, NodeSpec, Policy, QueueSpec, Reclaim,
/// #     Reservations, ResourceKinds, Resources, Span, TaskGroup, Time, Unit,
/// # };
/// # let root = Policy {
/// #     blocked: Blocked::Reserve(Reservations::All),
/// #     ..Policy::new(Measure::Usage)
/// # };
/// # let config = Config {
/// #     kinds: ResourceKinds::new(vec![("slot".to_owned(), Unit::Milli)])?,
/// #     measured: 0,
/// #     queues: ["ads", "search"].map(|name| QueueSpec::new(name, root.clone())).to_vec(),
/// #     nodes: vec![NodeSpec::new("server", Resources::new(&[2000]))],
/// #     root,
/// # };
/// # let mut engine = Engine::new(config, Box::new(meed::place::FirstFit::new(1)))?;
/// # let ads = engine.view().find_queue("ads").ok_or("declared")?;
/// # let search = engine.view().find_queue("search").ok_or("declared")?;
/// let minute = Span::from_secs(60).ok_or("in range")?;
/// let reclaim = Some(Reclaim { min_runtime: Span::ZERO, ..Reclaim::new(minute) });
/// # let blocked = Blocked::Reserve(Reservations::All);
/// let root = Policy { reclaim, blocked, ..Policy::new(Measure::Usage) };
/// let queue = engine.view().queue_ids().next().ok_or("the root")?;
/// engine.apply(Time::ZERO, Event::PoliciesChanged(&[(queue, root)]))?;
///
/// let tasks = [TaskGroup::new(2, Resources::new(&[1000]))];
/// engine.apply(Time::ZERO, Event::JobArrived(JobSpec::new(ads, &tasks)))?;
/// engine.decide(false, |_| {}); // `ads` holds both slots
/// engine.apply(Time::ZERO, Event::JobArrived(JobSpec::new(search, &tasks)))?;
/// engine.decide(false, |_| {});
/// engine.advance(Time::from_secs(60).ok_or("in range")?)?;
/// engine.decide(false, |_| {});
/// let stop = engine.next_stop().ok_or("`search` has waited for a minute")?;
/// assert_eq!((stop.queue, stop.winner.queue, stop.ran), (ads, search, minute));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
///
/// It is part of a [`Stop`], whose page has an example.
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
///
/// ```
/// # use meed::{
/// #     Config, Engine, Event, JobSpec, Manner, NodeSpec, Policy, QueueSpec, Reclaim,
/// #     ResourceKinds, Resources, Span, TakeBack, TaskGroup, Time, Unit,
/// # };
/// # let root = Policy::preset("long-term").ok_or("no such preset")?;
/// # let config = Config {
/// #     kinds: ResourceKinds::new(vec![("slot".to_owned(), Unit::Milli)])?,
/// #     measured: 0,
/// #     queues: ["ads", "search"].map(|name| QueueSpec::new(name, root.clone())).to_vec(),
/// #     nodes: vec![NodeSpec::new("server", Resources::new(&[2000]))],
/// #     root,
/// # };
/// # let mut engine = Engine::new(config, Box::new(meed::place::FirstFit::new(1)))?;
/// # let ads = engine.view().find_queue("ads").ok_or("declared")?;
/// # let search = engine.view().find_queue("search").ok_or("declared")?;
/// let tasks = [TaskGroup::new(2, Resources::new(&[1000]))];
/// engine.apply(Time::ZERO, Event::JobArrived(JobSpec::new(ads, &tasks)))?;
/// engine.decide(false, |_| {}); // `ads` holds both slots
/// engine.apply(Time::ZERO, Event::JobArrived(JobSpec::new(search, &tasks)))?;
/// let waited = Span::from_secs(600).ok_or("in range")?;
/// engine.advance(Time::ZERO + waited)?;
/// let stops = engine.take_back(&TakeBack {
///     rules: Reclaim::new(waited),
///     leaf: search,
///     waited,
///     most: 2,
///     may_start: &|_| true,
///     manner: &|_, _| Manner::InTurn,
///     floor: &|_| None,
/// });
/// // One of both is owed to `search`.
/// assert_eq!(stops.iter().map(|stop| stop.queue).collect::<Vec<_>>(), [ads]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
///
/// The example of [`TakeBack`] gives it for each task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Manner {
    /// It may be stopped in its turn.
    InTurn,
    /// After all others, and only where nothing else of its job goes on.
    Last,
    /// It is not stopped.
    Never,
}
