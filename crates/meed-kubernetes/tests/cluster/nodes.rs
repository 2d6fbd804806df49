//! Nodes that grow, are shut off, go and come back under their name, while pods run and wait.

use std::time::Duration;

use kube::api::{DeleteParams, Patch, PatchParams};
use serde_json::json;

use crate::cluster::{LONG_TERM, Meed};
use crate::plane::{Plane, until, with_plane};

/// Where the pods of a queue run, by their names.
async fn places(plane: &Plane, queue: &str) -> Vec<(String, Option<String>)> {
    let pods = plane.all_pods(queue).await;
    let place = |pod: k8s_openapi::api::core::v1::Pod| {
        let node = pod.spec.and_then(|spec| spec.node_name);
        (pod.metadata.name.unwrap_or_default(), node)
    };
    pods.into_iter().map(place).collect()
}

async fn runs_on(plane: &Plane, pod: &str, node: &str) -> bool {
    let places = places(plane, "alpha").await;
    places.iter().any(|(name, place)| name == pod && place.as_deref() == Some(node))
}

async fn count(plane: &Plane, node: &str) -> usize {
    let places = places(plane, "alpha").await;
    places.iter().filter(|(_, place)| place.as_deref() == Some(node)).count()
}

#[test]
fn nodes_grow_are_shut_go_and_come_back() {
    with_plane(&["kwok"], async |plane| {
        let nodes = plane.api("v1", "Node", None);
        plane.node("old", "4", json!({}), json!({})).await;
        plane.queue("alpha", "Binds").await;
        let mut meed = Meed::start(&plane, LONG_TERM);
        meed.decides().await;
        plane.submit("alpha", "a", 3, "2", "").await;
        until("two run, as fit", 20, async || count(&plane, "old").await == 2).await;
        tokio::time::sleep(Duration::from_secs(2)).await;
        assert_eq!(count(&plane, "old").await, 2, "the third has no room");

        // It grows.
        let more =
            json!({ "status": { "capacity": { "cpu": "8" }, "allocatable": { "cpu": "8" } } });
        nodes
            .patch_status("old", &PatchParams::default(), &Patch::Merge(more))
            .await
            .expect("it grows");
        until("the third runs", 20, async || count(&plane, "old").await == 3).await;

        // It is lost, as the controllers of a cluster say so: what runs stays, nothing comes.
        let taint = json!([{ "key": "node.kubernetes.io/unreachable", "effect": "NoSchedule" }]);
        let lost = json!({ "spec": { "taints": taint } });
        nodes.patch("old", &PatchParams::default(), &Patch::Merge(lost)).await.expect("it is lost");
        // What is told of nodes is heard before pods that come later.
        tokio::time::sleep(Duration::from_secs(1)).await;
        plane.submit("alpha", "b", 1, "2", "").await;
        tokio::time::sleep(Duration::from_secs(2)).await;
        assert_eq!(count(&plane, "old").await, 3, "nothing comes to a node that is lost");
        plane.node("new", "2", json!({}), json!({})).await;
        until("it runs on the new one", 20, async || runs_on(&plane, "b-000", "new").await).await;

        // It shrinks below what runs on it: nothing more comes, also when it is back.
        let less =
            json!({ "status": { "capacity": { "cpu": "2" }, "allocatable": { "cpu": "2" } } });
        nodes
            .patch_status("old", &PatchParams::default(), &Patch::Merge(less))
            .await
            .expect("it shrinks");
        let back = json!({ "spec": { "taints": null } });
        nodes.patch("old", &PatchParams::default(), &Patch::Merge(back)).await.expect("it is back");

        // The new one is deleted, and its pod with it, as the garbage collector does.
        let since = {
            let pods = plane.all_pods("alpha").await;
            let one = pods.iter().find(|pod| pod.metadata.name.as_deref() == Some("b-000"));
            crate::check::ran(one.expect("it is there")).expect("it has started").started
        };
        nodes.delete("new", &DeleteParams::default()).await.expect("it goes");
        plane.remove("alpha", "b-000").await;
        let now = k8s_openapi::jiff::Timestamp::now().as_microsecond();
        let used = 2.0 * (now - since) as f64 / 1e6;
        plane.submit("alpha", "c", 1, "2", "").await;
        tokio::time::sleep(Duration::from_secs(2)).await;
        let waits = places(&plane, "alpha").await.contains(&("c-000".to_owned(), None));
        assert!(waits, "there is no room: {:?}", places(&plane, "alpha").await);
        plane.node("new", "2", json!({}), json!({})).await;
        until("it runs where it came back", 20, async || runs_on(&plane, "c-000", "new").await)
            .await;
        meed.end().await;
        plane.ledger_is_true("alpha", used).await;
    });
}
