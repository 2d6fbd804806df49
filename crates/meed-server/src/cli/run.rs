//! `meed run` and `meed attach`: a job that its user talks to.

use std::ffi::OsString;
use std::io::{IsTerminal, Write, stderr, stdin, stdout};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use clap::Args;
use meed_cli::exit::Failure;
use meed_cli::output::remark;
use serde_json::Value;

use super::talk::{Talk, Told, window};
use super::work::WorkArgs;
use super::{SocketArgs, query};
use crate::client::{AskError, Client};
use crate::protocol::{JobView, Request, Shown, Submitted};
use crate::run::EndCause;
use crate::session::SessionWish;

pub(crate) const EXAMPLES: &str = "\
Examples:
  meed run -g 1 --time 2h -- bash
  meed run --cpu 4 -- python
  meed run -- ./count.sh < input > output";

/// The exit code of `meed run`.
pub(crate) const CODES: &str = "Exit codes: that of the command, 128 and the number of the signal \
    that ended it; those of other commands where it did not begin.";

#[derive(Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    work: WorkArgs,
    /// The command has a terminal. Default: if this is one.
    #[arg(long, conflicts_with = "no_pty")]
    pty: bool,
    /// The command has none: its input and outputs are those of this command.
    #[arg(long)]
    no_pty: bool,
    #[command(flatten)]
    server: SocketArgs,
    /// The command and its arguments.
    #[arg(trailing_var_arg = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

#[derive(Args)]
pub(crate) struct AttachArgs {
    /// The job: its number, or its name (your newest of that name).
    #[arg(add = super::complete::open_jobs())]
    job: String,
    #[command(flatten)]
    ask: super::AskArgs,
}

/// How often is looked whether it has begun.
const LOOK: Duration = Duration::from_millis(100);
/// How often is asked why it waits, in looks.
const LOOKS: u32 = 20;
/// How long a server is waited for that is started again, in looks.
const MOST_LOOKS: u32 = 600;

pub(crate) fn run(args: &RunArgs) -> Result<(), Failure> {
    let terminal = args.pty || (!args.no_pty && stdin().is_terminal() && stdout().is_terminal());
    let mut spec = args.work.spec(&args.command).map_err(Failure::Usage)?;
    let (rows, columns) = window().unwrap_or((24, 80));
    spec.session = Some(SessionWish { terminal, rows, columns });
    let mut client = args.server.connect()?;
    let Submitted { job, .. } = client.ask_for(&Request::Submit(spec))?;
    let mut asking = Asking { args, client, job };
    asking.tie()?;
    let stream = asking.until_it_begins()?;
    let talk = Talk { is_owner: true, has_terminal: terminal, can_leave: false };
    match talk.over(stream)? {
        Told::Ended(status) => {
            // Its end is the server's to note before this connection goes, with which it ends.
            let _ = asking.client.ask_for::<JobView>(&Request::Wait(query(&job.to_string())));
            asking.say_who_ended_it();
            Err(Failure::Status(status))
        }
        Told::Left => Err(Failure::Job(format!("job {job}: its session was left; it ends"))),
        Told::Lost => Err(Failure::Job(format!("job {job}: its session is lost; it ends"))),
    }
}

/// A job that was submitted, and the server.
struct Asking<'a> {
    args: &'a RunArgs,
    client: Client,
    job: u64,
}

