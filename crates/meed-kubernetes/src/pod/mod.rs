//! What is read of a pod, once, when it is heard of.

pub(crate) mod demand;
pub(crate) mod disks;
pub(crate) mod gang;
pub(crate) mod near;
pub(crate) mod refuse;
pub(crate) mod rule;
pub(crate) mod spread;
pub(crate) mod volumes;

use std::sync::Arc;

use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use meed::{ResourceKinds, Resources};
use meed_pods::PodTimes;
use serde::{Deserialize, Serialize};

use crate::keys;
use demand::{Counts, Demand};
use near::Near;
use rule::Rule;

/// Which pod: two of one name differ by their uid.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
pub(crate) struct PodName {
    /// Its namespace.
    pub(crate) namespace: String,
    /// Its name.
    pub(crate) name: String,
    /// What no other pod ever has.
    pub(crate) uid: String,
}

/// How a pod has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PodEnd {
    /// It succeeded.
    pub(crate) well: bool,
    /// When, in microseconds since 1970, where its containers say.
    pub(crate) at: Option<i64>,
}

/// What was read of a pod.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct PodSeen {
    pub(crate) name: PodName,
    /// The queue that it names.
    pub(crate) queue: Option<String>,
    /// Where it is bound.
    pub(crate) node: Option<String>,
    /// It has our gate.
    pub(crate) held: bool,
    /// It has gates of others.
    pub(crate) held_by_others: bool,
    /// It is ours to bind.
    pub(crate) ours: bool,
    /// It is held to the node that is chosen: by its queue's mode, which the pod does not tell.
    pub(crate) pins: bool,
    pub(crate) demand: Result<Demand, String>,
    pub(crate) rule: Rule,
    /// What it says of other pods.
    pub(crate) near: Arc<Near>,
    /// The gang that it is of; or what is wrong with its labels.
    pub(crate) gang: Option<Result<gang::GangLabel, String>>,
    /// Of its class of priorities.
    pub(crate) priority: i32,
    /// The claims that it uses.
    pub(crate) claims: Vec<String>,
    /// Why its claims keep it from being bound by Meed: in a word, and in a sentence.
    pub(crate) unbound: Option<(&'static str, String)>,
    /// Why it must not be bound by Meed.
    pub(crate) not_supported: Option<String>,
    pub(crate) deleting: bool,
    /// Somebody applies it, and asks for the record of whose fields are whose.
    pub(crate) applied: bool,
    pub(crate) end: Option<PodEnd>,
    /// Since when it is charged, as whoever let it start wrote.
    pub(crate) started: Option<i64>,
    /// When it was bound, as the API server says.
    pub(crate) scheduled: Option<i64>,
    /// Its condition says that no node has room for it.
    pub(crate) unschedulable: bool,
    /// The node that was chosen for it.
    pub(crate) chosen: Option<String>,
    pub(crate) created: i64,
}

impl PodSeen {
    /// Reads a pod.
    pub(crate) fn of<'k>(pod: &Pod, counts: impl Into<Counts<'k>>) -> PodSeen {
        let metadata = &pod.metadata;
        let note = |key: &str| metadata.annotations.as_ref()?.get(key).cloned();
        let spec = pod.spec.as_ref();
        let gates = || spec.iter().flat_map(|spec| spec.scheduling_gates.iter().flatten());
        let scheduler = spec.and_then(|spec| spec.scheduler_name.as_deref());
        let queue = metadata.labels.as_ref().and_then(|labels| labels.get(keys::QUEUE));
        let node = spec.and_then(|spec| spec.node_name.clone()).filter(|node| !node.is_empty());
        // What is charged stays, whatever label a pod gets later.
        let charged = note(keys::CHARGED).filter(|_| note(keys::STARTED).is_some());
        let (near, unread) = Near::of(pod);
        PodSeen {
            name: PodName {
                namespace: metadata.namespace.clone().unwrap_or_default(),
                name: metadata.name.clone().unwrap_or_default(),
                uid: metadata.uid.clone().unwrap_or_default(),
            },
            queue: charged.or_else(|| queue.cloned()),
            node,
            held: gates().any(|gate| gate.name == keys::GATE),
            held_by_others: gates().any(|gate| gate.name != keys::GATE),
            ours: scheduler == Some(keys::SCHEDULER),
            pins: false,
            demand: demand::of_pod(pod, counts.into()),
            rule: match note(keys::NODE) {
                Some(node) => Rule::of(pod).unpinned(&node),
                None => Rule::of(pod),
            },
            near: Arc::new(near),
            gang: gang::of_pod(pod),
            priority: spec.and_then(|spec| spec.priority).unwrap_or(0),
            claims: volumes::claims_of(pod),
            unbound: None,
            not_supported: refuse::not_supported(pod, unread),
            deleting: metadata.deletion_timestamp.is_some(),
            applied: metadata.managed_fields.iter().flatten().any(crate::lean::is_applied),
            end: end_of(pod),
            started: note(keys::STARTED).and_then(|text| text.parse().ok()),
            scheduled: scheduled(pod),
            unschedulable: is_unschedulable(pod),
            chosen: note(keys::NODE),
            created: metadata.creation_timestamp.as_ref().map_or(0, |time| micros(&time.0)),
        }
    }

    /// A pod that waits, as far as its job tells: to be looked at again.
    pub(crate) fn waiting(
        name: PodName,
        queue: String,
        binds: bool,
        demand: Demand,
        (rule, near): (Rule, Arc<Near>),
    ) -> PodSeen {
        PodSeen {
            name,
            queue: Some(queue),
            node: None,
            held: !binds,
            held_by_others: false,
            ours: binds,
            pins: false,
            demand: Ok(demand),
            rule,
            near,
            gang: None,
            priority: 0,
            claims: Vec::new(),
            unbound: None,
            not_supported: None,
            deleting: false,
            applied: false,
            end: None,
            started: None,
            scheduled: None,
            unschedulable: false,
            chosen: None,
            created: 0,
        }
    }

    /// Whether Meed chooses its node.
    pub(crate) fn is_placed(&self) -> bool {
        self.ours || self.pins
    }

    /// What it takes up; nothing where that cannot be read.
    pub(crate) fn amounts(&self, kinds: &ResourceKinds) -> Resources {
        let read = self.demand.as_ref().map(|demand| demand.amounts);
        read.unwrap_or_else(|_| Resources::zero(kinds.len()))
    }
}

