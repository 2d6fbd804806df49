//! The supervisor: a small process for each task, which outlives the server.
//!
//! | step | what |
//! |---|---|
//! | 1 | takes the claim of the task's folder, or leaves it to whoever has it |
//! | 2 | begins the command through a step of its own (`begin`), in a process group of its own |
//! | 3 | passes on its output (`relay`), to who talks to it as well (`session`), and waits: SIGTERM to it, or the end of the task's time, ends the group: SIGTERM, after a grace SIGKILL. `stop.json` says whether its room is taken back for another, and by what grace |
//! | 4 | when the first process is gone it kills what that has left behind: descendants that leave their parents come to it, and nobody leaves the control group |
//! | 5 | leaves the result, durably |
//!
//! Invariants: a result says that nothing of the task runs any more; without a claim nothing
//! begins. It has one thread, for the parent-death signal of its child is tied to that.

pub mod begin;
mod family;
mod relay;
mod session;

use std::fs::{File, OpenOptions};
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};

use crate::clock::{Moment, boot_id, boot_us};
use crate::group::{ControlGroup, DeviceFilter};
use crate::run::{Began, EndCause, How, TaskEnd, TaskFolder, Ticket};
use crate::session::Frame;
use relay::Relay;
use session::Session;

/// The hidden command that is a supervisor; its argument is the task's folder.
pub const COMMAND: &str = "__supervise";

/// How often what will not die is killed again.
const AGAIN_US: u64 = 20_000;

/// Runs the task of `folder` to its end.
///
/// # Errors
///
/// The system's, before the task has begun; afterwards a result is left whatever happens.
pub fn run(folder: &Path) -> io::Result<()> {
    let folder = TaskFolder::at(folder);
    let ticket = folder.ticket()?;
    let signals = Signals::take()?;
    // A terminal's signals are the server's; a supervisor has no terminal.
    let _ = rustix::process::setsid();
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let Some(claim) = folder.claim()? else { return Ok(()) };
    let (ended, session) = match Supervisor::begin(&folder, &ticket, &signals) {
        Ok(supervisor) => supervisor.wait(),
        Err(error) => (never(error.to_string())?, None),
    };
    let status = ended.status();
    let problem = ended.problem.or_else(|| folder.problem());
    leave(&folder, &TaskEnd { problem, ..ended });
    session.into_iter().for_each(|session| session.close(status));
    drop(claim);
    Ok(())
}

/// A full disk is waited for: until the result is there the task counts as running, and is not
/// begun again.
fn leave(folder: &TaskFolder, ended: &TaskEnd) {
    while let Err(error) = folder.write_ended(ended) {
        if error.kind() == io::ErrorKind::NotFound {
            // The folder is gone: nobody wants to know.
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
}

fn never(problem: String) -> io::Result<TaskEnd> {
    Ok(TaskEnd {
        began: None,
        at: Moment::now(),
        boot: boot_id()?,
        how: How::Never,
        cause: EndCause::Itself,
        stopped_for: None,
        problem: Some(problem),
        cpu_us: 0,
        peak_bytes: 0,
    })
}

/// Signals as bytes in a pipe: waiting for them and for time is one call.
struct Signals {
    stop: UnixStream,
    child: UnixStream,
}

impl Signals {
    fn take() -> io::Result<Signals> {
        let taken = |signals: &[i32]| {
            let (reader, writer) = UnixStream::pair()?;
            reader.set_nonblocking(true)?;
            for &signal in signals {
                signal_hook::low_level::pipe::register(signal, writer.try_clone()?)?;
            }
            Ok::<_, io::Error>(reader)
        };
        let hung_up = std::sync::Arc::default();
        signal_hook::flag::register(SIGHUP, hung_up)?;
        Ok(Signals { stop: taken(&[SIGTERM, SIGINT])?, child: taken(&[SIGCHLD])? })
    }

    /// Until something comes, at these other ends as well, or so many microseconds have passed.
    /// Whether the task is to stop.
    fn wait<'s>(&'s self, micros: Option<u64>, mut ends: Vec<PollFd<'s>>) -> bool {
        let timeout = micros.map(|micros| Timespec {
            tv_sec: i64::try_from(micros / 1_000_000).unwrap_or(i64::MAX),
            tv_nsec: i64::try_from(micros % 1_000_000 * 1000).unwrap_or(0),
        });
        let own = [self.stop.as_fd(), self.child.as_fd()];
        ends.extend(own.map(|end| PollFd::from_borrowed_fd(end, PollFlags::IN)));
        // An interruption is a signal, whose byte is read below.
        let _ = poll(&mut ends, timeout.as_ref());
        drain(&self.child);
        drain(&self.stop)
    }
}

/// Whether there was something.
fn drain(end: &UnixStream) -> bool {
    let mut bytes = [0; 64];
    let mut some = false;
    while let Ok(1..) = io::Read::read(&mut &*end, &mut bytes) {
        some = true;
    }
    some
}

struct Supervisor<'t> {
    folder: &'t TaskFolder,
    ticket: &'t Ticket,
    signals: &'t Signals,
    group: Option<ControlGroup>,
    /// What keeps it from GPUs that it does not hold, as long as this is here.
    _filter: Option<DeviceFilter>,
    output: Relay,
    /// Standard error, where it is told apart.
    errors: Option<Relay>,
    /// Who talks to it, where that is wanted.
    session: Option<Session>,
    /// The first process; its group has its number.
    process: Pid,
    began: Moment,
    boot: String,
    status: Option<WaitStatus>,
    cause: EndCause,
    /// The job for which it is stopped.
    stopped_for: Option<u64>,
    /// When SIGKILL follows.
    kill_at: Option<u64>,
}

