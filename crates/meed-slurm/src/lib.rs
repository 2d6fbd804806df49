//! Meed for Slurm: the world of one cluster, and the program `meed-slurm`, which `meed slurm` runs.
//!
//! Slurm stays as it is. The program reads jobs, associations and nodes, keeps a ledger of who has
//! used what, puts the jobs that wait in the order of a policy of Meed, and writes that order as
//! site factors (`scontrol update SiteFactor=`), which Slurm adds to priorities.
//!
//! | part | what |
//! |---|---|
//! | `read` | what Slurm's commands print, as facts; pure |
//! | `tree`, `bands` | associations as a tree of queues; who is first or last whatever was used |
//! | `suspended` | whether suspended time is charged |
//! | `snapshot` | all that a round knows |
//! | `world` | snapshots as events of the driver, and whose turn it is |
//! | `spread` | an order as site factors, with few changes |
//! | `slurm` | the edge: commands with time limits |
//! | `due` | when what is asked of Slurm |
//! | `looker` | a round |
//! | `dry`, `metrics` | what a round tells people and programs |
//! | `reasons` | Slurm's reasons in words |
//! | `run`, `people`, `top`, `reset` | what the program does |

mod bands;
mod clock;
mod dry;
mod due;
mod error;
mod looker;
mod metrics;
mod out;
mod people;
mod place;
mod policy;
mod read;
mod reasons;
mod reset;
mod run;
mod slurm;
mod snapshot;
mod spread;
mod suspended;
mod top;
mod tree;
mod tres;
mod world;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use error::ProgramError;
use out::Out;

const EXIT_CODES: &str = "\
Exit codes: 0 done; 2 wrong command line; 3 wrong policy or argument; 4 a file cannot be read or \
written, or another instance holds the state; 5 it could not go on; 6 Slurm does not answer.";

/// Long-term fairness on a running Slurm.
#[derive(Parser)]
#[command(name = "meed-slurm", bin_name = "meed slurm", version, after_help = EXIT_CODES,
    max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Keeps the ledger and sets the order, until a signal; a dry run without --apply.
    Run(Box<run::RunArgs>),
    /// Shows who is owed what, and whose turn is next.
    Queues(people::QueuesArgs),
    /// Says why a job waits, in Meed's words beside Slurm's reason.
    Why(people::WhyArgs),
    /// Shows queues and the first jobs of the order again and again.
    Top(top::TopArgs),
    /// Sets all site factors to 0, so that Slurm orders as without Meed.
    Reset(place::StateArgs),
    /// Writes the pages of the manual.
    #[command(hide = true)]
    Man {
        /// The folder, which must be there.
        folder: PathBuf,
    },
}

/// Runs the program with the arguments of this process; its exit code.
#[expect(clippy::print_stderr, reason = "the program's own complaint")]
pub fn main() -> ExitCode {
    clap_complete::CompleteEnv::with_factory(within_meed).var("MEED_COMPLETE").complete();
    // A journal beyond `ulimit -f` is an error of the write, and not the end of the program. Where
    // the signal cannot be taken the system ends the program as before.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default());
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(why) => why.exit(),
    };
    let mut out = Out::new(Box::new(std::io::stdout()));
    let done = match cli.command {
        Command::Run(args) => run::run(&args, &mut out),
        Command::Queues(args) => people::queues(&args, &mut out),
        Command::Why(args) => people::why(&args, &mut out),
        Command::Top(args) => top::top(&args, &mut out),
        Command::Reset(place) => reset::reset(&place, &mut out),
        Command::Man { folder } => manual(&folder),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("meed slurm: {}", meed_config::text::clean(&why.to_string()));
            why.code()
        }
    }
}

/// The command line as a shell has it: `meed slurm ...`.
fn within_meed() -> clap::Command {
    clap::Command::new("meed").subcommand(Cli::command().name("slurm"))
}

/// A page for each command, named as commands of `meed slurm`.
fn manual(folder: &Path) -> Result<(), ProgramError> {
    let mut command = Cli::command().name("meed-slurm");
    command.build();
    let failed = |why: std::io::Error| ProgramError::File(format!("{}: {why}", folder.display()));
    clap_mangen::Man::new(command.clone()).generate_to(folder).map_err(failed)?;
    let pages = command.get_subcommands().filter(|command| !command.is_hide_set());
    for page in pages.filter(|page| page.get_name() != "help") {
        clap_mangen::Man::new(page.clone()).generate_to(folder).map_err(failed)?;
    }
    Ok(())
}
