//! What clients and the server say to each other over the Unix socket: one line of JSON each way,
//! any number of times. Who the client is says the socket ([`crate::service`]), not the line.
//!
//! > {"jobs":{"all":true}}
//! > {"schema":1,"ok":{"jobs":[..],"more":null}}

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::run::TaskEnd;
use crate::settings::Role;
use crate::spec::Submission;

/// Version of the answers.
pub const SCHEMA: u32 = 1;
/// Most bytes of a request.
pub const MAX_REQUEST: usize = 8 << 20;
/// Most rows of one answer.
pub const MAX_ROWS: usize = 1000;

/// What a client asks for.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[expect(clippy::large_enum_variant, reason = "one at a time, and most are submissions")]
pub enum Request {
    /// A new job.
    Submit(Submission),
    /// Lists jobs, the newest first.
    Jobs(JobsQuery),
    /// All about a job.
    Show(JobQuery),
    /// A job is wanted no more.
    Cancel(JobQuery),
    /// No task of a job is to start.
    Hold(JobQuery),
    /// A held job goes on.
    Release(JobQuery),
    /// Answers when the job has ended.
    Wait(JobQuery),
    /// The job is wanted as long as this connection is there.
    Tie(JobQuery),
    /// How queues stand.
    Queues {},
    /// Why a job waits.
    Why(JobQuery),
    /// The configuration is read again.
    Reload {},
    /// Who serves.
    Ping {},
    /// The machine: what it has, and what is free.
    Cluster {},
    /// Who asks, and what they may.
    Me {},
    /// Who held what.
    History(HistoryQuery),
    /// All that is counted, as Prometheus reads it.
    Metrics {},
    /// Where the output of a task is.
    Log(LogQuery),
    /// A new token for the HTTP interface.
    CreateToken(TokenWish),
    /// Tokens that there are.
    Tokens {},
    /// A token is good for nothing any more.
    RevokeToken(TokenQuery),
    /// A link that signs a browser in, once.
    Dashboard {},
}

impl Request {
    /// Whether something may be another after it.
    pub fn changes(&self) -> bool {
        match self {
            Request::Submit(_)
            | Request::Cancel(_)
            | Request::Hold(_)
            | Request::Release(_)
            | Request::Tie(_)
            | Request::Reload {}
            | Request::CreateToken(_)
            | Request::RevokeToken(_)
            | Request::Dashboard {} => true,
            Request::Jobs(_)
            | Request::Show(_)
            | Request::Wait(_)
            | Request::Queues {}
            | Request::Why(_)
            | Request::Ping {}
            | Request::Cluster {}
            | Request::Me {}
            | Request::History(_)
            | Request::Metrics {}
            | Request::Log(_)
            | Request::Tokens {} => false,
        }
    }
}

/// Which jobs.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JobsQuery {
    /// Of all users; else the asking one's.
    pub all: bool,
    /// Also those that have ended.
    pub ended: bool,
    /// Only of this queue.
    pub queue: Option<String>,
    /// Only of this user.
    pub user: Option<String>,
    /// Only those that stand so.
    pub state: Option<JobStanding>,
    /// Only numbers below this one: the page behind one that ended with it.
    pub below: Option<u64>,
    /// At most so many.
    pub limit: Option<usize>,
}

/// Which job: its number, or its name (the newest of the user's).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobQuery {
    /// Number or name.
    pub job: String,
    /// Tasks are shown from this one on.
    #[serde(default)]
    pub from: u32,
}

/// Which output.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogQuery {
    /// Number or name of the job.
    pub job: String,
    /// Index of the task.
    pub task: u64,
}

/// Where the output of a task is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LogPlace {
    /// Below the state folder; `None`: the user named a file of their own.
    pub path: Option<String>,
    /// Whose the file must be.
    pub uid: u32,
    /// Whether more may come.
    pub running: bool,
}

/// Of which time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HistoryQuery {
    /// The last month in steps of half an hour; else the last day in minutes.
    pub month: bool,
}

/// Who held what.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct HoldingHistory {
    /// The resource.
    pub measured: String,
    /// What the machine has of it now.
    pub capacity: f64,
    /// Length of a step, in microseconds.
    pub step_us: u64,
    /// Ends of the steps, in microseconds since 1970-01-01 UTC; the last one is still going on.
    pub at_us: Vec<u64>,
    /// Queues; what a tenant may not know by queue is one row without a name.
    pub series: Vec<HoldingSeries>,
}

