//! Pods that are let go and held to the node that was chosen.

use super::*;
use crate::pod::near::Near;

/// A pod of a queue that pins, of one core.
fn held(uid: &str, more: Value) -> Pod {
    let mut all = json!({ "metadata": { "name": uid } });
    lay(&mut all, more);
    pod(uid, "pins", all)
}

impl Test {
    fn with_pins() -> Test {
        let mut test = Test::with_hosts();
        test.world.queue_seen(&queue("pins", "Pins"));
        test.starts();
        test
    }
}

/// As the API server has it after the write.
fn let_go(pod: &Pod, start: &StartOrder, node: Option<&str>) -> Pod {
    let mut value = serde_json::to_value(pod).unwrap();
    let key = "requiredDuringSchedulingIgnoredDuringExecution";
    let terms = json!({ "nodeSelectorTerms": start.pin });
    let notes = json!({ "meed.dev/started": start.started.to_string(),
        "meed.dev/node": start.node, "meed.dev/charged": start.queue });
    lay(
        &mut value,
        json!({ "metadata": { "annotations": notes },
        "spec": { "schedulingGates": null, "nodeName": node,
            "affinity": { "nodeAffinity": { key: terms } } } }),
    );
    serde_json::from_value(value).unwrap()
}

#[test]
fn a_pod_is_held_to_its_node_and_all_that_is_known_of_it_counts() {
    let mut test = Test::with_pins();
    let apart = json!({ "podAntiAffinity": required("web", "host") });
    let key = "requiredDuringSchedulingIgnoredDuringExecution";
    let hosts = json!({ "key": "host", "operator": "Exists" });
    let near = json!({ key: { "nodeSelectorTerms": [{ "matchExpressions": [hosts] }] } });
    let mut more = json!({ "metadata": { "labels": { "app": "web" } } });
    more["spec"]["affinity"] = json!({ "podAntiAffinity": apart["podAntiAffinity"],
        "nodeAffinity": near });
    let pods = ["a", "b", "c"].map(|uid| held(uid, more.clone()));
    pods.iter().for_each(|pod| test.seen(pod));
    let mut starts = test.starts();
    while test.world.is_unsettled() {
        starts.extend(test.starts());
    }
    // Each on a node of its own: the third waits, though there is room.
    let mut nodes: Vec<&str> = starts.iter().map(|start| start.node.as_str()).collect();
    nodes.sort();
    assert_eq!(nodes, ["n1", "n2"]);
    for (start, pod) in starts.iter().zip(&pods) {
        assert!(!start.binds);
        let [term] = start.pin.as_deref().unwrap() else { panic!("{start:?}") };
        assert_eq!(term.match_expressions.as_ref().unwrap()[0].key, "host", "its own stays");
        let field = &term.match_fields.as_ref().unwrap()[0];
        assert_eq!(field.values.as_deref(), Some(&[start.node.clone()][..]));
        // It is let go, and holds its place among others until it is bound there.
        test.seen(&let_go(pod, start, None));
        test.answered(&start.pod.uid, Found::Done);
    }
    assert_eq!(test.nodes_of_starts(), [""; 0]);
    // Another leader reads the same of what was written.
    let there: Vec<Pod> =
        starts.iter().zip(&pods).map(|(start, pod)| let_go(pod, start, None)).collect();
    let plain = PodSeen::of(&pods[0], test.world.kinds()).rule;
    let read = PodSeen::of(&there[0], test.world.kinds());
    assert_eq!(read.rule.to_string(), plain.to_string());
    assert_eq!(*read.near, Near::of(&pods[0]).0);
    let all = [there, vec![pods[2].clone()]].concat();
    let nodes = ["n1", "n2"].map(|name| {
        let mut one = node(name, 8);
        one.metadata.labels = Some([("host".to_owned(), name.to_owned())].into());
        one
    });
    let queues = [listed().queues, vec![queue("pins", "Pins")]].concat();
    test.restart(Listed { pods: all, nodes: nodes.into(), queues, ..listed() });
    assert_eq!(test.nodes_of_starts(), [""; 0]);
    let (waiting, running, _) = test.books("pins");
    assert_eq!((waiting, running), (1, 2));
    // One of them ends: its place is free.
    test.gone(&let_go(&pods[0], &starts[0], Some(&starts[0].node)));
    assert_eq!(test.nodes_of_starts(), [starts[0].node.clone()]);
}

#[test]
fn nothing_is_held_to_a_node_in_ignorance() {
    let mut test = Test::with_pins();
    let claim = json!({ "name": "v", "persistentVolumeClaim": { "claimName": "none" } });
    for (uid, spec, reason) in [
        ("a", json!({ "resourceClaims": [{ "name": "gpu" }] }), "NotSupported"),
        ("b", json!({ "volumes": [claim] }), "ClaimNotFound"),
        ("c", json!({ "schedulerName": "meed" }), "WrongMode"),
    ] {
        test.seen(&held(uid, json!({ "spec": spec })));
        assert_eq!(test.said(), [reason], "{uid}");
    }
    assert_eq!(test.starts(), []);
    // With Gates nobody is held to a node.
    test.seen(&pod("u", "gates", json!({})));
    assert_eq!(test.starts()[0].pin, None);
}
