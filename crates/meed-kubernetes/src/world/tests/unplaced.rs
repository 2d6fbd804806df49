//! Pods that were let go and that nobody places.

use super::super::Placed;
use super::*;

const PATIENCE: i64 = 60_000_000;

impl Test {
    /// A pod is let go; when, in microseconds since 1970, and for which node.
    fn lets_go(&mut self, uid: &str) -> (i64, String) {
        self.seen(&pod(uid, "gates", json!({ "metadata": { "name": uid } })));
        let starts = self.starts();
        let [start] = starts.as_slice() else { panic!("{starts:?}") };
        assert!(!start.binds);
        let start = (start.started, start.node.clone());
        self.answered(uid, Found::Done);
        start
    }

    fn pass(&mut self, seconds: u64) {
        self.now = self.now.saturating_add(Span::from_secs(seconds).unwrap());
    }

    fn micros(&self) -> i64 {
        self.world.clock.unix(self.now)
    }
}

/// It was let go then; bound at that second, where it is.
fn let_go(uid: &str, since: i64, at: Option<i64>) -> Pod {
    let_go_to(uid, (since, "n1"), at)
}

fn let_go_to(uid: &str, (since, node): (i64, &str), at: Option<i64>) -> Pod {
    let notes = json!({ "meed.dev/started": since.to_string(), "meed.dev/node": node,
        "meed.dev/charged": "gates" });
    let mut more = match at {
        Some(_) => bound(node),
        None => json!({ "spec": { "schedulingGates": null } }),
    };
    lay(&mut more, json!({ "metadata": { "name": uid, "annotations": notes } }));
    if let Some(at) = at {
        let at = k8s_openapi::jiff::Timestamp::from_microsecond(at).unwrap().to_string();
        let one = json!({ "type": "PodScheduled", "status": "True", "lastTransitionTime": at });
        lay(&mut more, json!({ "status": { "conditions": [one] } }));
    }
    pod(uid, "gates", more)
}

/// The next whole second.
fn second(micros: i64) -> i64 {
    (micros + 999_999) / 1_000_000 * 1_000_000
}

fn is(told: f64, micros: i64) {
    let expected = micros as f64 / 1e6;
    assert!((told - expected).abs() < 0.002, "{told} is charged, not {expected}");
}

#[test]
fn it_gives_its_room_up_and_is_charged_again_when_it_is_placed() {
    let mut test = Test::new();
    let (since, _) = test.lets_go("late");
    test.seen(&let_go("late", since, None));
    // All the rest is taken: one waits for its room.
    for uid in ["a", "b", "c"] {
        let (at, node) = test.lets_go(uid);
        test.seen(&let_go_to(uid, (at, &node), Some(at)));
    }
    test.seen(&pod("waits", "binds", json!({ "metadata": { "name": "waits" } })));
    assert_eq!(test.starts(), []);
    let next = test.world.next_look().expect("it is looked at by itself");
    assert!(next.as_secs() <= 60, "{next:?}");
    let due = test.world.clock.time(since + PATIENCE);
    test.now = due;
    let now = test.now;
    let orders = test.world.decide(now).unwrap();
    let said: Vec<&str> = orders
        .iter()
        .filter_map(|order| match order {
            Order::Say(saying) => Some(saying.reason),
            _ => None,
        })
        .collect();
    assert_eq!(said, ["NotPlaced"]);
    let starts = orders.iter().filter(|order| matches!(order, Order::Start(_)));
    assert_eq!(starts.count(), 1, "who waited has its room");
    let now = test.later();
    let (_, status) = test.world.statuses(now).unwrap().pop().unwrap();
    assert_eq!((status.running, status.unplaced), (Some(3), Some(1)));
    let before = status.charged.unwrap();
    // It is charged for the time that was waited, and for no more.
    test.pass(100);
    let after = test.books("gates").2;
    let passed = after - before;
    assert!((passed - 3.0 * 101.0).abs() < 0.01, "{passed} for three that run");
    // Told again it stays so; placed it is charged from then on, whatever room there is.
    test.seen(&let_go("late", since, None));
    assert_eq!(test.said(), [""; 0], "it is said once");
    let before = test.books("gates").2;
    let at = second(test.micros());
    test.now = test.world.clock.time(at);
    test.seen(&let_go("late", since, Some(at)));
    let (_, running, after) = test.books("gates");
    assert_eq!(running, 4);
    let passed = after - before;
    assert!(passed > 4.0 && passed < 4.0 * 4.0, "{passed}");
    let now = test.later();
    let (_, status) = test.world.statuses(now).unwrap().pop().unwrap();
    assert_eq!(status.unplaced, Some(0));
}

