//! An hour on a node is charged as its class says, through changes of classes and of leaders.

use std::collections::BTreeMap;
use std::time::Duration;

use kube::api::{Patch, PatchParams, PostParams};
use serde_json::json;

use crate::cluster::{LONG_TERM, Meed, pod};
use crate::log::is_as_recorded;
use crate::people::ask;
use crate::plane::{Plane, until, with_plane};

pub(crate) const LABEL: &str = "nvidia.com/gpu.product";
pub(crate) const PRICES: &str = "--price=A100=4,T4=0.5";

fn price(class: &str) -> f64 {
    match class {
        "A100" => 4.0,
        "T4" => 0.5,
        _ => 1.0,
    }
}

/// What each node counts, from which instant on.
#[derive(Default)]
pub(crate) struct Classes {
    of: BTreeMap<String, Vec<(i64, f64)>>,
}

impl Classes {
    pub(crate) async fn is(&mut self, plane: &Plane, node: &str, class: &str) {
        label(plane, node, class).await;
        self.counts_from_now(node, class);
    }

    pub(crate) fn counts_from_now(&mut self, node: &str, class: &str) {
        let now = k8s_openapi::jiff::Timestamp::now().as_microsecond();
        self.of.entry(node.to_owned()).or_default().push((now, price(class)));
    }

    /// Price x seconds on a node between two instants.
    pub(crate) fn time(&self, node: &str, from: i64, until: i64) -> f64 {
        let changes = self.of.get(node).map_or(&[][..], Vec::as_slice);
        let ends = changes.iter().skip(1).map(|(at, _)| *at).chain([i64::MAX]);
        let part = |((at, price), end): (&(i64, f64), i64)| {
            (end.min(until) - (*at).max(from)).max(0) as f64 / 1e6 * price
        };
        changes.iter().zip(ends).map(part).sum()
    }
}

/// A node is of another class from now on.
pub(crate) async fn label(plane: &Plane, node: &str, class: &str) {
    let labels = json!({ "metadata": { "labels": { (LABEL): class } } });
    let nodes = plane.api("v1", "Node", None);
    let patched = nodes.patch(node, &PatchParams::default(), &Patch::Merge(labels)).await;
    patched.expect("the node has another class");
}

/// What the queue is charged is the sum over its pods of demand x price x time; `more` is what pods
/// have used that are gone.
pub(crate) async fn ledger_is_true(plane: &Plane, queue: &str, classes: &Classes, more: f64) {
    let status = plane.read_queue(queue).await.status.expect("a status");
    let (charged, as_of) = (status.charged.expect("a charge"), status.as_of_micros.expect("when"));
    // A change of a class is heard within half a second: of six cores that count 3.5 more. A stamp
    // leaves out less than a second. A change that was not heard would be ten times that.
    let late = 0.5 * 6.0 * 3.5;
    let (mut sum, mut slack) = (more, late);
    for ran in plane.ran(&[queue]).await {
        let until = ran.ended.unwrap_or(as_of).min(as_of);
        sum += ran.cpu * classes.time(&ran.node, ran.started, until);
        if let Some(ended) = ran.ended {
            slack += ran.cpu * classes.time(&ran.node, ended, ended + 1_100_000);
        }
    }
    let off = charged - sum;
    assert!(off > -late && off < slack, "the ledger says {charged}, the pods {sum} (+{slack})");
}

#[test]
fn an_hour_counts_by_the_class_of_its_node() {
    with_plane(&["kwok"], async |plane| {
        let mut classes = Classes::default();
        for (node, class) in [("dear", "A100"), ("cheap", "T4"), ("plain", "none")] {
            plane.node(node, "8", json!({}), json!({})).await;
            classes.is(&plane, node, class).await;
        }
        plane.queue("alpha", "Binds").await;
        let wrong = ask(&plane, "meed", &["run", "--price=A100=0"]).unwrap_err();
        assert!(wrong.contains("--price A100=0: the factor `0` is zero"), "{wrong}");
        let path = plane.state().join("decisions.jsonl");
        let log = format!("--log={}", path.display());
        let more = ["--checkpoint-seconds=1", PRICES, &log];
        let mut meed = Meed::with(&plane, LONG_TERM, &more);
        meed.decides().await;
        for node in ["dear", "cheap", "plain"] {
            for (name, cpu, lasts) in [("stays", "4", ""), ("ends", "2", "4s")] {
                let spec = json!({ "schedulerName": "meed",
                    "nodeSelector": { "kubernetes.io/hostname": node } });
                let one = pod(&format!("{name}-{node}"), "alpha", cpu, lasts, spec);
                plane.pods("alpha").create(&PostParams::default(), &one).await.expect("a pod");
            }
        }
        until("all run", 30, async || plane.ran(&["alpha"]).await.len() == 6).await;
        tokio::time::sleep(Duration::from_secs(2)).await;
        // While pods run, a node turns out to be of another class; some end before, some after.
        classes.is(&plane, "cheap", "A100").await;
        tokio::time::sleep(Duration::from_secs(4)).await;
        assert!(meed.log().contains("its class `none` has no price"), "{}", meed.log());
        meed.signal("KILL");
        meed.ended(5).await;
        let mut next = Meed::with(&plane, LONG_TERM, &more);
        next.decides().await;
        classes.is(&plane, "dear", "T4").await;
        tokio::time::sleep(Duration::from_secs(3)).await;
        let told = ask(&plane, "admin", &["queues"]).unwrap();
        assert!(told.contains("CHARGED"), "{told}");
        next.end().await;
        ledger_is_true(&plane, "alpha", &classes, 0.0).await;
        for run in ["1", "2"] {
            is_as_recorded(&path, run);
        }
        let log = std::fs::read_to_string(&path).expect("the log");
        assert!(log.contains("\"weight\":4"), "the log tells what a node counts");
        plane.no_node_is_overfull(8.0).await;
    });
}
