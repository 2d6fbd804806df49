//! The log: a line of JSON for each event and each decision, with its time and its reason (docs/log.md).
//!
//! The log is the typed event stream of a run; readers need nothing else. It is written as it happens; lines are
//! built only when somebody reads them, so a run without a log pays nothing.

use std::collections::BTreeMap;
use std::io::{self, Write};

use meed::{KeyValue, Rejected, ResourceKinds, Resources, Tier, Time};
use meed_workload::JobLabel;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::world::{Change, natural};

/// Where a run logs.
pub struct Log<'a> {
    out: Option<&'a mut dyn Write>,
}

impl<'a> Log<'a> {
    /// Nowhere.
    pub fn off() -> Log<'a> {
        Log { out: None }
    }

    /// To `out`, which should be buffered.
    pub fn to(out: &'a mut dyn Write) -> Log<'a> {
        Log { out: Some(out) }
    }

    /// Whether reasons are wanted.
    pub(crate) fn explains(&self) -> bool {
        self.out.is_some()
    }

    #[inline]
    pub(crate) fn write<'r>(&mut self, t: Time, what: impl FnOnce() -> Record<'r>) -> io::Result<()> {
        let Some(out) = &mut self.out else { return Ok(()) };
        serde_json::to_writer(&mut *out, &Line { t, what: what() })?;
        out.write_all(b"\n")
    }

    /// The first line of a run.
    pub(crate) fn header(&mut self, header: &serde_json::Value) -> io::Result<()> {
        self.write(Time::ZERO, || Record::Run(header))
    }

    pub(crate) fn finish(&mut self) -> io::Result<()> {
        self.out.as_mut().map_or(Ok(()), |out| out.flush())
    }
}

struct Line<'a> {
    t: Time,
    what: Record<'a>,
}

/// What a line tells; its name is the line's second key.
pub(crate) enum Record<'a> {
    /// A run begins: everything that the events do not tell.
    Run(&'a serde_json::Value),
    Arrive(Arrive<'a>),
    Refuse {
        queue: &'a str,
        job: &'a JobLabel,
        why: &'a Rejected,
    },
    Start(Started<'a>),
    /// A task has ended, failed, was lost with its node, or stopped with its job.
    Task {
        what: &'static str,
        task: TaskAt<'a>,
    },
    JobEnd {
        queue: &'a str,
        job: &'a JobLabel,
        done: bool,
    },
    Change {
        change: &'a Change,
        kinds: &'a ResourceKinds,
    },
    /// The run is over.
    Finish {
        events: u64,
        decisions: u64,
    },
}

/// A job arrives, or its next stage begins.
#[derive(Serialize)]
pub(crate) struct Arrive<'a> {
    pub(crate) queue: &'a str,
    pub(crate) job: Label<'a>,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) stage: u16,
    pub(crate) groups: Vec<GroupLine>,
}

/// Equal tasks, in natural units.
#[derive(Serialize)]
pub(crate) struct GroupLine {
    pub(crate) tasks: u32,
    pub(crate) demand: BTreeMap<String, f64>,
    pub(crate) duration_s: Vec<f64>,
}

#[derive(Clone, Copy, Serialize)]
pub(crate) struct TaskAt<'a> {
    pub(crate) queue: &'a str,
    pub(crate) job: Label<'a>,
    pub(crate) task: u32,
    pub(crate) node: &'a str,
}

#[derive(Serialize)]
pub(crate) struct Started<'a> {
    #[serde(flatten)]
    pub(crate) task: TaskAt<'a>,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) failures: u16,
    pub(crate) reason: ReasonLine<'a>,
}

#[derive(Serialize)]
pub(crate) struct ReasonLine<'a> {
    pub(crate) levels: Vec<Level<'a>>,
    /// Seconds it had waited when the starvation guard chose it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) starved_for_s: Option<f64>,
    pub(crate) place: &'a str,
}

