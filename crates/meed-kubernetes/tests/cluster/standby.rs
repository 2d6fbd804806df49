//! A warm standby takes over with bound volumes, classes of nodes and pinned pods in play.

use std::time::Duration;

use kube::api::PostParams;
use serde_json::json;

use crate::check::{note, ran};
use crate::cluster::{LONG_TERM, Meed, pod};
use crate::plane::{Plane, until, with_plane};
use crate::prices::{Classes, PRICES, label, ledger_is_true};
use crate::volumes::{bind, claim, class, uses, volume};

impl Plane {
    async fn node_of(&self, namespace: &str, name: &str) -> Option<String> {
        let pod = self.pods(namespace).get(name).await.expect("it is there");
        pod.spec.and_then(|spec| spec.node_name)
    }

    /// A pod that is let go for a node; it need not be there.
    async fn let_go_to(&self, namespace: &str, name: &str) -> Option<(String, i64)> {
        let pod = self.pods(namespace).get(name).await.expect("it is there");
        Some((note(&pod, "meed.dev/node")?, note(&pod, "meed.dev/started")?.parse().ok()?))
    }
}

/// While nobody leads: a claim is bound, another is made, a node gets another class, a pod that was
/// let go is deleted, and kube-scheduler places another one that was.
#[test]
fn a_warm_standby_knows_volumes_classes_and_pins() {
    with_plane(&["kwok", "scheduler"], async |plane| {
        let mut classes = Classes::default();
        for (node, of) in [("dear", "A100"), ("cheap", "T4"), ("plain", "A100")] {
            plane.node(node, "8", json!({}), json!({})).await;
            classes.is(&plane, node, of).await;
        }
        class(&plane, "now", "Immediate").await;
        for (name, host) in [("v-dear", "dear"), ("v-cheap", "cheap"), ("v-plain", "plain")] {
            volume(&plane, name, host).await;
        }
        plane.queue("alpha", "Binds").await;
        plane.queue("beta", "Pins").await;
        claim(&plane, "first", "now").await;
        claim(&plane, "soon", "now").await;
        bind(&plane, "first", "v-dear").await;
        let more = ["--checkpoint-seconds=1", PRICES];
        let mut first = Meed::with(&plane, LONG_TERM, &more);
        first.decides().await;
        let mut second = Meed::with(&plane, LONG_TERM, &more);
        second.is_warm().await;

        for (name, claim) in [("first", "first"), ("soon", "soon"), ("late", "late")] {
            uses(&plane, name, claim).await;
        }
        plane.submit("beta", "runs", 2, "2", "").await;
        until("they run", 30, async || {
            plane.ran(&["alpha"]).await.len() == 1 && plane.ran(&["beta"]).await.len() == 2
        })
        .await;
        assert_eq!(plane.node_of("alpha", "first").await.as_deref(), Some("dear"));
        // Nobody places for a while.
        plane.signal("STOP", "scheduler");
        let pods = plane.pods("beta");
        for name in ["placed", "goes"] {
            let one = pod(name, "beta", "1", "", json!({}));
            pods.create(&PostParams::default(), &one).await.expect("a pod");
            until("it is let go", 30, async || plane.let_go_to("beta", name).await.is_some()).await;
        }
        tokio::time::sleep(Duration::from_millis(1500)).await;
        first.signal("KILL");
        first.ended(5).await;

        bind(&plane, "soon", "v-cheap").await;
        claim(&plane, "late", "now").await;
        bind(&plane, "late", "v-plain").await;
        label(&plane, "plain", "T4").await;
        let (went_to, since) = plane.let_go_to("beta", "goes").await.expect("it was let go");
        tokio::time::sleep(Duration::from_secs(3)).await;
        plane.remove("beta", "goes").await;
        let gone = k8s_openapi::jiff::Timestamp::now().as_microsecond();
        let used = classes.time(&went_to, since, gone);
        plane.signal("CONT", "scheduler");
        let before = plane.lists_of_all().await;
        second.decides().await;
        // A change while nobody led counts from the takeover.
        classes.counts_from_now("plain", "T4");
        let lists: Vec<f64> =
            plane.lists_of_all().await.iter().zip(&before).map(|(now, then)| now - then).collect();
        // Nodes, queues, namespaces; the rest kube-scheduler, which was stopped, may list itself.
        assert!(lists[..3].iter().all(|&lists| lists == 0.0), "{lists:?}");
        until("what waited for volumes runs", 30, async || {
            plane.node_of("alpha", "soon").await.is_some()
                && plane.node_of("alpha", "late").await.is_some()
        })
        .await;
        assert_eq!(plane.node_of("alpha", "soon").await.as_deref(), Some("cheap"));
        assert_eq!(plane.node_of("alpha", "late").await.as_deref(), Some("plain"));
        until("kube-scheduler places it", 30, async || {
            plane.node_of("beta", "placed").await.is_some()
        })
        .await;
        for pod in plane.all_pods("beta").await {
            let ran = ran(&pod).expect("it runs");
            assert_eq!(note(&pod, "meed.dev/node"), Some(ran.node), "where the leaders chose");
        }
        tokio::time::sleep(Duration::from_secs(2)).await;
        second.end().await;
        ledger_is_true(&plane, "alpha", &classes, 0.0).await;
        ledger_is_true(&plane, "beta", &classes, used).await;
        plane.invariants(&["alpha", "beta"], 8.0).await;
    });
}
