//! Meed beside kube-scheduler on one API server: the same nodes, the same pods, one after the
//! other. `cargo xtask kubernetes speed` runs this at full size; as a test it is small, and says
//! that every way places every pod and overfills no node.
//!
//! | way | what runs |
//! |---|---|
//! | kube-scheduler | it alone, without Meed's policies; it writes an event for each pod |
//! | Binds | Meed places and binds |
//! | Binds, with events | the same with `--bound-events`: an event for each pod |
//! | Gates | Meed takes gates away, kube-scheduler places |
//! | Gates, kept | the same with `--keep-managed-fields` |
//! | Pins | as Gates, and the pod is held to the node that Meed chose |
//!
//! Pods wait before the scheduler starts. When each is bound is told by a watch of metadata that
//! costs the API server the same for every pod and way. What processes use is read from /proc, from
//! before the scheduler starts until it has nothing more to do: events are written behind. The
//! limit of kube-scheduler's client is 5,000 requests a second (`scheduler.yaml`).

use std::time::{Duration, Instant};

use futures::{FutureExt as _, StreamExt as _};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::api::{ListParams, PartialObjectMeta, WatchParams};
use kube::{Api, ResourceExt as _};
use serde_json::json;
use tokio::task::JoinHandle;

use crate::cluster::Meed;
use crate::counted::Counted;
use crate::plane::{Plane, instant, say, with_plane};
use crate::weigh::{Asked, cpu, load, markdown, peak};

/// How much is measured: `nodes=1000 pods=5000,30000 rounds=1`.
const SIZES: &str = "MEED_SPEED";

/// Queues, each with a namespace of its own.
const QUEUES: usize = 10;
/// When nothing was bound for so long, a way has failed.
const STUCK: Duration = Duration::from_secs(90);

struct Sizes {
    nodes: usize,
    pods: Vec<usize>,
    rounds: usize,
}

impl Sizes {
    fn told() -> Sizes {
        let asked = Asked::of(SIZES);
        Sizes {
            nodes: asked.one("nodes", 8),
            pods: asked.all("pods", 60),
            rounds: asked.one("rounds", 1),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    Scheduler,
    Binds,
    BindsAndTells,
    Gates,
    KeptGates,
    Pins,
}

impl Way {
    const ALL: [Way; 6] =
        [Way::Scheduler, Way::Binds, Way::BindsAndTells, Way::Gates, Way::KeptGates, Way::Pins];

    fn name(self) -> &'static str {
        match self {
            Way::Scheduler => "kube-scheduler",
            Way::Binds => "Binds",
            Way::BindsAndTells => "Binds, with events",
            Way::Gates => "Gates",
            Way::KeptGates => "Gates, kept",
            Way::Pins => "Pins",
        }
    }

    fn mode(self) -> &'static str {
        match self {
            Way::Gates | Way::KeptGates => "Gates",
            Way::Pins => "Pins",
            _ => "Binds",
        }
    }

    /// Whether kube-scheduler places what Meed lets go.
    fn lets_go(self) -> bool {
        matches!(self, Way::Gates | Way::KeptGates | Way::Pins)
    }

    /// What Meed is started with besides.
    fn flags(self) -> &'static [&'static str] {
        match self {
            Way::BindsAndTells => &["--bound-events"],
            Way::KeptGates => &["--keep-managed-fields"],
            _ => &[],
        }
    }

    /// Labels and scheduler of the pods of a queue.
    fn pod(self, queue: &str) -> (serde_json::Value, &'static str) {
        match self {
            // A label as long as the others' have.
            Way::Scheduler => (json!({ "load.dev/queue": queue }), "default-scheduler"),
            _ if self.lets_go() => (json!({ "meed.dev/queue": queue }), "default-scheduler"),
            _ => (json!({ "meed.dev/queue": queue }), "meed"),
        }
    }
}

/// What was measured of one way.
#[derive(Clone, Copy, Debug)]
struct Figures {
    pods: usize,
    /// Seconds from the start of the process to the first bind, and to the last.
    first: f64,
    last: f64,
    /// Seconds of CPU.
    meed: Option<f64>,
    scheduler: Option<f64>,
    server: f64,
    etcd: f64,
    /// MiB: of Meed, or of kube-scheduler where it is alone.
    memory: f64,
    events: usize,
}

impl Figures {
    fn rate(&self) -> f64 {
        (self.pods - 1) as f64 / (self.last - self.first).max(1e-9)
    }

