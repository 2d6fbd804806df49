//! Volumes of pods that Meed places by itself.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::{PersistentVolume, PersistentVolumeClaim};
use k8s_openapi::api::storage::v1::{CSIDriver, CSINode, StorageClass};

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

const DRIVER: &str = "disk.example";

/// A node attaches so many volumes.
fn attaches(name: &str, count: u64) -> CSINode {
    let driver = json!({ "name": DRIVER, "nodeID": name, "allocatable": { "count": count } });
    let node = json!({ "metadata": { "name": name }, "spec": { "drivers": [driver] } });
    serde_json::from_value(node).unwrap()
}

/// A volume of the driver that is everywhere.
fn disk(name: &str, is_shared: bool) -> PersistentVolume {
    let modes = [if is_shared { "ReadWriteMany" } else { "ReadWriteOnce" }];
    let csi = json!({ "driver": DRIVER, "volumeHandle": format!("handle-{name}") });
    let volume = json!({ "metadata": { "name": name },
        "spec": { "csi": csi, "accessModes": modes } });
    serde_json::from_value(volume).unwrap()
}

impl Test {
    /// A claim of that name, bound to a volume of the driver.
    fn has_disk(&mut self, name: &str, is_shared: bool) {
        self.world.volume_seen(&disk(name, is_shared));
        self.world.claim_seen(&claim(name, name, json!({})));
    }
}

fn small(uid: &str, claims: &[&str]) -> Pod {
    let mut one = with_claims(uid, "binds", claims);
    let spec = one.spec.as_mut().unwrap();
    let requests = json!({ "cpu": "100m", "memory": "1Mi" });
    spec.containers[0].resources = serde_json::from_value(json!({ "requests": requests })).unwrap();
    one
}

fn on(node: &str, mut pod: Pod) -> Pod {
    pod.spec.as_mut().unwrap().node_name = Some(node.to_owned());
    pod
}

#[test]
fn a_node_takes_pods_for_as_many_volumes_as_it_attaches() {
    let mut test = Test::with_hosts();
    for node in ["n1", "n2"] {
        test.world.csi_node_seen(&attaches(node, 2));
    }
    let names: Vec<String> = (0..7).map(|number| format!("d{number}")).collect();
    names.iter().for_each(|name| test.has_disk(name, false));
    // A stranger's volume is there, and one of which the claim is heard of later.
    test.seen(&on(
        "n1",
        pod(
            "s",
            "none",
            json!({ "metadata": { "name": "s", "labels": null },
        "spec": { "schedulingGates": null, "volumes": [
            { "name": "v", "persistentVolumeClaim": { "claimName": "d0" } } ] } }),
        ),
    ));
    for name in &names[1..6] {
        test.seen(&small(name, &[name]));
    }
    let mut nodes = test.nodes_of_starts();
    nodes.sort();
    assert_eq!(nodes, ["n1", "n2", "n2"]);
    assert_eq!(test.books("binds").0, 2);
    assert_eq!(test.world.pods["d4"].said, Some("KeptAway"));
    // One without volumes is not held up, nor is one of another driver.
    test.seen(&small("plain", &[]));
    assert_eq!(test.nodes_of_starts().len(), 1);
    // Three of one pod fit nowhere.
    test.seen(&small("wide", &["d4", "d5", "d6"]));
    assert_eq!(test.nodes_of_starts(), [""; 0]);
    // A node attaches more: who came first is first.
    test.world.csi_node_seen(&attaches("n2", 3));
    assert_eq!(test.nodes_of_starts(), ["n2"]);
    // A stranger goes, and with it its volume.
    test.gone(&on("n1", pod("s", "none", json!({ "metadata": { "name": "s" } }))));
    assert_eq!(test.nodes_of_starts(), ["n1"]);
    // Nobody says any more what the nodes attach: nothing is bounded.
    test.world.csi_node_gone("n1");
    test.world.csi_node_gone("n2");
    assert_eq!(test.nodes_of_starts().len(), 1);
}

