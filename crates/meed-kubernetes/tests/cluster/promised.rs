//! Mode Gates under ordinary pods of several sizes: what is bound and what is let go is never more
//! than the nodes have, wherever kube-scheduler puts pods.

use std::time::Duration;

use serde_json::json;

use crate::check::note;
use crate::cluster::{LONG_TERM, Meed};
use crate::plane::{Plane, until, with_plane};

const NODES: usize = 16;
const CORES: f64 = 4.0 * NODES as f64;
/// So often pods of all these come: names, how many, cores, and for how long each runs.
const ROUNDS: usize = 10;
const MIX: [(&str, usize, &str, &str); 6] = [
    ("a", 4, "1", "1s"),
    ("b", 3, "1400m", "2s"),
    ("c", 3, "2", "1500ms"),
    ("d", 4, "1", "2500ms"),
    ("e", 3, "1400m", "1s"),
    ("f", 2, "2", "3s"),
];

async fn have_ended(plane: &Plane) -> usize {
    let all = plane.ran(&["alpha", "beta"]).await;
    all.iter().filter(|ran| ran.ended.is_some()).count()
}

#[test]
fn no_more_is_held_and_let_go_than_the_nodes_have() {
    with_plane(&["kwok", "scheduler"], async |plane| {
        for number in 0..NODES {
            plane.node(&format!("n{number:02}"), "4", json!({}), json!({})).await;
        }
        plane.queue("alpha", "Gates").await;
        plane.queue("beta", "Gates").await;
        let mut meed = Meed::start(&plane, LONG_TERM);
        meed.decides().await;
        for round in 0..ROUNDS {
            for (names, count, cpu, lasts) in MIX {
                for queue in ["alpha", "beta"] {
                    plane.submit(queue, &format!("{names}{round}"), count, cpu, lasts).await;
                }
            }
        }
        let all = 2 * ROUNDS * MIX.iter().map(|(_, count, ..)| count).sum::<usize>();
        let mut most = 0.0_f64;
        until("all have ended", 150, async || {
            most = most.max(plane.promised().await);
            have_ended(&plane).await == all
        })
        .await;
        assert!(most <= CORES + 1e-9, "{most} of {CORES} cores are promised");
        assert!(most >= 0.9 * CORES, "the nodes were never full: {most} of {CORES} cores");
        meed.end().await;
        plane.invariants(&["alpha", "beta"], 4.0).await;
    });
}

impl Plane {
    async fn is_let_go(&self, name: &str) -> bool {
        let pod = self.pods("alpha").get(name).await.expect("it is there");
        note(&pod, "meed.dev/started").is_some()
    }

    async fn until_let_go(&self, name: &str) {
        let what = format!("{name} is let go");
        until(&what, 20, async || self.is_let_go(name).await).await;
    }

    /// In place of kube-scheduler.
    async fn bind(&self, name: &str, node: &str) {
        let binding = json!({
            "apiVersion": "v1", "kind": "Binding", "metadata": { "name": name },
            "target": { "apiVersion": "v1", "kind": "Node", "name": node },
        });
        let path = format!("/api/v1/namespaces/alpha/pods/{name}/binding");
        let request = http::Request::post(path).header("content-type", "application/json");
        let request = request.body(serde_json::to_vec(&binding).expect("JSON")).expect("a request");
        self.admin.request_text(request).await.expect("it is bound");
    }
}

/// A small pod is bound where a large one was assumed, which has room nowhere then. What is free is
/// not let go to others, and kube-scheduler places the large one as soon as it can.
#[test]
fn a_pod_that_lost_its_room_is_placed_before_others_are_let_go() {
    with_plane(&["kwok"], async |plane| {
        plane.nodes(2).await;
        plane.queue("alpha", "Gates").await;
        let mut meed = Meed::start(&plane, LONG_TERM);
        meed.decides().await;
        for (name, cpu, node) in [("runs", "4", Some("n00")), ("large", "8", None)] {
            plane.submit("alpha", name, 1, cpu, "").await;
            let name = format!("{name}-000");
            plane.until_let_go(&name).await;
            if let Some(node) = node {
                plane.bind(&name, node).await;
            }
        }
        plane.submit("alpha", "small", 1, "4", "").await;
        plane.until_let_go("small-000").await;
        plane.bind("small-000", "n01").await;
        plane.submit("alpha", "next", 1, "4", "1s").await;
        tokio::time::sleep(Duration::from_secs(4)).await;
        assert!(!plane.is_let_go("next-000").await, "four cores are free, and promised");
        plane.part("start", "scheduler");
        tokio::time::sleep(Duration::from_secs(4)).await;
        assert!(!plane.is_let_go("next-000").await, "it could be bound where the large one waits");
        plane.remove("alpha", "runs-000").await;
        until("the large one is placed", 40, async || {
            let all = plane.ran(&["alpha"]).await;
            all.iter().any(|ran| ran.cpu > 7.0)
        })
        .await;
        until("and then the next one", 20, async || have_ended(&plane).await == 1).await;
        meed.end().await;
        plane.invariants(&["alpha"], 8.0).await;
    });
}
