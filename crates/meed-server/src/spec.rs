//! What a user submits: a job as the server keeps it. It is durable before it is acknowledged.
//!
//! Nothing of it is believed: sizes are bounded here ([`Submission::check`]), amounts and queues
//! are checked by the world, and the socket says who the user is, never the text.

use serde::{Deserialize, Serialize};

use crate::session::SessionWish;
use crate::text::Bytes;

/// Most tasks of one job.
pub const MAX_TASKS: u32 = 1_000_000;
/// Most bytes of command and environment together: what the system itself takes by default.
pub const MAX_COMMAND: usize = 2 << 20;
/// Most bytes of a name.
pub const MAX_NAME: usize = 200;
/// Most jobs that one job can wait for.
pub const MAX_AFTER: usize = 1000;

/// A job, as its user describes it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Submission {
    /// What people call it; the command's first word unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it is called in lists where nobody has given it a name, if not after its command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<String>,
    /// The queue; `None`: the user's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<String>,
    /// The program and its arguments.
    #[schema(value_type = Vec<String>)]
    pub command: Vec<Bytes>,
    /// Its environment.
    #[serde(default)]
    #[schema(value_type = Vec<Vec<String>>)]
    pub env: Vec<(Bytes, Bytes)>,
    /// The folder in which it runs.
    #[schema(value_type = String)]
    pub folder: Bytes,
    /// Permission bits that its files do not get.
    pub umask: u32,
    /// Limits of the system, as the user has them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<SystemLimit>,
    /// What each task holds, by resource, as people write it: `cpu`, `memory`, `gpu`, ...
    #[serde(default)]
    pub demand: std::collections::BTreeMap<String, String>,
    /// Its tasks.
    #[serde(default)]
    pub tasks: TaskRange,
    /// Longest run time of a task, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<u64>,
    /// From SIGTERM to SIGKILL, in milliseconds; `None`: the server's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grace_ms: Option<u64>,
    /// Jobs that must have ended before this one may start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<After>,
    /// Its tasks start at one instant or not at all.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gang: bool,
    /// How often a task that fails is tried again.
    #[serde(default)]
    pub retries: u16,
    /// It waits until it is released.
    #[serde(default)]
    pub hold: bool,
    /// Where standard output goes; `None`: the server keeps it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub stdout: Option<Bytes>,
    /// Where standard error goes; `None`: with standard output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub stderr: Option<Bytes>,
    /// The memory that it asks for bounds its address space as well (`RLIMIT_AS`).
    #[serde(default)]
    pub bound_address_space: bool,
    /// Its user talks to it (`meed run`): it has one task, which ends with that connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionWish>,
}

/// Tasks: `count` of them, numbered `first`, `first + step`, ...
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskRange {
    /// How many.
    pub count: u32,
    /// The index of the first, as the task is told.
    #[serde(default)]
    pub first: u32,
    /// From one index to the next.
    #[serde(default = "one")]
    pub step: u32,
    /// How many may run at once; `None`: as many as there is room for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_once: Option<u32>,
}

fn one() -> u32 {
    1
}

impl Default for TaskRange {
    fn default() -> TaskRange {
        TaskRange { count: 1, first: 0, step: 1, at_once: None }
    }
}

impl TaskRange {
    /// The index of task number `task` of the job.
    pub fn index(&self, task: u32) -> u64 {
        u64::from(self.first) + u64::from(self.step) * u64::from(task)
    }

    /// The number of the task of that index.
    pub fn number(&self, index: u64) -> Option<u32> {
        let behind = index.checked_sub(u64::from(self.first))?;
        let number = u32::try_from(behind.checked_div(u64::from(self.step))?).ok()?;
        (number < self.count && self.index(number) == index).then_some(number)
    }

