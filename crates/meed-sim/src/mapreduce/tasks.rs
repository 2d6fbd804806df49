//! A task as a sequence of phases, each of which is work at one server. One phase at a time: what a
//! task computes and what it reads do not overlap (an assumption, docs/mapreduce.md).
//!
//! | map | reduce |
//! |---|---|
//! | read its block from the holder's disk | the part of the shuffle from other racks, over the link into its rack |
//! | from another rack: over the link into its rack | the shuffle, over the link into its node |
//! | from another node: over the link into its node | what it got is written to its disk and read again (merge) |
//! | compute | compute |
//! | write what it made to its own disk | write the output to its own disk |
//!
//! A phase without work is passed over.

use crate::classes::SlotKind;
use meed::{AllocationId, Span, Time};

use super::blocks::{Distance, Racks};
use super::kinds::{MapWork, ReduceWork};
use super::machines::Place;

/// What a task is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Work {
    Map {
        work: MapWork,
        slot: SlotKind,
        /// The node that the block is read from.
        holder: u32,
        distance: Distance,
    },
    Reduce(ReduceWork),
}

/// A task that runs, or has ended and waits for its node's heartbeat to say so.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    /// Number of its job.
    pub(super) job: u32,
    pub(super) node: u32,
    pub(super) allocation: AllocationId,
    pub(super) started: Time,
    pub(super) lasted: Span,
    pub(super) work: Work,
    /// Phases that are behind it.
    passed: u8,
}

/// Most phases of a task.
const PHASES: usize = 5;

impl Task {
    pub(super) fn new(
        job: u32,
        node: u32,
        allocation: AllocationId,
        started: Time,
        work: Work,
    ) -> Task {
        Task { job, node, allocation, started, lasted: Span::ZERO, work, passed: 0 }
    }

    /// The next phase: where, and how much; `None` at the end. `uplinks`: whether the links into
    /// racks are limited.
    pub(super) fn next_phase(&mut self, racks: &Racks, uplinks: bool) -> Option<(Place, u64)> {
        let phases = self.phases(racks, uplinks);
        loop {
            let phase = phases.get(usize::from(self.passed))?;
            self.passed += 1;
            if phase.1 > 0 {
                return Some(*phase);
            }
        }
    }

    fn phases(&self, racks: &Racks, uplinks: bool) -> [(Place, u64); PHASES] {
        let node = self.node as usize;
        let uplink = Place::Uplink(racks.rack(node));
        let over_uplink = |bytes: u64| if uplinks { bytes } else { 0 };
        match self.work {
            Work::Map { work, holder, distance, .. } => {
                let non_local = if distance == Distance::Local { 0 } else { work.read_bytes };
                let other_rack =
                    if distance == Distance::Remote { over_uplink(work.read_bytes) } else { 0 };
                [
                    (Place::Disk(holder as usize), work.read_bytes),
                    (uplink, other_rack),
                    (Place::Network(node), non_local),
                    (Place::Cores(node), work.cpu_micros),
                    (Place::Disk(node), work.write_bytes),
                ]
            }
            Work::Reduce(work) => [
                (uplink, over_uplink(racks.share_of_other_racks(node, work.shuffle_bytes))),
                (Place::Network(node), work.shuffle_bytes),
                (Place::Disk(node), work.merge_bytes),
                (Place::Cores(node), work.cpu_micros),
                (Place::Disk(node), work.write_bytes),
            ],
        }
    }
}

/// Tasks by number; numbers of those that are gone are given again.
#[derive(Default)]
pub(super) struct Tasks {
    all: Vec<Option<Task>>,
    free: Vec<u32>,
}

impl Tasks {
    pub(super) fn insert(&mut self, task: Task) -> u32 {
        match self.free.pop() {
            Some(number) => {
                self.all[number as usize] = Some(task);
                number
            }
            None => {
                self.all.push(Some(task));
                self.all.len() as u32 - 1
            }
        }
    }

    pub(super) fn get_mut(&mut self, number: u32) -> &mut Task {
        self.all[number as usize].as_mut().expect("a number is given back once")
    }

    pub(super) fn remove(&mut self, number: u32) -> Task {
        self.free.push(number);
        self.all[number as usize].take().expect("a number is given back once")
    }

    /// All of them, in order of number.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Task> {
        self.all.iter().flatten()
    }
}
