//! Pods with volumes that Meed places: where their bound volumes are, and not before.

use kube::api::{Patch, PatchParams, PostParams};
use serde_json::{Value, json};

use crate::cluster::{LONG_TERM, Meed, pod};
use crate::plane::{Plane, until, with_plane};

pub(crate) async fn volume(plane: &Plane, name: &str, host: &str) {
    let one = json!({ "key": "kubernetes.io/hostname", "operator": "In", "values": [host] });
    let affinity = json!({ "required": { "nodeSelectorTerms": [{ "matchExpressions": [one] }] } });
    let spec = json!({
        "capacity": { "storage": "1Gi" }, "accessModes": ["ReadWriteMany"],
        "storageClassName": "now", "local": { "path": "/disk" }, "nodeAffinity": affinity,
    });
    let metadata = json!({ "name": name });
    let kind = "PersistentVolume";
    plane
        .apply(&json!({ "apiVersion": "v1", "kind": kind, "metadata": metadata, "spec": spec }))
        .await;
}

pub(crate) async fn class(plane: &Plane, name: &str, mode: &str) {
    plane
        .apply(&json!({ "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass",
            "metadata": { "name": name }, "provisioner": "kubernetes.io/no-provisioner",
            "volumeBindingMode": mode }))
        .await;
}

pub(crate) async fn claim(plane: &Plane, name: &str, class: &str) {
    let spec = json!({ "accessModes": ["ReadWriteMany"], "storageClassName": class,
        "resources": { "requests": { "storage": "1Gi" } } });
    plane
        .apply(&json!({ "apiVersion": "v1", "kind": "PersistentVolumeClaim",
            "metadata": { "name": name, "namespace": "alpha" }, "spec": spec }))
        .await;
}

/// As whoever binds claims to volumes does it: the control plane here has nobody who does.
pub(crate) async fn bind(plane: &Plane, name: &str, volume: &str) {
    let claims = plane.api("v1", "PersistentVolumeClaim", Some("alpha"));
    let bound = json!({ "metadata": { "annotations": { "pv.kubernetes.io/bind-completed": "yes" } },
        "spec": { "volumeName": volume } });
    let done = claims.patch(name, &PatchParams::default(), &Patch::Merge(bound)).await;
    done.expect("the claim is bound");
}

pub(crate) async fn uses(plane: &Plane, name: &str, claim: &str) {
    let volume = json!({ "name": "disk", "persistentVolumeClaim": { "claimName": claim } });
    let spec: Value = json!({ "schedulerName": "meed", "volumes": [volume] });
    let one = pod(name, "alpha", "1", "", spec);
    plane.pods("alpha").create(&PostParams::default(), &one).await.expect("a pod");
}

#[test]
fn a_pod_is_placed_where_its_volumes_are_and_not_before_they_are_bound() {
    with_plane(&["kwok"], async |plane| {
        plane.nodes(3).await;
        class(&plane, "now", "Immediate").await;
        class(&plane, "later", "WaitForFirstConsumer").await;
        for (name, host) in [("v0", "n00"), ("v2", "n02")] {
            volume(&plane, name, host).await;
        }
        plane.queue("alpha", "Binds").await;
        for (name, class) in [("two", "now"), ("soon", "now"), ("never", "later")] {
            claim(&plane, name, class).await;
        }
        bind(&plane, "two", "v2").await;
        let mut meed = Meed::start(&plane, LONG_TERM);
        meed.decides().await;
        let node = async |name: &str| {
            let pod = plane.pods("alpha").get(name).await.expect("it is there");
            pod.spec.and_then(|spec| spec.node_name)
        };
        for number in 0..3 {
            let name = format!("two-{number}");
            uses(&plane, &name, "two").await;
            until("it runs", 20, async || node(&name).await.is_some()).await;
            assert_eq!(node(&name).await.as_deref(), Some("n02"));
        }
        for (name, claim, reason) in [
            ("soon", "soon", "ClaimNotBound"),
            ("never", "never", "NotSupported"),
            ("none", "none", "ClaimNotFound"),
        ] {
            uses(&plane, name, claim).await;
            until("it is told", 20, async || {
                plane.reasons("alpha", name).await.contains(&reason.to_owned())
            })
            .await;
        }
        // One is bound now, one is made; another leader knows nothing else of them.
        bind(&plane, "soon", "v0").await;
        until("it runs", 20, async || node("soon").await.is_some()).await;
        assert_eq!(node("soon").await.as_deref(), Some("n00"));
        meed.end().await;
        claim(&plane, "none", "now").await;
        bind(&plane, "none", "v0").await;
        let mut meed = Meed::start(&plane, LONG_TERM);
        meed.decides().await;
        until("it runs", 20, async || node("none").await.is_some()).await;
        assert_eq!(node("none").await.as_deref(), Some("n00"));
        assert_eq!(node("never").await, None, "nothing is placed in ignorance");
        meed.end().await;
        plane.ledger_is_true("alpha", 0.0).await;
        plane.no_node_is_overfull(8.0).await;
    });
}

