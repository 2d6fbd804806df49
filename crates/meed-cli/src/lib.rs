//! The command line of `meed`: a thin shell around the crates that do the work.
//!
//! [`main`] is the program. The public modules are what the programs beside `meed` share with it
//! (`meed-server`, `meed-papers`) and with the module for Python: how such a program runs, how a
//! command fails, where results go, the line of progress; what `--cluster` and `--weights` change
//! of a scenario, and an explanation in words.

mod advise;
mod allocate;
mod args;
mod baseline;
mod bench;
mod bench_csv;
mod bench_mapreduce;
pub mod beside;
mod check;
pub mod cluster;
pub mod columns;
pub mod exit;
pub mod explain;
mod explain_all;
mod explain_words;
mod groups;
mod init;
mod json;
mod log_file;
pub mod made;
mod many;
mod named;
pub mod output;
pub mod programs;
mod replay;
mod rivals;
mod simulate;
pub mod site;
mod sweep;
mod trace;
pub mod watch;
pub mod weights;

use std::ffi::OsString;
use std::process::ExitCode;

use args::{Cli, Command};
use clap::FromArgMatches;
use exit::Failure;
use programs::COMPLETE;

/// Runs the program with the arguments of this process; its exit code.
pub fn main() -> ExitCode {
    if std::env::var_os(COMPLETE).is_some() {
        complete_beside();
        clap_complete::CompleteEnv::with_factory(groups::plain).var(COMPLETE).complete();
    }
    output::refuse_large_files_by_an_error();
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let done = match programs::beside(&words) {
        Some((program, arguments)) => program.run(&arguments),
        None => parse().map_err(|error| exit::of_command_line(&error)).and_then(run),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

/// The command line, with help in groups.
fn parse() -> Result<Cli, clap::Error> {
    let matches = groups::command().try_get_matches()?;
    Cli::from_arg_matches(&matches)
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
        Command::Allocate(args) => allocate::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Completions { shell } => completions(shell),
        Command::Man { folder } => manual(&folder),
    }
}

/// The manual, made from the same words as `--help`.
fn manual(folder: &std::path::Path) -> Result<(), Failure> {
    let failed = |why: std::io::Error| Failure::File(format!("{}: {why}", folder.display()));
    std::fs::create_dir_all(folder).map_err(failed)?;
    clap_mangen::generate_to(groups::plain(), folder).map_err(failed)?;
    programs::manual(folder)
}

/// Has the program that takes a command line answer what may come next in that command line.
fn complete_beside() {
    if let Some(program) = programs::completes(std::env::args_os()) {
        let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
        // Without that program nothing is offered.
        drop(program.run(&arguments));
    }
}

/// A script by which the shell asks this program, so that it knows a server's jobs and queues.
fn completions(shell: clap_complete::Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    let shells = clap_complete::env::Shells::builtins();
    if let Some(known) = shells.completer(&shell.to_string()) {
        known
            .write_registration(COMPLETE, "meed", "meed", "meed", &mut script)
            .map_err(|why| Failure::Run(format!("no script for {shell}: {why}")))?;
    }
    output::print_data(&String::from_utf8_lossy(&script))
}
