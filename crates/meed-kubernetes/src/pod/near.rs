//! What a pod says of other pods near it: whom it keeps away, beside whom it must be, over which
//! places its like are spread ([`super::spread`]), and which ports of its node it takes.
//!
//! Semantics are those of kube-scheduler's plugins `InterPodAffinity` and `NodePorts`: a term
//! without namespaces and without a namespace selector means the pod's own namespace; a selector
//! that is missing selects nothing, an empty one selects all. `matchLabelKeys` and
//! `mismatchLabelKeys` stand in the label selector already: the API server has put them there when
//! the pod was made.
//!
//! A selector that cannot be read selects all where others keep away from us, and a pod of ours
//! that has one is refused: nothing is placed in ignorance.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write as _};

use k8s_openapi::api::core::v1::{Affinity, Container, Pod, PodAffinityTerm, PodSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;

use super::disks::Disks;
use super::spread::Spreads;
use crate::crd::{LabelOperator, NamespaceExpression, NamespaceSelector};

/// Labels of a pod or a namespace.
pub(crate) type Labels = BTreeMap<String, String>;

/// The address that stands for all addresses of a node.
const ALL_ADDRESSES: &str = "0.0.0.0";

/// A required term of affinity or anti-affinity.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Term {
    namespaces: BTreeSet<String>,
    /// `None` selects nothing.
    namespace_selector: Option<NamespaceSelector>,
    /// Likewise.
    selector: Option<NamespaceSelector>,
    /// Nodes with one value of this label are one place.
    pub(crate) topology: String,
}

/// A port of a node that a pod takes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct HostPort {
    address: String,
    protocol: String,
    port: i32,
}

/// See the module.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Near {
    pub(crate) namespace: String,
    pub(crate) labels: Labels,
    /// Required anti-affinity.
    pub(crate) keeps_away: Vec<Term>,
    /// Required affinity.
    pub(crate) wants: Vec<Term>,
    pub(crate) ports: Vec<HostPort>,
    pub(crate) spreads: Spreads,
    /// Volumes that its node attaches, of drivers that attach a bounded number. The pod does not
    /// tell: the world adds them.
    pub(crate) disks: Disks,
    /// It is being deleted.
    pub(crate) is_leaving: bool,
}

impl Near {
    /// What a pod says; the second part is what of it cannot be read.
    pub(crate) fn of(pod: &Pod) -> (Near, Option<String>) {
        let namespace = pod.metadata.namespace.clone().unwrap_or_default();
        let labels = pod.metadata.labels.clone().unwrap_or_default();
        let Some(spec) = &pod.spec else {
            return (Near { namespace, labels, ..Near::default() }, None);
        };
        let mut unread = None;
        let mut read = |terms: &[PodAffinityTerm]| -> Vec<Term> {
            let one = |term: &PodAffinityTerm| match Term::of(&namespace, term) {
                Ok(term) => term,
                Err(why) => {
                    unread = Some(why);
                    Term::of_all(term)
                }
            };
            terms.iter().map(one).collect()
        };
        let affinity = spec.affinity.clone().unwrap_or_default();
        let keeps_away = read(&apart(&affinity));
        let wants = read(&together(&affinity));
        let (spreads, unread_spread) = Spreads::of(pod);
        let is_leaving = pod.metadata.deletion_timestamp.is_some();
        let ports = ports(spec);
        let disks = Disks::default();
        let near = Near { labels, keeps_away, wants, ports, namespace, spreads, disks, is_leaving };
        (near, unread.or(unread_spread))
    }

    /// Whether the place of this pod depends on the pods that are there.
    pub(crate) fn is_choosy(&self) -> bool {
        !self.keeps_away.is_empty()
            || !self.wants.is_empty()
            || !self.ports.is_empty()
            || !self.spreads.is_empty()
            || !self.disks.is_empty()
    }

    /// Whether all terms of an affinity select this pod.
    pub(crate) fn is_wanted_by(
        &self,
        terms: &[Term],
        namespaces: &BTreeMap<String, Labels>,
    ) -> bool {
        !terms.is_empty() && terms.iter().all(|term| term.selects(self, namespaces))
    }
}

fn apart(affinity: &Affinity) -> Vec<PodAffinityTerm> {
    let anti = affinity.pod_anti_affinity.as_ref();
    let terms =
        anti.and_then(|all| all.required_during_scheduling_ignored_during_execution.clone());
    terms.unwrap_or_default()
}

fn together(affinity: &Affinity) -> Vec<PodAffinityTerm> {
    let pods = affinity.pod_affinity.as_ref();
    let terms =
        pods.and_then(|all| all.required_during_scheduling_ignored_during_execution.clone());
    terms.unwrap_or_default()
}

/// Ports of containers and sidecars; an init container that ends takes none.
fn ports(spec: &PodSpec) -> Vec<HostPort> {
    let stays = |one: &&Container| one.restart_policy.as_deref() == Some("Always");
    let sidecars = spec.init_containers.iter().flatten().filter(stays);
    let all = sidecars.chain(&spec.containers).flat_map(|one| one.ports.iter().flatten());
    let taken = all.filter_map(|port| {
        let number = port.host_port.filter(|&port| port > 0)?;
        let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        Some(HostPort {
            address: given(&port.host_ip).unwrap_or_else(|| ALL_ADDRESSES.to_owned()),
            protocol: given(&port.protocol).unwrap_or_else(|| "TCP".to_owned()),
            port: number,
        })
    });
    let mut taken: Vec<HostPort> = taken.collect();
    taken.sort();
    taken.dedup();
    taken
}

