//! A scenario from data: what a program has made, not what somebody has typed.
//!
//! The data have the shape of a scenario file (docs/scenario.md) and are read into the same forms
//! by the same rules. No text lies between: nothing is quoted, printed and parsed again. A text is
//! written beside, for logs keep it; but it is not read here.
//!
//! Forms note where in a file a value stands ([`meed_config::Spanned`]); data stand nowhere, so
//! errors name the key and the value but no line.

use std::path::Path;
use std::sync::Arc;

use meed_config::{Place, tree};
use serde::Serialize;
use toml::Value;

use super::mapreduce::RawMapReduce;
use super::raw::RawScenario;
use super::read::without_line;
use super::set::{self, Draft};
use super::setting::Setting;
use super::{GivenJobs, LoadError, Scenario, TraceReading, mapreduce};

impl Scenario {
    /// The scenario that `data` are; messages call it `name`, files are looked for in `folder`.
    ///
    /// ```
    /// use meed_scenario::Scenario;
    /// use meed_workload::OnBadLine;
    /// use serde_json::json;
    ///
    /// let task = json!({ "slot": 1 });
    /// let data = json!({
    ///     "cluster": { "resources": ["slot"], "node": [{ "capacity": { "slot": 2 } }] },
    ///     "queue": [{ "name": "ads" }, { "name": "search", "weight": 2 }],
    ///     "job": [{ "queue": "ads", "tasks": 4, "duration": "1h", "demand": task }],
    /// });
    /// let scenario = Scenario::of_data("two tenants", &data, ".".as_ref(), OnBadLine::Stop)?;
    /// assert_eq!(scenario.queue_count(), 2);
    ///
    /// let wrong = json!({ "cluster": { "resources": ["slot"], "nodes": [] } });
    /// let why = Scenario::of_data("wrong", &wrong, ".".as_ref(), OnBadLine::Stop).err();
    /// assert!(why.is_some_and(|why| why.to_string().contains("unknown field `nodes`")));
    /// # Ok::<(), meed_scenario::LoadError>(())
    /// ```
    pub fn of_data(
        name: &str,
        data: &impl Serialize,
        folder: &Path,
        reading: impl Into<TraceReading>,
    ) -> Result<Scenario, LoadError> {
        Scenario::of_value(name, data, None, folder, &reading.into())
    }

    /// The scenario that the program has made as `data` of something else, changed.
    pub(super) fn of_made(
        name: &str,
        data: &impl Serialize,
        settings: &[Setting],
        reading: &TraceReading,
    ) -> Result<Scenario, LoadError> {
        let wrong = |why: toml::ser::Error| Place { file: name, text: "" }.whole(why.to_string());
        // The text is what logs keep; without changes it is not read.
        let text = toml::to_string(data).map_err(wrong)?;
        if settings.is_empty() {
            let value = Value::try_from(data).map_err(wrong)?;
            let made = of_toml(name, value, text, None, Path::new(""), reading);
            return made.map_err(without_line);
        }
        let read = |settings: &[Setting]| {
            let draft = Draft::of(name, &text, settings).map_err(LoadError::from);
            Scenario::of_draft(name, &draft?, Path::new(""), reading)
        };
        let read_all = read(settings);
        read_all.map_err(|error| set::blamed(error, settings, &|others| read(others).err()))
    }

    /// The same, with jobs that the data do not say.
    pub(super) fn of_value(
        name: &str,
        data: &impl Serialize,
        given: Option<Arc<dyn GivenJobs>>,
        folder: &Path,
        reading: &TraceReading,
    ) -> Result<Scenario, LoadError> {
        let value = Value::try_from(data)
            .map_err(|why| Place { file: name, text: "" }.whole(why.to_string()))?;
        let text = toml::to_string(&value)
            .map_err(|why| Place { file: name, text: "" }.whole(why.to_string()))?;
        of_toml(name, value, text, given, folder, reading).map_err(without_line)
    }
}

fn of_toml(
    name: &str,
    value: Value,
    text: String,
    given: Option<Arc<dyn GivenJobs>>,
    folder: &Path,
    reading: &TraceReading,
) -> Result<Scenario, LoadError> {
    let refused = |why: &str| Place { file: name, text: "" }.whole(why);
    if value.get("mapreduce").is_none() {
        let raw: RawScenario = tree::read_data(value).map_err(|why| refused(why.message()))?;
        return Scenario::of_raw(name, raw, text, &[], given, folder, reading);
    }
    if given.is_some() {
        return Err(refused("is of the MapReduce world, which is handed no jobs").into());
    }
    let raw: RawMapReduce = tree::read_data(value).map_err(|why| refused(why.message()))?;
    Ok(mapreduce::of_raw(name, raw, text, &[], &|_| true)?)
}
