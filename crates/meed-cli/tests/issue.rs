//! What the issue and the papers show, as scenarios through the program.

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use common::{folder, succeed};
use serde_json::Value;

/// The lines of the log of each policy's run.
fn logs(path: &Path) -> BTreeMap<String, Vec<Value>> {
    let text = fs::read_to_string(path).expect("the log was written");
    let mut runs: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    let mut policy = String::new();
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).expect("each line is JSON");
        if let Some(run) = line.get("run") {
            policy = run["policy"].as_str().expect("a run names its policy").to_owned();
        }
        runs.entry(policy.clone()).or_default().push(line);
    }
    runs
}

/// Starts of `queue` in each of so many units of `unit_s` seconds.
fn starts(log: &[Value], queue: &str, units: usize, unit_s: f64) -> Vec<u64> {
    let mut counts = vec![0; units];
    for line in log.iter().filter(|line| line["start"]["queue"] == queue) {
        let unit = (line["t"].as_f64().expect("a time") / unit_s) as usize;
        if unit < units {
            counts[unit] += 1;
        }
    }
    counts
}

fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().expect("an object").keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

fn words(text: &str) -> Vec<&str> {
    let mut words: Vec<&str> = text.split_whitespace().collect();
    words.sort_unstable();
    words
}

#[test]
fn the_plain_form_runs_as_it_stands() {
    let form = |submit: &str, kind: &str, amount: &str, capacity: &str| {
        format!(
            "[cluster]\nresources = [\"{kind}\"]\n[[cluster.node]]\ncount = 1\ncapacity = {{ {kind} = {capacity} }}\n\
             [[queue]]\nname = \"a\"\nweight = 1\n[[job]]\nqueue = \"a\"\nsubmit = {submit}\ntasks = 20\n\
             demand = {{ {kind} = {amount} }}\nduration = 1\n[policy]\norder = \"long-term\"\nquantum = 1\n"
        )
    };
    for (submit, kind, amount, capacity, end_s, used) in [
        ("0", "slot", "1", "100", 1.0, 20.0),
        ("\"90s\"", "slot", "1", "100", 91.0, 20.0),
        ("\"3min\"", "slot", "1", "100", 181.0, 20.0),
        ("\"1h\"", "slot", "1", "10", 3602.0, 20.0),
        ("1.5", "memory", "\"4GiB\"", "\"80GiB\"", 2.5, 80.0 * 1_073_741_824.0),
        ("0", "cpu", "\"500m\"", "5", 2.0, 10.0),
    ] {
        let folder = folder();
        fs::write(folder.path().join("s.toml"), form(submit, kind, amount, capacity))
            .expect("a writable folder");
        let json = succeed(folder.path(), &["simulate", "s.toml", "--json", "-", "--quiet"]);
        let json: Value = serde_json::from_str(&json).expect("JSON");
        for run in json["runs"].as_array().expect("runs") {
            assert_eq!(run["end_s"], end_s, "{submit} {kind} {amount}");
            assert_eq!(run["queues"][0]["usage"][kind], used, "{submit} {kind} {amount}");
        }
    }
}

