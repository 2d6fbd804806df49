//! One line of schema 1.

use std::borrow::Cow;
use std::fmt;

use meed::{Labels, Span, Time};
use meed_config::constraints::ConstraintsForm;
use meed_config::number::Number;
use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, Visitor};

use crate::amounts::Amounts;
use crate::change::{Finish, QueueChanged};
use crate::exact;
use crate::job::Group;
use crate::name::{JobKey, Name};
use crate::record::Wrong;
use crate::task::StartReason;

/// A line, unless it is a header: those are alike in both schemas.
pub(crate) struct Line {
    pub(crate) t: Time,
    pub(crate) what: What,
}

pub(crate) enum What {
    Arrive(Box<ArriveLine>),
    Refuse(Box<ArriveLine>),
    Start(Box<StartLine>),
    /// `end`, `fail`, `lost`, `stop`.
    Task(&'static str, TaskLine),
    JobEnd(JobEndLine),
    Change(Box<ChangeLine>),
    Finish(Finish),
    Other(Name),
}

impl Line {
    /// Reads a line; `None` where it is a header.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Option<Line>, Wrong> {
        let mut json = serde_json::Deserializer::from_slice(bytes);
        let line = json.deserialize_map(Seen).and_then(|line| json.end().map(|()| line));
        line.map_err(|error| Wrong::of(&error))
    }

    /// Whether it is of a kind that nobody knows.
    pub(crate) fn is_unknown(&self) -> bool {
        matches!(self.what, What::Other(_))
    }
}

struct Seen;

impl<'de> Visitor<'de> for Seen {
    type Value = Option<Line>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with `t` and one more key")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Option<Line>, A::Error> {
        let (mut t, mut found, mut other, mut header) = (None, None, None, false);
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            if key == "t" {
                let number: Number = map.next_value()?;
                t = Some(number.time().map_err(|why| A::Error::custom(format!("t: {why}")))?);
                continue;
            }
            let what = match key.as_ref() {
                "run" => {
                    header = true;
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
                "arrive" => What::Arrive(map.next_value()?),
                "refuse" => What::Refuse(map.next_value()?),
                "start" => What::Start(map.next_value()?),
                "end" => What::Task("end", map.next_value()?),
                "fail" => What::Task("fail", map.next_value()?),
                "lost" => What::Task("lost", map.next_value()?),
                "stop" => What::Task("stop", map.next_value()?),
                "job_end" => What::JobEnd(map.next_value()?),
                "change" => What::Change(map.next_value()?),
                "finish" => What::Finish(map.next_value()?),
                word => {
                    other.get_or_insert_with(|| Name::from(word));
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            if found.replace(what).is_some() || header {
                return Err(A::Error::custom(format!("`{key}` besides another kind of line")));
            }
        }
        let t = t.ok_or_else(|| A::Error::missing_field("t"))?;
        let what = found.unwrap_or_else(|| What::Other(other.unwrap_or_default()));
        Ok((!header).then_some(Line { t, what }))
    }
}

/// A job that arrives or is refused, or its next stage.
#[derive(Deserialize)]
pub(crate) struct ArriveLine {
    pub(crate) queue: Name,
    pub(crate) job: JobKey,
    #[serde(default)]
    pub(crate) stage: u16,
    #[serde(default = "one")]
    pub(crate) weight: u32,
    pub(crate) chain: Option<u32>,
    #[serde(default, with = "exact")]
    pub(crate) pause_s: Option<Span>,
    #[serde(default, with = "exact")]
    pub(crate) not_before_s: Option<Time>,
    pub(crate) groups: Vec<GroupLine>,
    #[serde(default)]
    pub(crate) later: Vec<GroupLine>,
    #[serde(default)]
    pub(crate) submitted: Vec<GroupLine>,
    #[serde(default)]
    pub(crate) why: Option<String>,
}

fn one() -> u32 {
    1
}

/// Equal tasks, whose durations are always known.
#[derive(Deserialize)]
pub(crate) struct GroupLine {
    #[serde(default)]
    stage: u16,
    pub(crate) tasks: u32,
    demand: Amounts,
    #[serde(with = "exact")]
    duration_s: Vec<Span>,
    #[serde(default)]
    constraints: Option<Box<ConstraintsForm>>,
}

impl From<GroupLine> for Group {
    fn from(line: GroupLine) -> Group {
        let GroupLine { stage, tasks, demand, duration_s: durations, constraints } = line;
        Group { stage, tasks, demand, durations, constraints, ..Group::default() }
    }
}

#[derive(Deserialize)]
pub(crate) struct StartLine {
    pub(crate) queue: Name,
    pub(crate) job: JobKey,
    pub(crate) task: u32,
    pub(crate) node: Name,
    #[serde(default)]
    pub(crate) failures: u16,
    #[serde(default)]
    pub(crate) reason: Option<Box<StartReason>>,
}

/// Nodes of ends were those of their starts.
#[derive(Deserialize)]
pub(crate) struct TaskLine {
    pub(crate) queue: Name,
    pub(crate) job: JobKey,
    pub(crate) task: u32,
}

#[derive(Deserialize)]
pub(crate) struct JobEndLine {
    pub(crate) queue: Name,
    pub(crate) job: JobKey,
    #[serde(default)]
    pub(crate) outcome: Option<String>,
}

/// A change: one of these.
#[derive(Deserialize)]
pub(crate) struct ChangeLine {
    #[serde(default)]
    pub(crate) of_share: bool,
    pub(crate) node_joins: Option<NodeLine>,
    pub(crate) node_leaves: Option<Name>,
    pub(crate) node_resized: Option<ResizedLine>,
    pub(crate) queue: Option<QueueChanged>,
    pub(crate) queue_removed: Option<Name>,
    pub(crate) job_cancelled: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct NodeLine {
    pub(crate) name: Name,
    pub(crate) capacity: Amounts,
    #[serde(with = "exact::thousandths")]
    pub(crate) weight: u64,
    #[serde(default)]
    pub(crate) labels: Labels,
}

#[derive(Deserialize)]
pub(crate) struct ResizedLine {
    pub(crate) name: Name,
    pub(crate) capacity: Amounts,
}
