//! What processes have used, from /proc; and much of something in a cluster at once.

use futures::{StreamExt as _, stream};
use k8s_openapi::api::core::v1::{Event, Node, Pod};
use kube::api::{DeleteParams, ListParams, PostParams};
use kube::{Api, ResourceExt as _};
use meed_kubernetes::crd::QueueObject;
use serde_json::json;

use crate::plane::{Plane, until};

/// Requests at a time.
const AT_ONCE: usize = 64;

/// Ticks of /proc in a second, on every Linux that Rust runs on.
const TICKS: f64 = 100.0;

/// Sizes of nodes, in turn: cores, memory.
const NODES: [(&str, &str); 4] = [("8", "32Gi"), ("16", "64Gi"), ("32", "256Gi"), ("64", "256Gi")];

/// What pods ask for, in turn: cores, memory.
const PODS: [(&str, &str); 4] =
    [("250m", "512Mi"), ("500m", "1Gi"), ("1", "2Gi"), ("125m", "256Mi")];

/// How much is to be measured, as a variable says: `nodes=1000 pods=5000,30000`.
pub(crate) struct Asked(String);

impl Asked {
    pub(crate) fn of(variable: &str) -> Asked {
        Asked(std::env::var(variable).unwrap_or_default())
    }

    /// The numbers of a key, or the usual one.
    pub(crate) fn all(&self, key: &str, usual: usize) -> Vec<usize> {
        let told = self.0.split(' ').find_map(|one| one.strip_prefix(key)?.strip_prefix('='));
        let number = |text: &str| text.parse().expect("a number");
        told.map_or_else(|| vec![usual], |told| told.split(',').map(number).collect())
    }

    pub(crate) fn one(&self, key: &str, usual: usize) -> usize {
        let all = self.all(key, usual);
        assert_eq!(all.len(), 1, "{key} is one number");
        all[0]
    }
}

/// What the machine says of its load.
pub(crate) fn load() -> String {
    std::fs::read_to_string("/proc/loadavg").unwrap_or_default().trim().to_owned()
}

/// A table in Markdown.
pub(crate) fn markdown(columns: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let rule = vec!["---"; columns.len()].join("|");
    let head = format!("| {} |\n|{rule}|\n", columns.join(" | "));
    rows.fold(head, |text, cells| text + &format!("| {} |\n", cells.join(" | ")))
}

/// Seconds of CPU that a process has used.
pub(crate) fn cpu(process: u32) -> f64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name, in brackets, may hold anything.
    let behind = text.rsplit(") ").next().unwrap_or_default();
    let ticks = behind.split(' ').skip(11).take(2).filter_map(|one| one.parse::<f64>().ok());
    ticks.sum::<f64>() / TICKS
}

/// The most memory that a process has held, in MiB.
pub(crate) fn peak(process: u32) -> f64 {
    memory(process, "VmHWM:")
}

/// What it holds now.
pub(crate) fn held(process: u32) -> f64 {
    memory(process, "VmRSS:")
}

fn memory(process: u32, row: &str) -> f64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let row = text.lines().find_map(|line| line.strip_prefix(row));
    let kib = row.and_then(|row| row.split_whitespace().next()?.parse::<f64>().ok());
    kib.unwrap_or(0.0) / 1024.0
}

/// So much of something, many at a time.
pub(crate) async fn many<F: Future<Output = ()>>(count: usize, make: impl Fn(usize) -> F) {
    stream::iter(0..count).map(make).buffer_unordered(AT_ONCE).for_each(|()| async {}).await;
}

impl Plane {
    /// So many nodes of four sizes.
    pub(crate) async fn unequal_nodes(&self, count: usize) {
        self.nodes_of(count, &NODES).await;
    }

    /// So many nodes of these sizes, in turn.
    pub(crate) async fn nodes_of(&self, count: usize, sizes: &[(&str, &str)]) {
        let nodes: Api<Node> = Api::all(self.admin.clone());
        let make = |number: usize| {
            let (name, (cpu, memory)) = (format!("node-{number:05}"), sizes[number % sizes.len()]);
            let labels = json!({ "kubernetes.io/hostname": name,
                "topology.kubernetes.io/zone": format!("zone-{}", number % 3) });
            let has = json!({ "cpu": cpu, "memory": memory, "pods": "110" });
            let node = json!({ "metadata": { "name": name, "labels": labels },
                "status": { "capacity": has, "allocatable": has } });
            let nodes = nodes.clone();
            async move {
                let node = serde_json::from_value(node).expect("a node");
                nodes.create(&PostParams::default(), &node).await.expect("a node is made");
            }
        };
        many(count, make).await;
    }

