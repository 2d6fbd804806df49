//! The command line of `meed`: a thin shell around the crates that do the work.
//!
//! [`main`] is the program. The public modules are what the programs beside `meed` share with it
//! (`meed-papers`): how a command fails, where results go, the line of progress.

mod advise;
mod allocate;
mod args;
mod bench;
mod bench_csv;
mod bench_mapreduce;
mod check;
mod columns;
pub mod exit;
mod explain;
mod explain_all;
mod explain_words;
mod groups;
mod init;
mod log_file;
pub mod made;
mod many;
mod named;
pub mod output;
mod programs;
mod replay;
mod rivals;
#[cfg(target_os = "linux")]
mod server;
mod simulate;
mod sweep;
mod trace;
pub mod watch;
mod weights;
#[cfg(target_os = "linux")]
mod yarn;

use std::ffi::OsString;
use std::process::ExitCode;

use args::{Cli, Command};
use clap::{CommandFactory, FromArgMatches};
use exit::Failure;
use programs::{KUBERNETES, PAPERS, SLURM};

/// Runs the program with the arguments of this process; its exit code.
pub fn main() -> ExitCode {
    #[cfg(target_os = "linux")]
    if let Some(code) = server::hidden() {
        return code;
    }
    #[cfg(target_os = "linux")]
    if std::env::var_os(server::complete::VARIABLE).is_some() {
        complete_beside();
        complete().complete();
    }
    refuse_large_files_by_an_error();
    if let Some(failure) = help_beside() {
        return failure.report();
    }
    match parse().map_err(|error| exit::of_command_line(&error)).and_then(run) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

/// Commands that `meed-papers` runs.
const PAPERS_COMMANDS: [&str; 2] = ["reproduce", "audit"];

/// `meed help COMMAND` of a command that another program runs is that program's own help; what
/// went wrong with that.
fn help_beside() -> Option<Failure> {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let [help, command] = words.as_slice() else { return None };
    let command = command.to_str().filter(|_| help == "help")?;
    match command {
        "kubernetes" => KUBERNETES.run(&["--help"]).err(),
        "slurm" => SLURM.run(&["--help"]).err(),
        _ if PAPERS_COMMANDS.contains(&command) => PAPERS.run(&[command, "--help"]).err(),
        _ => None,
    }
}

/// The command line, with help in groups.
fn parse() -> Result<Cli, clap::Error> {
    let matches = groups::command().try_get_matches()?;
    Cli::from_arg_matches(&matches)
}

/// A file that grows beyond the limit of its owner (`ulimit -f`) ends the program with SIGXFSZ
/// unless somebody takes the signal; then the write fails like any other, and is told.
fn refuse_large_files_by_an_error() {
    #[cfg(unix)]
    {
        let taken = std::sync::Arc::default();
        // Where it cannot be taken the system ends the program as before.
        let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, taken);
    }
}

fn run(cli: Cli) -> Result<(), Failure> {
    match cli.command {
        Command::Simulate(args) => simulate::run(&args),
        Command::Advise(args) => advise::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Init(args) => init::run(&args),
        Command::Sweep(args) => sweep::run(&args),
        Command::Rivals(args) => rivals::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Trace(command) => trace::run(&command),
        Command::Reproduce { arguments } => PAPERS.run(&with("reproduce", arguments)),
        Command::Allocate(args) => allocate::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Audit { arguments } => PAPERS.run(&with("audit", arguments)),
        Command::Kubernetes { arguments } => KUBERNETES.run(&arguments),
        Command::Slurm { arguments } => SLURM.run(&arguments),
        #[cfg(target_os = "linux")]
        Command::Server(command) => server::run(command),
        Command::Completions { shell } => completions(shell),
        Command::Man { folder } => manual(&folder),
    }
}

/// The command line of a program that has this command among others.
fn with(command: &str, arguments: Vec<OsString>) -> Vec<OsString> {
    std::iter::once(command.into()).chain(arguments).collect()
}

/// The manual, made from the same words as `--help`.
fn manual(folder: &std::path::Path) -> Result<(), Failure> {
    let failed = |why: std::io::Error| Failure::File(format!("{}: {why}", folder.display()));
    std::fs::create_dir_all(folder).map_err(failed)?;
    clap_mangen::generate_to(Cli::command(), folder).map_err(failed)?;
    // The pages of commands that another program runs are that program's own.
    let mut beside = [PAPERS, SLURM].into_iter().filter(programs::Program::is_there);
    beside.try_for_each(|program| program.ask(&["man".into(), folder.into()]).map(drop))
}

/// Has the program that takes a command line answer what may come next in that command line.
#[cfg(target_os = "linux")]
fn complete_beside() {
    // The shell gives: this program, `--`, and the words so far, the first of which is `meed`.
    let command = std::env::args().skip_while(|word| word != "--").nth(2);
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    // Without that program nothing is offered.
    match command.as_deref() {
        Some("slurm") => drop(SLURM.run(&arguments)),
        Some(command) if PAPERS_COMMANDS.contains(&command) => drop(PAPERS.run(&arguments)),
        _ => {}
    }
}

/// Answers shells that ask what may come next.
#[cfg(target_os = "linux")]
fn complete() -> clap_complete::CompleteEnv<'static, fn() -> clap::Command> {
    let cli: fn() -> clap::Command = Cli::command;
    clap_complete::CompleteEnv::with_factory(cli).var(server::complete::VARIABLE)
}

/// A script by which the shell asks this program, so that it knows the server's jobs and queues.
#[cfg(target_os = "linux")]
fn completions(shell: clap_complete::Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    let variable = server::complete::VARIABLE;
    let shells = clap_complete::env::Shells::builtins();
    if let Some(known) = shells.completer(&shell.to_string()) {
        known
            .write_registration(variable, "meed", "meed", "meed", &mut script)
            .map_err(|why| Failure::Run(format!("no script for {shell}: {why}")))?;
    }
    output::print_data(&String::from_utf8_lossy(&script))
}

/// A script that knows the commands and options.
#[cfg(not(target_os = "linux"))]
fn completions(shell: clap_complete::Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "meed", &mut script);
    output::print_data(&String::from_utf8_lossy(&script))
}