/// Against a plain count: distinct volumes of each node from the pods there.
#[test]
fn volumes_of_nodes_are_those_of_a_plain_count() {
    const LIMIT: usize = 3;
    for seed in 0..40u64 {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut draw = |below: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % below
        };
        let mut test = Test::with_hosts();
        for node in ["n1", "n2"] {
            test.world.csi_node_seen(&attaches(node, LIMIT as u64));
        }
        // Four that are shared, and one of its own for each pod.
        (0..4).for_each(|number| test.has_disk(&format!("many{number}"), true));
        let mut at: BTreeMap<String, String> = BTreeMap::new();
        let mut pods: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for step in 0..24 {
            if draw(3) == 0 && !at.is_empty() {
                let uid = at.keys().nth(draw(at.len() as u64) as usize).unwrap().clone();
                let node = at.remove(&uid).unwrap();
                let claims = pods.remove(&uid).unwrap();
                let names: Vec<&str> = claims.iter().map(String::as_str).collect();
                test.gone(&on(&node, small(&uid, &names)));
            } else {
                let uid = format!("p{step:02}");
                let mut claims: BTreeSet<String> =
                    (0..draw(3)).map(|_| format!("many{}", draw(4))).collect();
                if draw(2) == 0 {
                    test.has_disk(&uid, false);
                    claims.insert(uid.clone());
                }
                let names: Vec<&str> = claims.iter().map(String::as_str).collect();
                test.seen(&small(&uid, &names));
                pods.insert(uid, claims.into_iter().collect());
            }
            loop {
                for start in test.starts() {
                    at.insert(start.pod.uid.clone(), start.node.clone());
                    let names: Vec<&str> =
                        pods[&start.pod.uid].iter().map(String::as_str).collect();
                    test.seen(&on(&start.node, small(&start.pod.uid, &names)));
                }
                if !test.world.is_unsettled() {
                    break;
                }
            }
            let there = |node: &str| -> BTreeSet<&String> {
                let here = at.iter().filter(|(_, at)| *at == node);
                here.flat_map(|(uid, _)| &pods[uid]).collect()
            };
            for node in ["n1", "n2"] {
                assert!(there(node).len() <= LIMIT, "seed {seed}, step {step}: {node}");
                let places = at.values().filter(|at| *at == node).count();
                for (uid, claims) in pods.iter().filter(|(uid, _)| !at.contains_key(*uid)) {
                    let new = claims.iter().filter(|name| !there(node).contains(name)).count();
                    let fits = new == 0 || there(node).len() + new <= LIMIT;
                    // Ten pods of a node are all.
                    assert!(!fits || places >= 10, "seed {seed}, {step}: {uid} waits for {node}");
                }
            }
        }
    }
}

/// Kubernetes 1.37 places such a pod on nodes that have the driver alone.
#[test]
fn a_volume_whose_driver_must_be_on_the_node_is_refused_aloud() {
    let mut test = Test::with_hosts();
    let driver = |must: bool| -> CSIDriver {
        let spec = json!({ "preventPodSchedulingIfMissing": must });
        let driver = json!({ "metadata": { "name": "d.example.com" }, "spec": spec });
        serde_json::from_value(driver).unwrap()
    };
    let csi = json!({ "driver": "d.example.com", "volumeHandle": "h" });
    let volume = json!({ "metadata": { "name": "v" },
        "spec": { "csi": csi, "accessModes": ["ReadWriteMany"] } });
    test.world.volume_seen(&serde_json::from_value(volume).unwrap());
    test.world.claim_seen(&claim("c", "v", json!({})));
    test.world.driver_seen(&driver(true));
    test.seen(&with_claims("a", "binds", &["c"]));
    assert_eq!(test.said(), ["NotSupported"]);
    test.world.driver_seen(&driver(false));
    assert_eq!(test.nodes_of_starts().len(), 1, "where it is wanted nowhere it may go anywhere");
}
