//! `meed kubernetes import`: Kueue's queues as Queues of Meed.
//!
//! A pure function from YAML to YAML: objects of Kueue as `kubectl get -o yaml` prints them become
//! Queues, and what has no counterpart is named.
//!
//! | Kueue | Queue |
//! |---|---|
//! | Cohort, or the name of one that has no object | one with others below it |
//! | ClusterQueue | one below its cohort: `min` is the quota, `max` adds the borrowing limit |
//! | LocalQueue | a leaf below its ClusterQueue, for its namespace |
//! | `fairSharing.weight` | `weight` |
//! | `stopPolicy` | `stop` |
//!
//! Without a cohort `max` is the quota. A Queue is of the cluster and a LocalQueue of its
//! namespace: a name that is taken already gets its namespace before it. Quotas of several flavors
//! are added up.
//!
//! Cost: O(objects x log).

mod diff;
mod kueue;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use meed::Unit;
use meed_pods::quantity::amount;
use serde::Deserialize;

use crate::crd::{AmountText, NamespaceSelector, QueueObjectSpec};
use crate::error::KubernetesError;
use crate::settings::{ALWAYS, unit_of};
pub(crate) use diff::difference;
use kueue::{Object, Spec};

/// The label that each namespace has, with its name.
const NAMESPACE: &str = "kubernetes.io/metadata.name";

/// A Queue to be made.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct QueueMade {
    pub(crate) name: String,
    pub(crate) spec: QueueObjectSpec,
}

/// What objects of Kueue become.
#[derive(Default, Debug)]
pub(crate) struct Imported {
    /// Parents before those below them.
    pub(crate) queues: Vec<QueueMade>,
    /// What has no counterpart, and what pods are to be labelled with.
    pub(crate) remarks: Vec<String>,
}

/// Reads objects of Kueue and writes Queues; with Queues as they are (`against`) the difference.
///
/// # Errors
///
/// A text that is no YAML, a quantity that cannot be read, a LocalQueue without its ClusterQueue,
/// cohorts in a circle.
pub fn import(kueue: &str, against: Option<&str>) -> Result<String, KubernetesError> {
    let imported = imported(kueue).map_err(KubernetesError::Settings)?;
    match against {
        Some(queues) => difference(&imported, queues)
            .map_err(|why| KubernetesError::Settings(format!("--against: {why}"))),
        None => Ok(imported.to_yaml()),
    }
}

/// An amount in whole bytes, or in thousandths.
fn units(resource: &str, text: &AmountText) -> Result<u64, String> {
    amount(&text.text(), unit_of(resource))
}

/// The shortest text of an amount.
fn shortest(resource: &str, units: u64) -> AmountText {
    match unit_of(resource) {
        Unit::Bytes => {
            let suffixes = ["", "Ki", "Mi", "Gi", "Ti", "Pi"];
            let fits = |power: &usize| units > 0 && units.is_multiple_of(1 << (10 * power));
            match (1..suffixes.len()).rev().find(fits) {
                Some(power) => {
                    AmountText::Text(format!("{}{}", units >> (10 * power), suffixes[power]))
                }
                None => AmountText::Number(units),
            }
        }
        Unit::Milli if units.is_multiple_of(1000) => AmountText::Number(units / 1000),
        Unit::Milli => AmountText::Text(format!("{units}m")),
    }
}

/// Objects of a YAML text, those of lists too.
fn objects<T: for<'de> Deserialize<'de> + Clone>(
    text: &str,
    items: impl Fn(&T) -> Vec<T>,
) -> Result<Vec<T>, String> {
    let read: Vec<T> =
        serde_saphyr::from_multiple(text).map_err(|why| format!("no YAML of objects: {why}"))?;
    let each = |object: &T| match items(object) {
        items if items.is_empty() => vec![object.clone()],
        items => items,
    };
    Ok(read.iter().flat_map(each).collect())
}

fn imported(text: &str) -> Result<Imported, String> {
    let all = objects(text, |object: &Object| object.items.clone())?;
    let mut import = Import::default();
    let mut others: BTreeMap<String, usize> = BTreeMap::new();
    for object in &all {
        match object.kind.as_str() {
            "Cohort" => import.cohorts.push(object),
            "ClusterQueue" => import.cluster_queues.push(object),
            "LocalQueue" => import.local_queues.push(object),
            "" | "List" => {}
            other => *others.entry(other.to_owned()).or_default() += 1,
        }
    }
    import.cohorts()?;
    import.cluster_queues()?;
    import.local_queues()?;
    for (kind, count) in others {
        import.made.remarks.push(format!("{count} of kind {kind}: left out"));
    }
    let counted: BTreeSet<String> = std::mem::take(&mut import.counted);
    if !counted.is_empty() {
        let names: Vec<String> = counted.into_iter().collect();
        let remark = format!("start Meed with --resources {}", names.join(","));
        import.made.remarks.push(remark);
    }
    Ok(import.made)
}

