//! How the program fails: one sentence on standard error, and a code that scripts can tell apart.

use std::io::Write;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use meed_config::text::{clean, clean_lines};
use meed_files::{FileError, GuardError};
use meed_replay::ReplayError;
use meed_scenario::log::read::LogError;
use meed_scenario::{LoadError, ScenarioError};
use meed_sim::SimulateError;
use meed_sim::world::RunError;
use meed_workload::TraceError;

/// Exit codes, shown by every `--help`.
pub const EXIT_CODES: &str = "\
Exit codes: 0 done; 2 wrong command line; 3 wrong scenario, policy or trace; 4 a file cannot be \
read or written; \
5 the run could not go on. With a server also: 1 the job did not end well; 6 no server answers; \
7 not allowed.";

/// What went wrong, by exit code.
#[derive(Debug)]
pub enum Failure {
    /// 2: the command line is wrong; what clap says, on several lines.
    CommandLine(String),
    /// 2: the command line is wrong.
    Usage(String),
    /// 3: the input is wrong.
    Input(String),
    /// 4: a file cannot be read or written.
    File(String),
    /// 5: the run could not go on.
    Run(String),
    /// 1: a job that was waited for did not end well.
    #[cfg(target_os = "linux")]
    Job(String),
    /// 6: no server answers.
    #[cfg(target_os = "linux")]
    NoServer(String),
    /// 7: the server says that this user may not.
    #[cfg(target_os = "linux")]
    Forbidden(String),
    /// The command of `meed run` has ended with this status; nothing is to be said.
    #[cfg(target_os = "linux")]
    Status(u8),
    /// The reader of our output has gone; nothing is to be said.
    Silent,
}

impl Failure {
    /// How another program of Meed failed, which ended with this code and said this.
    pub(crate) fn of_code(code: Option<i32>, sentence: String) -> Failure {
        match code {
            #[cfg(target_os = "linux")]
            Some(1) => Failure::Job(sentence),
            Some(2) => Failure::CommandLine(sentence),
            Some(3) => Failure::Input(sentence),
            Some(4) => Failure::File(sentence),
            #[cfg(target_os = "linux")]
            Some(6) => Failure::NoServer(sentence),
            #[cfg(target_os = "linux")]
            Some(7) => Failure::Forbidden(sentence),
            _ => Failure::Run(sentence),
        }
    }

    /// Says what went wrong on standard error; the exit code.
    pub fn report(&self) -> ExitCode {
        let (code, sentence) = match self {
            Failure::CommandLine(text) => (2, clean_lines(text)),
            Failure::Usage(sentence) => (2, clean(sentence)),
            Failure::Input(sentence) => (3, clean(sentence)),
            Failure::File(sentence) => (4, clean(sentence)),
            Failure::Run(sentence) => (5, clean(sentence)),
            #[cfg(target_os = "linux")]
            Failure::Job(sentence) => (1, clean(sentence)),
            #[cfg(target_os = "linux")]
            Failure::NoServer(sentence) => (6, clean(sentence)),
            #[cfg(target_os = "linux")]
            Failure::Forbidden(sentence) => (7, clean(sentence)),
            #[cfg(target_os = "linux")]
            Failure::Status(status) => return ExitCode::from(*status),
            Failure::Silent => return ExitCode::SUCCESS,
        };
        // Where standard error is gone as well the code still tells.
        let _ = writeln!(std::io::stderr(), "meed: {sentence}");
        ExitCode::from(code)
    }
}

/// What clap says of a command line, in our form; help and version are no failure.
pub(crate) fn of_command_line(error: &clap::Error) -> Failure {
    if !error.use_stderr() {
        error.exit();
    }
    let text = error.render().to_string();
    let sentence = match text.strip_prefix("error: ") {
        Some(sentence) => match hint(error, &text) {
            Some(hint) => {
                let (first, rest) = sentence.trim_end().split_once('\n').unwrap_or((sentence, ""));
                format!("{first}; {hint}\n{rest}")
            }
            None => sentence.trim_end().to_owned(),
        },
        // The whole help: nothing was given.
        None => format!("a command is missing\n\n{}", text.trim_end()),
    };
    Failure::CommandLine(sentence)
}

/// Commands of other schedulers, and of habit, and what they are called here.
const CALLED_HERE: [(&str, &str); 5] = [
    ("sbatch", "meed submit COMMAND"),
    ("srun", "meed run COMMAND"),
    ("salloc", "meed run bash"),
    ("squeue", "meed jobs"),
    ("scancel", "meed cancel JOB"),
];

