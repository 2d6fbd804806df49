//! What a page says of its origin: this version, this command, and when its input last changed.

use std::path::Path;
use std::time::UNIX_EPOCH;

use meed_report::Made;
use meed_scenario::Scenario;
use meed_workload::table::format_date;

/// By this program as it was called, from these files.
pub fn made<P: AsRef<Path>>(inputs: &[P]) -> Made {
    // What is no text is shown as such, not left out.
    let mut arguments: Vec<String> =
        std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    if let Some(program) = arguments.first_mut() {
        "meed".clone_into(program);
    }
    let last = inputs.iter().filter_map(|path| changed(path.as_ref())).max();
    let data = last.map(|date| format!("{date} (when the file last changed)"));
    Made::new(env!("CARGO_PKG_VERSION"), &arguments, &data.unwrap_or_default())
}

/// By this program, from the files that the scenario reads.
pub(crate) fn made_of(scenario: &Scenario) -> Made {
    // A scenario without a log has no data that are of some day.
    made(scenario.input_files())
}

/// The day on which the file last changed.
fn changed(path: &Path) -> Option<String> {
    let about = path.metadata().ok().filter(|about| about.is_file())?;
    let since = about.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    let date = format_date(u64::try_from(since.as_micros()).ok()?);
    date.get(..10).map(str::to_owned)
}
