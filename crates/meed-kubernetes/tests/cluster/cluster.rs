//! What the tests make in a cluster, and Meed itself.

use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Command};

use futures::{StreamExt as _, stream};
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::{DeleteParams, ListParams, PostParams};
use meed_kubernetes::crd::QueueObject;
use serde_json::{Value, json};

use crate::plane::{Plane, until};

/// Memory for ever, and nothing charged ahead: pods here are shorter than the usual quantum, and
/// the ledger is then what was used, at every instant.
pub(crate) const LONG_TERM: &str = "long-term,quantum=0";

/// The program that is run instead of the one that these tests were built with.
pub(crate) const PROGRAM: &str = "MEED_KUBERNETES_PROGRAM";

/// A process of Meed, with the rights of the shipped role.
pub(crate) struct Meed {
    child: Child,
    log: PathBuf,
}

impl Meed {
    pub(crate) fn start(plane: &Plane, policy: &str) -> Meed {
        Meed::with(plane, policy, &["--checkpoint-seconds=1"])
    }

    pub(crate) fn with(plane: &Plane, policy: &str, more: &[&str]) -> Meed {
        Meed::of(plane, "meed", (policy, more), &[])
    }

    /// The same, as the user of this kubeconfig, with these variables.
    pub(crate) fn of(
        plane: &Plane,
        who: &str,
        (policy, more): (&str, &[&str]),
        variables: &[(&str, &str)],
    ) -> Meed {
        let arguments = [&["--status-seconds=1", "--policy", policy], more].concat();
        Meed::begin(plane, who, &arguments, variables)
    }

    /// With these arguments and no others.
    pub(crate) fn run(plane: &Plane, arguments: &[&str]) -> Meed {
        Meed::begin(plane, "meed", arguments, &[])
    }

    /// Whoever measures names the program that was built as released.
    fn begin(plane: &Plane, who: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Meed {
        let number = std::fs::read_dir(plane.state()).expect("the state").count();
        let log = plane.state().join(format!("meed-{number}.log"));
        let file = File::create(&log).expect("a log");
        let built = || env!("CARGO_BIN_EXE_meed-kubernetes").into();
        let mut command = Command::new(std::env::var_os(PROGRAM).unwrap_or_else(built));
        command.arg("run").args(arguments);
        command.env("KUBECONFIG", plane.kubeconfig(who)).stderr(file);
        command.envs(variables.iter().copied());
        Meed { child: command.spawn().expect("Meed starts"), log }
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// It leads, and has read the cluster.
    pub(crate) async fn decides(&mut self) {
        let begin = crate::plane::instant();
        while !self.log().contains("and decides") {
            let ended = self.child.try_wait().expect("it can be asked");
            assert!(ended.is_none(), "Meed ended: {}", self.log());
            assert!(begin.elapsed().as_secs() < 60, "Meed does not lead: {}", self.log());
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
    }

    /// The number of the process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args([&format!("-{name}"), &id]).status();
        assert!(sent.expect("kill runs").success());
    }

    /// Ends it as a rollout does; it must end well.
    pub(crate) async fn end(mut self) -> String {
        self.signal("TERM");
        let ended = self.ended(30).await;
        assert!(ended.success(), "{ended}: {}", self.log());
        self.log()
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("it can be asked").is_some()
    }

    pub(crate) async fn ended(&mut self, seconds: u64) -> std::process::ExitStatus {
        let mut ended = None;
        let child = &mut self.child;
        until("the process ends", seconds, async || {
            ended = child.try_wait().expect("it can be asked");
            ended.is_some()
        })
        .await;
        ended.expect("it has ended")
    }
}

impl Drop for Meed {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.child.kill());
        drop(self.child.wait());
        if std::thread::panicking() {
            crate::plane::say(&format!("{}:\n{}", self.log.display(), self.log()));
        }
    }
}

/// What the tests make.
impl Plane {
    pub(crate) fn pods(&self, namespace: &str) -> Api<Pod> {
        Api::namespaced(self.admin.clone(), namespace)
    }

    pub(crate) async fn all_pods(&self, namespace: &str) -> Vec<Pod> {
        self.pods(namespace).list(&ListParams::default()).await.expect("pods are listed").items
    }

