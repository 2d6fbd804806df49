//! On which nodes a pod may run, by labels and taints: `nodeName`'s kin that are rules about one
//! node alone.
//!
//! A [`Rule`] is the node selector, the required node affinity and the tolerations of a pod, and
//! from where its volumes can be used. Equal rules have equal texts, and the text is the rule's
//! name in the engine: a node that the rule allows has a label of that name, so the engine keeps
//! one bitmap of nodes for each rule, and whoever reads why a pod waits reads the rule. An
//! unschedulable node counts as one with the taint of that name, as in kube-scheduler.
//!
//! Semantics are those of `component-helpers/scheduling/corev1`: a term without expressions matches
//! nothing; `NotIn` and `DoesNotExist` hold where the label is missing; `Gt` and `Lt` compare
//! integers. An operator that is not known holds nowhere: nothing is placed in ignorance.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use k8s_openapi::api::core::v1::{
    Node, NodeSelectorRequirement, NodeSelectorTerm, Pod, Taint, Toleration,
};

use super::volumes::Place;

/// The taint that stands for `spec.unschedulable`.
const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";

/// See the module.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Rule {
    selector: BTreeMap<String, String>,
    /// Any of them must hold; `None`: no affinity is required.
    terms: Option<Vec<NodeSelectorTerm>>,
    tolerations: Vec<Toleration>,
    /// From where its volumes can be used.
    volumes: Vec<Place>,
}

/// What rules look at.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct NodeFacts {
    /// Its name.
    pub(crate) name: String,
    /// Its labels.
    pub(crate) labels: BTreeMap<String, String>,
    /// Taints that keep pods from being scheduled.
    pub(crate) taints: Vec<Taint>,
}

impl NodeFacts {
    /// What is known of a node.
    pub(crate) fn of(node: &Node) -> NodeFacts {
        let spec = node.spec.as_ref();
        let taints = spec.and_then(|spec| spec.taints.clone()).unwrap_or_default();
        let mut taints: Vec<Taint> = taints.into_iter().filter(keeps_out).collect();
        if spec.is_some_and(|spec| spec.unschedulable == Some(true)) {
            let (key, effect) = (UNSCHEDULABLE.to_owned(), "NoSchedule".to_owned());
            taints.push(Taint { key, effect, ..Taint::default() });
        }
        for taint in &mut taints {
            taint.time_added = None;
        }
        NodeFacts {
            name: node.metadata.name.clone().unwrap_or_default(),
            labels: node.metadata.labels.clone().unwrap_or_default(),
            taints,
        }
    }
}

/// That a node has this name.
fn pin(node: &str) -> NodeSelectorRequirement {
    NodeSelectorRequirement {
        key: "metadata.name".to_owned(),
        operator: "In".to_owned(),
        values: Some(vec![node.to_owned()]),
    }
}

fn keeps_out(taint: &Taint) -> bool {
    taint.effect == "NoSchedule" || taint.effect == "NoExecute"
}

impl Rule {
    /// The rule of a pod.
    pub(crate) fn of(pod: &Pod) -> Rule {
        let Some(spec) = &pod.spec else { return Rule::default() };
        let affinity = spec.affinity.as_ref().and_then(|all| all.node_affinity.as_ref());
        let required = affinity
            .and_then(|all| all.required_during_scheduling_ignored_during_execution.as_ref());
        let mut tolerations = spec.tolerations.clone().unwrap_or_default();
        for toleration in &mut tolerations {
            toleration.toleration_seconds = None;
        }
        Rule {
            selector: spec.node_selector.clone().unwrap_or_default(),
            terms: required.map(|all| all.node_selector_terms.clone()),
            tolerations,
            volumes: Vec::new(),
        }
    }

    /// The same, with volumes that are at these places.
    pub(crate) fn at(self, places: Vec<Place>) -> Rule {
        let mut volumes = places;
        volumes.sort_by_cached_key(Place::text);
        volumes.dedup();
        Rule { volumes, ..self }
    }

    /// The terms of the affinity that holds a pod to a node, beside its own.
    pub(crate) fn pinned_to(&self, node: &str) -> Vec<NodeSelectorTerm> {
        let mut terms = self.terms.clone().unwrap_or_else(|| vec![NodeSelectorTerm::default()]);
        for term in &mut terms {
            term.match_fields.get_or_insert_default().push(pin(node));
        }
        terms
    }

