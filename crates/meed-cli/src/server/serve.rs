//! `meed serve`.

use std::path::PathBuf;

use clap::Args;
use meed_server::service::{Options, ServeError, serve};
use meed_server::settings::SettingsError;

use crate::exit::Failure;
use crate::output::remark;

pub(crate) const EXAMPLES: &str = "\
Examples:
  meed serve
  meed serve /etc/meed/meed.toml
  meed serve --state /srv/meed --socket /run/meed/lab.sock";

#[derive(Args)]
pub(crate) struct ServeArgs {
    /// Configuration (TOML, docs/server.md). Without one: the machine as it is, and one queue for
    /// each user.
    config: Option<PathBuf>,
    /// The folder of the server's state. Default: /var/lib/meed for root, else
    /// ~/.local/state/meed.
    #[arg(long, value_name = "FOLDER")]
    state: Option<PathBuf>,
    /// The socket. Default: /run/meed/meed.sock for root, else below $XDG_RUNTIME_DIR.
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
}

pub(crate) fn run(args: &ServeArgs) -> Result<(), Failure> {
    let ServeArgs { config, state, socket } = args;
    let (config, state, socket) = (config.clone(), state.clone(), socket.clone());
    serve(&Options { config, state, socket }, &|words| remark(words)).map_err(|error| {
        let sentence = error.to_string();
        match error {
            ServeError::Settings(SettingsError::Wrong(_)) => Failure::Input(sentence),
            ServeError::World(_) => Failure::Run(sentence),
            _ => Failure::File(sentence),
        }
    })
}
