use super::*;
use crate::crd::QueueObject;

const KUEUE: &str = r#"
apiVersion: v1
kind: List
items:
- apiVersion: kueue.x-k8s.io/v1beta2
  kind: Cohort
  metadata: {name: org}
  spec: {fairSharing: {weight: "2"}}
- {apiVersion: kueue.x-k8s.io/v1beta2, kind: Cohort, metadata: {name: lab}, spec: {parentName: org}}
- {apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: spot}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: team.a}
spec:
  cohortName: lab
  namespaceSelector: {}
  queueingStrategy: StrictFIFO
  fairSharing: {weight: 500m}
  preemption: {reclaimWithinCohort: Any}
  resourceGroups:
  - coveredResources: [cpu, memory, nvidia.com/gpu]
    flavors:
    - name: spot
      resources:
      - {name: cpu, nominalQuota: 40, borrowingLimit: 10}
      - {name: memory, nominalQuota: 36Gi}
      - {name: nvidia.com/gpu, nominalQuota: 4, borrowingLimit: 0, lendingLimit: 2}
    - name: on-demand
      resources:
      - {name: cpu, nominalQuota: 1500m, borrowingLimit: 500m}
      - {name: memory, nominalQuota: 4Gi, borrowingLimit: 1Gi}
---
# Of v1beta1, without an object for its cohort.
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: b}
spec: {cohort: other, stopPolicy: Hold, namespaceSelector: {}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: alone}
spec:
  namespaceSelector: {matchLabels: {team: c}}
  resourceGroups: [{flavors: [{name: x, resources: [{name: cpu, nominalQuota: 8}]}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: main, namespace: one}
spec: {clusterQueue: team.a, fairSharing: {weight: 3}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: main, namespace: two}
spec: {clusterQueue: alone, stopPolicy: HoldAndDrain}
"#;

fn queues(yaml: &str) -> BTreeMap<String, QueueObjectSpec> {
    let all: Vec<QueueObject> = serde_saphyr::from_multiple(yaml).unwrap();
    all.into_iter().map(|one| (one.metadata.name.unwrap(), one.spec)).collect()
}

fn spec(json: serde_json::Value) -> QueueObjectSpec {
    serde_json::from_value(json).unwrap()
}

#[test]
fn queues_of_kueue_become_queues_and_what_is_left_out_is_named() {
    use serde_json::json;
    let yaml = import(KUEUE, None).unwrap();
    let made = queues(&yaml);
    let namespace = |name: &str| json!({ "matchLabels": { NAMESPACE: name } });
    let expected = [
        ("org", json!({ "weight": 2.0 })),
        ("lab", json!({ "parent": "org" })),
        ("other", json!({})),
        (
            "team-a",
            json!({ "parent": "lab", "weight": 0.5,
                "min": { "cpu": "41500m", "memory": "40Gi", "nvidia.com/gpu": 4 },
                "max": { "cpu": 52, "nvidia.com/gpu": 4 } }),
        ),
        ("b", json!({ "parent": "other", "stop": true })),
        ("alone", json!({ "min": { "cpu": 8 }, "max": { "cpu": 8 } })),
        (
            "main",
            json!({ "parent": "team-a", "weight": 3.0, "namespaceSelector": namespace("one") }),
        ),
        (
            "two-main",
            json!({ "parent": "alone", "stop": true, "namespaceSelector": namespace("two") }),
        ),
    ];
    let expected: BTreeMap<String, QueueObjectSpec> =
        expected.into_iter().map(|(name, json)| (name.to_owned(), spec(json))).collect();
    assert_eq!(made, expected);
    for remark in [
        "# ClusterQueue team.a: is called team-a here",
        "# ClusterQueue team.a: StrictFIFO",
        "# ClusterQueue team.a: preemption",
        "# ClusterQueue team.a: nvidia.com/gpu: lendingLimit",
        "# ClusterQueue team.a: cpu: 2 flavors",
        "# ClusterQueue alone: its namespaceSelector",
        "# LocalQueue two/main: is called two-main",
        "# LocalQueue two/main: HoldAndDrain",
        "# 1 of kind ResourceFlavor: left out",
        "# start Meed with --resources nvidia.com/gpu",
    ] {
        assert_eq!(yaml.matches(remark).count(), 1, "{remark}:\n{yaml}");
    }
    assert_eq!(yaml.matches("\n# ").count() + 1, 11, "no other remark:\n{yaml}");
    // A Queue comes after the one above it.
    let at = |name: &str| yaml.find(&format!("{{name: \"{name}\"}}")).unwrap();
    assert!(at("org") < at("lab") && at("lab") < at("team-a") && at("team-a") < at("main"));
}

#[test]
fn the_difference_names_each_key_and_what_is_there_is_not_changed() {
    let yaml = import(KUEUE, None).unwrap();
    let same = import(KUEUE, Some(&yaml)).unwrap();
    assert!(same.lines().all(|line| line.starts_with('#')), "{same}");
    let other =
        yaml.replace("weight: 3.0", "weight: 1.0").replace("{name: \"b\"}", "{name: \"c\"}");
    let difference = import(KUEUE, Some(&other)).unwrap();
    let lines: Vec<&str> = difference.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(lines.len(), 3, "{difference}");
    assert!(lines[0].starts_with("+ b: ") && lines[0].contains("stop true"), "{difference}");
    assert_eq!(lines[1], "~ main: weight 1.0 -> 3.0");
    assert_eq!(lines[2], "- c: not in what was read; it stays");
}

#[test]
fn what_cannot_be_read_is_said_with_its_place() {
    let queue = |spec: &str| format!("kind: ClusterQueue\nmetadata: {{name: q}}\nspec: {spec}\n");
    let cohort = |name: &str, parent: &str| {
        format!("kind: Cohort\nmetadata: {{name: {name}}}\nspec: {{parentName: {parent}}}\n")
    };
    let quota =
        "{resourceGroups: [{flavors: [{name: f, resources: [{name: cpu, nominalQuota: x}]}]}]}";
    for (text, part) in [
        (queue(quota), "ClusterQueue q: flavor `f`: cpu: quantity `x`"),
        (queue("{fairSharing: {weight: heavy}}"), "ClusterQueue q: weight: quantity `heavy`"),
        (
            "kind: LocalQueue\nmetadata: {name: l}\nspec: {clusterQueue: q}".into(),
            "ClusterQueue `q`",
        ),
        (format!("{}---\n{}", cohort("a", "b"), cohort("b", "a")), "cohorts go round: a, b"),
        ("{".into(), "no YAML of objects"),
    ] {
        let why = import(&text, None).unwrap_err().to_string();
        assert!(why.contains(part), "{why}");
    }
    assert_eq!(import("", None).unwrap(), "");
}