#[test]
fn whoever_leads_charges_it_the_same() {
    // Seconds from its being let go until: the checkpoint, the takeover, its binding.
    for (saved, takeover, bound) in [
        (5, 20, None),
        (5, 90, None),
        (70, 90, None),
        (5, 20, Some(10)),
        (5, 200, Some(30)),
        (5, 200, Some(100)),
        (70, 200, Some(100)),
        (-5, 20, None),
        (-5, 90, None),
        (-5, 200, Some(30)),
        (-5, 200, Some(100)),
    ] {
        let mut test = Test::new();
        let (since, state) = match saved {
            // The checkpoint knows nothing of it.
            -5 => {
                test.seen(&pod("u", "gates", json!({})));
                let state = test.saved();
                test.pass(4);
                (test.starts()[0].started, state)
            }
            _ => {
                let (since, _) = test.lets_go("u");
                test.seen(&let_go("u", since, None));
                test.now = test.world.clock.time(since + saved * 1_000_000);
                test.starts();
                (since, test.saved())
            }
        };
        let at = bound.map(|seconds| second(since + seconds * 1_000_000));
        let down = since + takeover * 1_000_000 - test.micros();
        let listed = Listed { pods: vec![let_go("u", since, at)], ..listed() };
        test.restart_from(state, down as u64 / 1_000_000, listed);
        test.starts();
        let charged = test.books("gates").2;
        let now = test.micros();
        let expected = match at {
            Some(at) if at > since + PATIENCE => PATIENCE + now - at,
            Some(_) => now - since,
            None => (now - since).min(PATIENCE),
        };
        let told = (charged - expected as f64 / 1e6).abs();
        assert!(told < 0.2, "{saved} {takeover} {bound:?}: {charged}, not {expected}");
        // And goes on so.
        test.pass(300);
        test.starts();
        let charged = test.books("gates").2;
        let now = test.micros();
        let expected = match at {
            Some(at) if at > since + PATIENCE => PATIENCE + now - at,
            Some(_) => now - since,
            None => PATIENCE,
        };
        let told = (charged - expected as f64 / 1e6).abs();
        assert!(told < 0.2, "{saved} {takeover} {bound:?}: {charged} later, not {expected}");
    }
}

/// Let go, deleted, and nobody led in between: a standby has heard of it.
#[test]
fn one_that_is_deleted_while_nobody_leads_is_charged_for_as_long_as_it_was_waited_for() {
    // Seconds from its being let go until: the checkpoint, its end, the takeover.
    for (saved, deleted, takeover) in [
        (5, 10, 20),
        (5, 10, 200),
        (5, 100, 200),
        (-5, 10, 20),
        (-5, 10, 200),
        (-5, 100, 200),
        (70, 100, 200),
    ] {
        let mut test = Test::new();
        let (since, node, state) = match saved {
            // The checkpoint knows nothing of it.
            -5 => {
                test.seen(&pod("u", "gates", json!({})));
                let state = test.saved();
                test.pass(4);
                let start = test.starts().remove(0);
                (start.started, start.node, state)
            }
            _ => {
                let (since, node) = test.lets_go("u");
                test.seen(&let_go("u", since, None));
                test.now = test.world.clock.time(since + saved * 1_000_000);
                test.starts();
                (since, node, test.saved())
            }
        };
        let mut gone = let_go_to("u", (since, &node), None);
        // As the API server tells a pod that is deleted.
        let timestamp = json!("2026-01-01T00:00:00Z");
        gone.metadata.deletion_timestamp = serde_json::from_value(timestamp).unwrap();
        let gone = PodSeen::of(&gone, test.world.kinds());
        let at = since + deleted * 1_000_000;
        let end = Some(crate::pod::PodEnd { well: false, at: Some(at) });
        let finished = vec![PodSeen { end, ..gone }];
        let listed = listed();
        let listed = Listed {
            nodes: listed.nodes,
            pods: Vec::new(),
            finished,
            queues: listed.queues,
            namespaces: listed.namespaces,
            pod_groups: Vec::new(),
            claims: Vec::new(),
            volumes: Vec::new(),
            classes: Vec::new(),
            drivers: Vec::new(),
            csi_nodes: Vec::new(),
            device_classes: Vec::new(),
            slices: Vec::new(),
        };
        let down = since + takeover * 1_000_000 - test.micros();
        test.restart_from(state, down as u64 / 1_000_000, listed);
        test.starts();
        let (waiting, running, charged) = test.books("gates");
        assert_eq!((waiting, running), (0, 0));
        let expected = (deleted * 1_000_000).min(PATIENCE) as f64 / 1e6;
        // An end is told in whole seconds.
        let told = charged - expected;
        assert!((-0.01..1.2).contains(&told), "{saved} {deleted} {takeover}: {charged}");
        test.pass(100);
        assert_eq!(test.books("gates").2, charged, "and for no longer");
    }
}

