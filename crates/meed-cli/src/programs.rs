//! Programs beside `meed`, which runs them as git and cargo run theirs: `meed serve` runs
//! `meed-server serve`.
//!
//! Each is a program of its own because most users of `meed` do not need what it is built from: a
//! web server, a client of Kubernetes, the papers' experiments. A program lies in the folder of
//! `meed`, or on PATH. `PROGRAMS` is all that `meed` knows of them: a row adds a program. The table
//! in `xtask/src/dist` says which of them the archive and the Debian package carry.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::exit::Failure;

/// The variable by which a shell asks for what may come next in a command line.
pub const COMPLETE: &str = "MEED_COMPLETE";

/// A command of `meed` that another program runs.
pub(crate) struct Own {
    pub(crate) name: &'static str,
    /// As that program's own help says.
    pub(crate) about: &'static str,
}

/// A program beside `meed`.
pub struct Program {
    /// Name of the program and of its package, without the system's ending.
    name: &'static str,
    /// The page that says how it is installed.
    page: &'static str,
    /// The commands of `meed` that it runs.
    pub(crate) commands: &'static [Own],
    /// Whether the name of the command is left out of its command line, for it has one command.
    omits_name: bool,
    /// Whether it writes its pages of the manual, says what may come next in its command lines, and
    /// ends with the exit codes of `meed`.
    speaks_meed: bool,
}

/// Serves a machine, and asks servers and clusters.
pub const SERVER: Program = Program {
    name: "meed-server",
    page: "docs/server.md",
    omits_name: false,
    speaks_meed: true,
    commands: &[
        own(
            "serve",
            "Serves this machine to all who share it: takes jobs, and runs them in fair turns",
        ),
        own("submit", "Hands a command to the server, which runs it when its turn has come"),
        own(
            "run",
            "Runs a command here and now, as soon as its turn has come: with this terminal, or \
             input and outputs",
        ),
        own("attach", "Joins the session of a job of `meed run`, or follows a job's output"),
        own("jobs", "Lists jobs, the newest first"),
        own("show", "Shows a job and its tasks"),
        own("logs", "Prints what a job's tasks have written"),
        own("cancel", "Cancels jobs: what runs of them is stopped"),
        own("hold", "Holds jobs that have not begun"),
        own("release", "Lets held jobs go on"),
        own("wait", "Waits until jobs have ended; the exit code says whether all ended well"),
        own(
            "queues",
            "Shows how the queues of this machine, of a Kubernetes cluster or of Slurm (--slurm) \
             stand: share, held, used, balance, and who is served next",
        ),
        own(
            "top",
            "Shows the machine, a Kubernetes cluster or Slurm (--slurm), its queues and all jobs \
             again and again, as a view that fills the terminal; q leaves it",
        ),
        own(
            "why",
            "Says why a job waits, a pod of a Kubernetes cluster, an application of a YARN \
             cluster, or with --slurm a job of Slurm",
        ),
        own("reload", "Has the server read its configuration again"),
        own("token", "Makes, lists and revokes tokens for the HTTP interface"),
        own("dashboard", "Prints a link that signs a browser in to the dashboard, once"),
        own("get", "Asks the HTTP interface for a path, and prints the answer"),
    ],
};

/// Shares a Kubernetes cluster.
pub const KUBERNETES: Program = Program {
    name: "meed-kubernetes",
    page: "docs/kubernetes.md",
    omits_name: true,
    speaks_meed: false,
    commands: &[own(
        "kubernetes",
        "Shares a Kubernetes cluster: runs the program meed-kubernetes, which is built by itself \
         (docs/kubernetes.md)",
    )],
};

/// Checks the papers.
pub const PAPERS: Program = Program {
    name: "meed-papers",
    page: "docs/reproduction.md",
    omits_name: false,
    speaks_meed: true,
    commands: &[
        own(
            "reproduce",
            "Measures the papers' tables and figures and sets them beside what was printed",
        ),
        own(
            "audit",
            "Searches for counterexamples to the fairness properties of the papers, under each \
             policy",
        ),
    ],
};

/// Orders the jobs of a running Slurm.
pub const SLURM: Program = Program {
    name: "meed-slurm",
    page: "docs/slurm.md",
    omits_name: true,
    speaks_meed: true,
    commands: &[own(
        "slurm",
        "Orders the jobs of a running Slurm: runs the program meed-slurm (docs/slurm.md)",
    )],
};

/// Commands as other programs call them, and as they are called here.
const SPELLED: [(&str, &str); 5] =
    [("status", "jobs"), ("ps", "jobs"), ("list", "jobs"), ("stop", "cancel"), ("kill", "cancel")];

/// With this option, these commands ask of a running Slurm: `meed why 1234 --slurm` is `meed slurm
/// why 1234`.
const TO_SLURM: &str = "--slurm";
const ASKS_SLURM: [&str; 3] = ["queues", "why", "top"];

/// All of them, for this system.
const PROGRAMS: &[Program] = &[
    #[cfg(target_os = "linux")]
    SERVER,
    KUBERNETES,
    SLURM,
    PAPERS,
];

const fn own(name: &'static str, about: &'static str) -> Own {
    Own { name, about }
}

/// The programs.
pub(crate) fn all() -> &'static [Program] {
    PROGRAMS
}

