//! One pod: where it stands, what was said of it, and how its queue stands.

use k8s_openapi::api::core::v1::{Event, Pod};
use k8s_openapi::jiff::Timestamp;
use kube::api::ListParams;
use kube::{Api, Client};
use serde::Serialize;

use super::shown;
use crate::crd::QueueObject;
use crate::error::KubernetesError;
use crate::keys;

/// What is told of a pod.
#[derive(Serialize, PartialEq, Debug)]
#[serde(rename_all = "camelCase")]
struct Told {
    pod: String,
    queue: Option<String>,
    /// In a sentence.
    state: String,
    /// What its condition says, where it waits.
    condition: Option<String>,
    /// What Meed has said of it, the latest last.
    events: Vec<String>,
    /// How its queue stands.
    queue_stands: Option<String>,
    /// Where it stands among the pods that wait in its queue, where that can be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<String>,
}

pub(super) async fn told(
    client: &Client,
    pod: &str,
    json: bool,
) -> Result<String, KubernetesError> {
    let (namespace, name) = match pod.split_once('/') {
        Some((namespace, name)) => (namespace.to_owned(), name),
        None => (client.default_namespace().to_owned(), pod),
    };
    let pods: Api<Pod> = Api::namespaced(client.clone(), &namespace);
    let what = format!("read pod {namespace}/{name}");
    let found = pods.get(name).await.map_err(|why| KubernetesError::api(&what, why))?;
    let uid = found.metadata.uid.clone().unwrap_or_default();
    let of_pod = ListParams::default().fields(&format!("involvedObject.uid={uid}"));
    let events: Api<Event> = Api::namespaced(client.clone(), &namespace);
    // Who may not read events, or queues, is told the rest.
    let events = events.list(&of_pod).await.map(|list| list.items).unwrap_or_default();
    let queues: Api<QueueObject> = Api::all(client.clone());
    let queue = match queue_of(&found) {
        Some(queue) => queues.get_opt(&queue).await.ok().flatten(),
        None => None,
    };
    let mut told = tell(&found, events, queue.as_ref());
    if let Some(name) = queue_of(&found).filter(|_| waits(&found)) {
        let of_queue = ListParams::default().labels(&format!("{}={name}", keys::QUEUE));
        // Who may not list all pods sees those of the namespace.
        let everywhere = Api::<Pod>::all(client.clone()).list(&of_queue).await;
        let (all, is_all) = match everywhere {
            Ok(list) => (list.items, true),
            Err(_) => {
                (pods.list(&of_queue).await.map(|list| list.items).unwrap_or_default(), false)
            }
        };
        told.position = position(&found, &all, is_all, queue.as_ref());
    }
    match json {
        true => serde_json::to_string_pretty(&told)
            .map(|text| format!("{text}\n"))
            .map_err(|why| KubernetesError::Engine(why.to_string())),
        false => Ok(text(&told)),
    }
}

fn label(pod: &Pod, key: &str) -> Option<String> {
    pod.metadata.labels.as_ref()?.get(key).cloned()
}

fn note(pod: &Pod, key: &str) -> Option<String> {
    pod.metadata.annotations.as_ref()?.get(key).cloned()
}

fn queue_of(pod: &Pod) -> Option<String> {
    note(pod, keys::CHARGED).or_else(|| label(pod, keys::QUEUE))
}

fn tell(pod: &Pod, mut events: Vec<Event>, queue: Option<&QueueObject>) -> Told {
    let ours = |event: &Event| {
        let source = event.source.as_ref().and_then(|source| source.component.as_deref());
        source == Some(keys::COMPONENT)
    };
    events.retain(ours);
    events.sort_by_key(|event| event.last_timestamp.as_ref().map(|time| time.0));
    let line = |event: &Event| {
        let when = event.last_timestamp.as_ref().map(|time| time.0.to_string());
        let (reason, message) = (event.reason.as_deref(), event.message.as_deref());
        let said = format!("{}: {}", reason.unwrap_or("?"), message.unwrap_or(""));
        format!("{} {}", when.unwrap_or_default(), shown(&said))
    };
    let conditions = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
    let unplaced =
        conditions.into_iter().find(|one| one.type_ == "PodScheduled" && one.status == "False");
    let said = |text: &Option<String>| text.clone().unwrap_or_default();
    let metadata = &pod.metadata;
    let name = |text: &Option<String>| text.clone().unwrap_or_default();
    Told {
        pod: format!("{}/{}", name(&metadata.namespace), name(&metadata.name)),
        queue: queue_of(pod).as_deref().map(shown),
        state: state(pod),
        condition: unplaced
            .map(|one| shown(&format!("{}: {}", said(&one.reason), said(&one.message)))),
        events: events.iter().map(line).collect(),
        queue_stands: queue.and_then(stands),
        position: None,
    }
}

