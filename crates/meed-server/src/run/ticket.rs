//! What is to be run, and how it ended.

use serde::{Deserialize, Serialize};

use crate::clock::Moment;
use crate::group::Device;
use crate::session::SessionWish;
use crate::spec::SystemLimit;
use crate::text::Bytes;

/// What a supervisor is to run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Ticket {
    /// Version of this form.
    pub version: u32,
    /// What its processes are found by, should their supervisor be killed: the value of
    /// [`Ticket::COOKIE`] in their environment.
    pub cookie: String,
    /// The program and its arguments.
    pub command: Vec<Bytes>,
    /// All of its environment.
    pub env: Vec<(Bytes, Bytes)>,
    /// Where it runs.
    pub folder: Bytes,
    /// Permission bits that its files do not get.
    pub umask: u32,
    /// Limits, which are lowered and never raised.
    pub limits: Vec<SystemLimit>,
    /// Whose processes they are to be; `None`: the server's own user's.
    pub account: Option<Account>,
    /// The file that takes its output where it names none itself.
    pub log: Bytes,
    /// Where standard output goes instead, by the rights of the user.
    pub stdout: Option<Bytes>,
    /// Where standard error goes instead.
    pub stderr: Option<Bytes>,
    /// Longest run time, in milliseconds.
    pub time_ms: Option<u64>,
    /// From SIGTERM to SIGKILL, in milliseconds.
    pub grace_ms: u64,
    /// Its control group, which is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<Bytes>,
    /// Devices that it may not open: GPUs that it does not hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub closed: Vec<Device>,
    /// The most of its output that is kept, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output: Option<u64>,
    /// How its user talks to it, where they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<TicketSession>,
    /// Processors that it may use; empty: all.
    pub processors: Vec<u32>,
    /// GPUs that it holds.
    pub gpus: Vec<u32>,
}

impl Ticket {
    /// The version that is written and read.
    pub const VERSION: u32 = 1;
    /// Whether it has a terminal.
    pub fn has_terminal(&self) -> bool {
        self.session.as_ref().is_some_and(|session| session.wish.terminal)
    }

    /// The variable with which all processes of a task begin.
    pub const COOKIE: &str = "MEED_COOKIE";
}

/// How the user of a task talks to it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TicketSession {
    /// The socket, which its supervisor makes.
    pub socket: Bytes,
    /// What was asked for.
    #[serde(flatten)]
    pub wish: SessionWish,
}

/// An account of the system.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Account {
    /// User.
    pub uid: u32,
    /// Main group.
    pub gid: u32,
    /// All groups.
    pub groups: Vec<u32>,
}

/// A task has begun.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Began {
    /// The supervisor.
    pub supervisor: i32,
    /// The task's first process, which leads a group of its own.
    pub process: i32,
    /// The boot in which it was.
    pub boot: String,
    /// When.
    pub at: Moment,
}

/// A task has ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct TaskEnd {
    /// Since when it ran; `None`: it never began.
    pub began: Option<Moment>,
    /// When the last of its processes was gone.
    pub at: Moment,
    /// The boot in which that was.
    pub boot: String,
    /// How.
    pub how: How,
    /// By whose doing.
    pub cause: EndCause,
    /// The job for which its room was taken back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_for: Option<u64>,
    /// Why the command could not begin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Time of processors that it used, in microseconds.
    #[serde(default)]
    pub cpu_us: u64,
    /// The most memory that it held, in bytes: all of it together where it has a control group that
    /// counts memory, else one of its processes.
    #[serde(default)]
    pub peak_bytes: u64,
}

/// How a process ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// With this status; 0 is well.
    Exit(i32),
    /// By this signal.
    Signal(i32),
    /// It never began.
    Never,
}

/// By whose doing a task ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndCause {
    /// Its own.
    Itself,
    /// Its time was over.
    Time,
    /// The server stopped it.
    Stopped,
    /// It used more memory than it had asked for.
    Memory,
    /// The server took its room back for another task: it waits again.
    Reclaimed,
}

impl TaskEnd {
    /// Whether it ended as its user wished.
    pub fn is_well(&self) -> bool {
        self.how == How::Exit(0) && self.cause == EndCause::Itself
    }

    /// As a shell tells it: the exit status, or 128 and the signal.
    pub fn status(&self) -> u8 {
        let number = match self.how {
            How::Exit(status) => status,
            How::Signal(signal) => signal.saturating_add(128),
            How::Never => 126,
        };
        u8::try_from(number).unwrap_or(u8::MAX)
    }

    /// In words.
    pub fn words(&self) -> String {
        let how = match self.how {
            How::Exit(status) => format!("exit status {status}"),
            How::Signal(signal) => format!("signal {signal}"),
            How::Never => "it never began".to_owned(),
        };
        let how = match self.cause {
            EndCause::Itself => how,
            EndCause::Time => format!("its time was over ({how})"),
            EndCause::Stopped => format!("stopped ({how})"),
            EndCause::Memory => format!("out of memory: it used more than it asked for ({how})"),
            EndCause::Reclaimed => match self.stopped_for {
                Some(job) => format!("stopped for job {job}, waits again ({how})"),
                None => format!("stopped for others, waits again ({how})"),
            },
        };
        match &self.problem {
            Some(problem) => format!("{how}: {problem}"),
            None => how,
        }
    }
}
