//! The record: one fact of a world, with its place in the order and its time.
//!
//! > {"seq":17,"t":60.0,"end":{"job":3,"task":0}}
//!
//! Its kinds are one table, [`Fact`]: writing, reading and the names in the line come from it.
//! Invariant: what is written reads back equal, and is then written as the same bytes.

use std::borrow::Cow;
use std::fmt;

use meed::Time;
use meed_config::number::{Exact, Number};
use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserializer, Serialize, Serializer};

use crate::change::*;
use crate::fast;
use crate::header::{Header, NodeEntry, QueueEntry};
use crate::job::*;
use crate::name::Name;
use crate::reclaim::*;
use crate::task::*;

/// One record of a journal.
///
/// ```
/// use meed::Time;
/// use meed_journal::{Fact, NodeMark, Record};
///
/// let t = Time::from_secs(60).ok_or("in range")?;
/// let record = Record { seq: 7, t, fact: Fact::NodeLeft(NodeMark::of("n1".into())) };
/// let mut line = Vec::new();
/// record.encode(&mut line);
/// assert_eq!(line, br#"{"seq":7,"t":60.0,"node_leaves":{"name":"n1"}}"#);
/// assert_eq!(Record::decode(&line)?, record);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Record {
    /// Its number in the journal: from 0, without a gap.
    pub seq: u64,
    /// When: time since the journal's epoch, which never falls.
    pub t: Time,
    /// What.
    pub fact: Fact,
}

/// Who tells a fact.
///
/// ```
/// use meed_journal::{FactRole, Kind};
///
/// assert_eq!(Kind::JobArrived.role(), FactRole::Input);
/// assert_eq!(Kind::TaskStarted.role(), FactRole::Decision);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FactRole {
    /// The world: it happened. A driver applies it.
    Input,
    /// The engine decided it. Who plays a journal takes it from there, or decides again.
    Decision,
    /// It follows from an input of the same instant.
    Follows,
    /// The world: it changes nothing that is decided upon.
    Aside,
    /// The journal itself: a mark of where something begins or ends.
    Mark,
}