/// Whether Meed has not let it start.
fn waits(pod: &Pod) -> bool {
    let spec = pod.spec.as_ref();
    let gates = spec.and_then(|spec| spec.scheduling_gates.as_ref());
    let is_held = gates.is_some_and(|gates| gates.iter().any(|gate| gate.name == keys::GATE));
    let is_ours = spec.and_then(|spec| spec.scheduler_name.as_deref()) == Some(keys::SCHEDULER);
    let is_placed = spec.is_some_and(|spec| spec.node_name.is_some());
    (is_held || is_ours) && !is_placed && pod.metadata.deletion_timestamp.is_none()
}

/// The place of a pod among those of its queue that wait, by when they were made; and that of its
/// queue among all.
fn position(pod: &Pod, all: &[Pod], is_all: bool, queue: Option<&QueueObject>) -> Option<String> {
    let key = |pod: &Pod| {
        let metadata = &pod.metadata;
        let made = metadata.creation_timestamp.as_ref().map(|time| time.0);
        (made, metadata.namespace.clone(), metadata.name.clone())
    };
    let own = key(pod);
    let waiting: Vec<_> = all.iter().filter(|pod| waits(pod)).map(key).collect();
    let before = waiting.iter().filter(|other| **other < own).count();
    if !waiting.contains(&own) {
        return None;
    }
    let among = if is_all { "" } else { " of this namespace (no right to list all)" };
    let next = queue.and_then(|queue| queue.status.as_ref()?.next);
    let next = next.map_or_else(String::new, |next| {
        format!("; its queue is number {next} of those that wait beside it")
    });
    let count = waiting.len();
    Some(format!("number {} of {count} pods that wait in its queue{among}{next}", before + 1))
}

fn state(pod: &Pod) -> String {
    let spec = pod.spec.as_ref();
    let held = spec.and_then(|spec| spec.scheduling_gates.as_ref());
    let gates: Vec<&str> = held.into_iter().flatten().map(|gate| gate.name.as_str()).collect();
    let is_ours = spec.and_then(|spec| spec.scheduler_name.as_deref()) == Some(keys::SCHEDULER);
    let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
    let node = spec.and_then(|spec| spec.node_name.as_deref());
    let since = note(pod, keys::STARTED).and_then(|text| text.parse().ok());
    let since = since.and_then(|micros| Timestamp::from_microsecond(micros).ok());
    let since = since.map(|at| format!(", charged since {at}")).unwrap_or_default();
    let deleting = match pod.metadata.deletion_timestamp {
        Some(_) => "; it is being deleted",
        None => "",
    };
    let what = match (phase, node) {
        (Some(phase @ ("Succeeded" | "Failed")), _) => format!("it has ended: {phase}"),
        (_, Some(node)) => format!("it is on node {}{since}", shown(node)),
        _ if gates.contains(&keys::GATE) && gates.len() > 1 => {
            let others: Vec<&str> = gates.into_iter().filter(|gate| *gate != keys::GATE).collect();
            format!("it waits for the gates of others: {}; then it has its turn", others.join(", "))
        }
        _ if gates.contains(&keys::GATE) => "it waits: Meed holds it by its gate".to_owned(),
        _ if !gates.is_empty() => format!("it waits for the gates of others: {}", gates.join(", ")),
        _ if is_ours => "it waits for Meed to place it".to_owned(),
        _ if note(pod, keys::NODE).is_some() => {
            format!("Meed has let it go{since}; kube-scheduler has not placed it yet")
        }
        _ => "it is not Meed's: it has no gate of Meed, and another scheduler places it".to_owned(),
    };
    format!("{}{deleting}", shown(&what))
}

fn stands(queue: &QueueObject) -> Option<String> {
    let status = queue.status.as_ref()?;
    let some = |text: &Option<String>| text.clone().unwrap_or_else(|| "?".to_owned());
    let count = |count: Option<u64>| count.map_or_else(|| "?".to_owned(), |one| one.to_string());
    let unplaced = match status.unplaced {
        None | Some(0) => String::new(),
        Some(late) => format!(", {late} are let go and not placed"),
    };
    Some(format!(
        "it is entitled to {}, holds {}, balance {}; {} wait, {} run{}",
        some(&status.entitled),
        some(&status.used),
        some(&status.balance),
        count(status.waiting),
        count(status.running),
        unplaced
    ))
}

