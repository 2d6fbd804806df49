//! Gangs against a real API server: together or not at all.

use std::collections::BTreeSet;
use std::time::Duration;

use kube::api::PostParams;
use serde_json::{Value, json};

use crate::check::Ran;
use crate::cluster::{LONG_TERM, Meed, pod};
use crate::plane::{Plane, until, with_plane};

impl Plane {
    /// Pods of a gang, by numbers, of 4 cores each.
    async fn gang(&self, queue: &str, name: &str, numbers: std::ops::Range<u32>, labels: Value) {
        self.gang_of((queue, name), numbers, "4", labels).await;
    }

    /// The same of so many cores.
    async fn gang_of(
        &self,
        (queue, name): (&str, &str),
        numbers: std::ops::Range<u32>,
        cores: &str,
        labels: Value,
    ) {
        let binds = self.read_queue(queue).await.spec.mode == meed_kubernetes::crd::PlacedBy::Binds;
        let spec = if binds { json!({ "schedulerName": "meed" }) } else { json!({}) };
        let labels: std::collections::BTreeMap<String, String> =
            serde_json::from_value(labels).expect("labels");
        for number in numbers {
            let mut one = pod(&format!("{name}-{number}"), queue, cores, "3s", spec.clone());
            one.metadata.labels.get_or_insert_default().extend(labels.clone());
            self.pods(queue).create(&PostParams::default(), &one).await.expect("a pod");
        }
    }

    /// The pods of a gang that have started.
    async fn started(&self, queue: &str, name: &str) -> Vec<Ran> {
        let all = self.all_pods(queue).await;
        let of = |pod: &&k8s_openapi::api::core::v1::Pod| {
            pod.metadata.name.as_ref().is_some_and(|own| own.starts_with(&format!("{name}-")))
        };
        all.iter().filter(of).filter_map(crate::check::ran).collect()
    }
}

fn of(gang: &str, size: &str) -> Value {
    json!({ "meed.dev/gang": gang, "meed.dev/gang-size": size })
}

fn instants(ran: &[Ran]) -> BTreeSet<i64> {
    ran.iter().map(|ran| ran.started).collect()
}

/// So many pods end, and what is left is right.
async fn ends_rightly(plane: &Plane, meed: Meed, pods: usize) {
    until("all have ended", 30, async || {
        plane.ran(&["alpha"]).await.iter().filter(|ran| ran.ended.is_some()).count() == pods
    })
    .await;
    meed.end().await;
    plane.invariants(&["alpha"], 8.0).await;
    plane.ledger_is_true("alpha", 0.0).await;
}

/// Eight places, two gangs of six: one waits until it is whole, the other until all of it fits.
async fn together_or_not_at_all(plane: Plane, mode: &str) {
    plane.nodes(4).await;
    plane.queue("alpha", mode).await;
    let mut meed = Meed::start(&plane, LONG_TERM);
    meed.decides().await;
    plane.gang("alpha", "a", 0..5, of("a", "6")).await;
    until("it is told", 20, async || {
        plane.reasons("alpha", "a-4").await.contains(&"GangIncomplete".to_owned())
    })
    .await;
    assert!(plane.started("alpha", "a").await.is_empty(), "five of six");
    plane.gang("alpha", "b", 0..6, of("b", "6")).await;
    until("the whole gang runs", 20, async || plane.started("alpha", "b").await.len() == 6).await;
    plane.gang("alpha", "a", 5..6, of("a", "6")).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    // Two places are free, and none of the six takes one, until the others have ended.
    until("the other one runs", 30, async || {
        let (a, b) = (plane.started("alpha", "a").await, plane.started("alpha", "b").await);
        let ended = b.iter().filter(|ran| ran.ended.is_some()).count();
        assert!(a.is_empty() || ended >= 4, "{a:?} beside {b:?}");
        plane.no_node_is_overfull(8.0).await;
        a.len() == 6
    })
    .await;
    for gang in ["a", "b"] {
        let ran = plane.started("alpha", gang).await;
        assert_eq!(instants(&ran).len(), 1, "one instant: {ran:?}");
    }
    ends_rightly(&plane, meed, 12).await;
}

#[test]
fn a_gang_is_bound_together_or_not_at_all() {
    with_plane(&["kwok"], async |plane| together_or_not_at_all(plane, "Binds").await);
}

#[test]
fn a_gang_is_let_go_together_or_not_at_all() {
    with_plane(&["kwok", "scheduler"], async |plane| together_or_not_at_all(plane, "Gates").await);
}

