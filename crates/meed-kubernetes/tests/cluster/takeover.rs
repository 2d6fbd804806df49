//! A standby that is warm takes over; and how soon a replacement decides.
//!
//! `cargo xtask kubernetes takeover` runs the second at full size.

use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::api::ListParams;
use serde_json::json;

use crate::check::{note, ran};
use crate::cluster::{LONG_TERM, Meed};
use crate::plane::{Plane, instant, say, until, with_plane};
use crate::weigh::{Asked, held, markdown, peak};

/// How much is measured: `nodes=1000 pods=30000 queues=10000`.
const SIZES: &str = "MEED_TAKEOVER";

/// What a standby says once it could take over.
const WARM: &str = "stands by";

impl Meed {
    pub(crate) async fn is_warm(&self) {
        until("the standby has read the cluster", 120, async || self.log().contains(WARM)).await;
    }

    /// Seconds from the lease to the first decision, by its own word.
    fn took(&self) -> f64 {
        let log = self.log();
        let behind = log.split("and decides, ").nth(1).expect("it says so");
        behind.split(' ').next().and_then(|text| text.parse().ok()).expect("a number")
    }
}

impl Plane {
    /// Requests with these labels that the server has answered, by whomever.
    async fn requests(&self, labels: &[&str]) -> f64 {
        let request = http::Request::get("/metrics").body(Vec::new()).expect("a request");
        let text = self.admin.request_text(request).await.expect("the server's metrics");
        let rows = text.lines().filter(|line| line.starts_with("apiserver_request_total{"));
        let rows = rows.filter(|line| labels.iter().all(|label| line.contains(label)));
        rows.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum()
    }

    pub(crate) async fn lists_of_all(&self) -> Vec<f64> {
        let mut all = Vec::new();
        let seen = ["nodes", "queues", "namespaces", "pods"];
        let volumes = ["persistentvolumeclaims", "persistentvolumes", "storageclasses"];
        for resource in seen.into_iter().chain(volumes) {
            let kind = format!("resource=\"{resource}\"");
            all.push(self.requests(&[&kind, "verb=\"LIST\""]).await);
        }
        all
    }
}

