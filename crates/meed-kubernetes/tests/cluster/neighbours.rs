//! Pods that keep others away, want them near, or share the ports of a node: where Meed places by
//! itself beside kube-scheduler.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::Pod;
use kube::api::PostParams;
use serde_json::{Value, json};

use crate::cluster::{LONG_TERM, Meed, pod};
use crate::plane::{Plane, until, with_plane};

const HOST: &str = "kubernetes.io/hostname";

/// A required term about an application.
fn term(app: &str, topology: &str) -> Value {
    json!({ "labelSelector": { "matchLabels": { "app": app } }, "topologyKey": topology })
}

fn required(kind: &str, term: Value) -> Value {
    json!({ "affinity": { kind: { "requiredDuringSchedulingIgnoredDuringExecution": [term] } } })
}

/// Nodes of two zones, with their names as labels.
async fn nodes_of_zones(plane: &Plane, zones: &[&str]) {
    for (number, zone) in zones.iter().enumerate() {
        let name = format!("n{number:02}");
        plane.node(&name, "8", json!({ "zone": zone, HOST: name }), json!({})).await;
    }
}

fn of_app(name: &str, app: &str, cpu: &str, spec: Value) -> Pod {
    let mut made = pod(name, "alpha", cpu, "", spec);
    let labels = made.metadata.labels.get_or_insert_default();
    labels.insert("app".to_owned(), app.to_owned());
    made
}

/// One of nobody's of ours, which kube-scheduler places.
fn stranger(name: &str, spec: Value) -> Pod {
    let mut made = of_app(name, "guard", "1", spec);
    made.metadata.labels.get_or_insert_default().remove("meed.dev/queue");
    made
}

async fn node_of(plane: &Plane, namespace: &str, name: &str) -> Option<String> {
    plane.pods(namespace).get(name).await.expect("a pod").spec?.node_name
}

/// A stranger's required anti-affinity, by zone, in other namespaces, by keys of labels: our pods
/// go elsewhere, and those for which nothing is left wait and say why.
#[test]
fn meed_keeps_away_from_strangers_that_ask_for_it() {
    with_plane(&["kwok", "scheduler"], async |plane| {
        nodes_of_zones(&plane, &["a", "a", "b"]).await;
        plane.queue("alpha", "Binds").await;
        plane.namespace("alpha", json!({ "team": "red" })).await;
        let mut meed = Meed::start(&plane, LONG_TERM);
        meed.decides().await;
        let default = plane.pods("default");
        // In zone b, against `web` of all namespaces of the team, and of the guard's own version
        // only: the API server writes the version into the selector.
        let mut against = term("web", "zone");
        against["namespaceSelector"] = json!({ "matchLabels": { "team": "red" } });
        against["matchLabelKeys"] = json!(["version"]);
        let mut spec = required("podAntiAffinity", against);
        spec["nodeSelector"] = json!({ "zone": "b" });
        let mut guard = stranger("guard", spec);
        guard.metadata.labels.get_or_insert_default().insert("version".into(), "1".into());
        default.create(&PostParams::default(), &guard).await.unwrap();
        until("the guard runs", 20, async || node_of(&plane, "default", "guard").await.is_some())
            .await;
        let pods = plane.pods("alpha");
        let make = async |name: &str, app: &str, version: &str, selector: Value| {
            let spec = json!({ "schedulerName": "meed", "nodeSelector": selector });
            let mut one = of_app(name, app, "1", spec);
            let labels = one.metadata.labels.get_or_insert_default();
            labels.insert("version".into(), version.into());
            pods.create(&PostParams::default(), &one).await.unwrap();
        };
        let only_b = json!({ "zone": "b" });
        make("meant", "web", "1", only_b.clone()).await;
        make("other-app", "db", "1", only_b.clone()).await;
        make("other-version", "web", "2", only_b).await;
        for number in 0..4 {
            make(&format!("free-{number}"), "web", "1", json!({})).await;
        }
        until("six run, and one says why not", 30, async || {
            plane.ran(&["alpha"]).await.len() == 6
                && plane.reasons("alpha", "meant").await.contains(&"KeptAway".to_owned())
        })
        .await;
        assert_eq!(node_of(&plane, "alpha", "meant").await, None);
        for number in 0..4 {
            let node = node_of(&plane, "alpha", &format!("free-{number}")).await;
            assert!(matches!(node.as_deref(), Some("n00" | "n01")), "free-{number} is on {node:?}");
        }
        plane.remove("default", "guard").await;
        until("nobody keeps it away any more", 20, async || {
            node_of(&plane, "alpha", "meant").await.as_deref() == Some("n02")
        })
        .await;
        meed.end().await;
        plane.invariants(&["alpha"], 8.0).await;
        plane.ledger_is_true("alpha", 0.0).await;
    });
}

