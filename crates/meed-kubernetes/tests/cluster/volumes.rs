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
