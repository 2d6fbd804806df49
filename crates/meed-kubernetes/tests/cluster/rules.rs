//! What is refused: to tenants, to nodes, to queues, to Meed.

use std::time::Duration;

use kube::Api;
use kube::api::{Patch, PatchParams, PostParams};
use serde_json::{Value, json};

use crate::check::{note, ran};
use crate::cluster::{LONG_TERM, Meed, pod};
use crate::plane::{Plane, api, part, until, with_plane};

/// A tenant with all rights in its own namespace.
async fn tenant(plane: &Plane, namespace: &str) {
    let rule = json!({ "apiGroups": [""], "resources": ["pods", "pods/status", "pods/binding"],
        "verbs": ["*"] });
    let read = json!({ "apiGroups": ["meed.dev"], "resources": ["queues"], "verbs": ["get"] });
    let group = "rbac.authorization.k8s.io";
    let metadata = json!({ "name": "tenant", "namespace": namespace });
    plane
        .apply(&json!({ "apiVersion": format!("{group}/v1"), "kind": "Role",
            "metadata": metadata, "rules": [rule, read] }))
        .await;
    plane
        .apply(&json!({ "apiVersion": format!("{group}/v1"), "kind": "RoleBinding",
            "metadata": metadata,
            "roleRef": { "apiGroup": group, "kind": "Role", "name": "tenant" },
            "subjects": [{ "apiGroup": group, "kind": "User", "name": "tenant" }] }))
        .await;
}

/// A tenant takes another's queue, its own gate, the notes of who is charged: all is refused, by
/// the API server or by Meed, and nothing is charged to the other.
#[test]
fn a_hostile_tenant_gains_nothing() {
    with_plane(&["kwok", "scheduler"], async |plane| {
        plane.nodes(1).await;
        plane.queue("alpha", "Gates").await;
        plane.queue("mallory", "Gates").await;
        tenant(&plane, "mallory").await;
        let mut meed = Meed::start(&plane, LONG_TERM);
        meed.decides().await;
        let client = plane.client_of("tenant").await;
        let pods: Api<k8s_openapi::api::core::v1::Pod> = Api::namespaced(client.clone(), "mallory");
        let post = PostParams::default();

        // Another's queue: it is held, and told why.
        pods.create(&post, &pod("thief", "alpha", "1", "", json!({}))).await.unwrap();
        until("the thief is told", 10, async || {
            plane.reasons("mallory", "thief").await.contains(&"QueueNotAllowed".to_owned())
        })
        .await;

        // Its own pod waits behind one that fills the node; it may not let itself go.
        pods.create(&post, &pod("first", "mallory", "8", "", json!({}))).await.unwrap();
        until("the first runs", 20, async || plane.ran(&["mallory"]).await.len() == 1).await;
        pods.create(&post, &pod("second", "mallory", "8", "", json!({}))).await.unwrap();
        let refuses = async |patch: Value, what: &str| {
            let is_of_status = patch.get("metadata").is_some();
            let patch = Patch::Merge(patch);
            let done = pods.patch("second", &PatchParams::default(), &patch).await;
            let why = done.err().map(|why| why.to_string()).unwrap_or_default();
            assert!(why.contains(what), "expected \"{what}\": {why}");
            // A status is written with labels and annotations, but without a spec.
            if is_of_status {
                let done = pods.patch_status("second", &PatchParams::default(), &patch).await;
                let why = done.err().map(|why| why.to_string()).unwrap_or_default();
                assert!(why.contains(what), "by its status, expected \"{what}\": {why}");
            }
        };
        refuses(json!({ "spec": { "schedulingGates": null } }), "taken away by Meed").await;
        refuses(
            json!({ "metadata": { "labels": { "meed.dev/queue": "alpha" } } }),
            "stays in the queue",
        )
        .await;
        for key in ["epoch", "started", "charged", "node"] {
            let key = format!("meed.dev/{key}");
            let patch = json!({ "metadata": { "annotations": { key: "1" } } });
            refuses(patch, "only Meed writes them").await;
        }
        let mut forged = pod("forged", "mallory", "1", "", json!({}));
        forged.metadata.annotations = Some([("meed.dev/charged".into(), "alpha".into())].into());
        let why = pods.create(&post, &forged).await.unwrap_err().to_string();
        assert!(why.contains("only Meed writes them"), "{why}");
        // What Meed wrote on a pod that runs cannot be taken off either.
        let off = json!({ "metadata": { "annotations": { "meed.dev/charged": null } } });
        let why = pods.patch("first", &PatchParams::default(), &Patch::Merge(off)).await;
        assert!(why.unwrap_err().to_string().contains("only Meed writes them"));

        // Statuses of queues are not its own to write.
        let queues = api(&client, "meed.dev/v1alpha1", "Queue", None);
        let debt = Patch::Merge(json!({ "status": { "usage": 1e9 } }));
        let why = queues.patch_status("alpha", &PatchParams::default(), &debt).await;
        assert!(why.unwrap_err().to_string().contains("forbidden"));

        let wide = "x".repeat(200_000);
        let mut huge = pod("huge", "mallory", "1", "", json!({}));
        huge.metadata.annotations = Some([("noise".into(), wide)].into());
        pods.create(&post, &huge).await.unwrap();
        tokio::time::sleep(Duration::from_secs(2)).await;
        meed.end().await;
        assert_eq!(plane.ran(&["mallory"]).await.len(), 1, "only the first runs");
        let alpha = plane.read_queue("alpha").await.status.unwrap();
        assert_eq!((alpha.charged, alpha.running), (Some(0.0), Some(0)));
        plane.ledger_is_true("mallory", 0.0).await;
    });
}

