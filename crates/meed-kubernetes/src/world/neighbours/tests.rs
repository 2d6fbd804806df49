//! Counts against a scan over all pods, as kube-scheduler's plugins do it.

use std::sync::Arc;

use k8s_openapi::api::core::v1::Pod;
use serde_json::{Value, json};

use super::*;

/// Numbers that look drawn, the same on every machine.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % sides
    }

    pub(super) fn one_of<'s>(&mut self, all: &[&'s str]) -> &'s str {
        all[self.roll(all.len() as u64) as usize]
    }
}

fn selector(dice: &mut Dice, key: &str) -> Value {
    match dice.roll(6) {
        0 => Value::Null,
        1 => json!({}),
        2 => json!({ "matchLabels": { key: dice.one_of(&["a", "b"]) } }),
        _ => {
            let operator = dice.one_of(&["In", "NotIn", "Exists", "DoesNotExist"]);
            let values = match operator {
                "In" | "NotIn" => json!([dice.one_of(&["a", "b"])]),
                _ => json!([]),
            };
            json!({ "matchExpressions": [{ "key": key, "operator": operator, "values": values }] })
        }
    }
}

fn terms(dice: &mut Dice) -> Value {
    let count = dice.roll(3).saturating_sub(1).max(dice.roll(2)) as usize;
    let term = |dice: &mut Dice| {
        let namespaces = match dice.roll(3) {
            0 => json!([dice.one_of(&["x", "y"])]),
            _ => Value::Null,
        };
        let of = if dice.roll(3) == 0 { selector(dice, "team") } else { Value::Null };
        json!({
            "labelSelector": selector(dice, "app"),
            "namespaces": namespaces,
            "namespaceSelector": of,
            "topologyKey": dice.one_of(&["zone", "host"]),
        })
    };
    json!({ "requiredDuringSchedulingIgnoredDuringExecution":
        (0..count).map(|_| term(dice)).collect::<Vec<_>>() })
}

fn pod(dice: &mut Dice, number: usize) -> Pod {
    let mut labels = json!({});
    if dice.roll(3) > 0 {
        labels["app"] = dice.one_of(&["a", "b"]).into();
    }
    let port = json!({
        "containerPort": 1,
        "hostPort": if dice.roll(3) == 0 { json!(80 + dice.roll(2)) } else { Value::Null },
        "hostIP": dice.one_of(&["", "10.0.0.1", "10.0.0.2"]),
        "protocol": dice.one_of(&["TCP", "UDP"]),
    });
    let container = json!({ "name": "c", "ports": [port] });
    let pod = json!({
        "metadata": { "name": format!("p{number}"), "namespace": dice.one_of(&["x", "y"]),
            "labels": labels },
        "spec": { "containers": [container], "affinity": {
            "podAffinity": terms(dice), "podAntiAffinity": terms(dice) } },
    });
    serde_json::from_value(pod).unwrap()
}

impl Nodes for BTreeMap<String, NodeFacts> {
    fn node(&self, name: &str) -> Option<&NodeFacts> {
        self.get(name)
    }

    fn all(&self) -> Box<dyn Iterator<Item = &NodeFacts> + '_> {
        Box::new(self.values())
    }
}

/// The plugins' own words: `InterPodAffinity` and `NodePorts` of kube-scheduler, pod by pod.
fn is_allowed(
    pod: &Near,
    name: &str,
    nodes: &BTreeMap<String, NodeFacts>,
    placed: &[(String, Arc<Near>)],
    namespaces: &Namespaces,
) -> bool {
    let pair = |node: &str, term: &Term| {
        let value = nodes.get(node)?.labels.get(&term.topology)?;
        Some((term.topology.clone(), value.clone()))
    };
    let mut beside = BTreeSet::new();
    for (node, other) in placed {
        for term in &other.keeps_away {
            let at = pair(node, term);
            if term.selects(pod, namespaces) && at.is_some() && at == pair(name, term) {
                return false;
            }
        }
        for term in &pod.keeps_away {
            let at = pair(node, term);
            if term.selects(other, namespaces) && at.is_some() && at == pair(name, term) {
                return false;
            }
        }
        if other.is_wanted_by(&pod.wants, namespaces) {
            beside.extend(pod.wants.iter().filter_map(|term| pair(node, term)));
        }
        let conflicts = |port| other.ports.iter().any(|taken| taken.conflicts(port));
        if node == name && pod.ports.iter().any(conflicts) {
            return false;
        }
    }
    let mut is_there = true;
    for term in &pod.wants {
        match pair(name, term) {
            None => return false,
            Some(at) => is_there &= beside.contains(&at),
        }
    }
    let is_first = beside.is_empty() && pod.is_wanted_by(&pod.wants, namespaces);
    is_there || is_first
}

