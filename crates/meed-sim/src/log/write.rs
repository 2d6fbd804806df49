//! Writing: lines are built only when somebody reads them, so a run without a log pays nothing.

use std::io::{self, Write};

use meed::{KeyValue, ResourceKinds, Resources, Span, Tier, Time};
use meed_config::constraints::ConstraintsForm;
use meed_config::number::Exact;
use meed_workload::{Cause, Durations, JobLabel};
use serde::ser::{SerializeMap, SerializeSeq, SerializeStruct};
use serde::{Serialize, Serializer};

use super::{BoundsLine, Header, amounts_line, bounds_line};
use crate::world::Change;

/// Where a run logs.
pub struct Log<'a> {
    out: Option<&'a mut dyn Write>,
    /// One line, made before it goes out whole.
    line: Vec<u8>,
}

impl<'a> Log<'a> {
    /// Nowhere.
    pub fn off() -> Log<'a> {
        Log { out: None, line: Vec::new() }
    }

    /// To `out`, which should be buffered.
    pub fn to(out: &'a mut dyn Write) -> Log<'a> {
        Log { out: Some(out), line: Vec::new() }
    }

    /// Whether reasons are wanted.
    pub(crate) fn explains(&self) -> bool {
        self.out.is_some()
    }

    #[inline]
    pub(crate) fn write<'r>(
        &mut self,
        t: Time,
        what: impl FnOnce() -> Record<'r>,
    ) -> io::Result<()> {
        let Some(out) = &mut self.out else { return Ok(()) };
        self.line.clear();
        serde_json::to_writer(&mut self.line, &Line { t, what: what() })?;
        self.line.push(b'\n');
        out.write_all(&self.line)
    }

    /// The first line of a run.
    pub(crate) fn header(&mut self, header: &Header) -> io::Result<()> {
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
    Run(&'a Header),
    Arrive(Arrive<'a>),
    Refuse(Refuse<'a>),
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
        /// Whether it follows from other events: under the static partition nodes follow their
        /// tenant's share.
        of_share: bool,
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
    #[serde(flatten)]
    pub(crate) terms: Terms,
    /// Of this stage.
    pub(crate) groups: Vec<GroupLine<'a>>,
    /// Of the stages to come, when the job arrives.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) later: Vec<GroupLine<'a>>,
    /// All groups as they were submitted, where tasks were cut to a share (static partition).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) submitted: Vec<GroupLine<'a>>,
}

/// A job that is refused: all of it, for under another policy or on another cluster it may run.
#[derive(Serialize)]
pub(crate) struct Refuse<'a> {
    pub(crate) queue: &'a str,
    pub(crate) job: Label<'a>,
    pub(crate) why: String,
    #[serde(flatten)]
    pub(crate) terms: Terms,
    pub(crate) groups: Vec<GroupLine<'a>>,
}

/// What else is known of a job when it arrives.
#[derive(Clone, Copy, Default)]
pub(crate) struct Terms {
    pub(crate) weight: u32,
    pub(crate) chain: Option<u32>,
    pub(crate) cause: Option<Cause>,
}

impl Serialize for Terms {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut terms = serializer.serialize_map(None)?;
        if self.weight > 1 {
            terms.serialize_entry("weight", &self.weight)?;
        }
        if let Some(chain) = self.chain {
            terms.serialize_entry("chain", &chain)?;
        }
        if let Some(cause) = self.cause {
            terms.serialize_entry("pause_s", &Exact::span(cause.pause))?;
            if cause.not_before > Time::ZERO {
                terms.serialize_entry("not_before_s", &Exact::time(cause.not_before))?;
            }
        }
        terms.end()
    }
}

/// Equal tasks, in natural units.
#[derive(Serialize)]
pub(crate) struct GroupLine<'a> {
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) stage: u16,
    pub(crate) tasks: u32,
    pub(crate) demand: Amounts<'a>,
    pub(crate) duration_s: DurationsLine<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) constraints: Option<ConstraintsForm>,
}

/// Amounts by name, without those of nothing.
pub(crate) struct Amounts<'a>(pub(crate) &'a Resources, pub(crate) &'a ResourceKinds);

