//! The world without a server: what the watch may show, in what order, and what comes of it.

use k8s_openapi::api::core::v1::{Namespace, Node, Pod};
use meed::{Span, Time};
use meed_config::policy::PolicySpec;
use serde_json::{Value, json};

use super::{Answer, Found, Listed, Order, StartOrder, World};
use crate::clock::{LedgerClock, unix_micros};
use crate::crd::QueueObject;
use crate::ledger::{About, Checkpoint};
use crate::pod::PodSeen;
use crate::settings::KubernetesSettings;
use clap::Parser;

const HOUR: i64 = 3_600_000_000;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    settings: KubernetesSettings,
}

fn root() -> PolicySpec {
    "long-term,quantum=0".parse().unwrap()
}

fn node(name: &str, cpu: u32) -> Node {
    let has = json!({ "cpu": cpu.to_string(), "memory": "8Gi", "pods": "10" });
    let node = json!({ "metadata": { "name": name }, "status": { "allocatable": has } });
    serde_json::from_value(node).unwrap()
}

fn queue(name: &str, mode: &str) -> QueueObject {
    let spec = json!({ "mode": mode, "namespaceSelector": {} });
    let queue = json!({ "apiVersion": "meed.dev/v1alpha1", "kind": "Queue",
        "metadata": { "name": name }, "spec": spec });
    serde_json::from_value(queue).unwrap()
}

/// A pod of the queue `binds` or `gates`, of one core; `more` is laid over it.
fn pod(uid: &str, queue: &str, more: Value) -> Pod {
    let mut pod = json!({
        "metadata": { "name": "p", "namespace": "n", "uid": uid, "annotations": {},
            "labels": { "meed.dev/queue": queue } },
        "spec": { "containers": [
            { "name": "c", "resources": { "requests": { "cpu": "1", "memory": "1Gi" } } }
        ] },
    });
    match queue {
        "binds" => pod["spec"]["schedulerName"] = "meed".into(),
        _ => pod["spec"]["schedulingGates"] = json!([{ "name": "meed.dev/hold" }]),
    }
    lay(&mut pod, more);
    serde_json::from_value(pod).unwrap()
}

fn lay(under: &mut Value, over: Value) {
    match (under, over) {
        (Value::Object(under), Value::Object(over)) => {
            for (key, value) in over {
                lay(under.entry(key).or_insert(Value::Null), value);
            }
        }
        (under, over) => *under = over,
    }
}

fn bound(node: &str) -> Value {
    json!({ "spec": { "nodeName": node, "schedulingGates": null } })
}

fn listed() -> Listed {
    let namespace: Namespace =
        serde_json::from_value(json!({ "metadata": { "name": "n" } })).unwrap();
    Listed {
        nodes: vec![node("n1", 2), node("n2", 2)],
        queues: vec![queue("binds", "Binds"), queue("gates", "Gates")],
        namespaces: vec![namespace],
        ..Listed::default()
    }
}

struct Test {
    world: World,
    now: Time,
}

impl Test {
    fn new() -> Test {
        let kinds = Line::parse_from(["meed"]).settings.kinds().unwrap();
        let clock = LedgerClock::new(unix_micros() - HOUR, Time::ZERO);
        let world = World::begin(kinds, root(), clock, listed()).unwrap().unwrap();
        let now = world.now();
        Test { world, now }
    }

    /// A second later.
    fn later(&mut self) -> Time {
        self.now = self.now.saturating_add(Span::from_secs(1).unwrap());
        self.now
    }

    fn seen(&mut self, pod: &Pod) {
        let now = self.later();
        let seen = PodSeen::of(pod, self.world.kinds());
        self.world.pod_seen(seen, now).unwrap();
    }

    fn gone(&mut self, pod: &Pod) {
        let now = self.later();
        let seen = PodSeen::of(pod, self.world.kinds());
        self.world.pod_gone(seen, now).unwrap();
    }

    fn answered(&mut self, uid: &str, found: Found) {
        let now = self.later();
        self.world.answered(Answer { uid: uid.to_owned(), found }, now).unwrap();
    }

    fn starts(&mut self) -> Vec<StartOrder> {
        let now = self.later();
        let orders = self.world.decide(now).unwrap();
        let start = |order| match order {
            Order::Start(start) => Some(start),
            Order::Say(_) => None,
        };
        orders.into_iter().filter_map(start).collect()
    }