fn text(told: &Told) -> String {
    let mut lines = vec![format!("pod     {}", told.pod), format!("state   {}", told.state)];
    lines.push(match &told.queue {
        Some(queue) => format!("queue   {queue}"),
        None => format!("queue   none: give it the label {}, or its namespace", keys::QUEUE),
    });
    lines.extend(told.queue_stands.iter().map(|how| format!("        {how}")));
    lines.extend(told.position.iter().map(|place| format!("place   {place}")));
    lines.extend(told.condition.iter().map(|how| format!("shown   {how}")));
    lines.extend(told.events.iter().map(|event| format!("event   {event}")));
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn pod(more: Value) -> Pod {
        let mut pod = json!({
            "metadata": { "namespace": "n", "name": "p", "labels": { keys::QUEUE: "q" } },
            "spec": { "containers": [] }, "status": {},
        });
        for (key, value) in more.as_object().unwrap() {
            for (inner, value) in value.as_object().unwrap() {
                pod[key][inner] = value.clone();
            }
        }
        serde_json::from_value(pod).unwrap()
    }

    #[test]
    fn each_state_has_its_sentence() {
        let gate = |name: &str| json!({ "spec": { "schedulingGates": [{ "name": name }] } });
        for (more, expected) in [
            (gate(keys::GATE), "Meed holds it by its gate"),
            (gate("other"), "gates of others: other"),
            (json!({ "spec": { "schedulerName": "meed" } }), "for Meed to place it"),
            (json!({ "metadata": { "annotations": { keys::NODE: "n1" } } }), "has let it go"),
            (json!({ "status": { "phase": "Failed" } }), "it has ended: Failed"),
            (json!({}), "not Meed's"),
            (
                json!({ "spec": { "nodeName": "n1" },
                    "metadata": { "annotations": { keys::STARTED: "5000000" },
                        "deletionTimestamp": "2026-01-01T00:00:00Z" } }),
                "on node n1, charged since 1970-01-01T00:00:05Z; it is being deleted",
            ),
        ] {
            let told = state(&pod(more));
            assert!(told.contains(expected), "{told}");
        }
    }

    #[test]
    fn a_pod_that_waits_has_its_place_in_its_queue() {
        let of = |name: &str, second: u32, gates: Value| {
            let at = format!("2026-01-01T00:00:{second:02}Z");
            let gates: Vec<Value> = gates
                .as_array()
                .into_iter()
                .flatten()
                .map(|name| json!({ "name": name }))
                .collect();
            pod(json!({ "metadata": { "name": name, "creationTimestamp": at },
                "spec": { "schedulingGates": gates } }))
        };
        let all = [
            of("late", 9, json!([keys::GATE])),
            of("first", 1, json!([keys::GATE])),
            of("runs", 0, json!([])),
            of("second", 1, json!([keys::GATE, "other"])),
        ];
        let queue = json!({ "metadata": { "name": "q" }, "spec": {}, "status": { "next": 2 } });
        let queue: QueueObject = serde_json::from_value(queue).unwrap();
        let told = |pod: &Pod, is_all| position(pod, &all, is_all, Some(&queue));
        let next = "; its queue is number 2 of those that wait beside it";
        let all_of = "pods that wait in its queue";
        assert_eq!(told(&all[0], true).unwrap(), format!("number 3 of 3 {all_of}{next}"));
        let alone =
            format!("number 1 of 3 {all_of} of this namespace (no right to list all){next}");
        assert_eq!(told(&all[1], false).unwrap(), alone);
        assert_eq!(told(&all[2], true), None, "it does not wait");
        let told = state(&all[3]);
        assert_eq!(told, "it waits for the gates of others: other; then it has its turn");
    }

    #[test]
    fn what_meed_has_said_is_told_in_order_and_what_others_say_is_not() {
        let event = |component: &str, reason: &str, second: u32| -> Event {
            let at = format!("2026-01-01T00:00:{second:02}Z");
            let event = json!({ "metadata": {}, "involvedObject": {}, "reason": reason,
                "message": "a\nb", "lastTimestamp": at, "source": { "component": component } });
            serde_json::from_value(event).unwrap()
        };
        let events = vec![event("meed", "KeptAway", 9), event("kubelet", "Pulled", 2)];
        let events = [events, vec![event("meed", "NotSupported", 1)]].concat();
        let condition = json!([{ "type": "PodScheduled", "status": "False",
            "reason": "Unschedulable", "message": "0/3 nodes" }]);
        let told = tell(&pod(json!({ "status": { "conditions": condition } })), events, None);
        assert_eq!(told.events.len(), 2);
        assert!(told.events[1].ends_with("KeptAway: a b"), "{told:?}");
        assert_eq!(told.condition.as_deref(), Some("Unschedulable: 0/3 nodes"));
        let text = text(&told);
        assert!(text.contains("queue   q\n") && text.contains("event   2026"), "{text}");
    }
}
