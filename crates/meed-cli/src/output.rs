//! Where results go. Standard output: a reader that has gone (`| head`) is no failure. Files: whole
//! or absent.

use std::io::{ErrorKind, IsTerminal, Write};
use std::path::Path;

use meed_config::text::{clean, clean_lines};
use meed_files::Guard;
use meed_report::TableOptions;
use meed_scenario::Scenario;

use crate::exit::Failure;

/// A file that grows beyond the limit of its owner (`ulimit -f`) ends the program with SIGXFSZ
/// unless somebody takes the signal; then the write fails like any other, and is told. Each program
/// calls this first.
pub(crate) fn refuse_large_files_by_an_error() {
    #[cfg(unix)]
    {
        let taken = std::sync::Arc::default();
        // Where it cannot be taken the system ends the program as before.
        let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, taken);
    }
}

/// Text for people. Who makes it cleans the names in it, which may hold line breaks; that nothing
/// else of a file is obeyed by a terminal is seen to here.
pub fn print(text: &str) -> Result<(), Failure> {
    print_data(&clean_lines(text))
}

/// A table, which has colours where the terminal shows them.
pub fn print_styled(text: &str, options: &TableOptions) -> Result<(), Failure> {
    if options.color { print_data(text) } else { print(text) }
}

/// Data for programs, as they are.
pub fn print_data(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Failure::Silent),
        Err(error) => Err(Failure::File(format!("cannot write to standard output: {error}"))),
    }
}

/// A remark that is not part of the result.
pub fn remark(text: &str) {
    // Without standard error there is nobody to be told.
    let _ = writeln!(std::io::stderr(), "meed: {}", clean(text));
}

/// The same, unless nothing is to be said.
pub(crate) fn remark_unless(quiet: bool) -> impl FnMut(&str) {
    move |text| {
        if !quiet {
            remark(text);
        }
    }
}

/// The guard of a command's files. It reads `inputs`, each of which is a `what`; `outputs` are the
/// options with their files. That every output can be written, and none is an input or another
/// output, is told before a long run rather than after it.
pub fn guard(
    outputs: &[(&str, Option<&Path>)],
    inputs: &[(&str, &Path)],
) -> Result<Guard, Failure> {
    let mut guard = Guard::new();
    for &(what, input) in inputs {
        guard.reads(what, input)?;
    }
    for &(option, path) in outputs {
        let Some(path) = path else { continue };
        if path != Path::new("-") {
            guard.writes(option, path)?;
        } else if option != "--json" {
            return Err(Failure::Usage(format!(
                "{option} goes to a file; only --json can go to standard output (-)"
            )));
        }
    }
    Ok(guard)
}

/// The files that a scenario names are read as well: none may be an output.
pub(crate) fn reads_of(guard: &mut Guard, scenario: &Scenario) -> Result<(), Failure> {
    Ok(scenario.input_files().iter().try_for_each(|path| guard.reads("input", path))?)
}

/// Width and colour of the terminal, or of what stands in for one.
pub fn table_options() -> TableOptions {
    let terminal = std::io::stdout().is_terminal();
    // Piped into a file or a pager a table may be as wide as it likes to a point.
    let columns = terminal_size::terminal_size().map_or(120, |(width, _)| usize::from(width.0));
    let width = if terminal { columns } else { 120 };
    TableOptions { width, color: terminal && std::env::var_os("NO_COLOR").is_none() }
}