/// Our own pods' required affinity, anti-affinity and host ports, many at once, through a change
/// of leaders; kube-scheduler, asked to add one more of each, finds what we find.
#[test]
fn meed_places_pods_apart_together_and_by_their_ports() {
    with_plane(&["kwok", "scheduler"], async |plane| {
        nodes_of_zones(&plane, &["a", "a", "b", "b"]).await;
        plane.queue("alpha", "Binds").await;
        let pods = plane.pods("alpha");
        let make = async |name: &str, app: &str, spec: Value, port: Option<u16>| {
            let mut spec = spec;
            spec["schedulerName"] = "meed".into();
            let mut one = of_app(name, app, "1", spec);
            if let Some(port) = port {
                let ports = json!([{ "containerPort": 80, "hostPort": port }]);
                let container = &mut one.spec.as_mut().unwrap().containers[0];
                container.ports = serde_json::from_value(ports).unwrap();
            }
            pods.create(&PostParams::default(), &one).await.unwrap();
        };
        let mut meed = Meed::start(&plane, LONG_TERM);
        meed.decides().await;
        let apart = required("podAntiAffinity", term("apart", HOST));
        for number in 0..6 {
            make(&format!("apart-{number}"), "apart", apart.clone(), None).await;
        }
        for number in 0..6 {
            make(&format!("port-{number}"), "port", json!({}), Some(8080)).await;
        }
        until("four of each run", 30, async || plane.ran(&["alpha"]).await.len() == 8).await;
        meed.end().await;
        let mut meed = Meed::start(&plane, LONG_TERM);
        meed.decides().await;
        for number in 0..4 {
            let together = required("podAffinity", term("together", "zone"));
            make(&format!("together-{number}"), "together", together, None).await;
        }
        let nowhere = required("podAffinity", term("nobody", "zone"));
        make("nowhere", "lost", nowhere, None).await;
        until("those of one zone run", 30, async || plane.ran(&["alpha"]).await.len() == 12).await;
        let nodes = async |names: &str| {
            let all = plane.all_pods("alpha").await;
            let ours = all.into_iter().filter(|pod| {
                pod.metadata.name.as_ref().is_some_and(|name| name.starts_with(names))
            });
            ours.filter_map(|pod| pod.spec?.node_name).collect::<Vec<String>>()
        };
        for names in ["apart", "port"] {
            let nodes = nodes(names).await;
            let distinct: BTreeSet<&String> = nodes.iter().collect();
            assert_eq!((nodes.len(), distinct.len()), (4, 4), "{names}: {nodes:?}");
        }
        let zone = |node: &String| matches!(node.as_str(), "n00" | "n01");
        let zones: BTreeSet<bool> = nodes("together").await.iter().map(zone).collect();
        assert_eq!(zones.len(), 1, "they are in one zone");
        for name in ["apart-4", "apart-5", "port-4", "port-5", "nowhere"] {
            let is_waiting = node_of(&plane, "alpha", name).await.is_none();
            let number = name.ends_with(['4', '5']);
            assert!(is_waiting || number, "{name} waits");
        }
        until("it says why", 10, async || {
            plane.reasons("alpha", "nowhere").await.contains(&"KeptAway".to_owned())
        })
        .await;
        // kube-scheduler places none of ours' like beside them either.
        plane.namespace("peer", json!({})).await;
        let mut rival = stranger(
            "rival",
            required("podAntiAffinity", {
                let mut all = term("apart", HOST);
                all["namespaces"] = json!(["alpha"]);
                all
            }),
        );
        rival.metadata.name = Some("rival".to_owned());
        plane.pods("peer").create(&PostParams::default(), &rival).await.unwrap();
        tokio::time::sleep(std::time::Duration::from_secs(3)).await;
        assert_eq!(node_of(&plane, "peer", "rival").await, None, "there is one on every node");
        meed.end().await;
        plane.no_node_is_overfull(8.0).await;
        plane.ledger_is_true("alpha", 0.0).await;
    });
}

