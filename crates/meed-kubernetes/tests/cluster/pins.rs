//! Pods that are let go and held to the node that Meed chose, in one write.

use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;
use kube::api::{Patch, PatchParams, PostParams};
use serde_json::json;

use crate::check::note;
use crate::cluster::{LONG_TERM, Meed, pod};
use crate::plane::{Plane, until, with_plane};

#[test]
fn kube_scheduler_places_a_pod_where_meed_chose() {
    with_plane(&["kwok", "scheduler"], async |plane| {
        plane.nodes(4).await;
        plane.queue("alpha", "Pins").await;
        let mut meed = Meed::start(&plane, LONG_TERM);
        meed.decides().await;
        let key = "requiredDuringSchedulingIgnoredDuringExecution";
        let own = json!({ "matchExpressions": [
            { "key": "kubernetes.io/hostname", "operator": "NotIn", "values": ["n00"] } ] });
        let other = json!({ "matchExpressions": [
            { "key": "kubernetes.io/hostname", "operator": "In", "values": ["n01"] } ] });
        let term = json!({ "labelSelector": { "matchLabels": { "app": "apart" } },
            "topologyKey": "kubernetes.io/hostname" });
        let pods = plane.pods("alpha");
        // Apart from each other, and not on the first node: three of four places.
        for number in 0..4 {
            let spec = json!({ "affinity": {
                "podAntiAffinity": { key: [term] },
                "nodeAffinity": { key: { "nodeSelectorTerms": [own, other] } },
            } });
            let mut one = pod(&format!("apart-{number}"), "alpha", "1", "", spec);
            let labels = one.metadata.labels.get_or_insert_default();
            labels.insert("app".to_owned(), "apart".to_owned());
            pods.create(&PostParams::default(), &one).await.expect("a pod");
        }
        plane.submit("alpha", "plain", 8, "2", "").await;
        let known = || plane.ran(&["alpha"]);
        until("all run but one", 40, async || known().await.len() == 11).await;
        until("the last one is told", 20, async || {
            let mut told = 0;
            for number in 0..4 {
                let reasons = plane.reasons("alpha", &format!("apart-{number}")).await;
                told += usize::from(reasons.contains(&"KeptAway".to_owned()));
            }
            told == 1
        })
        .await;
        for pod in plane.all_pods("alpha").await {
            let name = pod.metadata.name.clone().unwrap_or_default();
            let spec = pod.spec.as_ref().expect("a spec");
            let Some(node) = &spec.node_name else { continue };
            assert_eq!(note(&pod, "meed.dev/node").as_ref(), Some(node), "{name}");
            let affinity = spec.affinity.as_ref().and_then(|all| all.node_affinity.as_ref());
            let required = affinity
                .and_then(|all| all.required_during_scheduling_ignored_during_execution.as_ref());
            let terms = &required.expect("it is held").node_selector_terms;
            assert_eq!(terms.len(), if name.starts_with("apart") { 2 } else { 1 });
            for term in terms {
                let fields = term.match_fields.as_ref().expect("fields");
                assert_eq!(fields[0].values.as_deref(), Some(&[node.clone()][..]), "{name}");
            }
            assert!(!name.starts_with("apart") || node != "n00", "its own terms count");
        }
        // Another leader knows them all again.
        meed.signal("KILL");
        meed.ended(5).await;
        let mut meed = Meed::start(&plane, LONG_TERM);
        meed.decides().await;
        let all = plane.all_pods("alpha").await;
        let runs = all.iter().find(|pod| {
            let name = pod.metadata.name.as_deref().unwrap_or_default();
            name.starts_with("apart") && crate::check::ran(pod).is_some()
        });
        let runs = runs.expect("one runs");
        let since = crate::check::ran(runs).expect("it has started").started;
        plane.remove("alpha", runs.metadata.name.as_deref().unwrap_or_default()).await;
        let used = (k8s_openapi::jiff::Timestamp::now().as_microsecond() - since) as f64 / 1e6;
        until("the last one has its place", 30, async || known().await.len() == 11).await;
        meed.end().await;
        plane.ledger_is_true("alpha", used).await;
        plane.invariants(&["alpha"], 8.0).await;
    });
}

/// Its entries of who owns which field.
fn managers(pod: &Pod) -> Vec<&ManagedFieldsEntry> {
    pod.metadata.managed_fields.iter().flatten().collect()
}

#[test]
fn managed_fields_go_with_the_gate_unless_somebody_applies_the_pod() {
    with_plane(&["kwok", "scheduler"], async |plane| {
        plane.nodes(2).await;
        for (flags, queue, mode) in [
            (&["--checkpoint-seconds=1"][..], "lean", "Gates"),
            (&["--checkpoint-seconds=1", "--keep-managed-fields"], "kept", "Gates"),
            (&["--checkpoint-seconds=1"], "pinned", "Pins"),
        ] {
            plane.queue(queue, mode).await;
            let mut applied = serde_json::to_value(pod("applied", queue, "1", "", json!({})));
            let applied = applied.as_mut().expect("JSON");
            (applied["apiVersion"], applied["kind"]) = ("v1".into(), "Pod".into());
            applied["metadata"]["namespace"] = queue.into();
            plane.apply(applied).await;
            let mut meed = Meed::with(&plane, LONG_TERM, flags);
            meed.decides().await;
            plane.submit(queue, "p", 3, "1", "").await;
            until("all run", 40, async || plane.ran(&[queue]).await.len() == 4).await;
            for pod in plane.all_pods(queue).await {
                let is_applied = pod.metadata.name.as_deref() == Some("applied");
                let all = managers(&pod);
                assert_eq!(all.is_empty(), queue != "kept" && !is_applied, "{queue}: {all:?}");
                let applies = all.iter().any(|entry| entry.operation.as_deref() == Some("Apply"));
                assert_eq!(applies, is_applied, "{queue}: {all:?}");
                assert_eq!(note(&pod, "meed.dev/charged").as_deref(), Some(queue));
            }
            meed.end().await;
            plane.ledger_is_true(queue, 0.0).await;
        }
        plane.invariants(&["kept", "lean", "pinned"], 8.0).await;
        first_apply_is_told_of_conflicts(&plane).await;
    });
}

/// Who applies a pod for the first time after its record is gone is told of what others have set,
/// all of whom are one to the API server; and from then on there is a record again.
async fn first_apply_is_told_of_conflicts(plane: &Plane) {
    let pods = plane.pods("lean");
    let label = |value: &str| json!({ "metadata": { "labels": { "note": value } } });
    let set = Patch::Merge(label("theirs"));
    let seen = pods.patch("p-000", &PatchParams::default(), &set).await.expect("it is set");
    assert!(managers(&seen).is_empty(), "{:?}", managers(&seen));
    let mut wanted = label("ours");
    (wanted["apiVersion"], wanted["kind"]) = ("v1".into(), "Pod".into());
    let apply = PatchParams::apply("platform");
    let refused = pods.patch("p-000", &apply, &Patch::Apply(&wanted)).await.expect_err("theirs");
    let refused = refused.to_string();
    assert!(refused.contains("before-first-apply") && refused.contains("note"), "{refused}");
    let done = pods.patch("p-000", &apply.force(), &Patch::Apply(&wanted)).await.expect("it is");
    assert!(managers(&done).iter().any(|entry| entry.manager.as_deref() == Some("platform")));
}