    /// The rule that the pod had before it was held to a node.
    pub(crate) fn unpinned(mut self, node: &str) -> Rule {
        let (Some(terms), pin) = (&mut self.terms, pin(node)) else { return self };
        for fields in terms.iter_mut().filter_map(|term| term.match_fields.as_mut()) {
            if fields.last() == Some(&pin) {
                fields.pop();
            }
        }
        let is_nothing = |term: &NodeSelectorTerm| {
            let fields = term.match_fields.as_ref().is_none_or(Vec::is_empty);
            fields && term.match_expressions.as_ref().is_none_or(Vec::is_empty)
        };
        if terms.len() == 1 && terms.iter().all(is_nothing) {
            self.terms = None;
        }
        self
    }

    /// Whether a pod with this rule may be scheduled to the node.
    pub(crate) fn allows(&self, node: &NodeFacts) -> bool {
        self.selects(node)
            && self.tolerates_all(node)
            && self.volumes.iter().all(|place| place.is_at(node))
    }

    /// Whether node selector and required affinity hold.
    pub(super) fn selects(&self, node: &NodeFacts) -> bool {
        let has = |(key, value): (&String, &String)| node.labels.get(key) == Some(value);
        self.selector.iter().all(has)
            && self.terms.as_ref().is_none_or(|terms| terms.iter().any(|term| holds(term, node)))
    }

    /// Whether no taint keeps it out.
    pub(super) fn tolerates_all(&self, node: &NodeFacts) -> bool {
        node.taints.iter().all(|taint| self.tolerates(taint))
    }

    fn tolerates(&self, taint: &Taint) -> bool {
        self.tolerations.iter().any(|toleration| tolerates(toleration, taint))
    }
}

pub(super) fn holds(term: &NodeSelectorTerm, node: &NodeFacts) -> bool {
    let expressions = term.match_expressions.as_deref().unwrap_or_default();
    let fields = term.match_fields.as_deref().unwrap_or_default();
    if expressions.is_empty() && fields.is_empty() {
        return false;
    }
    let of_label = |rule: &NodeSelectorRequirement| {
        requirement(rule, node.labels.get(&rule.key).map(String::as_str))
    };
    let of_field = |rule: &NodeSelectorRequirement| {
        rule.key == "metadata.name"
            && matches!(rule.operator.as_str(), "In" | "NotIn")
            && requirement(rule, Some(&node.name))
    };
    expressions.iter().all(of_label) && fields.iter().all(of_field)
}

fn requirement(rule: &NodeSelectorRequirement, value: Option<&str>) -> bool {
    let values = rule.values.as_deref().unwrap_or_default();
    let named = || value.is_some_and(|value| values.iter().any(|one| one == value));
    let number = |text: &str| text.parse::<i64>().ok();
    let bound = || match values {
        [one] => number(one),
        _ => None,
    };
    match rule.operator.as_str() {
        "In" => named(),
        "NotIn" => !named(),
        "Exists" => value.is_some(),
        "DoesNotExist" => value.is_none(),
        "Gt" => value.and_then(number).zip(bound()).is_some_and(|(value, bound)| value > bound),
        "Lt" => value.and_then(number).zip(bound()).is_some_and(|(value, bound)| value < bound),
        _ => false,
    }
}

fn tolerates(toleration: &Toleration, taint: &Taint) -> bool {
    let fits = |wanted: &Option<String>, given: &str| {
        wanted.as_deref().is_none_or(|wanted| wanted.is_empty() || wanted == given)
    };
    if !fits(&toleration.effect, &taint.effect) || !fits(&toleration.key, &taint.key) {
        return false;
    }
    let has_key = toleration.key.as_deref().is_some_and(|key| !key.is_empty());
    let value = |value: &Option<String>| value.clone().unwrap_or_default();
    match toleration.operator.as_deref().unwrap_or("Equal") {
        "" | "Equal" => has_key && value(&toleration.value) == value(&taint.value),
        "Exists" => true,
        _ => false,
    }
}

/// The rule's name: equal for equal rules, and readable.
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "schedulable{}{}", self.selector_text(), self.tolerated_text())?;
        self.volumes.iter().try_for_each(|place| write!(f, "; volume at {}", place.text()))
    }
}

impl Rule {
    /// Equal for rules that select the same nodes.
    pub(super) fn selector_text(&self) -> String {
        let pairs = self.selector.iter().map(|(key, value)| format!("; {key}={value}"));
        let mut text: String = pairs.collect();
        if let Some(terms) = &self.terms {
            let mut terms: Vec<String> = terms.iter().map(term_text).collect();
            terms.sort();
            // Writing to memory does not fail.
            _ = write!(text, "; {}", terms.join(" | "));
        }
        text
    }

