//! What the papers claim, checked: the program `meed-papers`, which `meed reproduce` and
//! `meed audit` run.
//!
//! | module | question |
//! |---|---|
//! | [`reproduce`] | Do the papers' tables and figures come out? |
//! | [`audit`] | Which properties of the papers' Table 2 hold, under which policy? |
//!
//! A check decides nothing and measures nothing itself: it makes scenarios, lets `meed-sim` run
//! them on all cores, reads the records, and says what they show.

pub mod audit;
mod audit_command;
pub mod reproduce;
mod reproduce_command;
#[cfg(test)]
mod thorough;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use meed_cli::exit::{EXIT_CODES, Failure};
use meed_experiments::cores;

/// Checks the papers on which Meed rests.
#[derive(Parser)]
#[command(name = "meed-papers", bin_name = "meed", version, after_help = EXIT_CODES,
    max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measures the papers' tables and figures and sets them beside what was printed.
    #[command(after_help = format!("{}\n\n{EXIT_CODES}", reproduce_command::EXAMPLES))]
    Reproduce(reproduce_command::ReproduceArgs),
    /// Searches for counterexamples to the fairness properties of the papers, under each policy.
    #[command(after_help = format!("{}\n\n{EXIT_CODES}", audit_command::EXAMPLES))]
    Audit(audit_command::AuditArgs),
    /// Writes the pages of the manual for the other commands.
    #[command(hide = true)]
    Man {
        /// The folder, which must be there.
        folder: PathBuf,
    },
}

/// Runs the program with the arguments of this process; its exit code.
pub fn main() -> ExitCode {
    meed_cli::beside::main(run)
}

fn run(cli: Cli) -> Result<(), Failure> {
    match cli.command {
        Command::Reproduce(args) => reproduce_command::run(&args),
        Command::Audit(args) => audit_command::run(&args),
        Command::Man { folder } => meed_cli::beside::manual::<Cli>(&folder),
    }
}

#[cfg(test)]
mod tests {
    use meed_cli::{beside, programs::PAPERS};

    use super::Cli;

    #[test]
    fn meed_knows_the_commands_by_the_same_words() {
        let known = PAPERS.commands().map(|(name, about)| (name.to_owned(), about.to_owned()));
        assert_eq!(beside::commands::<Cli>(), known.collect::<Vec<_>>());
    }
}
