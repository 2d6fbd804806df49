//! How values of keys are written, and policies as data: tables of keys in any format of serde.
//!
//! A table from TOML text keeps where each value stands ([`InToml`]), so that errors name a line;
//! other formats have no such positions.

use std::fmt;
use std::ops::Range;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use super::keys::{Form, Key, NAMES, row};
use super::spec::{Given, PolicySpec};
use super::value::Value;
use crate::tree::Spanned;

impl Form {
    /// A value of this form.
    pub(super) fn read<'de, D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        Ok(match self {
            Form::Word => Value::Word(Deserialize::deserialize(from)?),
            Form::Quantity => Value::Quantity(Deserialize::deserialize(from)?),
            Form::Number => Value::Number(Number::deserialize(from)?.0),
            Form::Count => Value::Count(Count::deserialize(from)?.0),
            Form::Prices => Value::Prices(Deserialize::deserialize(from)?),
            Form::Flag => Value::Flag(Deserialize::deserialize(from)?),
        })
    }

    /// A value of this form, with its place in the TOML text.
    fn read_spanned<'de, D: Deserializer<'de>>(self, from: D) -> Result<Given, D::Error> {
        fn given<T>(spanned: Spanned<T>, value: fn(T) -> Value) -> Given {
            let span = spanned.span();
            Given { value: value(spanned.into_inner()), span: Some(span) }
        }
        Ok(match self {
            Form::Word => given(Deserialize::deserialize(from)?, Value::Word),
            Form::Quantity => given(Deserialize::deserialize(from)?, Value::Quantity),
            Form::Number => given(Deserialize::deserialize(from)?, |n: Number| Value::Number(n.0)),
            Form::Count => given(Deserialize::deserialize(from)?, |n: Count| Value::Count(n.0)),
            Form::Prices => given(Deserialize::deserialize(from)?, Value::Prices),
            Form::Flag => given(Deserialize::deserialize(from)?, Value::Flag),
        })
    }
}

/// A plain number. Its own type, so that messages speak of a number and not of `f64`.
struct Number(f64);

/// A whole number of things, likewise.
struct Count(u32);

struct Numbers {
    wanted: &'static str,
}

impl Visitor<'_> for Numbers {
    type Value = f64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.wanted)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<f64, E> {
        Ok(number as f64)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<f64, E> {
        Ok(number as f64)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<f64, E> {
        Ok(number)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Number, D::Error> {
        from.deserialize_any(Numbers { wanted: "a number" }).map(Number)
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Count, D::Error> {
        const WANTED: &str = "a whole number of 0 or more";
        let number = from.deserialize_any(Numbers { wanted: WANTED })?;
        let found = match number.fract() == 0.0 {
            true if (0.0..=f64::from(u32::MAX)).contains(&number) => {
                return Ok(Count(number as u32));
            }
            true => Unexpected::Signed(number as i64),
            false => Unexpected::Float(number),
        };
        Err(D::Error::invalid_value(found, &WANTED))
    }
}

/// A policy's table within TOML text: as [`PolicySpec`], and each value knows where it stands.
///
/// ```
/// use meed_config::policy::{InToml, PolicySpec};
/// use meed_config::tree;
///
/// let InToml(keys) = tree::read("order = \"fair\"\nt_wait = \"5min\"")?;
/// assert_eq!(keys.to_string(), "fair,t_wait=5min");
/// # Ok::<(), tree::FormError>(())
/// ```
#[derive(Clone, PartialEq, Debug, Default)]
pub struct InToml(pub PolicySpec);

impl From<InToml> for PolicySpec {
    fn from(InToml(spec): InToml) -> PolicySpec {
        spec
    }
}

impl<'de> Deserialize<'de> for InToml {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<InToml, D::Error> {
        from.deserialize_any(Table { spanned: true }).map(InToml)
    }
}

/// A table of keys, or the short form as text.
impl<'de> Deserialize<'de> for PolicySpec {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<PolicySpec, D::Error> {
        from.deserialize_any(Table { spanned: false })
    }
}

/// A table of keys; the static partition, which is none of them, as text.
impl Serialize for PolicySpec {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if self.partitioned {
            return to.collect_str(self);
        }
        to.collect_map(self.rows().map(|(key, given)| (key.name, &given.value)))
    }
}

struct Table {
    spanned: bool,
}

impl<'de> Visitor<'de> for Table {
    type Value = PolicySpec;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table of policy keys")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<PolicySpec, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut table: A) -> Result<PolicySpec, A::Error> {
        let mut spec = PolicySpec::default();
        while let Some(Row(key)) = table.next_key()? {
            let given = table.next_value_seed(Cell { form: key.form, spanned: self.spanned })?;
            if spec.given.insert(key.name, given).is_some() {
                return Err(A::Error::duplicate_field(key.name));
            }
        }
        Ok(spec)
    }
}

/// A key by its row. Read by itself, so that what is wrong with it is said with its place.
struct Row(&'static Key);

impl<'de> Deserialize<'de> for Row {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Row, D::Error> {
        from.deserialize_identifier(RowName)
    }
}

struct RowName;

impl Visitor<'_> for RowName {
    type Value = Row;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key of policies")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Row, E> {
        row(name).map(Row).ok_or_else(|| E::unknown_field(name, &NAMES))
    }
}

struct Cell {
    form: Form,
    spanned: bool,
}

impl<'de> DeserializeSeed<'de> for Cell {
    type Value = Given;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Given, D::Error> {
        match self.spanned {
            true => self.form.read_spanned(from),
            false => self.form.read(from).map(|value| Given { value, span: None }),
        }
    }
}

/// A word within TOML text, with its place.
impl From<Spanned<String>> for Given {
    fn from(word: Spanned<String>) -> Given {
        let span: Range<usize> = word.span();
        Given { value: Value::Word(word.into_inner()), span: Some(span) }
    }
}

impl From<String> for Given {
    fn from(word: String) -> Given {
        Given { value: Value::Word(word), span: None }
    }
}