    fn said(&mut self) -> Vec<&'static str> {
        let now = self.later();
        let orders = self.world.decide(now).unwrap();
        let say = |order| match order {
            Order::Start(_) => None,
            Order::Say(saying) => Some(saying.reason),
        };
        orders.into_iter().filter_map(say).collect()
    }

    /// Of a queue: waiting, running, and the core-seconds that it is charged.
    fn books(&mut self, name: &str) -> (u64, u64, f64) {
        let now = self.later();
        let statuses = self.world.statuses(now).unwrap();
        let (_, status) = statuses.into_iter().find(|(queue, _)| queue == name).unwrap();
        (status.waiting.unwrap(), status.running.unwrap(), status.charged.unwrap())
    }

    /// Another leader begins with the last checkpoint, and this list.
    fn restart(&mut self, listed: Listed) {
        let now = self.later();
        let state = self.world.checkpoint(now).unwrap().unwrap();
        let about = About {
            origin: self.world.clock.origin(),
            policy: root().to_string(),
            resources: ["cpu", "memory", "pods"].map(str::to_owned).to_vec(),
        };
        let clock = LedgerClock::new(about.origin, now);
        let checkpoint = Checkpoint { about, state };
        self.world = World::restore(&checkpoint, root(), clock, listed).unwrap();
        self.now = self.world.now();
    }
}

#[test]
fn a_pod_waits_starts_runs_and_ends() {
    let mut test = Test::new();
    test.seen(&pod("u", "binds", json!({})));
    let starts = test.starts();
    let [StartOrder { queue, binds: true, node, .. }] = starts.as_slice() else {
        panic!("{starts:?}")
    };
    assert_eq!(queue, "binds");
    // Late news, and the answer, change nothing.
    test.seen(&pod("u", "binds", json!({})));
    test.answered("u", Found::Done);
    assert_eq!(test.starts(), []);
    test.seen(&pod("u", "binds", bound(node)));
    assert_eq!(test.books("binds").1, 1);
    let status = json!({ "status": { "phase": "Succeeded" } });
    let mut ended = bound(node);
    lay(&mut ended, status);
    test.gone(&pod("u", "binds", ended));
    let (waiting, running, charged) = test.books("binds");
    assert_eq!((waiting, running), (0, 0));
    let again = test.books("binds").2;
    assert!(charged > 1.0 && charged == again, "{charged}, then {again}: nothing more is charged");
}