/// The leader is killed while pods run and wait. The standby was warm: it lists nothing, knows what
/// ended and what was deleted while nobody led, charges nothing twice, and binds no pod twice.
#[test]
fn a_warm_standby_takes_over_and_lists_nothing() {
    with_plane(&["kwok"], async |plane| {
        plane.nodes(4).await;
        plane.queue("alpha", "Binds").await;
        plane.queue("beta", "Binds").await;
        let mut first = Meed::start(&plane, LONG_TERM);
        first.decides().await;
        let mut second = Meed::start(&plane, LONG_TERM);
        second.is_warm().await;
        // Pods that end before the first dies, while nobody leads, and after; one that is deleted
        // meanwhile; and more than fit, so that the next leader has something to decide.
        plane.submit("beta", "b", 4, "4", "25s").await;
        until("long ones run", 30, async || plane.ran(&["beta"]).await.len() == 4).await;
        plane.submit("alpha", "a", 12, "4", "4s").await;
        until("pods run", 30, async || plane.ran(&["alpha", "beta"]).await.len() >= 8).await;
        plane.submit("beta", "c", 4, "4", "2s").await;
        tokio::time::sleep(Duration::from_millis(2500)).await;
        first.signal("KILL");
        first.ended(5).await;
        let doomed = plane.all_pods("beta").await;
        let doomed = doomed.iter().find(|pod| {
            let name = pod.metadata.name.as_deref().unwrap_or_default();
            name.starts_with("b-") && ran(pod).is_some()
        });
        let doomed = doomed.expect("a long one of beta runs");
        let (name, ran_before) = (doomed.metadata.name.clone().unwrap(), ran(doomed).unwrap());
        tokio::time::sleep(Duration::from_secs(2)).await;
        plane.remove("beta", &name).await;
        let deleted = wall_micros();
        let before = plane.lists_of_all().await;
        second.decides().await;
        let after = plane.lists_of_all().await;
        // Pods once, and of that list one: for the version of now.
        let lists: Vec<f64> = after.iter().zip(&before).map(|(now, then)| now - then).collect();
        assert_eq!(
            lists,
            [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
            "nodes, queues, namespaces, pods, volumes"
        );
        until("all pods have ended", 90, async || {
            plane.no_node_is_overfull(8.0).await;
            let ran = plane.ran(&["alpha", "beta"]).await;
            ran.iter().filter(|ran| ran.ended.is_some()).count() == 19
        })
        .await;
        let pods = plane.all_pods("alpha").await.into_iter().chain(plane.all_pods("beta").await);
        let epochs: Vec<_> = pods.filter_map(|pod| note(&pod, "meed.dev/epoch")).collect();
        assert!(epochs.contains(&"1".to_owned()) && epochs.contains(&"2".to_owned()), "{epochs:?}");
        second.end().await;
        plane.invariants(&["alpha", "beta"], 8.0).await;
        plane.ledger_is_true("alpha", 0.0).await;
        // The deleted one is charged until it was deleted: not only until the last checkpoint.
        let more = ran_before.cpu * (deleted - ran_before.started) as f64 / 1e6;
        let own: f64 = plane
            .ran(&["beta"])
            .await
            .iter()
            .map(|ran| ran.cpu * (ran.ended.expect("it has ended") - ran.started) as f64 / 1e6)
            .sum();
        let charged = plane.read_queue("beta").await.status.and_then(|all| all.charged).unwrap();
        let off = charged - own - more;
        assert!(off > -2.5 && off < 8.0 * 4.4 + 2.5, "{charged} charged, {own} and {more} used");
    });
}

fn wall_micros() -> i64 {
    k8s_openapi::jiff::Timestamp::now().as_microsecond()
}

/// Nothing more is bound: for five seconds no binding was asked for.
async fn all_is_bound(plane: &Plane) {
    let asked = async || plane.requests(&["resource=\"pods\"", "subresource=\"binding\""]).await;
    let (begin, mut before) = (instant(), asked().await);
    loop {
        tokio::time::sleep(Duration::from_secs(5)).await;
        let now = asked().await;
        if now == before || begin.elapsed() > Duration::from_secs(600) {
            return;
        }
        before = now;
    }
}

/// Kilobytes of the last checkpoint, packed.
async fn ledger_kib(plane: &Plane) -> usize {
    let maps: Api<ConfigMap> = Api::namespaced(plane.admin.clone(), "meed-system");
    let list = maps.list(&ListParams::default().labels("meed.dev/ledger")).await.expect("a list");
    let bytes = list.items.iter().flat_map(|map| map.binary_data.iter().flatten());
    bytes.map(|(_, bytes)| bytes.0.len()).sum::<usize>() / 1024
}

/// One that starts when the leader has ended, and one that stood by when it was killed: seconds
/// from the lease to the first decision, and memory.
#[test]
fn a_replacement_decides_soon() {
    let asked = Asked::of(SIZES);
    let nodes = asked.one("nodes", 8);
    let (pods, queues) = (asked.one("pods", 200), asked.one("queues", 20));
    with_plane(&[], async |plane| {
        plane.nodes_of(nodes, &[("8", "32Gi")]).await;
        plane.namespace("load", json!({})).await;
        plane.many_queues(queues).await;
        let place = |number: usize| {
            let labels = json!({ "meed.dev/queue": format!("q-{:05}", number % queues) });
            ("load".to_owned(), labels, "meed")
        };
        plane.many_pods(pods, place).await;
        let mut first = Meed::run(&plane, &[]);
        first.decides().await;
        all_is_bound(&plane).await;
        let bound = plane.none_is_overfull().await;
        assert!(bound > 0 && bound < pods, "{bound} of {pods} are bound");
        let mut rows = vec![("the first of all", first.took(), peak(first.id()))];
        let leads = held(first.id());
        first.end().await;
        let kib = ledger_kib(&plane).await;
        let mut cold = Meed::run(&plane, &[]);
        cold.decides().await;
        rows.push(("one that starts anew", cold.took(), peak(cold.id())));
        let mut warm = Meed::run(&plane, &[]);
        warm.is_warm().await;
        let stands_by = held(warm.id());
        cold.signal("KILL");
        warm.decides().await;
        rows.push(("a standby", warm.took(), peak(warm.id())));
        // It decides indeed: room that comes free is used.
        let gone = plane.some_bound("load", 8).await;
        for name in &gone {
            plane.remove("load", name).await;
        }
        let left = bound - gone.len();
        until("their room is given on", 60, async || plane.none_is_overfull().await > left).await;
        let columns = ["replacement", "lease to first decision", "peak MiB"];
        let cells = rows.iter().map(|(name, took, peak)| {
            vec![(*name).to_owned(), format!("{took:.1} s"), format!("{peak:.0}")]
        });
        say(&format!(
            "\n{nodes} nodes, {pods} pods ({bound} bound), {queues} queues; checkpoint {kib} KiB; \
             a leader holds {leads:.0} MiB, a standby {stands_by:.0} MiB\n{}",
            markdown(&columns, cells)
        ));
        for (name, took, _) in rows {
            assert!(pods > 1000 || took < 5.0, "{name}: {took} s");
        }
        warm.end().await;
    });
}
