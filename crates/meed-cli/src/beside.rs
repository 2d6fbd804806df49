//! How a program beside `meed` runs that takes commands of `meed` as its own.

use std::path::Path;
use std::process::ExitCode;

use clap::{Command, CommandFactory, Parser};

use crate::exit::{Failure, of_command_line};
use crate::output::refuse_large_files_by_an_error;
use crate::programs::COMPLETE;

/// Reads the arguments of this process as `C`, whose `bin_name` is `meed`, and runs them; the exit
/// code. Answers a shell that asks what may come next.
pub fn main<C: Parser>(run: impl FnOnce(C) -> Result<(), Failure>) -> ExitCode {
    clap_complete::CompleteEnv::with_factory(C::command).var(COMPLETE).complete();
    refuse_large_files_by_an_error();
    match C::try_parse().map_err(|error| of_command_line(&error)).and_then(run) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

/// Writes a page of the manual for each command of `C` that help lists, named as a command of
/// `meed`, for `meed` runs it. The folder must be there.
///
/// # Errors
///
/// A page that cannot be written ([`Failure::File`]).
pub fn manual<C: CommandFactory>(folder: &Path) -> Result<(), Failure> {
    let mut command = C::command().name("meed");
    command.build();
    pages(&command, folder).map_err(|why| Failure::File(format!("{}: {why}", folder.display())))
}

fn pages(command: &Command, folder: &Path) -> std::io::Result<()> {
    let listed = |command: &&Command| !command.is_hide_set() && command.get_name() != "help";
    command.get_subcommands().filter(listed).try_for_each(|command| {
        clap_mangen::Man::new(command.clone()).generate_to(folder)?;
        pages(command, folder)
    })
}

/// The commands of `C` that its own help lists, each with what it says of them. They are those that
/// `meed` knows of the program ([`crate::programs::Program::commands`]).
pub fn commands<C: CommandFactory>() -> Vec<(String, String)> {
    let command = C::command();
    let listed = command.get_subcommands().filter(|command| !command.is_hide_set());
    let about = |command: &Command| {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        (command.get_name().to_owned(), about)
    };
    listed.map(about).collect()
}
