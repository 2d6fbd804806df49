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
//! A phase without work is passed over. Shuffle and output may be works side by side instead
//! ([`super::courses`]).

use crate::classes::SlotKind;
use meed::{AllocationId, Span, Time};

use super::blocks::{Distance, Racks};
use super::cluster::Cluster;
use super::kinds::{MapWork, ReduceWork};
use super::machines::Place;
use super::pages::What;

/// What a task is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Work {
    Map {
        work: MapWork,
        slot: SlotKind,
        /// Number of its block.
        block: u32,
        /// The node that the block is read from.
        holder: u32,
        distance: Distance,
    },
    Reduce(ReduceWork),
}

impl Work {
    /// The kind of slot that a map holds.
    pub(super) fn slot(&self) -> Option<SlotKind> {
        match *self {
            Work::Map { slot, .. } => Some(slot),
            Work::Reduce(_) => None,
        }
    }
}

/// What a phase is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// Work at one server.
    At(Place),
    /// Maps' outputs come from where they lie.
    Fetch,
    /// The output goes to the nodes that will hold it.
    Replicate,
}

/// What a phase at a disk is to a page cache ([`super::caches`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Pages {
    /// Nothing.
    No,
    /// A file is read.
    Read(What),
    /// Something is added to a file.
    Write(What),
}

/// What, how much of it, and of which file.
pub(super) type Phase = (Step, u64, Pages);

/// What phases depend on besides the task.
#[derive(Clone, Copy)]
pub(super) struct Shape<'a> {
    pub(super) racks: &'a Racks,
    /// Whether the links into racks are limited.
    pub(super) uplinks: bool,
    /// Whether the shuffle is [`Step::Fetch`].
    pub(super) fetches: bool,
    /// Whether the output is [`Step::Replicate`].
    pub(super) replicates: bool,
    /// Whether what is merged is written, and then read as far as it is not in memory.
    pub(super) page_cache: bool,
}

impl<'a> Shape<'a> {
    pub(super) fn of(cluster: &Cluster, racks: &'a Racks) -> Shape<'a> {
        Shape {
            racks,
            uplinks: cluster.uplink_bytes_per_s.is_some(),
            fetches: cluster.as_hadoop.parallel_copies.is_some(),
            replicates: cluster.as_hadoop.output_replicas.is_some(),
            page_cache: cluster.as_hadoop.page_cache,
        }
    }
}

/// A task that runs, or has ended and waits for its node's heartbeat to say so.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    /// Number of its job.
    pub(super) job: u32,
    /// Number of it in its job, as the engine counts.
    pub(super) number: u32,
    pub(super) node: u32,
    pub(super) allocation: AllocationId,
    pub(super) started: Time,
    pub(super) lasted: Span,
    pub(super) work: Work,
    /// The other attempt at the same.
    pub(super) rival: Option<u32>,
    /// Whether it is the second attempt.
    pub(super) is_copy: bool,
    /// Phases that are behind it, the one that goes on among them.
    passed: u8,
    pub(super) doing: Doing,
}

/// What a task does now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Doing {
    /// It starts up.
    StartUp,
    /// So much work, from its beginning.
    Work(Place, u64),
    /// A shuffle or an output of several works.
    SideBySide,
    /// Nothing: it has ended.
    Nothing,
}

/// Most phases of a task.
const PHASES: usize = 6;

impl Task {
    pub(super) fn new(
        (job, number): (u32, u32),
        node: u32,
        allocation: AllocationId,
        started: Time,
        work: Work,
    ) -> Task {
        Task {
            job,
            number,
            node,
            allocation,
            started,
            lasted: Span::ZERO,
            work,
            rival: None,
            is_copy: false,
            passed: 0,
            doing: Doing::StartUp,
        }
    }

    /// The block of a map.
    pub(super) fn block(&self) -> Option<u32> {
        match self.work {
            Work::Map { block, .. } => Some(block),
            Work::Reduce(_) => None,
        }
    }

    /// The next phase; `None` at the end.
    pub(super) fn next_phase(&mut self, shape: Shape<'_>) -> Option<Phase> {
        let phases = self.phases(shape);
        loop {
            let Some(phase) = phases.get(usize::from(self.passed)) else {
                self.doing = Doing::Nothing;
                return None;
            };
            self.passed += 1;
            if phase.1 > 0 {
                self.doing = match phase.0 {
                    Step::At(place) => Doing::Work(place, phase.1),
                    Step::Fetch | Step::Replicate => Doing::SideBySide,
                };
                return Some(*phase);
            }
        }
    }

    /// How far it is, in thousandths, where the phase that goes on is so far: each phase with work
    /// counts the same.
    pub(super) fn progress(&self, shape: Shape<'_>, now: u32) -> u32 {
        let phases = self.phases(shape);
        let with_work = |phases: &[Phase]| phases.iter().filter(|phase| phase.1 > 0).count();
        let before = usize::from(self.passed).saturating_sub(1);
        let (over, all) = (with_work(&phases[..before]) as u32, with_work(&phases) as u32);
        match self.doing {
            Doing::StartUp => 0,
            Doing::Nothing => 1000,
            Doing::Work(..) | Doing::SideBySide => (over * 1000 + now.min(1000)) / all.max(1),
        }
    }

    fn phases(&self, shape: Shape<'_>) -> [Phase; PHASES] {
        let (node, racks) = (self.node as usize, shape.racks);
        let uplink = Step::At(Place::Uplink(racks.rack(node)));
        let over_uplink = |bytes: u64| if shape.uplinks { bytes } else { 0 };
        let disk = |node: usize| Step::At(Place::Disk(node));
        let network = Step::At(Place::Network(node));
        let cores = Step::At(Place::Cores(node));
        let nothing = (cores, 0, Pages::No);
        match self.work {
            Work::Map { work, block, holder, distance, .. } => {
                let non_local = if distance == Distance::Local { 0 } else { work.read_bytes };
                let other_rack =
                    if distance == Distance::Remote { over_uplink(work.read_bytes) } else { 0 };
                let block = Pages::Read(What::Block(block));
                [
                    (disk(holder as usize), work.read_bytes, block),
                    (uplink, other_rack, Pages::No),
                    (network, non_local, Pages::No),
                    (cores, work.cpu_micros, Pages::No),
                    (disk(node), work.write_bytes, Pages::Write(What::Spills)),
                    nothing,
                ]
            }
            Work::Reduce(work) => {
                let far = over_uplink(racks.share_of_other_racks(node, work.shuffle_bytes));
                let [far, shuffle] = match shape.fetches {
                    true => [nothing, (Step::Fetch, work.shuffle_bytes, Pages::No)],
                    false => [(uplink, far, Pages::No), (network, work.shuffle_bytes, Pages::No)],
                };
                let merged = What::Merge(self.number);
                let merge = match shape.page_cache {
                    true => [Pages::Write(merged), Pages::Read(merged)]
                        .map(|pages| (disk(node), work.shuffle_bytes, pages)),
                    false => [(disk(node), work.merge_bytes, Pages::No), nothing],
                };
                let written = Pages::Write(What::Output(self.number));
                let output = if shape.replicates { Step::Replicate } else { disk(node) };
                [
                    far,
                    shuffle,
                    merge[0],
                    merge[1],
                    (cores, work.cpu_micros, Pages::No),
                    (output, work.write_bytes, written),
                ]
            }
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

    pub(super) fn get(&self, number: u32) -> &Task {
        self.all[number as usize].as_ref().expect("a number is given back once")
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
