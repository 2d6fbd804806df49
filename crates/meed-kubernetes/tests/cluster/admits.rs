//! How fast gates are taken from pods: Meed's mode Gates beside Kueue, on the same server.
//!
//! `cargo xtask kubernetes admits` builds Kueue and runs this at full size; as a test it is small,
//! and leaves Kueue out, aloud, where it is not built.
//!
//! | way | what runs |
//! |---|---|
//! | Gates | Meed under `long-term` |
//! | Kueue, as shipped | its manager, with the limits of its own manifests: 50 requests a second |
//! | Kueue, without that limit | the same, with 5,000 requests a second |
//! | Kueue, by arrival | the same, without admission fair sharing |
//!
//! Each queue has a namespace of its own: for Meed a Queue, for Kueue a LocalQueue of one
//! ClusterQueue, with admission fair sharing (half-life 168 h) unless the row says otherwise. All
//! pods fit at once, so nobody waits for room, and no scheduler runs: what is measured is who is
//! next, and the requests that say so.
//! Kueue runs as administrator and without its webhooks, which would check each write to a pod: its
//! gate and its labels are there from the start. Each way has a control plane of its own.

use std::time::{Duration, Instant};

use futures::{FutureExt as _, StreamExt as _};
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::{ListParams, PostParams, WatchParams};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::cluster::Meed;
use crate::counted::Counted;
use crate::plane::{Plane, instant, peer, say, until, with_plane_like};
use crate::weigh::{Asked, cpu, load, many, markdown, peak};

/// How much is measured: `nodes=1000 pods=5000 queues=1000`.
const SIZES: &str = "MEED_ADMITS";

/// Kueue as it is shipped is given so many pods at most: they take it minutes.
const SHIPPED: usize = 1000;

/// When no gate was taken away for so long, a way has failed.
const STUCK: Duration = Duration::from_secs(120);

#[derive(Clone, Copy)]
struct Sizes {
    nodes: usize,
    pods: usize,
    queues: usize,
}

impl Sizes {
    fn told() -> Sizes {
        let asked = Asked::of(SIZES);
        Sizes {
            nodes: asked.one("nodes", 8),
            pods: asked.one("pods", 60),
            queues: asked.one("queues", 10),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    Gates,
    Shipped,
    Unbounded,
    ByArrival,
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Way::Gates => "Gates",
            Way::Shipped => "Kueue, as shipped",
            Way::Unbounded => "Kueue, without that limit",
            Way::ByArrival => "Kueue, by arrival",
        }
    }

    /// Labels of a pod of this queue, and the gate that it comes with; Meed's policy sets its own.
    fn pod(self, queue: &str) -> (Value, Value) {
        match self {
            Way::Gates => (json!({ "meed.dev/queue": queue }), Value::Null),
            _ => (
                json!({ "kueue.x-k8s.io/queue-name": queue, "kueue.x-k8s.io/managed": "true" }),
                json!([{ "name": "kueue.x-k8s.io/admission" }]),
            ),
        }
    }
}

fn queue(number: usize) -> String {
    format!("load-{number:05}")
}

/// When gates were taken away.
async fn lifted(plane: &Plane) -> (Counted, JoinHandle<()>) {
    let open = |pods: Api<Pod>, at: String| {
        async move {
            pods.watch(&WatchParams::default(), &at).await.expect("a watch begins").boxed()
        }
        .boxed()
    };
    let is_free = |pod: &Pod| {
        let spec = pod.spec.as_ref().expect("a pod has a spec");
        spec.scheduling_gates.as_ref().is_none_or(Vec::is_empty)
    };
    Counted::watch(plane, open, is_free).await
}

/// What was measured of one way.
#[derive(Debug)]
struct Figures {
    pods: usize,
    first: f64,
    last: f64,
    own: f64,
    server: f64,
    etcd: f64,
    memory: f64,
}

impl Plane {
    /// Kueue's kinds, one ClusterQueue that holds everything, and a LocalQueue in each namespace.
    async fn kueue(&self, definitions: &std::path::Path, queues: usize, remembers: bool) {
        let files = std::fs::read_dir(definitions).expect("the definitions");
        for file in files.map(|file| file.expect("a file").path()) {
            if file.extension().is_some_and(|ending| ending == "yaml") {
                let text = std::fs::read_to_string(&file).expect("a definition");
                let all: Vec<Value> = serde_saphyr::from_multiple(&text).expect("YAML");
                for object in all.iter().filter(|object| !object.is_null()) {
                    self.apply(object).await;
                }
            }
        }
        let version = "kueue.x-k8s.io/v1beta2";
        let local = self.api(version, "LocalQueue", Some("default"));
        until("Kueue's kinds are served", 60, async || {
            local.list(&ListParams::default()).await.is_ok()
        })
        .await;
        let flavor = json!({ "apiVersion": version, "kind": "ResourceFlavor",
            "metadata": { "name": "any" } });
        self.apply(&flavor).await;
        let all = |name: &str| json!({ "name": name, "nominalQuota": "1000000Gi" });
        let mut spec = json!({
            "namespaceSelector": {},
            "resourceGroups": [{ "coveredResources": ["cpu", "memory"],
                "flavors": [{ "name": "any", "resources": [all("cpu"), all("memory")] }] }],
        });
        if remembers {
            spec["admissionScope"] = json!({ "admissionMode": "UsageBasedAdmissionFairSharing" });
        }
        self.apply(&json!({
            "apiVersion": version, "kind": "ClusterQueue", "metadata": { "name": "all" },
            "spec": spec,
        }))
        .await;
        many(queues, |number| async move {
            let name = queue(number);
            self.apply(&json!({
                "apiVersion": version, "kind": "LocalQueue",
                "metadata": { "name": name, "namespace": name },
                "spec": { "clusterQueue": "all" },
            }))
            .await;
        })
        .await;
    }

