//! Over which places a pod's like are to be spread: `topologySpreadConstraints` with
//! `DoNotSchedule`.
//!
//! Semantics are those of kube-scheduler's plugin `PodTopologySpread`, version 1.36. A place is a
//! value of the topology label. A pod may be in a place where
//!
//! > pods there + 1 if the selector selects the pod itself - least pods of any place <= maxSkew
//!
//! Pods of its own namespace that the selector selects are counted, without those that are being
//! deleted. Places are those of the nodes that have the labels of *all* constraints of the pod; by
//! `nodeAffinityPolicy` (`Honor`, unless said otherwise) only where the pod's node selector and
//! required affinity hold, by `nodeTaintsPolicy` (`Ignore`) where it tolerates all taints. With
//! fewer places than `minDomains` the least is 0. `matchLabelKeys` ask for the pod's own values. A
//! selector that is empty counts no pod, though it selects all: that is how the plugin is.

use std::fmt;

use k8s_openapi::api::core::v1::{Pod, TopologySpreadConstraint};

use super::near::{Labels, Near, selector_of, selector_text};
use super::rule::{NodeFacts, Rule};
use crate::crd::{LabelOperator, NamespaceExpression, NamespaceSelector};

/// What stands in `whenUnsatisfiable` of a constraint that must hold.
const REQUIRED: &str = "DoNotSchedule";
/// What stands there where it is a preference.
const PREFERRED: &str = "ScheduleAnyway";

/// A constraint that must hold.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Spread {
    max_skew: usize,
    min_places: usize,
    /// Nodes with one value of this label are one place.
    pub(crate) topology: String,
    /// `None` selects nothing.
    selector: Option<NamespaceSelector>,
    /// Only nodes that its rule selects make places.
    honors_affinity: bool,
    /// Only nodes whose taints it tolerates.
    honors_taints: bool,
}

/// The constraints of a pod that must hold, and the rule that says which nodes make places.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Spreads {
    all: Vec<Spread>,
    rule: Rule,
}

impl Spreads {
    /// What a pod says; the second part is what of it cannot be read.
    pub(super) fn of(pod: &Pod) -> (Spreads, Option<String>) {
        let none = Labels::new();
        let labels = pod.metadata.labels.as_ref().unwrap_or(&none);
        let told = pod.spec.iter().flat_map(|spec| spec.topology_spread_constraints.iter());
        let (mut spreads, mut unread) = (Spreads::default(), None);
        for one in told.flatten().filter(|one| one.when_unsatisfiable != PREFERRED) {
            match Spread::of(one, labels) {
                Ok(spread) => spreads.all.push(spread),
                Err(why) => unread = Some(why),
            }
        }
        if !spreads.all.is_empty() {
            spreads.rule = Rule::of(pod);
        }
        (spreads, unread)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Spread> {
        self.all.iter()
    }

    /// Whether a node makes a place for this one of the constraints.
    pub(crate) fn is_place(&self, one: &Spread, node: &NodeFacts) -> bool {
        self.all.iter().all(|spread| node.labels.contains_key(&spread.topology))
            && (!one.honors_affinity || self.rule.selects(node))
            && (!one.honors_taints || self.rule.tolerates_all(node))
    }

    /// Equal for pods that may be in the same places.
    pub(super) fn wish(&self, pod: &Near) -> Option<String> {
        let text = |one: &Spread| {
            let itself = if one.selects(&pod.labels) { ", itself too" } else { "" };
            let on = |on: bool, part: String| if on { part } else { String::new() };
            let nodes = on(one.honors_affinity, self.rule.selector_text());
            let taints = on(one.honors_taints, self.rule.tolerated_text());
            format!("{one}{itself}{nodes}{taints}")
        };
        let mut all: Vec<String> = self.all.iter().map(text).collect();
        all.sort();
        (!all.is_empty()).then(|| format!("where of {}: {}", pod.namespace, all.join("; ")))
    }
}

impl Spread {
    fn of(one: &TopologySpreadConstraint, labels: &Labels) -> Result<Spread, String> {
        if one.when_unsatisfiable != REQUIRED {
            return Err(format!(
                "it has a topology spread constraint that says `{}`",
                one.when_unsatisfiable
            ));
        }
        let honors = |policy: &Option<String>, default: &str| {
            policy.as_deref().unwrap_or(default) == "Honor"
        };
        let at_least = |number: i32| usize::try_from(number).unwrap_or(0);
        let mut selector = one.label_selector.as_ref().map(selector_of).transpose()?;
        if let Some(selector) = &mut selector {
            let own = one.match_label_keys.iter().flatten().filter_map(|key| {
                let values = vec![labels.get(key)?.clone()];
                Some(NamespaceExpression { key: key.clone(), operator: LabelOperator::In, values })
            });
            selector.match_expressions.extend(own);
        }
        Ok(Spread {
            max_skew: at_least(one.max_skew),
            min_places: at_least(one.min_domains.unwrap_or(1)),
            topology: one.topology_key.clone(),
            selector,
            honors_affinity: honors(&one.node_affinity_policy, "Honor"),
            honors_taints: honors(&one.node_taints_policy, "Ignore"),
        })
    }

    fn selects(&self, labels: &Labels) -> bool {
        self.selector.as_ref().is_some_and(|selector| selector.allows(labels))
    }

    /// Whether a pod with this constraint, in `namespace`, counts that one.
    pub(crate) fn counts(&self, namespace: &str, pod: &Near) -> bool {
        pod.namespace == namespace
            && !pod.is_leaving
            && self.selector.as_ref() != Some(&NamespaceSelector::default())
            && self.selects(&pod.labels)
    }

    /// With how many pods a place has room for one more with these labels, where the least of all
    /// `places` is so much; `None`: for none.
    pub(crate) fn most(&self, labels: &Labels, places: usize, least: usize) -> Option<usize> {
        let least = if places < self.min_places { 0 } else { least };
        (least + self.max_skew).checked_sub(usize::from(self.selects(labels)))
    }
}

/// Equal for equal constraints, and readable: `app=web differ by 1 at most over zone`.
impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pods = selector_text(self.selector.as_ref());
        write!(f, "{pods} differ by {} at most over {}", self.max_skew, self.topology)?;
        match self.min_places {
            0 | 1 => Ok(()),
            places => write!(f, " (at least {places})"),
        }
    }
}
