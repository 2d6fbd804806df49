//! The engine's whole state as plain data: to be kept over a restart, sent elsewhere, or looked at.
//!
//! [`Engine::state`](crate::Engine::state) writes it,
//! [`Engine::from_state`](crate::Engine::from_state) reads it, and what is read decides for ever
//! after what the engine that wrote it would have decided, with ledgers and fairness integrals
//! equal to the bit.
//!
//! What is a fact is kept: who holds what since when, what ledgers were charged, what is waited
//! for. What follows from it is not: what is free on nodes, the rates of ledgers, shares of live
//! queues, heaps and indices are made anew, so no two of them can contradict each other. All
//! handles that a world holds stay valid: queues and nodes are numbered as before, and slots of
//! jobs and running tasks keep their generations.
//!
//! Everything is an integer. Times and spans are at most [`crate::MAX_MICROS`] microseconds. With
//! the feature `serde` all of it can be written and read in any format that has integers of 128
//! bits, JSON among them.

use thiserror::Error;

use crate::constraints::{Constraints, Labels};
use crate::error::ConfigError;
use crate::policy::{Policy, Untried};
use crate::resources::Unit;
use crate::spec::Rank;
use crate::time::{Span, Time};

/// The version of [`State`] that this engine writes, and the only one that it reads.
pub const STATE_VERSION: u32 = 1;

/// AmountRow of each resource kind, in the order of [`State::kinds`].
pub type AmountRow = Vec<u64>;

/// Everything that an engine knows, for snapshots: an engine that is made from it decides as the
/// first would have.
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
/// engine.decide(false, |_| {});
/// let state = engine.state();
/// let again = Engine::from_state(&state, Box::new(meed::place::FirstFit::new(1)))?;
/// assert_eq!((again.view().running_tasks(), again.state()), (2, state));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct State {
    /// [`STATE_VERSION`].
    pub version: u32,
    /// The last instant the engine was told of.
    pub now: Time,
    /// Names and units of the resource kinds.
    pub kinds: Vec<(String, Unit)>,
    /// The kind that fairness is measured in.
    pub measured: usize,
    /// How queues order their children, each distinct way once.
    pub orders: Vec<OrderState>,
    /// All queues that are remembered, in order of declaration, the root first, removed ones too.
    pub queues: Vec<QueueState>,
    /// How many queues were declared, where that is not how many are remembered.
    #[cfg_attr(feature = "serde", serde(default))]
    pub queues_declared: Option<u32>,
    /// Places in [`State::queues`] of those that are removed, in order of their going; empty where
    /// that is the order of declaration.
    #[cfg_attr(feature = "serde", serde(default))]
    pub queues_gone: Vec<u32>,
    /// How many of those are remembered at least, where it was set.
    #[cfg_attr(feature = "serde", serde(default))]
    pub remembered_queues: Option<u32>,
    /// All nodes that are remembered, in order of joining, the last that left too.
    pub nodes: Vec<NodeState>,
    /// How many nodes have joined, where that is not how many are remembered.
    #[cfg_attr(feature = "serde", serde(default))]
    pub nodes_joined: Option<u32>,
    /// Places in [`State::nodes`] of those that have left, in order of leaving; empty where that is
    /// the order of joining.
    #[cfg_attr(feature = "serde", serde(default))]
    pub nodes_gone: Vec<u32>,
    /// How many of those are remembered at least, where it was set.
    #[cfg_attr(feature = "serde", serde(default))]
    pub remembered_nodes: Option<u32>,
    /// What the first node of all held when it joined, where the first of [`State::nodes`] holds
    /// something else: quick looks of placements are fitted to it.
    #[cfg_attr(feature = "serde", serde(default))]
    pub first_node: Option<AmountRow>,
    /// Capacities that nodes have or had, but for those that others hold: what may come back.
    pub capacities: Vec<AmountRow>,
    /// Distinct label rules of tasks, by number.
    pub rules: Vec<Constraints>,
    /// Labels that keep gangs together.
    #[cfg_attr(feature = "serde", serde(default))]
    pub gang_labels: Vec<String>,
    /// Slots of running tasks whose starts are decided and not told yet: the rest of a gang. Why is
    /// not kept.
    #[cfg_attr(feature = "serde", serde(default))]
    pub untold: Vec<u32>,
    /// Distinct demands of tasks, by number. `None`: the number is free.
    pub shapes: Vec<Option<ShapeState>>,
    /// Free numbers of shapes; the last is used first.
    pub free_shapes: Vec<u32>,
    /// Reservations.
    #[cfg_attr(feature = "serde", serde(default))]
    pub holds: HoldsState,
    /// Nodes that have got room since the last decisions.
    pub fresh: Vec<u32>,
    /// Live jobs.
    pub jobs: SlotsState<LiveJobState>,
    /// Arrival number of the next job.
    pub arrivals: u64,
    /// How many tasks have started so far: ties are settled by these numbers.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_zero"))]
    pub starts: u64,
    /// Running tasks.
    pub running: SlotsState<RunningState>,
    /// The integral of what all borrow over what all leave unused, with 64 fractional bits.
    pub lending_price: u128,
    /// Up to when.
    pub lending_at: Time,
    /// What was held beyond what the pool has, and borrowed of nobody: unit x microsecond.
    #[cfg_attr(feature = "serde", serde(default))]
    pub lending_beyond: u128,
    /// What forgotten leaves lent, whole units.
    #[cfg_attr(feature = "serde", serde(default))]
    pub forgotten_lent: u128,
    /// The rest of it, in 2^-64ths of a unit.
    #[cfg_attr(feature = "serde", serde(default))]
    pub forgotten_fraction: u64,
    /// What forgotten leaves borrowed.
    #[cfg_attr(feature = "serde", serde(default))]
    pub forgotten_borrowed: u128,
    /// Whether a parent has ever stood by its children rescaled.
    #[cfg_attr(feature = "serde", serde(default))]
    pub rescales: bool,
    /// Whether tasks that fit no node yet wait.
    #[cfg_attr(feature = "serde", serde(default))]
    pub infeasible_waits: bool,
    /// The server that started the last task, where each decides on its own.
    #[cfg_attr(feature = "serde", serde(default))]
    pub turn: Option<u32>,
    /// The starvation guard's own ledgers, where the root's policy has one.
    pub guard: Option<GuardState>,
    /// The quantum updater, where a policy learns quanta.
    pub quanta: Option<QuantaState>,
    /// How long the last two tasks of each queue ran that ended well, the later first, where the
    /// root's policy learns it.
    #[cfg_attr(feature = "serde", serde(default))]
    pub last_runs: Vec<[Option<Span>; 2]>,
    /// The random state of the placement; 0 for those that draw nothing.
    pub placement: u64,
}