#[test]
fn one_of_a_gang_that_is_not_placed_holds_no_other_up() {
    let mut test = Test::new();
    let labels = json!({ "meed.dev/gang": "g", "meed.dev/gang-size": "3" });
    for uid in ["x", "y", "z"] {
        let more = json!({ "metadata": { "name": uid, "labels": labels } });
        test.seen(&pod(uid, "gates", more));
    }
    let starts = test.starts();
    assert_eq!(starts.len(), 3);
    let since = starts[0].started;
    for (uid, at) in [("x", Some(since)), ("y", Some(since)), ("z", None)] {
        let mut one = let_go(uid, since, at);
        let all = one.metadata.labels.get_or_insert_default();
        all.extend(
            [("meed.dev/gang", "g"), ("meed.dev/gang-size", "3")]
                .map(|(key, value)| (key.to_owned(), value.to_owned())),
        );
        test.answered(uid, Found::Done);
        test.seen(&one);
    }
    test.pass(61);
    assert_eq!(test.said(), ["NotPlaced"]);
    assert_eq!(test.books("gates").1, 2);
    let before = test.books("gates").2;
    let after = test.books("gates").2;
    is(after - before, 2_000_000);
}

/// The pods that the engine has on a node.
fn on(test: &Test, node: &str) -> Vec<String> {
    let world = &test.world;
    let running = world.driver.engine().running_on(world.nodes[node].id);
    let uid = |placed: Placed| {
        let detail = &world.driver.job(placed.job).unwrap().detail;
        detail.pod_of(world.number_of(placed)).unwrap().uid.clone()
    };
    running.iter().map(|view| uid(Placed { job: view.job, task: view.task })).collect()
}

/// Two pods of two cores are let go, each for a node of its own, and kube-scheduler places one of
/// them where the other was assumed: they change places, whichever comes first, and no third one is
/// let go, for all room is promised.
#[test]
fn no_more_is_let_go_than_fits_where_kube_scheduler_chooses_otherwise() {
    for [early, late] in [["first", "second"], ["second", "first"]] {
        let mut test = Test::new();
        let wide = |uid: &str| of_cores(uid, "gates", 2, json!({}));
        let as_bound = |uid: &str, node: &str| {
            let mut pod = wide(uid);
            let spec = pod.spec.get_or_insert_default();
            (spec.node_name, spec.scheduling_gates) = (Some(node.to_owned()), None);
            pod
        };
        test.seen(&wide("first"));
        test.seen(&wide("second"));
        let starts = test.starts();
        let node = |uid: &str| &starts.iter().find(|start| start.pod.uid == uid).unwrap().node;
        let (of_early, of_late) = (node(early), node(late));
        assert_ne!(of_early, of_late);
        test.answered("first", Found::Done);
        test.answered("second", Found::Done);
        test.seen(&wide("third"));
        for (uid, node) in [(early, of_late), (late, of_early)] {
            test.seen(&as_bound(uid, node));
            assert_eq!(test.starts(), [], "the room of both is taken");
            assert_eq!(
                (on(&test, of_late), on(&test, of_early)),
                (vec![early.to_owned()], vec![late.to_owned()])
            );
        }
        let mut ended = serde_json::to_value(as_bound(early, of_late)).unwrap();
        lay(&mut ended, json!({ "status": { "phase": "Succeeded" } }));
        test.gone(&serde_json::from_value(ended).unwrap());
        assert_eq!(test.starts().len(), 1);
    }
}
