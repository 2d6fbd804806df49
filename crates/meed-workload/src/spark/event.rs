//! One event of a log: what is kept of it. Fields have Spark's names.
//!
//! Names of kinds are short for what Spark has always written, and full names of classes for the
//! rest: the last part tells. Kinds that are not read cost a look at their name.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::error::BadRow;
use crate::fields::json_problem;

/// What an event tells.
pub(super) enum Event {
    /// A log begins.
    Begin,
    Application(Application),
    /// The application has ended.
    End(Timed),
    Settings(Environment),
    Profile(Profile),
    Executor(ExecutorAdded),
    Removed(ExecutorRemoved),
    /// A process that is no executor: the master on YARN.
    Process(Process),
    Job(JobStart),
    Stage(StageInfo),
    TaskStart(TaskEvent),
    TaskEnd(TaskEvent),
}

/// A line of a log.
pub(super) enum Line<'a> {
    Event(Event),
    /// An event that is not read, by the name of its kind.
    Other(Cow<'a, str>),
}

#[derive(Deserialize)]
pub(super) struct Application {
    #[serde(rename = "App ID")]
    pub(super) id: Option<String>,
    #[serde(rename = "App Attempt ID")]
    pub(super) attempt: Option<String>,
    #[serde(rename = "App Name")]
    pub(super) name: String,
    #[serde(rename = "User")]
    pub(super) user: String,
    #[serde(rename = "Timestamp")]
    pub(super) time: i64,
}

#[derive(Deserialize)]
pub(super) struct Timed {
    #[serde(rename = "Timestamp")]
    pub(super) time: i64,
}

#[derive(Deserialize)]
pub(super) struct Environment {
    #[serde(rename = "Spark Properties")]
    pub(super) spark: BTreeMap<String, String>,
}

#[derive(Deserialize)]
pub(super) struct Profile {
    #[serde(rename = "Resource Profile Id", default)]
    pub(super) id: i64,
    #[serde(rename = "Executor Resource Requests", default)]
    pub(super) executor: BTreeMap<String, Amount>,
    #[serde(rename = "Task Resource Requests", default)]
    pub(super) task: BTreeMap<String, Amount>,
}

/// Of memory mebibytes, of tasks fractions.
#[derive(Deserialize)]
pub(super) struct Amount {
    #[serde(rename = "Amount")]
    pub(super) amount: f64,
}

#[derive(Deserialize)]
pub(super) struct ExecutorAdded {
    #[serde(rename = "Timestamp")]
    pub(super) time: i64,
    #[serde(rename = "Executor ID")]
    pub(super) id: String,
    #[serde(rename = "Executor Info")]
    pub(super) info: ExecutorInfo,
}

#[derive(Deserialize)]
pub(super) struct ExecutorInfo {
    #[serde(rename = "Total Cores")]
    pub(super) cores: i64,
    #[serde(rename = "Resource Profile Id", default)]
    pub(super) profile: i64,
    /// When it was asked for, under dynamic allocation.
    #[serde(rename = "Request Time")]
    pub(super) asked: Option<i64>,
    #[serde(rename = "Resources", default)]
    pub(super) resources: BTreeMap<String, Addresses>,
}

