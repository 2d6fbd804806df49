//! Pods of one tenant in order of their PriorityClass, by queues below its own.

use kube::api::PostParams;
use serde_json::json;

use crate::cluster::{LONG_TERM, Meed, pod};
use crate::plane::{until, with_plane};

#[test]
fn who_has_the_higher_priority_class_starts_first() {
    with_plane(&["kwok"], async |plane| {
        plane.nodes(1).await;
        for (name, value) in [("soon", 1000), ("whenever", -10)] {
            plane
                .apply(&json!({ "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                    "metadata": { "name": name }, "value": value }))
                .await;
        }
        plane.queue_like("team", json!({ "mode": "Binds" })).await;
        let team = json!({ "matchLabels": { "kubernetes.io/metadata.name": "team" } });
        for (name, spec) in [
            ("team-urgent", json!({ "minPriority": 1000, "min": { "cpu": "1M" } })),
            ("team-usual", json!({ "minPriority": -1000 })),
        ] {
            let mut spec = spec;
            (spec["mode"], spec["parent"]) = ("Binds".into(), "team".into());
            spec["namespaceSelector"] = team.clone();
            plane
                .apply(&json!({ "apiVersion": "meed.dev/v1alpha1", "kind": "Queue",
                    "metadata": { "name": name }, "spec": spec }))
                .await;
        }
        let mut meed = Meed::start(&plane, LONG_TERM);
        meed.decides().await;
        let pods = plane.pods("team");
        let make = async |name: &str, class: &str| {
            let spec = json!({ "schedulerName": "meed", "priorityClassName": class });
            let one = pod(name, "team", "8", "2s", spec);
            pods.create(&PostParams::default(), &one).await.expect("a pod");
        };
        make("first", "whenever").await;
        until("it runs", 20, async || plane.ran(&["team"]).await.len() == 1).await;
        for (name, class) in [("low", "whenever"), ("high", "soon"), ("also", "soon")] {
            make(name, class).await;
            // In order of their names' coming, whatever order a watch has.
            tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        }
        until("all have ended", 60, async || {
            plane.ran(&["team"]).await.iter().filter(|ran| ran.ended.is_some()).count() == 4
        })
        .await;
        let mut all: Vec<(i64, String, String)> = plane
            .all_pods("team")
            .await
            .iter()
            .filter_map(|pod| {
                let ran = crate::check::ran(pod)?;
                Some((ran.started, pod.metadata.name.clone()?, ran.queue))
            })
            .collect();
        all.sort();
        let told: Vec<(&str, &str)> =
            all.iter().map(|(_, pod, queue)| (pod.as_str(), queue.as_str())).collect();
        let expected = [
            ("first", "team-usual"),
            ("high", "team-urgent"),
            ("also", "team-urgent"),
            ("low", "team-usual"),
        ];
        assert_eq!(told, expected);
        meed.end().await;
    });
}
