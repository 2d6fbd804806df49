//! Volumes of pods that Meed places by itself.

use k8s_openapi::api::core::v1::{PersistentVolume, PersistentVolumeClaim};
use k8s_openapi::api::storage::v1::StorageClass;

use super::*;

/// A claim of class `disk`; bound where a volume is named.
fn claim(name: &str, volume: &str, more: Value) -> PersistentVolumeClaim {
    let mut claim = json!({ "metadata": { "namespace": "n", "name": name, "annotations": {} },
        "spec": { "storageClassName": "disk" } });
    if !volume.is_empty() {
        claim["spec"]["volumeName"] = volume.into();
        claim["metadata"]["annotations"]["pv.kubernetes.io/bind-completed"] = "yes".into();
    }
    lay(&mut claim, more);
    serde_json::from_value(claim).unwrap()
}

/// A volume on one host.
fn volume(name: &str, host: &str) -> PersistentVolume {
    let one = json!({ "key": "host", "operator": "In", "values": [host] });
    let affinity = json!({ "required": { "nodeSelectorTerms": [{ "matchExpressions": [one] }] } });
    let volume = json!({ "metadata": { "name": name }, "spec": { "nodeAffinity": affinity } });
    serde_json::from_value(volume).unwrap()
}

fn class(name: &str, mode: &str) -> StorageClass {
    let class = json!({ "metadata": { "name": name }, "provisioner": "p",
        "volumeBindingMode": mode });
    serde_json::from_value(class).unwrap()
}

/// A pod with these claims.
fn with_claims(uid: &str, queue: &str, claims: &[&str]) -> Pod {
    let of =
        |claim: &&str| json!({ "name": claim, "persistentVolumeClaim": { "claimName": claim } });
    let volumes: Vec<Value> = claims.iter().map(of).collect();
    pod(uid, queue, json!({ "metadata": { "name": uid }, "spec": { "volumes": volumes } }))
}

#[test]
fn a_pod_goes_where_its_volumes_are() {
    let mut test = Test::with_hosts();
    test.world.volume_seen(&volume("v1", "n1"));
    test.world.volume_seen(&volume("v2", "n2"));
    test.world.claim_seen(&claim("c1", "v1", json!({})));
    test.world.claim_seen(&claim("c2", "v2", json!({})));
    test.world.claim_seen(&claim("also1", "v1", json!({})));
    test.seen(&with_claims("a", "binds", &["c2"]));
    assert_eq!(test.nodes_of_starts(), ["n2"]);
    test.seen(&with_claims("b", "binds", &["c1"]));
    test.seen(&with_claims("c", "binds", &["also1", "c1"]));
    assert_eq!(test.nodes_of_starts(), ["n1", "n1"]);
    // On no node are both.
    test.seen(&with_claims("d", "binds", &["c1", "c2"]));
    assert_eq!(test.nodes_of_starts(), [""; 0]);
    assert_eq!(test.books("binds").0, 1);
    // With Gates, too, it is let go where its volumes are; unbound ones are kube-scheduler's.
    test.seen(&with_claims("e", "gates", &["c1", "nowhere"]));
    assert_eq!(test.nodes_of_starts(), ["n1"]);
}