/// Whether a count says nothing; serde asks by reference.
#[cfg(feature = "serde")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Slots in a [`State`], each with the generation of what lives, or will live next, in it.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct SlotsState<T> {
    /// By slot.
    pub generations: Vec<u32>,
    /// Free slots; the last is used first.
    pub free: Vec<u32>,
    /// What lives, in order of slot.
    pub live: Vec<(u32, T)>,
}

/// One way to order children, in a [`State`].
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct OrderState {
    /// The policy.
    pub policy: Policy,
    /// What dominant shares are parts of; empty where none are compared.
    pub pool: AmountRow,
}

/// A queue, in a [`State`].
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct QueueState {
    /// Full name.
    pub name: String,
    /// Its number in order of declaration, where that is not its place in [`State::queues`].
    #[cfg_attr(feature = "serde", serde(default))]
    pub number: Option<u32>,
    /// The place of its parent; `None` for the root.
    pub parent: Option<u32>,
    /// In thousandths.
    pub weight: u64,
    /// Minimum share.
    pub min: Option<AmountRow>,
    /// Maximum share.
    pub max: Option<AmountRow>,
    /// How it orders its children: a row of [`State::orders`].
    pub order: usize,
    /// It disappears with its last job.
    pub draining: bool,
    /// It is gone; with the share that it had last.
    pub removed: Option<AmountRow>,
    /// Its position among its siblings.
    pub standing: StandingState,
    /// The number of the last start in it, or below it; 0 where there was none.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_zero"))]
    pub served: u64,
    /// The later of a leaf's last service and the moment its demand began.
    pub waits_since: Time,
    /// The same without the tasks that run, where there is a guard and it does not follow.
    #[cfg_attr(feature = "serde", serde(default))]
    pub waited_before: Option<Time>,
    /// Nothing of it was found to fit: it is out of the walk until something changes.
    pub parked: bool,
    /// While it is parked: the least of each kind that something of it waits for, where it waits
    /// for room.
    pub least: Option<AmountRow>,
    /// Leaves that are looked at again when this queue may be below its maximum share.
    pub capped: Vec<u32>,
    /// The shapes that wait, or have waited, in it, in the order in which they are looked at.
    pub buckets: Vec<u32>,
    /// Its fairness integrals.
    pub meter: MeterState,
}

