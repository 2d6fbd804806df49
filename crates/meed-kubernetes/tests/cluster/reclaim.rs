//! Room is taken back from pods that run, against a real API server.

use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use kube::api::{DynamicObject, Patch, PatchParams};
use serde_json::json;

use crate::cluster::Meed;
use crate::log::is_as_recorded;
use crate::plane::{Plane, until, with_plane};

/// Soon, so that a test need not wait for hours.
const RECLAIM: &str = "long-term,quantum=0,when_blocked=reserve,reclaim_after=3s,\
                       reclaim_min_runtime=1s,reclaim_guard=3s,reclaim_grace=1s";

/// A queue that has used the whole cluster gives a place back to one that has used nothing; as long
/// as a PodDisruptionBudget forbids it nobody is stopped, nothing is overfull, and the pod says so.
#[test]
fn a_pod_is_evicted_for_who_is_owed_when_its_budget_allows() {
    with_plane(&["kwok"], async |plane| {
        plane.nodes(1).await;
        plane.queue("alpha", "Binds").await;
        plane.queue("beta", "Binds").await;
        let path = plane.state().join("decisions.jsonl");
        let log = format!("--log={}", path.display());
        let mut meed = Meed::with(&plane, RECLAIM, &[&log]);
        meed.decides().await;
        plane.submit("alpha", "a", 2, "4", "").await;
        until("alpha has all", 20, async || plane.ran(&["alpha"]).await.len() == 2).await;
        // Nobody writes its status here: the API server allows no eviction then.
        let labels = json!({ "meed.dev/queue": "alpha" });
        let budget = json!({
            "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
            "metadata": { "name": "all", "namespace": "alpha" },
            "spec": { "minAvailable": 2, "selector": { "matchLabels": labels } },
        });
        plane.apply(&budget).await;
        tokio::time::sleep(Duration::from_secs(4)).await;
        plane.submit("beta", "b", 1, "4", "").await;
        let told = async |reason: &str| {
            let mut all = Vec::new();
            for name in ["a-000", "a-001"] {
                all.extend(plane.reasons("alpha", name).await);
            }
            all.iter().filter(|one| *one == reason).count()
        };
        until("an eviction is refused", 30, async || told("EvictionRefused").await == 1).await;
        assert_eq!(told("Reclaimed").await, 1, "one place is enough");
        assert_eq!(plane.all_pods("alpha").await.len(), 2, "its budget forbids it");
        assert!(plane.ran(&["beta"]).await.is_empty(), "its room is not there yet");

        // Another leader goes on with it.
        meed.signal("KILL");
        meed.ended(5).await;
        let mut next = Meed::with(&plane, RECLAIM, &[&log]);
        next.decides().await;
        let budgets: kube::Api<DynamicObject> =
            plane.api("policy/v1", "PodDisruptionBudget", Some("alpha"));
        keep_when_deleted(&plane, true).await;
        budgets.delete("all", &Default::default()).await.expect("it is deleted");
        until("it is said why one stops", 60, async || {
            plane.all_pods("alpha").await.iter().filter(|pod| is_disrupted(pod)).count() == 1
        })
        .await;
        assert!(plane.ran(&["beta"]).await.is_empty(), "its room is taken until that one is gone");
        keep_when_deleted(&plane, false).await;
        until("beta runs", 60, async || {
            plane.no_node_is_overfull(8.0).await;
            plane.ran(&["beta"]).await.len() == 1
        })
        .await;
        assert_eq!(plane.all_pods("alpha").await.len(), 1);
        next.end().await;
        for run in ["1", "2"] {
            is_as_recorded(&path, run);
        }
        // What the evicted pod has used is still charged: it is gone, and nobody else tells.
        let charged = async |queue: &str| {
            plane.read_queue(queue).await.status.and_then(|status| status.charged).unwrap_or(0.0)
        };
        let own: f64 = {
            let status = plane.read_queue("alpha").await.status.expect("a status");
            let now = status.as_of_micros.expect("the instant");
            let ran = plane.ran(&["alpha"]).await;
            ran.iter().map(|ran| ran.cpu * (now - ran.started) as f64 / 1e6).sum()
        };
        let alpha = charged("alpha").await;
        assert!(alpha > own + 20.0, "{alpha} charged, {own} by the pod that runs still");
        plane.ledger_is_true("beta", 0.0).await;
        plane.invariants(&["alpha", "beta"], 8.0).await;
    });
}

/// Holds alpha's pods in their last state, so that it can be read.
async fn keep_when_deleted(plane: &Plane, kept: bool) {
    let finalizers = if kept { json!(["test.example/kept"]) } else { json!(null) };
    let patch = Patch::Merge(json!({ "metadata": { "finalizers": finalizers } }));
    for name in ["a-000", "a-001"] {
        let patched = plane.pods("alpha").patch(name, &PatchParams::default(), &patch).await;
        patched.expect("a pod that is there");
    }
}

/// It is being deleted, and its condition says that it was evicted: Jobs do not count such a pod
/// as failed where their policy says so.
fn is_disrupted(pod: &Pod) -> bool {
    let conditions = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
    let mut ours = conditions.filter(|one| one.type_ == "DisruptionTarget");
    let is_told = ours
        .any(|one| one.status == "True" && one.reason.as_deref() == Some("EvictionByEvictionAPI"));
    is_told && pod.metadata.deletion_timestamp.is_some()
}

/// Without `reclaim_after` nobody is stopped, and a deposed leader evicts nobody.
#[test]
fn an_eviction_carries_the_term_of_its_leader() {
    with_plane(&["kwok"], async |plane| {
        plane.nodes(1).await;
        plane.queue("alpha", "Binds").await;
        plane.queue("beta", "Binds").await;
        let policy = "long-term,quantum=0,when_blocked=reserve";
        let mut meed = Meed::start(&plane, policy);
        meed.decides().await;
        plane.submit("alpha", "a", 2, "4", "").await;
        until("alpha has all", 20, async || plane.ran(&["alpha"]).await.len() == 2).await;
        plane.submit("beta", "b", 1, "4", "").await;
        tokio::time::sleep(Duration::from_secs(6)).await;
        assert_eq!(plane.all_pods("alpha").await.len(), 2);
        let as_meed = plane.client_of("meed").await;
        let evict = async |epoch: &str| {
            let eviction = json!({
                "apiVersion": "policy/v1", "kind": "Eviction",
                "metadata": { "name": "a-000", "annotations": { "meed.dev/epoch": epoch } },
            });
            let path = "/api/v1/namespaces/alpha/pods/a-000/eviction";
            let request = http::Request::post(path).header("content-type", "application/json");
            let request = request.body(serde_json::to_vec(&eviction).unwrap()).unwrap();
            as_meed.request_text(request).await
        };
        let refused = evict("0").await.unwrap_err().to_string();
        assert!(refused.contains("another leader has taken over"), "{refused}");
        evict("1").await.unwrap();
        until("beta follows", 20, async || plane.ran(&["beta"]).await.len() == 1).await;
        meed.end().await;
        plane.ledger_is_true("beta", 0.0).await;
    });
}
