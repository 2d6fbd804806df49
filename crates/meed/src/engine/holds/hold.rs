//! What a reservation is: for whom, on which nodes, from when on.

use std::collections::BTreeMap;

use smallvec::{SmallVec, smallvec};

use super::profile::Need;
use crate::engine::room::{Counts, Nodes};
use crate::ids::{JobId, NodeRow};
use crate::resources::Resources;
use crate::time::Time;

/// The node of a reservation whose node is forgotten, until the next plan.
pub(super) const NOWHERE: NodeRow = NodeRow(u32::MAX);

/// Nodes for each group of a gang; but for gangs of several groups there is one.
pub(super) type Places = SmallVec<[Nodes; 1]>;

/// Nodes besides that of a reservation.
pub(super) type Spares = SmallVec<[NodeRow; 1]>;

/// Tasks of a group that start by a reservation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Starter {
    pub(super) slot: u32,
    /// What each task needs, and for how long.
    pub(super) need: Need,
    /// So many of the group's waiting tasks are out of the walk for it: all of a gang's.
    pub(super) covers: u64,
}

/// Room that is held for a task, or for all of a gang's that start together.
#[derive(Clone, Debug)]
pub(super) struct Hold {
    /// It is for the next tasks of these groups: of one, but for a gang of several.
    pub(super) starters: SmallVec<[Starter; 1]>,
    /// Of each of these.
    pub(super) nodes: Places,
    /// Nodes that are drained besides, in order: it starts on whichever has room first.
    pub(super) spares: Spares,
    /// From when on it is expected to be free; `None`: nobody knows, the nodes are drained.
    pub(super) at: Option<Time>,
    /// Since when.
    pub(super) since: Time,
    /// How often it was put off.
    pub(super) moved: u32,
    /// When room may be taken back for it next.
    pub(super) tries: Time,
    /// Whether tasks were told to stop for it where it is.
    pub(super) reclaims: bool,
    /// Whether it was put off where estimates are learned: its nodes are drained, and it stays.
    pub(super) drained: bool,
}

/// What is held on one node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// What all tasks that start there need.
    pub(super) need: Need,
    pub(super) at: Option<Time>,
}

impl Part {
    /// From when to when it is held: from the start where nobody knows.
    pub(super) fn span(&self) -> (Time, Time) {
        self.at.map_or((Time::ZERO, Time::MAX), |at| (at, self.need.until(at)))
    }
}

impl Hold {
    /// The slot of its group, the first of these.
    pub(super) fn slot(&self) -> u32 {
        self.starters[0].slot
    }

    /// What each task of that needs.
    pub(super) fn need(&self) -> &Need {
        &self.starters[0].need
    }

    /// Whether it is for several groups.
    pub(super) fn is_joint(&self) -> bool {
        self.starters.len() > 1
    }

    pub(super) fn is_of(&self, slot: u32) -> bool {
        self.starters.iter().any(|starter| starter.slot == slot)
    }

    /// So many waiting tasks are out of the walk for it.
    pub(super) fn covers(&self) -> u64 {
        self.starters.iter().map(|starter| starter.covers).sum()
    }

    pub(super) fn is_on(&self, node: NodeRow) -> bool {
        let own = self.nodes.iter().any(|nodes| nodes.iter().any(|(other, _)| *other == node));
        own || self.spares.contains(&node)
    }

    /// Nodes on which it is; where several groups start there more than once.
    pub(super) fn rows(&self) -> impl Iterator<Item = NodeRow> + '_ {
        self.nodes.iter().flatten().map(|(node, _)| *node).chain(self.spares.iter().copied())
    }

    /// How many tasks of each group start on the node.
    pub(super) fn on(&self, node: NodeRow) -> Counts {
        let tasks = |nodes: &Nodes| {
            nodes.iter().find(|(other, _)| *other == node).map_or(0, |(_, tasks)| *tasks)
        };
        match self.spares.contains(&node) {
            true => smallvec![1],
            false => self.nodes.iter().map(tasks).collect(),
        }
    }

    /// Whether it waits where it is for tasks that were told to stop: nobody takes that room.
    pub(super) fn is_pinned(&self) -> bool {
        self.reclaims && self.at.is_none()
    }

    /// Whether it waits on its own nodes for what runs there, whatever comes free elsewhere.
    pub(super) fn stays(&self) -> bool {
        self.at.is_none() && (self.reclaims || self.drained)
    }

    pub(super) fn part(&self, tasks: u32) -> Part {
        Part { need: self.need().times(tasks), at: self.at }
    }

    /// Its node, where it is for one task.
    pub(super) fn alone_on(&self) -> Option<NodeRow> {
        match (&self.nodes[..], self.is_joint()) {
            ([nodes], false) => match nodes[..] {
                [(node, 1)] => Some(node),
                _ => None,
            },
            _ => None,
        }
    }

    /// What it holds, node by node.
    pub(super) fn parts(&self) -> impl Iterator<Item = (NodeRow, Part)> + '_ {
        self.own_parts().chain(self.spare_parts())
    }

    /// The same but for spares.
    pub(super) fn own_parts(&self) -> impl Iterator<Item = (NodeRow, Part)> + '_ {
        let alone: &[(NodeRow, u32)] = if self.is_joint() { &[] } else { &self.nodes[0] };
        let together = if self.is_joint() { self.joint_parts() } else { Vec::new() };
        alone.iter().map(|&(node, tasks)| (node, self.part(tasks))).chain(together)
    }

    /// The same of several groups, whose tasks all hold their room for as long as the longest may
    /// run.
    pub(super) fn joint_parts(&self) -> Vec<(NodeRow, Part)> {
        let mut sums: BTreeMap<NodeRow, Resources> = BTreeMap::new();
        for (starter, nodes) in self.starters.iter().zip(&self.nodes) {
            for &(node, tasks) in nodes {
                let more = starter.need.times(tasks).demand;
                let sum = sums.entry(node).or_insert_with(|| Resources::zero(more.kinds()));
                *sum = sum.plus(&more);
            }
        }
        let part = |demand| Part { need: Need { demand, ..*self.need() }, at: self.at };
        sums.into_iter().map(|(node, demand)| (node, part(demand))).collect()
    }
}

/// What is held idle on a node, for tasks of one job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Idle {
    pub(super) job: JobId,
    pub(super) amounts: Resources,
}

/// What is held idle on a node, in order of the holds.
pub(super) type IdleThere = SmallVec<[Idle; 1]>;