/// Since when a queue or a job counts among its siblings, and what its ledgers say; in a [`State`].
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct StandingState {
    /// Since when it counts.
    pub since: Option<Time>,
    /// Whether it counts since the start of the round only for a task that ran then.
    pub straddles: bool,
    /// Whether it has ever had work.
    pub known: bool,
    /// What its ledgers charge up to now, in thousandths of a smallest unit x microsecond of memory
    /// time: one for a scalar, one for each kind where dominant shares are compared, none where it
    /// has used nothing that its policy remembers. Without a discount, what running tasks are
    /// charged ahead is in it.
    pub ledgers: Vec<u128>,
    /// What it was topped up with as a newcomer, in parts of the pool, where dominant shares are
    /// compared.
    pub pseudo: u128,
    /// What was told of where it stands.
    #[cfg_attr(feature = "serde", serde(default))]
    pub rank: Option<Rank>,
}

/// A leaf's fairness integrals in a [`State`], as offsets of lines: the value at t is
/// offset + slope x t. Slopes follow from what runs and waits.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct MeterState {
    /// Usage of each kind.
    pub usage: Vec<i128>,
    /// What it was entitled to and wanted.
    pub entitled: i128,
    /// What it borrowed.
    pub borrowed: i128,
    /// What it lent, whole units and 2^-64ths of one, up to the lending price at `settled`.
    pub lent: u128,
    /// See `lent`.
    pub lent_fraction: u64,
    /// See `lent`.
    pub settled: u128,
    /// Dominant shares used and entitled to; zero with one kind.
    pub dominant: (i128, i128),
    /// What was held idle for it, of each kind; none where nothing ever was.
    #[cfg_attr(feature = "serde", serde(default))]
    pub held_idle: Vec<i128>,
    /// What it was entitled to beyond whole units: the offset of its line, as the part of a unit x
    /// microsecond in 2^-64, and whole ones. None: an earlier version counted whole units.
    #[cfg_attr(feature = "serde", serde(default))]
    pub entitled_rest: Option<(u64, i128)>,
}

/// A node, in a [`State`].
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct NodeState {
    /// Its name, distinct among those that are up.
    pub name: String,
    /// Its number in order of joining, where that is not its place in [`State::nodes`].
    #[cfg_attr(feature = "serde", serde(default))]
    pub number: Option<u32>,
    /// What it holds.
    pub capacity: AmountRow,
    /// In thousandths.
    pub weight: u32,
    /// What constraints refer to.
    pub labels: Labels,
    /// Whether it has not left.
    pub up: bool,
    /// Whether nothing new may start there.
    #[cfg_attr(feature = "serde", serde(default))]
    pub cordoned: bool,
    /// What others use of it; empty for nothing.
    #[cfg_attr(feature = "serde", serde(default))]
    pub others: AmountRow,
}

/// What decides where a task can run, in a [`State`].
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct ShapeState {
    /// What a task asks for.
    pub demand: AmountRow,
    /// A row of [`State::rules`].
    pub rules: Option<u32>,
    /// The slot of the job whose tasks want nodes of their own.
    pub distinct: Option<u32>,
    /// Tasks of it wait, and it was found to fit nowhere but, perhaps, on fresh nodes.
    pub blocked: bool,
    /// The longest that a task may run, where room is held for tasks.
    #[cfg_attr(feature = "serde", serde(default))]
    pub limit: Option<Span>,
    /// Where several tasks start together: how.
    #[cfg_attr(feature = "serde", serde(default))]
    pub turn: Option<TurnState>,
}