fn micros(time: &Timestamp) -> i64 {
    time.as_microsecond()
}

/// When this condition became true: whole seconds.
fn since(pod: &Pod, condition: &str) -> Option<i64> {
    let conditions = pod.status.as_ref()?.conditions.as_ref()?;
    let one = conditions.iter().find(|one| one.type_ == condition && one.status == "True")?;
    one.last_transition_time.as_ref().map(|time| micros(&time.0))
}

/// When the API server took the binding.
fn scheduled(pod: &Pod) -> Option<i64> {
    since(pod, "PodScheduled")
}

/// Whether a node is wanted for it, by its condition.
fn is_unschedulable(pod: &Pod) -> bool {
    let conditions = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
    let mut scheduled = conditions.filter(|one| one.type_ == "PodScheduled");
    scheduled.any(|one| {
        one.status == "False" && one.reason.as_deref() == Some(crate::world::UNSCHEDULABLE)
    })
}

/// How it has ended, where it has: by its phase, and when its containers, or what cut it off, say.
fn end_of(pod: &Pod) -> Option<PodEnd> {
    let status = pod.status.as_ref()?;
    let well = match status.phase.as_deref()? {
        "Succeeded" => true,
        "Failed" => false,
        _ => return None,
    };
    let mut times = PodTimes::default();
    times.disrupted(since(pod, "DisruptionTarget"));
    let instant = |time: &Option<Time>| time.as_ref().map(|time| micros(&time.0));
    let main = status.container_statuses.iter().flatten();
    for one in main.chain(status.init_container_statuses.iter().flatten()) {
        let state = one.state.as_ref();
        match state.and_then(|state| state.terminated.as_ref()) {
            Some(ended) => times.ended(instant(&ended.started_at), instant(&ended.finished_at)),
            None if state.is_some_and(|state| state.running.is_some()) => times.runs(),
            None => {}
        }
    }
    Some(PodEnd { well, at: times.until() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use meed::Unit;
    use serde_json::json;

    #[test]
    fn a_pod_is_read() {
        let pod = json!({
            "metadata": {
                "namespace": "a", "name": "p", "uid": "u", "labels": { keys::QUEUE: "research" },
                "creationTimestamp": "1970-01-01T00:00:02Z",
                "annotations": { keys::STARTED: "5000000", keys::NODE: "n1" },
            },
            "spec": {
                "containers": [],
                "schedulerName": "meed",
                "schedulingGates": [{ "name": keys::GATE }, { "name": "other" }],
            },
            "status": {
                "phase": "Failed",
                "containerStatuses": [{
                    "name": "c", "image": "", "imageID": "", "ready": false, "restartCount": 0,
                    "state": { "terminated": {
                        "exitCode": 1, "finishedAt": "1970-01-01T00:00:09Z"
                    } },
                }],
            },
        });
        let kinds = ResourceKinds::new(vec![("cpu".to_owned(), Unit::Milli)]).unwrap();
        let seen = PodSeen::of(&serde_json::from_value(pod).unwrap(), &kinds);
        assert_eq!(seen.queue.as_deref(), Some("research"));
        assert!(seen.held && seen.held_by_others && seen.ours && !seen.deleting);
        assert_eq!((seen.started, seen.chosen.as_deref()), (Some(5_000_000), Some("n1")));
        assert_eq!(seen.end, Some(PodEnd { well: false, at: Some(9_000_000) }));
        assert_eq!((seen.node, seen.created), (None, 2_000_000));
    }

    /// A pod that was evicted has no containers any more; one whose node is gone, those of before.
    #[test]
    fn a_pod_that_was_cut_off_ends_when_its_condition_says() {
        let cut = json!([{ "type": "DisruptionTarget", "status": "True",
            "lastTransitionTime": "1970-01-01T00:00:20Z" }]);
        let container = |state: serde_json::Value| {
            json!({ "name": "c", "image": "", "imageID": "", "ready": false, "restartCount": 0,
                "state": state })
        };
        let ended = container(json!({ "terminated": {
            "exitCode": 1, "finishedAt": "1970-01-01T00:00:09Z" } }));
        let runs = container(json!({ "running": { "startedAt": "1970-01-01T00:00:03Z" } }));
        for (main, init, cut, expected) in [
            (json!([]), json!([]), Some(cut.clone()), Some(20_000_000)),
            (json!([]), json!([ended]), Some(cut.clone()), Some(20_000_000)),
            (json!([runs]), json!([ended]), Some(cut), Some(20_000_000)),
            // Nothing tells: it ends when that is heard, and not with its init container.
            (json!([runs]), json!([ended]), None, None),
            (json!([]), json!([ended]), None, Some(9_000_000)),
        ] {
            let status = json!({ "phase": "Failed", "conditions": cut, "containerStatuses": main,
                "initContainerStatuses": init });
            let pod = json!({ "metadata": {}, "status": status });
            let end = end_of(&serde_json::from_value(pod).unwrap()).unwrap();
            assert_eq!(end, PodEnd { well: false, at: expected });
        }
    }
}
