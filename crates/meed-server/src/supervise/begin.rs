//! How a command begins: a process that becomes it. It takes on the user, the limits and the folder
//! that the ticket names, then runs the command in its place.
//!
//! Its order matters. The control group is entered, and limits and processors are set, while it
//! still has the server's rights; folder and output files are opened by the user's rights alone;
//! the user's environment takes effect with the command. A problem is left in the task's folder,
//! and said where the task's errors go.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use rustix::fs::Mode;
use rustix::process::{Pid, Resource, Rlimit, Signal};
use rustix::thread::CpuSet;

use crate::group::ControlGroup;
use crate::run::{Account, TaskFolder, Ticket};
use crate::text::Bytes;

/// The hidden command; its arguments are the task's folder and the supervisor's number.
pub const COMMAND: &str = "__begin";

/// As shells have it: the command is not there.
const NOT_FOUND: i32 = 127;
/// The command is there and cannot be run, or its folder or files cannot be opened.
const CANNOT: i32 = 126;

/// Becomes the command. It comes back only where that fails: with the exit status.
pub fn run(folder: &Path, supervisor: &str) -> i32 {
    let folder = TaskFolder::at(folder);
    let Ok(mut problem) = folder.problem_file() else { return CANNOT };
    let (status, why) = match prepare(&folder, supervisor) {
        Ok(ticket) => exec(&ticket),
        Err(why) => (CANNOT, why),
    };
    let _ = problem.write_all(why.as_bytes());
    let _ = writeln!(io::stderr(), "meed: {why}");
    status
}

fn prepare(folder: &TaskFolder, supervisor: &str) -> Result<Ticket, String> {
    let ticket = folder.ticket().map_err(|why| why.to_string())?;
    if ticket.has_terminal() {
        take_terminal().map_err(|why| format!("cannot take its terminal: {why}"))?;
    }
    rustix::process::umask(Mode::from_raw_mode(ticket.umask & 0o777));
    if let Some(group) = &ticket.group {
        let entered = ControlGroup::at(group.as_path()).enter();
        entered.map_err(|why| format!("cannot enter its control group: {why}"))?;
    }
    for limit in &ticket.limits {
        lower(&limit.name, limit.soft, limit.hard)?;
    }
    if !ticket.processors.is_empty() {
        let mut set = CpuSet::new();
        ticket.processors.iter().for_each(|&number| set.set(number as usize));
        // Processors may have been taken away from this machine: then it runs where it can.
        let _ = rustix::thread::sched_setaffinity(None, &set);
    }
    if let Some(account) = &ticket.account {
        become_user(account).map_err(|why| format!("cannot become user {}: {why}", account.uid))?;
    }
    // Changing the user clears it, so it comes after that.
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|why| format!("cannot be tied to its supervisor: {why}"))?;
    let parent = rustix::process::getppid().map(Pid::as_raw_nonzero).map(|pid| pid.to_string());
    if parent.as_deref() != Some(supervisor) {
        return Err("its supervisor is gone".to_owned());
    }
    enter(&ticket.folder)?;
    if let Some(path) = &ticket.stdout {
        let file = output(path)?;
        rustix::stdio::dup2_stdout(&file).map_err(|why| why.to_string())?;
        if ticket.stderr.is_none() {
            rustix::stdio::dup2_stderr(&file).map_err(|why| why.to_string())?;
        }
    }
    if let Some(path) = &ticket.stderr {
        rustix::stdio::dup2_stderr(output(path)?).map_err(|why| why.to_string())?;
    }
    Ok(ticket)
}

/// The terminal of its input is its own: keys of it send signals to its groups, and its end
/// SIGHUP.
fn take_terminal() -> rustix::io::Result<()> {
    rustix::process::setsid()?;
    rustix::process::ioctl_tiocsctty(rustix::stdio::stdin())
}

fn enter(folder: &Bytes) -> Result<(), String> {
    let wrong = |why| format!("cannot enter the folder {}: {why}", folder.shown());
    std::env::set_current_dir(folder.as_path()).map_err(wrong)
}

fn output(path: &Bytes) -> Result<File, String> {
    let wrong = |why| format!("cannot write to {}: {why}", path.shown());
    OpenOptions::new().append(true).create(true).open(path.as_path()).map_err(wrong)
}

fn exec(ticket: &Ticket) -> (i32, String) {
    let Some((program, arguments)) = ticket.command.split_first() else {
        return (CANNOT, "there is no command".to_owned());
    };
    let mut command = Command::new(program.as_os());
    command.args(arguments.iter().map(Bytes::as_os)).env_clear();
    command.envs(ticket.env.iter().map(|(key, value)| (key.as_os(), value.as_os())));
    command.env(Ticket::COOKIE, &ticket.cookie);
    let error = command.exec();
    let is_missing = error.kind() == io::ErrorKind::NotFound;
    let status = if is_missing { NOT_FOUND } else { CANNOT };
    (status, format!("cannot run {}: {error}", program.shown()))
}

/// All of a user, and nothing of the server: groups first, for afterwards nobody may.
fn become_user(account: &Account) -> nix::Result<()> {
    use nix::unistd::{Gid, Uid, setgroups, setresgid, setresuid};
    let groups: Vec<Gid> = account.groups.iter().map(|&group| Gid::from_raw(group)).collect();
    let (uid, gid) = (Uid::from_raw(account.uid), Gid::from_raw(account.gid));
    setgroups(&groups)?;
    setresgid(gid, gid, gid)?;
    setresuid(uid, uid, uid)
}

/// What the system calls `ulimit`'s names.
pub const LIMITS: &[(&str, Resource)] = &[
    ("as", Resource::As),
    ("core", Resource::Core),
    ("cpu", Resource::Cpu),
    ("data", Resource::Data),
    ("fsize", Resource::Fsize),
    ("memlock", Resource::Memlock),
    ("nofile", Resource::Nofile),
    ("nproc", Resource::Nproc),
    ("stack", Resource::Stack),
];

/// A user's word cannot raise what the server itself is bound by.
fn lower(name: &str, soft: Option<u64>, hard: Option<u64>) -> Result<(), String> {
    let known = LIMITS.iter().find(|(known, _)| *known == name);
    let Some(&(_, resource)) = known else { return Err(format!("`{name}` is no limit")) };
    let ours = rustix::process::getrlimit(resource);
    let least = |a: Option<u64>, b: Option<u64>| match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    };
    let maximum = least(hard, ours.maximum);
    let limit = Rlimit { current: least(soft, maximum), maximum };
    rustix::process::setrlimit(resource, limit).map_err(|why| format!("limit `{name}`: {why}"))
}