    /// So many pods of four sizes, in the namespaces that `place` tells, with the labels and the
    /// scheduler that it tells.
    pub(crate) async fn many_pods(
        &self,
        count: usize,
        place: impl Fn(usize) -> (String, serde_json::Value, &'static str),
    ) {
        let make = |number: usize| {
            let (namespace, labels, scheduler) = place(number);
            let (cpu, memory) = PODS[number % PODS.len()];
            let requests = json!({ "cpu": cpu, "memory": memory });
            let pod = json!({
                "metadata": { "name": format!("p-{number:05}"), "labels": labels },
                "spec": {
                    "schedulerName": scheduler, "restartPolicy": "Never",
                    "terminationGracePeriodSeconds": 0,
                    "containers": [{ "name": "c", "image": "none",
                        "resources": { "requests": requests } }],
                },
            });
            let pods = self.pods(&namespace);
            async move {
                let pod = serde_json::from_value(pod).expect("a pod");
                pods.create(&PostParams::default(), &pod).await.expect("a pod is made");
            }
        };
        many(count, make).await;
    }

    /// So many queues that bind, for all namespaces.
    pub(crate) async fn many_queues(&self, count: usize) {
        let queues: Api<QueueObject> = Api::all(self.admin.clone());
        let make = |number: usize| {
            let queue = json!({
                "apiVersion": "meed.dev/v1alpha1", "kind": "Queue",
                "metadata": { "name": format!("q-{number:05}") },
                "spec": { "mode": "Binds", "namespaceSelector": {} },
            });
            let queues = queues.clone();
            async move {
                let queue = serde_json::from_value(queue).expect("a queue");
                queues.create(&PostParams::default(), &queue).await.expect("a queue is made");
            }
        };
        many(count, make).await;
    }

    /// The first pods of this namespace that are bound.
    pub(crate) async fn some_bound(&self, namespace: &str, count: u32) -> Vec<String> {
        let some = ListParams::default().fields("spec.nodeName!=").limit(count);
        let list = self.pods(namespace).list_metadata(&some).await.expect("a list");
        list.items.iter().map(|pod| pod.name_any()).collect()
    }

    /// All pods and events of these namespaces go.
    pub(crate) async fn clear(&self, namespaces: &[String]) {
        let (now, all) = (DeleteParams::default().grace_period(0), ListParams::default());
        for namespace in namespaces {
            let events: Api<Event> = Api::namespaced(self.admin.clone(), namespace);
            until("pods and events are deleted", 600, async || {
                self.pods(namespace).delete_collection(&now, &all).await.is_ok()
                    && events.delete_collection(&DeleteParams::default(), &all).await.is_ok()
            })
            .await;
        }
        let pods: Api<Pod> = Api::all(self.admin.clone());
        until("no pod is left", 600, async || {
            let left = pods.list_metadata(&ListParams::default().limit(1)).await;
            left.is_ok_and(|left| left.items.is_empty())
        })
        .await;
    }

    /// Events in all namespaces.
    pub(crate) async fn events(&self) -> usize {
        let events: Api<Event> = Api::all(self.admin.clone());
        let list = events.list_metadata(&ListParams::default().limit(1)).await.expect("a list");
        let left = list.metadata.remaining_item_count.unwrap_or(0);
        list.items.len() + usize::try_from(left).unwrap_or(0)
    }

    /// No node holds more cores, memory or pods than it has, in one list. How many are bound.
    pub(crate) async fn none_is_overfull(&self) -> usize {
        let list = Api::<Node>::all(self.admin.clone()).list(&ListParams::default()).await;
        let amount = |text: &str| {
            let digits = text.trim_end_matches(|one: char| one.is_ascii_alphabetic());
            let number: f64 = digits.parse().expect("an amount");
            number
                * match &text[digits.len()..] {
                    "m" => 1e-3,
                    "Mi" => 1.0,
                    "Gi" => 1024.0,
                    _ => 1.0,
                }
        };
        let mut free = std::collections::BTreeMap::new();
        for node in list.expect("nodes are listed") {
            let has = node.status.as_ref().and_then(|status| status.allocatable.clone());
            let has = has.expect("a node has something");
            let has = ["cpu", "memory", "pods"].map(|kind| amount(&has[kind].0));
            free.insert(node.name_any(), has);
        }
        let pods: Api<Pod> = Api::all(self.admin.clone());
        let (mut page, mut bound) = (ListParams::default().limit(2000), 0);
        loop {
            let list = pods.list(&page).await.expect("pods are listed");
            for pod in list.items {
                let spec = pod.spec.expect("a pod has a spec");
                let Some(node) = spec.node_name else { continue };
                bound += 1;
                let wants = spec.containers[0].resources.clone().and_then(|all| all.requests);
                let wants = wants.unwrap_or_default();
                let left = free.get_mut(&node).expect("a node that is there");
                for (left, kind) in left.iter_mut().zip(["cpu", "memory"]) {
                    *left -= wants.get(kind).map_or(0.0, |one| amount(&one.0));
                }
                left[2] -= 1.0;
                assert!(left.iter().all(|left| *left > -1e-6), "{node} is overfull: {left:?}");
            }
            match list.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => page = page.continue_token(&token),
                None => break bound,
            }
        }
    }
}
