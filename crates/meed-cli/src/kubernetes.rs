//! `meed kubernetes`: runs the program `meed-kubernetes`, as git and cargo run theirs.
//!
//! It is a program of its own because a client of Kubernetes is 140 crates: who simulates, or
//! shares one machine, does not compile them. It lies beside `meed`, or on PATH.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::exit::Failure;

/// The program, without the system's ending.
const PROGRAM: &str = "meed-kubernetes";

/// What it answers; in its own words why not.
pub(crate) fn ask(arguments: &[OsString]) -> Result<String, Failure> {
    let program = beside().unwrap_or_else(|| PathBuf::from(PROGRAM));
    let answer = Command::new(&program).args(arguments).output();
    let answer = answer.map_err(|why| not_started(&program, &why))?;
    match answer.status.success() {
        true => Ok(String::from_utf8_lossy(&answer.stdout).into_owned()),
        false => Err(Failure::Run(String::from_utf8_lossy(&answer.stderr).trim().to_owned())),
    }
}

/// Runs it, and ends as it ends.
pub(crate) fn run(arguments: &[OsString]) -> Result<(), Failure> {
    let program = beside().unwrap_or_else(|| PathBuf::from(PROGRAM));
    let mut command = Command::new(&program);
    command.args(arguments);
    // Where there is no exec the error is that it could not be started.
    Err(not_started(&program, &replace(&mut command)))
}

fn not_started(program: &Path, error: &std::io::Error) -> Failure {
    Failure::File(match error.kind() {
        std::io::ErrorKind::NotFound => format!(
            "the program {PROGRAM} is neither beside meed nor on PATH; build it with \
             `cargo build --release -p meed-kubernetes`, and put it there (docs/kubernetes.md)"
        ),
        _ => format!("{}: {error}", program.display()),
    })
}

/// Whether the program can be found.
pub(crate) fn is_there() -> bool {
    let name = format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX);
    let folders = std::env::var_os("PATH").unwrap_or_default();
    beside().is_some() || std::env::split_paths(&folders).any(|at| at.join(&name).is_file())
}

/// The program in the folder of this one.
fn beside() -> Option<PathBuf> {
    let mut path = std::env::current_exe().ok()?;
    path.set_file_name(format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX));
    path.is_file().then_some(path)
}

/// Signals reach it as they would reach this process: it takes its place.
#[cfg(unix)]
fn replace(command: &mut Command) -> std::io::Error {
    std::os::unix::process::CommandExt::exec(command)
}

#[cfg(not(unix))]
fn replace(command: &mut Command) -> std::io::Error {
    match command.status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(1)),
        Err(error) => error,
    }
}
