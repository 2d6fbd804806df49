//! Where results go. Standard output: a reader that has gone (`| head`) is no failure. Files: whole
//! or absent.

use std::io::{ErrorKind, IsTerminal, Write};
use std::path::Path;

use meed_report::TableOptions;
use meed_workload::create::Output;

use crate::exit::Failure;

pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Failure::Silent),
        Err(error) => Err(Failure::File(format!("cannot write to standard output: {error}"))),
    }
}

/// A remark that is not part of the result.
pub(crate) fn remark(text: &str) {
    // Without standard error there is nobody to be told.
    let _ = writeln!(std::io::stderr(), "meed: {text}");
}

/// Whether every result has a file of its own that can be written, and none would overwrite
/// `input`, which is a `what`: told before a long run rather than after it. `outputs` are the
/// options with their files.
pub(crate) fn check_files(
    outputs: &[(&str, Option<&Path>)],
    (what, input): (&str, &Path),
) -> Result<(), Failure> {
    let given: Vec<(&str, &Path)> =
        outputs.iter().filter_map(|&(option, path)| Some((option, path?))).collect();
    for (i, &(option, path)) in given.iter().enumerate() {
        if path == Path::new("-") {
            if option == "--json" {
                continue;
            }
            return Err(Failure::Usage(format!(
                "{option} goes to a file; only --json can go to standard output (-)"
            )));
        }
        if let Some((other, _)) = given[..i].iter().find(|(_, earlier)| same_file(earlier, path)) {
            return Err(Failure::Usage(format!(
                "{other} and {option} name the same file {}",
                path.display()
            )));
        }
        if same_file(path, input) {
            return Err(Failure::Usage(format!(
                "{option} would overwrite the {what} {}",
                path.display()
            )));
        }
        // Made beside its place and dropped again, which leaves what was there. A pipe is opened
        // once only.
        if path.metadata().map_or(true, |found| found.is_file() || found.is_dir()) {
            drop(Output::create(path)?);
        }
    }
    Ok(())
}

/// Whether none of `outputs` would overwrite a file that is read: as [`check_files`], for files
/// known later.
pub(crate) fn check_inputs<'a>(
    outputs: &[(&str, Option<&Path>)],
    inputs: impl IntoIterator<Item = &'a Path>,
) -> Result<(), Failure> {
    for input in inputs {
        let hit = outputs.iter().find(|(_, path)| path.is_some_and(|path| same_file(path, input)));
        if let Some((option, _)) = hit {
            return Err(Failure::Usage(format!(
                "{option} would overwrite the input {}",
                input.display()
            )));
        }
    }
    Ok(())
}

/// Whether two names mean one file, also by way of links and of folders.
pub(crate) fn same_file(a: &Path, b: &Path) -> bool {
    let real = |path: &Path| {
        // What is not there yet has a folder that is.
        path.canonicalize().ok().or_else(|| {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            Some(folder.unwrap_or(Path::new(".")).canonicalize().ok()?.join(path.file_name()?))
        })
    };
    a == b || real(a).is_some_and(|a| real(b) == Some(a))
}

/// Writes a whole file.
pub(crate) fn write_text(path: &Path, text: &str) -> Result<(), Failure> {
    let mut out = Output::create(path)?;
    out.write_all(text.as_bytes()).map_err(|error| out.failure(error))?;
    Ok(out.finish()?)
}

/// Width and colour of the terminal, or of what stands in for one.
pub(crate) fn table_options() -> TableOptions {
    let terminal = std::io::stdout().is_terminal();
    // Piped into a file or a pager a table may be as wide as it likes to a point.
    let columns = terminal_size::terminal_size().map_or(120, |(width, _)| usize::from(width.0));
    let width = if terminal { columns } else { 120 };
    TableOptions { width, color: terminal && std::env::var_os("NO_COLOR").is_none() }
}