/// The kind PodGroup of scheduler-plugins, as far as Meed reads it.
fn kind_pod_group() -> Value {
    let schema = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {
            "name": "podgroups.scheduling.x-k8s.io",
            "annotations": { "api-approved.kubernetes.io": "unapproved, a test" },
        },
        "spec": {
            "group": "scheduling.x-k8s.io", "scope": "Namespaced",
            "names": { "kind": "PodGroup", "plural": "podgroups", "singular": "podgroup" },
            "versions": [{ "name": "v1alpha1", "served": true, "storage": true,
                "schema": { "openAPIV3Schema": schema } }],
        },
    })
}

fn pod_group(name: &str, least: u32) -> Value {
    json!({
        "apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup",
        "metadata": { "name": name, "namespace": "alpha" },
        "spec": { "minMember": least },
    })
}

impl Plane {
    /// The cluster has the kind PodGroup from now on.
    async fn serves_pod_groups(&self) {
        self.apply(&kind_pod_group()).await;
        let groups = self.api("scheduling.x-k8s.io/v1alpha1", "PodGroup", Some("alpha"));
        until("the kind is served", 30, async || groups.list(&Default::default()).await.is_ok())
            .await;
    }
}

/// A master of 6 cores and two workers of 2 are one PodGroup: of 16 cores 8 are taken, and none of
/// the three starts in those that are free.
async fn a_master_with_its_workers(plane: Plane, mode: &str) {
    plane.nodes(2).await;
    plane.queue("alpha", mode).await;
    plane.serves_pod_groups().await;
    plane.apply(&pod_group("a", 3)).await;
    let mut meed = Meed::start(&plane, LONG_TERM);
    meed.decides().await;
    plane.gang_of(("alpha", "first"), 0..1, "8", json!({})).await;
    until("it runs", 20, async || plane.started("alpha", "first").await.len() == 1).await;
    let labels = json!({ "scheduling.x-k8s.io/pod-group": "a" });
    plane.gang_of(("alpha", "a"), 0..1, "6", labels.clone()).await;
    plane.gang_of(("alpha", "a"), 1..3, "2", labels).await;
    until("all three run", 30, async || {
        let (a, first) = (plane.started("alpha", "a").await, plane.started("alpha", "first").await);
        assert!(a.is_empty() || first[0].ended.is_some(), "{a:?} beside {first:?}");
        plane.no_node_is_overfull(8.0).await;
        a.len() == 3
    })
    .await;
    let ran = plane.started("alpha", "a").await;
    assert_eq!(instants(&ran).len(), 1, "one instant: {ran:?}");
    assert_eq!(ran.iter().map(|ran| ran.cpu).sum::<f64>(), 10.0);
    ends_rightly(&plane, meed, 4).await;
}

#[test]
fn a_master_is_bound_with_its_workers() {
    with_plane(&["kwok"], async |plane| a_master_with_its_workers(plane, "Binds").await);
}

#[test]
fn a_master_is_let_go_with_its_workers() {
    with_plane(&["kwok", "scheduler"], async |plane| {
        a_master_with_its_workers(plane, "Gates").await;
    });
}

/// A PodGroup says how many start together; until it is there, and its kind, the pods wait and say
/// so. A leader that comes after it knows it at once.
#[test]
fn a_pod_group_counts_and_where_it_is_missing_pods_say_so() {
    with_plane(&["kwok"], async |plane| {
        plane.nodes(1).await;
        plane.queue("alpha", "Binds").await;
        let mut meed = Meed::start(&plane, LONG_TERM);
        meed.decides().await;
        let labels = json!({ "scheduling.x-k8s.io/pod-group": "a" });
        plane.gang("alpha", "a", 0..2, labels.clone()).await;
        until("it is told", 20, async || {
            plane.reasons("alpha", "a-1").await.contains(&"GangUnknown".to_owned())
        })
        .await;
        assert!(!meed.log().contains("PodGroups are not read"), "{}", meed.log());
        plane.serves_pod_groups().await;
        plane.apply(&pod_group("a", 2)).await;
        until("the group runs", 40, async || plane.started("alpha", "a").await.len() == 2).await;
        assert_eq!(instants(&plane.started("alpha", "a").await).len(), 1);
        meed.end().await;
        plane.apply(&pod_group("b", 2)).await;
        plane.gang("alpha", "b", 0..1, json!({ "scheduling.x-k8s.io/pod-group": "b" })).await;
        let mut next = Meed::start(&plane, LONG_TERM);
        next.decides().await;
        until("it gathers", 20, async || {
            plane.reasons("alpha", "b-0").await.contains(&"GangIncomplete".to_owned())
        })
        .await;
        plane.gang("alpha", "b", 1..2, json!({ "scheduling.x-k8s.io/pod-group": "b" })).await;
        until("it runs", 20, async || plane.started("alpha", "b").await.len() == 2).await;
        next.end().await;
        plane.ledger_is_true("alpha", 0.0).await;
    });
}
