//! `meed init`: a file to begin with.

use std::path::PathBuf;

use clap::Args;

use crate::exit::Failure;
use crate::output::{guard, print};

pub(crate) const EXAMPLES: &str = "\
Examples:
  meed init                        # scenario.toml, for meed simulate
  meed init --server meed.toml     # a configuration, for meed serve";

const SCENARIO: &str = include_str!("init/scenario.toml");
const SERVER: &str = include_str!("init/server.toml");

#[derive(Args)]
pub(crate) struct InitArgs {
    /// The file, which must not be there yet. Default: scenario.toml; with --server meed.toml.
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// A configuration of `meed serve`, instead of a scenario.
    #[arg(long)]
    server: bool,
}

pub(crate) fn run(args: &InitArgs) -> Result<(), Failure> {
    let (usual, text, next) = match args.server {
        true => ("meed.toml", SERVER, "meed serve"),
        false => ("scenario.toml", SCENARIO, "meed simulate"),
    };
    let file = args.file.clone().unwrap_or_else(|| usual.into());
    if file.symlink_metadata().is_ok() {
        let what = format!("{}: is there already; name another file", file.display());
        return Err(Failure::Usage(what));
    }
    guard(&[("FILE", Some(&file))], &[])?.write_text(&file, text)?;
    print(&format!("{}: change it, then {next} {0}\n", file.display()))
}
