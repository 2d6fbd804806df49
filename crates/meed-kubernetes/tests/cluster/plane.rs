//! A control plane of its own for a test: started, given the shipped manifests, and ended.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use kube::api::{DynamicObject, Patch, PatchParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Api, Client, Config};
use serde_json::{Value, json};
use tempfile::TempDir;

/// With this variable missing binaries are a failure; where it is `later`, all of this is left out.
const REQUIRED: &str = "MEED_CONTROL_PLANE";

pub(crate) struct Plane {
    state: TempDir,
    /// Variables of the script.
    like: Vec<(String, String)>,
    pub(crate) admin: Client,
}

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("control-plane/control-plane.sh")
}

/// The manifests of `kustomization.yaml`, in its order.
pub(crate) fn listed() -> Vec<String> {
    let [list]: [Value; 1] = manifest("kustomization.yaml").try_into().expect("one object");
    let names = list["resources"].as_array().expect("a list").iter();
    names.map(|name| name.as_str().expect("a name").to_owned()).collect()
}

/// The folder of the manifests.
pub(crate) fn manifests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/kubernetes")
}

/// The objects of a manifest.
pub(crate) fn manifest(name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(manifests().join(name)).expect("a manifest");
    serde_saphyr::from_multiple(&text).expect("YAML")
}

/// The folder of the programs that the control plane is made of; where it was built.
pub(crate) fn programs() -> PathBuf {
    let told = call(&["bin"], None).stdout;
    PathBuf::from(String::from_utf8_lossy(&told).trim())
}

/// The folder of Kueue and of the definitions of its kinds; where it was built.
pub(crate) fn peer() -> Option<PathBuf> {
    let told = call(&["peer"], None);
    let path = String::from_utf8_lossy(&told.stdout).trim().to_owned();
    told.status.success().then(|| PathBuf::from(path))
}

fn call(arguments: &[&str], state: Option<&Path>) -> Output {
    let mut command = Command::new(script());
    command.args(arguments);
    if let Some(state) = state {
        command.env("CP_STATE", state);
    }
    command.output().expect("bash runs")
}

/// Runs a test against a control plane, or says aloud that there is none.
pub(crate) fn with_plane<F: Future<Output = ()>>(parts: &[&str], test: impl FnOnce(Plane) -> F) {
    with_plane_like(&[], parts, test);
}

/// The same, of a control plane with these variables of the script.
pub(crate) fn with_plane_like<F: Future<Output = ()>>(
    like: &[(&str, &str)],
    parts: &[&str],
    test: impl FnOnce(Plane) -> F,
) {
    with_bare_plane_like(like, parts, async |plane| {
        plane.install().await;
        test(plane).await;
    });
}

/// The same, without anything of Meed in it.
pub(crate) fn with_bare_plane<F: Future<Output = ()>>(
    parts: &[&str],
    test: impl FnOnce(Plane) -> F,
) {
    with_bare_plane_like(&[], parts, test);
}

fn with_bare_plane_like<F: Future<Output = ()>>(
    like: &[(&str, &str)],
    parts: &[&str],
    test: impl FnOnce(Plane) -> F,
) {
    if std::env::var_os(REQUIRED).is_some_and(|value| value == "later") {
        say("skipped: cargo xtask kubernetes runs this");
        return;
    }
    let found = call(&["bin"], None);
    if !found.status.success() {
        let why = String::from_utf8_lossy(&found.stderr).into_owned();
        assert!(std::env::var_os(REQUIRED).is_none(), "{REQUIRED} is set, and {why}");
        say("skipped: no control plane (cargo xtask kubernetes builds it)");
        return;
    }
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let runtime = builder.worker_threads(2).enable_all().build().expect("a runtime starts");
    runtime.block_on(async {
        let plane = Plane::start(like, parts).await;
        test(plane).await;
    });
}

#[expect(clippy::print_stderr, reason = "who runs the tests must see what they left out")]
pub(crate) fn say(text: &str) {
    eprintln!("{text}");
}