#[test]
fn table_1_of_ics_14() {
    let folder = folder();
    let scenario = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/table1.toml");
    succeed(folder.path(), &["simulate", scenario, "--log", "log.jsonl", "--json", "out.json"]);
    let logs = logs(&folder.path().join("log.jsonl"));
    for (policy, a, b) in [
        ("static", [20, 40, 50, 50, 40], [50, 50, 50, 50, 50]),
        ("fair", [20, 40, 50, 50, 40], [80, 60, 50, 50, 20]),
        ("long-term", [20, 40, 80, 60, 0], [80, 60, 20, 40, 60]),
    ] {
        assert_eq!(starts(&logs[policy], "A", 5, 60.0), a, "{policy}");
        assert_eq!(starts(&logs[policy], "B", 5, 60.0), b, "{policy}");
        let start = logs[policy].iter().find(|line| line.get("start").is_some()).expect("a start");
        assert_eq!(keys(start), ["start", "t"]);
        assert_eq!(keys(&start["start"]), ["job", "node", "queue", "reason", "task"]);
        assert!(!start["start"]["reason"]["levels"].as_array().expect("levels").is_empty());
        let finish = logs[policy].last().expect("an end");
        assert_eq!(finish["finish"]["decisions"], 460, "{policy}");
    }
    let text = fs::read_to_string(folder.path().join("out.json")).expect("written");
    let json: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(keys(&json), words("schema scenario seed assumptions runs"));
    let run = &json["runs"][2];
    let run_keys = "policy measured end_s events decisions refused failed unfinished trace_lines skipped_lines ignored_lines \
                    utilization psi omega jain dominant_psi dominant_omega dominant_jain mean_job_s p50_job_s p99_job_s \
                    mean_wait_s longest_wait_s queues groups series";
    assert_eq!(keys(run), words(run_keys));
    let queue_keys = "queue weight share usage charged rho dominant_rho lent borrowed balance jobs tasks mean_job_s p50_job_s \
                      p99_job_s mean_wait_s longest_wait_s speedup job_s_percentiles";
    assert_eq!(keys(&run["queues"][0]), words(queue_keys));
    assert_eq!(keys(&run["series"]), words("t_s psi omega dominant_psi dominant_omega utilization queues"));
    assert_eq!(
        keys(&run["series"]["queues"][0]),
        words("demand allocation usage rho dominant_rho balance charged quantum_s")
    );
    assert_eq!(run["queues"][0]["usage"]["slot"], 200.0 * 60.0);
    assert_eq!(run["queues"][1]["usage"]["slot"], 260.0 * 60.0);
    assert_eq!(run["queues"][0]["balance"].as_f64(), run["queues"][1]["balance"].as_f64().map(|b| -b));
}

/// TSC'18 Fig. 2: twelve slots, two groups of two.
fn figure_2(t_wait: &str) -> String {
    let mut text = format!(
        "[cluster]\nresources = [\"slot\"]\n[[cluster.node]]\ncapacity = {{ slot = 12 }}\n\
         [policy]\norder = \"long-term\"\nquantum = 1\nt_wait = {t_wait}\n"
    );
    for queue in ["G1", "G1.A", "G1.B", "G2", "G2.C", "G2.D"] {
        text += &format!("[[queue]]\nname = \"{queue}\"\n");
    }
    for (submit, tasks) in [(0, [200, 10, 50, 60]), (27, [20, 60, 40, 80])] {
        for (queue, tasks) in ["G1.A", "G1.B", "G2.C", "G2.D"].iter().zip(tasks) {
            text += &format!(
                "[[job]]\nqueue = \"{queue}\"\nsubmit = {submit}\ntasks = {tasks}\ndemand = {{ slot = 1 }}\nduration = 1\n"
            );
        }
    }
    text
}

#[test]
fn figure_2_of_tsc_18() {
    let served = |t_wait: &str| {
        let folder = folder();
        fs::write(folder.path().join("s.toml"), figure_2(t_wait)).expect("a writable folder");
        succeed(
            folder.path(),
            &["simulate", "s.toml", "--policy", "long-term", "--log", "l.jsonl", "--quiet"],
        );
        starts(&logs(&folder.path().join("l.jsonl"))["long-term"], "G1.B", 60, 1.0)
    };
    let naive = served("\"never\"");
    assert_eq!(naive[..4], [3, 3, 3, 1]);
    assert_eq!(naive[27..35], [0; 8], "starved while G2 catches up");
    assert_eq!(naive.iter().sum::<u64>(), 70);
    let at_once = served("0");
    assert_eq!(at_once[27], 12, "it has used least");
    let patient = served("3");
    assert!(patient[27..30].iter().all(|&n| n == 0) && patient[30] > 0, "{patient:?}");
}
