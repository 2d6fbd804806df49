//! Queues that are stopped, and pods that others hold.

use super::*;

fn stopped(name: &str, stop: bool) -> QueueObject {
    let mut queue = queue(name, "Gates");
    queue.spec.stop = stop;
    queue
}

fn named(uid: &str, more: Value) -> Pod {
    let mut all = json!({ "metadata": { "name": uid } });
    lay(&mut all, more);
    pod(uid, "gates", all)
}

fn names(starts: &[StartOrder]) -> Vec<&str> {
    starts.iter().map(|start| start.pod.name.as_str()).collect()
}

#[test]
fn pods_of_a_queue_that_is_stopped_wait_outside_and_come_back_in_order() {
    let mut test = Test::new();
    for uid in ["runs1", "runs2", "runs3", "runs4"] {
        test.seen(&named(uid, json!({})));
    }
    assert_eq!(test.starts().len(), 4, "the cluster is full");
    for uid in ["z", "y", "x"] {
        test.seen(&named(uid, json!({})));
    }
    assert_eq!(test.books("gates").0, 3);
    test.world.queue_seen(&stopped("gates", true));
    assert_eq!(test.said(), ["QueueStopped"; 3]);
    assert_eq!((test.books("gates").0, test.books("gates").1), (0, 4), "what runs goes on");
    // Who comes meanwhile is told, too.
    test.seen(&named("w", json!({})));
    assert_eq!(test.said(), ["QueueStopped"]);
    for uid in ["runs1", "runs2", "runs3", "runs4"] {
        test.gone(&named(uid, json!({})));
    }
    assert_eq!(names(&test.starts()), [""; 0], "there is room, and nobody starts");
    test.world.queue_seen(&stopped("gates", false));
    assert_eq!(names(&test.starts()), ["z", "y", "x", "w"]);
}

/// Our gate goes when it is the pod's turn, and it has no turn while another's stands: it would
/// hold room, and be charged, for nothing.
#[test]
fn a_pod_that_others_hold_has_no_turn_and_is_charged_nothing() {
    let mut test = Test::new();
    let gates = json!([{ "name": "meed.dev/hold" }, { "name": "another/gate" }]);
    let held = named("held", json!({ "spec": { "schedulingGates": gates } }));
    test.seen(&held);
    assert_eq!(names(&test.starts()), [""; 0]);
    assert_eq!(test.books("gates"), (0, 0, 0.0));
    test.seen(&named("held", json!({})));
    assert_eq!(names(&test.starts()), ["held"]);
}

/// Likewise where a checkpoint of before has it in its queue.
#[test]
fn a_new_leader_takes_such_a_pod_out_of_its_queue() {
    let mut test = Test::new();
    let large: Vec<Pod> = ["l1", "l2"].map(|uid| of_cores(uid, "gates", 2, json!({}))).to_vec();
    large.iter().for_each(|pod| test.seen(pod));
    let starts = test.starts();
    let at = |pod: &Pod, start: &StartOrder| {
        let note = json!({ "meed.dev/started": start.started.to_string(),
            "meed.dev/node": start.node, "meed.dev/charged": "gates" });
        let mut pod = serde_json::to_value(pod).unwrap();
        lay(&mut pod, bound(&start.node));
        lay(&mut pod, json!({ "metadata": { "annotations": note } }));
        serde_json::from_value::<Pod>(pod).unwrap()
    };
    test.seen(&named("held", json!({})));
    assert_eq!(test.books("gates").0, 1);
    let gates = json!([{ "name": "meed.dev/hold" }, { "name": "another/gate" }]);
    let held = named("held", json!({ "spec": { "schedulingGates": gates } }));
    let pods = vec![at(&large[0], &starts[0]), at(&large[1], &starts[1]), held];
    test.restart(Listed { pods, ..listed() });
    assert_eq!((test.books("gates").0, test.books("gates").1), (0, 2));
}
