//! A network namespace of its own: Slurm's daemons listen on all addresses, whatever is configured
//! for the loopback interface.

use std::process::Command;

use super::release::Release;
use crate::tools::{root, runs, succeed, target_folder};

/// Whether this process is in the namespace: the name of the release, or 1.
const INSIDE: &str = "MEED_SLURM_INSIDE";

pub(super) fn is_inside() -> bool {
    std::env::var_os(INSIDE).is_some()
}

/// The release in whose folder this process is.
pub(super) fn release() -> Option<String> {
    std::env::var(INSIDE).ok().filter(|name| name != "1")
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
const SET_UP: &str = "ip link set lo up && ip addr add 192.0.2.1/32 dev lo";

/// The folder is a root with the kernel's files, and with the folders of this project where they
/// are outside. All of it is seen here alone, and goes with the last process.
const ENTER: &str = "\
mount --bind $FOLDER $FOLDER && cp /etc/hosts $FOLDER/etc/hosts &&
mount -t proc proc $FOLDER/proc && mount --rbind /dev $FOLDER/dev &&
for shared in $SHARED; do
    mkdir -p $FOLDER$shared && mount --bind $shared $FOLDER$shared || exit 1
done";

/// Runs these stories in the namespace, with the Slurm that is here or with that of a release.
pub(super) fn run_again(
    args: impl Iterator<Item = String>,
    release: Option<&Release>,
) -> Result<(), String> {
    let own = std::env::current_exe().map_err(|why| why.to_string())?;
    let mut again = Command::new("unshare");
    let name = release.map_or("1", Release::name);
    let line = match release {
        None => format!("{SET_UP} && exec \"$0\" slurm \"$@\""),
        Some(release) => {
            let shared = [root(), target_folder()];
            again.env("FOLDER", release.folder());
            again.env("SHARED", shared.map(|folder| folder.display().to_string()).join(" "));
            format!("{SET_UP} && {ENTER} && exec chroot $FOLDER \"$0\" slurm \"$@\"")
        }
    };
    again.args(["--net", "--mount", "bash", "-c", &line]);
    again.arg(own).args(args).env(INSIDE, name);
    succeed(&mut again, "the stories on Slurm")
}