/// What a queue held.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct HoldingSeries {
    /// The queue; `None`: all others together.
    pub queue: Option<String>,
    /// Mean over each step.
    pub held: Vec<f64>,
}

/// A token that is wanted.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenWish {
    /// What it is for.
    pub name: String,
    /// The highest role that it allows.
    pub role: Role,
    /// Whose it is; `None`: the asking user's.
    #[serde(default)]
    pub user: Option<String>,
    /// How long it is good for, in seconds.
    #[serde(default)]
    pub expires_s: Option<u64>,
    /// It changes nothing.
    #[serde(default)]
    pub reads_only: bool,
}

/// Which token.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenQuery {
    /// Its number, as it is listed.
    pub token: String,
}

/// A token as it is listed: what it was is not known any more.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TokenView {
    /// Its number: not secret.
    pub id: String,
    /// What it is for.
    pub name: String,
    /// Whose it is.
    pub user: String,
    /// The highest role that it allows.
    pub role: Role,
    /// It changes nothing.
    pub reads_only: bool,
    /// When it was made, in microseconds since 1970-01-01 UTC.
    pub created_us: u64,
    /// When it ends.
    pub expires_us: Option<u64>,
}

/// A new token: told this once.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TokenMade {
    /// The secret.
    pub secret: String,
    /// The rest.
    #[serde(flatten)]
    pub token: TokenView,
}

/// What the server says.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Answer {
    /// [`SCHEMA`].
    pub schema: u32,
    /// What was asked for, or why not.
    #[serde(flatten)]
    pub what: AnswerBody,
}

/// An answer without its version.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerBody {
    /// What was asked for.
    Ok(Value),
    /// The same, written already: long lists are written once.
    #[serde(skip)]
    Text(String),
    /// Why not.
    Error(NotDone),
}

/// Why something was not done.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct NotDone {
    /// What kind of reason it is.
    pub kind: RefusalKind,
    /// In words.
    pub text: String,
}

/// Kinds of reasons.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RefusalKind {
    /// The request is none.
    Malformed,
    /// It cannot be done so: an unknown queue, more than the machine has.
    Wrong,
    /// There is no such job.
    Unknown,
    /// The user may not.
    Forbidden,
    /// Too many or too much.
    Limit,
    /// The server cannot.
    Failed,
}

impl NotDone {
    /// Of that kind.
    pub fn new(kind: RefusalKind, text: impl Into<String>) -> NotDone {
        NotDone { kind, text: text.into() }
    }
}

impl Answer {
    /// What was asked for.
    pub fn of(done: Result<impl Serialize, NotDone>) -> Answer {
        let value = done.and_then(|done| {
            serde_json::to_value(done)
                .map_err(|why| NotDone::new(RefusalKind::Failed, why.to_string()))
        });
        let what = match value {
            Ok(value) => AnswerBody::Ok(value),
            Err(refusal) => AnswerBody::Error(refusal),
        };
        Answer { schema: SCHEMA, what }
    }

    /// What was asked for, written at once.
    pub fn written(done: &impl Serialize) -> Answer {
        let what = match serde_json::to_string(done) {
            Ok(text) => AnswerBody::Text(text),
            Err(why) => AnswerBody::Error(NotDone::new(RefusalKind::Failed, why.to_string())),
        };
        Answer { schema: SCHEMA, what }
    }

    /// As it goes over the socket.
    pub fn line(&self) -> Vec<u8> {
        let mut line = match &self.what {
            AnswerBody::Text(text) => {
                format!("{{\"schema\":{},\"ok\":{text}}}", self.schema).into()
            }
            _ => serde_json::to_vec(self).expect("memory takes all, and keys are text"),
        };
        line.push(b'\n');
        line
    }

    /// What was asked for.
    ///
    /// # Errors
    ///
    /// Why not.
    pub fn read<T: DeserializeOwned>(self) -> Result<T, NotDone> {
        let failed = |why: serde_json::Error| NotDone::new(RefusalKind::Failed, why.to_string());
        match self.what {
            AnswerBody::Ok(value) => serde_json::from_value(value).map_err(failed),
            AnswerBody::Text(text) => serde_json::from_str(&text).map_err(failed),
            AnswerBody::Error(refusal) => Err(refusal),
        }
    }
}

