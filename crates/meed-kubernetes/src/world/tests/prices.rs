//! An hour on a node counts as its class says, before and after the class has changed.

use super::*;

/// A node of a class.
fn of_class(name: &str, class: &str) -> Node {
    let mut one = node(name, 4);
    one.metadata.labels = Some([("class".to_owned(), class.to_owned())].into());
    one
}

fn classes(first: &str, second: &str) -> Vec<Node> {
    vec![of_class("n1", first), of_class("n2", second)]
}

impl Test {
    /// Two nodes of these classes.
    fn with_classes(first: &str, second: &str) -> Test {
        let mut test = Test::new();
        test.nodes_are(first, second);
        test
    }

    fn nodes_are(&mut self, first: &str, second: &str) {
        let now = self.later();
        for node in classes(first, second) {
            self.world.node_seen(&node, now).unwrap();
        }
    }

    fn unix_now(&self) -> i64 {
        self.world.clock.unix(self.now)
    }
}

/// Bound to a node, with the start that is written on it.
fn runs_on(uid: &str, node: &str, started: i64) -> Pod {
    let mut more = bound(node);
    let notes = json!({ "meed.dev/started": started.to_string() });
    lay(&mut more, json!({ "metadata": { "name": uid, "annotations": notes } }));
    pod(uid, "binds", more)
}

/// A pod for one node only.
fn only_on(uid: &str, node: &str) -> Pod {
    let term = json!({ "matchFields": [
        { "key": "metadata.name", "operator": "In", "values": [node] } ] });
    let required = json!({ "nodeSelectorTerms": [term] });
    let key = "requiredDuringSchedulingIgnoredDuringExecution";
    let affinity = json!({ "nodeAffinity": { key: required } });
    pod(uid, "binds", json!({ "metadata": { "name": uid }, "spec": { "affinity": affinity } }))
}

fn near(told: f64, expected: i64) {
    let expected = expected as f64 / 1e9;
    assert!((told - expected).abs() < 0.002, "{told} is charged, not {expected}");
}

#[test]
fn an_hour_on_a_node_counts_as_its_class_says() {
    let mut test = Test::with_classes("a", "b");
    test.seen(&only_on("dear", "n1"));
    test.seen(&only_on("cheap", "n2"));
    let starts = test.starts();
    assert_eq!(starts.len(), 2);
    let since = starts[0].started;
    let charged = test.books("binds").2;
    near(charged, (2000 + 500) * (test.unix_now() - since));
    // What is held knows no classes: two cores.
    let now = test.later();
    let (_, status) = test.world.statuses(now).unwrap().swap_remove(0);
    assert_eq!(status.used.as_deref(), Some("2 cpu"));
    // A class that has no price is named once.
    test.nodes_are("a", "unheard");
    test.nodes_are("a", "b");
    test.nodes_are("a", "unheard");
    let remarks = test.world.remarks();
    let said = remarks.iter().filter(|remark| remark.contains("class `unheard` has no price"));
    assert_eq!(said.count(), 1, "{remarks:?}");
}

#[test]
fn what_runs_is_charged_by_each_price_for_its_time() {
    let mut test = Test::with_classes("a", "b");
    for uid in ["x", "y", "z"] {
        test.seen(&only_on(uid, "n1"));
    }
    let starts = test.starts();
    let since = starts[0].started;
    assert_eq!(starts.len(), 3);
    test.seen(&runs_on("x", "n1", since));
    test.seen(&runs_on("y", "n1", since));
    // Two are known to run, one start is not confirmed; a stranger is there as well.
    test.seen(&stranger("s", "n1", "none"));
    test.starts();
    test.nodes_are("b", "b");
    let at = test.unix_now();
    let free = |test: &Test| {
        let id = test.world.nodes["n1"].id;
        let engine = test.world.driver.engine();
        (engine.node(id).0.weight, engine.node(id).1.get(0))
    };
    assert_eq!((test.starts(), free(&test)), (vec![], (500, 0)), "a core is the stranger's");
    let (_, running, charged) = test.books("binds");
    assert_eq!(running, 3);
    let now = test.unix_now();
    // The unconfirmed one counts by the new price from its beginning.
    near(charged, 2 * (2000 * (at - since) + 500 * (now - at)) + 500 * (now - since));
    // It was never carried out: nothing of it stays.
    let unbound = Box::new(only_on("z", "n1"));
    test.answered("z", Found::Pod(unbound, "no answer in time".to_owned()));
    let charged = test.books("binds").2;
    let now = test.unix_now();
    near(charged, 2 * (2000 * (at - since) + 500 * (now - at)));
    let now = test.later();
    test.world.decide(now).unwrap();
    let again = test.world.clock.unix(test.world.driver.engine().now());
    // A new leader knows until when each price was charged, and finds a third one.
    let pods = ["x", "y"].map(|uid| runs_on(uid, "n1", since));
    let pods = [pods.to_vec(), vec![runs_on("z", "n1", again)]].concat();
    test.restart(Listed { nodes: classes("b", "b"), pods: pods.clone(), ..listed() });
    let charged = test.books("binds").2;
    let now = test.unix_now();
    let sum = |now: i64| 2 * (2000 * (at - since) + 500 * (now - at)) + 500 * (now - again);
    near(charged, sum(now));
    // While nobody led the class changed: it counts from when that is heard.
    test.restart(Listed { nodes: classes("a", "b"), pods: pods.clone(), ..listed() });
    let heard = test.unix_now();
    let charged = test.books("binds").2;
    let now = test.unix_now();
    near(charged, sum(heard) + 3 * 2000 * (now - heard));
    // A pod ends, and is charged no more.
    test.gone(&pods[0]);
    let gone = test.unix_now();
    let charged = test.books("binds").2;
    let now = test.unix_now();
    near(charged, sum(heard) + 3 * 2000 * (gone - heard) + 2 * 2000 * (now - gone));
}

