//! What the engine is told at the start and in events: nodes, queues, jobs.

use std::num::NonZeroU32;

use crate::constraints::{Constraints, Labels};
use crate::gang::Gang;
use crate::ids::QueueId;
use crate::policy::Policy;
use crate::resources::{ResourceKinds, Resources};
use crate::time::Span;

/// Weight in thousandths: 1000 is one. Between 1 and [`MAX_WEIGHT`].
pub type Weight = u64;

/// Largest queue weight: a million, in thousandths.
pub const MAX_WEIGHT: Weight = 1_000_000_000;

/// A node.
///
/// ```
/// use meed::{NodeSpec, Resources};
///
/// let mut node = NodeSpec::new("n1", Resources::new(&[8000])); // 8 cores in thousandths
/// node.labels.insert("zone".to_owned(), "b".to_owned());
/// assert_eq!((node.name.as_str(), node.weight), ("n1", 1000)); // a weight of 1, in thousandths
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NodeSpec {
    /// Its name, distinct.
    pub name: String,
    /// What it holds.
    pub capacity: Resources,
    /// delta of ICS'14 Eq. 9 in thousandths: what an hour on this node counts, against 1000 for an
    /// ordinary one.
    pub weight: u32,
    /// What constraints of tasks refer to.
    pub labels: Labels,
}

impl NodeSpec {
    /// An ordinary node without labels.
    pub fn new(name: impl Into<String>, capacity: Resources) -> NodeSpec {
        NodeSpec { name: name.into(), capacity, weight: 1000, labels: Labels::new() }
    }
}

/// A queue.
///
/// ```
/// use meed::{Policy, QueueSpec, Resources};
///
/// let fair = Policy::preset("fair").ok_or("no such preset")?;
/// let mut queue = QueueSpec::new("physics", fair);
/// queue.weight = 3000; // in thousandths: three times as much as a queue of weight 1
/// queue.max = Some(Resources::new(&[16_000]));
/// assert_eq!((queue.name.as_str(), queue.min), ("physics", None));
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QueueSpec {
    /// Full name: `parent.child`. Parents are declared first.
    pub name: String,
    /// Weight among its siblings.
    pub weight: Weight,
    /// Served before its siblings while it holds less than this.
    pub min: Option<Resources>,
    /// Never holds more than this.
    pub max: Option<Resources>,
    /// How it orders its children (queues, or jobs in a leaf).
    pub policy: Policy,
}

impl QueueSpec {
    /// A queue of weight 1 without bounds.
    pub fn new(name: impl Into<String>, policy: Policy) -> QueueSpec {
        QueueSpec { name: name.into(), weight: 1000, min: None, max: None, policy }
    }
}

/// What the engine starts from.
///
/// ```
/// use meed::{Config, NodeSpec, Policy, ResourceKinds, Resources, Unit};
///
/// let node = |name, milli| NodeSpec::new(name, Resources::new(&[milli]));
/// let config = Config {
///     kinds: ResourceKinds::new(vec![("cpu".to_owned(), Unit::Milli)])?,
///     measured: 0,
///     root: Policy::preset("fair").ok_or("no such preset")?,
///     queues: Vec::new(),
///     nodes: vec![node("n1", 4000), node("n2", 8000)],
/// };
/// assert_eq!(config.largest_node(), Resources::new(&[8000]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Config {
    /// The cluster's resource kinds.
    pub kinds: ResourceKinds,
    /// The kind that fairness (rho, lending, Jain) is measured in.
    pub measured: usize,
    /// How the root orders its children.
    pub root: Policy,
    /// All queues, parents before their children. A queue without children takes jobs.
    pub queues: Vec<QueueSpec>,
    /// Nodes that are there at the start.
    pub nodes: Vec<NodeSpec>,
}

impl Config {
    /// The most that a node has of each resource.
    pub fn largest_node(&self) -> Resources {
        let mut largest = Resources::zero(self.kinds.len());
        for node in &self.nodes {
            let most = largest.as_mut_slice().iter_mut().zip(node.capacity.as_slice());
            most.for_each(|(most, &amount)| *most = amount.max(*most));
        }
        largest
    }
}

/// What becomes of tasks that no node could hold when empty.
///
/// ```
/// # use meed::{
/// #     Config, Engine, Event, Infeasible, JobSpec, NodeSpec, Policy, QueueSpec, ResourceKinds,
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
/// let large = [TaskGroup::new(1, Resources::new(&[3000]))]; // the node has 2000
/// let job = || Event::JobArrived(JobSpec::new(ads, &large));
/// assert!(engine.apply(Time::ZERO, job()).is_err());
/// engine.set_infeasible(Infeasible::Wait);
/// assert!(engine.apply(Time::ZERO, job()).is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Infeasible {
    /// Their job is refused: in a cluster that is what it is they would wait for ever.
    #[default]
    Refuse,
    /// They wait for a node that can hold them: more nodes may join.
    Wait,
}