/// A constraint on the spread over zones, of pods of an application.
fn spread(app: &str, places: u32) -> Value {
    let one = json!({ "maxSkew": 1, "topologyKey": "zone", "minDomains": places,
        "whenUnsatisfiable": "DoNotSchedule", "labelSelector": { "matchLabels": { "app": app } } });
    json!({ "topologySpreadConstraints": [one] })
}

/// Many at once are spread over all zones; where a zone is all there may be, as many run as
/// kube-scheduler lets run of the same pods, and the others say why they wait.
#[test]
fn meed_spreads_pods_over_zones() {
    with_plane(&["kwok", "scheduler"], async |plane| {
        nodes_of_zones(&plane, &["a", "a", "b", "c"]).await;
        plane.queue("alpha", "Binds").await;
        let mut meed = Meed::start(&plane, LONG_TERM);
        meed.decides().await;
        let pods = plane.pods("alpha");
        let params = PostParams::default();
        for number in 0..12 {
            let mut spec = spread("web", 1);
            spec["schedulerName"] = "meed".into();
            let one = of_app(&format!("web-{number}"), "web", "1", spec);
            pods.create(&params, &one).await.unwrap();
        }
        until("all run", 30, async || plane.ran(&["alpha"]).await.len() == 12).await;
        let mut zones = BTreeMap::new();
        for number in 0..12 {
            let node = node_of(&plane, "alpha", &format!("web-{number}")).await.unwrap();
            let zone = if matches!(node.as_str(), "n00" | "n01") { "a".to_owned() } else { node };
            *zones.entry(zone).or_insert(0) += 1;
        }
        assert_eq!(zones.into_values().collect::<Vec<_>>(), [4, 4, 4]);
        // One zone of the three that are asked for: the least is 0, and one may run.
        let mut narrow = spread("narrow", 3);
        narrow["nodeSelector"] = json!({ "zone": "a" });
        for number in 0..3 {
            let name = format!("narrow-{number}");
            let mut rival = of_app(&name, "narrow", "1", narrow.clone());
            rival.metadata.labels.get_or_insert_default().remove("meed.dev/queue");
            plane.pods("default").create(&params, &rival).await.unwrap();
            let mut ours = narrow.clone();
            ours["schedulerName"] = "meed".into();
            pods.create(&params, &of_app(&name, "narrow", "1", ours)).await.unwrap();
        }
        let run = async |namespace: &str| {
            let all = plane.all_pods(namespace).await;
            let runs = |pod: &&Pod| {
                let name = pod.metadata.name.as_deref().unwrap_or_default();
                name.starts_with("narrow") && pod.spec.as_ref().unwrap().node_name.is_some()
            };
            all.iter().filter(runs).count()
        };
        until("one of each runs", 30, async || {
            (run("alpha").await, run("default").await) == (1, 1)
        })
        .await;
        tokio::time::sleep(std::time::Duration::from_secs(3)).await;
        assert_eq!((run("alpha").await, run("default").await), (1, 1));
        until("the others say why", 10, async || {
            let mut told = 0;
            for number in 0..3 {
                let reasons = plane.reasons("alpha", &format!("narrow-{number}")).await;
                told += usize::from(reasons.contains(&"KeptAway".to_owned()));
            }
            told == 2
        })
        .await;
        meed.end().await;
        plane.no_node_is_overfull(8.0).await;
        plane.ledger_is_true("alpha", 0.0).await;
    });
}
