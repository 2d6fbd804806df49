//! Time limits of tasks: they are told to the engine and to the log, and `run.enforce_limit` stops
//! tasks at them.

use serde_json::{Value, json};

use crate::runs::{self, scenario};

const TEXT: &str = r#"
[cluster]
resources = ["cpu"]
[[cluster.node]]
capacity = { cpu = 4 }
[[queue]]
name = "a"
[[queue]]
name = "b"
[[job]]
queue = "a"
duration = [5, 20]
limit = "10s"
demand = { cpu = 1 }
[[job]]
queue = "a"
[[job.group]]
duration = 30
demand = { cpu = 1 }
[[job.group]]
stage = 1
duration = 30
limit = 12
demand = { cpu = 1 }
[[generator]]
queue = "b"
arrivals = { closed = 1, pause = 1 }
jobs = 3
duration = 8
limit = 6
demand = { cpu = 1 }
"#;

fn log(policy: &str, sets: &[&str]) -> Vec<Value> {
    runs::log(&scenario(TEXT, sets).unwrap(), policy)
}

/// Durations and limit of each group that a log tells of, in order.
fn groups(log: &[Value]) -> Vec<(Value, Value)> {
    let arrivals = log.iter().filter_map(|line| line.get("arrive"));
    let lists = arrivals.flat_map(|arrival| [&arrival["groups"], &arrival["later"]]);
    let groups = lists.filter_map(Value::as_array).flatten();
    groups.map(|group| (group["duration_s"].clone(), group["limit_s"].clone())).collect()
}

fn last_end(log: &[Value]) -> f64 {
    let ends = log.iter().filter(|line| line.get("end").is_some());
    ends.filter_map(|line| line["t"].as_f64()).fold(0.0, f64::max)
}

#[test]
fn a_log_tells_limits_and_nothing_stops_at_them() {
    // Alone, `a` serves its first job first on two cores; its second has one of them from 5 s on.
    for (policy, end) in [("fair", 60.0), ("static", 65.0)] {
        let log = log(policy, &[]);
        let mut told = groups(&log);
        told.sort_by_key(|group| group.0.to_string());
        assert_eq!(
            told,
            [
                (json!([30.0]), Value::Null),
                (json!([30.0]), json!(12.0)),
                (json!([5.0, 20.0]), json!(10.0)),
                (json!([8.0]), json!(6.0)),
                (json!([8.0]), json!(6.0)),
                (json!([8.0]), json!(6.0)),
            ],
            "{policy}"
        );
        assert_eq!(last_end(&log), end, "{policy}");
        let added = log.iter().find_map(|line| line.get("tasks_added")).unwrap();
        assert_eq!(added["groups"][0]["limit_s"], json!(12.0), "{policy}");
    }
}

#[test]
fn tasks_are_stopped_at_their_limits_where_that_is_asked_for() {
    let log = log("fair", &["run.enforce_limit=true"]);
    let mut told = groups(&log);
    told.sort_by_key(|group| group.0.to_string());
    let of_b = (json!([6.0]), json!(6.0));
    let of_a = [
        (json!([12.0]), json!(12.0)),
        (json!([30.0]), Value::Null),
        (json!([5.0, 10.0]), json!(10.0)),
    ];
    assert_eq!(told, [&of_a[..], &[of_b.clone(), of_b.clone(), of_b]].concat());
    assert_eq!(last_end(&log), 42.0);
    let done = log.iter().filter(|line| line["job_end"]["outcome"] == "done").count();
    assert_eq!(done, 5, "jobs end as if done");
}

#[test]
fn a_limit_that_is_none_is_said() {
    for (set, message) in [
        ("job.0.limit=0", "job 0: limit must be above zero"),
        ("job.0.limit=soon", "job 0: limit: \"soon\" is not a duration"),
        ("job.1.limit=1", "gang, same, limit, checkpoint and constraints, or [[job.group]]"),
        ("job.1.checkpoint=1", "gang, same, limit, checkpoint and constraints, or [[job.group]]"),
        ("job.1.group.1.limit=0", "job 1: limit must be above zero"),
        ("generator.0.limit=0", "generator `b-0`: limit must be above zero"),
    ] {
        let why = scenario(TEXT, &[set]).err().expect("it is wrong");
        assert!(why.contains(message), "{set}: {why}");
    }
}
