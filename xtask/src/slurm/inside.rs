//! A network namespace of its own: Slurm's daemons listen on all addresses, whatever is configured
//! for the loopback interface.

use std::process::Command;

use crate::tools::{runs, succeed};

/// Whether this process is in the namespace.
const INSIDE: &str = "MEED_SLURM_INSIDE";

pub(super) fn is_inside() -> bool {
    std::env::var_os(INSIDE).is_some()
}

/// What a namespace lacks here.
pub(super) fn missing() -> Option<String> {
    let tries = Command::new("unshare").args(["--net", "ip", "link", "set", "lo", "up"]).status();
    match tries {
        Ok(status) if status.success() => None,
        _ if runs("ip", "-V") => Some("no network namespace may be made here".to_owned()),
        _ => Some("there is no `ip` (iproute2) for a network namespace".to_owned()),
    }
}

/// An address besides 127.0.0.1 (of those for examples): where there is none, slurmdbd finds no
/// address to listen on, and ends.
const SET_UP: &str = "ip link set lo up && ip addr add 192.0.2.1/32 dev lo && \
                      exec \"$0\" slurm \"$@\"";

/// Runs these stories in the namespace.
pub(super) fn run_again(args: impl Iterator<Item = String>) -> Result<(), String> {
    let own = std::env::current_exe().map_err(|why| why.to_string())?;
    let mut again = Command::new("unshare");
    again.args(["--net", "bash", "-c", SET_UP]);
    again.arg(own).args(args).env(INSIDE, "1");
    succeed(&mut again, "the stories on Slurm")
}
