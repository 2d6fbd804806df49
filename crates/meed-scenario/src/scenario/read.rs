//! Scenarios from files and texts, with changes.

use std::path::Path;

use meed_config::{Place, tree};
use meed_files::FileError;
use meed_files::open::Origin;
use meed_workload::{OnBadLine, TraceError};

use super::raw::RawScenario;
use super::{LoadError, Scenario, ScenarioError, mapreduce, set};

/// Tables of which a scenario has one at least.
const WORK: [&str; 5] = ["job", "generator", "workload", "trace", "mapreduce"];

impl Scenario {
    /// Whether a text is TOML that says nothing of what is to run: the configuration of a live
    /// world, and no scenario.
    pub fn is_without_work(text: &str) -> bool {
        let table = text.parse::<toml::Table>();
        table.is_ok_and(|table| !WORK.iter().any(|key| table.contains_key(*key)))
    }

    /// Reads the file, compressed or not, with `--set KEY=VALUE` changes applied before anything is
    /// checked.
    pub fn load(
        path: &Path,
        sets: &[String],
        on_bad_line: OnBadLine,
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
        Scenario::parse(&file, &text, folder, sets, on_bad_line)
    }

    /// Reads `text`; messages call it `file`, traces are looked for in `folder`. What a change in
    /// `sets` breaks is said of the change: the file has no such line.
    pub fn parse(
        file: &str,
        text: &str,
        folder: &Path,
        sets: &[String],
        on_bad_line: OnBadLine,
    ) -> Result<Scenario, LoadError> {
        let read = |sets: &[String]| Scenario::read(file, text, folder, sets, on_bad_line);
        read(sets).map_err(|error| match error {
            LoadError::Scenario(error) if !sets.is_empty() => {
                set::blamed(error, sets, &read).into()
            }
            other => other,
        })
    }

    fn read(
        file: &str,
        text: &str,
        folder: &Path,
        sets: &[String],
        on_bad_line: OnBadLine,
    ) -> Result<Scenario, LoadError> {
        let set::Changed { text, added } = set::apply(file, text, sets)?;
        let place = Place { file, text: &text };
        if text.trim().is_empty() {
            return Err(place
                .whole("is empty; a scenario needs at least [cluster], a queue and jobs")
                .into());
        }
        let scenario = match mapreduce::is_mapreduce(&text) {
            true => mapreduce::parse(file, text, &added)?,
            false => {
                let raw: RawScenario = tree::read(&text).map_err(|error| place.toml(&error))?;
                Scenario::of_raw(file, raw, text, &added, None, folder, on_bad_line)?
            }
        };
        Ok(scenario)
    }
}