/// Random clusters in which pods come, move and go, and namespaces change: at every step each
/// node is judged as the plugins would judge it.
#[test]
fn counts_are_what_a_scan_finds() {
    let (mut yes, mut no) = (0, 0);
    for seed in 0..300 {
        let mut dice = Dice(seed);
        let mut nodes: BTreeMap<String, NodeFacts> = BTreeMap::new();
        for number in 0..4 {
            let name = format!("n{number}");
            let mut labels = Labels::from([("host".to_owned(), name.clone())]);
            if dice.roll(4) > 0 {
                labels.insert("zone".to_owned(), dice.one_of(&["1", "2"]).to_owned());
            }
            nodes.insert(name.clone(), NodeFacts { name, labels, ..NodeFacts::default() });
        }
        let team = |value: &str| Labels::from([("team".to_owned(), value.to_owned())]);
        let mut namespaces =
            Namespaces::from([("x".to_owned(), team("a")), ("y".to_owned(), team("b"))]);
        let mut neighbours = Neighbours::default();
        let mut placed: BTreeMap<String, (String, Arc<Near>)> = BTreeMap::new();
        for step in 0..12 {
            let uid = format!("u{}", dice.roll(6));
            let near = Arc::new(Near::of(&pod(&mut dice, step)).0);
            match dice.roll(4) {
                0 => {
                    neighbours.take(&uid, &namespaces);
                    placed.remove(&uid);
                }
                _ => {
                    let node = format!("n{}", dice.roll(4));
                    neighbours.place(&uid, &node, &near, &namespaces);
                    placed.insert(uid, (node, near));
                }
            }
            if dice.roll(8) == 0 {
                namespaces.insert("x".to_owned(), team(dice.one_of(&["a", "b"])));
                neighbours.recount(&namespaces);
            }
            let mut asks = Near::of(&pod(&mut dice, 100)).0;
            if dice.roll(2) == 0 {
                asks.wants.clear();
            }
            let asks = Arc::new(asks);
            let wish = asks.wish(&namespaces);
            wish.iter().for_each(|text| neighbours.wish(text, &asks, &namespaces));
            let avoids = neighbours.against(&asks, &namespaces);
            neighbours.avoid(&avoids);
            let view = neighbours.view(&nodes);
            let all: Vec<_> = placed.values().cloned().collect();
            for (name, node) in &nodes {
                let expected = is_allowed(&asks, name, &nodes, &all, &namespaces);
                let why = neighbours.why_not((&asks, wish.as_deref()), name, &nodes, &namespaces);
                assert_eq!(why.is_none(), expected, "seed {seed}, step {step}, {name}: {why:?}");
                let told: BTreeSet<String> = view.labels(name, &node.labels).collect();
                let is_told = wish.iter().all(|text| told.contains(&wish_label(text)))
                    && !avoids.iter().any(|text| told.contains(&avoid_label(text)));
                assert_eq!(is_told, expected, "seed {seed}, step {step}, {name}: {told:?}");
                *(if expected { &mut yes } else { &mut no }) += 1;
            }
            // Some jobs go; others stay and are counted on.
            if dice.roll(2) == 0 {
                wish.iter().for_each(|text| neighbours.unwish(text));
                neighbours.unavoid(&avoids);
            }
        }
    }
    assert!(yes > 2000 && no > 2000, "{yes} allowed, {no} not");
}
