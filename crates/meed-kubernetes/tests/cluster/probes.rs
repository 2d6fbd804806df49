//! Probes and metrics of a leader and of who stands by; the manifests around them.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::cluster::{LONG_TERM, Meed};
use crate::plane::{listed, manifest, manifests, until, with_plane};

/// Where it listens, by its own words.
async fn address(meed: &Meed) -> String {
    let told = |log: &str| {
        let (line, _) = log.split_once("listens on ")?.1.split_once('\n')?;
        Some(line.to_owned())
    };
    until("it listens", 30, async || told(&meed.log()).is_some()).await;
    told(&meed.log()).expect("an address")
}

/// Status and body of an answer.
fn get(address: &str, request: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).expect("it is reached");
    stream.set_read_timeout(Some(Duration::from_secs(5))).expect("a time limit");
    let request = format!("{request} HTTP/1.1\r\nHost: meed\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("it is asked");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("it answers");
    let (head, body) = text.split_once("\r\n\r\n").expect("a head and a body");
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
    (status, body.to_owned())
}

/// A sample's value.
fn value(page: &str, sample: &str) -> Option<f64> {
    page.lines().find_map(|line| line.strip_prefix(sample)?.strip_prefix(' ')?.parse().ok())
}

#[test]
fn leaders_and_standbys_answer_probes_and_count() {
    with_plane(&["kwok"], async |plane| {
        plane.nodes(2).await;
        let more = ["--checkpoint-seconds=1", "--listen=127.0.0.1:0"];
        let mut first = Meed::with(&plane, LONG_TERM, &more);
        let leader = address(&first).await;
        until("it leads without a queue", 30, async || {
            get(&leader, "GET /readyz") == (200, "leads; there is no Queue yet\n".to_owned())
        })
        .await;
        plane.queue("alpha", "Binds").await;
        first.decides().await;
        let second = Meed::with(&plane, LONG_TERM, &more);
        let standby = address(&second).await;
        assert_eq!(get(&leader, "GET /readyz"), (200, "leads\n".to_owned()));
        assert_eq!(get(&leader, "GET /healthz"), (200, "alive\n".to_owned()));
        assert_eq!(get(&standby, "GET /healthz"), (200, "alive\n".to_owned()));
        assert_eq!(get(&standby, "GET /readyz"), (200, "stands by\n".to_owned()));
        assert_eq!(get(&leader, "GET /").0, 404);
        assert_eq!(get(&leader, "POST /metrics").0, 405);

        plane.submit("alpha", "a", 6, "4", "").await;
        let of = |name: &str| format!("{name}{{queue=\"alpha\"}}");
        let of_cpu = |name: &str| format!("{name}{{queue=\"alpha\",resource=\"cpu\"}}");
        let mut page = String::new();
        until("the figures are those of the cluster", 30, async || {
            page = get(&leader, "GET /metrics").1;
            value(&page, &of("meed_queue_running_tasks")) == Some(4.0)
                && value(&page, &of_cpu("meed_queue_usage_resource_seconds_total"))
                    .is_some_and(|usage| usage > 16.0)
        })
        .await;
        for (sample, expected) in [
            (of("meed_queue_waiting_tasks"), 2.0),
            (of_cpu("meed_queue_allocated"), 16.0),
            (of_cpu("meed_queue_entitled"), 16.0),
            ("meed_capacity{resource=\"cpu\"}".to_owned(), 16.0),
            ("meed_allocated{resource=\"cpu\"}".to_owned(), 16.0),
            ("meed_starts_total".to_owned(), 4.0),
            ("meed_kubernetes_leader".to_owned(), 1.0),
            ("meed_kubernetes_epoch".to_owned(), 1.0),
            ("meed_kubernetes_writes_total{result=\"done\"}".to_owned(), 4.0),
            ("meed_kubernetes_writes_total{result=\"conflict\"}".to_owned(), 0.0),
        ] {
            assert_eq!(value(&page, &sample), Some(expected), "{sample} in\n{page}");
        }
        for name in [of_cpu("meed_queue_balance_resource_seconds"), "meed_decisions_total".into()] {
            assert!(value(&page, &name).is_some(), "{name} in\n{page}");
        }
        let page = get(&standby, "GET /metrics").1;
        assert_eq!(value(&page, "meed_kubernetes_leader"), Some(0.0));
        assert!(!page.contains("alpha"), "a standby knows no queues");
        first.end().await;
        until("the other leads", 30, async || {
            get(&standby, "GET /readyz") == (200, "leads\n".to_owned())
        })
        .await;
        let page = get(&standby, "GET /metrics").1;
        assert_eq!(value(&page, "meed_kubernetes_epoch"), Some(2.0));
        second.end().await;
    });
}

/// Whoever applies the folder applies all of it, and the API server takes it; the probes ask where
/// the program listens.
#[test]
fn all_manifests_are_listed_and_taken() {
    let files = |folder: &str| -> Vec<String> {
        let names = std::fs::read_dir(manifests().join(folder)).expect("the folder").flatten();
        let name = |entry: std::fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
        names.map(|entry| format!("{folder}{}", name(entry))).collect()
    };
    let mut there: BTreeSet<String> = files("").into_iter().collect();
    assert!(there.remove("kustomization.yaml") && there.remove("chart"));
    // For those who have Prometheus' operator and Grafana: applied by hand.
    assert!(there.remove("monitoring"));
    there.extend(files("chart/objects/"));
    assert_eq!(listed().into_iter().collect::<BTreeSet<_>>(), there);
    let made = &manifest("deployment.yaml")[0];
    let container = &made["spec"]["template"]["spec"]["containers"][0];
    let port = container["ports"][0]["containerPort"].as_u64().expect("a port");
    let args = container["args"].as_array().expect("arguments");
    let listens = format!("--listen=0.0.0.0:{port}");
    assert!(args.iter().any(|arg| arg.as_str() == Some(&listens)), "{listens}");
    for (probe, path) in [("livenessProbe", "/healthz"), ("readinessProbe", "/readyz")] {
        assert_eq!(container[probe]["httpGet"]["path"], path);
        assert_eq!(container[probe]["httpGet"]["port"], container["ports"][0]["name"]);
    }
    with_plane(&[], async |plane| {
        for name in
            ["deployment.yaml", "chart/objects/disruption.yaml", "chart/objects/network.yaml"]
        {
            plane.apply(&manifest(name)[0]).await;
        }
    });
}
