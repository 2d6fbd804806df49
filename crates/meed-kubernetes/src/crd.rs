//! The kind `Queue`: what who runs the cluster writes, and what Meed tells people in its status.
//!
//! A queue's full name in the engine is the path of names from the top, joined by dots; so a name
//! has no dot in it. What cannot change in the engine (parent, policy) cannot change in the object:
//! the API server refuses it by rules in the schema. Deleting a Queue and making one of its name
//! brings the old one back, with its history, and may give it another policy.
//!
//! The schema in `deploy/kubernetes` is made from these types ([`definition`]); a test holds them
//! equal.

#![expect(unreachable_pub, reason = "the derive makes helper types that are public in a function")]

use std::borrow::Cow;
use std::collections::BTreeMap;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1 as extensions;
use kube::{CustomResource, CustomResourceExt, KubeSchema};
use meed::{QueueSpec, ResourceKinds, Resources};
use meed_config::policy::PolicySpec;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use meed_pods::quantity::amount;

/// A queue as it is wanted.
#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "meed.dev",
    version = "v1alpha1",
    kind = "Queue",
    root = "QueueObject",
    status = "QueueObjectStatus",
    plural = "queues",
    singular = "queue",
    derive = "PartialEq",
    doc = "A queue that shares the cluster with others; over time each gets its share.",
    printcolumn(name = "Parent", type_ = "string", json_path = ".spec.parent"),
    printcolumn(name = "Weight", type_ = "number", json_path = ".spec.weight"),
    printcolumn(name = "Mode", type_ = "string", json_path = ".spec.mode"),
    printcolumn(name = "Entitled", type_ = "string", json_path = ".status.entitled"),
    printcolumn(name = "Used", type_ = "string", json_path = ".status.used"),
    printcolumn(name = "Balance", type_ = "string", json_path = ".status.balance"),
    printcolumn(name = "Waiting", type_ = "integer", json_path = ".status.waiting"),
    printcolumn(name = "Next", type_ = "integer", json_path = ".status.next"),
    printcolumn(name = "Running", type_ = "integer", json_path = ".status.running"),
    printcolumn(
        name = "Accepted",
        type_ = "string",
        json_path = r#".status.conditions[?(@.type=="Accepted")].status"#
    ),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    validation = Rule::new("!self.metadata.name.contains('.') && self.metadata.name != 'root'")
        .message("a Queue's name has no dot, and is not `root`"),
    validation = Rule::new("size(self.metadata.name) <= 63")
        .message("a Queue's name is a label's value: at most 63 characters"),
    validation = Rule::new("!has(self.spec.parent) || self.spec.parent != self.metadata.name")
        .message("a Queue is not its own parent")
)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new(
    "has(self.parent) == has(oldSelf.parent) \
     && (!has(self.parent) || self.parent == oldSelf.parent)"
).message("the parent is fixed: delete the Queue and make it below the other parent"))]
#[x_kube(validation = Rule::new(
    "has(self.policy) == has(oldSelf.policy) \
     && (!has(self.policy) || self.policy == oldSelf.policy)"
).message("the policy is fixed: delete the Queue and make it anew; its history stays"))]
#[x_kube(validation = Rule::new("!has(self.minPriority) || has(self.parent)")
    .message("minPriority chooses among the Queues below one: give the parent"))]
#[x_kube(validation = Rule::new("self.weight >= 0.001 && self.weight <= 1000000.0")
    .message("the weight is from 0.001 to 1000000"))]
pub struct QueueObjectSpec {
    /// The Queue above it; none: it lies at the top.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub parent: Option<String>,
    /// Its weight among the Queues of the same parent.
    #[serde(default = "one")]
    pub weight: f64,
    /// It is served before others while it holds less than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<BTreeMap<String, AmountText>>,
    /// It never holds more than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<BTreeMap<String, AmountText>>,
    /// Keys of its policy that differ from those of the whole cluster: `fair`, or
    /// `long-term,half_life=24h`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1000))]
    pub policy: Option<String>,
    /// None of its pods starts, nor of the Queues below it, until this is taken away; those that
    /// run go on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stop: bool,
    /// Who places its pods.
    #[serde(default)]
    pub mode: PlacedBy,
    /// Among the Queues of the same parent: pods that name the parent, and whose priority is at
    /// least this, come to this one; where several would do, to the one with the highest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_priority: Option<i32>,
    /// Namespaces whose pods may use it, by their labels; `{}` allows all, none given allows none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace_selector: Option<NamespaceSelector>,
}

