//! Rows of the books.

use std::collections::BTreeMap;

use meed_journal::JobKey;
use serde::{Deserialize, Serialize};

use super::parts::JobPart;
use crate::run::TaskEnd;

/// Where a job stands.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct JobRow {
    /// Its number: given once, in order.
    pub id: u64,
    /// Whose it is.
    pub uid: u32,
    /// Their main group when they submitted it.
    pub gid: u32,
    /// Their name then.
    pub user: String,
    /// Its leaf queue.
    pub queue: String,
    /// What people call it.
    pub name: String,
    /// Its user has given that name; else the command has.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_named: bool,
    /// When it was submitted, by the wall clock.
    pub submitted_us: u64,
    /// How far it is.
    pub phase: Phase,
    /// How often it was taken back from the scheduler, to be held.
    #[serde(default)]
    pub holds: u32,
    /// Its tasks.
    pub tasks: u32,
    /// What it was held in after it had begun, by `holds`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parts: BTreeMap<u32, JobPart>,
    /// Attempts of tasks in parts before the one that they are in.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attempts_before: BTreeMap<u32, u32>,
    /// Of the last of these parts, tasks that the scheduler was told of.
    #[serde(default)]
    pub told_of_part: u32,
    /// Of its tasks, those that the scheduler was told of, and not withdrawn.
    #[serde(default)]
    pub told: u32,
    /// Those that have ended well.
    #[serde(default)]
    pub done: u32,
    /// Those that have failed for good.
    #[serde(default)]
    pub failed: u32,
    /// How often tasks of it were stopped for others.
    #[serde(default)]
    pub stops: u32,
    /// How long these had run: work that is lost, in microseconds.
    #[serde(default)]
    pub lost_us: u64,
    /// How many may run at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_once: Option<u32>,
    /// How often a task is tried again.
    #[serde(default)]
    pub retries: u16,
    /// What it waits for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<AfterJob>,
    /// What became of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fate: Option<Fate>,
    /// Why, where that needs a word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// When it ended, by the wall clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_us: Option<u64>,
}

/// How far a job is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Nobody has told the scheduler yet: it is held, waits for others, or is about to be told.
    New,
    /// Its user holds it.
    Held,
    /// The scheduler knows it.
    Told,
    /// It has ended.
    Ended,
}

/// A job that must have ended before.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AfterJob {
    /// Its number.
    pub job: u64,
    /// Whether it may have failed.
    pub even_if_failed: bool,
}

/// What became of a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// All of its tasks have ended well.
    Done,
    /// Some have not.
    Failed,
    /// Somebody cancelled it.
    Cancelled,
}

impl JobRow {
    /// What the journal calls it. Keys are used once: a job that was held comes back under another.
    pub fn key(&self) -> JobKey {
        self.key_of(self.holds)
    }

    /// The number of the job of that key.
    pub fn id_of(key: &JobKey) -> Option<u64> {
        match key {
            JobKey::Number(number) => Some(*number),
            JobKey::Text(text) => text.split_once('.')?.0.parse().ok(),
        }
    }

    /// It has ended.
    pub fn end(&mut self, fate: Fate, why: Option<String>, wall_us: u64) {
        self.phase = Phase::Ended;
        self.fate = Some(fate);
        self.why = why.or_else(|| self.why.take());
        self.ended_us = Some(wall_us);
    }

    /// Whether it has ended.
    pub fn is_over(&self) -> bool {
        self.phase == Phase::Ended
    }
}

/// Where a task stands.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct TaskRow {
    /// Attempts that failed.
    #[serde(default)]
    pub failures: u16,
    /// Attempts that were stopped for others.
    #[serde(default)]
    pub stops: u32,
    /// Whether it is over: nothing will be tried again.
    #[serde(default)]
    pub is_over: bool,
    /// The attempt that ended last.
    pub attempt: u32,
    /// How it ended.
    pub ended: Option<TaskEnd>,
}

/// What there is once.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Meta {
    /// Version of these tables.
    pub version: u32,
    /// The next job's number.
    pub next: u64,
    /// Records of the journal up to this one are in here.
    pub cursor: u64,
    /// What an instant of the journal is on the clocks.
    pub clock: Clock,
    /// The queues of the settings that the driver was told, as they were written, in JSON.
    #[serde(default)]
    pub queues: Option<String>,
    /// How often these tables were written. `None`: a version that did not count wrote last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writes: Option<u64>,
}

impl Meta {
    /// The version that is written and read.
    pub const VERSION: u32 = 1;
}

/// What an instant of the journal is on the clocks of the machine.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Clock {
    /// The boot of which the next two are.
    pub boot: String,
    /// A boot instant, in microseconds ...
    pub boot_us: u64,
    /// ... and the instant of the journal that it is.
    pub at_us: u64,
    /// The wall clock at the journal's beginning.
    pub epoch_us: u64,
}