/// What tasks of a gang wait for, in a [`State`].
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct TurnState {
    /// So many start together.
    pub tasks: u32,
    /// On nodes with one value of this one of [`State::gang_labels`], counted from 1; 0: anywhere.
    pub same: u32,
    /// Whether it was found to fit nowhere, and no node has got room since.
    pub tried: bool,
    /// Where they are of several groups: rows of [`State::shapes`], with how many start.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub parts: Vec<(u32, u32)>,
}

/// What makes a group a gang's, in a [`State`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct GangState {
    /// So many of its tasks start together.
    pub least: u32,
    /// As [`TurnState::same`].
    pub same: u32,
    /// Tasks that run or have ended well.
    pub begun: u32,
    /// A row of [`State::rules`]: where its tasks may be while some run.
    pub within: Option<u32>,
    /// A row of [`State::shapes`]: what its waiting tasks wait for.
    pub turn: u32,
    /// Where the gang is of several groups: the number of the first of them in the job.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub joint: Option<u32>,
}

/// For whom room is held, in a [`State`].
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct HoldsState {
    /// In the order in which reservations were made.
    pub list: Vec<HoldState>,
    /// Nodes on which room is held, as of the last plan.
    pub nodes: Vec<HeldNodeState>,
    /// Shapes for which no node could be held when it was tried.
    pub hopeless: Vec<u32>,
    /// Nodes that have got room since reservations were planned last.
    pub freed: Vec<u32>,
    /// Nodes where reservations that have moved left room for others that were looked at before.
    pub vacated: Vec<u32>,
    /// Nodes where less may come free than was expected when they were chosen.
    pub pushed: Vec<u32>,
    /// Nodes where something else has changed since.
    pub touched: Vec<u32>,
    /// Groups whose turn has come and that are passed over for a while, in order.
    #[cfg_attr(feature = "serde", serde(default))]
    pub passed: Vec<PassedState>,
    /// What is held idle, as of the last decision.
    #[cfg_attr(feature = "serde", serde(default))]
    pub idle: Vec<IdleState>,
    /// Slots of running tasks that were told to stop, in order.
    #[cfg_attr(feature = "serde", serde(default))]
    pub stopping: Vec<u32>,
    /// Tasks that were stopped and have not ended since, in order.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub stopped_before: Vec<StoppedBeforeState>,
}

/// A task that was stopped for others, and waits or runs again; in a [`State`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct StoppedBeforeState {
    /// The slot of its job.
    pub job: u32,
    /// Its number in the job.
    pub task: u32,
    /// The longest that it had run when it stopped.
    pub ran: Span,
}

/// A group whose tasks fit nowhere, though it is, or was, their turn; in a [`State`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct PassedState {
    /// The slot of its job.
    pub job: u32,
    /// The number of the group in the job.
    pub group: u32,
    /// Since when.
    pub since: Time,
}

/// Room on a node that is held idle for a job, in a [`State`].
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct IdleState {
    /// Where.
    pub node: u32,
    /// The slot of the job.
    pub job: u32,
    /// How much.
    pub amounts: AmountRow,
}

/// A node on which room is held, in a [`State`].
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct HeldNodeState {
    /// Which.
    pub node: u32,
    /// When what is expected there has to be looked at anew, should nothing happen before.
    pub slips: Time,
    /// What may be taken of it until when; the last for ever.
    pub openings: Vec<(Time, AmountRow)>,
}

/// A task, or all of a gang that start together, for which room is held; in a [`State`].
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct HoldState {
    /// The slot of its job.
    pub job: u32,
    /// The number of its group in the job.
    pub group: u32,
    /// Where room is held, for how many tasks: one, but for a gang. In order.
    pub nodes: Vec<(u32, u32)>,
    /// Where it is held for the other groups of the gang, by their numbers in the job.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub others: Vec<(u32, Vec<(u32, u32)>)>,
    /// Nodes that are drained besides, in order.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub spares: Vec<u32>,
    /// From when on it is expected to be there; `None`: nobody knows.
    pub at: Option<Time>,
    /// Since when it has the reservation.
    pub since: Time,
    /// How often it was put off.
    pub moved: u32,
    /// When room may be taken back for it next, where the policy does that.
    #[cfg_attr(feature = "serde", serde(default))]
    pub tries: Option<Time>,
    /// Whether tasks were told to stop for it where it is.
    #[cfg_attr(feature = "serde", serde(default))]
    pub reclaims: bool,
    /// Whether it was put off where estimates are learned: its nodes are drained, and it stays.
    #[cfg_attr(feature = "serde", serde(default))]
    pub drained: bool,
}