fn one() -> f64 {
    1.0
}

/// Who places the pods of a queue.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlacedBy {
    /// Meed lets a pod go when it is its turn, by taking our scheduling gate away; kube-scheduler
    /// places it.
    #[default]
    Gates,
    /// The same, and the pod is held to the node that Meed chose, by a node affinity that is
    /// written with the gate.
    Pins,
    /// Meed places it; the pod says `schedulerName: meed`.
    Binds,
}

/// An amount as Kubernetes writes it: `8`, `"500m"`, `"64Gi"`.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(untagged)]
pub enum AmountText {
    /// A whole number.
    Number(u64),
    /// With a suffix.
    Text(String),
}

impl AmountText {
    /// As it is written.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        match self {
            AmountText::Number(number) => number.to_string().into(),
            AmountText::Text(text) => text.into(),
        }
    }
}

impl JsonSchema for AmountText {
    fn schema_name() -> Cow<'static, str> {
        "AmountText".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "x-kubernetes-int-or-string": true })
    }
}

/// Labels that a namespace must have.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct NamespaceSelector {
    /// Each of these, with this value.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub match_labels: BTreeMap<String, String>,
    /// And each of these holds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub match_expressions: Vec<NamespaceExpression>,
}

/// A condition on one label.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
pub struct NamespaceExpression {
    /// The label.
    pub key: String,
    /// How it is compared.
    pub operator: LabelOperator,
    /// With what; empty for `Exists` and `DoesNotExist`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
}

/// How a label is compared.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelOperator {
    /// It has one of the values.
    In,
    /// It has none of the values, or is missing.
    NotIn,
    /// It is there.
    Exists,
    /// It is missing.
    DoesNotExist,
}

impl NamespaceSelector {
    /// Whether all namespaces are meant.
    pub(crate) fn is_all(&self) -> bool {
        self.match_labels.is_empty() && self.match_expressions.is_empty()
    }

    /// Whether a namespace with these labels is meant.
    pub fn allows(&self, labels: &BTreeMap<String, String>) -> bool {
        let expression = |one: &NamespaceExpression| {
            let value = labels.get(&one.key);
            let named = value.is_some_and(|value| one.values.contains(value));
            match one.operator {
                LabelOperator::In => named,
                LabelOperator::NotIn => !named,
                LabelOperator::Exists => value.is_some(),
                LabelOperator::DoesNotExist => value.is_none(),
            }
        };
        self.match_labels.iter().all(|(key, value)| labels.get(key) == Some(value))
            && self.match_expressions.iter().all(expression)
    }
}

/// How a queue stands, for people: written seldom, read by nobody who decides.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct QueueObjectStatus {
    /// Its share of what fairness is measured in: `40 cpu`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entitled: Option<String>,
    /// What it holds of that now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<String>,
    /// What it has lent, less what it has borrowed: `+12.5 cpu-hours`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub balance: Option<String>,
    /// All that it has used, in seconds of what fairness is measured in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<f64>,
    /// What its ledger holds against it: under `long-term` all that it has used and that has not
    /// faded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub charged: Option<f64>,
    /// Pods that wait for their turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<u64>,
    /// Its place among the Queues of the same parent of which pods wait: 1 is served next. Told of
    /// the first ten.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
    /// Pods that were let go, and that kube-scheduler has not placed in time: they hold nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unplaced: Option<u64>,
    /// Pods that hold something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running: Option<u64>,
    /// When this was so, in microseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of_micros: Option<i64>,
    /// `Accepted`: whether pods are served, and if not, why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<QueueCondition>,
}

/// A condition of a queue.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct QueueCondition {
    /// Which.
    #[serde(rename = "type")]
    pub kind: String,
    /// `True` or `False`.
    pub status: String,
    /// In a word.
    pub reason: String,
    /// In a sentence.
    pub message: String,
    /// Since when.
    pub last_transition_time: String,
}

impl QueueObjectSpec {
    /// How the engine is told of it, under its full name; in words what is wrong.
    pub(crate) fn engine_spec(
        &self,
        full_name: &str,
        root: &PolicySpec,
        kinds: &ResourceKinds,
    ) -> Result<QueueSpec, String> {
        let own: PolicySpec = match &self.policy {
            Some(text) => text.parse().map_err(|why| format!("policy: {why}"))?,
            None => PolicySpec::default(),
        };
        let policy = own.over(root).policy(kinds).map_err(|why| format!("policy: {why}"))?;
        let bounds = |part: &str, missing: u64, given: &Option<BTreeMap<String, AmountText>>| {
            let read = given.as_ref().map(|given| amounts(given, kinds, missing)).transpose();
            read.map_err(|why| format!("{part}: {why}"))
        };
        Ok(QueueSpec {
            name: full_name.to_owned(),
            weight: (self.weight * 1000.0).round() as u64,
            min: bounds("min", 0, &self.min)?,
            max: bounds("max", meed::MAX_AMOUNT, &self.max)?,
            policy,
        })
    }
}

