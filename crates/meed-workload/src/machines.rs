//! Machines as published beside a trace: nodes that are there at the start, and what changes later.

use meed::{NodeSpec, Resources, Time};

use crate::partitions::PartitionTerms;
use crate::{BadLine, error::BadLines};

/// The machines of a file, or of a published mix.
#[derive(Clone, Debug, Default)]
pub struct Machines {
    /// Nodes that are there at the start.
    pub nodes: Vec<NodeSpec>,
    /// Changes after that, in order of time.
    pub changes: Vec<(Time, MachineChange)>,
    /// Lines read.
    pub lines: u64,
    /// Lines left out on purpose.
    pub ignored: u64,
    /// What was assumed, in words.
    pub assumptions: Vec<String>,
    /// The partitions that a cluster's own file tells, besides the labels of its nodes.
    pub partitions: Vec<PartitionTerms>,
    /// What a cluster's own file tells, in words: the first thing to be said of a run.
    pub told: Vec<String>,
    pub(crate) bad: BadLines,
}

impl Machines {
    /// How many lines were wrong.
    pub fn bad(&self) -> u64 {
        self.bad.count()
    }

    /// The first of them.
    pub fn bad_lines(&self) -> &[BadLine] {
        self.bad.first()
    }
}

/// One change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MachineChange {
    /// A node joins.
    Joins(NodeSpec),
    /// The node of this name leaves.
    Leaves(String),
    /// The node of this name now holds this.
    Resized(String, Resources),
}
