//! Tasks as they start and end.

use std::borrow::Cow;

use meed::{KeyValue, Span, Tier, Time};
use serde::{Deserialize, Serialize};

use crate::detail::Detail;
use crate::exact;
use crate::exact::is_usual;
use crate::name::{JobKey, Name, TaskKey};

/// A task starts: a decision, or a fact that the world reports.
///
/// ```
/// use meed_journal::{Fact, Record, Started};
///
/// let line = concat!(
///     r#"{"seq":3,"t":0,"start":{"queue":"physics","job":7,"task":0,"#,
///     r#""attempt":1,"node":"n1"}}"#,
/// );
/// let Fact::TaskStarted(start) = Record::decode(line.as_bytes())?.fact else { unreachable!() };
/// assert_eq!((start.node.as_str(), start.attempt), ("n1", 1));
/// assert_eq!(start.key().to_string(), "job 7, task 0, attempt 1");
/// assert!(start.reason.is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Started {
    /// Its leaf queue.
    pub queue: Name,
    /// Its job.
    pub job: JobKey,
    /// Its number in the job, from 0.
    pub task: u32,
    /// How many starts of it came before.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub attempt: u32,
    /// Where it runs.
    pub node: Name,
    /// How many of the attempts before failed: lost and undone ones do not count.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub failures: u16,
    /// Who decided, where it was not this scheduler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Name>,
    /// It has run since then already: it is adopted.
    #[serde(default, rename = "since_s", with = "exact", skip_serializing_if = "Option::is_none")]
    pub since: Option<Time>,
    /// Why, where reasons were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Box<StartReason>>,
    /// The world's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Detail,
}

impl Started {
    /// The allocation.
    pub fn key(&self) -> TaskKey {
        TaskKey { job: self.job.clone(), task: self.task, attempt: self.attempt }
    }
}

/// Why this task, here. For people: nothing reads it to decide.
///
/// It is part of [`Started`], whose page has an example without one.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct StartReason {
    /// The choice at each level, from the root down.
    pub levels: Vec<LevelChoice>,
    /// How long its leaf had waited when the starvation guard chose it.
    #[serde(
        default,
        rename = "starved_for_s",
        with = "exact",
        skip_serializing_if = "Option::is_none"
    )]
    pub starved_for: Option<Span>,
    /// How long it had a reservation, where it started by that.
    #[serde(
        default,
        rename = "reserved_for_s",
        with = "exact",
        skip_serializing_if = "Option::is_none"
    )]
    pub reserved_for: Option<Span>,
    /// How many start together, where it starts with its gang.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gang: Option<u32>,
    /// Why this node.
    pub place: Cow<'static, str>,
}

/// The choice among one queue's children.
///
/// It is part of a [`StartReason`]; [`KeyForm`] has an example of its keys.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LevelChoice {
    /// The chosen one.
    pub chosen: Name,
    /// Its key.
    pub key: KeyForm,
    /// The next in order of which a task would start, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runner_up: Option<Name>,
    /// Its key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runner_up_key: Option<KeyForm>,
}

/// A key: its ratio, and whether the child is below its minimum share.
///
/// ```
/// use meed::{KeyValue, Tier};
/// use meed_journal::KeyForm;
///
/// let key = KeyForm::from(KeyValue { tier: Tier::BelowMinimum, value: 0.5 });
/// assert_eq!((key.value, key.below_min), (0.5, true));
/// ```
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct KeyForm {
    /// The ratio that was compared (docs/log.md has the units).
    pub value: f64,
    /// The child holds less than its minimum share, and `value` is the part of it that it holds.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub below_min: bool,
}

impl From<KeyValue> for KeyForm {
    fn from(key: KeyValue) -> KeyForm {
        KeyForm { value: key.value, below_min: key.tier == Tier::BelowMinimum }
    }
}

/// What becomes of an allocation; the record's kind says what.
///
/// ```
/// use meed_journal::{TaskFact, TaskKey};
///
/// let key = TaskKey { job: 7.into(), task: 0, attempt: 1 };
/// let fact = TaskFact::of(key.clone());
/// assert_eq!((fact.key(), fact.why), (key, None));
/// ```
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TaskFact {
    /// Its job.
    pub job: JobKey,
    /// Its number in the job, from 0.
    pub task: u32,
    /// Which attempt. Of a task that waits (one can be withdrawn) the number that its next start
    /// would have.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub attempt: u32,
    /// Why, where the world said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<Box<str>>,
    /// The world's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Detail,
}

impl TaskFact {
    /// Of `task`, without a word why.
    pub fn of(task: TaskKey) -> TaskFact {
        let TaskKey { job, task, attempt } = task;
        TaskFact { job, task, attempt, why: None, detail: None }
    }

    /// The allocation.
    pub fn key(&self) -> TaskKey {
        TaskKey { job: self.job.clone(), task: self.task, attempt: self.attempt }
    }
}

/// A task that turns out to run on another node than was said; its ledger stays as it is.
///
/// The content of a [`Fact::TaskMoved`](crate::Fact); the page of [`Record`](crate::Record) has
/// an example of a line.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Moved {
    /// Its job.
    pub job: JobKey,
    /// Its number in the job, from 0.
    pub task: u32,
    /// Which attempt.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub attempt: u32,
    /// Where it runs.
    pub node: Name,
}