    async fn gated_pods(&self, way: Way, count: usize, queues: usize) {
        many(count, |number| async move {
            let name = queue(number % queues);
            let (labels, gates) = way.pod(&name);
            let pod = json!({
                "metadata": { "name": format!("p-{number:05}"), "labels": labels },
                "spec": {
                    "restartPolicy": "Never", "schedulingGates": gates,
                    "containers": [{ "name": "c", "image": "none",
                        "resources": { "requests": { "cpu": "250m", "memory": "512Mi" } } }],
                },
            });
            let pod = serde_json::from_value(pod).expect("a pod");
            let made = self.pods(&name).create(&PostParams::default(), &pod).await;
            let made = made.expect("a pod is made");
            let gates = made.spec.and_then(|spec| spec.scheduling_gates).unwrap_or_default();
            assert_eq!(gates.len(), 1, "{way:?}: it waits at one gate");
        })
        .await;
    }
}

async fn measure(plane: &Plane, way: Way, sizes: Sizes) -> Figures {
    let Sizes { nodes, pods: count, queues } = sizes;
    plane.unequal_nodes(nodes).await;
    many(queues, |number| async move { plane.namespace(&queue(number), json!({})).await }).await;
    match peer() {
        Some(definitions) if way != Way::Gates => {
            plane.policies(false).await;
            plane.kueue(&definitions, queues, way != Way::ByArrival).await;
        }
        _ => many(queues, |number| async move { plane.queue(&queue(number), "Gates").await }).await,
    }
    plane.gated_pods(way, count, queues).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let (lifted, watch) = lifted(plane).await;
    let parts = || (cpu(plane.id_of("apiserver")), cpu(plane.id_of("etcd")));
    let (before, begin) = (parts(), instant());
    let meed = (way == Way::Gates).then(|| Meed::run(plane, &[]));
    if way != Way::Gates {
        tokio::task::block_in_place(|| plane.part("start", "kueue"));
    }
    let process = meed.as_ref().map_or_else(|| plane.id_of("kueue"), Meed::id);
    let (mut known, mut since) = (0, instant());
    while known < count {
        tokio::time::sleep(Duration::from_millis(50)).await;
        let (now, ..) = lifted.get();
        if now > known {
            (known, since) = (now, instant());
        }
        assert!(!watch.is_finished(), "the watch that counts has ended");
        if since.elapsed() > STUCK {
            let log = std::fs::read_to_string(plane.state().join("kueue.log"));
            let log = meed.as_ref().map_or_else(|| log.unwrap_or_default(), Meed::log);
            panic!("{way:?} stands still at {known} of {count}: {log}");
        }
    }
    let (after, own, memory) = (parts(), cpu(process), peak(process));
    watch.abort();
    let (_, first, last) = lifted.get();
    let since = |at: Option<Instant>| (at.expect("gates were taken away") - begin).as_secs_f64();
    if let Some(meed) = meed {
        meed.end().await;
    }
    Figures {
        pods: count,
        first: since(first),
        last: since(last),
        own,
        server: after.0 - before.0,
        etcd: after.1 - before.1,
        memory,
    }
}

fn table(rows: &[(Way, Figures)]) -> String {
    let columns = [
        "",
        "pods",
        "gates/s, first to last",
        "ratio",
        "first after",
        "CPU s per 1,000 pods: its own",
        "API server",
        "etcd",
        "peak MiB",
    ];
    let rate = |one: &Figures| (one.pods - 1) as f64 / (one.last - one.first).max(1e-9);
    let cells = rows.iter().map(|(way, one)| {
        let each = |seconds: f64| format!("{:.2}", seconds * 1000.0 / one.pods as f64);
        vec![
            way.name().to_owned(),
            one.pods.to_string(),
            format!("{:.0}", rate(one)),
            format!("{:.2}", rate(&rows[0].1) / rate(one)),
            format!("{:.1} s", one.first),
            each(one.own),
            each(one.server),
            each(one.etcd),
            format!("{:.0}", one.memory),
        ]
    });
    markdown(&columns, cells)
}

#[test]
fn gates_are_taken_from_all_pods() {
    let sizes = Sizes::told();
    let mut ways = vec![Way::Gates];
    match peer() {
        Some(_) => ways.extend([Way::Unbounded, Way::ByArrival, Way::Shipped]),
        None => say("left out: Kueue is not built here (cargo xtask kubernetes admits builds it)"),
    }
    let mut rows = Vec::new();
    for way in ways {
        let pods = if way == Way::Shipped { sizes.pods.min(SHIPPED) } else { sizes.pods };
        let like = [("CP_KUEUE_QPS", if way == Way::Shipped { "50" } else { "5000" })];
        let found = &mut rows;
        with_plane_like(&like, &[], async |plane| {
            let figures = measure(&plane, way, Sizes { pods, ..sizes }).await;
            say(&format!("{way:?} {figures:?}"));
            found.push((way, figures));
        });
    }
    if !rows.is_empty() {
        let Sizes { nodes, queues, .. } = sizes;
        let head = format!("{queues} queues, {nodes} nodes (load {})", load());
        say(&format!("\n{head}\n{}", table(&rows)));
    }
}
