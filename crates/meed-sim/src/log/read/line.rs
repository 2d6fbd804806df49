//! One line of a log: from JSON to what it tells. Cost: lines of kinds that nobody wants are only
//! skipped over.

use std::borrow::Cow;
use std::fmt;

use meed::{QueueChange, ResourceKinds, Time};
use meed_config::constraints::ConstraintsForm;
use meed_config::number::Number;
use meed_workload::{Cause, Durations, Job, JobLabel, TaskGroup};
use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, Visitor};

use super::super::{AmountsLine, Header, NodeLine};
use crate::scenario::of_log::{amounts_of, node_of};
use crate::world::Change;

/// Kinds of lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum What {
    Run,
    Arrive,
    Refuse,
    Start,
    End,
    Fail,
    Lost,
    Stop,
    JobEnd,
    Change,
    Finish,
    /// Of a kind that this reader does not know.
    Other,
}

const KINDS: &[(&str, What)] = &[
    ("run", What::Run),
    ("arrive", What::Arrive),
    ("refuse", What::Refuse),
    ("start", What::Start),
    ("end", What::End),
    ("fail", What::Fail),
    ("lost", What::Lost),
    ("stop", What::Stop),
    ("job_end", What::JobEnd),
    ("change", What::Change),
    ("finish", What::Finish),
];

/// One line.
pub(crate) struct Line<'a> {
    pub(crate) t: Time,
    pub(crate) what: What,
    pub(crate) content: Content<'a>,
}

/// What a line tells, where it is wanted.
pub(crate) enum Content<'a> {
    Run(Box<Header>),
    Arrive(Box<ArriveLine<'a>>),
    Task(TaskLine<'a>),
    JobEnd(JobEndLine<'a>),
    Change(Box<ChangeLine>),
    /// Not wanted, or nothing more to tell.
    Nothing,
}

/// A line that cannot be read.
pub(crate) struct Wrong {
    pub(crate) what: String,
    /// It ends in the middle.
    pub(crate) cut: bool,
}

impl<'a> Line<'a> {
    pub(crate) fn parse(bytes: &'a [u8], wanted: &[What]) -> Result<Line<'a>, Wrong> {
        let mut json = serde_json::Deserializer::from_slice(bytes);
        let line =
            json.deserialize_map(LineVisitor { wanted }).and_then(|line| json.end().map(|()| line));
        line.map_err(|error| Wrong {
            what: format!(
                "not a line of a log: {}; such lines are like {{\"t\":60.0,\"end\":{{..}}}}",
                in_line(&error)
            ),
            cut: error.is_eof(),
        })
    }

    pub(crate) fn run(self) -> Option<Header> {
        match self.content {
            Content::Run(header) => Some(*header),
            _ => None,
        }
    }
}

/// The message without its line number, which is that of the piece.
fn in_line(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let column = format!(" at line {} column {}", error.line(), error.column());
    let plain = text.strip_suffix(&column).unwrap_or(&text);
    format!("{plain} (column {})", error.column())
}

struct LineVisitor<'w> {
    wanted: &'w [What],
}

impl<'de> Visitor<'de> for LineVisitor<'_> {
    type Value = Line<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with `t` and one more key")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Line<'de>, A::Error> {
        let (mut t, mut found) = (None, None);
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            if key == "t" {
                let number: Number = map.next_value()?;
                t = Some(number.time().map_err(|why| A::Error::custom(format!("t: {why}")))?);
                continue;
            }
            let known = KINDS.iter().find(|(name, _)| *name == key).map(|(_, what)| *what);
            match (known, &found) {
                (Some(what), None) if self.wanted.contains(&what) => {
                    found = Some((what, content(what, &mut map)?));
                }
                (Some(what), None) => {
                    map.next_value::<IgnoredAny>()?;
                    found = Some((what, Content::Nothing));
                }
                (Some(_), Some(_)) => {
                    return Err(A::Error::custom(format!("`{key}` besides another kind of line")));
                }
                (None, _) => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        let t = t.ok_or_else(|| A::Error::missing_field("t"))?;
        let (what, content) = found.unwrap_or((What::Other, Content::Nothing));
        Ok(Line { t, what, content })
    }
}

fn content<'de, A: MapAccess<'de>>(what: What, map: &mut A) -> Result<Content<'de>, A::Error> {
    Ok(match what {
        What::Run => Content::Run(Box::new(map.next_value()?)),
        What::Arrive | What::Refuse => Content::Arrive(Box::new(map.next_value()?)),

        What::Start | What::End | What::Fail | What::Lost | What::Stop => {
            Content::Task(map.next_value()?)
        }
        What::Change => Content::Change(Box::new(map.next_value()?)),
        What::JobEnd => Content::JobEnd(map.next_value()?),
        What::Finish | What::Other => {
            map.next_value::<IgnoredAny>()?;
            Content::Nothing
        }
    })
}

