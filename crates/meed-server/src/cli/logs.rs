//! `meed logs`. The files belong to the job's user, so this reads them itself, by this user's
//! rights: the server reads nobody's files. With `--json` each line is an object, as soon as it is
//! whole; what is behind the last line feed is one when its task has ended.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::FileTypeExt;
use std::time::Duration;

use clap::Args;
use meed_cli::exit::Failure;
use serde::Serialize;

use super::{AskArgs, print_json, query};
use crate::client::Client;
use crate::protocol::{JobQuery, Request, Shown, TaskView};
use crate::text::Bytes;

#[derive(Args)]
pub(crate) struct LogsArgs {
    /// The job: its number, or its name (your newest of that name).
    #[arg(add = super::complete::all_jobs())]
    job: String,
    /// Only the task with this index. Default: all tasks, in order.
    #[arg(long, value_name = "INDEX")]
    task: Option<u64>,
    /// Goes on until the task has ended.
    #[arg(long, short)]
    follow: bool,
    #[command(flatten)]
    ask: AskArgs,
}

/// How often is looked for more.
const LOOK: Duration = Duration::from_millis(200);

pub(crate) fn run(args: &LogsArgs) -> Result<(), Failure> {
    let mut client = args.ask.connect()?;
    let which = Which { job: &args.job, task: args.task, follow: args.follow, json: args.ask.json };
    print_all(&which, &mut client)
}

/// What all tasks of a job write, until it has ended.
pub(super) fn follow(client: &mut Client, job: &str, json: bool) -> Result<(), Failure> {
    print_all(&Which { job, task: None, follow: true, json }, client)
}

/// Which output.
struct Which<'a> {
    job: &'a str,
    task: Option<u64>,
    follow: bool,
    json: bool,
}

fn print_all(args: &Which<'_>, client: &mut Client) -> Result<(), Failure> {
    let mut ask = |from| {
        let query = JobQuery { from, ..query(args.job) };
        client.ask_for::<Shown>(&Request::Show(query)).map_err(Failure::from)
    };
    let mut shown = ask(0)?;
    let mut from = 0;
    loop {
        let only = |task: &TaskView| args.task.is_none_or(|index| task.index == index);
        let tasks: Vec<(u32, TaskView)> =
            shown.task.into_iter().filter(|(_, task)| only(task)).collect();
        let follows = args.follow && !shown.job.state.is_over();
        if tasks.is_empty() && follows {
            std::thread::sleep(LOOK);
            shown = ask(from)?;
            continue;
        }
        for (number, task) in &tasks {
            let as_lines = args.json.then(|| Lines::of(shown.job.id, task.index));
            if as_lines.is_none() && shown.job.tasks > 1 && args.task.is_none() {
                write(format!("==> task {} <==\n", task.index).as_bytes())?;
            }
            print_file(task, as_lines, || {
                let now = ask(*number)?;
                let runs = now.task.get(number).is_some_and(|task| task.running);
                Ok(args.follow && (runs || !is_over(&now, *number)))
            })?;
        }
        let Some(more) = shown.more else { return Ok(()) };
        from = more;
        shown = ask(from)?;
    }
}

/// Nothing of the task comes any more.
fn is_over(shown: &Shown, number: u32) -> bool {
    let ended = shown.task.get(&number).is_some_and(|task| task.ended.is_some() && !task.running);
    shown.job.state.is_over() || ended
}

/// Output as JSON, line by line.
struct Lines {
    job: u64,
    task: u64,
    /// Of the line that is not whole yet.
    begun: Vec<u8>,
}

/// A line of output. What is no text is a list of bytes.
#[derive(Serialize)]
struct Line {
    job: u64,
    task: u64,
    line: Bytes,
}

impl Lines {
    fn of(job: u64, task: u64) -> Lines {
        Lines { job, task, begun: Vec::new() }
    }

    fn print(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        for piece in bytes.split_inclusive(|&byte| byte == b'\n') {
            self.begun.extend_from_slice(piece);
            if self.begun.pop_if(|byte| *byte == b'\n').is_some() {
                self.end_line()?;
            }
        }
        Ok(())
    }

    fn end_line(&mut self) -> Result<(), Failure> {
        let line = OsString::from_vec(std::mem::take(&mut self.begun)).into();
        print_json(&Line { job: self.job, task: self.task, line })
    }

    fn end(&mut self) -> Result<(), Failure> {
        if self.begun.is_empty() { Ok(()) } else { self.end_line() }
    }
}

fn print_file(
    task: &TaskView,
    mut as_lines: Option<Lines>,
    mut goes_on: impl FnMut() -> Result<bool, Failure>,
) -> Result<(), Failure> {
    let mut file = None;
    loop {
        // Asked before it is read: what was written until then is read below.
        let again = goes_on()?;
        if file.is_none() {
            file = open(&task.log)?;
        }
        if let Some(file) = &mut file {
            let mut bytes = vec![0; 1 << 16];
            loop {
                match file.read(&mut bytes) {
                    Ok(0) => break,
                    Ok(count) => match &mut as_lines {
                        Some(lines) => lines.print(&bytes[..count])?,
                        None => write(&bytes[..count])?,
                    },
                    Err(error) => return Err(Failure::File(format!("{}: {error}", task.log))),
                }
            }
        }
        if !again {
            return as_lines.as_mut().map_or(Ok(()), Lines::end);
        }
        std::thread::sleep(LOOK);
    }
}

/// The output, once it is there. A pipe keeps nothing, and to open it would wait for a writer.
fn open(path: &str) -> Result<Option<File>, Failure> {
    let unreadable = |error| Failure::File(format!("{path}: cannot be read: {error}"));
    let kind = match std::fs::metadata(path) {
        Ok(found) => found.file_type(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(error)),
    };
    let what = match kind {
        kind if kind.is_fifo() => "a named pipe (FIFO)",
        kind if kind.is_char_device() || kind.is_block_device() => "a device",
        kind if kind.is_dir() => "a folder",
        _ => return File::open(path).map(Some).map_err(unreadable),
    };
    Err(Failure::File(format!(
        "{path}: this is {what}, which keeps no output; `meed logs` reads regular files: give \
         --output or --error the name of one"
    )))
}

/// As it was written: it is the user's own.
fn write(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Err(Failure::Silent),
        Err(error) => Err(Failure::File(format!("cannot write to standard output: {error}"))),
    }
}
