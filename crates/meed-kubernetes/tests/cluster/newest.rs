//! What Kubernetes 1.37 brought, and faults that were found on it: native gangs, gates of others,
//! the guard's doors, rules that Binds does not keep, devices by the name of a resource, labels on
//! owners.

use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use kube::api::{Patch, PatchParams, PostParams};
use serde_json::{Value, json};

use crate::check::note;
use crate::cluster::{LONG_TERM, Meed, pod};
use crate::plane::{Plane, say, until, with_plane, with_plane_like};

/// Which Kubernetes the control plane is of: the script's `CP_K8S`.
fn is_newest() -> bool {
    std::env::var_os("CP_K8S").is_none_or(|k8s| k8s.is_empty() || k8s == "k8s")
}

/// Says what the oldest Kubernetes leaves out.
fn is_left_out(what: &str) -> bool {
    if !is_newest() {
        say(&format!("LEFT OUT: {what}: this Kubernetes has none"));
    }
    !is_newest()
}

fn is_gated(pod: &Pod) -> bool {
    let gates = pod.spec.as_ref().and_then(|spec| spec.scheduling_gates.as_ref());
    gates.is_some_and(|gates| !gates.is_empty())
}

fn is_bound(pod: &Pod) -> bool {
    pod.spec.as_ref().is_some_and(|spec| spec.node_name.is_some())
}

impl Plane {
    async fn create(&self, namespace: &str, pod: &Pod) {
        let made = self.pods(namespace).create(&PostParams::default(), pod).await;
        made.expect("a pod is made");
    }

    async fn until_told(&self, namespace: &str, pod: &str, reason: &str) {
        until(&format!("{pod} is told {reason}"), 30, async || {
            self.reasons(namespace, pod).await.contains(&reason.to_owned())
        })
        .await;
    }

    /// POST of a Binding.
    async fn bind_by(&self, path: &str, name: &str, metadata: Value) -> Result<(), String> {
        let mut binding = json!({
            "apiVersion": "v1", "kind": "Binding", "metadata": metadata,
            "target": { "apiVersion": "v1", "kind": "Node", "name": "n00" },
        });
        binding["metadata"]["name"] = name.into();
        let request = http::Request::post(path).header("content-type", "application/json");
        let request = request.body(serde_json::to_vec(&binding).expect("JSON")).expect("a request");
        self.admin.request_text(request).await.map(drop).map_err(|why| why.to_string())
    }
}

/// Two gangs of Kubernetes' own kind, each as large as the only node: one runs, then the other. Of
/// none is a part let go, which would keep the node from both.
#[test]
fn native_gangs_are_let_go_whole() {
    if is_left_out("PodGroups of scheduling.k8s.io/v1beta1") {
        return;
    }
    let gate = "--feature-gates=GenericWorkload=true";
    let serves = format!("{gate} --runtime-config=scheduling.k8s.io/v1beta1=true");
    let like = [("CP_APISERVER_FLAGS", serves.as_str()), ("CP_SCHEDULER_FLAGS", gate)];
    with_plane_like(&like, &["kwok", "scheduler"], async |plane| {
        plane.node("n00", "16", json!({}), json!({})).await;
        let mut meed = Meed::start(&plane, LONG_TERM);
        for queue in ["ga", "gb"] {
            plane.queue(queue, "Gates").await;
            plane
                .apply(&json!({
                    "apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup",
                    "metadata": { "name": "pg", "namespace": queue },
                    "spec": { "schedulingPolicy": { "gang": { "minCount": 8 } } },
                }))
                .await;
        }
        meed.decides().await;
        for number in 0..8 {
            for queue in ["ga", "gb"] {
                let spec = json!({ "schedulingGroup": { "podGroupName": "pg" } });
                let one = pod(&format!("p{number}"), queue, "2", "2s", spec);
                plane.create(queue, &one).await;
            }
        }
        let mut parts = 0;
        until("both have ended", 60, async || {
            let mut ended = 0;
            for queue in ["ga", "gb"] {
                let pods = plane.all_pods(queue).await;
                let let_go = pods.iter().filter(|pod| !is_gated(pod)).count();
                let bound = pods.iter().filter(|pod| is_bound(pod)).count();
                // Gates are taken one by one, within a moment.
                parts = if (1..8).contains(&let_go) && bound == 0 { parts + 1 } else { parts };
                ended += pods.iter().filter_map(crate::check::ended).count();
            }
            ended == 16
        })
        .await;
        assert!(parts < 20, "a part of a gang was let go, {parts} looks of 100 ms long");
        meed.end().await;
        plane.invariants(&["ga", "gb"], 16.0).await;
    });
}