/// A job, in a [`State`].
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct LiveJobState {
    /// Its leaf.
    pub queue: u32,
    /// In thousandths.
    pub weight: u64,
    /// Its arrival number.
    pub arrival: u64,
    /// Whether more tasks may be added.
    pub open: bool,
    /// How often a task may fail; 0 for no limit.
    pub max_attempts: u16,
    /// Its tasks, numbered over all groups in order.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "rows::few"))]
    pub groups: Vec<GroupState>,
    /// Its position among the jobs of its leaf.
    pub standing: StandingState,
    /// Its own quantum.
    pub quantum: JobQuantumState,
}

/// Equal tasks of a job, in a [`State`].
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct GroupState {
    /// A row of [`State::shapes`].
    pub shape: u32,
    /// Number of tasks.
    pub count: u32,
    /// How many of them have been started at least once: the first ones.
    pub next: u32,
    /// Others that wait no more, nor for the first time: positions in the group, in order.
    #[cfg_attr(feature = "serde", serde(default))]
    pub skipped: Vec<u32>,
    /// Tasks that are to be tried again, and how often each has failed, the largest number first.
    pub retries: Vec<(u32, u16)>,
    /// What makes it a gang's.
    #[cfg_attr(feature = "serde", serde(default))]
    pub gang: Option<GangState>,
}

/// What a job's tasks have taught about their time, in a [`State`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct JobQuantumState {
    /// The quantum its tasks are charged now.
    pub quantum: Span,
    /// Microseconds that its ended tasks ran.
    pub ended_micros: u64,
    /// Number of its ended tasks.
    pub ended: u64,
    /// Whether one has ended since the last refresh.
    pub dirty: bool,
}

/// A running task, in a [`State`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct RunningState {
    /// The slot of its job.
    pub job: u32,
    /// Its group among the job's.
    pub group: u32,
    /// Its number in the job.
    pub task: u32,
    /// How often it was tried before and failed.
    pub failures: u16,
    /// Where it runs.
    pub node: u32,
    /// Since when.
    pub started: Time,
    /// The quantum by which it is charged: its job's.
    pub quantum: Span,
    /// So many of the running tasks that started at the same instant started before it.
    #[cfg_attr(feature = "serde", serde(default))]
    pub nth: u32,
}

/// The starvation guard's own books, in a [`State`].
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct GuardState {
    /// What dominant shares are parts of; empty where none are compared.
    pub pool: AmountRow,
    /// Of each queue; those of parents are empty.
    pub standings: Vec<StandingState>,
}

/// The quantum updater, in a [`State`].
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct QuantaState {
    /// How often averages are taken.
    pub interval: Span,
    /// What is assumed of jobs of which no task has ended.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Untried::is_handed"))]
    pub untried: Untried,
    /// When next; the last instant there is while nothing has ended.
    pub next_refresh: Time,
    /// Of each queue.
    pub queues: Vec<QueueQuantumState>,
}

/// A queue's own quantum, in a [`State`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct QueueQuantumState {
    /// The quantum.
    pub quantum: Span,
    /// Whether it was handed one.
    pub known: bool,
    /// Sum of the means of jobs that ended since the last refresh, and their number; with
    /// [`Untried::Ended`], run times of tasks that ended last, and their number.
    pub departed: (u128, u64),
    /// Whether its mean is to be taken anew.
    pub dirty: bool,
}

/// A state that no engine can have written.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum StateError {
    /// Another version.
    #[error("state of version {given}; this engine reads version {STATE_VERSION}")]
    Version {
        /// Its version.
        given: u32,
    },
    /// What is configured cannot be.
    #[error("state: {0}")]
    Config(#[from] ConfigError),
    /// Something contradicts something else.
    #[error("state: {place}: {problem}")]
    Wrong {
        /// Where, as a path: `running[3].node`.
        place: String,
        /// What is wrong, and what would be right.
        problem: String,
    },
}

