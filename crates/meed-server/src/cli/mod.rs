//! The command line of `meed-server`: commands of `meed` for a server on this machine
//! (docs/server.md). Thin: they ask, and show the answer.
//!
//! `queues`, `why` and `top` may mean another world: [`whom`] finds out which. A Kubernetes cluster
//! is asked by the program `meed-kubernetes`, a YARN cluster by [`yarn`].

mod batch;
mod check;
mod complete;
mod get;
mod jobs;
mod logs;
mod queues;
mod run;
mod serve;
mod submit;
mod table;
mod talk;
mod token;
mod top;
mod whom;
mod work;
mod yarn;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use meed_cli::beside;
use meed_cli::exit::{EXIT_CODES, Failure};
use meed_cli::output::print_data;
use serde::Serialize;

use crate::client::{AskError, Client};
use crate::protocol::{JobQuery, RefusalKind, Request, SCHEMA};
use crate::supervise;

/// Shares one machine, and asks servers and clusters.
#[derive(Parser)]
#[command(name = "meed-server", bin_name = "meed", version, after_help = EXIT_CODES,
    max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serves this machine to all who share it: takes jobs, and runs them in fair turns.
    #[command(after_help = format!("{}\n\n{EXIT_CODES}", serve::EXAMPLES))]
    Serve(serve::ServeArgs),
    /// Hands a command to the server, which runs it when its turn has come.
    #[command(after_help = format!("{}\n\n{EXIT_CODES}", submit::EXAMPLES))]
    Submit(Box<submit::SubmitArgs>),
    /// Runs a command here and now, as soon as its turn has come: with this terminal, or input and
    /// outputs.
    #[command(after_help = format!("{}\n\n{}", run::EXAMPLES, run::CODES))]
    Run(Box<run::RunArgs>),
    /// Joins the session of a job of `meed run`, or follows a job's output.
    #[command(after_help = format!("Examples:\n  meed attach 17\n\n{EXIT_CODES}"))]
    Attach(run::AttachArgs),
    /// Lists jobs, the newest first.
    #[command(after_help = format!("Examples:\n  meed jobs\n  meed jobs --all\n  meed jobs --ended \
        --json\n\n{EXIT_CODES}"))]
    Jobs(jobs::JobsArgs),
    /// Shows a job and its tasks.
    #[command(after_help = format!("Examples:\n  meed show 17\n  meed show training\n\n\
        {EXIT_CODES}"))]
    Show(JobArgs),
    /// Prints what a job's tasks have written.
    #[command(after_help = format!("Examples:\n  meed logs 17\n  meed logs -f training\n  meed \
        logs 17 --task 3\n\n{EXIT_CODES}"))]
    Logs(logs::LogsArgs),
    /// Cancels jobs: what runs of them is stopped.
    #[command(after_help = format!("Examples:\n  meed cancel 17 18\n\n{EXIT_CODES}"))]
    Cancel(ManyArgs),
    /// Holds jobs that have not begun.
    #[command(after_help = format!("Examples:\n  meed hold 17\n\n{EXIT_CODES}"))]
    Hold(ManyArgs),
    /// Lets held jobs go on.
    #[command(after_help = format!("Examples:\n  meed release 17\n\n{EXIT_CODES}"))]
    Release(ManyArgs),
    /// Waits until jobs have ended; the exit code says whether all ended well.
    #[command(after_help = format!("Examples:\n  meed wait 17 && echo done\n\n{EXIT_CODES}"))]
    Wait(ManyArgs),
    /// Shows how the queues of this machine, of a Kubernetes cluster or of Slurm (--slurm) stand:
    /// share, held, used, balance, and who is served next.
    #[command(after_help = format!("{}\n\n{EXIT_CODES}", queues::EXAMPLES))]
    Queues(queues::QueuesArgs),
    /// Shows the machine, a Kubernetes cluster or Slurm (--slurm), its queues and all jobs again
    /// and again, as a view that fills the terminal; q leaves it.
    #[command(after_help = format!("{}\n\n{EXIT_CODES}", top::EXAMPLES))]
    Top(top::TopArgs),
    /// Says why a job waits, a pod of a Kubernetes cluster, an application of a YARN cluster, or
    /// with --slurm a job of Slurm.
    #[command(override_usage = queues::WHY_USAGE,
        after_help = format!("{}\n\n{EXIT_CODES}", queues::WHY_EXAMPLES))]
    Why(queues::WhyArgs),
    /// Has the server read its configuration again.
    #[command(after_help = format!("Examples:\n  meed reload\n\n{EXIT_CODES}"))]
    Reload(AskArgs),
    /// Makes, lists and revokes tokens for the HTTP interface.
    #[command(subcommand, after_help = format!("{}\n\n{EXIT_CODES}", token::EXAMPLES))]
    Token(token::TokenCommand),
    /// Prints a link that signs a browser in to the dashboard, once.
    #[command(after_help = format!("Examples:\n  meed dashboard\n  xdg-open \"$(meed \
        dashboard)\"\n\n{EXIT_CODES}"))]
    Dashboard(AskArgs),
    /// Asks the HTTP interface for a path, and prints the answer.
    #[command(after_help = format!("{}\n\n{EXIT_CODES}", get::EXAMPLES))]
    Get(get::GetArgs),
    /// Says whether a configuration is right: `meed check` asks.
    #[command(hide = true)]
    Check {
        /// The configuration.
        file: PathBuf,
    },
    /// Writes the pages of the manual for the other commands: `meed man` asks.
    #[command(hide = true)]
    Man {
        /// The folder, which must be there.
        folder: PathBuf,
    },
}