/// A pod whose other gate stands has no turn and is charged nothing; it comes to its queue when
/// that gate goes.
#[test]
fn who_is_held_by_others_is_not_let_go() {
    with_plane(&["kwok", "scheduler"], async |plane| {
        plane.nodes(1).await;
        plane.queue("og", "Gates").await;
        let mut meed = Meed::start(&plane, LONG_TERM);
        meed.decides().await;
        let spec = json!({ "schedulingGates": [{ "name": "z.z/z" }] });
        plane.create("og", &pod("x", "og", "1", "", spec)).await;
        plane.submit("og", "other", 1, "1", "1s").await;
        until("the other has ended", 30, async || {
            plane.ran(&["og"]).await.iter().any(|ran| ran.ended.is_some())
        })
        .await;
        let held = plane.pods("og").get("x").await.expect("it is there");
        assert_eq!(note(&held, "meed.dev/started"), None);
        assert_eq!(held.spec.expect("a spec").scheduling_gates.expect("gates").len(), 2);
        let without = json!({ "spec": { "schedulingGates": [
            { "$patch": "delete", "name": "z.z/z" }] } });
        let patch = Patch::Strategic(without);
        plane.pods("og").patch("x", &PatchParams::default(), &patch).await.expect("it goes");
        until("it runs", 30, async || plane.ran(&["og"]).await.len() == 2).await;
        meed.end().await;
        plane.invariants(&["og"], 8.0).await;
    });
}

/// What stands on a Binding comes onto the pod: by neither path is it Meed's annotations, or
/// another queue's label.
#[test]
fn a_binding_brings_no_charge_and_no_other_queue() {
    with_plane(&["kwok"], async |plane| {
        plane.nodes(1).await;
        for name in ["va", "vb"] {
            plane.queue(name, "Binds").await;
        }
        for name in ["b1", "b2"] {
            let spec = json!({ "schedulerName": "meed" });
            plane.create("va", &pod(name, "va", "1", "", spec)).await;
        }
        let charge = json!({ "annotations": { "meed.dev/started": "1", "meed.dev/charged": "vb",
            "meed.dev/epoch": "1" } });
        let label = json!({ "labels": { "meed.dev/queue": "vb" } });
        let paths = ["/api/v1/namespaces/va/bindings", "/api/v1/namespaces/va/pods/b1/binding"];
        for path in paths {
            for (metadata, why) in [(&charge, "say what was charged"), (&label, "names none")] {
                let refused = plane.bind_by(path, "b1", metadata.clone()).await;
                let refused = refused.expect_err("it is refused");
                assert!(refused.contains(why), "{path}: {refused}");
            }
        }
        let before = plane.pods("va").get("b1").await.expect("it is there");
        assert!(!is_bound(&before), "{before:?}");
        // Other schedulers bind as before.
        let other = json!({ "labels": { "app": "web" } });
        plane.bind_by(paths[0], "b1", other.clone()).await.expect("the older path");
        plane.bind_by("/api/v1/namespaces/va/pods/b2/binding", "b2", other).await.expect("bound");
        for name in ["b1", "b2"] {
            let bound = plane.pods("va").get(name).await.expect("it is there");
            let labels = bound.metadata.labels.expect("labels");
            assert_eq!(labels.get("meed.dev/queue").map(String::as_str), Some("va"));
        }
    });
}