/// Equal tasks of a job.
///
/// ```
/// use meed::{Resources, Span, TaskGroup};
///
/// let mut group = TaskGroup::new(100, Resources::new(&[2000])); // 2 cores each, in thousandths
/// group.limit = Span::from_secs(3600);
/// assert!(group.constraints.is_none() && group.gang.is_none());
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TaskGroup {
    /// Number of tasks.
    pub count: u32,
    /// What each holds while it runs.
    pub demand: Resources,
    /// Where they may run; `None`: anywhere. Boxed: most tasks have none.
    pub constraints: Option<Box<Constraints>>,
    /// The longest that each may run, as whoever submits them says: what reservations and
    /// backfilling go by ([`Blocked::Reserve`](crate::Blocked::Reserve)). The engine stops nothing
    /// at its limit; a world may. `None`: nobody knows.
    pub limit: Option<Span>,
    /// Whether they start together or not at all; `None`: each as it fits. Boxed: most do.
    pub gang: Option<Box<Gang>>,
}

impl TaskGroup {
    /// Tasks that may run anywhere, for nobody knows how long.
    pub fn new(count: u32, demand: Resources) -> TaskGroup {
        TaskGroup { count, demand, constraints: None, limit: None, gang: None }
    }
}

/// A job as it arrives.
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
/// let groups = [1, 3].map(|tasks| TaskGroup::new(tasks, Resources::new(&[1000])));
/// let job = JobSpec { max_attempts: 4, ..JobSpec::new(ads, &groups) };
/// engine.apply(Time::ZERO, Event::JobArrived(job))?;
/// assert_eq!(engine.view().queue(ads).waiting, 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct JobSpec<'a> {
    /// A leaf queue.
    pub queue: QueueId,
    /// Weight among the jobs of its queue, in thousandths.
    pub weight: Weight,
    /// Its tasks; numbered over all groups in order.
    pub groups: &'a [TaskGroup],
    /// Whether more tasks may be added later: the job then does not end with its last task.
    pub open: bool,
    /// How often a task may fail before the whole job fails; 0 for no limit.
    pub max_attempts: u16,
}

impl<'a> JobSpec<'a> {
    /// A job of weight 1 with these tasks and no more, which fails with the first that fails.
    pub fn new(queue: QueueId, groups: &'a [TaskGroup]) -> JobSpec<'a> {
        JobSpec { queue, weight: 1000, groups, open: false, max_attempts: 1 }
    }
}

/// What is to change about a queue; `None` leaves it as it is.
///
/// ```
/// # use meed::{
/// #     Config, Engine, Event, NodeSpec, Policy, QueueChange, QueueSpec, ResourceKinds,
/// #     Resources, Time, Unit,
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
/// let change = QueueChange { weight: Some(3000), ..QueueChange::default() };
/// engine.apply(Time::ZERO, Event::QueueChanged(ads, change))?;
/// assert_eq!(engine.view().queue_weight(ads), 3000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct QueueChange {
    /// New weight.
    pub weight: Option<Weight>,
    /// New minimum; `Some(None)` removes it.
    pub min: Option<Option<Resources>>,
    /// New maximum; `Some(None)` removes it.
    pub max: Option<Option<Resources>>,
    /// Where it stands from now on, for a parent that orders by
    /// [`Measure::Told`](crate::Measure::Told).
    pub rank: Option<Rank>,
}

/// Where a child stands among its siblings, told from outside
/// ([`Measure::Told`](crate::Measure::Told)): who holds less than `quota` comes before who does
/// not, and among those the smallest `(amount + step x held) / per` is served; ties by declaration.
///
/// With `step` 0 it is a plain rank, which nothing but the next word moves. With a `step` it rises
/// by what the child starts, so that a word serves for more than one start.
///
/// ```
/// # use meed::{
/// #     Config, Engine, Event, JobSpec, Measure, NodeSpec, Policy, QueueChange, QueueSpec, Rank,
/// #     ResourceKinds, Resources, TaskGroup, Time, Unit,
/// # };
/// # let root = Policy::new(Measure::Told);
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
/// let change = QueueChange { rank: Some(Rank::at(5)), ..QueueChange::default() };
/// engine.apply(Time::ZERO, Event::QueueChanged(ads, change))?;
/// let tasks = [TaskGroup::new(1, Resources::new(&[1000]))];
/// for queue in [ads, search] {
///     engine.apply(Time::ZERO, Event::JobArrived(JobSpec::new(queue, &tasks)))?;
/// }
/// // Nothing was told of `search`: it stands at 0, before 5.
/// assert_eq!(engine.next_start(false).map(|start| start.queue), Some(search));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Rank {
    /// What it stands at while it holds nothing.
    pub amount: u64,
    /// How much each smallest unit that it holds adds.
    pub step: u32,
    /// What that is divided by.
    pub per: NonZeroU32,
    /// In smallest units; `u64::MAX` for none.
    pub quota: u64,
}

impl Default for Rank {
    /// What nothing was told of: first, and by declaration among its like.
    fn default() -> Rank {
        Rank::at(0)
    }
}

impl Rank {
    /// A plain rank.
    pub const fn at(amount: u64) -> Rank {
        Rank { amount, step: 0, per: NonZeroU32::MIN, quota: u64::MAX }
    }
}
