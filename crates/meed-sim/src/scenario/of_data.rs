//! A scenario from data: what a program has made, not what somebody has typed.
//!
//! The data have the shape of a scenario file (docs/scenario.md) and are read into the same forms
//! by the same rules. No text lies between: nothing is quoted, printed and parsed again. A text is
//! written beside, for logs keep it and `--set` changes it; but it is not read here.
//!
//! Forms note where in a file a value stands ([`toml::Spanned`]); data stand nowhere, so
//! [`Placeless`] gives each the empty place, and errors name the key and the value but no line.

use std::path::Path;
use std::sync::Arc;

use meed_config::Place;
use meed_workload::OnBadLine;
use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{Deserializer, IntoDeserializer, Visitor};
use serde::{Deserialize, Serialize, forward_to_deserialize_any};
use serde_spanned::de::{SpannedDeserializer, is_spanned};
use toml::Value;

use super::mapreduce::RawMapReduce;
use super::of_trace::without_line;
use super::raw::RawScenario;
use super::{GivenJobs, LoadError, Scenario, mapreduce};

impl Scenario {
    /// The scenario that `data` are; messages call it `name`, files are looked for in `folder`.
    ///
    /// ```
    /// use meed_sim::scenario::Scenario;
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
    /// # Ok::<(), meed_sim::scenario::LoadError>(())
    /// ```
    pub fn of_data(
        name: &str,
        data: &impl Serialize,
        folder: &Path,
        on_bad_line: OnBadLine,
    ) -> Result<Scenario, LoadError> {
        Scenario::of_value(name, data, None, folder, on_bad_line)
    }

    /// The same, with jobs that the data do not say.
    pub(super) fn of_value(
        name: &str,
        data: &impl Serialize,
        given: Option<Arc<dyn GivenJobs>>,
        folder: &Path,
        on_bad_line: OnBadLine,
    ) -> Result<Scenario, LoadError> {
        let nowhere = Place { file: name, text: "" };
        let refused = |why: String| LoadError::from(nowhere.whole(why));
        let value = Value::try_from(data).map_err(|why| refused(why.to_string()))?;
        let text = toml::to_string(&value).map_err(|why| refused(why.to_string()))?;
        let scenario = match value.get("mapreduce") {
            Some(_) if given.is_some() => {
                let what = "is of the MapReduce world, which is handed no jobs";
                Err(refused(what.to_owned()))
            }
            Some(_) => RawMapReduce::deserialize(Placeless(value))
                .map_err(|why| refused(message(&why)))
                .and_then(|raw| Ok(mapreduce::of_raw(name, raw, text, &[], &|_| true)?)),
            None => RawScenario::deserialize(Placeless(value))
                .map_err(|why| refused(message(&why)))
                .and_then(|raw| Scenario::of_raw(name, raw, text, &[], given, folder, on_bad_line)),
        };
        scenario.map_err(without_line)
    }
}

/// The sentence alone: what the library puts around it is of a text that nobody has written.
fn message(why: &toml::de::Error) -> String {
    why.message().to_owned()
}

/// A value that stands in no file.
struct Placeless(Value);

impl<'de> Deserializer<'de> for Placeless {
    type Error = toml::de::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        match self.0 {
            Value::Table(table) => visitor.visit_map(MapDeserializer::new(
                table.into_iter().map(|(key, value)| (key, Placeless(value))),
            )),
            Value::Array(values) => {
                visitor.visit_seq(SeqDeserializer::new(values.into_iter().map(Placeless)))
            }
            plain => plain.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        match is_spanned(name) {
            true => visitor.visit_map(SpannedDeserializer::new(self, 0..0)),
            false => self.deserialize_any(visitor),
        }
    }

    /// Names of the forms' choices are words without more in them.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        self.0.deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        unit unit_struct seq tuple tuple_struct map identifier ignored_any
    }
}

impl<'de> IntoDeserializer<'de, toml::de::Error> for Placeless {
    type Deserializer = Placeless;

    fn into_deserializer(self) -> Placeless {
        self
    }
}