    /// Reads `0-99`, `1-9:2`, `5` or `0-99%8`, as Slurm writes arrays.
    ///
    /// ```
    /// use meed_server::spec::TaskRange;
    ///
    /// let tasks = TaskRange::parse("10-20:5%2")?;
    /// assert_eq!((tasks.count, tasks.index(2), tasks.at_once), (3, 20, Some(2)));
    /// assert!(TaskRange::parse("9-1").is_err());
    /// # Ok::<(), String>(())
    /// ```
    ///
    /// # Errors
    ///
    /// What is wrong, and what would be right.
    pub fn parse(text: &str) -> Result<TaskRange, String> {
        let wrong = || {
            format!("`{text}` is no array; write first-last, first-last:step or first-last%most")
        };
        let number = |text: &str| text.parse::<u32>().map_err(|_| wrong());
        let (range, at_once) = match text.split_once('%') {
            Some((range, most)) => (range, Some(number(most)?)),
            None => (text, None),
        };
        let (range, step) = match range.split_once(':') {
            Some((range, step)) => (range, number(step)?),
            None => (range, 1),
        };
        let (first, last) = match range.split_once('-') {
            Some((first, last)) => (number(first)?, number(last)?),
            None => (number(range)?, number(range)?),
        };
        if step == 0 || last < first || at_once == Some(0) {
            return Err(wrong());
        }
        let count = (last - first) / step;
        match count < MAX_TASKS {
            true => Ok(TaskRange { count: count + 1, first, step, at_once }),
            false => Err(format!("`{text}` has more than {MAX_TASKS} tasks")),
        }
    }
}

/// A job that must have ended before.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct After {
    /// Its number, or its name.
    pub job: String,
    /// Whether it may have failed; otherwise this job fails with it.
    #[serde(default)]
    pub even_if_failed: bool,
}

/// A limit of the system, as `ulimit` has it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SystemLimit {
    /// `core`, `nofile`, ...
    pub name: String,
    /// `None`: none.
    pub soft: Option<u64>,
    /// `None`: none.
    pub hard: Option<u64>,
}

impl Submission {
    /// What is wrong with it by itself.
    ///
    /// # Errors
    ///
    /// A sentence.
    pub fn check(&self) -> Result<(), String> {
        let program = self.command.first().filter(|program| !program.is_empty());
        if program.is_none() {
            return Err("a job needs a command; write it behind `--`".to_owned());
        }
        for name in self.name.iter().chain(&self.shown) {
            check_name(name)?;
        }
        if !self.folder.as_path().is_absolute() {
            let folder = self.folder.shown();
            return Err(format!("folder `{folder}` is not absolute; it must begin with `/`"));
        }
        for (what, path) in [("output", &self.stdout), ("error", &self.stderr)] {
            if path.as_ref().is_some_and(Bytes::is_empty) {
                return Err(format!("--{what} needs the name of a file"));
            }
        }
        if self.tasks.count == 0 || self.tasks.count > MAX_TASKS || self.tasks.step == 0 {
            let count = self.tasks.count;
            return Err(format!("{count} tasks; a job has at least 1 and at most {MAX_TASKS}"));
        }
        if self.tasks.at_once == Some(0) {
            return Err("at least one task at once is needed".to_owned());
        }
        if let Some(most) = self.tasks.at_once.filter(|&most| self.gang && most < self.tasks.count)
        {
            let count = self.tasks.count;
            return Err(format!(
                "a gang starts all its {count} tasks at once, and only {most} may run at once; \
                 leave out one of both"
            ));
        }
        let is_plain = self.tasks.count == 1 && self.stdout.is_none() && self.stderr.is_none();
        if self.session.is_some() && (!is_plain || self.retries > 0 || self.hold) {
            return Err(
                "a job that is talked to has one task without files for its output, is not \
                        tried again, and is not held"
                    .to_owned(),
            );
        }
        if self.time_ms == Some(0) {
            return Err("a time limit must be above zero".to_owned());
        }
        if self.umask > 0o777 {
            return Err(format!("umask {:o} is above 777", self.umask));
        }
        if self.after.len() > MAX_AFTER {
            return Err(format!("a job can wait for at most {MAX_AFTER} others"));
        }
        self.check_bytes()
    }