#[test]
fn a_start_that_never_was_is_free_though_its_node_has_another_class_now() {
    let mut test = Test::with_classes("a", "b");
    test.seen(&only_on("x", "n1"));
    assert_eq!(test.starts().len(), 1);
    // The leader ends before it writes.
    let pods = vec![only_on("x", "n1")];
    test.restart(Listed { nodes: classes("b", "b"), pods, ..listed() });
    let (waiting, running, charged) = test.books("binds");
    assert_eq!((waiting, running, charged), (1, 0, 0.0));
}

#[test]
fn a_gang_goes_on_through_a_change_of_its_nodes_class() {
    let mut test = Test::with_classes("a", "b");
    let of_gang = |uid: &str, more: Value| {
        let labels = json!({ "meed.dev/gang": "g", "meed.dev/gang-size": "3" });
        let mut all = json!({ "metadata": { "name": uid, "labels": labels } });
        lay(&mut all, more);
        pod(uid, "binds", all)
    };
    for uid in ["x", "y", "z"] {
        test.seen(&of_gang(uid, json!({})));
    }
    let starts = test.starts();
    assert_eq!(starts.len(), 3);
    let since = starts[0].started;
    for start in &starts {
        let notes = json!({ "meed.dev/started": since.to_string() });
        let mut more = bound(&start.node);
        lay(&mut more, json!({ "metadata": { "annotations": notes } }));
        test.seen(&of_gang(&start.pod.uid, more));
    }
    let weight = |node: &str| if node == "n1" { 2000 } else { 500 };
    let rate: i64 = starts.iter().map(|start| weight(&start.node)).sum();
    test.nodes_are("b", "a");
    let at = test.unix_now();
    let (waiting, running, charged) = test.books("binds");
    let now = test.unix_now();
    assert_eq!((waiting, running), (0, 3));
    near(charged, rate * (at - since) + (3 * 2500 - rate) * (now - at));
    // One of them goes: the others run on.
    test.gone(&of_gang("y", bound("n1")));
    assert_eq!(test.books("binds").1, 2);
    assert_eq!(test.starts(), []);
}

/// Of a pod that was let go the start is known, whether it is bound by then or not.
#[test]
fn a_pod_that_was_let_go_is_charged_by_both_prices() {
    let mut test = Test::with_classes("a", "b");
    test.seen(&pod("u", "gates", json!({})));
    let start = test.starts().remove(0);
    test.answered("u", Found::Done);
    let (since, node) = (start.started, start.node);
    let [before, after] = if node == "n1" { [2000, 500] } else { [500, 2000] };
    test.later();
    test.nodes_are("b", "a");
    let at = test.unix_now();
    let told = |test: &mut Test, what: &str| {
        let charged = test.books("gates").2;
        let expected = before * (at - since) + after * (test.unix_now() - at);
        let off = charged - expected as f64 / 1e9;
        assert!(off.abs() < 0.002, "{what}: {charged} is charged, not {expected}");
    };
    told(&mut test, "let go");
    let notes = json!({ "meed.dev/started": since.to_string(), "meed.dev/node": node,
        "meed.dev/charged": "gates" });
    let mut there = bound(&node);
    lay(&mut there, json!({ "metadata": { "annotations": notes } }));
    let there = pod("u", "gates", there);
    test.seen(&there);
    told(&mut test, "bound");
    test.restart(Listed { pods: vec![there], nodes: classes("b", "a"), ..listed() });
    told(&mut test, "of another leader");
}

/// Prices of resources are the policy's, and the class of a node comes on top.
#[test]
fn a_gpu_hour_counts_by_the_policy_and_by_the_class() {
    let gpu = "nvidia.com/gpu";
    let settings = Line::parse_from(["meed", "--resources", gpu]).settings;
    let root: PolicySpec =
        r#"long-term,quantum=0,prices={cpu=1,"nvidia.com/gpu"=8}"#.parse().unwrap();
    let clock = LedgerClock::new(unix_micros() - HOUR, Time::ZERO);
    let choices = Choices { root, ..choices() };
    let world = World::begin(settings.kinds().unwrap(), choices, clock, listed());
    let world = world.unwrap().unwrap();
    let now = world.now();
    let mut test = Test { world, now };
    let has = json!({ "cpu": "8", "memory": "8Gi", "pods": "10", gpu: "4" });
    let node = json!({ "metadata": { "name": "n3", "labels": { "class": "a" } },
        "status": { "allocatable": has } });
    let now = test.later();
    test.world.node_seen(&serde_json::from_value(node).unwrap(), now).unwrap();
    let requests = json!({ "cpu": "1", gpu: "2" });
    let container = json!({ "name": "c", "resources": { "requests": requests } });
    test.seen(&pod("u", "binds", json!({ "spec": { "containers": [container] } })));
    let starts = test.starts();
    assert_eq!(starts[0].node, "n3");
    let charged = test.books("binds").2;
    // In hours of what costs most: a core is an eighth of a GPU.
    near(charged, 2000 * (1 + 2 * 8) * (test.unix_now() - starts[0].started) / 8);
}