#[test]
fn a_claim_that_is_not_bound_is_waited_for_or_refused_aloud() {
    let mut test = Test::with_hosts();
    test.world.class_seen(&class("disk", "Immediate"));
    test.world.class_seen(&class("late", "WaitForFirstConsumer"));
    test.world.claim_seen(&claim("c", "", json!({})));
    let late = json!({ "spec": { "storageClassName": "late" } });
    test.world.claim_seen(&claim("late", "", late));
    let one = json!({ "spec": { "accessModes": ["ReadWriteOncePod"] } });
    test.world.volume_seen(&volume("v2", "n2"));
    test.world.claim_seen(&claim("one", "v2", one));
    let odd = json!({ "spec": { "storageClassName": "odd" } });
    test.world.claim_seen(&claim("odd", "", odd));
    for (uid, claims, reason) in [
        ("a", vec!["none"], "ClaimNotFound"),
        ("b", vec!["c"], "ClaimNotBound"),
        ("c", vec!["late"], "NotSupported"),
        ("d", vec!["one"], "NotSupported"),
        ("e", vec!["odd"], "ClaimNotBound"),
    ] {
        test.seen(&with_claims(uid, "binds", &claims));
        assert_eq!(test.said(), [reason], "{claims:?}");
    }
    assert_eq!(test.starts(), []);
    // The claim is bound to a volume that is heard of later: then the pod starts there.
    test.world.claim_seen(&claim("c", "v1", json!({})));
    assert_eq!(test.said(), ["ClaimLost"]);
    test.world.volume_seen(&volume("v1", "n1"));
    assert_eq!(test.nodes_of_starts(), ["n1"]);
    // A claim that is made, a class that turns out to bind at once.
    test.world.claim_seen(&claim("none", "v2", json!({})));
    assert_eq!(test.nodes_of_starts(), ["n2"]);
    test.world.class_seen(&class("late", "Immediate"));
    assert_eq!(test.said(), ["ClaimNotBound"]);
    // Who bound it by hand is heard.
    let late = json!({ "spec": { "storageClassName": "late" } });
    test.world.claim_seen(&claim("late", "v2", late));
    assert_eq!(test.nodes_of_starts(), ["n2"]);
}

#[test]
fn a_pod_that_waits_follows_its_claims() {
    let mut test = Test::with_hosts();
    test.world.volume_seen(&volume("v1", "n1"));
    test.world.claim_seen(&claim("c", "v1", json!({})));
    // Both nodes are full.
    let wide = json!({ "metadata": { "name": "w" }, "spec": { "containers": [
        { "name": "c", "resources": { "requests": { "cpu": "8" } } } ] } });
    test.seen(&pod("w1", "binds", wide.clone()));
    test.seen(&pod("w2", "binds", wide));
    assert_eq!(test.starts().len(), 2);
    test.seen(&with_claims("a", "binds", &["c"]));
    test.seen(&with_claims("b", "binds", &["c"]));
    assert_eq!(test.starts(), []);
    assert_eq!(test.books("binds").0, 2);
    // The volume goes, and another takes its place, while they wait.
    test.world.volume_gone("v1");
    assert_eq!(test.said(), ["ClaimLost", "ClaimLost"]);
    test.world.volume_seen(&volume("v1", "n2"));
    assert_eq!(test.said(), [""; 0]);
    assert_eq!(test.books("binds").0, 2);
    // A new leader that lists the same asks for the same, and nothing is told twice.
    let there = Listed {
        nodes: ["n1", "n2"]
            .map(|name| {
                let mut one = node(name, 8);
                one.metadata.labels = Some([("host".to_owned(), name.to_owned())].into());
                one
            })
            .into(),
        pods: vec![with_claims("a", "binds", &["c"]), with_claims("b", "binds", &["c"])],
        claims: vec![claim("c", "v1", json!({}))],
        volumes: vec![volume("v1", "n2")],
        ..listed()
    };
    let keys = |test: &Test| -> Vec<String> {
        test.world.driver.jobs().map(|job| job.key().to_string()).collect()
    };
    let before = keys(&test);
    test.restart(there);
    let after = keys(&test);
    assert!(after.iter().all(|key| before.contains(key)), "{after:?}, not of {before:?}");
    assert_eq!(test.nodes_of_starts(), ["n2", "n2"], "who filled the nodes is gone");
    // A claim that is being deleted while its pod runs matters no more.
    let going = json!({ "metadata": { "deletionTimestamp": "2026-01-01T00:00:00Z" } });
    test.world.claim_seen(&claim("c", "v1", going));
    assert_eq!(test.said(), [""; 0]);
}