/// A volume of a driver, everywhere, with a claim that is bound to it.
async fn disk(plane: &Plane, name: &str) {
    let csi = json!({ "driver": "disk.example", "volumeHandle": name });
    let spec = json!({ "capacity": { "storage": "1Gi" }, "accessModes": ["ReadWriteMany"],
        "storageClassName": "now", "csi": csi });
    let kind = "PersistentVolume";
    plane
        .apply(&json!({ "apiVersion": "v1", "kind": kind, "metadata": { "name": name },
            "spec": spec }))
        .await;
    claim(plane, name, "now").await;
    bind(plane, name, name).await;
}

async fn attaches(plane: &Plane, node: &str, count: u32) {
    let driver = json!({ "name": "disk.example", "nodeID": node,
        "allocatable": { "count": count } });
    plane
        .apply(&json!({ "apiVersion": "storage.k8s.io/v1", "kind": "CSINode",
            "metadata": { "name": node }, "spec": { "drivers": [driver] } }))
        .await;
}

/// A node attaches so many volumes, and no more: with a leader and the next one.
#[test]
fn a_node_is_given_no_more_volumes_than_it_attaches() {
    with_plane(&["kwok"], async |plane| {
        plane.nodes(2).await;
        class(&plane, "now", "Immediate").await;
        plane.queue("alpha", "Binds").await;
        attaches(&plane, "n00", 2).await;
        attaches(&plane, "n01", 1).await;
        for number in 0..6 {
            disk(&plane, &format!("d{number}")).await;
        }
        let mut meed = Meed::start(&plane, LONG_TERM);
        meed.decides().await;
        for number in 0..5 {
            uses(&plane, &format!("p{number}"), &format!("d{number}")).await;
        }
        let placed = async || {
            let all = plane.all_pods("alpha").await;
            let node = |pod: &k8s_openapi::api::core::v1::Pod| {
                pod.spec.as_ref().and_then(|spec| spec.node_name.clone())
            };
            let mut nodes: Vec<String> = all.iter().filter_map(node).collect();
            nodes.sort();
            nodes
        };
        until("three run", 30, async || placed().await.len() == 3).await;
        until("the others are told why they wait", 30, async || {
            let mut told = 0;
            for number in 0..5 {
                let reasons = plane.reasons("alpha", &format!("p{number}")).await;
                told += usize::from(reasons.contains(&"KeptAway".to_owned()));
            }
            told == 2
        })
        .await;
        assert_eq!(placed().await, ["n00", "n00", "n01"]);
        // A volume that is there already needs no other place; one without volumes needs none.
        uses(&plane, "again", "d0").await;
        plane.submit("alpha", "plain", 1, "1", "").await;
        until("they run", 30, async || placed().await.len() == 5).await;
        // The next leader counts the same.
        meed.signal("KILL");
        meed.ended(5).await;
        let mut meed = Meed::start(&plane, LONG_TERM);
        meed.decides().await;
        tokio::time::sleep(std::time::Duration::from_secs(2)).await;
        assert_eq!(placed().await.len(), 5);
        attaches(&plane, "n01", 3).await;
        until("all run", 30, async || placed().await.len() == 7).await;
        meed.end().await;
        plane.ledger_is_true("alpha", 0.0).await;
        plane.invariants(&["alpha"], 8.0).await;
    });
}