    pub(crate) async fn namespace(&self, name: &str, labels: Value) {
        let metadata = json!({ "name": name, "labels": labels });
        self.apply(&json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": metadata })).await;
    }

    /// A queue for the namespace of its name.
    pub(crate) async fn queue(&self, name: &str, mode: &str) {
        self.queue_like(name, json!({ "mode": mode })).await;
    }

    pub(crate) async fn queue_like(&self, name: &str, spec: Value) {
        let mut spec = spec;
        let labels = json!({ "kubernetes.io/metadata.name": name });
        spec["namespaceSelector"] = json!({ "matchLabels": labels });
        self.apply(&json!({
            "apiVersion": "meed.dev/v1alpha1", "kind": "Queue",
            "metadata": { "name": name }, "spec": spec,
        }))
        .await;
        self.namespace(name, json!({})).await;
    }

    pub(crate) async fn read_queue(&self, name: &str) -> QueueObject {
        let queues: Api<QueueObject> = Api::all(self.admin.clone());
        queues.get(name).await.expect("a queue")
    }

    /// Nodes of 8 cores.
    pub(crate) async fn nodes(&self, count: usize) {
        for number in 0..count {
            self.node(&format!("n{number:02}"), "8", json!({}), json!({})).await;
        }
    }

    pub(crate) async fn node(&self, name: &str, cpu: &str, labels: Value, spec: Value) {
        let mut labels = labels;
        labels["kubernetes.io/hostname"] = name.into();
        let has = json!({ "cpu": cpu, "memory": "32Gi", "pods": "110" });
        let node = json!({
            "apiVersion": "v1", "kind": "Node",
            "metadata": {
                "name": name, "labels": labels,
                "annotations": { "kwok.x-k8s.io/node": "fake" },
            },
            "spec": spec,
            "status": { "capacity": has, "allocatable": has },
        });
        let nodes = self.api("v1", "Node", None);
        let node = serde_json::from_value(node).expect("a node");
        nodes.create(&PostParams::default(), &node).await.expect("a node is made");
    }

    /// Pods of one queue, that run for so long.
    pub(crate) async fn submit(
        &self,
        queue: &str,
        names: &str,
        count: usize,
        cpu: &str,
        lasts: &str,
    ) {
        let binds = self.read_queue(queue).await.spec.mode == meed_kubernetes::crd::PlacedBy::Binds;
        let spec = if binds { json!({ "schedulerName": "meed" }) } else { json!({}) };
        let pods = self.pods(queue);
        stream::iter(0..count)
            .map(|number| {
                let pod = pod(&format!("{names}-{number:03}"), queue, cpu, lasts, spec.clone());
                let pods = pods.clone();
                async move { pods.create(&PostParams::default(), &pod).await.expect("a pod") }
            })
            .buffer_unordered(16)
            .for_each(|_| async {})
            .await;
    }

    pub(crate) async fn remove(&self, namespace: &str, name: &str) {
        let now = DeleteParams::default().grace_period(0);
        // A delete whose first answer was lost is repeated by the client, and finds nothing.
        match self.pods(namespace).delete(name, &now).await {
            Err(kube::Error::Api(status)) if status.code == 404 => {}
            done => _ = done.expect("a pod is deleted"),
        }
    }

    /// Reasons of events on a pod.
    pub(crate) async fn reasons(&self, namespace: &str, pod: &str) -> Vec<String> {
        let events: Api<k8s_openapi::api::core::v1::Event> =
            Api::namespaced(self.admin.clone(), namespace);
        let of_pod = ListParams::default().fields(&format!("involvedObject.name={pod}"));
        let list = events.list(&of_pod).await.expect("events are listed");
        list.items.into_iter().filter_map(|event| event.reason).collect()
    }
}

/// A pod; `lasts` empty: it runs until it is deleted.
pub(crate) fn pod(name: &str, queue: &str, cpu: &str, lasts: &str, spec: Value) -> Pod {
    let mut spec = spec;
    let requests = json!({ "cpu": cpu, "memory": "64Mi" });
    spec["containers"] =
        json!([{ "name": "c", "image": "none", "resources": { "requests": requests } }]);
    spec["terminationGracePeriodSeconds"] = 0.into();
    let mut metadata = json!({ "name": name, "labels": { "meed.dev/queue": queue } });
    if !lasts.is_empty() {
        metadata["annotations"] = json!({ "pod-complete.stage.kwok.x-k8s.io/delay": lasts });
    }
    serde_json::from_value(json!({ "metadata": metadata, "spec": spec })).expect("a pod")
}
