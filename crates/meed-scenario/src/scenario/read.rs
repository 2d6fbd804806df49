//! Scenarios from files and texts, with changes.

use std::path::Path;

use meed_config::{Place, tree};
use meed_files::FileError;
use meed_files::open::Origin;
use meed_workload::TraceError;

use super::raw::RawScenario;
use super::set::{self, Draft};
use super::setting::Setting;
use super::{LoadError, Scenario, ScenarioError, TraceReading, mapreduce};

/// Tables of which a scenario has one at least.
const WORK: [&str; 5] = ["job", "generator", "workload", "trace", "mapreduce"];

impl Scenario {
    /// Whether a text is TOML that says nothing of what is to run: the configuration of a live
    /// world, and no scenario.
    pub fn is_without_work(text: &str) -> bool {
        let table = text.parse::<toml::Table>();
        table.is_ok_and(|table| !WORK.iter().any(|key| table.contains_key(*key)))
    }

    /// Reads the file, compressed or not, with changes made before anything is checked.
    pub fn load(
        path: &Path,
        settings: &[Setting],
        reading: impl Into<TraceReading>,
    ) -> Result<Scenario, LoadError> {
        let file = path.display().to_string();
        let place = Place { file: &file, text: "" };
        let bytes = Origin::path(path).whole().map_err(|why| match why {
            FileError::Io { source, .. } => LoadError::from(ScenarioError {
                unreadable: true,
                ..place.whole(format!("cannot be read: {source}"))
            }),
            damaged => TraceError::from(damaged).into(),
        })?;
        let text = String::from_utf8(bytes).map_err(|_| place.whole("is not text in UTF-8"))?;
        let folder = path.parent().unwrap_or(Path::new("."));
        Scenario::parse(&file, &text, folder, settings, reading)
    }

    /// Reads `text`; messages call it `file`, traces are looked for in `folder`. What a change
    /// breaks is said of the change: the file has no such line.
    pub fn parse(
        file: &str,
        text: &str,
        folder: &Path,
        settings: &[Setting],
        reading: impl Into<TraceReading>,
    ) -> Result<Scenario, LoadError> {
        let reading = reading.into();
        let read = |settings: &[Setting]| match settings {
            [] => Scenario::read(file, text, folder, &reading),
            _ => {
                let draft = Draft::of(file, text, settings)?;
                Scenario::of_draft(file, &draft, folder, &reading)
            }
        };
        let scenario = read(settings)
            .map_err(|error| set::blamed(error, settings, &|others| read(others).err()))?;
        // What was looked for in the trace is found.
        Ok(Scenario { ran: None, ..scenario })
    }

    fn read(
        file: &str,
        text: &str,
        folder: &Path,
        reading: &TraceReading,
    ) -> Result<Scenario, LoadError> {
        let place = Place { file, text };
        if text.trim().is_empty() {
            return Err(place
                .whole("is empty; a scenario needs at least [cluster], a queue and jobs")
                .into());
        }
        if mapreduce::is_mapreduce(text) {
            return Ok(mapreduce::parse(file, text.to_owned())?);
        }
        let raw: RawScenario = tree::read(text).map_err(|error| place.toml(&error))?;
        Scenario::of_raw(file, raw, text.to_owned(), &[], None, folder, reading)
    }

    /// The scenario that a changed document is. No line of a file says what it says.
    pub(super) fn of_draft(
        file: &str,
        draft: &Draft,
        folder: &Path,
        reading: &TraceReading,
    ) -> Result<Scenario, LoadError> {
        let (text, added) = (draft.text(), &draft.added);
        let read = match draft.has("mapreduce") {
            true => mapreduce::of_raw(file, draft.read(file)?, text, added, &|_| true)
                .map_err(LoadError::from),
            false => Scenario::of_raw(file, draft.read(file)?, text, added, None, folder, reading),
        };
        read.map_err(without_line)
    }
}

/// What is said of data, which stand in no file, has no line that somebody could look up.
pub(super) fn without_line(error: LoadError) -> LoadError {
    match error {
        LoadError::Scenario(error) => ScenarioError { line: None, ..error }.into(),
        other => other,
    }
}
