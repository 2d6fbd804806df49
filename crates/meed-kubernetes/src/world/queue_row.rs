//! What is kept of the object of a queue.

use meed::QueueSpec;

use crate::crd::QueueObjectSpec;

/// What is kept of an object.
pub(super) struct QueueRow {
    pub(super) spec: QueueObjectSpec,
    /// Its full name in the engine, where it has one.
    pub(super) full: Option<String>,
    /// What the engine was told last.
    pub(super) told: Option<QueueSpec>,
    /// What is wrong with it.
    pub(super) problem: Option<String>,
    /// What of its minimum share is not kept; its pods run nevertheless.
    pub(super) unkept: Option<String>,
}

impl QueueRow {
    /// What the engine was told last.
    pub(super) fn told(&self) -> Option<QueueSpec> {
        self.told.clone()
    }
}

/// The name of the object in the full name of its queue.
pub(super) fn object_in(full: &str) -> &str {
    full.rsplit('.').next().unwrap_or(full)
}