impl<'t> Supervisor<'t> {
    fn begin(
        folder: &'t TaskFolder,
        ticket: &'t Ticket,
        signals: &'t Signals,
    ) -> io::Result<Supervisor<'t>> {
        let boot = boot_id()?;
        let log = log_file(ticket)?;
        let (session, theirs, ours) = match &ticket.session {
            Some(wish) => {
                let (session, theirs, ours) = Session::open(wish, ticket)?;
                (Some(session), theirs, ours)
            }
            None => {
                let (theirs, ours) = session::plain(ticket)?;
                (None, theirs, ours)
            }
        };
        let errors = ours.errors.map(|from| Relay::new(from, log.try_clone()?, ticket.max_output));
        let errors = errors.transpose()?;
        let output = Relay::new(ours.output, log, ticket.max_output)?;
        let group = ticket.group.as_ref().map(|path| ControlGroup::at(path.as_path()));
        let filter = group.as_ref().filter(|_| !ticket.closed.is_empty());
        let filter = filter.map(|group| DeviceFilter::attach(group.path(), &ticket.closed));
        let filter = filter.transpose().map_err(|why| {
            io::Error::other(format!("it cannot be kept from GPUs of others: {why}"))
        })?;
        let began = Moment::now();
        let mut command = Command::new("/proc/self/exe");
        command.arg0("meed").arg(begin::COMMAND).arg(folder.path());
        command.arg(std::process::id().to_string());
        // What it begins in is the server's: the user's environment comes when the user does.
        command.env_clear().env(Ticket::COOKIE, &ticket.cookie);
        // Who has a terminal leads a session of its own, and so a group; a group's leader cannot.
        if !ticket.has_terminal() {
            command.process_group(0);
        }
        command.stdin(theirs.input).stdout(theirs.output).stderr(theirs.errors);
        let child = command.spawn()?;
        // Its ends are the task's alone from now on.
        drop(command);
        let process = Pid::from_child(&child);
        let supervisor = rustix::process::getpid().as_raw_nonzero().get();
        let number = process.as_raw_nonzero().get();
        let told = Began { supervisor, process: number, boot: boot.clone(), at: began };
        // Without it the task runs as well; only who asks does not hear since when.
        let _ = folder.write_began(&told);
        let (status, cause, kill_at) = (None, EndCause::Itself, None);
        Ok(Supervisor {
            folder,
            ticket,
            signals,
            group,
            _filter: filter,
            output,
            errors,
            session,
            process,
            began,
            boot,
            status,
            cause,
            stopped_for: None,
            kill_at,
        })
    }

    /// Until nothing of it runs. How it ended, and who is to be told.
    fn wait(mut self) -> (TaskEnd, Option<Session>) {
        let limit_us = self.ticket.time_ms.map(|millis| millis.saturating_mul(1000));
        let over_at = limit_us.map(|limit| self.began.boot_us.saturating_add(limit));
        loop {
            let some_left = self.reap();
            let now = boot_us();
            if self.status.is_some() {
                let is_over = !some_left && self.group.as_ref().is_none_or(ControlGroup::is_empty);
                if is_over && self.session.as_ref().is_none_or(|it| it.next_us().is_none()) {
                    break;
                }
                self.kill_at = None;
                if !is_over {
                    self.kill_all();
                    self.kill_at = Some(now + AGAIN_US);
                }
            } else if over_at.is_some_and(|over| now >= over) {
                self.end(EndCause::Time, self.ticket.grace_ms, now);
            }
            if self.kill_at.is_some_and(|kill| now >= kill) {
                self.kill_all();
                self.kill_at = Some(now + AGAIN_US);
            }
            let over_at = over_at.filter(|_| self.cause == EndCause::Itself);
            let session = self.session.as_ref().and_then(Session::next_us);
            let next = self.kill_at.into_iter().chain(over_at).chain(session).min();
            let next = next.map(|next| next.saturating_sub(now).max(1));
            if self.signals.wait(next, self.ends()) {
                self.asked_to_end();
            }
            self.talk();
        }
        let Supervisor { output, errors, session, .. } = &mut self;
        output.finish(&mut |bytes| hear(session, Frame::Output, bytes));
        if let Some(errors) = errors {
            errors.finish(&mut |bytes| hear(session, Frame::Errors, bytes));
        }
        let session = self.session.take();
        (self.ended(), session)
    }

    /// What is waited for besides signals.
    fn ends(&self) -> Vec<PollFd<'_>> {
        let mut ends = Vec::new();
        if self.session.as_ref().is_none_or(Session::takes_output) {
            let outputs = self.output.pipe().into_iter();
            let outputs = outputs.chain(self.errors.as_ref().and_then(Relay::pipe));
            ends.extend(outputs.map(|end| PollFd::new(end, PollFlags::IN)));
        }
        self.session.iter().for_each(|session| session.ends(&mut ends));
        ends
    }

    /// Output goes out, and input comes in.
    fn talk(&mut self) {
        let Supervisor { output, errors, session, .. } = self;
        if session.as_ref().is_none_or(Session::takes_output) {
            output.pass(&mut |bytes| hear(session, Frame::Output, bytes));
            if let Some(errors) = errors {
                errors.pass(&mut |bytes| hear(session, Frame::Errors, bytes));
            }
        }
        let Some(session) = session else { return };
        let signals = session.turn();
        let has_gone = session.owner_has_gone();
        for signal in signals.into_iter().filter_map(|signal| Signal::from_named_raw(signal.into()))
        {
            let _ = rustix::process::kill_process_group(self.process, signal);
        }
        if has_gone && self.status.is_none() && self.kill_at.is_none() {
            // As a terminal that is gone tells it; who does not hear is killed.
            let grace_us = self.ticket.grace_ms.saturating_mul(1000);
            self.kill_at = Some(boot_us().saturating_add(grace_us));
            self.hang_up();
        }
    }

    fn hang_up(&self) {
        let _ = rustix::process::kill_process_group(self.process, Signal::HUP);
        let _ = rustix::process::kill_process_group(self.process, Signal::CONT);
    }

    /// The server, or somebody else, wants it to end.
    fn asked_to_end(&mut self) {
        match self.folder.stop_order() {
            Ok(Some(order)) => {
                self.stopped_for = order.winner;
                self.end(EndCause::Reclaimed, order.grace_ms, boot_us());
            }
            // An order that cannot be read is one to stop.
            _ => self.end(EndCause::Stopped, self.ticket.grace_ms, boot_us()),
        }
    }

    /// Asks the group to end, once.
    fn end(&mut self, cause: EndCause, grace_ms: u64, now: u64) {
        if self.cause == EndCause::Itself && self.status.is_none() {
            self.cause = cause;
            self.kill_at = Some(now.saturating_add(grace_ms.saturating_mul(1000)));
            let _ = rustix::process::kill_process_group(self.process, Signal::TERM);
            // A shell at a terminal hears nothing of SIGTERM.
            if self.ticket.has_terminal() {
                let _ = rustix::process::kill_process_group(self.process, Signal::HUP);
            }
            // A stopped process hears nothing.
            let _ = rustix::process::kill_process_group(self.process, Signal::CONT);
        }
    }

    fn kill_all(&self) {
        family::kill_all();
        self.group.iter().for_each(ControlGroup::kill_once);
    }

    /// Whether the kernel has killed it for its memory.
    fn was_out_of_memory(&self) -> bool {
        let killed = self.status.and_then(|status| status.terminating_signal()) == Some(9);
        let of_group = || self.group.as_ref().is_some_and(|group| group.out_of_memory() > 0);
        self.cause == EndCause::Itself && killed && of_group()
    }

    /// Takes note of who has died; whether any child is left.
    fn reap(&mut self) -> bool {
        loop {
            match rustix::process::wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid == self.process => self.status = Some(status),
                Ok(Some(_)) => {}
                Ok(None) => return true,
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return false,
            }
        }
    }

    fn ended(self) -> TaskEnd {
        let how = match self.status {
            Some(status) => match (status.exit_status(), status.terminating_signal()) {
                (Some(code), _) => How::Exit(code),
                (_, Some(signal)) => How::Signal(signal),
                _ => How::Never,
            },
            None => How::Never,
        };
        let cause = if self.was_out_of_memory() { EndCause::Memory } else { self.cause };
        let (cpu_us, peak_bytes) = used();
        let of_all = self.group.as_ref().and_then(ControlGroup::peak_bytes);
        TaskEnd {
            began: Some(self.began),
            at: Moment::now(),
            boot: self.boot,
            how,
            cause,
            stopped_for: self.stopped_for.filter(|_| self.cause == EndCause::Reclaimed),
            problem: None,
            cpu_us,
            peak_bytes: of_all.unwrap_or(peak_bytes),
        }
    }
}

