//! The value of a key.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::quantity::Quantity;

/// The value of a key, as it is written.
///
/// ```
/// use meed_config::policy::{PolicySpec, Value};
///
/// let spec: PolicySpec = "long-term,discount=0.5".parse()?;
/// assert_eq!(spec.get("discount"), Some(&Value::Number(0.5)));
/// # Ok::<(), meed_config::policy::SpecError>(())
/// ```
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