    fn rate_from_start(&self) -> f64 {
        self.pods as f64 / self.last
    }

    /// Seconds of CPU of all.
    fn all(&self) -> f64 {
        self.meed.unwrap_or(0.0) + self.scheduler.unwrap_or(0.0) + self.server + self.etcd
    }

    /// Milliseconds of CPU for each pod, as seconds for 1,000.
    fn each(&self, seconds: f64) -> f64 {
        seconds * 1000.0 / self.pods as f64
    }
}

fn queue(number: usize) -> String {
    format!("load-{}", number % QUEUES)
}

fn namespaces() -> Vec<String> {
    (0..QUEUES).map(queue).collect()
}

/// When pods were bound.
async fn bound(plane: &Plane) -> (Counted, JoinHandle<()>) {
    let open = |pods: Api<Pod>, at: String| {
        async move {
            let params = WatchParams::default().fields("spec.nodeName!=");
            pods.watch_metadata(&params, &at).await.expect("a watch begins").boxed()
        }
        .boxed()
    };
    // Whoever comes into such a watch has a node.
    Counted::watch(plane, open, |_: &PartialObjectMeta<Pod>| true).await
}

/// Ends what a measurement started.
struct Processes<'p> {
    plane: &'p Plane,
    scheduler: bool,
    meed: Option<Meed>,
}

impl Processes<'_> {
    /// CPU of Meed and of kube-scheduler.
    fn cpu(&self) -> (Option<f64>, Option<f64>) {
        let scheduler = self.scheduler.then(|| cpu(self.plane.id_of("scheduler")));
        (self.meed.as_ref().map(|meed| cpu(meed.id())), scheduler)
    }

    /// Nothing more is to be written: for a second neither used anything, and no event came.
    async fn are_done(&self) {
        let sum = || self.cpu().0.unwrap_or(0.0) + self.cpu().1.unwrap_or(0.0);
        let (begin, mut before) = (instant(), (sum(), self.plane.events().await));
        loop {
            tokio::time::sleep(Duration::from_secs(1)).await;
            let now = (sum(), self.plane.events().await);
            let is_quiet = now.0 - before.0 < 0.03 && now.1 == before.1;
            if is_quiet || begin.elapsed() > Duration::from_secs(120) {
                return;
            }
            before = now;
        }
    }
}