#[test]
fn what_a_refused_binding_was_is_read_and_done() {
    type Row = (&'static str, fn() -> Found, (u64, u64), bool);
    let rows: [Row; 5] = [
        ("gone", || Found::Gone, (0, 0), true),
        ("bound here", || found(bound("n1")), (0, 1), false),
        ("bound elsewhere", || found(bound("n2")), (0, 1), false),
        ("unbound", || found(json!({})), (1, 0), true),
        (
            "deleted",
            || {
                found(json!({ "metadata": { "deletionTimestamp":
            "2026-01-01T00:00:00Z" } }))
            },
            (0, 0),
            true,
        ),
    ];
    fn found(more: Value) -> Found {
        Found::Pod(Box::new(pod("u", "binds", more)), "refused".to_owned())
    }
    for (what, found, expected, is_free) in rows {
        let mut test = Test::new();
        test.seen(&pod("u", "binds", json!({})));
        assert_eq!(test.starts().len(), 1);
        test.answered("u", found());
        let (waiting, running, charged) = test.books("binds");
        assert_eq!((waiting, running), expected, "{what}");
        assert_eq!(charged == 0.0, is_free, "{what}: charged {charged}");
        // An answer that comes twice is old news.
        test.answered("u", Found::Gone);
        let (waiting, running, _) = test.books("binds");
        if expected.1 == 1 {
            assert_eq!((waiting, running), expected, "{what}, told twice");
        }
    }
}

#[test]
fn a_pod_that_is_let_go_counts_where_kube_scheduler_puts_it() {
    let mut test = Test::new();
    test.seen(&pod("u", "gates", json!({})));
    let starts = test.starts();
    assert!(!starts[0].binds);
    let other = if starts[0].node == "n1" { "n2" } else { "n1" };
    test.answered("u", Found::Done);
    test.seen(&pod("u", "gates", json!({ "spec": { "schedulingGates": null } })));
    test.seen(&pod("u", "gates", bound(other)));
    // The other node is half full now; two more of one core fit beside on the first, one here.
    for uid in ["a", "b", "c", "d"] {
        test.seen(&pod(uid, "gates", json!({ "metadata": { "name": uid } })));
    }
    let mut nodes: Vec<String> = test.starts().into_iter().map(|start| start.node).collect();
    nodes.sort();
    let mut expected = vec![starts[0].node.clone(), starts[0].node.clone(), other.to_owned()];
    expected.sort();
    assert_eq!(nodes, expected);
}

#[test]
fn strangers_take_room_and_who_goes_round_the_queue_is_charged() {
    let mut test = Test::new();
    let none = json!({ "metadata": { "labels": null, "name": "s" },
        "spec": { "schedulerName": "default-scheduler" } });
    for (uid, node) in [("s1", "n1"), ("s2", "n1"), ("s3", "n2")] {
        let mut stranger = bound(node);
        lay(&mut stranger, none.clone());
        test.seen(&pod(uid, "binds", stranger));
    }
    // One that names a queue, and that somebody else has placed, is the queue's.
    test.seen(&pod("round", "gates", bound("n2")));
    assert_eq!(test.books("gates").1, 1);
    test.seen(&pod("u", "binds", json!({})));
    assert_eq!(test.starts(), [], "all four cores are taken");
    test.gone(&pod("s1", "binds", none));
    assert_eq!(test.starts().len(), 1);
}

#[test]
fn a_pod_is_refused_until_its_queue_is_there() {
    let mut test = Test::new();
    test.seen(&pod("u", "other", json!({})));
    assert_eq!(test.said(), ["QueueNotFound"]);
    test.seen(&pod("u", "other", json!({})));
    assert_eq!(test.said(), [""; 0], "it is said once");
    test.world.queue_seen(&queue("other", "Gates"));
    assert_eq!(test.starts().len(), 1);
    test.world.queue_gone("other");
    test.seen(&pod("v", "other", json!({})));
    assert_eq!(test.said(), ["QueueNotFound"]);
    let held = test.world.driver.queue_named("other");
    assert!(held.is_some(), "a pod of it runs: it is still there");
    test.gone(&pod("u", "other", bound("n1")));
    test.starts();
    assert_eq!(test.world.driver.queue_named("other"), None);
}

#[test]
fn a_new_leader_goes_on_where_the_last_one_was() {
    let mut test = Test::new();
    for uid in ["runs", "sent", "gone", "ended"] {
        test.seen(&pod(uid, "binds", json!({ "metadata": { "name": uid } })));
    }
    assert_eq!(test.starts().len(), 4);
    for (uid, node) in [("runs", "n1"), ("gone", "n1"), ("ended", "n2")] {
        let mut there = bound(node);
        lay(&mut there, json!({ "metadata": { "name": uid } }));
        test.seen(&pod(uid, "binds", there));
    }
    test.seen(&pod("waits", "binds", json!({})));
    let charged = test.books("binds").2;
    let mut ended = bound("n2");
    lay(&mut ended, json!({ "status": { "phase": "Succeeded" } }));
    let new = json!({ "metadata": { "name": "new" } });
    test.restart(Listed {
        pods: vec![
            pod("runs", "binds", bound("n1")),
            pod("sent", "binds", json!({})),
            pod("waits", "binds", json!({})),
            pod("new", "binds", new),
        ],
        finished: vec![pod("ended", "binds", ended)],
        ..listed()
    });
    // What was sent and is unbound waits again, and is charged nothing.
    let (waiting, running, after) = test.books("binds");
    assert_eq!((waiting, running), (3, 1));
    assert!(after > charged * 0.6, "{after} after, {charged} before: history is kept");
    assert_eq!(test.starts().len(), 3, "a core of n1 and both of n2 are free");
}

#[test]
fn a_node_that_goes_and_comes_back_keeps_its_pods_once() {
    let mut test = Test::new();
    test.seen(&pod("u", "binds", json!({})));
    let node_name = test.starts()[0].node.clone();
    test.seen(&pod("u", "binds", bound(&node_name)));
    let now = test.later();
    test.world.node_gone(&node_name, now).unwrap();
    let (waiting, running, charged) = test.books("binds");
    assert_eq!((waiting, running), (0, 0), "it is bound there, and starts nowhere else");
    test.seen(&pod("u", "binds", bound(&node_name)));
    let now = test.later();
    test.world.node_seen(&node(&node_name, 2), now).unwrap();
    let (_, running, after) = test.books("binds");
    assert_eq!(running, 1);
    assert!(after - charged < 2.5, "{after} - {charged}: not charged for the time between");
}
