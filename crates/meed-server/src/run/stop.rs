//! Why a task that runs is to stop though nobody wants it gone: its room is taken back for another.

use serde::{Deserialize, Serialize};

/// What the server leaves in the task's folder before it asks the supervisor to end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StopOrder {
    /// From SIGTERM to SIGKILL, in milliseconds.
    pub grace_ms: u64,
    /// The job for which room is taken back, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub winner: Option<u64>,
}