impl HostPort {
    /// Whether a node cannot give both.
    pub(crate) fn conflicts(&self, other: &HostPort) -> bool {
        let is_all = self.address == ALL_ADDRESSES || other.address == ALL_ADDRESSES;
        self.port == other.port
            && self.protocol == other.protocol
            && (is_all || self.address == other.address)
    }
}

impl Term {
    fn of(own: &str, term: &PodAffinityTerm) -> Result<Term, String> {
        let read =
            |selector: &Option<LabelSelector>| selector.as_ref().map(selector_of).transpose();
        let mut namespaces: BTreeSet<String> = term.namespaces.iter().flatten().cloned().collect();
        if namespaces.is_empty() && term.namespace_selector.is_none() {
            namespaces.insert(own.to_owned());
        }
        Ok(Term {
            namespaces,
            namespace_selector: read(&term.namespace_selector)?,
            selector: read(&term.label_selector)?,
            topology: term.topology_key.clone(),
        })
    }

    /// The term that selects every pod.
    fn of_all(term: &PodAffinityTerm) -> Term {
        Term {
            namespaces: BTreeSet::new(),
            namespace_selector: Some(NamespaceSelector::default()),
            selector: Some(NamespaceSelector::default()),
            topology: term.topology_key.clone(),
        }
    }

    /// Whether it selects that pod.
    pub(crate) fn selects(&self, pod: &Near, namespaces: &BTreeMap<String, Labels>) -> bool {
        let none = Labels::new();
        let labels = namespaces.get(&pod.namespace).unwrap_or(&none);
        let is_its = self.namespaces.contains(&pod.namespace)
            || self.namespace_selector.as_ref().is_some_and(|one| one.allows(labels));
        is_its && self.selector.as_ref().is_some_and(|one| one.allows(&pod.labels))
    }

    /// Whether labels of namespaces matter to it.
    pub(crate) fn reads_namespaces(&self) -> bool {
        self.namespace_selector.is_some()
    }
}

pub(super) fn selector_of(selector: &LabelSelector) -> Result<NamespaceSelector, String> {
    let expressions = selector.match_expressions.iter().flatten().map(|one| {
        let operator = match one.operator.as_str() {
            "In" => LabelOperator::In,
            "NotIn" => LabelOperator::NotIn,
            "Exists" => LabelOperator::Exists,
            "DoesNotExist" => LabelOperator::DoesNotExist,
            other => {
                return Err(format!(
                    "a selector of it compares the label `{}` by `{other}`",
                    one.key
                ));
            }
        };
        let values = one.values.clone().unwrap_or_default();
        Ok(NamespaceExpression { key: one.key.clone(), operator, values })
    });
    Ok(NamespaceSelector {
        match_expressions: expressions.collect::<Result<_, _>>()?,
        match_labels: selector.match_labels.clone().unwrap_or_default(),
    })
}

/// Equal for equal terms, and readable: `app=web of a by kubernetes.io/hostname`.
impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pods = selector_text(self.selector.as_ref());
        let mut of: Vec<String> = self.namespaces.iter().cloned().collect();
        if let Some(selector) = &self.namespace_selector {
            of.push(format!("namespaces with {}", selector_text(Some(selector))));
        }
        write!(f, "{pods} of {} by {}", of.join(", "), self.topology)
    }
}

pub(super) fn selector_text(selector: Option<&NamespaceSelector>) -> String {
    let Some(selector) = selector else { return "nothing".to_owned() };
    let labels = selector.match_labels.iter().map(|(key, value)| format!("{key}={value}"));
    let expressions = selector.match_expressions.iter().map(|one| {
        let mut values = one.values.clone();
        values.sort();
        format!("{} {:?} ({})", one.key, one.operator, values.join(","))
    });
    let mut all: Vec<String> = labels.chain(expressions).collect();
    all.sort();
    match all.is_empty() {
        true => "all pods".to_owned(),
        false => all.join(" & "),
    }
}

/// `8080/TCP`, with an address where it is not on all.
impl fmt::Display for HostPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let HostPort { address, protocol, port } = self;
        match address == ALL_ADDRESSES {
            true => write!(f, "{port}/{protocol}"),
            false => write!(f, "{address}:{port}/{protocol}"),
        }
    }
}

impl Near {
    /// What of it says where this pod may be: equal for pods that may be in the same places.
    pub(crate) fn wish(&self, namespaces: &BTreeMap<String, Labels>) -> Option<String> {
        if !self.is_choosy() {
            return None;
        }
        let sorted = |terms: &[Term]| {
            let mut all: Vec<String> = terms.iter().map(Term::to_string).collect();
            all.sort();
            all.join("; ")
        };
        let mut parts = Vec::new();
        if !self.wants.is_empty() {
            let mut text = format!("beside {}", sorted(&self.wants));
            if self.is_wanted_by(&self.wants, namespaces) {
                // The first of a series that wants its like may go anywhere.
                text.push_str(", itself too");
            }
            parts.push(text);
        }
        if !self.keeps_away.is_empty() {
            parts.push(format!("away from {}", sorted(&self.keeps_away)));
        }
        parts.extend(self.spreads.wish(self));
        if !self.ports.is_empty() {
            let mut text = String::from("host ports");
            for port in &self.ports {
                // Writing to memory does not fail.
                _ = write!(text, " {port}");
            }
            parts.push(text);
        }
        if !self.disks.is_empty() {
            parts.push(format!("where volumes can be attached: {}", self.disks));
        }
        Some(parts.join("; "))
    }
}