#[derive(Serialize)]
pub(crate) struct Level<'a> {
    pub(crate) chosen: &'a str,
    pub(crate) key: Key,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) runner_up: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) runner_up_key: Option<Key>,
}

/// A key: its ratio, and whether it is below its minimum share.
#[derive(Clone, Copy, Serialize)]
pub(crate) struct Key {
    value: f64,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    below_min: bool,
}

impl Key {
    pub(crate) fn of(key: KeyValue) -> Key {
        Key { value: key.value, below_min: key.tier == Tier::BelowMinimum }
    }
}

/// A job's label: a number stays a number.
#[derive(Clone, Copy)]
pub(crate) struct Label<'a>(pub(crate) &'a JobLabel);

impl Serialize for Label<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            JobLabel::Number(number) => serializer.serialize_u64(*number),
            JobLabel::Name(name) => serializer.serialize_str(name),
        }
    }
}

fn is_zero(number: &u16) -> bool {
    *number == 0
}

/// A change by its name in scenario files, with amounts in natural units; what is missing stays as it was.
fn change_line(change: &Change, kinds: &ResourceKinds) -> serde_json::Value {
    let amounts = |resources: &Resources| natural(resources, kinds);
    match change {
        Change::NodeJoins(spec) => serde_json::json!({ "node_joins": {
            "name": spec.name, "capacity": amounts(&spec.capacity), "weight": f64::from(spec.weight) / 1000.0,
        } }),
        Change::NodeLeaves(name) => serde_json::json!({ "node_leaves": name }),
        Change::NodeResized(name, capacity) => {
            serde_json::json!({ "node_resized": { "name": name, "capacity": amounts(capacity) } })
        }
        Change::Queue(name, change) => {
            let mut line = serde_json::json!({ "name": name });
            if let Some(weight) = change.weight {
                line["weight"] = (weight as f64 / 1000.0).into();
            }
            for (key, bound) in [("min", change.min), ("max", change.max)] {
                if let Some(bound) = bound {
                    line[key] = serde_json::json!(bound.as_ref().map(|bound| bounds(bound, kinds)));
                }
            }
            serde_json::json!({ "queue": line })
        }
        Change::QueueRemoved(name) => serde_json::json!({ "queue_removed": name }),
        Change::JobCancelled(label) => serde_json::json!({ "job_cancelled": label }),
    }
}

/// A bound by name: what it does not bound is left out.
pub(crate) fn bounds(bound: &Resources, kinds: &ResourceKinds) -> BTreeMap<String, f64> {
    let mut named = natural(bound, kinds);
    for kind in (0..kinds.len()).filter(|&kind| bound.get(kind) == meed::MAX_AMOUNT) {
        named.remove(kinds.name(kind));
    }
    named
}

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut line = serializer.serialize_struct("Line", 2)?;
        line.serialize_field("t", &self.t.as_secs_f64())?;
        match &self.what {
            Record::Run(header) => line.serialize_field("run", header)?,
            Record::Arrive(arrive) => line.serialize_field("arrive", arrive)?,
            Record::Start(start) => line.serialize_field("start", start)?,
            Record::Task { what, task } => line.serialize_field(what, task)?,
            Record::JobEnd { queue, job, done } => {
                let outcome = if *done { "done" } else { "failed" };
                line.serialize_field(
                    "job_end",
                    &serde_json::json!({ "queue": queue, "job": Label(job), "outcome": outcome }),
                )?;
            }
            Record::Refuse { queue, job, why } => line.serialize_field(
                "refuse",
                &serde_json::json!({ "queue": queue, "job": Label(job), "why": why.to_string() }),
            )?,
            Record::Change { change, kinds } => {
                line.serialize_field("change", &change_line(change, kinds))?
            }
            Record::Finish { events, decisions } => line.serialize_field(
                "finish",
                &serde_json::json!({ "events": events, "decisions": decisions }),
            )?,
        }
        line.end()
    }
}