#[derive(Deserialize)]
pub(super) struct Addresses {
    #[serde(default)]
    pub(super) addresses: Vec<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
pub(super) struct ExecutorRemoved {
    #[serde(rename = "Timestamp")]
    pub(super) time: i64,
    #[serde(rename = "Executor ID")]
    pub(super) id: String,
}

#[derive(Deserialize)]
pub(super) struct Process {
    pub(super) time: i64,
    #[serde(rename = "processId")]
    pub(super) id: String,
}

#[derive(Deserialize)]
pub(super) struct JobStart {
    #[serde(rename = "Submission Time")]
    pub(super) time: i64,
    #[serde(rename = "Stage IDs")]
    pub(super) stages: Vec<u64>,
}

#[derive(Deserialize)]
struct StageEvent {
    #[serde(rename = "Stage Info")]
    info: StageInfo,
}

#[derive(Deserialize)]
pub(super) struct StageInfo {
    #[serde(rename = "Stage ID")]
    pub(super) id: u64,
    #[serde(rename = "Stage Attempt ID")]
    pub(super) attempt: u64,
    #[serde(rename = "Parent IDs", default)]
    pub(super) parents: Vec<u64>,
    #[serde(rename = "Submission Time")]
    pub(super) submitted: Option<i64>,
    #[serde(rename = "Completion Time")]
    pub(super) completed: Option<i64>,
    #[serde(rename = "Resource Profile Id", default)]
    pub(super) profile: i64,
}

#[derive(Deserialize)]
pub(super) struct TaskEvent {
    #[serde(rename = "Stage ID")]
    pub(super) stage: u64,
    #[serde(rename = "Stage Attempt ID")]
    pub(super) attempt: u64,
    #[serde(rename = "Task Info")]
    pub(super) info: TaskInfo,
}

#[derive(Deserialize)]
pub(super) struct TaskInfo {
    #[serde(rename = "Task ID")]
    pub(super) id: u64,
    #[serde(rename = "Index")]
    pub(super) index: u64,
    /// The same in every attempt of a stage; not in older versions.
    #[serde(rename = "Partition ID")]
    pub(super) partition: Option<i64>,
    #[serde(rename = "Launch Time")]
    pub(super) launched: i64,
    #[serde(rename = "Finish Time", default)]
    pub(super) finished: i64,
    #[serde(rename = "Failed", default)]
    pub(super) failed: bool,
    #[serde(rename = "Killed", default)]
    pub(super) killed: bool,
}

#[derive(Deserialize)]
struct Named<'a> {
    #[serde(rename = "Event", borrow)]
    name: Cow<'a, str>,
}

/// Whether a log of Spark may begin with this line.
pub(crate) fn is_event(line: &[u8]) -> bool {
    let rest = line.trim_ascii_start().strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
    let rest = rest.and_then(|rest| rest.strip_prefix(b"\"Event\""));
    let rest = rest.map(<[u8]>::trim_ascii_start).and_then(|rest| rest.strip_prefix(b":"));
    let rest = rest.map(<[u8]>::trim_ascii_start).unwrap_or_default();
    [b"\"SparkListener".as_slice(), b"\"org.apache.spark."]
        .iter()
        .any(|word| rest.starts_with(word))
}

/// Reads a line, which is not empty.
pub(super) fn read(line: &[u8]) -> Result<Line<'_>, BadRow> {
    let name = match quick_name(line) {
        Some(name) => Cow::Borrowed(name),
        None => of_json::<Named<'_>>(line)?.name,
    };
    let kind = name.rsplit('.').next().unwrap_or_default();
    let kind = kind.strip_prefix("SparkListener").unwrap_or(kind);
    Ok(Line::Event(match kind {
        "LogStart" => Event::Begin,
        "ApplicationStart" => Event::Application(of(line, &name)?),
        "ApplicationEnd" => Event::End(of(line, &name)?),
        "EnvironmentUpdate" => Event::Settings(of(line, &name)?),
        "ResourceProfileAdded" => Event::Profile(of(line, &name)?),
        "ExecutorAdded" => Event::Executor(of(line, &name)?),
        "ExecutorRemoved" => Event::Removed(of(line, &name)?),
        "MiscellaneousProcessAdded" => Event::Process(of(line, &name)?),
        "JobStart" => Event::Job(of(line, &name)?),
        "StageSubmitted" | "StageCompleted" => Event::Stage(of::<StageEvent>(line, &name)?.info),
        "TaskStart" => Event::TaskStart(of(line, &name)?),
        "TaskEnd" => Event::TaskEnd(of(line, &name)?),
        _ if line.trim_ascii_end().ends_with(b"}") => return Ok(Line::Other(name)),
        _ => return Err(BadRow::line(format!("{name}: the line ends in the middle"))),
    }))
}

/// The name of the kind, where the line begins as Spark begins all.
fn quick_name(line: &[u8]) -> Option<&str> {
    let rest = line.strip_prefix(b"{\"Event\":\"")?;
    let end = memchr::memchr2(b'"', b'\\', rest)?;
    (rest[end] == b'"').then(|| std::str::from_utf8(&rest[..end]).ok())?
}

fn of<T: DeserializeOwned>(line: &[u8], name: &str) -> Result<T, BadRow> {
    serde_json::from_slice(line)
        .map_err(|why| BadRow::line(format!("{name}: {}", json_problem(&why))))
}

fn of_json<'a, T: Deserialize<'a>>(line: &'a [u8]) -> Result<T, BadRow> {
    serde_json::from_slice(line).map_err(|why| {
        BadRow::line(format!(
            "{}; wanted is an event of Spark, an object of JSON",
            json_problem(&why)
        ))
    })
}