/// A job's label.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct LabelIn(pub(crate) JobLabel);

impl<'de> Deserialize<'de> for LabelIn {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<LabelIn, D::Error> {
        struct Seen;
        impl Visitor<'_> for Seen {
            type Value = LabelIn;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a job's number or name")
            }
            fn visit_u64<E: Error>(self, number: u64) -> Result<LabelIn, E> {
                Ok(LabelIn(JobLabel::Number(number)))
            }
            fn visit_str<E: Error>(self, name: &str) -> Result<LabelIn, E> {
                Ok(LabelIn(JobLabel::Name(name.into())))
            }
        }
        deserializer.deserialize_any(Seen)
    }
}

/// A job that arrives or is refused, or its next stage.
#[derive(Debug, Deserialize)]
pub(crate) struct ArriveLine<'a> {
    #[serde(borrow)]
    pub(crate) queue: Cow<'a, str>,
    pub(crate) job: LabelIn,
    #[serde(default)]
    pub(crate) stage: u16,
    #[serde(default = "one")]
    weight: u32,
    chain: Option<u32>,
    pause_s: Option<Number>,
    not_before_s: Option<Number>,
    pub(crate) groups: Vec<GroupIn>,
    #[serde(default)]
    later: Vec<GroupIn>,
    #[serde(default)]
    submitted: Vec<GroupIn>,
    /// Why it was refused.
    #[serde(default)]
    pub(crate) why: Option<String>,
}

fn one() -> u32 {
    1
}

#[derive(Debug, Deserialize)]
pub(crate) struct GroupIn {
    #[serde(default)]
    stage: u16,
    pub(crate) tasks: u32,
    demand: AmountsLine,
    duration_s: Vec<Number>,
    #[serde(default)]
    constraints: Option<ConstraintsForm>,
}

/// A task and where it runs. Reasons are for people: they are not read.
#[derive(Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct TaskLine<'a> {
    #[serde(borrow)]
    pub(crate) queue: Cow<'a, str>,
    pub(crate) job: LabelIn,
    pub(crate) task: u32,
    #[serde(borrow)]
    pub(crate) node: Cow<'a, str>,
}

/// A job that has ended.
#[derive(Debug, Deserialize)]
pub(crate) struct JobEndLine<'a> {
    #[serde(borrow)]
    pub(crate) queue: Cow<'a, str>,
    pub(crate) job: LabelIn,
}

/// A change: one of these.
#[derive(Debug, Deserialize)]
pub(crate) struct ChangeLine {
    #[serde(default)]
    of_share: bool,
    node_joins: Option<NodeLine>,
    node_leaves: Option<String>,
    node_resized: Option<ResizedLine>,
    queue: Option<QueueChangeLine>,
    queue_removed: Option<String>,
    job_cancelled: Option<String>,
}

#[derive(Debug, Deserialize)]
struct ResizedLine {
    name: String,
    capacity: AmountsLine,
}

#[derive(Debug, Deserialize)]
struct QueueChangeLine {
    name: String,
    weight: Option<Number>,
    #[serde(default, deserialize_with = "given")]
    min: Option<Option<AmountsLine>>,
    #[serde(default, deserialize_with = "given")]
    max: Option<Option<AmountsLine>>,
}