/// Tells who talks to a task what the task has written.
fn hear(session: &mut Option<Session>, frame: fn(Vec<u8>) -> Frame, bytes: &[u8]) {
    session.iter_mut().for_each(|session| session.tell(frame, bytes));
}

/// The pipe that takes the output. Its user may open it again by its name in `/proc` or `/dev`.
fn output_pipe(ticket: &Ticket) -> io::Result<(PipeReader, PipeWriter)> {
    let (reader, writer) = io::pipe()?;
    if let Some(account) = &ticket.account {
        std::os::unix::fs::fchown(&writer, Some(account.uid), Some(account.gid))?;
    }
    Ok((reader, writer))
}

/// Time of processors and the highest memory of all descendants that were waited for.
fn used() -> (u64, u64) {
    use nix::sys::resource::{UsageWho, getrusage};
    let Ok(usage) = getrusage(UsageWho::RUSAGE_CHILDREN) else { return (0, 0) };
    let micros = |time: nix::sys::time::TimeVal| {
        let whole = u64::try_from(time.tv_sec()).unwrap_or(0);
        whole * 1_000_000 + u64::try_from(time.tv_usec()).unwrap_or(0)
    };
    let kilobytes = u64::try_from(usage.max_rss()).unwrap_or(0);
    (micros(usage.user_time()) + micros(usage.system_time()), kilobytes << 10)
}

/// The file that takes the output. Its folder belongs to the server: nobody else can put a link
/// there. The user may read and write what the task has written.
fn log_file(ticket: &Ticket) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o600);
    options.custom_flags(rustix::fs::OFlags::NOFOLLOW.bits() as i32);
    let path = ticket.log.as_path();
    let named = |error: io::Error| {
        io::Error::new(error.kind(), format!("{}: cannot be opened: {error}", path.display()))
    };
    let file = options.open(path).map_err(named)?;
    if let Some(account) = &ticket.account {
        std::os::unix::fs::fchown(&file, Some(account.uid), Some(account.gid)).map_err(named)?;
    }
    Ok(file)
}
