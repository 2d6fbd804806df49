//! Pods that keep others away, want them near, or share the ports of a node: where Meed places by
//! itself beside kube-scheduler.

use std::collections::BTreeSet;

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