/// Tells `null` (no bound from now on) from what is missing (the bound stays).
fn given<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<AmountsLine>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// The whole job as it was submitted at `t`, and how it was caused if the end of another did.
/// `queue` numbers queues.
pub(crate) fn job_of(
    line: ArriveLine<'_>,
    t: Time,
    kinds: &ResourceKinds,
    queues: usize,
    queue: u32,
) -> Result<(Job, Option<Cause>), String> {
    let groups = match line.submitted.is_empty() {
        true => line.groups.iter().chain(&line.later),
        false => line.submitted.iter().chain(&[]),
    };
    let named = |what: &'static str| move |why: String| format!("{what}: {why}");
    let time = |number: &Option<Number>| number.as_ref().map(Number::time).transpose();
    let cause = match &line.pause_s {
        None => None,
        Some(pause) => Some(Cause {
            pause: pause.span().map_err(named("pause_s"))?,
            not_before: time(&line.not_before_s)
                .map_err(named("not_before_s"))?
                .unwrap_or(Time::ZERO),
        }),
    };
    if cause.is_some() && line.chain.is_none() {
        return Err("pause_s: a job that the end of another caused is of a `chain`".to_owned());
    }
    let job = Job {
        label: line.job.0,
        queue,
        submit: t,
        weight: line.weight,
        chain: line.chain,
        groups: groups.map(|group| group_of(group, kinds)).collect::<Result<_, _>>()?,
    };
    job.check(queues, kinds.len())?;
    Ok((job, cause))
}

fn group_of(group: &GroupIn, kinds: &ResourceKinds) -> Result<TaskGroup, String> {
    let spans = group.duration_s.iter().map(Number::span).collect::<Result<Vec<_>, _>>();
    let spans = spans.map_err(|why| format!("duration_s: {why}"))?;
    let duration = match spans.as_slice() {
        [] => return Err("duration_s: give one for all tasks, or one for each".to_owned()),
        [one] => Durations::Same(*one),
        _ => Durations::Each(spans.into()),
    };
    let demand = amounts_of(&group.demand, kinds, 0).map_err(|why| format!("demand: {why}"))?;
    let constraints = group.constraints.as_ref().map(ConstraintsForm::read).transpose()?.flatten();
    Ok(TaskGroup { stage: group.stage, count: group.tasks, demand, duration, constraints })
}

/// What is changed; `None` where the change follows from others, and for kinds that this reader
/// does not know.
pub(crate) fn change_of(line: ChangeLine, kinds: &ResourceKinds) -> Result<Option<Change>, String> {
    let given = [
        line.node_joins.map(|node| node_of(&node, kinds).map(Change::NodeJoins)),
        line.node_leaves.map(|name| Ok(Change::NodeLeaves(name))),
        line.node_resized.map(|node| {
            let capacity =
                amounts_of(&node.capacity, kinds, 0).map_err(|why| format!("capacity: {why}"))?;
            Ok(Change::NodeResized(node.name, capacity))
        }),
        line.queue.map(|queue| queue_change(queue, kinds)),
        line.queue_removed.map(|name| Ok(Change::QueueRemoved(name))),
        line.job_cancelled.map(|label| Ok(Change::JobCancelled(label))),
    ];
    let mut given = given.into_iter().flatten();
    match (given.next(), given.next()) {
        (_, Some(_)) => Err("a change is one thing".to_owned()),
        (first, None) => Ok(first.transpose()?.filter(|_| !line.of_share)),
    }
}

fn queue_change(line: QueueChangeLine, kinds: &ResourceKinds) -> Result<Change, String> {
    let weight = line.weight.map(|weight| weight.parts(1000, meed::MAX_WEIGHT)).transpose();
    let bound = |what: &str, given: Option<Option<AmountsLine>>, missing: u64| {
        let read = |bound: Option<AmountsLine>| {
            bound.map(|bound| amounts_of(&bound, kinds, missing)).transpose()
        };
        given.map(read).transpose().map_err(|why| format!("{what}: {why}"))
    };
    let change = QueueChange {
        weight: weight.map_err(|why| format!("weight: {why}"))?,
        min: bound("min", line.min, 0)?,
        max: bound("max", line.max, meed::MAX_AMOUNT)?,
    };
    Ok(Change::Queue(line.name, change))
}