/// What kube-scheduler asks of nodes and Meed does not is told, not overlooked.
#[test]
fn predicates_that_binds_does_not_keep_are_told() {
    if is_left_out("nodes that must declare features or have drivers") {
        return;
    }
    with_plane(&["kwok"], async |plane| {
        plane.nodes(1).await;
        plane.queue("df", "Binds").await;
        let mut meed = Meed::start(&plane, LONG_TERM);
        meed.decides().await;
        let mut restarts = pod("p", "df", "1", "", json!({ "schedulerName": "meed" }));
        let mut spec = serde_json::to_value(&restarts.spec).expect("JSON");
        spec["restartPolicy"] = "Never".into();
        spec["containers"][0]["restartPolicy"] = "Never".into();
        spec["containers"][0]["restartPolicyRules"] = json!([{ "action": "RestartAllContainers",
            "exitCodes": { "operator": "In", "values": [42] } }]);
        restarts.spec = serde_json::from_value(spec).expect("a spec");
        plane.create("df", &restarts).await;
        plane.until_told("df", "p", "NotSupported").await;

        plane
            .apply(&json!({ "apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver",
                "metadata": { "name": "d.example.com" },
                "spec": { "attachRequired": true, "preventPodSchedulingIfMissing": true } }))
            .await;
        let modes = json!(["ReadWriteMany"]);
        plane
            .apply(&json!({ "apiVersion": "v1", "kind": "PersistentVolume",
                "metadata": { "name": "pv" },
                "spec": { "capacity": { "storage": "1Gi" }, "accessModes": modes,
                    "storageClassName": "", "claimRef": { "namespace": "df", "name": "c" },
                    "csi": { "driver": "d.example.com", "volumeHandle": "h" } } }))
            .await;
        plane
            .apply(&json!({ "apiVersion": "v1", "kind": "PersistentVolumeClaim",
                "metadata": { "name": "c", "namespace": "df",
                    "annotations": { "pv.kubernetes.io/bind-completed": "yes" } },
                "spec": { "accessModes": modes, "storageClassName": "", "volumeName": "pv",
                    "resources": { "requests": { "storage": "1Gi" } } } }))
            .await;
        let volume = json!([{ "name": "v", "persistentVolumeClaim": { "claimName": "c" } }]);
        let spec = json!({ "schedulerName": "meed", "volumes": volume });
        plane.create("df", &pod("csi", "df", "1", "", spec)).await;
        plane.until_told("df", "csi", "NotSupported").await;
        meed.end().await;
        assert!(plane.all_pods("df").await.iter().all(|pod| !is_bound(pod)));
    });
}

fn with_gpu(name: &str, queue: &str, spec: Value) -> Pod {
    let mut one = serde_json::to_value(pod(name, queue, "1", "", spec)).expect("JSON");
    let resources = &mut one["spec"]["containers"][0]["resources"];
    resources["requests"]["example.com/gpu"] = "1".into();
    resources["limits"] = json!({ "example.com/gpu": "1" });
    serde_json::from_value(one).expect("a pod")
}

/// Devices by the name of a resource: each node's are counted, a queue's maximum bounds them, and
/// who would have to allocate them says that it does not.
#[test]
fn devices_by_the_name_of_a_resource_are_counted_and_capped() {
    if is_left_out("extended resources by DRA") {
        return;
    }
    with_plane(&["kwok", "scheduler"], async |plane| {
        plane.nodes(2).await;
        plane
            .apply(&json!({ "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass",
                "metadata": { "name": "gpu.example.com" },
                "spec": { "extendedResourceName": "example.com/gpu", "selectors": [{ "cel": {
                    "expression": "device.driver == 'gpu.example.com'" } }] } }))
            .await;
        for node in ["n00", "n01"] {
            let devices = json!([{ "name": "a" }, { "name": "b" }]);
            plane
                .apply(&json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice",
                    "metadata": { "name": format!("{node}-gpu") },
                    "spec": { "driver": "gpu.example.com", "nodeName": node, "devices": devices,
                        "pool": { "name": node, "generation": 1, "resourceSliceCount": 1 } } }))
                .await;
        }
        let max = json!({ "mode": "Gates", "max": { "example.com/gpu": 1 } });
        plane.queue_like("capped", max).await;
        plane.queue("open", "Gates").await;
        plane.queue("binds", "Binds").await;
        let more = ["--resources", "example.com/gpu", "--checkpoint-seconds=1"];
        let mut meed = Meed::with(&plane, LONG_TERM, &more);
        meed.decides().await;
        for number in 0..2 {
            plane.create("capped", &with_gpu(&format!("c{number}"), "capped", json!({}))).await;
        }
        let running = async |queue: &str| {
            plane.all_pods(queue).await.iter().filter(|pod| is_bound(pod)).count()
        };
        until("one of two runs", 30, async || running("capped").await == 1).await;
        for number in 0..4 {
            plane.create("open", &with_gpu(&format!("o{number}"), "open", json!({}))).await;
        }
        until("three devices are left", 30, async || running("open").await == 3).await;
        plane.create("binds", &with_gpu("b", "binds", json!({ "schedulerName": "meed" }))).await;
        plane.until_told("binds", "b", "NotSupported").await;
        tokio::time::sleep(Duration::from_secs(2)).await;
        assert_eq!((running("capped").await, running("open").await), (1, 3));
        let let_go = |pods: Vec<Pod>| pods.iter().filter(|pod| !is_gated(pod)).count();
        assert_eq!(let_go(plane.all_pods("open").await), 3, "nothing is promised twice");
        assert_eq!(let_go(plane.all_pods("capped").await), 1);
        meed.end().await;
    });
}