    fn check_bytes(&self) -> Result<(), String> {
        let env = || self.env.iter().flat_map(|(key, value)| [key, value]);
        let paths = self.stdout.iter().chain(&self.stderr).chain([&self.folder]);
        if self.command.iter().chain(env()).chain(paths).any(Bytes::has_zero) {
            return Err("a zero byte in command, environment or path; the system has none".into());
        }
        let wrong = |key: &Bytes| key.is_empty() || key.shown().contains('=');
        if let Some((key, _)) = self.env.iter().find(|(key, _)| wrong(key)) {
            return Err(format!("`{}` is no name of a variable", key.shown()));
        }
        let bytes: usize = self.command.iter().chain(env()).map(|text| text.len() + 1).sum();
        match bytes > MAX_COMMAND {
            true => Err(format!(
                "command and environment have {bytes} bytes; at most {MAX_COMMAND} are possible"
            )),
            false => Ok(()),
        }
    }

    /// What people call it.
    pub fn shown_name(&self) -> String {
        if let Some(name) = self.name.as_ref().or(self.shown.as_ref()) {
            return name.clone();
        }
        let program = self.command.first().map(|program| program.as_path());
        let base = program.and_then(|path| path.file_name()).unwrap_or_default();
        base.to_string_lossy().chars().take(MAX_NAME / 4).collect()
    }
}

/// A name can be told from a number, and takes one line.
fn check_name(name: &str) -> Result<(), String> {
    let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
    if name.is_empty() || is_number || name.len() > MAX_NAME || name.contains(char::is_control) {
        return Err(format!(
            "`{}` is no name for a job; write 1 to {MAX_NAME} bytes that are not a number alone",
            meed_config::text::clean(&name.chars().take(60).collect::<String>())
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> Submission {
        serde_json::from_str(r#"{"command":["true"],"folder":"/","umask":18}"#).unwrap()
    }

    #[test]
    fn arrays_are_read_as_slurm_writes_them() {
        for (text, count, last, at_once) in [
            ("0-99", 100, 99, None),
            ("0-99%8", 100, 99, Some(8)),
            ("1-10:3", 4, 10, None),
            ("7", 1, 7, None),
        ] {
            let tasks = TaskRange::parse(text).unwrap();
            assert_eq!((tasks.count, tasks.at_once), (count, at_once), "{text}");
            assert_eq!(tasks.index(tasks.count - 1), last, "{text}");
            assert_eq!(tasks.number(last), Some(tasks.count - 1), "{text}");
            assert_eq!(tasks.number(last + 1), None, "{text}");
        }
        for text in ["", "a", "3-1", "0-9%0", "0-9:0", "0-4294967295", "-1", "1-2-3"] {
            assert!(TaskRange::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_the_system_could_not_run_is_refused() {
        assert_eq!(spec().check(), Ok(()));
        let wrong = |change: fn(&mut Submission), word: &str| {
            let mut spec = spec();
            change(&mut spec);
            let why = spec.check().unwrap_err();
            assert!(why.contains(word), "{why}");
        };
        wrong(|spec| spec.command.clear(), "needs a command");
        wrong(|spec| spec.command = vec!["a\0b".into()], "zero byte");
        wrong(|spec| spec.folder = "here".into(), "not absolute");
        wrong(|spec| spec.name = Some("17".into()), "no name");
        wrong(|spec| spec.name = Some("a\nb".into()), "no name");
        wrong(|spec| spec.env = vec![("A=B".into(), "x".into())], "no name of a variable");
        wrong(|spec| spec.command.push("x".repeat(MAX_COMMAND).into()), "at most");
        wrong(|spec| spec.tasks.count = 0, "at least 1");
        wrong(|spec| spec.umask = 0o1000, "umask");
    }
}
