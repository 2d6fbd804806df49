//! The world without a server: what the watch may show, in what order, and what comes of it.

mod devices;
mod gangs;
mod marks;
mod pins;
mod prices;
mod priorities;
mod promised;
mod reclaim;
mod records;
mod shown;
mod spread;
mod stamps;
mod stop;
mod sums;
mod unplaced;
mod volumes;

use k8s_openapi::api::core::v1::{Namespace, Node, Pod};
use meed::{Span, Time};
use meed_config::policy::PolicySpec;
use serde_json::{Value, json};

use super::recover::ReadPod;
use super::{Answer, Choices, Found, Listed, Order, PodName, PodRow, StartOrder, World};
use crate::clock::{LedgerClock, unix_micros};
use crate::crd::QueueObject;
use crate::ledger::{About, Checkpoint};
use crate::pod::PodSeen;
use crate::prices::Prices;
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

/// Nodes have classes by the label `class`.
fn choices() -> Choices {
    let prices = ["a=2", "b=0.5"].map(str::to_owned);
    Choices { prices: Prices::parse("class", &prices).unwrap(), ..Choices::from(root()) }
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

/// A pod with these labels that asks for so many cores.
fn of_cores(uid: &str, queue: &str, cores: u64, labels: Value) -> Pod {
    let one = pod(uid, queue, json!({ "metadata": { "name": uid, "labels": labels } }));
    let mut one = serde_json::to_value(one).unwrap();
    let requests = &mut one["spec"]["containers"][0]["resources"]["requests"];
    requests["cpu"] = cores.to_string().into();
    serde_json::from_value(one).unwrap()
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
        let world = World::begin(kinds, choices(), clock, listed()).unwrap().unwrap();
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
            Order::Say(_) | Order::Mark(_) | Order::Evict(_) | Order::Look(_) => None,
        };
        orders.into_iter().filter_map(start).collect()
    }

    fn said(&mut self) -> Vec<&'static str> {
        let now = self.later();
        let orders = self.world.decide(now).unwrap();
        let say = |order| match order {
            Order::Start(_) | Order::Mark(_) | Order::Evict(_) | Order::Look(_) => None,
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
        let state = self.saved();
        self.restart_from(state, 0, listed);
    }

    /// A checkpoint.
    fn saved(&mut self) -> Vec<u8> {
        let now = self.later();
        self.world.checkpoint(now).unwrap().unwrap()
    }

    /// Another leader begins with this checkpoint, so many seconds from now.
    fn restart_from<P: ReadPod>(&mut self, state: Vec<u8>, seconds: u64, listed: Listed<P>) {
        let now = self.now.saturating_add(Span::from_secs(seconds).unwrap());
        let about = About {
            origin: self.world.clock.origin(),
            policy: root().to_string(),
            resources: ["cpu", "memory", "pods"].map(str::to_owned).to_vec(),
        };
        let clock = LedgerClock::new(about.origin, now);
        let checkpoint = Checkpoint { about, state };
        self.world = World::restore(&checkpoint, choices(), clock, listed).unwrap();
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

/// A pod of the queue `binds`, with this affinity.
fn choosy(uid: &str, app: &str, affinity: Value) -> Pod {
    let more = json!({
        "metadata": { "name": uid, "labels": { "app": app } },
        "spec": { "affinity": affinity },
    });
    pod(uid, "binds", more)
}

fn required(app: &str, topology: &str) -> Value {
    let term = json!({ "labelSelector": { "matchLabels": { "app": app } },
        "topologyKey": topology });
    json!({ "requiredDuringSchedulingIgnoredDuringExecution": [term] })
}

/// A pod of nobody's of ours, on a node, that keeps an application away.
fn stranger(uid: &str, node: &str, app: &str) -> Pod {
    let mut more = bound(node);
    lay(
        &mut more,
        json!({ "metadata": { "labels": null, "name": uid },
        "spec": { "schedulerName": "default-scheduler",
            "affinity": { "podAntiAffinity": required(app, "host") } } }),
    );
    pod(uid, "binds", more)
}

impl Test {
    /// Nodes with a label of their own.
    fn with_hosts() -> Test {
        let mut test = Test::new();
        for name in ["n1", "n2"] {
            let mut one = node(name, 8);
            one.metadata.labels = Some([("host".to_owned(), name.to_owned())].into());
            let now = test.later();
            test.world.node_seen(&one, now).unwrap();
        }
        test
    }

    /// Nodes of all that starts until nothing is left to decide.
    fn nodes_of_starts(&mut self) -> Vec<String> {
        let mut nodes: Vec<String> = self.starts().into_iter().map(|start| start.node).collect();
        while self.world.is_unsettled() {
            nodes.extend(self.starts().into_iter().map(|start| start.node));
        }
        nodes
    }
}

#[test]
fn a_stranger_that_keeps_others_away_is_kept_away_from() {
    let mut test = Test::with_hosts();
    test.seen(&pod("early", "binds", json!({ "metadata": { "labels": { "app": "web" } } })));
    test.seen(&stranger("s1", "n1", "web"));
    assert_eq!(test.nodes_of_starts(), ["n2"], "it waited when the stranger came");
    for uid in ["a", "b"] {
        test.seen(&choosy(uid, "web", json!({})));
    }
    test.seen(&choosy("other", "db", json!({})));
    let mut nodes = test.nodes_of_starts();
    nodes.sort();
    assert_eq!(nodes, ["n1", "n2", "n2"], "only who is meant keeps away");
    // The other node is shut to it, too: it waits, and is told why.
    test.seen(&stranger("s2", "n2", "web"));
    test.seen(&choosy("late", "web", json!({})));
    let now = test.later();
    let orders = test.world.decide(now).unwrap();
    let [Order::Say(saying)] = orders.as_slice() else { panic!("{orders:?}") };
    assert_eq!(saying.reason, "KeptAway");
    let expected = "of 2 nodes that its own rules allow none is left by the pods there: pods keep \
                    away app=web of n by host";
    assert_eq!(saying.note, expected);
    // The label that was meant is gone: it may run.
    test.seen(&choosy("late", "db", json!({})));
    assert_eq!(test.nodes_of_starts().len(), 1);
    // A stranger that is gone keeps nobody away.
    test.seen(&choosy("last", "web", json!({})));
    assert_eq!(test.nodes_of_starts(), [""; 0]);
    test.gone(&stranger("s1", "n1", "web"));
    assert_eq!(test.nodes_of_starts(), ["n1"]);
}

#[test]
fn who_must_ask_anew_keeps_its_place_in_its_queue() {
    let mut test = Test::with_hosts();
    // Sixteen cores are all there are: each pod but the strangers asks for eight.
    let wide = |uid: &str, app: &str, more: Value| {
        let mut pod = json!({ "metadata": { "name": uid, "labels": { "app": app } },
            "spec": { "containers": [
                { "name": "c", "resources": { "requests": { "cpu": "8" } } }
            ] } });
        lay(&mut pod, more);
        self::pod(uid, "binds", pod)
    };
    for (uid, node) in [("f1", "n1"), ("f2", "n2")] {
        test.seen(&wide(uid, "none", bound(node)));
    }
    for (uid, app) in [("w1", "web"), ("w2", "db"), ("w3", "web"), ("w4", "db")] {
        test.seen(&wide(uid, app, json!({})));
    }
    assert_eq!(test.nodes_of_starts(), [""; 0]);
    // It keeps two of them away from the first node: they ask anew, and go behind nobody for it.
    test.seen(&stranger("s1", "n1", "web"));
    let mut order = Vec::new();
    for last in ["f2", "w1", "w2", "w3"] {
        let app = if last == "w2" { "db" } else { "web" };
        test.gone(&wide(last, app, bound("n2")));
        let starts = test.starts();
        for start in &starts {
            let app = if start.pod.uid.ends_with(['2', '4']) { "db" } else { "web" };
            test.seen(&wide(&start.pod.uid, app, bound(&start.node)));
        }
        order.extend(starts.into_iter().map(|start| start.pod.uid));
    }
    assert_eq!(order, ["w1", "w2", "w3", "w4"]);
}

/// Numbers of jobs are used again, and whoever asked anew did so at one instant with others: the
/// order is still that in which they came.
#[test]
fn who_asks_anew_twice_keeps_its_place_too() {
    let mut test = Test::with_hosts();
    let wide = |uid: &str| {
        let labels = json!({ "app": "web", "only": uid });
        let more = json!({ "metadata": { "name": uid, "labels": labels }, "spec": { "containers": [
            { "name": "c", "resources": { "requests": { "cpu": "8" } } }
        ] } });
        pod(uid, "binds", more)
    };
    for (uid, node) in [("f1", "n1"), ("f2", "n2")] {
        let mut full = bound(node);
        lay(
            &mut full,
            json!({ "metadata": { "name": uid }, "spec": { "containers": [
                { "name": "c", "resources": { "requests": { "cpu": "8" } } }
            ] } }),
        );
        test.seen(&pod(uid, "binds", full));
    }
    test.seen(&wide("gone"));
    test.seen(&wide("a"));
    test.gone(&wide("gone"));
    // It gets the number that is free.
    test.seen(&wide("b"));
    assert_eq!(test.nodes_of_starts(), [""; 0]);
    test.seen(&stranger("s1", "n1", "web"));
    assert_eq!(test.nodes_of_starts(), [""; 0]);
    let mut second = stranger("s2", "n1", "web");
    let term =
        json!({ "labelSelector": { "matchLabels": { "only": "a" } }, "topologyKey": "host" });
    let affinity = json!({ "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [term] } });
    second.spec.as_mut().unwrap().affinity = Some(serde_json::from_value(affinity).unwrap());
    test.seen(&second);
    assert_eq!(test.nodes_of_starts(), [""; 0]);
    let mut full = bound("n2");
    lay(&mut full, json!({ "metadata": { "name": "f2" } }));
    test.gone(&pod("f2", "binds", full));
    let started: Vec<String> = test.starts().into_iter().map(|start| start.pod.uid).collect();
    assert_eq!(started, ["a"]);
}

#[test]
fn a_pod_never_has_two_jobs_of_one_key() {
    let mut row = PodRow::named(PodName { uid: "u".to_owned(), ..PodName::default() });
    let (then, later) = (Time::from_micros(7).unwrap(), Time::from_micros(8).unwrap());
    let keys = [then, then, then, then, later].map(|now| row.next_key(now));
    assert_eq!(keys, ["u", "u@7", "u@7.1", "u@7.2", "u@8"]);
}

#[test]
fn one_decision_does_not_break_what_its_own_starts_ask() {
    let mut test = Test::with_hosts();
    let apart = json!({ "podAntiAffinity": required("web", "host") });
    for uid in ["a", "b", "c"] {
        test.seen(&choosy(uid, "web", apart.clone()));
    }
    let mut nodes = test.nodes_of_starts();
    nodes.sort();
    assert_eq!(nodes, ["n1", "n2"], "the third waits");
    let (waiting, running, _) = test.books("binds");
    assert_eq!((waiting, running), (1, 2));
    // Beside those: on either node; beside what is nowhere: on none.
    test.seen(&choosy("beside", "db", json!({ "podAffinity": required("web", "host") })));
    test.seen(&choosy("alone", "db", json!({ "podAffinity": required("none", "host") })));
    assert_eq!(test.nodes_of_starts().len(), 1);
    // The first of a series that wants its like goes anywhere, the others beside it.
    for uid in ["s1", "s2", "s3"] {
        test.seen(&choosy(uid, "series", json!({ "podAffinity": required("series", "host") })));
    }
    let nodes = test.nodes_of_starts();
    assert!(nodes.len() == 3 && nodes.iter().all(|node| *node == nodes[0]), "{nodes:?}");
}

#[test]
fn two_pods_never_share_a_host_port() {
    let mut test = Test::with_hosts();
    let wants = |port: u16| {
        let ports = json!([{ "containerPort": 1, "hostPort": port }]);
        json!({ "spec": { "containers": [{ "name": "c", "ports": ports }] } })
    };
    for (uid, port) in [("a", 80), ("b", 80), ("c", 80), ("d", 81)] {
        let mut more = wants(port);
        lay(&mut more, json!({ "metadata": { "name": uid } }));
        test.seen(&pod(uid, "binds", more));
    }
    assert_eq!(test.nodes_of_starts().len(), 3, "one of the three waits");
    assert_eq!(test.books("binds").0, 1);
}

#[test]
fn a_new_leader_keeps_away_as_well() {
    let mut test = Test::with_hosts();
    let apart = json!({ "podAntiAffinity": required("web", "host") });
    test.seen(&choosy("runs", "web", apart.clone()));
    let node_name = test.nodes_of_starts()[0].clone();
    let with_hosts = || {
        ["n1", "n2"].map(|name| {
            let mut one = node(name, 8);
            one.metadata.labels = Some([("host".to_owned(), name.to_owned())].into());
            one
        })
    };
    test.seen(&choosy("x", "web", apart.clone()));
    test.seen(&choosy("y", "web", apart.clone()));
    test.seen(&choosy("z", "web", apart.clone()));
    assert_eq!(test.nodes_of_starts().len(), 1);
    let mut runs = choosy("runs", "web", apart.clone());
    runs.spec.as_mut().unwrap().node_name = Some(node_name.clone());
    let waits = |uid| choosy(uid, "web", apart.clone());
    test.restart(Listed {
        nodes: with_hosts().into(),
        // What was sent to the other node was never bound.
        pods: vec![runs.clone(), waits("x"), waits("y"), waits("z")],
        ..listed()
    });
    let nodes = test.nodes_of_starts();
    assert!(nodes.len() == 1 && nodes[0] != node_name, "{nodes:?}, one runs on {node_name}");
}

/// Terms that keep a pod of this application away, wherever.
fn against(test: &Test, app: &str) -> Vec<String> {
    let seen = PodSeen::of(&choosy("any", app, json!({})), test.world.kinds());
    test.world.neighbours.against(&seen.near, &test.world.namespaces)
}

/// What the engine is told of nodes for the pods there.
fn told_of_nodes(test: &Test) -> Vec<String> {
    test.world.nodes.values().flat_map(|row| row.near.clone()).collect()
}

fn hosts() -> Vec<Node> {
    let host = |name: &str| {
        let mut one = node(name, 8);
        one.metadata.labels = Some([("host".to_owned(), name.to_owned())].into());
        one
    };
    ["n1", "n2"].map(host).into()
}

fn choosy_on(uid: &str, app: &str, affinity: Value, node: &str) -> Pod {
    let mut pod = choosy(uid, app, affinity);
    pod.spec.as_mut().unwrap().node_name = Some(node.to_owned());
    pod
}

#[test]
fn a_bound_pod_keeps_others_away_and_asks_nothing_itself() {
    let mut test = Test::with_hosts();
    let apart = || json!({ "podAntiAffinity": required("web", "host") });
    test.seen(&stranger("s", "n1", "web"));
    test.seen(&choosy("a", "web", apart()));
    assert_eq!(test.nodes_of_starts(), ["n2"]);
    assert!(!told_of_nodes(&test).is_empty());
    test.seen(&choosy_on("a", "web", apart(), "n2"));
    assert_eq!(test.nodes_of_starts(), [""; 0]);
    assert_eq!(told_of_nodes(&test), [""; 0]);
    let row = &test.world.pods["a"];
    assert_eq!((row.wish.clone(), row.avoids.len()), (None, 0));
    test.gone(&stranger("s", "n1", "web"));
    assert_eq!(against(&test, "web").len(), 1, "its own term counts");
    // The next leader brings nothing back.
    let pods = vec![choosy_on("a", "web", apart(), "n2")];
    test.restart(Listed { nodes: hosts(), pods, ..listed() });
    assert_eq!(test.nodes_of_starts(), [""; 0]);
    assert_eq!(told_of_nodes(&test), [""; 0]);
    assert_eq!(against(&test, "web").len(), 1);
    test.seen(&choosy("b", "web", apart()));
    assert_eq!(test.nodes_of_starts(), ["n1"]);
}

#[test]
fn a_wish_of_one_that_waits_outlives_its_like_at_a_takeover() {
    let mut test = Test::with_hosts();
    let apart = || json!({ "podAntiAffinity": required("web", "host") });
    for uid in ["a", "b", "c"] {
        test.seen(&choosy(uid, "web", apart()));
    }
    assert_eq!(test.nodes_of_starts().len(), 2);
    for (uid, node) in [("a", "n1"), ("b", "n2")] {
        test.seen(&choosy_on(uid, "web", apart(), node));
    }
    // One of the like is gone without a trace, and one waits.
    let pods = vec![choosy_on("a", "web", apart(), "n1"), choosy("c", "web", apart())];
    test.restart(Listed { nodes: hosts(), pods, ..listed() });
    assert_eq!(test.nodes_of_starts(), ["n2"]);
}

#[test]
fn a_pod_that_is_let_go_is_near_nobody_until_it_is_bound() {
    let mut test = Test::with_hosts();
    let apart = json!({ "spec": { "affinity": { "podAntiAffinity": required("web", "host") } } });
    test.seen(&pod("u", "gates", apart.clone()));
    assert_eq!(test.starts().len(), 1);
    assert_eq!(against(&test, "web"), [""; 0], "sent");
    test.answered("u", Found::Done);
    let mut free = apart.clone();
    lay(&mut free, json!({ "spec": { "schedulingGates": null } }));
    test.seen(&pod("u", "gates", free));
    assert_eq!(against(&test, "web"), [""; 0], "let go");
    let mut there = apart.clone();
    lay(&mut there, bound("n2"));
    test.seen(&pod("u", "gates", there));
    assert_eq!(against(&test, "web").len(), 1, "bound");
    // One that Meed is binding counts at once.
    test.seen(&choosy("b", "db", json!({ "podAntiAffinity": required("db", "host") })));
    assert_eq!(test.starts().len(), 1);
    assert_eq!(against(&test, "db").len(), 1);
}

#[test]
fn a_namespace_that_loses_a_label_frees_its_pods() {
    let mut test = Test::with_hosts();
    let team = |of: &str| [("team".to_owned(), of.to_owned())].into();
    test.world.namespace_seen("n".to_owned(), team("a"));
    for name in ["n1", "n2"] {
        let mut one = bound(name);
        let term = json!({ "labelSelector": {}, "topologyKey": "host",
            "namespaceSelector": { "matchLabels": { "team": "a" } } });
        let terms = json!({ "requiredDuringSchedulingIgnoredDuringExecution": [term] });
        lay(
            &mut one,
            json!({ "metadata": { "labels": null, "name": name, "namespace": "other" },
                "spec": { "schedulerName": "default-scheduler",
                    "affinity": { "podAntiAffinity": terms } } }),
        );
        test.seen(&pod(name, "binds", one));
    }
    test.seen(&choosy("u", "web", json!({})));
    assert_eq!(test.nodes_of_starts(), [""; 0]);
    test.world.namespace_seen("n".to_owned(), team("b"));
    assert_eq!(test.nodes_of_starts().len(), 1);
}
