//! What runs, and how it ends.

use meed::AllocationId;

/// A task that runs.
#[derive(Clone, Copy)]
pub(super) struct Running<At> {
    pub(super) at: At,
    pub(super) allocation: AllocationId,
    pub(super) ending: Ending,
}

/// How a task runs no more.
#[derive(Clone, Copy)]
pub(super) enum Ending {
    Done,
    /// It ran still when its log ended: nobody knows how long it runs.
    Cut,
    Fails,
    /// Its room was taken back.
    Stopped,
}
