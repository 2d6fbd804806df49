//! What happens in a world, told to the engine.
//!
//! At one instant a world tells all ends first, then arrivals and changes, then asks for decisions.

use crate::constraints::Labels;
use crate::ids::{AllocationId, JobId, NodeId, QueueId};
use crate::policy::Policy;
use crate::resources::Resources;
use crate::spec::{JobSpec, NodeSpec, QueueChange, QueueSpec, TaskGroup};
use crate::time::Time;

/// One event.
///
/// The world tells it to [`Engine::apply`](crate::Engine::apply) with its time. An event that
/// contradicts what the engine knows is refused with a [`Rejected`](crate::Rejected).
///
/// ```
/// # use meed::{
/// #     Config, Engine, Event, NodeSpec, Policy, QueueSpec, ResourceKinds, Resources, Time,
/// #     Unit,
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
/// let second = NodeSpec::new("second", Resources::new(&[4000]));
/// engine.apply(Time::ZERO, Event::NodeJoined(second))?;
/// assert_eq!(engine.view().capacity(), &Resources::new(&[6000]));
///
/// let node = engine.view().find_node("second").ok_or("it joined")?;
/// engine.apply(Time::ZERO, Event::NodeLeft(node))?;
/// assert!(engine.apply(Time::ZERO, Event::NodeLeft(node)).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// A node joins. Effect: [`Effect::Node`].
    NodeJoined(NodeSpec),
    /// A node's capacity changes, and tasks that no longer fit are lost. Those that run there keep
    /// their room in the order in which they started, tasks of one instant in the order in which
    /// their starts were told, as long as the room lasts. Effect: [`Effect::Lost`].
    NodeChanged(NodeId, Resources),
    /// A node leaves; its tasks are lost and wait again. Effect: [`Effect::Lost`].
    NodeLeft(NodeId),
    /// A node's capacity changes, and nothing is lost: where less is left than runs there, the node
    /// is over-full until enough has ended.
    NodeResized(NodeId, Resources),
    /// Nothing new starts on a node; what runs there goes on. The pool, and so all shares, stay as
    /// they are.
    NodeCordoned(NodeId),
    /// Tasks may start there again.
    NodeUncordoned(NodeId),
    /// A node has other labels; what runs there goes on, whatever its constraints say.
    NodeRelabelled(NodeId, Labels),
    /// Others, whom this engine does not schedule, use so much of a node: that is not free, and
    /// charged to nobody. It may be more than the node has. The pool stays as it is.
    NodeUsedByOthers(NodeId, Resources),
    /// A queue is added below an existing one. Effect: [`Effect::Queue`].
    QueueAdded(QueueSpec),
    /// A queue's weight or bounds change, or where it stands among its siblings.
    QueueChanged(QueueId, QueueChange),
    /// A queue takes no new jobs; it disappears, share and all, when its last job has ended.
    QueueRemoved(QueueId),
    /// These queues, the root among them if it is named, order what is below them otherwise from
    /// now on. What ran and waited does so on; ledgers are kept where they mean the same under
    /// both policies, and begin anew where not.
    PoliciesChanged(&'a [(QueueId, Policy)]),
    /// A job arrives. Effect: [`Effect::Job`].
    JobArrived(JobSpec<'a>),
    /// An open job gets more tasks; `open` says whether still more may come.
    TasksAdded {
        /// Which job.
        job: JobId,
        /// What is added.
        groups: &'a [TaskGroup],
        /// Whether still more may come.
        open: bool,
    },
    /// A job's weight among the jobs of its queue changes.
    JobChanged {
        /// Which job.
        job: JobId,
        /// Its new weight, in thousandths.
        weight: u64,
    },
    /// A job is cancelled; its running tasks are stopped. Effect: [`Effect::Lost`].
    JobCancelled(JobId),
    /// A task has ended well. Effect: [`Effect::Ended`].
    TaskEnded(AllocationId),
    /// A task has failed; it is tried again until its job's attempts are used up. Effect:
    /// [`Effect::Ended`].
    TaskFailed(AllocationId),
    /// A start could not be carried out: it is undone and charged nothing, the time since
    /// included, and counts as no attempt. The task waits again. Effect: [`Effect::Ended`].
    ///
    /// Ledgers are as if it had never started: exactly with memory for ever and within a round, to
    /// a unit for each landmark under a half-life, and under a discount where nothing else of the
    /// queue started or ended since.
    StartFailed(AllocationId),
    /// A task is lost without its fault (evicted, or its machine failed): that is no attempt, what
    /// it used stays charged, and it waits again. Effect: [`Effect::Ended`].
    TaskLost(AllocationId),
    /// A task that waits runs already, since an instant that is not in the future: another
    /// scheduler placed it, or this one before a restart. It is charged since then as if it had
    /// been decided then, as far as ledgers know. Neither the room on the node, nor constraints,
    /// nor maximum shares matter: the node may be over-full until tasks end. A job that arrives
    /// with running tasks is told first. Effect: [`Effect::Started`].
    TaskAdopted {
        /// Its job.
        job: JobId,
        /// Its number in the job.
        task: u32,
        /// Where it runs.
        node: NodeId,
        /// Since when.
        since: Time,
    },
    /// A task turns out to run on another node than was assumed, and has done so since its start.
    /// Ledgers stay as they are, unless the node has another weight: it is charged by that, since
    /// its start.
    TaskMoved(AllocationId, NodeId),
    /// One task of a job is wanted no more, whether it waits or runs; the others go on, and the job
    /// is done when nothing is left of it. Effect: [`Effect::Ended`]; `stopped` is the task, where
    /// it ran.
    TaskWithdrawn {
        /// Which job.
        job: JobId,
        /// The task's number in the job.
        task: u32,
    },
}

/// What an event did, besides changing the engine's state.
///
/// ```
/// # use meed::{
/// #     Config, Effect, Engine, Event, JobSpec, NodeSpec, Policy, QueueSpec, ResourceKinds,
/// #     Resources, TaskGroup, Time, Unit,
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
/// let effect = engine.apply(Time::ZERO, Event::JobArrived(JobSpec::new(ads, &tasks)))?;
/// assert!(matches!(effect, Effect::Job(_)));
/// let start = engine.next_start(false).ok_or("there is room")?;
/// let effect = engine.apply(Time::ZERO, Event::NodeLeft(start.node))?;
/// assert_eq!(effect, Effect::Lost(vec![start.allocation]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Nothing that the world has to know.
    None,
    /// The new node.
    Node(NodeId),
    /// The new queue.
    Queue(QueueId),
    /// The new job.
    Job(JobId),
    /// A task's end, and what became of its job. When the job failed, `stopped` are its other
    /// running tasks, which the world must stop; so is a running task that was withdrawn.
    Ended {
        /// The task's job.
        job: JobId,
        /// Its state now.
        state: JobState,
        /// Tasks of a failed job that ran elsewhere, or the one that was withdrawn.
        stopped: Vec<AllocationId>,
    },
    /// The task that was adopted: its handle from now on.
    Started(AllocationId),
    /// These tasks run no more.
    Lost(Vec<AllocationId>),
}

/// What became of a job when one of its tasks ended.
///
/// ```
/// # use meed::{
/// #     Config, Effect, Engine, Event, JobSpec, JobState, NodeSpec, Policy, QueueSpec,
/// #     ResourceKinds, Resources, TaskGroup, Time, Unit,
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
/// let start = engine.next_start(false).ok_or("there is room")?;
/// let effect = engine.apply(Time::ZERO, Event::TaskEnded(start.allocation))?;
/// assert!(matches!(effect, Effect::Ended { state: JobState::Done, .. }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JobState {
    /// Some of its tasks wait or run.
    Active,
    /// None does, but it is open: more may be added.
    Drained,
    /// All tasks have ended: the job is gone.
    Done,
    /// A task used up its attempts: the job is gone.
    Failed,
}