/// Now, for waiting.
#[expect(clippy::disallowed_methods, reason = "a test of a live system waits")]
pub(crate) fn instant() -> Instant {
    Instant::now()
}

impl Plane {
    async fn start(like: &[(&str, &str)], parts: &[&str]) -> Plane {
        let state = tempfile::tempdir().expect("a folder for the control plane");
        let mut command = Command::new(script());
        command.arg("start").args(parts).env("CP_STATE", state.path());
        let started = command.envs(like.iter().copied()).output().expect("bash runs");
        let log = String::from_utf8_lossy(&started.stderr).into_owned();
        assert!(started.status.success(), "the control plane starts: {log}");
        let admin = client(&state.path().join("admin.kubeconfig")).await;
        let owned = |&(key, value): &(&str, &str)| (key.to_owned(), value.to_owned());
        Plane { state, like: like.iter().map(owned).collect(), admin }
    }

    pub(crate) fn state(&self) -> &Path {
        self.state.path()
    }

    pub(crate) fn kubeconfig(&self, who: &str) -> PathBuf {
        self.state.path().join(format!("{who}.kubeconfig"))
    }

    /// The port of a part: `etcd`, `api`.
    pub(crate) fn port(&self, part: &str) -> u16 {
        let ports = std::fs::read_to_string(self.state().join("ports")).expect("ports");
        let mut ports = ports.split_whitespace().filter_map(|port| port.split_once('='));
        let found = ports.find(|(name, _)| *name == part).expect("it has a port");
        found.1.parse().expect("a number")
    }

    /// The kubeconfig of a user, changed, under another name.
    pub(crate) fn kubeconfig_like(&self, who: &str, name: &str, change: impl FnOnce(&mut Value)) {
        let text = std::fs::read_to_string(self.kubeconfig(who)).expect("a kubeconfig");
        let mut config: Value = serde_json::from_str(&text).expect("JSON");
        change(&mut config["clusters"][0]["cluster"]);
        std::fs::write(self.kubeconfig(name), config.to_string()).expect("it is written");
    }

    /// A client of another user.
    pub(crate) async fn client_of(&self, who: &str) -> Client {
        client(&self.kubeconfig(who)).await
    }

    /// All manifests that are shipped, but the Deployment: nobody runs pods here.
    async fn install(&self) {
        let left_out = ["deployment.yaml", "disruption.yaml", "network.yaml"];
        for name in listed().iter().filter(|name| !left_out.iter().any(|out| name.ends_with(out))) {
            for object in manifest(name) {
                self.apply(&object).await;
            }
        }
        // The kind is served, and the policies are in force, a moment later.
        let queues = self.api("meed.dev/v1alpha1", "Queue", None);
        until("the kind Queue is served", 30, async || {
            queues.list(&Default::default()).await.is_ok()
        })
        .await;
        self.until_pods_are_held(true).await;
    }

