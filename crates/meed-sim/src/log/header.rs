//! The first line of a run: everything that events do not tell. What other worlds add is kept.

use std::collections::BTreeMap;

use meed::{Labels, MAX_AMOUNT, ResourceKinds, Resources, Unit};
use meed_config::number::{Exact, Number};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Policy keys, as in a scenario (docs/scenario.md).
pub(crate) type Keys = Map<String, Value>;

/// Amounts by name, in natural units.
pub(crate) type AmountsLine = BTreeMap<String, Number>;

/// See the module. Names and meanings are those of docs/log.md.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Header {
    /// Version of the format.
    pub schema: u32,
    /// File of the scenario, or what else the run is called after.
    #[serde(default)]
    pub scenario: String,
    /// The policy as the user named it.
    pub policy: String,
    /// Seed of the run.
    #[serde(default)]
    pub seed: u64,
    pub(crate) resources: Vec<String>,
    pub(crate) units: Vec<UnitName>,
    pub(crate) measured: String,
    #[serde(default)]
    pub(crate) partitioned: bool,
    pub(crate) placement: String,
    /// Into how many slots the largest server was cut, where slots were shared: tasks and nodes are
    /// then recorded with their slots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) slots_per_server: Option<u32>,
    pub(crate) max_attempts: u16,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fail_rate: Option<Number>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) until_s: Option<Number>,
    /// The root's policy in full.
    pub(crate) root: Keys,
    /// What other policies start from; without it the root's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) base: Option<Keys>,
    /// Policies that can be named.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) policies: BTreeMap<String, Keys>,
    pub(crate) nodes: Vec<NodeLine>,
    pub(crate) queues: Vec<QueueLine>,
    /// What the input did not hold and was assumed, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) assumptions: Vec<String>,
    /// The scenario as it was run, where there was one.
    #[serde(default)]
    pub(crate) scenario_text: String,
    /// What this reader does not know.
    #[serde(flatten)]
    pub(crate) more: BTreeMap<String, Value>,
}

/// How a resource is counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum UnitName {
    Milli,
    Bytes,
}

impl From<Unit> for UnitName {
    fn from(unit: Unit) -> UnitName {
        match unit {
            Unit::Milli => UnitName::Milli,
            Unit::Bytes => UnitName::Bytes,
        }
    }
}

impl From<UnitName> for Unit {
    fn from(unit: UnitName) -> Unit {
        match unit {
            UnitName::Milli => Unit::Milli,
            UnitName::Bytes => Unit::Bytes,
        }
    }
}

/// A node.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct NodeLine {
    pub(crate) name: String,
    pub(crate) capacity: AmountsLine,
    pub(crate) weight: Number,
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub(crate) labels: Labels,
}

/// A queue.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct QueueLine {
    pub(crate) queue: String,
    pub(crate) weight: Number,
    #[serde(default)]
    pub(crate) min: Option<AmountsLine>,
    #[serde(default)]
    pub(crate) max: Option<AmountsLine>,
    /// Its policy in full, where it is not the root's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) policy: Option<Keys>,
    /// Keys that it has of its own under every policy.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(crate) own: Keys,
}

/// Which amounts of a bound are written: those that bound something.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum BoundsLine {
    /// Nothing is no minimum.
    Minimum,
    /// Nothing is a maximum; all there can be is none.
    Maximum,
}

/// Amounts by name, without those of nothing.
pub(crate) fn amounts_line(amounts: &Resources, kinds: &ResourceKinds) -> AmountsLine {
    bounds_line(amounts, kinds, BoundsLine::Minimum)
}

/// A bound by name: what it does not bound is left out.
pub(crate) fn bounds_line(
    bound: &Resources,
    kinds: &ResourceKinds,
    which: BoundsLine,
) -> AmountsLine {
    let missing = match which {
        BoundsLine::Minimum => 0,
        BoundsLine::Maximum => MAX_AMOUNT,
    };
    let some = (0..kinds.len()).filter(|&kind| bound.get(kind) != missing);
    some.map(|kind| {
        (
            kinds.name(kind).to_owned(),
            Number::from(Exact::amount(bound.get(kind), kinds.unit(kind))),
        )
    })
    .collect()
}
