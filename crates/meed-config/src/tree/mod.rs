//! What a text or data say, as a tree of values, before it is read into forms.
//!
//! Forms (structs with derived readers) are read from this one tree, whatever it was made of: TOML
//! ([`read`]), or data that a program has made ([`read_data`]). So each form has one reader in the
//! program, and not one for each source. Invariant: each node knows where in the text it stands,
//! data stand at the empty place; an error has the place of the innermost node that it is about.
//!
//! Cost: one pass over the text's own tree; forms then read it without moving it.

mod deserialize;
mod error;
mod spanned;
#[cfg(test)]
mod tests;

use std::ops::Range;

use serde::Deserialize;
use serde::de::{Expected, Unexpected};
use toml::de::{DeInteger, DeTable, DeValue};

pub use error::FormError;
pub use spanned::Spanned;

/// A value, and where it stands.
pub(crate) struct Node {
    kind: Kind,
    place: Range<usize>,
}

/// A table's entry: the key, where it stands, its value.
struct Entry {
    key: String,
    place: Range<usize>,
    value: Node,
}

enum Kind {
    Text(String),
    Whole(i64),
    /// Above all of those.
    Large(u64),
    /// Beyond both: no form takes it, and its digits are for the message.
    Beyond(String),
    Fraction(f64),
    Flag(bool),
    Date(String),
    List(Vec<Node>),
    /// Sorted by key, no key twice.
    Table(Vec<Entry>),
}

/// Reads TOML into a form.
///
/// # Errors
///
/// What is wrong, and where.
///
/// ```
/// use meed_config::tree;
///
/// #[derive(Debug, serde::Deserialize)]
/// struct Form {
///     name: tree::Spanned<String>,
/// }
///
/// let form: Form = tree::read("name = \"a\"")?;
/// assert_eq!((form.name.get_ref().as_str(), form.name.span()), ("a", 7..10));
/// let wrong = tree::read::<Form>("\nname = 1").unwrap_err();
/// assert_eq!(wrong.message(), "invalid type: integer `1`, expected a string");
/// assert_eq!(wrong.span(), Some(8..9));
/// # Ok::<(), tree::FormError>(())
/// ```
pub fn read<T: for<'de> Deserialize<'de>>(text: &str) -> Result<T, FormError> {
    of_node(&of_text(text)?)
}

/// Reads data into a form; they stand nowhere.
///
/// # Errors
///
/// What is wrong.
pub fn read_data<T: for<'de> Deserialize<'de>>(data: toml::Value) -> Result<T, FormError> {
    of_node(&Node::from(data))
}

fn of_node<T: for<'de> Deserialize<'de>>(node: &Node) -> Result<T, FormError> {
    T::deserialize(node).map_err(|why| why.at(&node.place))
}

fn of_text(text: &str) -> Result<Node, FormError> {
    let root = DeTable::parse(text)?;
    let place = root.span();
    Ok(Node { kind: table(root.into_inner())?, place })
}

fn table(table: DeTable<'_>) -> Result<Kind, FormError> {
    let mut entries = Vec::with_capacity(table.len());
    for (key, value) in table {
        let (place, key) = (key.span(), key.into_inner().into_owned());
        entries.push(Entry { key, place, value: node(value)? });
    }
    Ok(Kind::Table(entries))
}

fn node(value: toml::Spanned<DeValue<'_>>) -> Result<Node, FormError> {
    let place = value.span();
    let too_large =
        |what: &str| FormError::new(format!("{what} number overflowed"), Some(place.clone()));
    let kind = match value.into_inner() {
        DeValue::String(text) => Kind::Text(text.into_owned()),
        DeValue::Integer(digits) => whole(&digits).ok_or_else(|| too_large("integer"))?,
        DeValue::Float(digits) => {
            Kind::Fraction(fraction(digits.as_str()).ok_or_else(|| too_large("floating-point"))?)
        }
        DeValue::Boolean(flag) => Kind::Flag(flag),
        DeValue::Datetime(date) => Kind::Date(date.to_string()),
        DeValue::Array(values) => {
            Kind::List(values.into_iter().map(node).collect::<Result<_, _>>()?)
        }
        DeValue::Table(inner) => table(inner)?,
    };
    Ok(Node { kind, place })
}

/// A double, where it holds the number that the digits mean.
fn fraction(digits: &str) -> Option<f64> {
    digits.parse().ok().filter(|number: &f64| !number.is_infinite() || digits.contains("inf"))
}

fn whole(digits: &DeInteger<'_>) -> Option<Kind> {
    let (text, radix) = (digits.as_str(), digits.radix());
    if let Ok(number) = i64::from_str_radix(text, radix) {
        return Some(Kind::Whole(number));
    }
    if let Ok(number) = u64::from_str_radix(text, radix) {
        return Some(Kind::Large(number));
    }
    // As the library of TOML counts: larger ones are an error of their own.
    if let Ok(number) = i128::from_str_radix(text, radix) {
        return Some(Kind::Beyond(format!("integer `{number}` as i128")));
    }
    let number = u128::from_str_radix(text, radix).ok()?;
    Some(Kind::Beyond(format!("integer `{number}` as u128")))
}

impl From<toml::Value> for Node {
    fn from(value: toml::Value) -> Node {
        let kind = match value {
            toml::Value::String(text) => Kind::Text(text),
            toml::Value::Integer(number) => Kind::Whole(number),
            toml::Value::Float(number) => Kind::Fraction(number),
            toml::Value::Boolean(flag) => Kind::Flag(flag),
            toml::Value::Datetime(date) => Kind::Date(date.to_string()),
            toml::Value::Array(values) => Kind::List(values.into_iter().map(Node::from).collect()),
            toml::Value::Table(table) => {
                let entry = |(key, value)| Entry { key, place: 0..0, value: Node::from(value) };
                Kind::Table(table.into_iter().map(entry).collect())
            }
        };
        Node { kind, place: 0..0 }
    }
}

impl Node {
    /// The error that this value is not what is `wanted`.
    #[cold]
    fn wrong(&self, wanted: &dyn Expected) -> FormError {
        let found = match &self.kind {
            Kind::Text(text) => Unexpected::Str(text),
            Kind::Whole(number) => Unexpected::Signed(*number),
            Kind::Large(number) => Unexpected::Unsigned(*number),
            Kind::Beyond(digits) => Unexpected::Other(digits),
            Kind::Fraction(number) => Unexpected::Float(*number),
            Kind::Flag(flag) => Unexpected::Bool(*flag),
            Kind::List(_) => Unexpected::Seq,
            Kind::Date(_) => Unexpected::Other("date or time"),
            Kind::Table(_) => Unexpected::Map,
        };
        serde::de::Error::invalid_type(found, wanted)
    }
}
