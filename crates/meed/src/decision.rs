//! What the engine decides, and why.

use smallvec::SmallVec;

use crate::ids::{AllocationId, JobId, NodeId, QueueId};
use crate::order::Tier;
use crate::time::Span;

/// The edition of the rules by which this engine decides: who is served next, where, and for whom
/// tasks stop. Logs name the edition that decided, so that a reader knows why another version may
/// decide otherwise. It rises with each release that decides otherwise under an unchanged policy
/// (docs/log.md has the list).
pub const RULES: u32 = 2;

/// A task is to start now.
///
/// [`Engine::decide`](crate::Engine::decide) and [`Engine::next_start`](crate::Engine::next_start)
/// return it, and the engine counts the task as running from then on.
///
/// ```
/// # use meed::{
/// #     Config, Engine, Event, JobSpec, NodeSpec, Policy, QueueSpec, ResourceKinds, Resources,
/// #     TaskGroup, Time, Unit,
/// # };
/// # let root = Policy::preset("fair").ok_or("no such preset")?;
/// # let config = Config {
/// #     kinds: ResourceKinds::new(vec![("slot".to_owned(), Unit::Milli)])?,
/// #     measured: 0,
/// #     queues: ["ads", "search"].map(|name| QueueSpec::new(name, root.clone())).to_vec(),
/// #     nodes: vec![NodeSpec::new("server", Resources::new(&[2000]))],
/// #     root,
/// # };
/// # let mut engine = Engine::new(config, Box::new(meed::place::FirstFit::new(1)))?;
/// # let ads = engine.view().find_queue("ads").ok_or("declared")?;
/// let tasks = [TaskGroup::new(3, Resources::new(&[1000]))];
/// engine.apply(Time::ZERO, Event::JobArrived(JobSpec::new(ads, &tasks)))?;
/// let start = engine.next_start(false).ok_or("there is room")?;
/// assert_eq!((start.task, start.group, start.queue), (0, 0, ads));
/// engine.apply(Time::from_secs(9).ok_or("in range")?, Event::TaskEnded(start.allocation))?;
/// assert_eq!(engine.view().running_tasks(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Start {
    /// Names the running task from now on.
    pub allocation: AllocationId,
    /// Its job.
    pub job: JobId,
    /// Number of the task within its job, over all groups.
    pub task: u32,
    /// Its group within the job.
    pub group: u32,
    /// Its leaf queue.
    pub queue: QueueId,
    /// Where it is to run.
    pub node: NodeId,
    /// How often it was tried before and failed.
    pub failures: u16,
    /// Why, when asked for.
    pub reason: Option<Box<Reason>>,
}

/// Why this task, here.
///
/// A [`Start`] has it where the world asks for explanations.
///
/// ```
/// # use meed::{
/// #     Config, Engine, Event, JobSpec, NodeSpec, Policy, QueueSpec, ResourceKinds, Resources,
/// #     TaskGroup, Time, Unit,
/// # };
/// # let root = Policy::preset("fair").ok_or("no such preset")?;
/// # let config = Config {
/// #     kinds: ResourceKinds::new(vec![("slot".to_owned(), Unit::Milli)])?,
/// #     measured: 0,
/// #     queues: ["ads", "search"].map(|name| QueueSpec::new(name, root.clone())).to_vec(),
/// #     nodes: vec![NodeSpec::new("server", Resources::new(&[2000]))],
/// #     root,
/// # };
/// # let mut engine = Engine::new(config, Box::new(meed::place::FirstFit::new(1)))?;
/// # let ads = engine.view().find_queue("ads").ok_or("declared")?;
/// let tasks = [TaskGroup::new(1, Resources::new(&[1000]))];
/// engine.apply(Time::ZERO, Event::JobArrived(JobSpec::new(ads, &tasks)))?;
/// let start = engine.next_start(true).ok_or("there is room")?;
/// let reason = start.reason.ok_or("it was asked for")?;
/// let choice = reason.levels[0];
/// assert_eq!((choice.chosen, choice.key.value, choice.runner_up), (ads, 0.0, None));
/// assert_eq!(reason.place, "first fit: the first node with room");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Reason {
    /// The choice at each level, from the root down.
    pub levels: Choices,
    /// Set when the starvation guard chose the leaf: how long it had waited.
    pub starved_for: Option<Span>,
    /// Set when it starts by its reservation: how long it had that. Then `levels` is empty: its
    /// turn was when it got it.
    pub reserved_for: Option<Span>,
    /// Set when it starts with others of its gang: how many start together, this one included.
    /// They are decided as one turn.
    pub gang: Option<u32>,
    /// Why this node.
    pub place: &'static str,
}

impl Reason {
    /// One that begins with where the task is put.
    pub(crate) fn of(place: &'static str) -> Reason {
        Reason { levels: Choices::new(), starved_for: None, reserved_for: None, gang: None, place }
    }
}

/// The choices on the way to a leaf. Those of most trees need no room of their own.
pub type Choices = SmallVec<[Choice; 2]>;

/// The choice among one queue's children.
///
/// The example of [`Reason`] reads one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Choice {
    /// Whose children.
    pub among: QueueId,
    /// The chosen one.
    pub chosen: QueueId,
    /// Its key.
    pub key: KeyValue,
    /// The next in order of which a task would start, if there is one. Where the placement draws,
    /// where each server serves by itself, and in the walk that looks for who waits or gets a
    /// reservation: the next that nobody has found to fit nowhere. Where what is best aligned with
    /// a server starts (`tetris`), nobody.
    pub runner_up: Option<(QueueId, KeyValue)>,
}

/// A key for people: in the measure's units over weight (resource-microseconds in thousandths,
/// amounts, arrival numbers, or dominant shares per weight 1: parts of one, or such parts x
/// seconds).
///
/// The example of [`Reason`] reads one, as part of a [`Choice`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct KeyValue {
    /// Below its minimum share, or ordinary.
    pub tier: Tier,
    /// The ratio.
    pub value: f64,
}
