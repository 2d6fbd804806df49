//! Gangs of several groups in scenarios: they start at one instant, and the log says that they are
//! one.

use serde_json::{Value, json};

use crate::runs::{self, scenario};

const TEXT: &str = r#"
[cluster]
resources = ["cpu"]
[[cluster.node]]
capacity = { cpu = 4 }
[[cluster.node]]
capacity = { cpu = 4 }
[[queue]]
name = "a"
[[queue]]
name = "b"
[[job]]
queue = "a"
duration = 10
demand = { cpu = 1 }
[[job]]
queue = "b"
submit = 1
gang = true
[[job.group]]
demand = { cpu = 2 }
duration = 5
[[job.group]]
tasks = 2
demand = { cpu = 3 }
duration = 5
"#;

#[test]
fn all_groups_of_a_job_start_at_one_instant() {
    let log = runs::log(&scenario(&TEXT.replace("cpu = 2", "cpu = 1"), &[]).unwrap(), "fair");
    let starts = |log: &[Value]| -> Vec<(f64, Value)> {
        let all = log.iter().filter(|line| line.get("start").is_some());
        all.map(|line| (line["t"].as_f64().unwrap(), line["start"]["reason"]["gang"].clone()))
            .collect()
    };
    // Beside the one that runs, one of three goes to each node, and the small one to the second.
    let expected = [(0.0, Value::Null), (1.0, json!(3)), (1.0, json!(3)), (1.0, json!(3))];
    assert_eq!(starts(&log), expected);
    let arrivals = log.iter().filter_map(|line| line.get("arrive"));
    let groups: Vec<&Value> = arrivals.flat_map(|it| it["groups"].as_array().unwrap()).collect();
    assert_eq!([&groups[1]["gang"], &groups[2]["gang"]], [&json!("joint"), &json!("joint")]);
}

#[test]
fn what_is_said_of_one_gang_twice_is_told() {
    let wrong = |from: &str, to: &str| scenario(&TEXT.replacen(from, to, 1), &[]).err().unwrap();
    assert!(wrong("gang = true", "gang = 2").contains("gang of a job with groups is true"));
    assert!(wrong("gang = true", "same = \"rack\"").contains("needs gang = true"));
    assert!(wrong("tasks = 2", "tasks = 2\ngang = true").contains("no gang or same of its own"));
}
