//! Pods that wait for room say so to whoever adds nodes, once.

use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use serde_json::json;

use crate::cluster::{LONG_TERM, Meed};
use crate::plane::{Plane, until, with_plane};

/// Status and reason of the condition PodScheduled.
fn scheduled(pod: &Pod) -> Option<(String, String)> {
    let conditions = pod.status.as_ref()?.conditions.as_ref()?;
    let one = conditions.iter().find(|one| one.type_ == "PodScheduled")?;
    Some((one.status.clone(), one.reason.clone().unwrap_or_default()))
}

/// Names of pods whose condition asks for a node.
async fn marked(plane: &Plane, queue: &str) -> Vec<String> {
    let all = plane.all_pods(queue).await;
    let is_marked =
        |pod: &&Pod| scheduled(pod) == Some(("False".to_owned(), "Unschedulable".to_owned()));
    all.iter().filter(is_marked).filter_map(|pod| pod.metadata.name.clone()).collect()
}

#[test]
fn who_waits_for_room_says_so_once_and_who_waits_for_its_turn_does_not() {
    with_plane(&["kwok"], async |plane| {
        plane.nodes(1).await;
        plane.queue("alpha", "Binds").await;
        plane.queue_like("capped", json!({ "mode": "Binds", "max": { "cpu": 1 } })).await;
        let mut meed = Meed::start(&plane, LONG_TERM);
        meed.decides().await;
        plane.submit("capped", "c", 3, "1", "").await;
        until("one of the capped runs", 20, async || plane.ran(&["capped"]).await.len() == 1).await;
        plane.submit("alpha", "a", 6, "4", "").await;
        until("one runs", 20, async || plane.ran(&["alpha"]).await.len() == 1).await;
        until("one waits for room", 20, async || marked(&plane, "alpha").await.len() == 1).await;
        let first = marked(&plane, "alpha").await;
        // Nothing is written again: not by this leader, and not by the next.
        let versions = async || {
            let mut all = plane.all_pods("alpha").await;
            all.extend(plane.all_pods("capped").await);
            all.into_iter().map(|pod| pod.metadata.resource_version).collect::<Vec<_>>()
        };
        let before = versions().await;
        tokio::time::sleep(Duration::from_secs(7)).await;
        meed.end().await;
        let mut meed = Meed::start(&plane, LONG_TERM);
        meed.decides().await;
        tokio::time::sleep(Duration::from_secs(7)).await;
        assert_eq!(before, versions().await);
        assert_eq!(marked(&plane, "alpha").await, first);
        assert_eq!(marked(&plane, "capped").await, [""; 0], "they wait for their maximum");
        // A node comes: who was marked runs, and the API server says so.
        plane.node("n01", "4", json!({}), json!({})).await;
        let pods = plane.pods("alpha");
        until("it runs on the new node", 20, async || {
            let pod = pods.get(&first[0]).await.unwrap();
            pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()) == Some("n01")
                && scheduled(&pod).is_some_and(|(status, _)| status == "True")
        })
        .await;
        until("the next one waits for room", 20, async || {
            let now = marked(&plane, "alpha").await;
            now.len() == 1 && now != first
        })
        .await;
        meed.end().await;
        plane.ledger_is_true("alpha", 0.0).await;
    });
}