impl StateError {
    pub(crate) fn new(place: impl ToString, problem: impl Into<String>) -> StateError {
        StateError::Wrong { place: place.to_string(), problem: problem.into() }
    }
}

/// Where something stands, put into words only where it is wrong: states have a million rows.
pub(crate) type Place<'a> = std::fmt::Arguments<'a>;

/// Fails with what is wrong at a place, unless it holds.
macro_rules! ensure {
    ($holds:expr, $place:expr, $($problem:tt)+) => {
        if !$holds {
            return Err(crate::state::StateError::new($place, format!($($problem)+)));
        }
    };
}
pub(crate) use ensure;

/// Largest integral of an amount over time, and largest charge: so sums of all queues fit 128 bits.
pub(crate) const MAX_INTEGRAL: u128 = 1 << 107;

/// What there are most of (jobs and tasks, standings, integrals) is written as a row of its values,
/// without their names, which were more than half of a state. It is read with names too, as it was
/// written at first. So a new field of these comes last and has `default`.
#[cfg(feature = "serde")]
mod rows {
    use crate::state::*;
    use serde::de::{SeqAccess, Visitor};
    use serde::ser::SerializeTuple;
    use serde::{Deserializer, Serialize, Serializer};
    use std::fmt;

    /// A row of the fields; the last of some rows ends where it says nothing.
    macro_rules! row {
        ($of:ident { $($field:ident),+ $(,)? } $(, $last:ident: $told:expr)?) => {
            impl Serialize for $of {
                fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                    let $of { $($field,)+ $($last)? } = self;
                    $(let $last = $told($last);)?
                    let fields = [$(stringify!($field)),+].len();
                    let mut row = to.serialize_tuple(fields $(+ usize::from($last.is_some()))?)?;
                    $(row.serialize_element($field)?;)+
                    $(if let Some(last) = $last {
                        row.serialize_element(last)?;
                    })?
                    row.end()
                }
            }
        };
    }
    // Few are told where they stand.
    row!(StandingState { since, straddles, known, ledgers, pseudo }, rank: Option::as_ref);
    // Of most tasks no other started before it at its instant.
    row!(RunningState { job, group, task, failures, node, started, quantum }, nth: not_first);
    // Earlier versions knew no rest.
    row!(
        MeterState { usage, entitled, borrowed, lent, lent_fraction, settled, dominant, held_idle },
        entitled_rest: Option::as_ref
    );
    row!(LiveJobState { queue, weight, arrival, open, max_attempts, groups, standing, quantum });
    row!(GroupState { shape, count, next, skipped, retries, gang });
    row!(JobQuantumState { quantum, ended_micros, ended, dirty });

    fn not_first(nth: &u32) -> Option<&u32> {
        Some(nth).filter(|nth| **nth > 0)
    }

    /// A list that mostly has one element: room for no more than it has.
    pub(super) fn few<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<GroupState>, D::Error> {
        struct Few;
        impl<'de> Visitor<'de> for Few {
            type Value = Vec<GroupState>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("groups of tasks")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<Self::Value, A::Error> {
                let mut groups = Vec::new();
                while let Some(group) = all.next_element()? {
                    groups.reserve_exact(groups.len().max(1));
                    groups.push(group);
                }
                Ok(groups)
            }
        }
        from.deserialize_seq(Few)
    }
}

/// Times and spans as whole microseconds.
#[cfg(feature = "serde")]
mod micros {
    use crate::time::{MAX_MICROS, Span, Time};
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    macro_rules! as_micros {
        ($of:ty) => {
            impl Serialize for $of {
                fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                    to.serialize_u64(self.as_micros())
                }
            }
            impl<'de> Deserialize<'de> for $of {
                fn deserialize<D: Deserializer<'de>>(from: D) -> Result<$of, D::Error> {
                    let micros = u64::deserialize(from)?;
                    <$of>::from_micros(micros).ok_or_else(|| {
                        D::Error::custom(format!("{micros} us is more than {MAX_MICROS}"))
                    })
                }
            }
        };
    }
    as_micros!(Time);
    as_micros!(Span);
}