/// Runs the program `meed-server` with the arguments of this process; its exit code.
pub fn main() -> ExitCode {
    hidden().unwrap_or_else(|| beside::main(run))
}

/// Which server is meant.
#[derive(Args)]
pub(crate) struct SocketArgs {
    /// The server's socket. Default: $MEED_SOCKET, this user's server, the machine's.
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
}

impl SocketArgs {
    fn connect(&self) -> Result<Client, AskError> {
        Client::connect(self.socket.as_deref())
    }
}

/// How the server is asked.
#[derive(Args)]
pub(crate) struct AskArgs {
    #[command(flatten)]
    server: SocketArgs,
    /// Prints the answer as JSON (docs/server.md).
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub(crate) struct JobArgs {
    /// The job: its number, or its name (your newest of that name).
    #[arg(add = complete::all_jobs())]
    job: String,
    #[command(flatten)]
    ask: AskArgs,
}

#[derive(Args)]
pub(crate) struct ManyArgs {
    /// The jobs: their numbers, or their names (your newest of that name).
    #[arg(required = true, add = complete::open_jobs())]
    jobs: Vec<String>,
    #[command(flatten)]
    ask: AskArgs,
}

/// Commands that are the program's own business: they are not shown, and read no command line.
fn hidden() -> Option<ExitCode> {
    let mut args = std::env::args_os().skip(1);
    let command = args.next()?;
    let folder = || args.next().map(PathBuf::from);
    let mut folder = folder;
    if command == supervise::COMMAND {
        let done = supervise::run(Path::new(&folder()?));
        return Some(if done.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    if command == supervise::begin::COMMAND {
        let folder = folder()?;
        let supervisor = std::env::args().nth(3)?;
        let status = supervise::begin::run(&folder, &supervisor);
        return Some(ExitCode::from(u8::try_from(status).unwrap_or(u8::MAX)));
    }
    if command == crate::books::check::COMMAND {
        return Some(ExitCode::from(crate::books::check::run(Path::new(&folder()?))));
    }
    None
}

fn run(cli: Cli) -> Result<(), Failure> {
    match cli.command {
        Command::Serve(args) => serve::run(&args),
        Command::Submit(args) => submit::run(*args),
        Command::Run(args) => run::run(&args),
        Command::Attach(args) => run::attach(&args),
        Command::Jobs(args) => jobs::list(&args),
        Command::Show(args) => jobs::show(&args),
        Command::Logs(args) => logs::run(&args),
        Command::Cancel(args) => jobs::change(&args, Request::Cancel),
        Command::Hold(args) => jobs::change(&args, Request::Hold),
        Command::Release(args) => jobs::change(&args, Request::Release),
        Command::Wait(args) => jobs::wait(&args),
        Command::Queues(args) => queues::list(&args),
        Command::Top(args) => top::run(&args),
        Command::Why(args) => queues::why(&args),
        Command::Token(command) => token::run(&command),
        Command::Dashboard(args) => token::dashboard(&args),
        Command::Get(args) => get::run(&args),
        Command::Check { file } => check::run(&file),
        Command::Man { folder } => beside::manual::<Cli>(&folder),
        Command::Reload(args) => {
            let answer = args.connect()?.ask(&Request::Reload {})?;
            if args.json { print_json(&answer) } else { Ok(()) }
        }
    }
}

impl AskArgs {
    fn connect(&self) -> Result<Client, Failure> {
        Ok(self.server.connect()?)
    }
}

fn query(job: &str) -> JobQuery {
    JobQuery { job: job.to_owned(), from: 0 }
}

/// An answer with the version of its form.
#[derive(Serialize)]
struct Versioned<'a, T> {
    schema: u32,
    #[serde(flatten)]
    answer: &'a T,
}

fn print_json(answer: &impl Serialize) -> Result<(), Failure> {
    let answer = Versioned { schema: SCHEMA, answer };
    let text = serde_json::to_string(&answer).expect("answers are objects, and keys are text");
    print_data(&(text + "\n"))
}

impl From<AskError> for Failure {
    fn from(error: AskError) -> Failure {
        let sentence = error.to_string();
        match error {
            AskError::Refused(refusal) => match refusal.kind {
                RefusalKind::Unknown => Failure::Usage(sentence),
                RefusalKind::Malformed | RefusalKind::Wrong | RefusalKind::Limit => {
                    Failure::Input(sentence)
                }
                RefusalKind::Forbidden => Failure::Forbidden(sentence),
                RefusalKind::Failed => Failure::Run(sentence),
            },
            _ => Failure::NoServer(sentence),
        }
    }
}

#[cfg(test)]
mod tests {
    use meed_cli::{beside, programs::SERVER};

    use super::Cli;

    #[test]
    fn meed_knows_the_commands_by_the_same_words() {
        let known = SERVER.commands().map(|(name, about)| (name.to_owned(), about.to_owned()));
        assert_eq!(beside::commands::<Cli>(), known.collect::<Vec<_>>());
    }
}
