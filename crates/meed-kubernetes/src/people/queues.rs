//! All queues: what each is entitled to, has, and is owed, as its status tells.

use std::collections::{BTreeMap, BTreeSet};

use kube::api::ListParams;
use kube::{Api, Client};
use serde::Serialize;

use super::{shown, table};
use crate::crd::{PlacedBy, QueueObject};
use crate::error::KubernetesError;

/// A queue, for programs.
#[derive(Serialize, PartialEq, Debug)]
#[serde(rename_all = "camelCase")]
struct Told {
    name: String,
    parent: Option<String>,
    weight: f64,
    mode: PlacedBy,
    entitled: Option<String>,
    used: Option<String>,
    balance: Option<String>,
    /// In seconds of what the policy counts, by the prices of nodes.
    charged: Option<f64>,
    waiting: Option<u64>,
    /// Its place among those of its parent that wait.
    next: Option<u64>,
    running: Option<u64>,
    /// Let go, and not placed in time.
    unplaced: Option<u64>,
    /// Whether its pods are served; none: no leader has said so yet.
    accepted: Option<bool>,
    /// What is wrong, where something is.
    problem: Option<String>,
    /// How deep it lies in the tree.
    #[serde(skip)]
    depth: usize,
}

pub(super) async fn told(client: &Client, json: bool) -> Result<String, KubernetesError> {
    let queues: Api<QueueObject> = Api::all(client.clone());
    let list = queues.list(&ListParams::default()).await;
    let list = list.map_err(|why| KubernetesError::api("list queues", why))?;
    let all = in_order(list.items);
    if json {
        let text = serde_json::to_string_pretty(&all);
        return Ok(format!("{}\n", text.map_err(|why| KubernetesError::Engine(why.to_string()))?));
    }
    Ok(text(&all))
}

fn read(queue: QueueObject, depth: usize) -> Told {
    let (spec, status) = (queue.spec, queue.status.unwrap_or_default());
    let accepted = status.conditions.into_iter().find(|one| one.kind == "Accepted");
    let is_accepted = accepted.as_ref().map(|one| one.status == "True");
    let problem = accepted.filter(|one| one.reason != "Accepted");
    Told {
        name: queue.metadata.name.unwrap_or_default(),
        parent: spec.parent,
        weight: spec.weight,
        mode: spec.mode,
        entitled: status.entitled,
        used: status.used,
        charged: status.charged,
        balance: status.balance,
        waiting: status.waiting,
        next: status.next,
        running: status.running,
        unplaced: status.unplaced,
        accepted: is_accepted,
        problem: problem.map(|one| shown(&format!("{}: {}", one.reason, one.message))),
        depth,
    }
}

/// Each below its parent; what names a parent that is not there, or itself, stands last.
fn in_order(queues: Vec<QueueObject>) -> Vec<Told> {
    let name = |queue: &QueueObject| queue.metadata.name.clone().unwrap_or_default();
    let mut left: BTreeMap<String, QueueObject> =
        queues.into_iter().map(|queue| (name(&queue), queue)).collect();
    let mut below: BTreeMap<Option<String>, BTreeSet<String>> = BTreeMap::new();
    for (name, queue) in &left {
        below.entry(queue.spec.parent.clone()).or_default().insert(name.clone());
    }
    let mut all = Vec::new();
    let mut next: Vec<(String, usize)> =
        below.get(&None).into_iter().flatten().rev().map(|name| (name.clone(), 0)).collect();
    while let Some((name, depth)) = next.pop() {
        if let Some(queue) = left.remove(&name) {
            all.push(read(queue, depth));
            let children = below.get(&Some(name)).into_iter().flatten().rev();
            next.extend(children.map(|child| (child.clone(), depth + 1)));
        }
    }
    all.extend(left.into_values().map(|queue| read(queue, 0)));
    all
}

/// In hours of what the policy counts, which is not always what is held.
fn charged(queue: &Told) -> String {
    let hours = queue.charged.map(|seconds| (seconds / 36.0).round() / 100.0);
    hours.map_or_else(|| "-".to_owned(), |hours| hours.to_string())
}

fn text(all: &[Told]) -> String {
    if all.is_empty() {
        return "there is no Queue in this cluster\n".to_owned();
    }
    let some = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    let count =
        |count: Option<u64>| count.map_or_else(|| "-".to_owned(), |count| count.to_string());
    let row = |queue: &Told| {
        let accepted = match (queue.accepted, &queue.problem) {
            (None, _) => "not yet".to_owned(),
            (Some(true), None) => "yes".to_owned(),
            (Some(true), Some(why)) => format!("yes; {why}"),
            (Some(false), why) => format!("no; {}", some(why)),
        };
        vec![
            format!("{}{}", "  ".repeat(queue.depth), queue.name),
            queue.weight.to_string(),
            format!("{:?}", queue.mode),
            some(&queue.entitled),
            some(&queue.used),
            some(&queue.balance),
            charged(queue),
            count(queue.waiting),
            count(queue.next),
            count(queue.running),
            count(queue.unplaced),
            accepted,
        ]
    };
    let heads = [
        "QUEUE",
        "WEIGHT",
        "MODE",
        "ENTITLED",
        "USED",
        "BALANCE",
        "CHARGED h",
        "WAITING",
        "NEXT",
        "RUNNING",
        "UNPLACED",
        "ACCEPTED",
    ];
    table(&heads, &all.iter().map(row).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn queue(name: &str, parent: Option<&str>, status: Value) -> QueueObject {
        let queue = json!({
            "apiVersion": "meed.dev/v1alpha1", "kind": "Queue", "metadata": { "name": name },
            "spec": { "parent": parent, "weight": 2.0 }, "status": status,
        });
        serde_json::from_value(queue).unwrap()
    }

    #[test]
    fn queues_stand_below_their_parents_and_say_what_is_wrong() {
        let condition = |status: &str, reason: &str, message: &str| {
            json!([{ "type": "Accepted", "status": status, "reason": reason, "message": message,
                "lastTransitionTime": "" }])
        };
        let conditions = condition("True", "Accepted", "served");
        let well = json!({ "entitled": "4 cpu", "used": "2 cpu", "balance": "+1 cpu-hours",
            "charged": 9000.0, "unplaced": 5, "waiting": 3, "next": 2, "running": 1,
            "conditions": conditions });
        let wrong = json!({ "conditions": condition("False", "Invalid", "policy:\nwrong") });
        let all = in_order(vec![
            queue("b", None, json!({})),
            queue("lost", Some("nobody"), wrong),
            queue("leaf", Some("a"), well),
            queue("a", None, json!({})),
            queue("self", Some("self"), json!({})),
        ]);
        let names: Vec<&str> = all.iter().map(|queue| queue.name.as_str()).collect();
        assert_eq!(names, ["a", "leaf", "b", "lost", "self"]);
        let text = text(&all);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("QUEUE") && lines[0].ends_with("ACCEPTED"), "{text}");
        assert!(lines[2].starts_with("  leaf  2") && lines[2].contains("+1 cpu-hours"), "{text}");
        assert!(lines[2].contains("2.5        3        2     1        5         yes"), "{text}");
        assert!(lines[4].ends_with("no; Invalid: policy: wrong"), "{text}");
        assert!(lines[1].ends_with("not yet"), "{text}");
        let json = serde_json::to_value(&all).unwrap();
        assert_eq!(json[1]["parent"], "a");
        assert_eq!((&json[1]["waiting"], &json[1]["accepted"]), (&json!(3), &json!(true)));
        assert_eq!(json[3]["problem"], "Invalid: policy: wrong");
    }
}
