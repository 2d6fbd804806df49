//! Spread constraints against kube-scheduler's plugin, read word by word from the pod as it is:
//! nothing of what Meed reads of a pod is used.

use std::collections::BTreeSet;
use std::sync::Arc;

use k8s_openapi::api::core::v1::{Node, Pod, TopologySpreadConstraint};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use serde_json::{Value, json};

use super::super::tests::Dice;
use super::super::{Namespaces, Neighbours, wish_label};
use super::*;
use crate::pod::rule::NodeFacts;

/// `metav1.LabelSelectorAsSelector`, and whether it is empty.
fn matches(selector: Option<&LabelSelector>, labels: &Labels) -> (bool, bool) {
    let Some(selector) = selector else { return (false, false) };
    let pairs = selector.match_labels.iter().flatten();
    let mut holds = pairs.clone().all(|(key, value)| labels.get(key) == Some(value));
    for one in selector.match_expressions.iter().flatten() {
        let value = labels.get(&one.key);
        let among = one.values.iter().flatten().any(|other| Some(other) == value);
        holds &= match one.operator.as_str() {
            "In" => among,
            "NotIn" => !among,
            "Exists" => value.is_some(),
            _ => value.is_none(),
        };
    }
    (holds, pairs.count() == 0 && selector.match_expressions.iter().flatten().count() == 0)
}

fn labels_of(pod: &Pod) -> Labels {
    pod.metadata.labels.clone().unwrap_or_default()
}

/// The selector and the pod's own values of `matchLabelKeys`: whether it holds, and is empty.
fn selects(one: &TopologySpreadConstraint, own: &Labels, labels: &Labels) -> (bool, bool) {
    let (mut holds, mut is_empty) = matches(one.label_selector.as_ref(), labels);
    for key in one.match_label_keys.iter().flatten().filter(|_| one.label_selector.is_some()) {
        if let Some(value) = own.get(key) {
            is_empty = false;
            holds &= labels.get(key) == Some(value);
        }
    }
    (holds, is_empty)
}

fn constraints(pod: &Pod) -> Vec<TopologySpreadConstraint> {
    let all = pod.spec.as_ref().unwrap().topology_spread_constraints.clone().unwrap_or_default();
    all.into_iter().filter(|one| one.when_unsatisfiable == "DoNotSchedule").collect()
}

fn node_labels(node: &Node) -> Labels {
    node.metadata.labels.clone().unwrap_or_default()
}

/// `matchNodeInclusionPolicies`: the pods of this test ask by node selector alone, and tolerate
/// everything or nothing.
fn is_included(pod: &Pod, one: &TopologySpreadConstraint, node: &Node) -> bool {
    let spec = pod.spec.as_ref().unwrap();
    let labels = node_labels(node);
    let mut wanted = spec.node_selector.iter().flatten();
    if one.node_affinity_policy.as_deref() != Some("Ignore")
        && !wanted.all(|(key, value)| labels.get(key) == Some(value))
    {
        return false;
    }
    let is_tainted = node.spec.as_ref().and_then(|spec| spec.taints.clone()).is_some();
    one.node_taints_policy.as_deref() != Some("Honor")
        || !is_tainted
        || spec.tolerations.as_ref().is_some_and(|all| !all.is_empty())
}

/// `calPreFilterState` and `Filter`.
fn is_allowed(pod: &Pod, name: &str, nodes: &[Node], placed: &[(String, Pod)]) -> bool {
    let all = constraints(pod);
    let own = labels_of(pod);
    let has_all = |labels: &Labels| all.iter().all(|one| labels.contains_key(&one.topology_key));
    let here = nodes.iter().find(|node| node.metadata.name.as_deref() == Some(name)).unwrap();
    for one in &all {
        let mut pods: BTreeMap<String, i64> = BTreeMap::new();
        for node in nodes {
            let labels = node_labels(node);
            if !has_all(&labels) || !is_included(pod, one, node) {
                continue;
            }
            let mut count = 0;
            for (at, other) in placed {
                let (holds, is_empty) = selects(one, &own, &labels_of(other));
                let is_counted = holds
                    && !is_empty
                    && other.metadata.deletion_timestamp.is_none()
                    && other.metadata.namespace == pod.metadata.namespace;
                count += i64::from(is_counted && node.metadata.name.as_ref() == Some(at));
            }
            *pods.entry(labels[&one.topology_key].clone()).or_default() += count;
        }
        let Some(value) = node_labels(here).get(&one.topology_key).cloned() else { return false };
        let mut least = pods.values().min().copied().unwrap_or(i64::from(i32::MAX));
        if (pods.len() as i64) < i64::from(one.min_domains.unwrap_or(1)) {
            least = 0;
        }
        let itself = i64::from(selects(one, &own, &own).0);
        let there = pods.get(&value).copied().unwrap_or(0);
        if there + itself - least > i64::from(one.max_skew) {
            return false;
        }
    }
    true
}

fn selector(dice: &mut Dice) -> Value {
    let value = dice.one_of(&["a", "b"]);
    match dice.roll(7) {
        0 => Value::Null,
        1 => json!({}),
        2 => json!({ "matchExpressions": [{ "key": "app", "operator": "Exists" }] }),
        3 => json!({ "matchExpressions": [
            { "key": "app", "operator": "NotIn", "values": [value] }] }),
        _ => json!({ "matchLabels": { "app": value } }),
    }
}

