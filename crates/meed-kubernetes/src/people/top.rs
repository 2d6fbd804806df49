//! What `meed top` shows of a cluster at one instant, for programs: in the form of `meed top
//! --json` of a server, with pods as its jobs.
//!
//! Only what fairness is measured in is told of the nodes, and only as far as who asks may list
//! them. Pods that have ended are left out; of the others there are at most [`MOST_PODS`].

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::ListParams;
use kube::{Api, Client};
use meed::Unit;
use serde_json::{Value, json};

use super::shown;
use crate::clock::unix_micros;
use crate::crd::QueueObject;
use crate::error::KubernetesError;
use crate::keys;
use crate::watch::NOT_ENDED;
use meed_pods::quantity::amount;

/// Most pods of a view.
const MOST_PODS: u32 = 1000;

/// `of`: which cluster, in words.
pub(super) async fn told(client: &Client, of: &str) -> Result<String, KubernetesError> {
    let queues: Api<QueueObject> = Api::all(client.clone());
    let queues = queues.list(&ListParams::default()).await;
    let queues = queues.map_err(|why| KubernetesError::api("list queues", why))?.items;
    let pods: Api<Pod> = Api::all(client.clone());
    let ours = ListParams::default().labels(keys::QUEUE).fields(NOT_ENDED).limit(MOST_PODS);
    let pods = pods.list(&ours).await;
    let pods = pods.map_err(|why| KubernetesError::api("list pods", why))?;
    let more = pods.metadata.continue_.is_some_and(|token| !token.is_empty());
    let nodes: Api<Node> = Api::all(client.clone());
    // Who may not see nodes is told the rest.
    let nodes = nodes.list(&ListParams::default()).await.map(|list| list.items);
    let mut told = tell(queues, &pods.items, &nodes.unwrap_or_default(), more);
    told["of"] = of.into();
    Ok(format!("{told}\n"))
}

fn tell(queues: Vec<QueueObject>, pods: &[Pod], nodes: &[Node], more: bool) -> Value {
    // What a queue holds its parent holds as well: leaves alone count.
    let parents: BTreeSet<String> =
        queues.iter().filter_map(|queue| queue.spec.parent.clone()).collect();
    let is_leaf: Vec<bool> = queues
        .iter()
        .map(|queue| queue.metadata.name.as_ref().is_none_or(|name| !parents.contains(name)))
        .collect();
    let queues: Vec<Value> = queues.into_iter().map(of_queue).collect();
    let measured = queues.iter().find_map(|queue| queue["measured"].as_str());
    let measured = measured.unwrap_or("cpu").to_owned();
    let leaves = queues.iter().zip(is_leaf).filter(|(_, is_leaf)| *is_leaf);
    let held: f64 = leaves.filter_map(|(queue, _)| queue["held"].as_f64()).sum();
    let has = nodes.iter().filter_map(|node| allocatable(node, &measured)).sum::<u64>();
    let resources = match nodes {
        [] => json!([]),
        _ => json!([{ "resource": measured, "unit": "milli", "has": has as f64 / 1000.0,
            "held": held }]),
    };
    let pods: Vec<Value> =
        pods.iter().zip(1u64..).map(|(pod, number)| of_pod(pod, number)).collect();
    json!({ "at_us": unix_micros(), "resources": resources, "queues": queues, "jobs": pods,
        "more": more })
}

/// What a node has, in thousandths.
fn allocatable(node: &Node, kind: &str) -> Option<u64> {
    let quantity = node.status.as_ref()?.allocatable.as_ref()?.get(kind)?;
    amount(&quantity.0, Unit::Milli).ok()
}

/// A queue that says nothing of itself yet has no figures.
fn of_queue(queue: QueueObject) -> Value {
    let status = queue.status.unwrap_or_default();
    let number =
        |text: &Option<String>| -> Option<f64> { text.as_deref()?.split_once(' ')?.0.parse().ok() };
    let unit = status.used.as_deref().and_then(|used| used.split_once(' '));
    let hours = number(&status.balance).map(|hours| hours * 3600.0);
    json!({
        "queue": shown(&queue.metadata.name.unwrap_or_default()), "next": null,
        "weight": queue.spec.weight, "share": number(&status.entitled),
        "held": number(&status.used), "waiting_tasks": status.waiting.unwrap_or(0),
        "measured": unit.map(|(_, unit)| unit),
        "books": { "usage": status.charged, "balance": hours },
    })
}

/// A pod as a job of one task.
fn of_pod(pod: &Pod, number: u64) -> Value {
    let metadata = &pod.metadata;
    let label = metadata.labels.as_ref().and_then(|labels| labels.get(keys::QUEUE));
    let charged = metadata.annotations.as_ref().and_then(|notes| notes.get(keys::CHARGED));
    let runs = pod.spec.as_ref().is_some_and(|spec| spec.node_name.is_some());
    let created = metadata.creation_timestamp.as_ref().map_or(0, |time| time.0.as_microsecond());
    json!({
        "id": number, "name": metadata.name.as_deref().map(shown),
        "user": metadata.namespace.as_deref().map(shown).unwrap_or_default(),
        "queue": charged.or(label).map(|queue| shown(queue)).unwrap_or_default(),
        "state": if runs { "running" } else { "waiting" },
        "tasks": 1, "running": u32::from(runs), "done": 0, "failed": 0,
        "submitted_us": created.max(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_is_told_as_a_server_is() {
        let queue = |name: &str, status: Value| -> QueueObject {
            serde_json::from_value(json!({ "apiVersion": "meed.dev/v1alpha1", "kind": "Queue",
                "metadata": { "name": name }, "spec": { "weight": 2.0 }, "status": status }))
            .unwrap()
        };
        let status = json!({ "entitled": "40 cpu", "used": "2.5 cpu", "balance": "-1.5 cpu-hours",
            "charged": 7200.0, "waiting": 3 });
        let pod = |name: &str, node: Value| -> Pod {
            serde_json::from_value(json!({ "metadata": { "namespace": "n", "name": name,
                "labels": { keys::QUEUE: "a" }, "creationTimestamp": "1970-01-01T00:00:02Z" },
                "spec": { "containers": [], "nodeName": node } }))
            .unwrap()
        };
        let node: Node = serde_json::from_value(
            json!({ "metadata": {}, "status": { "allocatable": { "cpu": "7500m" } } }),
        )
        .unwrap();
        let pods = [pod("runs", "n1".into()), pod("waits", Value::Null)];
        let mut below = queue("a", status.clone());
        below.spec.parent = Some("above".to_owned());
        let queues = vec![below, queue("new", json!({})), queue("above", status)];
        let told = tell(queues, &pods, &[node.clone(), node], true);
        assert_eq!(told["more"], true);
        let resource = json!({ "resource": "cpu", "unit": "milli", "has": 15.0, "held": 2.5 });
        assert_eq!(told["resources"], json!([resource]));
        let a = &told["queues"][0];
        assert_eq!((&a["share"], &a["held"]), (&json!(40.0), &json!(2.5)));
        assert_eq!(a["books"], json!({ "usage": 7200.0, "balance": -5400.0 }));
        assert_eq!(told["queues"][1]["held"], Value::Null);
        let job = &told["jobs"][0];
        assert_eq!((&job["state"], &job["user"]), (&json!("running"), &json!("n")));
        assert_eq!(told["jobs"][1]["state"], "waiting");
        assert_eq!(tell(Vec::new(), &[], &[], false)["resources"], json!([]));
    }
}