/// Rules of nodes, strangers on them, and what is not known of a pod: in the mode in which Meed
/// places by itself.
#[test]
fn meed_places_by_the_rules_of_pods_and_nodes() {
    with_plane(&["kwok", "scheduler"], async |plane| {
        plane.node("ssd", "8", json!({ "disk": "ssd" }), json!({})).await;
        let taint = json!({ "key": "gpu", "value": "yes", "effect": "NoSchedule" });
        plane.node("gpu", "8", json!({}), json!({ "taints": [taint] })).await;
        plane.node("shut", "64", json!({}), json!({ "unschedulable": true })).await;
        plane.queue("alpha", "Binds").await;
        // A stranger, placed by kube-scheduler, uses half of the open node.
        let stranger = pod("stranger", "", "4", "", json!({}));
        let mut stranger = stranger;
        stranger.metadata.labels = None;
        let default = plane.pods("default");
        default.create(&PostParams::default(), &stranger).await.unwrap();
        until("the stranger runs", 20, async || {
            let pod = default.get("stranger").await.unwrap();
            pod.spec.unwrap().node_name.as_deref() == Some("ssd")
        })
        .await;
        let mut meed = Meed::start(&plane, LONG_TERM);
        meed.decides().await;
        let pods = plane.pods("alpha");
        let make = async |name: &str, cpu: &str, spec: Value| {
            let mut spec = spec;
            spec["schedulerName"] = "meed".into();
            let one = pod(name, "alpha", cpu, "", spec);
            pods.create(&PostParams::default(), &one).await.unwrap();
        };
        let node_of = async |name: &str| pods.get(name).await.unwrap().spec.unwrap().node_name;
        make("wide", "5", json!({})).await;
        make("narrow", "3", json!({ "nodeSelector": { "disk": "ssd" } })).await;
        make("hdd", "1", json!({ "nodeSelector": { "disk": "hdd" } })).await;
        let tolerates = json!([{ "key": "gpu", "operator": "Exists" }]);
        make("tolerant", "6", json!({ "tolerations": tolerates })).await;
        let nfs = json!([{ "name": "v", "nfs": { "server": "s", "path": "/" } }]);
        make("volume", "1", json!({ "volumes": nfs })).await;
        until("three are settled", 20, async || {
            node_of("narrow").await.is_some()
                && node_of("tolerant").await.is_some()
                && plane.reasons("alpha", "volume").await.contains(&"NotSupported".to_owned())
        })
        .await;
        assert_eq!(node_of("narrow").await.as_deref(), Some("ssd"));
        assert_eq!(node_of("tolerant").await.as_deref(), Some("gpu"));
        for name in ["wide", "hdd", "volume"] {
            assert_eq!(node_of(name).await, None, "{name}");
        }
        // The shut node opens and gets a label: who waited for either goes there.
        let nodes = plane.api("v1", "Node", None);
        let open = json!({ "spec": { "unschedulable": null },
            "metadata": { "labels": { "disk": "hdd" } } });
        nodes.patch("shut", &PatchParams::default(), &Patch::Merge(open)).await.unwrap();
        until("the others run", 20, async || {
            node_of("wide").await.is_some() && node_of("hdd").await.is_some()
        })
        .await;
        assert_eq!(node_of("hdd").await.as_deref(), Some("shut"));
        assert_eq!(node_of("volume").await, None);
        meed.end().await;
        plane.ledger_is_true("alpha", 0.0).await;
    });
}