macro_rules! facts {
    ($($(#[$doc:meta])* $kind:ident($content:ty) = $word:literal, $role:ident;)+) => {
        /// What a record tells. At one instant: ends, changes, arrivals, starts.
        /// [`Record`] has an example.
        #[derive(Clone, PartialEq, Debug)]
        #[non_exhaustive]
        pub enum Fact {
            $($(#[$doc])* $kind($content),)+
            /// Of a kind that this version does not know: passed over.
            Other(Name),
        }

        /// The kinds of records; [`JobEnd`] and [`FactRole`] have examples.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        #[non_exhaustive]
        pub enum Kind {
            $($(#[$doc])* $kind,)+
            /// Not known to this version.
            Other,
        }

        impl Kind {
            /// All that are known.
            pub const ALL: &[Kind] = &[$(Kind::$kind),+];

            /// What it is called in a line.
            pub fn word(self) -> &'static str {
                match self {
                    $(Kind::$kind => $word,)+
                    Kind::Other => "",
                }
            }

            /// Who tells such a fact.
            pub fn role(self) -> FactRole {
                match self {
                    $(Kind::$kind => FactRole::$role,)+
                    Kind::Other => FactRole::Mark,
                }
            }
        }

        impl Fact {
            /// Its kind.
            pub fn kind(&self) -> Kind {
                match self {
                    $(Fact::$kind(_) => Kind::$kind,)+
                    Fact::Other(_) => Kind::Other,
                }
            }

            fn write<M: SerializeMap>(&self, line: &mut M) -> Result<(), M::Error> {
                match self {
                    $(Fact::$kind(content) => line.serialize_entry($word, content),)+
                    Fact::Other(word) => line.serialize_entry(word, &Decide {}),
                }
            }

            fn read<'de, A: MapAccess<'de>>(kind: Kind, map: &mut A) -> Result<Fact, A::Error> {
                Ok(match kind {
                    $(Kind::$kind => Fact::$kind(map.next_value()?),)+
                    Kind::Other => {
                        map.next_value::<IgnoredAny>()?;
                        Fact::Other(Name::default())
                    }
                })
            }
        }
    };
}

facts! {
    /// A run begins: everything that the others do not tell.
    Run(Box<Header>) = "run", Mark;
    /// The journal is opened again.
    Open(Opened) = "open", Mark;
    /// The wall clock stepped.
    Clock(ClockStep) = "clock", Aside;
    /// A job arrives.
    JobArrived(Box<Arrival>) = "arrive", Input;
    /// A job is refused.
    JobRefused(Box<Refusal>) = "refuse", Follows;
    /// The next stage of a job begins, or tasks are added to it.
    TasksAdded(TasksAdded) = "tasks_added", Input;
    /// A job's weight changes.
    JobChanged(JobChanged) = "job_changed", Input;
    /// A job is cancelled.
    JobCancelled(Cancelled) = "job_cancelled", Input;
    /// A task starts.
    TaskStarted(Started) = "start", Decision;
    /// A start could not be carried out: undone, charged nothing, no attempt counted.
    StartFailed(TaskFact) = "undone", Input;
    /// A task has ended well.
    TaskEnded(TaskFact) = "end", Input;
    /// A task has failed.
    TaskFailed(TaskFact) = "fail", Input;
    /// A task is lost without its fault, as with its node; it waits again.
    TaskLost(TaskFact) = "lost", Input;
    /// A task is taken out of its job, whether it waits or runs.
    TaskWithdrawn(TaskFact) = "withdrawn", Input;
    /// A task is told to stop: a decision.
    TaskReclaimed(Box<Reclaimed>) = "reclaim", Decision;
    /// A task stops because its job does.
    TaskStopped(TaskFact) = "stop", Follows;
    /// A task turns out to run on another node.
    TaskMoved(Moved) = "moved", Input;
    /// A job has ended.
    JobEnded(JobEnd) = "job_end", Follows;
    /// A node joins, or comes back.
    NodeJoined(Box<NodeEntry>) = "node_joins", Input;
    /// A node leaves; its tasks are lost.
    NodeLeft(NodeMark) = "node_leaves", Input;
    /// A node's capacity changes.
    NodeResized(NodeAmounts) = "node_resized", Input;
    /// A node takes no new tasks.
    NodeCordoned(NodeMark) = "node_cordoned", Input;
    /// A node takes tasks again.
    NodeUncordoned(NodeMark) = "node_uncordoned", Input;
    /// A node's labels change.
    NodeRelabelled(Relabelled) = "node_relabelled", Input;
    /// What work that is not this scheduler's uses of a node changes.
    NodeUsedByOthers(UsedByOthers) = "node_strangers", Input;
    /// What becomes of tasks that no node could hold.
    Infeasible(Unplaceable) = "infeasible", Input;
    /// A queue is added, or comes back with its history.
    QueueAdded(Box<QueueEntry>) = "queue_added", Input;
    /// A queue's weight or bounds change.
    QueueChanged(Box<QueueChanged>) = "queue_changed", Input;
    /// A queue is removed.
    QueueRemoved(QueueMark) = "queue_removed", Input;
    /// Policies change.
    PoliciesChanged(Box<PoliciesChanged>) = "policies_changed", Input;
    /// Decisions were asked for at an instant of which nothing else tells.
    TimePassed(Decide) = "decide", Input;
    /// Something of the world's own.
    Note(Note) = "note", Aside;
    /// A state was stored.
    Snapshot(SnapshotTaken) = "snapshot", Mark;
    /// The run is over.
    Finish(Finish) = "finish", Mark;
}

impl Kind {
    /// Whether something happened or was decided, so that decisions follow at its instant.
    pub fn happens(self) -> bool {
        !matches!(self.role(), FactRole::Aside | FactRole::Mark)
    }

    /// The kind that is called `word` in a line.
    pub fn of(word: &str) -> Option<Kind> {
        Kind::ALL.iter().copied().find(|kind| kind.word() == word)
    }
}

impl Record {
    /// Appends its line to `line`, without the line break.
    ///
    /// ```
    /// use meed::Time;
    /// use meed_journal::{Fact, Record, TaskFact, TaskKey};
    ///
    /// let task = TaskKey { job: 3.into(), task: 0, attempt: 0 };
    /// let fact = Fact::TaskEnded(TaskFact::of(task));
    /// let record = Record { seq: 17, t: Time::from_secs(60).expect("in range"), fact };
    /// let mut line = Vec::new();
    /// record.encode(&mut line);
    /// assert_eq!(line, br#"{"seq":17,"t":60.0,"end":{"job":3,"task":0}}"#);
    /// assert_eq!(Record::decode(&line).expect("it was written"), record);
    /// ```
    pub fn encode(&self, line: &mut Vec<u8>) {
        encode(self.seq, self.t, &self.fact, line);
    }

    /// The line as the serializer writes it, without the quick way for common records: for tests.
    #[doc(hidden)]
    pub fn encode_plainly(&self, line: &mut Vec<u8>) {
        encode_plainly(self.seq, self.t, &self.fact, line);
    }

    /// Reads a line of schema 2.
    pub fn decode(line: &[u8]) -> Result<Record, Wrong> {
        let Line { seq, t, fact, .. } = Line::parse(line, None)?;
        let seq = seq.ok_or_else(|| Wrong { what: Line::NO_SEQ.to_owned(), cut: false })?;
        let fact = fact.expect("all kinds are wanted");
        Ok(Record { seq, t, fact })
    }
}

/// The same of parts.
pub(crate) fn encode(seq: u64, t: Time, fact: &Fact, line: &mut Vec<u8>) {
    let before = line.len();
    line.resize(before + fast::ROOM, 0);
    let length = fast::encode(seq, t, fact, &mut line[before..]);
    line.truncate(before + length.unwrap_or(0));
    if length.is_none() {
        encode_plainly(seq, t, fact, line);
    }
}

/// Makes lines of records one after the other, in room that it keeps: the quickest way.
///
/// ```
/// use meed::Time;
/// use meed_journal::{Fact, LineMaker, NodeMark};
///
/// let mut lines = LineMaker::default();
/// let fact = Fact::NodeLeft(NodeMark::of("n1".into()));
/// let line = lines.line(0, Time::ZERO, &fact);
/// assert_eq!(line, br#"{"seq":0,"t":0.0,"node_leaves":{"name":"n1"}}"#);
/// ```
#[derive(Debug, Default)]
pub struct LineMaker {
    room: Vec<u8>,
}

impl LineMaker {
    /// The line of that record, without the line break.
    pub fn line(&mut self, seq: u64, t: Time, fact: &Fact) -> &[u8] {
        let length = self.make(seq, t, fact);
        &self.room[..length]
    }

    /// The same with the line break.
    pub(crate) fn whole_line(&mut self, seq: u64, t: Time, fact: &Fact) -> &[u8] {
        let length = self.make(seq, t, fact);
        self.room[length] = b'\n';
        &self.room[..=length]
    }

    /// Makes the line, and tells its length, which is less than the room's.
    fn make(&mut self, seq: u64, t: Time, fact: &Fact) -> usize {
        if self.room.len() < fast::ROOM {
            self.room.resize(fast::ROOM, 0);
        }
        let most = self.room.len() - 1;
        fast::encode(seq, t, fact, &mut self.room[..most]).unwrap_or_else(|| {
            self.room.clear();
            encode_plainly(seq, t, fact, &mut self.room);
            self.room.push(0);
            self.room.len() - 1
        })
    }
}

/// By the serializer, whatever the record is: what [`encode`] writes, more slowly.
fn encode_plainly(seq: u64, t: Time, fact: &Fact, line: &mut Vec<u8>) {
    let parts = Parts { seq, t, fact };
    serde_json::to_writer(line, &parts).expect("memory takes all, and keys are text");
}

struct Parts<'a> {
    seq: u64,
    t: Time,
    fact: &'a Fact,
}

impl Serialize for Parts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut line = serializer.serialize_map(None)?;
        line.serialize_entry("seq", &self.seq)?;
        line.serialize_entry("t", &Exact::time(self.t))?;
        self.fact.write(&mut line)?;
        line.end()
    }
}

/// A line that is no record.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{what}")]
#[non_exhaustive]
pub struct Wrong {
    /// What is wrong, and what would be right.
    pub what: String,
    /// It ends in the middle, as a crash leaves it.
    pub cut: bool,
}

/// A line, as far as it was wanted.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) seq: Option<u64>,
    pub(crate) t: Time,
    pub(crate) kind: Kind,
    /// `None` where its kind is not wanted.
    pub(crate) fact: Option<Fact>,
}

impl Line {
    pub(crate) const NO_SEQ: &str = "it has no `seq`, which numbers records from 0 without a gap";

    /// Reads a line of which the kinds `wanted` (`None`: all) are to be understood; a header always
    /// is.
    pub(crate) fn parse(bytes: &[u8], wanted: Option<&[Kind]>) -> Result<Line, Wrong> {
        let mut json = serde_json::Deserializer::from_slice(bytes);
        let line =
            LineSeed { wanted }.deserialize(&mut json).and_then(|line| json.end().map(|()| line));
        line.map_err(|error| Wrong::of(&error))
    }
}

impl Wrong {
    pub(crate) fn of(error: &serde_json::Error) -> Wrong {
        let text = error.to_string();
        // Its line number is that of the piece.
        let column = format!(" at line {} column {}", error.line(), error.column());
        let plain = text.strip_suffix(&column).unwrap_or(&text);
        Wrong {
            what: format!(
                "not a line of a log: {plain} (column {}); such lines are like \
                 {{\"seq\":17,\"t\":60.0,\"end\":{{..}}}}",
                error.column()
            ),
            cut: error.is_eof(),
        }
    }
}

struct LineSeed<'w> {
    wanted: Option<&'w [Kind]>,
}

