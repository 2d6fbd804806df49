//! Pods that Meed lets go and that kube-scheduler cannot place: they hold nobody up, and are
//! charged for the time for which room was kept, through a change of leaders.

use k8s_openapi::api::core::v1::Pod;
use kube::api::PostParams;
use serde_json::json;

use crate::check::note;
use crate::cluster::{LONG_TERM, Meed, pod};
use crate::people::ask;
use crate::plane::{Plane, until, with_plane};

/// When the API server took the binding.
fn scheduled(pod: &Pod) -> Option<i64> {
    let conditions = pod.status.as_ref()?.conditions.as_ref()?;
    let one = conditions.iter().find(|one| one.type_ == "PodScheduled" && one.status == "True")?;
    one.last_transition_time.as_ref().map(|time| time.0.as_microsecond())
}

/// A pod that wants to be where a pod with the label `app: friend` is.
fn lonely(queue: &str) -> Pod {
    let term = json!({ "labelSelector": { "matchLabels": { "app": "friend" } },
        "namespaces": ["default"], "topologyKey": "kubernetes.io/hostname" });
    let required = json!({ "requiredDuringSchedulingIgnoredDuringExecution": [term] });
    pod("lonely", queue, "8", "", json!({ "affinity": { "podAffinity": required } }))
}

async fn is_charged(plane: &Plane, expected: f64) {
    let status = plane.read_queue("alpha").await.status.expect("a status");
    let charged = status.charged.expect("a charge");
    // A core-second for each core: stamps are whole seconds.
    assert!((charged - expected).abs() < 9.0, "{charged} is charged, not {expected}");
}

#[test]
fn a_pod_that_kube_scheduler_cannot_place_holds_nobody_up() {
    with_plane(&["kwok", "scheduler"], async |plane| {
        plane.nodes(1).await;
        plane.queue("alpha", "Gates").await;
        plane.queue("beta", "Gates").await;
        let more = ["--checkpoint-seconds=1", "--place-seconds=4"];
        let mut meed = Meed::with(&plane, LONG_TERM, &more);
        meed.decides().await;
        let pods = plane.pods("alpha");
        pods.create(&PostParams::default(), &lonely("alpha")).await.expect("a pod");
        until("it is let go", 20, async || {
            let pod = pods.get("lonely").await.expect("it is there");
            note(&pod, "meed.dev/started").is_some()
        })
        .await;
        // Another wants the room that is kept for it, and has it in the end.
        plane.submit("beta", "next", 1, "8", "2s").await;
        until("the next one runs", 30, async || plane.ran(&["beta"]).await.len() == 1).await;
        let reasons = plane.reasons("alpha", "lonely").await;
        assert!(reasons.contains(&"NotPlaced".to_owned()), "{reasons:?}");
        let why = ask(&plane, "admin", &["why", "alpha/lonely"]).expect("an answer");
        assert!(why.contains("has let it go") && why.contains("NotPlaced"), "{why}");
        assert!(why.contains("shown   Unschedulable"), "{why}");
        until("its queue says so", 20, async || {
            let status = plane.read_queue("alpha").await.status.expect("a status");
            status.unplaced == Some(1) && status.running == Some(0)
        })
        .await;
        // Another leader charges it no more, and says nothing again.
        meed.signal("KILL");
        meed.ended(5).await;
        let mut meed = Meed::with(&plane, LONG_TERM, &more);
        meed.decides().await;
        tokio::time::sleep(std::time::Duration::from_secs(3)).await;
        is_charged(&plane, 4.0 * 8.0).await;
        assert_eq!(plane.reasons("alpha", "lonely").await.len(), reasons.len());
        // A friend comes: kube-scheduler places it, and from then on it is charged.
        plane.node("n01", "16", json!({}), json!({})).await;
        let mut friend = pod("friend", "", "1", "", json!({ "nodeName": "n01" }));
        friend.metadata.labels = Some([("app".to_owned(), "friend".to_owned())].into());
        let made = plane.pods("default").create(&PostParams::default(), &friend).await;
        made.expect("a friend");
        until("it is placed", 60, async || plane.ran(&["alpha"]).await.len() == 1).await;
        tokio::time::sleep(std::time::Duration::from_secs(3)).await;
        meed.end().await;
        let placed = pods.get("lonely").await.expect("it is there");
        let at = scheduled(&placed).expect("it is scheduled");
        let status = plane.read_queue("alpha").await.status.expect("a status");
        let ran = (status.as_of_micros.expect("when") - at) as f64 / 1e6;
        is_charged(&plane, (4.0 + ran) * 8.0).await;
        assert_eq!((status.unplaced, status.running), (Some(0), Some(1)));
        plane.invariants(&["alpha", "beta"], 16.0).await;
    });
}