impl Asking<'_> {
    /// The job ends with this connection.
    fn tie(&mut self) -> Result<(), Failure> {
        let _: JobView = self.client.ask_for(&Request::Tie(query(&self.job.to_string())))?;
        Ok(())
    }

    /// An answer, also where the server is started again meanwhile.
    fn ask<T: serde::de::DeserializeOwned>(&mut self, request: &Request) -> Result<T, Failure> {
        match self.client.ask_for(request) {
            Err(AskError::Gone) => {}
            done => return Ok(done?),
        }
        remark("the server has gone; it is waited for");
        for _ in 0..MOST_LOOKS {
            if let Ok(client) = self.args.server.connect() {
                self.client = client;
                self.tie()?;
                return Ok(self.client.ask_for(request)?);
            }
            std::thread::sleep(LOOK);
        }
        Err(AskError::Gone.into())
    }

    /// Why it ended, where that was not its own doing.
    fn say_who_ended_it(&mut self) {
        let shown = self.client.ask_for::<Shown>(&Request::Show(query(&self.job.to_string())));
        let Ok(shown) = shown else { return };
        for task in shown.task.values() {
            if let Some(end) = task.ended.as_ref().filter(|end| end.cause != EndCause::Itself) {
                remark(&format!("job {}: {}", self.job, end.words()));
            }
        }
    }

    fn until_it_begins(&mut self) -> Result<UnixStream, Failure> {
        let (job, mut line) = (self.job.to_string(), WaitLine::default());
        for look in 0_u32.. {
            let shown: Shown = self.ask(&Request::Show(query(&job)))?;
            if let Some(stream) = session_of(&shown) {
                line.clear();
                return Ok(stream);
            }
            if shown.job.state.is_over() {
                line.clear();
                return Err(never_began(&shown));
            }
            if look % LOOKS == 2 && shown.job.running == 0 {
                let why: Value = self.ask(&Request::Why(query(&job)))?;
                line.show(&format!("job {job} waits: {}", super::queues::waiting_words(&why)));
            }
            std::thread::sleep(LOOK);
        }
        Err(AskError::Gone.into())
    }
}

/// The session of the first task that has one.
fn session_of(shown: &Shown) -> Option<UnixStream> {
    let paths = shown.task.values().filter_map(|task| task.session.as_deref());
    paths.filter_map(|path| UnixStream::connect(path).ok()).next()
}

fn never_began(shown: &Shown) -> Failure {
    let mut ends = shown.task.values().rev().filter_map(|task| task.words.clone());
    let why = shown.job.why.clone().or_else(|| ends.next());
    let why = why.map(|why| format!(": {why}")).unwrap_or_default();
    Failure::Job(format!("job {} is {}{why}", shown.job.id, shown.job.state.word()))
}

/// A line that is told anew in its own place where it changes, if this is a terminal.
#[derive(Default)]
struct WaitLine {
    shown: String,
}

impl WaitLine {
    fn show(&mut self, words: &str) {
        // Where it is kept it is told once: how long it may take changes all the time.
        if self.shown == words || (!stderr().is_terminal() && !self.shown.is_empty()) {
            return;
        }
        if stderr().is_terminal() {
            let words = meed_config::text::clean(words);
            let _ = write!(stderr(), "\r\x1b[Kmeed: {words}");
        } else {
            remark(words);
        }
        self.shown = words.to_owned();
    }

    fn clear(&mut self) {
        if stderr().is_terminal() && !self.shown.is_empty() {
            let _ = write!(stderr(), "\r\x1b[K");
        }
        self.shown.clear();
    }
}

pub(crate) fn attach(args: &AttachArgs) -> Result<(), Failure> {
    let mut client = args.ask.connect()?;
    let shown: Shown = client.ask_for(&Request::Show(query(&args.job)))?;
    let id = shown.job.id;
    if let Some(wish) = shown.spec.session.filter(|_| !shown.job.state.is_over()) {
        let Some(stream) = session_of(&shown) else {
            return Err(Failure::Input(format!(
                "job {id} has not begun; `meed why {id}` says why"
            )));
        };
        if wish.terminal && stdin().is_terminal() {
            remark("Ctrl-] leaves");
        }
        let talk = Talk { is_owner: false, has_terminal: wish.terminal, can_leave: true };
        return match talk.over(stream)? {
            Told::Ended(status) => Err(Failure::Status(status)),
            Told::Left | Told::Lost => Ok(()),
        };
    }
    if shown.job.state.is_over() {
        let state = shown.job.state.word();
        return Err(Failure::Input(format!(
            "job {id} is {state}; `meed logs {id}` has its output"
        )));
    }
    remark(&format!("job {id} is not talked to (`meed run`); its output follows"));
    super::logs::follow(&mut client, &id.to_string(), args.ask.json)
}
