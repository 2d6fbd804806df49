//! One event of a job history: what is kept of it, and the form in which it is a line of JSON.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

/// What an event tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Kind {
    /// Who submits a job, when and to which queue; the queue may change.
    Job,
    /// A job has ended.
    Ended,
    /// An attempt of a task has started.
    Started,
    /// It has ended well.
    Finished,
    /// It has ended otherwise.
    Failed,
    /// Anything else.
    #[default]
    Other,
}

/// What Hadoop calls them. Setup and cleanup tasks are Hadoop 1's.
const KINDS: [(&str, Kind); 15] = [
    ("JOB_SUBMITTED", Kind::Job),
    ("JOB_QUEUE_CHANGED", Kind::Job),
    ("JOB_INFO_CHANGED", Kind::Job),
    ("JOB_FINISHED", Kind::Ended),
    ("JOB_FAILED", Kind::Ended),
    ("JOB_KILLED", Kind::Ended),
    ("JOB_ERROR", Kind::Ended),
    ("MAP_ATTEMPT_STARTED", Kind::Started),
    ("REDUCE_ATTEMPT_STARTED", Kind::Started),
    ("MAP_ATTEMPT_FINISHED", Kind::Finished),
    ("REDUCE_ATTEMPT_FINISHED", Kind::Finished),
    ("MAP_ATTEMPT_FAILED", Kind::Failed),
    ("MAP_ATTEMPT_KILLED", Kind::Failed),
    ("REDUCE_ATTEMPT_FAILED", Kind::Failed),
    ("REDUCE_ATTEMPT_KILLED", Kind::Failed),
];

/// Counters of a job that are read: for maps and for reduces, the time in containers, times their
/// memory in MiB, times their vcores; all in milliseconds.
const COUNTERS: [&str; 6] = [
    "MILLIS_MAPS",
    "MB_MILLIS_MAPS",
    "VCORES_MILLIS_MAPS",
    "MILLIS_REDUCES",
    "MB_MILLIS_REDUCES",
    "VCORES_MILLIS_REDUCES",
];

/// See the module. Fields have Hadoop's names.
#[derive(Default)]
pub(super) struct Event {
    pub(super) kind: Kind,
    pub(super) jobid: Option<String>,
    pub(super) user_name: Option<String>,
    pub(super) job_queue_name: Option<String>,
    pub(super) attempt_id: Option<String>,
    pub(super) submit_time: Option<i64>,
    pub(super) start_time: Option<i64>,
    pub(super) finish_time: Option<i64>,
    counters: [i64; COUNTERS.len()],
}

impl Event {
    /// Another event, of the type that Hadoop calls `kind`.
    pub(super) fn begin(&mut self, kind: &str) {
        let known = KINDS.iter().find(|(name, _)| *name == kind).map(|(_, kind)| *kind);
        *self = Event { kind: known.unwrap_or_default(), ..Event::default() };
    }

    /// A field of it.
    pub(super) fn text(&mut self, field: &str, value: &[u8]) {
        let place = match field {
            "jobid" => &mut self.jobid,
            "userName" => &mut self.user_name,
            "jobQueueName" => &mut self.job_queue_name,
            "attemptId" => &mut self.attempt_id,
            _ => return,
        };
        *place = Some(String::from_utf8_lossy(value).into_owned());
    }

    /// The same.
    pub(super) fn number(&mut self, field: &str, value: i64) {
        match field {
            "submitTime" => self.submit_time = Some(value),
            "startTime" => self.start_time = Some(value),
            "finishTime" => self.finish_time = Some(value),
            _ => {}
        }
    }

    /// A counter, somewhere in it: those that are read stand among a job's totals only.
    pub(super) fn counter(&mut self, name: &[u8], value: i64) {
        if self.kind != Kind::Ended {
            return;
        }
        if let Some(at) = COUNTERS.iter().position(|known| known.as_bytes() == name) {
            self.counters[at] = self.counters[at].max(value);
        }
    }

    /// Of maps and of reduces: time in containers, times memory (MiB), times vcores; 0 where it is
    /// not told.
    pub(super) fn sums(&self) -> [[u64; 3]; 2] {
        let at = |at: usize| u64::try_from(self.counters[at]).unwrap_or(0);
        [[at(0), at(1), at(2)], [at(3), at(4), at(5)]]
    }

    /// Reads a line of the form `Avro-Json`.
    pub(super) fn read(&mut self, line: &[u8]) -> Result<(), serde_json::Error> {
        let line: Line<'_> = serde_json::from_slice(line)?;
        self.begin(&line.kind);
        let Some(raw) = line.event.values().next().filter(|_| self.kind != Kind::Other) else {
            return Ok(());
        };
        let fields: Fields = serde_json::from_str(raw.get())?;
        self.jobid = fields.jobid;
        self.user_name = fields.user_name;
        self.job_queue_name = fields.job_queue_name;
        self.attempt_id = fields.attempt_id;
        self.submit_time = fields.submit_time;
        self.start_time = fields.start_time;
        self.finish_time = fields.finish_time;
        let groups = fields.total_counters.into_iter().flat_map(|counters| counters.groups);
        for counter in groups.flat_map(|group| group.counts) {
            self.counter(counter.name.as_bytes(), counter.value);
        }
        Ok(())
    }
}

/// An event; a union's value stands behind the name of its type.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    event: BTreeMap<Cow<'a, str>, &'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Fields {
    jobid: Option<String>,
    user_name: Option<String>,
    job_queue_name: Option<String>,
    attempt_id: Option<String>,
    submit_time: Option<i64>,
    start_time: Option<i64>,
    finish_time: Option<i64>,
    total_counters: Option<Counters>,
}

#[derive(Deserialize)]
struct Counters {
    #[serde(default)]
    groups: Vec<Group>,
}

#[derive(Deserialize)]
struct Group {
    #[serde(default)]
    counts: Vec<Counter>,
}

#[derive(Deserialize)]
struct Counter {
    name: String,
    value: i64,
}