/// What a slip was meant as, where that can be told.
fn hint(error: &clap::Error, text: &str) -> Option<String> {
    let word = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.as_str()),
        _ => None,
    };
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let word = word(ContextKind::InvalidSubcommand)?;
            let (_, here) = CALLED_HERE.iter().find(|(there, _)| *there == word)?;
            Some(format!("here that is `{here}`"))
        }
        ErrorKind::UnknownArgument => {
            let word = word(ContextKind::InvalidArg).filter(|word| !word.starts_with('-'))?;
            let is_key = word.contains('=') && text.contains(" simulate ");
            let keys = "keys of a policy stand behind a comma, as in -p long-term,half_life=7d";
            is_key.then(|| keys.to_owned())
        }
        _ => None,
    }
}

impl From<ScenarioError> for Failure {
    fn from(error: ScenarioError) -> Failure {
        let sentence = error.to_string();
        if error.unreadable { Failure::File(sentence) } else { Failure::Input(sentence) }
    }
}

impl From<TraceError> for Failure {
    fn from(error: TraceError) -> Failure {
        let sentence = error.to_string();
        if error.is_file() { Failure::File(sentence) } else { Failure::Input(sentence) }
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Failure {
        match error {
            LoadError::Scenario(error) => error.into(),
            LoadError::Trace(error) => error.into(),
        }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Failure {
        match error {
            RunError::Trace(error) => error.into(),
            RunError::Log(_) => Failure::File(error.to_string()),
            RunError::Config(_)
            | RunError::Classes(_)
            | RunError::Delays { .. }
            | RunError::Refused { .. }
            | RunError::Played { .. } => Failure::Input(error.to_string()),
            RunError::Change { .. } | RunError::Stopped { .. } => Failure::Run(error.to_string()),
        }
    }
}

impl From<LogError> for Failure {
    fn from(error: LogError) -> Failure {
        match error {
            LogError::File(error) => error.into(),
            LogError::Scenario(error) => error.into(),
            LogError::Line { .. } | LogError::Whole { .. } => Failure::Input(error.to_string()),
            LogError::Which { .. } => Failure::Usage(error.to_string()),
        }
    }
}

impl From<ReplayError> for Failure {
    fn from(error: ReplayError) -> Failure {
        match error {
            ReplayError::Log(error) => error.into(),
            ReplayError::Scenario(error) => error.into(),
            ReplayError::Run(error) => error.into(),
        }
    }
}

impl From<SimulateError> for Failure {
    fn from(error: SimulateError) -> Failure {
        match error {
            SimulateError::Scenario(error) => error.into(),
            SimulateError::Trace(error) => error.into(),
            SimulateError::Run(error) => error.into(),
        }
    }
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Failure {
        let sentence = error.to_string();
        if error.is_refusal() { Failure::File(sentence) } else { Failure::Input(sentence) }
    }
}

impl From<GuardError> for Failure {
    fn from(error: GuardError) -> Failure {
        match error {
            GuardError::File(error) => error.into(),
            GuardError::Input { .. } | GuardError::Twice { .. } => {
                Failure::Usage(error.to_string())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::{Arg, Command};

    use super::*;

    fn told(words: &[&str]) -> String {
        let simulate =
            Command::new("simulate").arg(Arg::new("policy").short('p')).arg(Arg::new("scenario"));
        let jobs = Command::new("jobs");
        let meed = Command::new("meed").subcommands([simulate, jobs]);
        let error = meed.try_get_matches_from(words).unwrap_err();
        match of_command_line(&error) {
            Failure::CommandLine(sentence) => sentence,
            _ => String::new(),
        }
    }

    #[test]
    fn slips_of_other_schedulers_users_are_told_with_what_is_meant() {
        for (words, hint) in [
            (&["meed", "squeue"][..], "here that is `meed jobs`"),
            (&["meed", "scancel", "3"], "here that is `meed cancel JOB`"),
            (
                &["meed", "simulate", "a.csv", "-p", "long-term", "half_life=7d"],
                "keys of a policy stand behind a comma",
            ),
        ] {
            let sentence = told(words);
            let first = sentence.lines().next().unwrap_or_default();
            assert!(first.ends_with(hint) || first.contains(hint), "{words:?}: {sentence}");
            assert!(sentence.contains("\nUsage: meed"), "{sentence}");
        }
        for words in
            [&["meed", "sumbit"][..], &["meed", "simulate", "a", "b"], &["meed", "jobs", "-x"]]
        {
            assert!(!told(words).contains("; "), "{words:?}: {}", told(words));
        }
    }
}