impl<'de> DeserializeSeed<'de> for LineSeed<'_> {
    type Value = Line;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Line, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for LineSeed<'_> {
    type Value = Line;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with `seq`, `t` and one more key")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Line, A::Error> {
        let (mut seq, mut t) = (None, None);
        let mut found: Option<(Kind, Option<Fact>)> = None;
        let mut other = None;
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            match (key.as_ref(), Kind::of(&key)) {
                ("seq", _) => seq = Some(map.next_value()?),
                ("t", _) => {
                    let number: Number = map.next_value()?;
                    t = Some(number.time().map_err(|why| A::Error::custom(format!("t: {why}")))?);
                }
                (_, Some(_)) if found.is_some() => {
                    return Err(A::Error::custom(format!("`{key}` besides another kind of line")));
                }
                (_, Some(kind)) => {
                    let wanted = self.wanted.is_none_or(|wanted| wanted.contains(&kind));
                    let fact = match wanted || kind == Kind::Run {
                        true => Some(Fact::read(kind, &mut map)?),
                        false => map.next_value::<IgnoredAny>().map(|_| None)?,
                    };
                    found = Some((kind, fact));
                }
                (word, None) => {
                    other.get_or_insert_with(|| Name::from(word));
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        let t = t.ok_or_else(|| A::Error::missing_field("t"))?;
        let unknown = || (Kind::Other, Some(Fact::Other(other.unwrap_or_default())));
        let (kind, fact) = found.unwrap_or_else(unknown);
        Ok(Line { seq, t, kind, fact })
    }
}
