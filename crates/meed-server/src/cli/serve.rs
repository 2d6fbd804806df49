//! `meed serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use meed_cli::exit::Failure;
use meed_cli::output::remark;

use crate::service::{Options, ServeError, serve};
use crate::settings::SettingsError;

pub(crate) const EXAMPLES: &str = "\
Examples:
  meed serve
  meed serve /etc/meed/meed.toml
  meed serve --http 127.0.0.1:7433
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
    /// Offers the HTTP interface and the dashboard at this address (docs/http.md). Default: what
    /// the configuration says; without that they are off.
    #[arg(long, value_name = "ADDRESS:PORT")]
    http: Option<SocketAddr>,
}

pub(crate) fn run(args: &ServeArgs) -> Result<(), Failure> {
    let ServeArgs { config, state, socket, http } = args;
    let (config, state, socket) = (config.clone(), state.clone(), socket.clone());
    serve(&Options { config, state, socket, http: *http }, &|words| remark(words)).map_err(
        |error| {
            let sentence = error.to_string();
            match error {
                ServeError::Settings(SettingsError::Wrong(_)) => Failure::Input(sentence),
                ServeError::World(_) => Failure::Run(sentence),
                _ => Failure::File(sentence),
            }
        },
    )
}