fn constraint(dice: &mut Dice) -> Value {
    let policy = |dice: &mut Dice| match dice.roll(3) {
        0 => json!("Honor"),
        1 => json!("Ignore"),
        _ => Value::Null,
    };
    json!({
        "maxSkew": 1 + dice.roll(2),
        "topologyKey": dice.one_of(&["zone", "host"]),
        "whenUnsatisfiable": if dice.roll(6) == 0 { "ScheduleAnyway" } else { "DoNotSchedule" },
        "labelSelector": selector(dice),
        "matchLabelKeys": if dice.roll(3) == 0 { json!(["version"]) } else { Value::Null },
        "minDomains": if dice.roll(3) == 0 { json!(1 + dice.roll(3)) } else { Value::Null },
        "nodeAffinityPolicy": policy(dice),
        "nodeTaintsPolicy": policy(dice),
    })
}

fn pod(dice: &mut Dice) -> Pod {
    let mut labels = json!({});
    for (key, sides) in [("app", 4), ("version", 2)] {
        if dice.roll(sides) > 0 {
            labels[key] = dice.one_of(&["a", "b"]).into();
        }
    }
    let selector =
        if dice.roll(4) == 0 { json!({ "zone": dice.one_of(&["1", "2"]) }) } else { Value::Null };
    let tolerations =
        if dice.roll(2) == 0 { json!([{ "operator": "Exists" }]) } else { Value::Null };
    let leaves = if dice.roll(6) == 0 { json!("2026-01-01T00:00:00Z") } else { Value::Null };
    let spreads: Vec<Value> = (0..=dice.roll(2)).map(|_| constraint(dice)).collect();
    let pod = json!({
        "metadata": { "name": "p", "namespace": dice.one_of(&["x", "x", "y"]), "labels": labels,
            "deletionTimestamp": leaves },
        "spec": { "containers": [], "nodeSelector": selector, "tolerations": tolerations,
            "topologySpreadConstraints": spreads },
    });
    serde_json::from_value(pod).unwrap()
}

fn node(dice: &mut Dice, number: usize) -> Node {
    let name = format!("n{number}");
    let mut labels = json!({ "host": name });
    if dice.roll(6) > 0 {
        labels["zone"] = dice.one_of(&["1", "2", "3"]).into();
    }
    let taint = json!([{ "key": "k", "effect": "NoSchedule" }]);
    let taints = if dice.roll(4) == 0 { taint } else { Value::Null };
    let node = json!({ "metadata": { "name": name, "labels": labels },
        "spec": { "taints": taints } });
    serde_json::from_value(node).unwrap()
}

#[test]
fn spreads_are_judged_as_the_plugin_judges_them() {
    let namespaces = Namespaces::new();
    let (mut yes, mut no) = (0, 0);
    for seed in 0..600 {
        let mut dice = Dice(seed);
        let count = 2 + dice.roll(4) as usize;
        let nodes: Vec<Node> = (0..count).map(|number| node(&mut dice, number)).collect();
        let facts: BTreeMap<String, NodeFacts> = nodes
            .iter()
            .map(|node| (node.metadata.name.clone().unwrap(), NodeFacts::of(node)))
            .collect();
        let mut neighbours = Neighbours::default();
        // One waits from the beginning, so that its counts follow the others.
        let first = pod(&mut dice);
        let near = |pod: &Pod| Arc::new(Near::of(pod).0);
        let wish = |pod: &Pod| near(pod).wish(&namespaces);
        if let Some(text) = wish(&first) {
            neighbours.wish(&text, &near(&first), &namespaces);
        }
        let mut placed: BTreeMap<String, (String, Pod)> = BTreeMap::new();
        for _ in 0..14 {
            let uid = format!("u{}", dice.roll(9));
            if dice.roll(5) == 0 {
                neighbours.take(&uid, &namespaces);
                placed.remove(&uid);
            } else {
                let (at, new) = (format!("n{}", dice.roll(count as u64)), pod(&mut dice));
                neighbours.place(&uid, &at, &near(&new), &namespaces);
                placed.insert(uid, (at, new));
            }
            let all: Vec<(String, Pod)> = placed.values().cloned().collect();
            for asks in [first.clone(), pod(&mut dice)] {
                let text = wish(&asks);
                assert_eq!(text.is_some(), !constraints(&asks).is_empty());
                text.iter().for_each(|text| neighbours.wish(text, &near(&asks), &namespaces));
                let view = neighbours.view(&facts);
                for (name, node) in &facts {
                    let expected = is_allowed(&asks, name, &nodes, &all);
                    let asked = (&*near(&asks), text.as_deref());
                    let why = neighbours.why_not(asked, name, &facts, &namespaces);
                    assert_eq!(why.is_none(), expected, "seed {seed}, {name}: {why:?}");
                    let told: BTreeSet<String> = view.labels(name, &node.labels).collect();
                    let is_told = text.iter().all(|text| told.contains(&wish_label(text)));
                    assert_eq!(is_told, expected, "seed {seed}, {name}: {told:?}");
                    *(if expected { &mut yes } else { &mut no }) += 1;
                }
                text.iter().for_each(|text| neighbours.unwish(text));
            }
        }
    }
    assert!(yes > 20_000 && no > 5000, "{yes} allowed, {no} not");
}
