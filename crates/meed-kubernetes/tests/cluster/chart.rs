//! The Helm chart: what it renders is what kustomize applies, and a real Helm installs it on a real
//! API server.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::{Value, json};

use crate::plane::{Plane, listed, manifest, manifests, programs, with_plane};

/// What Helm writes, or why it refuses.
fn helm(plane: &Plane, arguments: &[&str]) -> Result<String, String> {
    let mut helm = Command::new(programs().join("helm"));
    for folder in ["HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"] {
        helm.env(folder, plane.state().join("helm"));
    }
    helm.env("KUBECONFIG", plane.kubeconfig("admin"));
    let told = helm.args(arguments).output().expect("Helm runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match told.status.success() {
        true => Ok(text(&told.stdout)),
        false => Err(text(&told.stderr)),
    }
}

fn chart() -> String {
    manifests().join("chart").to_string_lossy().into_owned()
}

/// Objects by kind and name.
fn by_name(objects: impl IntoIterator<Item = Value>) -> BTreeMap<String, Value> {
    let name = |object: &Value| format!("{} {}", object["kind"], object["metadata"]["name"]);
    objects.into_iter().map(|object| (name(&object), even(object))).collect()
}

/// With all numbers written alike: one tool writes 1, the other 1.0.
fn even(value: Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(all) => all.into_iter().map(even).collect(),
        Value::Object(all) => all.into_iter().map(|(key, value)| (key, even(value))).collect(),
        other => other,
    }
}

fn rendered(plane: &Plane, more: &[&str]) -> BTreeMap<String, Value> {
    let text = helm(plane, &[&["template", "meed", &chart()], more].concat()).expect("it renders");
    by_name(serde_saphyr::from_multiple::<Value>(&text).expect("YAML"))
}

#[test]
fn the_chart_renders_what_kustomize_applies() {
    with_plane(&[], async |plane| {
        let mut expected = by_name(listed().iter().flat_map(|name| manifest(name)));
        assert!(expected.remove("\"Namespace\" \"meed-system\"").is_some());
        for object in expected.values_mut() {
            if object["kind"] == "CustomResourceDefinition" {
                object["metadata"]["annotations"] = json!({ "helm.sh/resource-policy": "keep" });
            }
        }
        let made = rendered(&plane, &["--namespace", "meed-system"]);
        assert_eq!(made.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
        for (name, object) in &made {
            assert_eq!(object, &expected[name], "{name}");
        }
        // Elsewhere, and with less.
        let set = ["--namespace", "fair", "--set", "networkPolicy=false,disruptionBudget=false"];
        let other = rendered(&plane, &set);
        assert_eq!(other.len(), made.len() - 2);
        assert!(other.values().all(|object| !object.to_string().contains("meed-system")));
        let set = ["--set", "policy=fair,image.tag=v2,image.repository=r/m,replicas=3"];
        let more = [
            "--set",
            "extraArgs={--resources=cpu}",
            "--set",
            "tolerations[0].key=k",
            "--set",
            "dashboard=",
        ];
        let deployment =
            &rendered(&plane, &[set.as_slice(), &more].concat())["\"Deployment\" \"meed\""];
        let spec = &deployment["spec"]["template"]["spec"];
        let container = &spec["containers"][0];
        assert_eq!(container["image"], "r/m:v2");
        assert_eq!(
            container["args"],
            json!(["run", "--policy=fair", "--listen=0.0.0.0:8080", "--resources=cpu"])
        );
        assert_eq!(
            (&deployment["spec"]["replicas"], &spec["tolerations"][0]["key"]),
            (&json!(3.0), &json!("k"))
        );
        for (wrong, why) in [
            ("replica=3", "'replica'"),
            ("replicas=0", "'/replicas'"),
            ("dashboard=0.0.0.0:80", "'/dashboard'"),
        ] {
            let told = helm(&plane, &["template", "meed", &chart(), "--set", wrong]).unwrap_err();
            assert!(told.contains(why), "{told}");
        }
    });
}

/// Installed beside what is there already, changed, and taken away: queues stay.
#[test]
fn helm_installs_upgrades_and_leaves_the_queues() {
    with_plane(&[], async |plane| {
        plane.queue("alpha", "Gates").await;
        let install = |verb: &str, more: &[&str]| {
            let all = [verb, "meed", &chart(), "--namespace", "meed-system"];
            helm(&plane, &[&all, more].concat()).expect("it is taken")
        };
        // The tests' control plane has the objects of kustomize: those are taken over.
        install("install", &["--take-ownership", "--force-conflicts"]);
        let deployments = plane.api("apps/v1", "Deployment", Some("meed-system"));
        let replicas =
            async || deployments.get("meed").await.unwrap().data["spec"]["replicas"].clone();
        assert_eq!(replicas().await, json!(2));
        install("upgrade", &["--set", "replicas=3"]);
        assert_eq!(replicas().await, json!(3));
        helm(&plane, &["uninstall", "meed", "--namespace", "meed-system"]).expect("it goes");
        assert!(deployments.get_opt("meed").await.unwrap().is_none());
        let queues = plane.api("meed.dev/v1alpha1", "Queue", None);
        assert!(queues.get_opt("alpha").await.unwrap().is_some(), "queues outlive the release");
    });
}