fn amounts(
    given: &BTreeMap<String, AmountText>,
    kinds: &ResourceKinds,
    missing: u64,
) -> Result<Resources, String> {
    let mut all = Resources::new(&vec![missing; kinds.len()]);
    for (name, text) in given {
        let kind = kinds.find(name).ok_or_else(|| {
            let known = kinds.names().collect::<Vec<_>>().join(", ");
            format!("unknown resource `{name}`; this installation counts {known}")
        })?;
        let read =
            amount(&text.text(), kinds.unit(kind)).map_err(|why| format!("{name}: {why}"))?;
        all.as_mut_slice()[kind] = read.min(meed::MAX_AMOUNT);
    }
    Ok(all)
}

/// The definition that `kubectl apply` takes, as JSON (which is YAML, too).
pub fn definition() -> String {
    let crd: extensions::CustomResourceDefinition = QueueObject::crd();
    let mut text = serde_json::to_string_pretty(&crd).unwrap_or_default();
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use meed::Unit;
    use serde_json::{Value, json};

    fn kinds() -> ResourceKinds {
        let kinds = vec![("cpu".to_owned(), Unit::Milli), ("memory".to_owned(), Unit::Bytes)];
        ResourceKinds::new(kinds).unwrap()
    }

    fn spec(spec: Value) -> Result<QueueSpec, String> {
        let spec: QueueObjectSpec = serde_json::from_value(spec).unwrap();
        spec.engine_spec("a.b", &"long-term".parse().unwrap(), &kinds())
    }

    #[test]
    fn a_queue_becomes_one_of_the_engine() {
        let queue = spec(json!({
            "weight": 2.5, "min": { "cpu": "500m" }, "max": { "memory": "1Gi", "cpu": 4 },
            "policy": "fair"
        }));
        let queue = queue.unwrap();
        assert_eq!((queue.name.as_str(), queue.weight), ("a.b", 2500));
        assert_eq!(queue.min.unwrap().as_slice(), [500, 0]);
        assert_eq!(queue.max.unwrap().as_slice(), [4000, 1 << 30]);
        assert_eq!(queue.policy.measure, meed::Measure::Allocation);
        assert_eq!(
            spec(json!({ "max": { "cpu": 1 } })).unwrap().max.unwrap().get(1),
            meed::MAX_AMOUNT
        );
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        for (wrong, message) in [
            (json!({ "min": { "gpu": 1 } }), "min: unknown resource `gpu`"),
            (json!({ "max": { "cpu": "four" } }), "max: cpu: quantity `four`"),
            (json!({ "policy": "fairest" }), "policy: unknown policy `fairest`"),
        ] {
            let error = spec(wrong).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn namespaces_are_chosen_by_their_labels() {
        let labels: BTreeMap<String, String> = [("team".to_owned(), "a".to_owned())].into();
        let one = |key: &str, operator: &str, values: &[&str]| {
            let one = json!({ "key": key, "operator": operator, "values": values });
            json!({ "matchExpressions": [one] })
        };
        for (selector, expected) in [
            (json!({}), true),
            (json!({ "matchLabels": { "team": "a" } }), true),
            (json!({ "matchLabels": { "team": "b" } }), false),
            (one("team", "In", &["a", "b"]), true),
            (one("team", "NotIn", &["a"]), false),
            (one("none", "NotIn", &["a"]), true),
            (one("team", "Exists", &[]), true),
            (one("team", "DoesNotExist", &[]), false),
        ] {
            let read: NamespaceSelector = serde_json::from_value(selector.clone()).unwrap();
            assert_eq!(read.allows(&labels), expected, "{selector}");
        }
    }

    #[test]
    fn the_manifest_is_made_from_the_types() {
        let manifest = include_str!("../../../deploy/kubernetes/chart/objects/crd.json");
        let hint = "write it anew: cargo run -p meed-kubernetes -- crd > \
                    deploy/kubernetes/chart/objects/crd.json";
        assert!(manifest == definition(), "{hint}");
    }
}
