//! Programs beside `meed`: `meed kubernetes`, `meed slurm` and `meed reproduce` run them, as git
//! and cargo run theirs.
//!
//! Each is a program of its own because most users of `meed` do not need what it is built from: a
//! client of Kubernetes is 140 crates, and the papers' experiments are 18,000 lines. A program lies
//! in the folder of `meed`, or on PATH. Archive, package and wheel carry the programs that a table
//! row here names as shipped.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::exit::Failure;

/// A program beside `meed`.
pub(crate) struct Program {
    /// Name of the program and of its package, without the system's ending.
    name: &'static str,
    /// The page that says how it is installed.
    page: &'static str,
}

/// Shares a Kubernetes cluster.
pub(crate) const KUBERNETES: Program =
    Program { name: "meed-kubernetes", page: "docs/kubernetes.md" };

/// Long-term fairness on a running Slurm.
pub(crate) const SLURM: Program = Program { name: "meed-slurm", page: "docs/slurm.md" };

/// Checks the papers: `meed reproduce`, `meed audit`.
pub(crate) const PAPERS: Program = Program { name: "meed-papers", page: "docs/reproduction.md" };

impl Program {
    /// What the program prints for `arguments`; where it fails, its own sentence.
    pub(crate) fn ask(&self, arguments: &[OsString]) -> Result<String, Failure> {
        let program = self.path();
        let answer = Command::new(&program).args(arguments).output();
        let answer = answer.map_err(|why| self.not_started(&program, &why))?;
        match answer.status.success() {
            true => Ok(String::from_utf8_lossy(&answer.stdout).into_owned()),
            false => Err(Failure::Run(String::from_utf8_lossy(&answer.stderr).trim().to_owned())),
        }
    }

    /// Runs the program in place of this one, so that signals reach it and its exit code is ours.
    pub(crate) fn run<T: AsRef<OsStr>>(&self, arguments: &[T]) -> Result<(), Failure> {
        let program = self.path();
        let mut command = Command::new(&program);
        command.args(arguments);
        // A return from exec is always a failure to start.
        Err(self.not_started(&program, &replace(&mut command)))
    }

    /// Whether the program can be found.
    pub(crate) fn is_there(&self) -> bool {
        let name = self.file();
        let folders = std::env::var_os("PATH").unwrap_or_default();
        self.beside().is_some()
            || std::env::split_paths(&folders).any(|at| at.join(&name).is_file())
    }

    fn not_started(&self, program: &Path, error: &std::io::Error) -> Failure {
        let (name, page) = (self.name, self.page);
        Failure::File(match error.kind() {
            std::io::ErrorKind::NotFound => format!(
                "the program {name} is neither beside meed nor on PATH; build it with `cargo build \
                 --release -p {name}`, which puts it beside a meed that was built there ({page})"
            ),
            _ => format!("{}: {error}", program.display()),
        })
    }

    fn path(&self) -> PathBuf {
        self.beside().unwrap_or_else(|| PathBuf::from(self.name))
    }

    fn file(&self) -> String {
        format!("{}{}", self.name, std::env::consts::EXE_SUFFIX)
    }

    /// The program in the folder of this one.
    fn beside(&self) -> Option<PathBuf> {
        let mut path = std::env::current_exe().ok()?;
        path.set_file_name(self.file());
        path.is_file().then_some(path)
    }
}

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
