//! The first record of a run: everything that events do not tell. What other worlds add is kept.

use std::collections::BTreeMap;

use meed::{Labels, NodeSpec, ResourceKinds, Span, Unit};
use meed_config::number::Number;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::amounts::Amounts;
use crate::detail::Detail;
use crate::exact;
use crate::exact::{is_one, is_usual, one};
use crate::keys::Keys;
use crate::name::Name;

/// Version of the format that is written.
pub const SCHEMA: u32 = 2;

/// The first record of a run: which world wrote it, by what rules, and what there was at its
/// beginning. Names and meanings are those of docs/log.md.
///
/// ```
/// use meed::{Unit, RULES};
/// use meed_journal::{Header, SCHEMA};
///
/// let header = Header {
///     schema: SCHEMA,
///     rules: Some(RULES),
///     world: "server".to_owned(),
///     resources: vec!["cpu".to_owned()],
///     units: vec![Unit::Milli.into()],
///     ..Header::default()
/// };
/// assert_eq!(header.rules(), RULES);
/// assert_eq!(header.kinds()?.find("cpu"), Some(0));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Header {
    /// Version of the format.
    pub schema: u32,
    /// The edition of the rules that decided ([`meed::RULES`]); see [`Header::rules`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<u32>,
    /// What kind of world it was; empty: the simulator.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub world: String,
    /// The wall clock at time 0, in microseconds since 1970-01-01 UTC; a simulated world has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch_us: Option<u64>,
    /// File of the scenario, or what else the run is called after.
    #[serde(default)]
    pub scenario: String,
    /// The policy as the user named it.
    pub policy: String,
    /// Seed of the run.
    #[serde(default)]
    pub seed: u64,
    /// Names of the resources.
    pub resources: Vec<String>,
    /// Their units, in the same order.
    pub units: Vec<UnitName>,
    /// The resource of fairness.
    pub measured: String,
    /// Whether each tenant runs alone on its share.
    #[serde(default)]
    pub partitioned: bool,
    /// The placement's name.
    pub placement: String,
    /// Into how many slots the largest server was cut, where slots were shared: tasks and nodes are
    /// then recorded with their slots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slots_per_server: Option<u32>,
    /// How often a task may fail before its job fails; 0: as often as it will.
    #[serde(default)]
    pub max_attempts: u16,
    /// How often tasks save what they have done, for when they are stopped for others.
    #[serde(
        default,
        rename = "checkpoint_s",
        with = "exact",
        skip_serializing_if = "Option::is_none"
    )]
    pub checkpoint: Option<Span>,
    /// Part of the attempts that fail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fail_rate: Option<Number>,
    /// The run's end, where it is not its workload's.
    #[serde(default, rename = "until_s", with = "exact", skip_serializing_if = "Option::is_none")]
    pub until: Option<meed::Time>,
    /// The root's policy in full.
    pub root: Keys,
    /// What other policies start from; without it the root's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<Keys>,
    /// Policies that can be named.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub policies: BTreeMap<String, Keys>,
    /// Nodes at the start.
    pub nodes: Vec<NodeEntry>,
    /// Queues at the start, parents before their children.
    pub queues: Vec<QueueEntry>,
    /// What the input did not hold and was assumed, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<String>,
    /// The scenario as it was run, where there was one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub scenario_text: String,
    /// The world's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Detail,
    /// What this reader does not know.
    #[serde(flatten)]
    pub more: BTreeMap<String, Value>,
}

impl Header {
    /// The edition of the rules that decided: logs from before editions were counted name none, and
    /// are of the first.
    pub fn rules(&self) -> u32 {
        self.rules.unwrap_or(1)
    }

    /// The resources; in words what is wrong with them.
    pub fn kinds(&self) -> Result<ResourceKinds, String> {
        if self.resources.len() != self.units.len() {
            return Err("resources and units differ in number; give one unit (milli, bytes) for \
                        each"
                .to_owned());
        }
        let units = self.units.iter().map(|&unit| Unit::from(unit));
        let kinds = self.resources.iter().cloned().zip(units).collect();
        ResourceKinds::new(kinds).map_err(|why| why.to_string())
    }
}

/// How a resource is counted.
///
/// ```
/// use meed::Unit;
/// use meed_journal::UnitName;
///
/// assert_eq!(serde_json::to_string(&UnitName::from(Unit::Bytes))?, r#""bytes""#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UnitName {
    /// In thousandths.
    Milli,
    /// In bytes.
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

/// A node, as it joins.
///
/// ```
/// use meed::{NodeSpec, ResourceKinds, Resources, Unit};
/// use meed_journal::NodeEntry;
///
/// let kinds = ResourceKinds::new(vec![("cpu".to_owned(), Unit::Milli)])?;
/// let node = NodeSpec::new("n1", Resources::new(&[8000]));
/// let entry = NodeEntry::of(&node, &kinds);
/// assert_eq!(entry.read(&kinds)?, node);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct NodeEntry {
    /// Its name, which is its identity.
    pub name: Name,
    /// What it holds.
    pub capacity: Amounts,
    /// What an hour on it counts, in thousandths of an hour on an ordinary one.
    #[serde(default = "one", with = "exact::thousandths", skip_serializing_if = "is_one")]
    pub weight: u64,
    /// What constraints refer to.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
    /// It follows from other records: under `static` each tenant's node follows its share.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub of_share: bool,
    /// The world's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Detail,
}

impl NodeEntry {
    /// The form of `node`.
    pub fn of(node: &NodeSpec, kinds: &ResourceKinds) -> NodeEntry {
        NodeEntry {
            name: node.name.as_str().into(),
            capacity: Amounts::of(&node.capacity, kinds),
            weight: u64::from(node.weight),
            labels: node.labels.clone(),
            of_share: false,
            detail: None,
        }
    }

    /// The node; in words what is wrong with it.
    pub fn read(&self, kinds: &ResourceKinds) -> Result<NodeSpec, String> {
        let named = |what: &str, why: String| format!("node `{}`, {what}: {why}", self.name);
        let weight = u32::try_from(self.weight).ok().filter(|weight| *weight <= 10_000);
        Ok(NodeSpec {
            name: self.name.to_string(),
            capacity: self.capacity.read(kinds).map_err(|why| named("capacity", why))?,
            weight: weight.ok_or_else(|| named("weight", "at most 10".to_owned()))?,
            labels: self.labels.clone(),
        })
    }
}

/// A queue, as it is declared or comes back.
///
/// [`Header`] has a list of them, and its page an example.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct QueueEntry {
    /// Its full name, which is its identity; within the bounds of all names of queues.
    #[serde(deserialize_with = "bounded")]
    pub queue: Name,
    /// Its weight among its siblings, in thousandths.
    #[serde(default = "one", with = "exact::thousandths", skip_serializing_if = "is_one")]
    pub weight: u64,
    /// Its minimum share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<Amounts>,
    /// Its maximum share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Amounts>,
    /// Its policy in full, where it is not the root's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Keys>,
    /// Keys that it has of its own under every policy.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub own: Keys,
}

/// A name of a queue that is not longer, and not deeper, than a configuration's may be.
fn bounded<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Name, D::Error> {
    let name = Name::deserialize(deserializer)?;
    meed_config::queues::check_bounds(name.as_str()).map_err(serde::de::Error::custom)?;
    Ok(name)
}
