//! Numbers and handles of what the engine knows: queues, nodes, jobs, running tasks.

use crate::slab::Handle;

/// A queue, numbered in order of declaration; the root is 0. A number is never another queue's; one
/// that is removed and comes back below the same parent, by its full name, has it again, unless
/// it was forgotten meanwhile.
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
pub enum JobTag {}

/// Marks handles of running tasks.
pub enum AllocationMark {}

/// A job that is alive.
pub type JobId = Handle<JobTag>;

/// A task that runs on a node.
pub type AllocationId = Handle<AllocationMark>;