    /// Waits until the policies are in force, or are not any more.
    async fn until_pods_are_held(&self, wanted: bool) {
        let held = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": { "name": "probe", "namespace": "default",
                "labels": { "meed.dev/queue": "probe" } },
            "spec": { "containers": [{ "name": "c", "image": "none" }] },
        });
        let pods = self.api("v1", "Pod", Some("default"));
        until("pods are held, or not", 30, async || {
            let probe: DynamicObject = serde_json::from_value(held.clone()).expect("a pod");
            let made = pods.create(&Default::default(), &probe).await.expect("a pod is made");
            let is_held = !made.data["spec"]["schedulingGates"].is_null();
            let now = kube::api::DeleteParams::default().grace_period(0);
            pods.delete("probe", &now).await.expect("it is deleted");
            is_held == wanted
        })
        .await;
    }

    /// Puts the admission policies in force, or takes them out of it: a cluster without Meed.
    pub(crate) async fn policies(&self, in_force: bool) {
        for name in ["chart/objects/fence.yaml", "chart/objects/gates.yaml"] {
            for object in manifest(name) {
                let text = |key: &str| object[key].as_str().expect("an object says what it is");
                let (version, kind) = (text("apiVersion"), text("kind"));
                if in_force {
                    self.apply(&object).await;
                } else if kind.ends_with("PolicyBinding") {
                    let name = object["metadata"]["name"].as_str().expect("and has a name");
                    let api = self.api(version, kind, None);
                    // It may be gone already.
                    drop(api.delete(name, &Default::default()).await);
                }
            }
        }
        self.until_pods_are_held(in_force).await;
    }

    /// Server-side apply.
    pub(crate) async fn apply(&self, object: &Value) {
        let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
        let kind = text("/kind").expect("an object has a kind");
        let version = text("/apiVersion").expect("and a version");
        let api = self.api(version, kind, text("/metadata/namespace"));
        let name = text("/metadata/name").expect("and a name");
        let force = PatchParams::apply("test").force();
        let applied = api.patch(name, &force, &Patch::Apply(object)).await;
        applied.unwrap_or_else(|why| panic!("{kind} {name}: {why}"));
    }

    /// Objects of a kind, as data.
    pub(crate) fn api(
        &self,
        version: &str,
        kind: &str,
        namespace: Option<&str>,
    ) -> Api<DynamicObject> {
        api(&self.admin, version, kind, namespace)
    }

    /// Starts or ends a part.
    pub(crate) fn part(&self, verb: &str, part: &str) {
        let mut command = Command::new(script());
        command.args([verb, part]).env("CP_STATE", self.state.path());
        let done = command.envs(self.like.iter().cloned()).output().expect("bash runs");
        let log = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{verb} {part}: {log}");
    }

    /// The process of a part.
    pub(crate) fn id_of(&self, part: &str) -> u32 {
        let file = std::fs::read_to_string(self.state().join(format!("{part}.pid")));
        let file = file.expect("a part that runs has its id in a file");
        let id = file.split_whitespace().next().expect("the id stands first");
        id.parse().expect("a number")
    }

    /// Sends a signal to a part.
    pub(crate) fn signal(&self, name: &str, part: &str) {
        let id = self.id_of(part).to_string();
        let sent = Command::new("kill").args([&format!("-{name}"), &id]).status();
        assert!(sent.expect("kill runs").success(), "{part}");
    }
}

impl Drop for Plane {
    fn drop(&mut self) {
        call(&["stop"], Some(self.state.path()));
    }
}

pub(crate) fn api(
    client: &Client,
    version: &str,
    kind: &str,
    namespace: Option<&str>,
) -> Api<DynamicObject> {
    let (group, version) = version.split_once('/').unwrap_or(("", version));
    let mut resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
    let plurals = BTreeMap::from([
        ("ValidatingAdmissionPolicy", "validatingadmissionpolicies"),
        ("MutatingAdmissionPolicy", "mutatingadmissionpolicies"),
        ("NetworkPolicy", "networkpolicies"),
    ]);
    if let Some(plural) = plurals.get(kind) {
        resource.plural = (*plural).to_owned();
    }
    match namespace {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, &resource),
        None => Api::all_with(client.clone(), &resource),
    }
}

async fn client(path: &Path) -> Client {
    let kubeconfig = Kubeconfig::read_from(path).expect("a kubeconfig");
    let options = KubeConfigOptions::default();
    let config = Config::from_custom_kubeconfig(kubeconfig, &options).await.expect("it is right");
    Client::try_from(config).expect("a client")
}

/// Waits until something holds.
pub(crate) async fn until(what: &str, seconds: u64, mut holds: impl AsyncFnMut() -> bool) {
    let begin = instant();
    while !holds().await {
        assert!(begin.elapsed() < Duration::from_secs(seconds), "not within {seconds} s: {what}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Reads a part of an object.
pub(crate) fn part<T: for<'de> serde::Deserialize<'de>>(
    object: &DynamicObject,
    pointer: &str,
) -> Option<T> {
    let whole = serde_json::to_value(object).ok()?;
    T::deserialize(whole.pointer(pointer)?).ok()
}
