//! Answers of the ResourceManager to applications.

use std::collections::BTreeSet;
use std::sync::Arc;

use meed::{MAX_AMOUNT, MAX_MICROS, MICROS_PER_S};
use meed_config::queues::check_bounds;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{YarnQueues, YarnShape};
use crate::error::BadRow;
use crate::fields::{check_length, json_problem};
use crate::records::LineNumbers;
use crate::whole::Whole;
use crate::{MAX_TASKS, OnBadLine, TraceError};

/// The largest sum of resource x time that is read: more is a mistake.
const MAX_SUM: u64 = 1 << 53;
/// Bytes of a mebibyte.
const MIB: u128 = 1 << 20;

/// One application that has ended and has used something.
pub(super) struct App {
    pub(super) id: Box<str>,
    pub(super) queue: u32,
    /// Since 1970; since the first submission once all are known.
    pub(super) submit_ms: u64,
    /// Tasks of one vcore.
    width: u32,
    /// How long each runs, in microseconds.
    micros: u64,
    /// What each holds, in bytes.
    memory: u64,
}

impl App {
    pub(super) fn micros(&self) -> u64 {
        self.micros
    }

    /// How many tasks it has, and what each holds: vcores and bytes.
    pub(super) fn tasks(&self, shape: YarnShape) -> (u32, [u64; 2]) {
        let width = u64::from(self.width);
        match shape {
            YarnShape::Split => (self.width, [1, self.memory]),
            YarnShape::Rigid => (1, [width, width.saturating_mul(self.memory)]),
        }
    }
}

#[derive(Deserialize)]
struct Answer<'a> {
    /// `null` where there are none.
    #[serde(borrow, deserialize_with = "Option::deserialize")]
    apps: Option<List<'a>>,
}

#[derive(Deserialize)]
struct List<'a> {
    /// `null` as well where there are none.
    #[serde(borrow, default)]
    app: Option<Vec<&'a RawValue>>,
}

/// What is read of an application, in YARN's names.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Told {
    id: String,
    user: String,
    queue: String,
    started_time: i64,
    /// 0 where it was never launched; older versions do not tell.
    #[serde(default)]
    launch_time: i64,
    /// 0 until it ends.
    finished_time: i64,
    memory_seconds: i64,
    vcore_seconds: i64,
}

/// What other readers take of an application. Times are milliseconds since 1970, 0 where they are
/// not told.
pub(crate) struct Listed {
    pub(crate) id: String,
    pub(crate) queue: String,
    pub(crate) submit_ms: u64,
    pub(crate) launch_ms: u64,
    pub(crate) end_ms: u64,
    /// Of all its containers.
    pub(crate) mib_seconds: u64,
}

/// Gives each application of a file to `take`, whether it has ended or not, with the line on which
/// it stands.
pub(crate) fn listed(
    file: &Arc<str>,
    bytes: &[u8],
    mut take: impl FnMut(u64, Result<Listed, BadRow>) -> Result<(), TraceError>,
) -> Result<(), TraceError> {
    each(file, bytes, |line, raw| take(line, of_raw(raw).and_then(Told::listed)))
}

/// All applications of a file, in its order.
pub(super) fn read(
    file: &Arc<str>,
    bytes: &[u8],
    queues: &YarnQueues,
    on_bad_line: OnBadLine,
) -> Result<Whole<App>, TraceError> {
    let mut read = Whole::new(file, on_bad_line);
    let mut known = BTreeSet::new();
    each(file, bytes, |line, raw| {
        let told = of_raw(raw).and_then(|told| Ok((told.app()?, told)));
        let found = told.map(|(app, told)| {
            let app = app.filter(|app| known.insert(app.id.clone()))?;
            Some(App { queue: read.number_of(told.queue_by(queues)), ..app })
        });
        read.add(line, found)
    })?;
    Ok(read)
}

/// Gives each application of a file to `take`, with the line on which it stands.
fn each(
    file: &Arc<str>,
    bytes: &[u8],
    mut take: impl FnMut(u64, &RawValue) -> Result<(), TraceError>,
) -> Result<(), TraceError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.trim_ascii_start().starts_with(b"<") {
        let why = "this is XML; ask the ResourceManager with `Accept: application/json`";
        return Err(header(file, 1, why.to_owned()));
    }
    let mut lines = LineNumbers::new(bytes);
    let answers = serde_json::Deserializer::from_slice(bytes).into_iter::<Answer<'_>>();
    for answer in answers {
        let answer = answer.map_err(|why| {
            let wanted = "wanted is `{\"apps\": {\"app\": [...]}}`, as the ResourceManager answers";
            header(file, why.line() as u64, format!("{why}; {wanted}"))
        })?;
        for raw in answer.apps.and_then(|list| list.app).unwrap_or_default() {
            take(lines.of(raw.get()), raw)?;
        }
    }
    Ok(())
}

fn header(file: &Arc<str>, line: u64, why: String) -> TraceError {
    TraceError::Header { file: Arc::clone(file), line, why }
}