/// The label in a Job's or Deployment's own metadata is that of its pods.
#[test]
fn a_label_on_the_owner_is_honoured() {
    with_plane(&["kwok", "scheduler", "controllers"], async |plane| {
        plane.nodes(1).await;
        plane.queue("jl", "Gates").await;
        let mut meed = Meed::start(&plane, LONG_TERM);
        meed.decides().await;
        let requests = json!({ "requests": { "cpu": "2", "memory": "64Mi" } });
        let container = json!({ "name": "c", "image": "none", "resources": requests });
        let template = |policy: &str, labels: Value| {
            json!({ "metadata": { "labels": labels },
                "spec": { "restartPolicy": policy, "containers": [container] } })
        };
        let labels = json!({ "meed.dev/queue": "jl" });
        let metadata = |name: &str| json!({ "name": name, "namespace": "jl", "labels": labels });
        plane
            .apply(&json!({ "apiVersion": "batch/v1", "kind": "Job", "metadata": metadata("j"),
                "spec": { "parallelism": 2, "completions": 2,
                    "template": template("Never", json!({})) } }))
            .await;
        let app = json!({ "app": "web" });
        plane
            .apply(&json!({ "apiVersion": "apps/v1", "kind": "Deployment",
                "metadata": metadata("d"), "spec": { "replicas": 2,
                    "selector": { "matchLabels": app }, "template": template("Always", app) } }))
            .await;
        until("four pods run, and are charged", 60, async || plane.ran(&["jl"]).await.len() == 4)
            .await;
        meed.end().await;
        plane.invariants(&["jl"], 8.0).await;
    });
}

impl Plane {
    /// In place of a kubelet: a part of a pod's status.
    async fn told(&self, namespace: &str, name: &str, status: Value) {
        let patch = Patch::Strategic(json!({ "status": status }));
        let pods = self.pods(namespace);
        pods.patch_status(name, &PatchParams::default(), &patch).await.expect("a status");
    }

    /// Likewise: what the pod's container has. Without it the API server takes no resize.
    async fn container_has(&self, namespace: &str, name: &str, has: Value) {
        let container = json!({ "name": "c", "image": "none", "imageID": "", "ready": true,
            "restartCount": 0, "state": { "running": {} }, "allocatedResources": has,
            "resources": { "requests": has } });
        self.told(namespace, name, json!({ "containerStatuses": [container] })).await;
    }

    async fn resize(&self, namespace: &str, name: &str, spec: Value) {
        let patch = Patch::Strategic(json!({ "spec": spec }));
        let (pods, params) = (self.pods(namespace), PatchParams::default());
        pods.patch_subresource("resize", name, &params, &patch).await.expect("a resize");
    }

    async fn until_runs(&self, namespace: &str, name: &str) {
        until(&format!("{name} runs"), 30, async || {
            let pod = self.pods(namespace).get(name).await.expect("it is there");
            pod.status.and_then(|status| status.phase).as_deref() == Some("Running")
        })
        .await;
    }
}

/// A resize that the node has refused holds nothing: one tiny pod closes no node to others.
#[test]
fn a_resize_that_was_refused_closes_no_node() {
    with_plane(&["kwok", "scheduler"], async |plane| {
        plane.node("n00", "16", json!({}), json!({})).await;
        for queue in ["bl1", "bl2"] {
            plane.queue(queue, "Gates").await;
        }
        let mut meed = Meed::start(&plane, LONG_TERM);
        meed.decides().await;
        plane.create("bl1", &pod("tiny", "bl1", "100m", "", json!({}))).await;
        plane.until_runs("bl1", "tiny").await;
        plane.container_has("bl1", "tiny", json!({ "cpu": "100m", "memory": "64Mi" })).await;
        let more = json!({ "requests": { "cpu": "16" } });
        let containers = json!([{ "name": "c", "resources": more }]);
        plane.resize("bl1", "tiny", json!({ "containers": containers })).await;
        let refused = json!([{ "type": "PodResizePending", "status": "True",
            "reason": "Infeasible", "message": "x" }]);
        plane.told("bl1", "tiny", json!({ "conditions": refused })).await;
        plane.submit("bl2", "next", 1, "2", "").await;
        plane.until_runs("bl2", "next-000").await;
        meed.end().await;
    });
}