async fn measure(plane: &Plane, way: Way, count: usize) -> Figures {
    let place = |number: usize| {
        let queue = queue(number);
        let (labels, scheduler) = way.pod(&queue);
        (queue, labels, scheduler)
    };
    plane.many_pods(count, place).await;
    let mut runs = Processes { plane, scheduler: way.lets_go(), meed: None };
    if runs.scheduler {
        tokio::task::block_in_place(|| plane.part("start", "scheduler"));
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    let (bound, watch) = bound(plane).await;
    let parts = || (cpu(plane.id_of("apiserver")), cpu(plane.id_of("etcd")));
    let (parts_before, own_before) = (parts(), runs.cpu());
    let begin = instant();
    if way == Way::Scheduler {
        runs.scheduler = true;
        tokio::task::block_in_place(|| plane.part("start", "scheduler"));
    } else {
        runs.meed = Some(Meed::run(plane, way.flags()));
    }
    let (mut known, mut since) = (0, instant());
    while known < count {
        tokio::time::sleep(Duration::from_millis(50)).await;
        let (now, ..) = bound.get();
        if now > known {
            (known, since) = (now, instant());
        }
        if since.elapsed() > STUCK {
            let (bound, over) = (plane.none_is_overfull().await, watch.is_finished());
            let log = runs.meed.as_ref().map(Meed::log).unwrap_or_default();
            let counts =
                format!("{known} of {count} seen, {bound} bound, the count is over: {over}");
            panic!("{way:?} stands still: {counts}: {log}");
        }
    }
    runs.are_done().await;
    let (parts, own) = (parts(), runs.cpu());
    watch.abort();
    let (_, first, last) = bound.get();
    let after = |at: Option<Instant>| (at.expect("pods were bound") - begin).as_secs_f64();
    let used = |now: Option<f64>, then: Option<f64>| now.map(|now| now - then.unwrap_or(0.0));
    let heaviest = runs.meed.as_ref().map_or_else(|| plane.id_of("scheduler"), Meed::id);
    let figures = Figures {
        pods: count,
        first: after(first),
        last: after(last),
        meed: used(own.0, own_before.0),
        scheduler: used(own.1, own_before.1),
        server: parts.0 - parts_before.0,
        etcd: parts.1 - parts_before.1,
        memory: peak(heaviest),
        events: plane.events().await,
    };
    if let Some(meed) = runs.meed {
        meed.end().await;
    }
    if runs.scheduler {
        tokio::task::block_in_place(|| plane.part("stop", "scheduler"));
    }
    assert_eq!(plane.none_is_overfull().await, count, "{way:?}");
    figures
}

/// Everything of a measurement goes: the next one finds what this one found.
async fn clear(plane: &Plane) {
    plane.clear(&namespaces()).await;
    let own = "meed-system";
    let maps: Api<ConfigMap> = Api::namespaced(plane.admin.clone(), own);
    let list = maps.list_metadata(&ListParams::default()).await.expect("a list");
    for map in list.items.iter().filter(|map| map.name_any().starts_with("meed-ledger")) {
        maps.delete(&map.name_any(), &Default::default()).await.expect("it is deleted");
    }
    let leases: Api<Lease> = Api::namespaced(plane.admin.clone(), own);
    // Only Meed makes one.
    drop(leases.delete("meed", &Default::default()).await);
}

fn median(mut all: Vec<Figures>) -> Figures {
    all.sort_by(|a, b| a.rate().total_cmp(&b.rate()));
    all[all.len() / 2]
}

/// Two ratios to kube-scheduler: of pods a second, and of CPU for a pod, where more is better, too.
/// The second says more where others use the machine.
fn table(rows: &[(Way, Figures)]) -> String {
    let columns = [
        "",
        "pods/s, first bind to last",
        "ratio",
        "by CPU",
        "pods/s from the start",
        "first bind after",
        "CPU s per 1,000 pods: Meed",
        "kube-scheduler",
        "API server",
        "etcd",
        "peak MiB",
        "events",
    ];
    let base = rows.iter().find(|(way, _)| *way == Way::Scheduler).map_or(rows[0].1, |row| row.1);
    let cells = rows.iter().map(|(way, one)| {
        let own = |used: Option<f64>| {
            used.map_or_else(|| "-".to_owned(), |used| format!("{:.2}", one.each(used)))
        };
        vec![
            way.name().to_owned(),
            format!("{:.0}", one.rate()),
            format!("{:.2}", one.rate() / base.rate()),
            format!("{:.2}", base.each(base.all()) / one.each(one.all())),
            format!("{:.0}", one.rate_from_start()),
            format!("{:.1} s", one.first),
            own(one.meed),
            own(one.scheduler),
            format!("{:.2}", one.each(one.server)),
            format!("{:.2}", one.each(one.etcd)),
            format!("{:.0}", one.memory),
            one.events.to_string(),
        ]
    });
    markdown(&columns, cells)
}

#[test]
fn every_way_places_all_pods() {
    let sizes = Sizes::told();
    with_plane(&[], async |plane| {
        plane.unequal_nodes(sizes.nodes).await;
        let mut mode = "";
        for &count in &sizes.pods {
            let mut found: Vec<(Way, Figures)> = Vec::new();
            for round in 0..sizes.rounds {
                for step in 0..Way::ALL.len() {
                    let way = Way::ALL[(step + round) % Way::ALL.len()];
                    plane.policies(way != Way::Scheduler).await;
                    if way != Way::Scheduler && std::mem::replace(&mut mode, way.mode()) != mode {
                        for name in namespaces() {
                            plane.queue(&name, way.mode()).await;
                        }
                    }
                    for name in namespaces() {
                        plane.namespace(&name, json!({})).await;
                    }
                    let figures = measure(&plane, way, count).await;
                    let is_told = match way {
                        // kube-scheduler writes behind: one of the way before may be late.
                        Way::Binds => figures.events < count.div_ceil(10),
                        Way::BindsAndTells => figures.events >= count,
                        // kube-scheduler drops events where too many wait.
                        _ => figures.events > 0,
                    };
                    assert!(is_told, "{way:?}: {} events for {count} pods", figures.events);
                    found.push((way, figures));
                    say(&format!("{count} pods, round {round}: {way:?} {figures:?}"));
                    clear(&plane).await;
                }
            }
            let of = |way: Way| {
                let all = found.iter().filter(|(one, _)| *one == way).map(|(_, figures)| *figures);
                (way, median(all.collect()))
            };
            let text = table(&Way::ALL.map(of));
            say(&format!("\n{count} pods, {} nodes (load {})\n{text}", sizes.nodes, load()));
        }
    });
}
