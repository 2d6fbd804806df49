//! The value of a key.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::quantity::Quantity;

/// The value of a key, as it is written.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// A word out of a few, or a name.
    Word(String),
    /// A number or text with a unit.
    Quantity(Quantity),
    /// A plain number.
    Number(f64),
    /// A whole number of things.
    Count(u32),
    /// A number for each resource.
    Prices(BTreeMap<String, f64>),
    /// Yes or no.
    Flag(bool),
}

/// A value that is written as text with a unit.
pub(super) fn text(text: &str) -> Value {
    Value::Quantity(Quantity::Text(text.to_owned()))
}
