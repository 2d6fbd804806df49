//! Numbers and texts with units, as files hold them, and amounts of a cluster's resources.

use std::collections::BTreeMap;

use meed::{MAX_WEIGHT, ResourceKinds, Resources, Span, Unit};
use serde::{Deserialize, Serialize};

use crate::units::{parse_amount, parse_span};
use crate::words::did_you_mean;

/// A number, or text with a unit.
///
/// ```
/// use meed::Span;
/// use meed_config::quantity::Quantity;
///
/// let minute = Span::from_secs(60).ok_or("in range")?;
/// assert_eq!(Quantity::Text("1min".to_owned()).span("t_wait")?, minute);
/// assert_eq!(Quantity::Whole(60).span("t_wait")?, minute); // seconds
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(
    untagged,
    expecting = "expected a number, or text with a unit, as in 90, \"90s\" or \"4GiB\""
)]
pub enum Quantity {
    /// A whole number.
    Whole(i64),
    /// A number with a point or an exponent.
    Fraction(f64),
    /// A number with a unit, or a word.
    Text(String),
}

impl Quantity {
    /// As people write it: what the parsers of units take.
    pub fn text(&self) -> String {
        match self {
            Quantity::Whole(number) => number.to_string(),
            Quantity::Fraction(number) => number.to_string(),
            Quantity::Text(text) => text.clone(),
        }
    }

    /// As a duration; `key` is what the message calls it.
    pub fn span(&self, key: &str) -> Result<Span, String> {
        parse_span(&self.text()).map_err(|why| format!("{key}: {why}"))
    }
}

/// Two are equal that read alike: `90`, and `"90"`.
impl PartialEq for Quantity {
    fn eq(&self, other: &Quantity) -> bool {
        self.text() == other.text()
    }
}

/// Amounts by the name of the resource.
pub type AmountsByName = BTreeMap<String, Quantity>;

/// Amounts by name, in the cluster's kinds; what is not named is nothing.
pub fn amounts(raw: &AmountsByName, kinds: &ResourceKinds) -> Result<Resources, String> {
    let mut resources = Resources::zero(kinds.len());
    for (name, quantity) in raw {
        let Some(kind) = kinds.find(name) else {
            let near = did_you_mean(name, kinds.names()).unwrap_or_default();
            let known: Vec<&str> = kinds.names().collect();
            return Err(format!(
                "unknown resource `{name}`; the cluster has {}. {near}",
                known.join(", ")
            )
            .trim_end()
            .to_owned());
        };
        let amount = parse_amount(&quantity.text(), kinds.unit(kind))
            .map_err(|why| format!("`{name}`: {why}"))?;
        resources.as_mut_slice()[kind] = amount;
    }
    Ok(resources)
}

/// A demand: some amount of something.
pub fn demand(raw: &AmountsByName, kinds: &ResourceKinds) -> Result<Resources, String> {
    let demand = amounts(raw, kinds).map_err(|why| format!("demand: {why}"))?;
    if demand.is_zero() {
        return Err("demand: a task must ask for some amount of at least one resource".to_owned());
    }
    Ok(demand)
}

/// A minimum or maximum share. What it does not name it does not bound: that is `missing`.
pub fn bound(
    raw: Option<&AmountsByName>,
    kinds: &ResourceKinds,
    missing: u64,
) -> Result<Option<Resources>, String> {
    let Some(raw) = raw else { return Ok(None) };
    let mut bound = amounts(raw, kinds)?;
    for kind in (0..kinds.len()).filter(|&kind| !raw.contains_key(kinds.name(kind))) {
        bound.as_mut_slice()[kind] = missing;
    }
    Ok(Some(bound))
}

/// A weight in thousandths, above zero.
pub fn weight(raw: &Quantity) -> Result<u64, String> {
    let weight = parse_amount(&raw.text(), Unit::Milli).map_err(|why| why.to_string())?;
    if weight == 0 || weight > MAX_WEIGHT {
        return Err(format!(
            "{} is not a weight; it must be above 0 and at most 1000000",
            raw.text()
        ));
    }
    Ok(weight)
}