    /// Equal for rules that tolerate the same taints.
    pub(super) fn tolerated_text(&self) -> String {
        let mut tolerated: Vec<String> = self.tolerations.iter().map(toleration_text).collect();
        tolerated.sort();
        tolerated.dedup();
        match tolerated.is_empty() {
            true => String::new(),
            false => format!("; tolerates {}", tolerated.join(", ")),
        }
    }
}

pub(super) fn term_text(term: &NodeSelectorTerm) -> String {
    let one = |rule: &NodeSelectorRequirement| {
        let mut values = rule.values.clone().unwrap_or_default();
        values.sort();
        format!("{} {} ({})", rule.key, rule.operator, values.join(","))
    };
    let expressions = term.match_expressions.iter().flatten().map(one);
    let field = |rule: &NodeSelectorRequirement| format!("field {}", one(rule));
    let mut all: Vec<String> =
        expressions.chain(term.match_fields.iter().flatten().map(field)).collect();
    all.sort();
    match all.is_empty() {
        true => "nothing".to_owned(),
        false => all.join(" & "),
    }
}

fn toleration_text(toleration: &Toleration) -> String {
    let part = |part: &Option<String>| part.clone().filter(|part| !part.is_empty());
    let key = part(&toleration.key).unwrap_or_else(|| "*".to_owned());
    let effect = part(&toleration.effect).map(|effect| format!(":{effect}")).unwrap_or_default();
    match toleration.operator.as_deref().unwrap_or("Equal") {
        "" | "Equal" => {
            format!("{key}={}{effect}", toleration.value.as_deref().unwrap_or_default())
        }
        "Exists" => format!("{key}{effect}"),
        other => {
            format!("{key} {other} {}{effect}", toleration.value.as_deref().unwrap_or_default())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn node(labels: Value, spec: Value) -> NodeFacts {
        let node = json!({ "metadata": { "name": "n1", "labels": labels }, "spec": spec });
        NodeFacts::of(&serde_json::from_value(node).unwrap())
    }

    fn rule(spec: Value) -> Rule {
        let mut spec = spec;
        spec["containers"] = json!([]);
        Rule::of(&serde_json::from_value(json!({ "spec": spec })).unwrap())
    }

    fn affinity(terms: Value) -> Rule {
        let required = json!({ "nodeSelectorTerms": terms });
        let key = "requiredDuringSchedulingIgnoredDuringExecution";
        rule(json!({ "affinity": { "nodeAffinity": { key: required } } }))
    }

    #[test]
    fn every_operator_of_node_affinity() {
        let node = node(json!({ "zone": "a", "cores": "16", "odd": "many" }), json!({}));
        for (key, operator, values, expected) in [
            ("zone", "In", json!(["a", "b"]), true),
            ("zone", "In", json!(["b"]), false),
            ("none", "In", json!(["a"]), false),
            ("zone", "NotIn", json!(["a"]), false),
            ("zone", "NotIn", json!(["b"]), true),
            ("none", "NotIn", json!(["a"]), true),
            ("zone", "Exists", json!([]), true),
            ("none", "Exists", json!([]), false),
            ("zone", "DoesNotExist", json!([]), false),
            ("none", "DoesNotExist", json!([]), true),
            ("cores", "Gt", json!(["15"]), true),
            ("cores", "Gt", json!(["16"]), false),
            ("cores", "Lt", json!(["17"]), true),
            ("cores", "Lt", json!(["16"]), false),
            ("odd", "Gt", json!(["1"]), false),
            ("none", "Lt", json!(["1"]), false),
            ("cores", "Gt", json!(["1", "2"]), false),
            ("zone", "Like", json!(["a"]), false),
        ] {
            let expression = json!({ "key": key, "operator": operator, "values": values });
            let rule = affinity(json!([{ "matchExpressions": [expression] }]));
            assert_eq!(rule.allows(&node), expected, "{rule}");
        }
    }

    #[test]
    fn terms_are_alternatives_and_empty_ones_match_nothing() {
        let node = node(json!({ "zone": "a" }), json!({}));
        let is = |value: &str| json!({ "key": "zone", "operator": "In", "values": [value] });
        let field = |operator: &str, name: &str| {
            let one = json!({ "key": "metadata.name", "operator": operator, "values": [name] });
            json!({ "matchFields": [one] })
        };
        for (terms, expected) in [
            (json!([]), false),
            (json!([{}]), false),
            (json!([{ "matchExpressions": [is("b")] }, { "matchExpressions": [is("a")] }]), true),
            (json!([{ "matchExpressions": [is("a"), is("b")] }]), false),
            (json!([field("In", "n1")]), true),
            (json!([field("In", "n2")]), false),
            (json!([field("NotIn", "n2")]), true),
            (json!([field("Exists", "n1")]), false),
        ] {
            assert_eq!(affinity(terms.clone()).allows(&node), expected, "{terms}");
        }
    }

    #[test]
    fn a_pin_is_beside_the_pods_own_terms_and_comes_off_again() {
        let is = |value: &str| json!({ "key": "zone", "operator": "In", "values": [value] });
        let own = json!([{ "matchExpressions": [is("a")] }, { "matchExpressions": [is("b")] }]);
        for rule in [Rule::default(), affinity(own)] {
            let pinned = Rule { terms: Some(rule.pinned_to("n1")), ..rule.clone() };
            for (name, zone, expected) in
                [("n1", "a", true), ("n2", "a", false), ("n1", "c", rule.terms.is_none())]
            {
                let mut node = node(json!({ "zone": zone }), json!({}));
                node.name = name.to_owned();
                assert_eq!(pinned.allows(&node), expected, "{pinned} at {name} in {zone}");
            }
            assert_ne!(pinned.clone().unpinned("n2").to_string(), rule.to_string());
            assert_eq!(pinned.unpinned("n1").to_string(), rule.to_string());
        }
    }

    #[test]
    fn selectors_and_taints() {
        let taint = |key: &str, value: &str, effect: &str| {
            let one = json!({ "key": key, "value": value, "effect": effect });
            json!({ "taints": [one] })
        };
        let tolerate = |toleration: Value| json!({ "tolerations": [toleration] });
        let gpu = taint("gpu", "yes", "NoSchedule");
        for (row, (pod, spec, expected)) in [
            (json!({ "nodeSelector": { "disk": "ssd" } }), json!({}), true),
            (json!({ "nodeSelector": { "disk": "hdd" } }), json!({}), false),
            (json!({}), gpu.clone(), false),
            (json!({}), taint("gpu", "yes", "NoExecute"), false),
            (json!({}), taint("gpu", "yes", "PreferNoSchedule"), true),
            (tolerate(json!({ "key": "gpu", "value": "yes" })), gpu.clone(), true),
            (tolerate(json!({ "key": "gpu", "value": "no" })), gpu.clone(), false),
            (tolerate(json!({ "key": "gpu", "operator": "Exists" })), gpu.clone(), true),
            (tolerate(json!({ "operator": "Exists" })), gpu.clone(), true),
            (tolerate(json!({ "operator": "Equal" })), gpu.clone(), false),
            (
                tolerate(json!({ "key": "gpu", "operator": "Exists", "effect": "NoExecute" })),
                gpu.clone(),
                false,
            ),
            (tolerate(json!({ "key": "gpu", "operator": "Gt", "value": "1" })), gpu, false),
            (json!({}), json!({ "unschedulable": true }), false),
            (
                tolerate(json!({ "key": UNSCHEDULABLE, "operator": "Exists" })),
                json!({ "unschedulable": true }),
                true,
            ),
        ]
        .into_iter()
        .enumerate()
        {
            let node = node(json!({ "disk": "ssd" }), spec);
            assert_eq!(rule(pod).allows(&node), expected, "row {row}");
        }
    }

    #[test]
    fn equal_rules_have_one_name_and_others_another() {
        let tolerate = |seconds: u32| {
            let one = json!({ "key": "a", "operator": "Exists", "tolerationSeconds": seconds });
            rule(json!({ "tolerations": [one] })).to_string()
        };
        assert_eq!(tolerate(1), tolerate(300));
        assert_eq!(tolerate(1), "schedulable; tolerates a");
        assert_eq!(Rule::default().to_string(), "schedulable");
        let is = |value: &str| json!({ "key": "zone", "operator": "In", "values": [value] });
        let both = affinity(json!([{ "matchExpressions": [is("a"), is("b")] }])).to_string();
        let any =
            [json!({ "matchExpressions": [is("a")] }), json!({ "matchExpressions": [is("b")] })];
        assert_ne!(both, affinity(json!(any)).to_string());
    }
}
