//! What is known of jobs and requests while a run goes on.

use meed::{JobId, Resources, TaskGroup, Time};

use super::blocks::Blocks;
use super::stage::Stage;

/// The engine's resources: map slots and reduce slots, in thousandths.
pub(super) const MAP_DEMAND: [u64; 2] = [1000, 0];
pub(super) const REDUCE_DEMAND: [u64; 2] = [0, 1000];

/// Number of the group of maps of a job.
pub(super) const MAPS: u32 = 0;

/// A job that was submitted.
pub(super) struct Job {
    /// `None` when the engine refused it.
    pub(super) id: Option<JobId>,
    pub(super) request: usize,
    /// Number within its request.
    pub(super) number: usize,
    pub(super) submit: Time,
    /// Nothing when nobody asks for one any more.
    pub(super) blocks: Option<Blocks>,
    pub(super) reduces: u32,
    /// Of them: those that could start and have not.
    pub(super) waiting_reduces: u32,
    pub(super) counts: Counts,
    pub(super) maps_end: Option<Time>,
    pub(super) end: Option<Time>,
    pub(super) class: Option<crate::classes::Class>,
    /// Groups and tasks that the engine was told of.
    pub(super) groups: u32,
    pub(super) tasks: u32,
    /// The group of its reduces, once they may begin.
    pub(super) reduces_group: Option<u32>,
    /// Bytes for the shuffle on each node; empty where nobody asks.
    pub(super) made: Vec<u64>,
    /// Its stage, as second attempts see it.
    pub(super) stage: Stage,
}

/// Maps started, by distance.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Counts {
    pub(super) maps: u64,
    pub(super) local: u64,
    pub(super) rack: u64,
}

/// What is known of a request while the run goes on.
#[derive(Clone, Copy, Default)]
pub(super) struct RequestState {
    pub(super) submit: Option<Time>,
    pub(super) end: Option<Time>,
    /// Jobs that have not ended.
    pub(super) left: usize,
}

pub(super) fn group(count: u32, demand: [u64; 2]) -> TaskGroup {
    TaskGroup::new(count, Resources::new(&demand))
}