impl Serialize for Amounts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Amounts(amounts, kinds) = self;
        let mut map = serializer.serialize_map(None)?;
        for kind in (0..kinds.len()).filter(|&kind| amounts.get(kind) > 0) {
            map.serialize_entry(
                kinds.name(kind),
                &Exact::amount(amounts.get(kind), kinds.unit(kind)),
            )?;
        }
        map.end()
    }
}

/// One duration for all tasks, or one for each.
pub(crate) struct DurationsLine<'a>(pub(crate) &'a Durations);

impl Serialize for DurationsLine<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let spans = match self.0 {
            Durations::Same(span) => std::slice::from_ref(span),
            Durations::Each(spans) => spans,
        };
        let mut list = serializer.serialize_seq(Some(spans.len()))?;
        for &span in spans {
            list.serialize_element(&Exact::span(span))?;
        }
        list.end()
    }
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
    pub(crate) starved_for_s: Option<Seconds>,
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

/// A length of time.
pub(crate) struct Seconds(pub(crate) Span);

impl Serialize for Seconds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Exact::span(self.0).serialize(serializer)
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

/// A change by its name in scenario files, with amounts in natural units; what is missing stays as
/// it was.
fn change_line(change: &Change, kinds: &ResourceKinds, of_share: bool) -> serde_json::Value {
    let amounts = |resources: &Resources| amounts_line(resources, kinds);
    let mut line = match change {
        Change::NodeJoins(spec) => {
            let mut node = serde_json::json!({
                "name": spec.name, "capacity": amounts(&spec.capacity), "weight": f64::from(spec.weight) / 1000.0,
            });
            if !spec.labels.is_empty() {
                node["labels"] = serde_json::json!(spec.labels);
            }
            serde_json::json!({ "node_joins": node })
        }
        Change::NodeLeaves(name) => serde_json::json!({ "node_leaves": name }),
        Change::NodeResized(name, capacity) => {
            serde_json::json!({ "node_resized": { "name": name, "capacity": amounts(capacity) } })
        }
        Change::Queue(name, change) => {
            let mut line = serde_json::json!({ "name": name });
            if let Some(weight) = change.weight {
                line["weight"] = (weight as f64 / 1000.0).into();
            }
            let bound = [
                ("min", change.min, BoundsLine::Minimum),
                ("max", change.max, BoundsLine::Maximum),
            ];
            for (key, bound, which) in bound {
                if let Some(bound) = bound {
                    line[key] =
                        serde_json::json!(bound.as_ref().map(|b| bounds_line(b, kinds, which)));
                }
            }
            serde_json::json!({ "queue": line })
        }
        Change::QueueRemoved(name) => serde_json::json!({ "queue_removed": name }),
        Change::JobCancelled(label) => serde_json::json!({ "job_cancelled": label }),
    };
    if of_share {
        line["of_share"] = true.into();
    }
    line
}

#[derive(Serialize)]
struct Finish {
    events: u64,
    decisions: u64,
}

#[derive(Serialize)]
struct JobEnd<'a> {
    queue: &'a str,
    job: Label<'a>,
    outcome: &'a str,
}

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut line = serializer.serialize_struct("Line", 2)?;
        line.serialize_field("t", &Exact::time(self.t))?;
        match &self.what {
            Record::Run(header) => line.serialize_field("run", header)?,
            Record::Arrive(arrive) => line.serialize_field("arrive", arrive)?,
            Record::Start(start) => line.serialize_field("start", start)?,
            Record::Task { what, task } => line.serialize_field(what, task)?,
            Record::JobEnd { queue, job, done } => {
                let outcome = if *done { "done" } else { "failed" };
                line.serialize_field("job_end", &JobEnd { queue, job: Label(job), outcome })?;
            }
            Record::Refuse(refuse) => line.serialize_field("refuse", refuse)?,
            Record::Change { change, kinds, of_share } => {
                line.serialize_field("change", &change_line(change, kinds, *of_share))?
            }
            Record::Finish { events, decisions } => {
                line.serialize_field("finish", &Finish { events: *events, decisions: *decisions })?
            }
        }
        line.end()
    }
}
