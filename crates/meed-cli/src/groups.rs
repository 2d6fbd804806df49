//! Help of `meed`: its commands in groups, by what they are for.

use clap::{Arg, Command, CommandFactory};

use crate::args::Cli;
use crate::programs::{self, Own};

/// Each command stands in one of them.
const GROUPS: [(&str, &[&str]); 4] = [
    (
        "Your log, your cluster",
        &[
            "simulate", "advise", "rivals", "explain", "replay", "sweep", "trace", "allocate",
            "check", "init",
        ],
    ),
    (
        "A machine that is shared",
        &[
            "serve",
            "submit",
            "run",
            "attach",
            "jobs",
            "show",
            "logs",
            "cancel",
            "hold",
            "release",
            "wait",
            "queues",
            "why",
            "top",
            "reload",
            "token",
            "dashboard",
            "get",
        ],
    ),
    ("A cluster that is shared", &["kubernetes", "slurm"]),
    ("Evidence, and this program", &["reproduce", "audit", "bench", "completions", "man", "help"]),
];
const TEMPLATE: &str =
    "{about-with-newline}\n{usage-heading} {usage}\n\n{before-help}Options:\n{options}{after-help}";
/// Where what a command does begins.
const INDENT: usize = 15;

/// The command line, with the commands that other programs run.
pub(crate) fn plain() -> Command {
    let others = programs::all().iter().flat_map(|program| program.commands);
    Cli::command().subcommands(others.map(other))
}

/// A command of another program: what stands behind it is for that program to read.
fn other(own: &Own) -> Command {
    let help = format!("Its command line; `meed {} --help` is its own help", own.name);
    let arguments = Arg::new("arguments").value_name("ARGUMENT").num_args(0..).help(help);
    let arguments = arguments.trailing_var_arg(true).allow_hyphen_values(true);
    Command::new(own.name).about(own.about).disable_help_flag(true).arg(arguments)
}

/// The same, with help in groups.
pub(crate) fn command() -> Command {
    let command = plain();
    let text = grouped(&command, width());
    command.before_help(text).help_template(TEMPLATE)
}

fn width() -> usize {
    let columns = terminal_size::terminal_size().map_or(100, |(width, _)| usize::from(width.0));
    columns.clamp(40, 100)
}

fn grouped(command: &Command, width: usize) -> String {
    let mut text = String::new();
    for (group, names) in GROUPS {
        text += &format!("{group}:\n");
        for &name in names {
            let about = match command.find_subcommand(name) {
                Some(found) => found.get_about().map(ToString::to_string).unwrap_or_default(),
                None if name == "help" => "Says how a command is used".to_owned(),
                // Not in this build.
                None => continue,
            };
            text += &wrapped(&format!("  {name}"), &about, width);
        }
        text.push('\n');
    }
    text.trim_end().to_owned()
}

/// What a command does, in a column of its own.
fn wrapped(name: &str, about: &str, width: usize) -> String {
    meed_report::wrap(about, width, &format!("{name:INDENT$}"), &" ".repeat(INDENT))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_command_stands_in_one_group() {
        let command = plain();
        let listed: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        let unique: BTreeSet<&str> = listed.iter().copied().collect();
        assert_eq!(unique.len(), listed.len(), "{listed:?}");
        let there: BTreeSet<&str> = command.get_subcommands().map(Command::get_name).collect();
        let missing: Vec<_> = there.difference(&unique).filter(|name| **name != "help").collect();
        assert!(missing.is_empty(), "{missing:?} in no group");
    }

    #[test]
    fn a_long_sentence_keeps_to_its_column() {
        let text = wrapped("  why", "Says why a job waits", 26);
        assert_eq!(text, "  why          Says why a\n               job waits\n");
    }
}