/// An import that goes on.
#[derive(Default)]
struct Import<'o> {
    cohorts: Vec<&'o Object>,
    cluster_queues: Vec<&'o Object>,
    local_queues: Vec<&'o Object>,
    /// Names of Queues by kind and name in Kueue.
    names: BTreeMap<(&'static str, String), String>,
    taken: BTreeSet<String>,
    /// Resources that Meed counts only where it is told.
    counted: BTreeSet<String>,
    made: Imported,
}

impl Import<'_> {
    fn remark(&mut self, what: &str, remark: &str) {
        self.made.remarks.push(format!("{what}: {remark}"));
    }

    /// A name for a Queue: no dots, at most 63 characters, no other's.
    fn name(&mut self, kind: &'static str, key: &str, wanted: &str, longer: &str) -> String {
        let plain = |name: &str| -> String { name.replace('.', "-").chars().take(63).collect() };
        let is_free = |name: &String| name != "root" && !self.taken.contains(name);
        let numbered = (2..).map(|number| format!("{}-{number}", plain(longer)));
        let mut names = [plain(wanted), plain(longer)].into_iter().chain(numbered);
        let name = names.find(is_free).unwrap_or_default();
        self.taken.insert(name.clone());
        self.names.insert((kind, key.to_owned()), name.clone());
        if name != wanted {
            self.remark(&format!("{kind} {key}"), &format!("is called {name} here"));
        }
        name
    }

    fn weight(&mut self, what: &str, spec: &Spec) -> Result<f64, String> {
        let Some(text) = spec.fair_sharing.as_ref().and_then(|all| all.weight.as_ref()) else {
            return Ok(1.0);
        };
        let thousandths = amount(&text.text(), Unit::Milli);
        let thousandths = thousandths.map_err(|why| format!("{what}: weight: {why}"))?;
        let within = thousandths.clamp(1, 1_000_000_000);
        if within != thousandths {
            self.remark(what, &format!("weight {}: {} here", text.text(), within as f64 / 1e3));
        }
        Ok(within as f64 / 1e3)
    }

    fn make(&mut self, name: String, spec: QueueObjectSpec) {
        self.made.queues.push(QueueMade { name, spec });
    }

    /// Cohorts, those above first; those that ClusterQueues and Cohorts only name, too.
    fn cohorts(&mut self) -> Result<(), String> {
        let named = self.cohorts.iter().map(|one| one.spec.parent_name.clone());
        let named = named.chain(self.cluster_queues.iter().map(|one| one.spec.cohort_name.clone()));
        let mut all: BTreeMap<String, Option<Object>> =
            named.flatten().filter(|name| !name.is_empty()).map(|name| (name, None)).collect();
        for cohort in &self.cohorts {
            all.insert(cohort.metadata.name.clone(), Some((*cohort).clone()));
        }
        while !all.is_empty() {
            let is_ready = |(_, object): &(&String, &Option<Object>)| {
                let parent = object.as_ref().and_then(|one| one.spec.parent_name.as_ref());
                parent.is_none_or(|parent| !all.contains_key(parent))
            };
            let Some(name) = all.iter().find(is_ready).map(|(name, _)| name.clone()) else {
                let names: Vec<String> = all.into_keys().collect();
                return Err(format!("the parents of cohorts go round: {}", names.join(", ")));
            };
            let object = all.remove(&name).flatten().unwrap_or_default();
            let what = format!("Cohort {name}");
            let parent = object.spec.parent_name.clone().filter(|parent| !parent.is_empty());
            let parent = parent.and_then(|parent| self.names.get(&("Cohort", parent)).cloned());
            let weight = self.weight(&what, &object.spec)?;
            if !object.spec.resource_groups.is_empty() {
                let why = "its own quotas have no counterpart: those below share by weight";
                self.remark(&what, why);
            }
            let queue = self.name("Cohort", &name, &name, &format!("cohort-{name}"));
            self.make(queue, QueueObjectSpec { parent, weight, ..QueueObjectSpec::default() });
        }
        Ok(())
    }

    fn cluster_queues(&mut self) -> Result<(), String> {
        for object in self.cluster_queues.clone() {
            let (name, spec) = (&object.metadata.name, &object.spec);
            let what = format!("ClusterQueue {name}");
            let cohort = spec.cohort_name.clone().filter(|cohort| !cohort.is_empty());
            let parent = cohort.and_then(|cohort| self.names.get(&("Cohort", cohort)).cloned());
            let weight = self.weight(&what, spec)?;
            let (mut min, mut max) = (BTreeMap::new(), BTreeMap::new());
            for (resource, sum) in spec.quotas().map_err(|why| format!("{what}: {why}"))? {
                min.insert(resource.clone(), shortest(&resource, sum.nominal));
                let most = match &parent {
                    Some(_) => sum.borrowed.map(|more| sum.nominal.saturating_add(more)),
                    None => Some(sum.nominal),
                };
                if let Some(most) = most {
                    max.insert(resource.clone(), shortest(&resource, most));
                }
                if sum.lends {
                    let why = format!(
                        "{resource}: lendingLimit has no counterpart: what it does not use of its \
                         min is lent"
                    );
                    self.remark(&what, &why);
                }
                if sum.flavors > 1 {
                    let why = format!("{resource}: {} flavors are added up", sum.flavors);
                    self.remark(&what, &why);
                }
                if !ALWAYS.contains(&resource.as_str()) {
                    self.counted.insert(resource);
                }
            }
            self.say_what_is_left_out(&what, spec);
            let some = |all: BTreeMap<_, _>| (!all.is_empty()).then_some(all);
            let queue = self.name("ClusterQueue", name, name, &format!("queue-{name}"));
            let (min, max, stop) = (some(min), some(max), self.stops(&what, spec));
            let spec = QueueObjectSpec { parent, weight, min, max, stop, ..Default::default() };
            self.make(queue, spec);
        }
        Ok(())
    }

    /// Settings of a ClusterQueue without a counterpart of its own.
    fn say_what_is_left_out(&mut self, what: &str, spec: &Spec) {
        let selector = spec.namespace_selector.as_ref();
        for (is_given, why) in [
            (
                spec.queueing_strategy.as_deref() == Some("StrictFIFO"),
                "StrictFIFO is a key of the policy: when_blocked=wait",
            ),
            (
                spec.preemption.as_ref().is_some_and(kueue::Preemption::is_on),
                "preemption is a key of the policy: reclaim_after; priorities stop nothing",
            ),
            (spec.flavor_fungibility.is_some(), "flavorFungibility has no counterpart"),
            (
                !spec.admission_checks.is_empty() || spec.admission_checks_strategy.is_some(),
                "admission checks have no counterpart",
            ),
            (
                spec.admission_scope.is_some(),
                "admissionScope: use counts by the policy, long-term with a half_life",
            ),
            (
                !selector.is_some_and(NamespaceSelector::is_all),
                "its namespaceSelector is not asked: each LocalQueue's own namespace is",
            ),
        ] {
            if is_given {
                self.remark(what, why);
            }
        }
    }

    fn stops(&mut self, what: &str, spec: &Spec) -> bool {
        if spec.stop_policy.as_deref() == Some("HoldAndDrain") {
            self.remark(what, "HoldAndDrain: what runs is not stopped here");
        }
        spec.stop_policy.as_ref().is_some_and(|policy| policy != "None")
    }

    fn local_queues(&mut self) -> Result<(), String> {
        for object in self.local_queues.clone() {
            let (name, spec) = (&object.metadata.name, &object.spec);
            let namespace = match object.metadata.namespace.as_str() {
                "" => "default",
                namespace => namespace,
            };
            let key = format!("{namespace}/{name}");
            let what = format!("LocalQueue {key}");
            let above = spec.cluster_queue.clone().unwrap_or_default();
            let parent = self.names.get(&("ClusterQueue", above.clone())).cloned();
            let Some(parent) = parent else {
                return Err(format!("{what}: there is no ClusterQueue `{above}` in what was read"));
            };
            let (weight, stop) = (self.weight(&what, spec)?, self.stops(&what, spec));
            let queue = self.name("LocalQueue", &key, name, &format!("{namespace}-{name}"));
            let labels = BTreeMap::from([(NAMESPACE.to_owned(), namespace.to_owned())]);
            let selector = NamespaceSelector { match_labels: labels, ..Default::default() };
            let (parent, namespace_selector) = (Some(parent), Some(selector));
            let spec =
                QueueObjectSpec { parent, weight, stop, namespace_selector, ..Default::default() };
            self.make(queue, spec);
        }
        Ok(())
    }
}

/// A text as a scalar of YAML.
fn scalar(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

impl Imported {
    /// For `kubectl apply`: remarks are comments.
    fn to_yaml(&self) -> String {
        let mut text = String::new();
        for remark in &self.remarks {
            // A name is no line's end.
            _ = writeln!(text, "# {}", remark.replace(['\n', '\r'], " "));
        }
        for QueueMade { name, spec } in &self.queues {
            let name = scalar(name);
            _ = write!(text, "---\napiVersion: meed.dev/v1alpha1\nkind: Queue\nmetadata: ");
            _ = writeln!(text, "{{name: {name}}}\nspec:");
            for (key, value) in lines_of(spec) {
                _ = writeln!(text, "  {key}: {value}");
            }
        }
        text
    }
}

/// The keys of a Queue that were given, each with its value as JSON.
fn lines_of(spec: &QueueObjectSpec) -> Vec<(String, String)> {
    let all = serde_json::to_value(spec).unwrap_or_default();
    let all = all.as_object().cloned().unwrap_or_default();
    all.into_iter().map(|(key, value)| (key, value.to_string())).collect()
}

#[cfg(test)]
mod tests;
