//! The same scenario, seed and options give the same bytes; sampling and compression change
//! nothing.

use std::fs;

use crate::common::{folder, succeed};

const SCENARIO: &str = r#"
[cluster]
resources = ["cpu", "memory"]
[[cluster.node]]
count = 3
capacity = { cpu = 4, memory = "8GiB" }
[[cluster.node]]
name = "big"
weight = 1.5
capacity = { cpu = 9, memory = "16GiB" }
[policy]
order = "long-term"
[policies.all]
half_life = "40s"
discount = 0.5
newcomer = "early-bird"
t_wait = "5s"
prices = { cpu = 1.0, memory = 1e-9 }
[[queue]]
name = "p"
weight = 2
[[queue]]
name = "p.x"
[[queue]]
name = "p.y"
weight = 0.3
[[queue]]
name = "q"
min = { cpu = 2 }
[[generator]]
queue = "p.x"
jobs = 60
tasks = { uniform = [1.0, 9.0] }
duration = { exponential = 7.0 }
demand = { cpu = 1, memory = "1GiB" }
arrivals = { poisson = "4s" }
[[generator]]
queue = "p.y"
until = "4min"
duration = { lognormal = [6.0, 1.0], max = 60.0 }
demand = { cpu = 2, memory = "512MiB" }
arrivals = { closed = 4, pause = { exponential = 2.0 } }
[[generator]]
queue = "q"
jobs = 15
arrivals = { gaps = { pareto = [5.0, 2.0] } }
[[generator.stage]]
tasks = 6
duration = 5
demand = { cpu = 3 }
[[generator.stage]]
tasks = 2
duration = 9
per = "job"
demand = { memory = "3GiB" }
[run]
fail_rate = 0.05
"#;

const POLICIES: [&str; 9] = [
    "static",
    "fair",
    "fifo",
    "long-term",
    "all",
    "long-term,round=30s,newcomer=average",
    "long-term,quantum=adaptive,quantum_interval=700ms",
    "long-term,discount=0.25,quantum=3s",
    "long-term,half_life=1min,when_blocked=wait",
];

struct Result {
    log: Vec<u8>,
    json: String,
}

fn run(extra: &[&str], log: &str) -> Result {
    let folder = folder();
    fs::write(folder.path().join("s.toml"), SCENARIO).expect("a writable folder");
    let mut args = vec!["simulate", "s.toml", "--quiet", "--log", log, "--json", "out.json"];
    POLICIES.iter().for_each(|policy| args.extend(["--policy", policy]));
    args.extend(extra);
    succeed(folder.path(), &args);
    let mut bytes = Vec::new();
    let mut input =
        meed_workload::Origin::path(folder.path().join(log)).open().expect("the log was written");
    input.reader().read_to_end(&mut bytes).expect("the log is whole");
    Result {
        log: bytes,
        json: fs::read_to_string(folder.path().join("out.json")).expect("written"),
    }
}

#[test]
fn equal_bytes_whatever_is_watched() {
    let plain = run(&[], "log.jsonl");
    assert!(plain.log.len() > 100_000);
    let again = run(&[], "log.jsonl");
    assert!(plain.log == again.log && plain.json == again.json, "twice the same");
    for log in ["log.jsonl.zst", "log.jsonl.gz", "log.jsonl.xz"] {
        assert!(run(&[], log).log == plain.log, "{log}");
    }
    let unsampled = run(&["--series", "0"], "log.jsonl");
    assert!(unsampled.log == plain.log, "sampling changed a decision");
    let strip = |json: &str| {
        let mut json: serde_json::Value = serde_json::from_str(json).expect("JSON");
        for run in json["runs"].as_array_mut().expect("runs") {
            assert!(run["unfinished"] == 0 && run["refused"] == 0, "{}", run["policy"]);
            run["series"] = serde_json::Value::Null;
        }
        json
    };
    assert_eq!(strip(&unsampled.json), strip(&plain.json));
    assert!(run(&["--seed", "0"], "log.jsonl").log == plain.log, "the scenario's own seed is 0");
    assert!(run(&["--seed", "1"], "log.jsonl").log != plain.log, "another seed, other jobs");
}
