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
    let joint = wrong("tasks = 2", "tasks = 2\ngang = \"joint\"");
    assert!(joint.contains("write gang = true in the [[job]]"), "{joint}");
}

/// The groups of one stage are one gang: both stages together would not fit.
#[test]
fn each_stage_is_a_gang_of_its_own() {
    let stages = TEXT.replace("tasks = 2", "tasks = 2\nstage = 1");
    let more = "[[job.group]]\nstage = 1\ndemand = { cpu = 1 }\nduration = 5\n\
        [[job.group]]\nstage = 2\ntasks = 2\ndemand = { cpu = 4 }\nduration = 5\n";
    let text = format!("{stages}{more}").replace("submit = 1", "submit = 20");
    let log = runs::log(&scenario(&text, &[]).unwrap(), "fair");
    let refused = log.iter().any(|line| line.get("refused").is_some());
    assert!(!refused, "{log:?}");
    let starts = log.iter().filter(|line| line["start"]["queue"] == "b");
    let starts: Vec<(f64, Value)> = starts
        .map(|line| (line["t"].as_f64().unwrap(), line["start"]["reason"]["gang"].clone()))
        .collect();
    let (three, two) = ((25.0, json!(3)), (30.0, json!(2)));
    let expected = [(20.0, Value::Null), three.clone(), three.clone(), three, two.clone(), two];
    assert_eq!(starts, expected);
}