/// An answer as a client reads it.
#[derive(Deserialize)]
pub(crate) struct Told<T> {
    /// Its version.
    pub(crate) schema: u32,
    /// What was asked for.
    pub(crate) ok: Option<T>,
    /// Why not.
    pub(crate) error: Option<NotDone>,
}

/// A job that was taken.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Submitted {
    /// Its number.
    pub job: u64,
    /// Its queue.
    pub queue: String,
}

/// A page of jobs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Jobs {
    /// The newest first.
    pub jobs: Vec<JobView>,
    /// `below` of the next page, where there is one.
    pub more: Option<u64>,
}

/// A job in a list. Of other users' jobs a tenant sees what fairness needs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct JobView {
    /// Its number.
    pub id: u64,
    /// What people call it; of others' jobs nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whose it is.
    pub user: String,
    /// Its queue.
    pub queue: String,
    /// How it stands.
    pub state: JobStanding,
    /// All tasks.
    pub tasks: u32,
    /// Those that run.
    pub running: u32,
    /// Those that have ended well.
    pub done: u32,
    /// Those that have failed for good.
    pub failed: u32,
    /// How often tasks of it were stopped for others; they wait again then.
    #[serde(default)]
    pub stopped: u32,
    /// How long these had run: work that is lost, in microseconds.
    #[serde(default)]
    pub lost_us: u64,
    /// When it was submitted, in microseconds since 1970-01-01 UTC.
    pub submitted_us: u64,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_us: Option<u64>,
    /// Why it failed, or waits for others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// How a job stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobStanding {
    /// Its user holds it.
    Held,
    /// It waits for other jobs.
    After,
    /// It waits for its turn.
    Waiting,
    /// Some of its tasks run.
    Running,
    /// All tasks have ended well.
    Done,
    /// Some have not.
    Failed,
    /// Somebody cancelled it.
    Cancelled,
}

impl JobStanding {
    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            JobStanding::Held => "held",
            JobStanding::After => "after",
            JobStanding::Waiting => "waiting",
            JobStanding::Running => "running",
            JobStanding::Done => "done",
            JobStanding::Failed => "failed",
            JobStanding::Cancelled => "cancelled",
        }
    }

    /// Whether it is over.
    pub fn is_over(self) -> bool {
        matches!(self, JobStanding::Done | JobStanding::Failed | JobStanding::Cancelled)
    }
}

/// All about a job, for its user.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Shown {
    /// As in lists.
    #[serde(flatten)]
    pub job: JobView,
    /// What was submitted; the environment is not repeated.
    pub spec: Submission,
    /// Whether the kernel bounds the memory of its tasks by what they ask for.
    #[serde(default)]
    pub memory_is_enforced: bool,
    /// Jobs that it waits for.
    pub after: Vec<u64>,
    /// Its tasks that run or have ended, by number.
    #[schema(value_type = BTreeMap<String, TaskView>)]
    pub task: BTreeMap<u32, TaskView>,
    /// The first task of the next page.
    pub more: Option<u32>,
}

/// A task.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct TaskView {
    /// Its index, as it is told.
    pub index: u64,
    /// Which attempt.
    pub attempt: u32,
    /// Whether it runs.
    pub running: bool,
    /// It runs, and was told to stop for others.
    #[serde(default)]
    pub stopping: bool,
    /// The job for which, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopping_for: Option<u64>,
    /// Since when it runs, in microseconds since 1970-01-01 UTC.
    pub began_us: Option<u64>,
    /// How its last attempt ended.
    pub ended: Option<TaskEnd>,
    /// The same in words.
    pub words: Option<String>,
    /// Where its output goes.
    pub log: String,
    /// The socket at which it can be talked to, where it runs and that is wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// GPUs that it holds.
    pub gpus: Vec<u32>,
    /// Processors of its own.
    pub processors: Vec<u32>,
}

impl JobView {
    /// What others may know of it.
    #[must_use]
    pub fn for_others(&self) -> JobView {
        JobView { name: None, why: None, ..self.clone() }
    }
}
