//! Resources and nodes as people write them.

use std::collections::BTreeMap;

use meed::{NodeSpec, ResourceKinds, Unit};
use serde::{Deserialize, Serialize};

use crate::quantity::{AmountsByName, Quantity, amounts, weight};

/// Most nodes that can be declared.
pub const MAX_NODES: usize = 1 << 20;

/// A resource: its name, or its name and the unit in which it is counted.
///
/// ```
/// use meed::Unit;
/// use meed_config::nodes::{ResourceForm, UnitForm, kinds};
///
/// let gpu = ResourceForm::Detailed { name: "gpu".to_owned(), unit: UnitForm::Milli };
/// let kinds = kinds(&[ResourceForm::Name("memory".to_owned()), gpu])?;
/// assert_eq!((kinds.unit(0), kinds.unit(1)), (Unit::Bytes, Unit::Milli));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Deserialize, Serialize)]
#[serde(
    untagged,
    deny_unknown_fields,
    expecting = "expected a resource's name, or { name = \"..\", unit = \"bytes\" or \"milli\" }"
)]
pub enum ResourceForm {
    /// The unit is as usual for the name.
    Name(String),
    /// With its unit.
    Detailed {
        /// The name.
        name: String,
        /// The unit.
        unit: UnitForm,
    },
}

/// A unit by its name.
///
/// It is part of a [`ResourceForm`], whose page has an example.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum UnitForm {
    /// Whole bytes.
    Bytes,
    /// Thousandths.
    Milli,
}

impl From<Unit> for UnitForm {
    fn from(unit: Unit) -> UnitForm {
        match unit {
            Unit::Bytes => UnitForm::Bytes,
            Unit::Milli => UnitForm::Milli,
        }
    }
}

impl ResourceForm {
    /// Name and unit.
    fn pair(&self) -> (String, Unit) {
        match self {
            ResourceForm::Name(name) => (name.clone(), unit_of(name)),
            ResourceForm::Detailed { name, unit: UnitForm::Bytes } => (name.clone(), Unit::Bytes),
            ResourceForm::Detailed { name, unit: UnitForm::Milli } => (name.clone(), Unit::Milli),
        }
    }
}

/// Memory and disk are counted in bytes, everything else in thousandths, unless it is said
/// otherwise.
pub fn unit_of(name: &str) -> Unit {
    let name = name.to_lowercase();
    let bytes = ["mem", "ram", "disk", "storage", "bytes"].iter().any(|part| name.contains(part));
    if bytes { Unit::Bytes } else { Unit::Milli }
}

/// The cluster's resource kinds.
pub fn kinds(resources: &[ResourceForm]) -> Result<ResourceKinds, String> {
    let kinds = resources.iter().map(ResourceForm::pair).collect();
    ResourceKinds::new(kinds).map_err(|why| format!("resources: {why}"))
}

/// A group of equal nodes.
///
/// ```
/// use meed_config::nodes::{NodeForm, ResourceForm, kinds};
/// use meed_config::quantity::Quantity;
///
/// let kinds = kinds(&[ResourceForm::Name("cpu".to_owned())])?;
/// let capacity = [("cpu".to_owned(), Quantity::Whole(16))].into();
/// let nodes = NodeForm { count: 2, ..NodeForm::one("n", capacity) }.nodes("node", &kinds)?;
/// assert_eq!((nodes.len(), nodes[1].capacity.get(0)), (2, 16_000)); // thousandths of a core
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, PartialEq, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, expecting = "a [[cluster.node]] table")]
pub struct NodeForm {
    /// `name` alone, or `name-0` and so on for several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How many there are.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub count: i64,
    /// What each has.
    pub capacity: AmountsByName,
    /// What an hour on it counts, against 1 for an ordinary one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<Quantity>,
    /// What constraints of tasks refer to.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

fn one() -> i64 {
    1
}

fn is_one(count: &i64) -> bool {
    *count == 1
}

impl NodeForm {
    /// One node with this capacity.
    pub fn one(name: impl Into<String>, capacity: AmountsByName) -> NodeForm {
        let name = Some(name.into());
        NodeForm { name, count: 1, capacity, weight: None, labels: BTreeMap::new() }
    }

    /// The nodes of the group, called `unnamed` when it has no name.
    pub fn nodes(&self, unnamed: &str, kinds: &ResourceKinds) -> Result<Vec<NodeSpec>, String> {
        let base = self.name.clone().unwrap_or_else(|| unnamed.to_owned());
        if self.count < 1 {
            return Err(format!("node `{base}`: count is {}; at least 1 is needed", self.count));
        }
        if self.count as u64 > MAX_NODES as u64 {
            return Err(format!(
                "node `{base}`: count is {}; at most {MAX_NODES} are possible",
                self.count
            ));
        }
        let capacity = amounts(&self.capacity, kinds)
            .map_err(|why| format!("node `{base}`, capacity: {why}"))?;
        let is_zero = |name: &str| kinds.find(name).is_some_and(|kind| capacity.get(kind) == 0);
        if let Some(name) = self.capacity.keys().find(|name| is_zero(name)) {
            return Err(format!(
                "node `{base}`: capacity of `{name}` is zero; leave it out or make it positive"
            ));
        }
        if capacity.is_zero() {
            let what = "capacity must be above zero in at least one resource";
            return Err(format!("node `{base}`: {what}"));
        }
        if self.labels.keys().any(String::is_empty) {
            return Err(format!("node `{base}`: a label without a name"));
        }
        let node = NodeSpec {
            weight: self.weight(&base)?,
            labels: self.labels.clone(),
            ..NodeSpec::new("", capacity)
        };
        let name = |i: i64| if self.count == 1 { base.clone() } else { format!("{base}-{i}") };
        Ok((0..self.count).map(|i| NodeSpec { name: name(i), ..node.clone() }).collect())
    }

    /// In thousandths.
    fn weight(&self, base: &str) -> Result<u32, String> {
        let Some(raw) = &self.weight else { return Ok(1000) };
        let weight = weight(raw).map_err(|why| format!("node `{base}`, weight: {why}"))?;
        let weight = u32::try_from(weight).ok().filter(|weight| (1..=10_000).contains(weight));
        weight.ok_or_else(|| format!("node `{base}`: weight must be above 0 and at most 10"))
    }
}
