//! Numbers and handles of what the engine knows: queues, nodes, jobs, running tasks.

use crate::slab::Handle;

/// A queue, numbered in order of declaration; the root is 0. A number is never another queue's; one
/// that is removed and comes back below the same parent, by its full name, has it again, unless
/// it was forgotten meanwhile.
///
/// ```
/// # use meed::{Config, Engine, NodeSpec, Policy, QueueSpec, ResourceKinds, Resources, Unit};
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
/// assert_eq!(ads.index(), 1);
/// assert_eq!(engine.view().queue_name(ads), "ads");
/// # engine.advance(meed::Time::ZERO)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct QueueId(pub(crate) u32);

impl QueueId {
    /// The root.
    pub const ROOT: QueueId = QueueId(0);

    /// Its number: root 0, then in order of declaration. Dense until a queue is forgotten.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The row of a queue in the engine's tables: dense, in order of declaration. It moves up when rows
/// of queues that are gone are forgotten.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct QueueRow(pub(crate) u32);

impl QueueRow {
    pub(crate) const ROOT: QueueRow = QueueRow(0);

    #[inline]
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A node, numbered in order of joining. Numbers are never used again, so a handle to a node that
/// is gone is never taken for another's; of nodes that left long ago nothing is kept.
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
/// let first = engine.view().find_node("server").ok_or("declared")?;
/// engine.apply(Time::ZERO, Event::NodeLeft(first))?;
/// let again = NodeSpec::new("server", Resources::new(&[2000]));
/// engine.apply(Time::ZERO, Event::NodeJoined(again))?;
/// let second = engine.view().find_node("server").ok_or("it joined")?;
/// assert_eq!((first.index(), second.index()), (0, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub(crate) u32);

impl NodeId {
    /// Its number in order of joining, the first is 0. Where nodes come and go for ever this grows:
    /// a table of nodes is better kept by [`View::node_row`](crate::View::node_row).
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The row of a node in the engine's tables: dense, in order of joining. It moves up when rows of
/// nodes that left long ago are forgotten.
///
/// ```
/// use meed::place::{Allowed, FirstFit, Placement};
/// use meed::{NodeRow, Resources};
///
/// let mut place = FirstFit::new(1);
/// place.set_free(NodeRow::new(0), &Resources::new(&[500]));
/// place.set_free(NodeRow::new(1), &Resources::new(&[2000]));
/// let found = place.find(&Resources::new(&[1000]), Allowed::default());
/// assert_eq!(found.map(NodeRow::index), Some(1));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeRow(pub(crate) u32);

impl NodeRow {
    /// The row of that number.
    pub fn new(index: u32) -> NodeRow {
        NodeRow(index)
    }

    /// Its number.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Marks handles of jobs.
///
/// A [`JobId`] is a [`Handle`], whose page has an example.
pub enum JobTag {}

/// Marks handles of running tasks.
///
/// An [`AllocationId`] is a [`Handle`], whose page has an example.
pub enum AllocationMark {}

/// A job that is alive.
pub type JobId = Handle<JobTag>;

/// A task that runs on a node.
pub type AllocationId = Handle<AllocationMark>;