/// A resize of a whole pod that the kubelet has not done yet holds what it held.
#[test]
fn a_pod_that_is_to_be_smaller_holds_its_room_until_it_is() {
    if is_left_out("nodes that declare features") {
        return;
    }
    with_plane(&["kwok", "scheduler"], async |plane| {
        plane.node("n00", "16", json!({}), json!({})).await;
        let features = json!({ "status": {
            "declaredFeatures": ["InPlacePodLevelResourcesVerticalScaling"] } });
        let nodes = plane.api("v1", "Node", None);
        let patch = Patch::Merge(features);
        nodes.patch_status("n00", &PatchParams::default(), &patch).await.expect("a status");
        for queue in ["ol1", "ol2"] {
            plane.queue(queue, "Gates").await;
        }
        let mut meed = Meed::start(&plane, LONG_TERM);
        meed.decides().await;
        let level = json!({ "resources": { "requests": { "cpu": "14" } } });
        plane.create("ol1", &pod("p", "ol1", "1", "", level)).await;
        plane.until_runs("ol1", "p").await;
        plane.container_has("ol1", "p", json!({ "cpu": "1", "memory": "64Mi" })).await;
        let has = json!({ "cpu": "14", "memory": "64Mi" });
        let status = json!({ "allocatedResources": has, "resources": { "requests": has } });
        plane.told("ol1", "p", status).await;
        plane.resize("ol1", "p", json!({ "resources": { "requests": { "cpu": "2" } } })).await;
        plane.submit("ol2", "next", 4, "2", "").await;
        until("one of them runs", 30, async || plane.ran(&["ol2"]).await.len() == 1).await;
        tokio::time::sleep(Duration::from_secs(3)).await;
        let let_go = plane.all_pods("ol2").await.iter().filter(|pod| !is_gated(pod)).count();
        assert_eq!(let_go, 1, "two cores are free");
        meed.end().await;
    });
}

/// Whoever makes what Meed reads otherwise than Kueue is warned by the API server.
#[test]
fn deadlines_of_jobs_and_labels_that_nobody_reads_are_warned_of() {
    with_plane(&[], async |plane| {
        let kubectl = crate::plane::programs().join("kubectl");
        let job = |queue: &str, deadline: &str| {
            format!(
                "apiVersion: batch/v1\nkind: Job\nmetadata: {{generateName: j-{queue}}}\n\
                 spec:\n  {deadline}\n  template:\n    spec:\n      restartPolicy: Never\n      \
                 containers: [{{name: c, image: none}}]\n"
            )
        };
        let labelled =
            |text: String| text.replace("metadata: {", "metadata: {labels: {meed.dev/queue: q}, ");
        let cron = "apiVersion: batch/v1\nkind: CronJob\nmetadata: {generateName: c-}\nspec:\n  \
                    schedule: '0 0 1 1 *'\n  jobTemplate: {spec: {template: {spec: \
                    {restartPolicy: Never, containers: [{name: c, image: none}]}}}}\n";
        let config = format!("--kubeconfig={}", plane.kubeconfig("admin").display());
        let file = plane.state().join("made.yaml");
        let warned = |text: &str| {
            std::fs::write(&file, text).expect("a file");
            let create = ["create", "--namespace=default", "-f"];
            let mut command = std::process::Command::new(&kubectl);
            let told = command.arg(&config).args(create).arg(&file).output().expect("kubectl runs");
            let said = String::from_utf8_lossy(&told.stderr).into_owned();
            assert!(told.status.success(), "it is made: {said}");
            said
        };
        let late = "activeDeadlineSeconds: 10";
        // Policies are in force a moment after they were made.
        until("a deadline is warned of", 30, async || {
            warned(&labelled(job("late", late))).contains("runs while its pods wait")
        })
        .await;
        until("a label is warned of", 30, async || {
            warned(&labelled(cron.to_owned())).contains("is not that of its pods")
        })
        .await;
        for silent in [labelled(job("plain", "backoffLimit: 0")), job("others", late), cron.into()]
        {
            assert_eq!(warned(&silent), "", "{silent}");
        }
    });
}

/// A Queue that is stopped lets nothing go, says so, and goes on when it may.
#[test]
fn a_queue_that_is_stopped_says_so_and_goes_on_later() {
    with_plane(&["kwok", "scheduler"], async |plane| {
        plane.nodes(1).await;
        plane.queue_like("pa", json!({ "mode": "Gates", "stop": true })).await;
        let mut meed = Meed::start(&plane, LONG_TERM);
        meed.decides().await;
        plane.submit("pa", "p", 2, "2", "1s").await;
        for name in ["p-000", "p-001"] {
            plane.until_told("pa", name, "QueueStopped").await;
        }
        assert!(plane.all_pods("pa").await.iter().all(is_gated));
        plane.queue_like("pa", json!({ "mode": "Gates" })).await;
        until("both run", 30, async || plane.ran(&["pa"]).await.len() == 2).await;
        meed.end().await;
        plane.invariants(&["pa"], 8.0).await;
    });
}
