//! Who is told to wait for room, and who is not.

use super::*;
use crate::world::Mark;

/// Marks of two looks, two seconds apart: names and reasons.
fn marks(test: &mut Test) -> Vec<(String, &'static str)> {
    let mut all = Vec::new();
    for _ in 0..2 {
        test.later();
        let now = test.later();
        for order in test.world.marks(now) {
            let Order::Mark(Mark { pod, reason, .. }) = order else { panic!("{order:?}") };
            all.push((pod.uid, reason));
        }
    }
    all
}

fn names(test: &mut Test) -> Vec<String> {
    marks(test).into_iter().map(|(uid, _)| uid).collect()
}

fn shown() -> Value {
    let condition = json!({ "type": "PodScheduled", "status": "False",
        "reason": "Unschedulable" });
    json!({ "status": { "conditions": [condition] } })
}

#[test]
fn the_first_of_a_queue_waits_for_room_and_the_others_for_their_turn() {
    let mut test = Test::new();
    for number in 0..9 {
        let uid = format!("u{number}");
        test.seen(&pod(&uid, "binds", json!({ "metadata": { "name": uid } })));
    }
    assert_eq!(test.starts().len(), 4);
    test.seen(&pod("gated", "gates", json!({})));
    // Of those in the other mode kube-scheduler tells.
    assert_eq!(names(&mut test), ["u4"]);
    assert_eq!(names(&mut test), [""; 0], "it was asked for");
    test.seen(&pod("u4", "binds", shown()));
    assert_eq!(names(&mut test), [""; 0], "it is written");
    // It goes away: the next one is the first.
    test.gone(&pod("u4", "binds", json!({})));
    assert_eq!(names(&mut test), ["u5"]);
    // A new leader reads what is written, and writes nothing again.
    let waits = |number: u32, more: Value| {
        let uid = format!("u{number}");
        let mut own = json!({ "metadata": { "name": uid } });
        lay(&mut own, more);
        pod(&uid, "binds", own)
    };
    let mut pods: Vec<Pod> =
        (0..4).map(|n| waits(n, bound(["n1", "n2"][n as usize / 2]))).collect();
    pods.push(waits(5, shown()));
    pods.extend((6..9).map(|n| waits(n, json!({}))));
    test.restart(Listed { pods, ..listed() });
    assert_eq!(test.starts().len(), 0);
    assert_eq!(names(&mut test), [""; 0]);
}

#[test]
fn a_queue_asks_for_the_room_that_it_is_entitled_to() {
    let mut test = Test::new();
    // Strangers hold all cores, and the queues are entitled to some of them.
    for (uid, node) in [("s1", "n1"), ("s2", "n1"), ("s3", "n2"), ("s4", "n2")] {
        let none = json!({ "metadata": { "labels": null, "name": uid },
            "spec": { "schedulerName": "default-scheduler" } });
        let mut stranger = bound(node);
        lay(&mut stranger, none);
        test.seen(&pod(uid, "binds", stranger));
    }
    for uid in ["a", "b", "c", "d", "e", "f"] {
        test.seen(&pod(uid, "binds", json!({ "metadata": { "name": uid } })));
    }
    assert_eq!(test.starts().len(), 0);
    let engine = test.world.driver.engine();
    let id = test.world.driver.queue_named("binds").unwrap();
    let share = engine.queue(id).share.as_slice()[0] / 1000;
    assert!((2..6).contains(&share), "a share of {share}");
    assert_eq!(names(&mut test).len() as u64, share);
}

#[test]
fn a_maximum_and_a_turn_are_no_want_of_room() {
    let mut test = Test::new();
    let spec = json!({ "mode": "Binds", "namespaceSelector": {}, "max": { "cpu": 1 } });
    let capped = json!({ "apiVersion": "meed.dev/v1alpha1", "kind": "Queue",
        "metadata": { "name": "binds" }, "spec": spec });
    test.world.queue_seen(&serde_json::from_value(capped).unwrap());
    for uid in ["a", "b"] {
        test.seen(&pod(uid, "binds", json!({ "metadata": { "name": uid } })));
    }
    assert_eq!(test.starts().len(), 1);
    assert_eq!(names(&mut test), [""; 0], "it waits for its queue's maximum");
    // One that is larger than any node waits for another node; a mark that was there before its
    // queue was capped is taken back.
    test.world.queue_seen(&queue("binds", "Binds"));
    let large = json!({ "metadata": { "name": "large" }, "spec": { "containers": [
        { "name": "c", "resources": { "requests": { "cpu": "7" } } }] } });
    test.seen(&pod("large", "binds", large.clone()));
    test.starts();
    assert_eq!(names(&mut test), ["large"]);
    let mut marked = large;
    lay(&mut marked, shown());
    test.seen(&pod("large", "binds", marked));
    let spec = json!({ "mode": "Binds", "namespaceSelector": {}, "max": { "cpu": 8 } });
    let capped = json!({ "apiVersion": "meed.dev/v1alpha1", "kind": "Queue",
        "metadata": { "name": "binds" }, "spec": spec });
    test.world.queue_seen(&serde_json::from_value(capped).unwrap());
    test.starts();
    assert_eq!(marks(&mut test), [("large".to_owned(), "WaitsForTurn")]);
}

#[test]
fn a_first_pod_larger_than_the_share_takes_nothing_of_it() {
    let mut test = Test::new();
    for (uid, node) in [("s1", "n1"), ("s2", "n1"), ("s3", "n2"), ("s4", "n2")] {
        let none = json!({ "metadata": { "labels": null, "name": uid },
            "spec": { "schedulerName": "default-scheduler" } });
        let mut stranger = bound(node);
        lay(&mut stranger, none);
        test.seen(&pod(uid, "binds", stranger));
    }
    let large = json!({ "metadata": { "name": "large" }, "spec": { "containers": [
        { "name": "c", "resources": { "requests": { "cpu": "70" } } }] } });
    test.seen(&pod("large", "binds", large));
    for uid in ["a", "b", "c", "d", "e", "f"] {
        test.seen(&pod(uid, "binds", json!({ "metadata": { "name": uid } })));
    }
    assert_eq!(test.starts().len(), 0);
    let engine = test.world.driver.engine();
    let id = test.world.driver.queue_named("binds").unwrap();
    let share = engine.queue(id).share.as_slice()[0] / 1000;
    assert!((1..6).contains(&share), "a share of {share}");
    let names = names(&mut test);
    assert_eq!(names.len() as u64, 1 + share, "{names:?}");
    assert!(names.contains(&"large".to_owned()), "{names:?}");
}

#[test]
fn a_mark_of_a_pod_that_is_refused_is_taken_back() {
    let mut test = Test::new();
    test.seen(&pod("ours", "none", json!({ "spec": { "schedulerName": "meed" } })));
    let mut marked = json!({ "spec": { "schedulerName": "meed" } });
    lay(&mut marked, shown());
    test.seen(&pod("ours", "none", marked));
    // What kube-scheduler says of its own pods stays.
    test.seen(&pod("theirs", "none", shown()));
    test.starts();
    assert_eq!(marks(&mut test), [("ours".to_owned(), "NotInQueue")]);
}
