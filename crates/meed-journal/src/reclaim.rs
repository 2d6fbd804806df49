//! Tasks that are told to stop, for others that have a reservation.

use meed::Span;
use serde::{Deserialize, Serialize};

use crate::exact;
use crate::exact::is_usual;
use crate::name::{JobKey, Name, TaskKey};
use crate::task::KeyForm;

/// A running task is to stop: its room is taken back. What becomes of it another record tells:
/// `lost`, or its end where that came before.
///
/// The content of a [`Fact::TaskReclaimed`](crate::Fact); the page of [`Record`](crate::Record) has
/// an example of a line.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Reclaimed {
    /// Its leaf queue.
    pub queue: Name,
    /// Its job.
    pub job: JobKey,
    /// Its number in the job, from 0.
    pub task: u32,
    /// Which attempt.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub attempt: u32,
    /// Where it runs.
    pub node: Name,
    /// How long it has run.
    #[serde(rename = "ran_s", with = "exact")]
    pub ran: Span,
    /// How long it may take to stop.
    #[serde(rename = "grace_s", with = "exact")]
    pub grace: Span,
    /// Who decided it, where not the engine that wrote the record. Nobody decides it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Name>,
    /// For whom.
    #[serde(rename = "for")]
    pub winner: ReclaimedFor,
}

/// For whom a task is to stop, and why for him.
///
/// It is part of a [`Reclaimed`]; the page of [`Record`](crate::Record) has an example of a line.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ReclaimedFor {
    /// Its leaf queue.
    pub queue: Name,
    /// The job that has the reservation.
    pub job: JobKey,
    /// How long it has had that.
    #[serde(rename = "waited_s", with = "exact")]
    pub waited: Span,
    /// Where both are compared: the winner's side.
    pub first: Name,
    /// Its key.
    pub first_key: KeyForm,
    /// The side of the task that is to stop.
    pub last: Name,
    /// Its key, which comes later.
    pub last_key: KeyForm,
}

impl Reclaimed {
    /// The allocation.
    pub fn key(&self) -> TaskKey {
        TaskKey { job: self.job.clone(), task: self.task, attempt: self.attempt }
    }
}