/// The program that takes the command line `words` of `meed`, if one does, and its own command
/// line. `help COMMAND` is that command's own help.
pub(crate) fn beside(words: &[OsString]) -> Option<(&'static Program, Vec<OsString>)> {
    let (words, help) = match words.split_first()? {
        (first, rest) if first == "help" => (rest, Some("--help".into())),
        _ => (words, None),
    };
    let first = words.first()?;
    if ASKS_SLURM.iter().any(|name| first == name) && words.iter().any(|word| word == TO_SLURM) {
        let words = words.iter().filter(|word| *word != TO_SLURM).cloned();
        return Some((&SLURM, words.chain(help).collect()));
    }
    let here =
        SPELLED.iter().find(|(there, _)| first == there).map(|(_, here)| OsString::from(here));
    let first = here.unwrap_or_else(|| first.clone());
    let program = of_command(&first)?;
    let name = (!program.omits_name).then_some(first);
    Some((program, name.into_iter().chain(words[1..].iter().cloned()).chain(help).collect()))
}

/// The program that completes the command line that a shell asks about: `arguments` are those of
/// this process.
pub(crate) fn completes(arguments: impl Iterator<Item = OsString>) -> Option<&'static Program> {
    // The shell gives: this program, `--`, and the words so far, the first of which is `meed`.
    let command = arguments.skip_while(|word| word != "--").nth(2)?;
    of_command(&command).filter(|program| program.speaks_meed)
}

fn of_command(command: &OsStr) -> Option<&'static Program> {
    let runs = |program: &&Program| program.commands.iter().any(|own| command == own.name);
    PROGRAMS.iter().find(runs)
}

/// The pages of the manual for commands that other programs run: each program that is there writes
/// its own.
pub(crate) fn manual(folder: &Path) -> Result<(), Failure> {
    let writes = |program: &&Program| program.speaks_meed && program.is_there();
    let mut programs = PROGRAMS.iter().filter(writes);
    programs.try_for_each(|program| program.ask(&["man".into(), folder.into()]).map(drop))
}

impl Program {
    /// The commands of `meed` that the program runs, each with what `meed --help` says of it.
    pub fn commands(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.commands.iter().map(|own| (own.name, own.about))
    }

    /// What the program prints for `arguments`; where it fails, its own sentence.
    pub fn ask(&self, arguments: &[OsString]) -> Result<String, Failure> {
        let program = self.path();
        let answer = Command::new(&program).args(arguments).output();
        let answer = answer.map_err(|why| self.not_started(&program, &why))?;
        let said = String::from_utf8_lossy(&answer.stderr);
        if answer.status.success() {
            if self.speaks_meed {
                // Its remarks are ours. Without standard error there is nobody to be told.
                let _ = std::io::stderr().write_all(said.as_bytes());
            }
            return Ok(String::from_utf8_lossy(&answer.stdout).into_owned());
        }
        let sentence = said.trim();
        if !self.speaks_meed {
            return Err(Failure::Run(sentence.to_owned()));
        }
        let own = ["meed: ", "meed slurm: "].iter().find_map(|name| sentence.strip_prefix(name));
        Err(Failure::of_code(answer.status.code(), own.unwrap_or(sentence).to_owned()))
    }

    /// Runs the program in place of this one, so that signals reach it and its exit code is ours.
    pub fn run<T: AsRef<OsStr>>(&self, arguments: &[T]) -> Result<(), Failure> {
        let program = self.path();
        let mut command = Command::new(&program);
        command.args(arguments);
        // A return from exec is always a failure to start.
        Err(self.not_started(&program, &replace(&mut command)))
    }

    /// Whether the program can be found.
    pub fn is_there(&self) -> bool {
        let name = self.file();
        let folders = std::env::var_os("PATH").unwrap_or_default();
        self.next_to_us().is_some()
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
        self.next_to_us().unwrap_or_else(|| PathBuf::from(self.name))
    }

    fn file(&self) -> String {
        format!("{}{}", self.name, std::env::consts::EXE_SUFFIX)
    }

    /// The program in the folder of this one.
    fn next_to_us(&self) -> Option<PathBuf> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn commands_are_known_as_other_programs_call_them() {
        let asked = |line: &str| {
            let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
            let (program, words) = beside(&words)?;
            (program.name == "meed-server").then(|| words.join(&OsString::from(" ")))
        };
        for (line, words) in [
            ("status --all", "jobs --all"),
            ("kill 3", "cancel 3"),
            ("help stop", "cancel --help"),
            ("run status", "run status"),
        ] {
            assert_eq!(asked(line), Some(OsString::from(words)), "{line}");
        }
    }

    #[test]
    fn questions_about_slurm_go_to_its_program() {
        let asked = |line: &str| {
            let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
            let (program, words) = beside(&words)?;
            let words: Vec<String> =
                words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
            Some((program.name, words.join(" ")))
        };
        for (line, words) in [
            ("why 1234 --slurm", "why 1234"),
            ("why --slurm 1234_5 --state /x", "why 1234_5 --state /x"),
            ("queues --slurm --json", "queues --json"),
            ("top --slurm --once", "top --once"),
            ("help why --slurm", "why --help"),
            ("slurm why 1234", "why 1234"),
        ] {
            assert_eq!(asked(line), Some(("meed-slurm", words.to_owned())), "{line}");
        }
        // Of another command the word is that command's own.
        assert_ne!(asked("submit --slurm").map(|(name, _)| name), Some("meed-slurm"));
    }
}