fn of_raw(raw: &RawValue) -> Result<Told, BadRow> {
    serde_json::from_str(raw.get())
        .map_err(|why| BadRow::line(format!("an application: {}", json_problem(&why))))
}

impl Told {
    /// The queue that it belongs to.
    fn queue_by<'a>(&'a self, queues: &'a YarnQueues) -> &'a str {
        match queues {
            YarnQueues::Queue => self.queue.strip_prefix("root.").unwrap_or(&self.queue),
            YarnQueues::User => &self.user,
            YarnQueues::Single(name) => name,
        }
    }

    fn wrong(&self, field: &str, what: String) -> BadRow {
        BadRow::field(format!("{field} of application {}", clipped(&self.id)), what)
    }

    fn time(&self, field: &str, ms: i64) -> Result<u64, BadRow> {
        match u64::try_from(ms) {
            Ok(ms) if ms <= MAX_MICROS / 1000 => Ok(ms),
            _ => Err(self.wrong(field, format!("{ms}; wanted are milliseconds since 1970"))),
        }
    }

    fn sum(&self, field: &str, sum: i64) -> Result<u64, BadRow> {
        match u64::try_from(sum) {
            Ok(sum) if sum <= MAX_SUM => Ok(sum),
            _ => Err(self.wrong(field, format!("{sum}; wanted is 0 to 2^53"))),
        }
    }

    /// What other readers take of it.
    fn listed(self) -> Result<Listed, BadRow> {
        Ok(Listed {
            submit_ms: self.time("startedTime", self.started_time)?,
            launch_ms: self.time("launchTime", self.launch_time)?,
            end_ms: self.time("finishedTime", self.finished_time)?,
            // Below 0 before anything is known.
            mib_seconds: u64::try_from(self.memory_seconds).unwrap_or(0).min(MAX_SUM),
            id: self.id,
            queue: self.queue,
        })
    }

    /// `None`: it has not ended, or has used nothing.
    fn app(&self) -> Result<Option<App>, BadRow> {
        for (field, name) in [("id", &self.id), ("user", &self.user), ("queue", &self.queue)] {
            check_length(name).map_err(|why| self.wrong(field, why))?;
        }
        for (field, name) in [("user", &self.user), ("queue", &self.queue)] {
            check_bounds(name).map_err(|why| self.wrong(field, why))?;
        }
        let submit_ms = self.time("startedTime", self.started_time)?;
        let launch_ms = self.time("launchTime", self.launch_time)?;
        let end_ms = self.time("finishedTime", self.finished_time)?;
        let vcores = self.sum("vcoreSeconds", self.vcore_seconds)?;
        let memory = self.sum("memorySeconds", self.memory_seconds)?;
        if end_ms == 0 || (vcores, memory) == (0, 0) {
            return Ok(None);
        }
        let begin_ms = if launch_ms == 0 { submit_ms } else { launch_ms };
        if begin_ms < submit_ms || end_ms < begin_ms {
            let what = format!("{end_ms}, launched at {begin_ms}, submitted at {submit_ms}");
            return Err(self.wrong("finishedTime", what + "; wanted are times in that order"));
        }
        let (width, micros, memory) = shape(vcores, memory, end_ms - begin_ms);
        let width = u32::try_from(width).ok().filter(|&width| width <= MAX_TASKS);
        let Some(width) = width else {
            let what = format!("{vcores} in {} ms: wider than {MAX_TASKS}", end_ms - begin_ms);
            return Err(self.wrong("vcoreSeconds", what));
        };
        if memory > MAX_AMOUNT {
            let what = format!(
                "{}: tasks of {memory} bytes; the largest amount is {MAX_AMOUNT}",
                self.memory_seconds
            );
            return Err(self.wrong("memorySeconds", what));
        }
        Ok(Some(App { id: self.id.as_str().into(), queue: 0, submit_ms, width, micros, memory }))
    }
}

/// Tasks of one vcore, how long each runs (microseconds), and what each holds (bytes): so many that
/// none runs longer than `millis`, and their work is the sums (vcore-seconds, MiB-seconds).
fn shape(vcores: u64, memory: u64, millis: u64) -> (u64, u64, u64) {
    let (millis, second) = (u128::from(millis.max(1)), u128::from(MICROS_PER_S));
    let mib_seconds = u128::from(memory) * MIB;
    if vcores == 0 {
        let bytes = (mib_seconds * 1000).div_ceil(millis);
        return (1, clip(millis * 1000), clip(bytes));
    }
    let vcores = u128::from(vcores);
    let width = (vcores * 1000).div_ceil(millis);
    let micros = rounded(vcores * second, width);
    (clip(width), clip(micros).min(MAX_MICROS), clip(rounded(mib_seconds, vcores)))
}

fn rounded(sum: u128, parts: u128) -> u128 {
    (sum + parts / 2) / parts
}

fn clip(value: u128) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}

fn clipped(name: &str) -> String {
    meed_config::words::quote(name.as_bytes())
}