/// Objects that break rules; a namespace's default; children and their parents; a gate of somebody
/// else.
#[test]
fn queues_and_namespaces() {
    with_plane(&["kwok", "scheduler"], async |plane| {
        plane.nodes(1).await;
        plane.queue("alpha", "Gates").await;
        let queues = plane.api("meed.dev/v1alpha1", "Queue", None);
        for (name, spec, what) in [
            ("a.b", json!({}), "has no dot"),
            ("root", json!({}), "not `root`"),
            ("self", json!({ "parent": "self" }), "not its own parent"),
            ("light", json!({ "weight": 0 }), "from 0.001 to 1000000"),
            ("odd", json!({ "mode": "Both" }), "Unsupported value"),
        ] {
            let object = json!({ "apiVersion": "meed.dev/v1alpha1", "kind": "Queue",
                "metadata": { "name": name }, "spec": spec });
            let object = serde_json::from_value(object).unwrap();
            let why = queues.create(&PostParams::default(), &object).await;
            let why = why.unwrap_err().to_string();
            assert!(why.contains(what), "{name}: {why}");
        }
        for fixed in [json!({ "parent": "beta" }), json!({ "policy": "fair" })] {
            let patch = Patch::Merge(json!({ "spec": fixed }));
            let why = queues.patch("alpha", &PatchParams::default(), &patch).await;
            assert!(why.unwrap_err().to_string().contains("is fixed"));
        }
        let mut meed = Meed::start(&plane, LONG_TERM);
        meed.decides().await;
        // A hundred at once, children before their parents, one without.
        for number in 0..100 {
            let parent = format!("p{:02}", number / 10);
            plane.queue_like(&format!("c{number:02}"), json!({ "parent": parent })).await;
        }
        for number in 0..9 {
            plane.queue_like(&format!("p{number:02}"), json!({ "max": { "cpu": 4 } })).await;
        }
        let accepted = async |name: &str| {
            let all = plane.read_queue(name).await.status.unwrap_or_default().conditions;
            all.iter().any(|one| one.status == "True")
        };
        until("children are accepted", 30, async || accepted("c89").await).await;
        until("the one without a parent is told", 10, async || {
            let orphan = plane.read_queue("c99").await.status.unwrap_or_default().conditions;
            orphan.first().is_some_and(|one| one.message.contains("no Queue `p09`"))
        })
        .await;

        // A namespace's default, and another's gate: it has its turn when that is gone.
        plane.namespace("c00", json!({ "meed.dev/queue": "c00" })).await;
        let pods = plane.pods("c00");
        let gates = json!({ "schedulingGates": [{ "name": "other.example/gate" }] });
        let mut one = pod("one", "", "1", "", gates);
        one.metadata.labels = None;
        let made = async || {
            let made = pods.create(&PostParams::default(), &one).await.unwrap();
            let label = made.metadata.labels.clone().unwrap_or_default();
            let is_held = made.spec.unwrap().scheduling_gates.unwrap_or_default().len() == 2;
            let is_right = label.get("meed.dev/queue").is_some_and(|name| name == "c00") && is_held;
            if !is_right {
                plane.remove("c00", "one").await;
            }
            is_right
        };
        until("the default is in force", 10, made).await;
        tokio::time::sleep(Duration::from_secs(2)).await;
        let held = pods.get("one").await.unwrap();
        assert_eq!(note(&held, "meed.dev/started"), None);
        assert_eq!(held.spec.unwrap().scheduling_gates.unwrap().len(), 2);
        let gone = json!([{ "$patch": "delete", "name": "other.example/gate" }]);
        let others = Patch::Strategic(json!({ "spec": { "schedulingGates": gone } }));
        pods.patch("one", &PatchParams::default(), &others).await.unwrap();
        until("it runs", 20, async || ran(&pods.get("one").await.unwrap()).is_some()).await;

        // Its parent's maximum is 4 cores: of six more, three fit beside it.
        plane.submit("c00", "more", 6, "1", "").await;
        until("four run", 20, async || plane.ran(&["c00"]).await.len() == 4).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(plane.ran(&["c00"]).await.len(), 4);
        // The maximum is raised.
        let raised = Patch::Merge(json!({ "spec": { "max": { "cpu": 6 } } }));
        queues.patch("p00", &PatchParams::default(), &raised).await.unwrap();
        until("six run", 20, async || plane.ran(&["c00"]).await.len() == 6).await;
        meed.end().await;
        plane.ledger_is_true("c00", 0.0).await;
        let printed = queues.get("c00").await.unwrap();
        assert_eq!(part::<u64>(&printed, "/status/waiting"), Some(1));
        assert_eq!(part::<u64>(&printed, "/status/running"), Some(6));
    });
}
