//! What a pod's bound volumes say of nodes.
//!
//! | of a volume | a node is right where |
//! |---|---|
//! | `spec.nodeAffinity` | one of its terms holds (VolumeBinding of kube-scheduler) |
//! | labels of zone and region | it has that label with one of the values, by its present or its former name, or has none of these labels at all (VolumeZone) |
//!
//! Two volumes that say the same are one [`Place`]: pods with volumes of one zone share a rule.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::{NodeSelectorTerm, PersistentVolume, Pod};

use super::rule::{self, NodeFacts};

/// Labels of nodes and volumes that name a place, with their former names.
const ZONES: [(&str, &str); 2] = [
    ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"),
    ("topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"),
];
/// Between the zones of a volume that is in several.
const BETWEEN: &str = "__";

/// From where a volume can be used.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Place {
    terms: Option<Vec<NodeSelectorTerm>>,
    /// By the present name of the label.
    zones: BTreeMap<&'static str, BTreeSet<String>>,
}

impl Place {
    /// Of a volume; `None`: from everywhere.
    pub(crate) fn of(volume: &PersistentVolume) -> Option<Place> {
        let spec = volume.spec.as_ref();
        let affinity = spec.and_then(|spec| spec.node_affinity.as_ref());
        let required = affinity.and_then(|affinity| affinity.required.as_ref());
        let labels = volume.metadata.labels.as_ref();
        let value = |name: &str| labels.and_then(|labels| labels.get(name));
        let zones = ZONES.iter().filter_map(|&(name, former)| {
            let values = value(name).or_else(|| value(former))?;
            Some((name, values.split(BETWEEN).map(str::to_owned).collect()))
        });
        let place = Place {
            terms: required.map(|required| required.node_selector_terms.clone()),
            zones: zones.collect(),
        };
        (place != Place::default()).then_some(place)
    }

    /// Whether it can be used there.
    pub(super) fn is_at(&self, node: &NodeFacts) -> bool {
        let terms = self.terms.as_ref();
        terms.is_none_or(|terms| terms.iter().any(|term| rule::holds(term, node)))
            && self.is_in_zone(node)
    }

    fn is_in_zone(&self, node: &NodeFacts) -> bool {
        let label = |&(name, former): &(&str, &str)| {
            node.labels.get(name).or_else(|| node.labels.get(former))
        };
        let has = |(name, values): (&&str, &BTreeSet<String>)| {
            let zone = ZONES.iter().find(|(present, _)| present == name);
            zone.and_then(label).is_some_and(|value| values.contains(value))
        };
        ZONES.iter().all(|zone| label(zone).is_none()) || self.zones.iter().all(has)
    }

    /// Equal for equal places, and readable.
    pub(super) fn text(&self) -> String {
        let mut all = Vec::new();
        if let Some(terms) = &self.terms {
            let mut terms: Vec<String> = terms.iter().map(rule::term_text).collect();
            terms.sort();
            all.push(terms.join(" | "));
        }
        for (name, values) in &self.zones {
            let values: Vec<&str> = values.iter().map(String::as_str).collect();
            all.push(format!("{name} in ({})", values.join(",")));
        }
        all.join(" & ")
    }
}

/// Names of the claims that a pod uses, each once.
pub(crate) fn claims_of(pod: &Pod) -> Vec<String> {
    let volumes = pod.spec.iter().flat_map(|spec| spec.volumes.iter().flatten());
    let claims = volumes.filter_map(|volume| volume.persistent_volume_claim.as_ref());
    let names: BTreeSet<String> = claims.map(|claim| claim.claim_name.clone()).collect();
    names.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn place(labels: Value, terms: Value) -> Option<Place> {
        let affinity = match terms.is_null() {
            true => Value::Null,
            false => json!({ "required": { "nodeSelectorTerms": terms } }),
        };
        let volume = json!({ "metadata": { "name": "v", "labels": labels },
            "spec": { "nodeAffinity": affinity } });
        Place::of(&serde_json::from_value(volume).unwrap())
    }

    fn node(labels: Value) -> NodeFacts {
        let node = json!({ "metadata": { "name": "n", "labels": labels } });
        NodeFacts::of(&serde_json::from_value(node).unwrap())
    }

    #[test]
    fn a_volume_is_where_its_affinity_and_its_zone_are() {
        let (zone, old) = ZONES[0];
        let region = ZONES[1].0;
        let on = |host: &str| {
            let one = json!({ "key": "host", "operator": "In", "values": [host] });
            json!([{ "matchExpressions": [one] }])
        };
        for (labels, terms, at, expected) in [
            (json!({}), on("a"), json!({ "host": "a" }), true),
            (json!({}), on("a"), json!({ "host": "b" }), false),
            (json!({}), json!([]), json!({ "host": "a" }), false),
            (json!({ zone: "x" }), Value::Null, json!({ zone: "x" }), true),
            (json!({ zone: "x" }), Value::Null, json!({ zone: "y" }), false),
            (json!({ zone: "x__y" }), Value::Null, json!({ zone: "y" }), true),
            (json!({ old: "x" }), Value::Null, json!({ zone: "x" }), true),
            (json!({ zone: "x" }), Value::Null, json!({ old: "x" }), true),
            (json!({ zone: "x" }), Value::Null, json!({ region: "r" }), false),
            (json!({ zone: "x" }), Value::Null, json!({ "host": "a" }), true),
            (json!({ zone: "x", region: "r" }), Value::Null, json!({ zone: "x" }), false),
            (
                json!({ zone: "x", region: "r" }),
                Value::Null,
                json!({ zone: "x", region: "r" }),
                true,
            ),
            (json!({ zone: "x" }), on("a"), json!({ zone: "x", "host": "b" }), false),
        ] {
            let place = place(labels.clone(), terms).unwrap();
            assert_eq!(place.is_at(&node(at.clone())), expected, "{labels} at {at}");
        }
        assert_eq!(place(json!({ "host": "a" }), Value::Null), None, "it says nothing of places");
    }

    #[test]
    fn a_place_has_a_readable_text() {
        let one = json!({ "key": "host", "operator": "In", "values": ["b", "a"] });
        let place = place(json!({ ZONES[0].0: "y__x" }), json!([{ "matchExpressions": [one] }]));
        let expected = "host In (a,b) & topology.kubernetes.io/zone in (x,y)";
        assert_eq!(place.unwrap().text(), expected);
    }

    #[test]
    fn claims_of_a_pod_are_named_once() {
        let claim = |volume: &str, claim: &str| {
            let claim = json!({ "claimName": claim });
            json!({ "name": volume, "persistentVolumeClaim": claim })
        };
        let all = [
            claim("a", "two"),
            claim("b", "one"),
            claim("c", "two"),
            json!({ "name": "d", "emptyDir": {} }),
        ];
        let pod = json!({ "spec": { "containers": [], "volumes": all } });
        assert_eq!(claims_of(&serde_json::from_value(pod).unwrap()), ["one", "two"]);
    }
}
