//! Logs run again: to the byte under the recorded policy, played back where decisions are
//! another's, cut short, edited.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::common::{fail, folder, meed, succeed};
use serde_json::Value;

/// Hierarchy, chains, stages, failures, changes of nodes and queues, cancelled and refused jobs,
/// quotas.
const EVERYTHING: &str = r#"
[cluster]
resources = ["cpu", "memory"]
[[cluster.node]]
count = 3
capacity = { cpu = 4, memory = "8GiB" }
[[cluster.node]]
name = "big"
weight = 1.5
capacity = { cpu = 9, memory = "16GiB" }
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
policy = { order = "fair" }
[[queue]]
name = "p.y"
weight = 0.3
max = { cpu = 6 }
[[queue]]
name = "q"
min = { cpu = 2 }
order = "fifo"
[[queue]]
name = "r"
[[generator]]
queue = "p.x"
jobs = 40
weight = 3
tasks = { uniform = [1.0, 9.0] }
duration = { exponential = 7.0 }
demand = { cpu = 1, memory = "1GiB" }
arrivals = { poisson = "4s" }
[[generator]]
queue = "p.y"
until = "2min"
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
[[job]]
queue = "r"
name = "first"
chain = "c"
tasks = 5
duration = [1.25, 2, 3.000001, 4, 5]
demand = { cpu = 0.5 }
[[job]]
queue = "r"
name = "second"
chain = "c"
pause = "7s"
submit = "20s"
duration = 500
demand = { cpu = 8 }
[[job]]
queue = "r"
name = "third"
chain = "c"
pause = "1s"
duration = 3
demand = { cpu = 1 }
[[job]]
queue = "r"
name = "too late"
submit = "130s"
duration = 3
demand = { cpu = 1 }
[[change]]
at = "30s"
node_leaves = "n0-1"
[[change]]
at = "45s"
node_joins = { name = "n0-1", capacity = { cpu = 2, memory = "4GiB" }, weight = 0.5 }
[[change]]
at = "50s"
node_resized = { name = "big", capacity = { cpu = 8, memory = "8GiB" } }
[[change]]
at = "60s"
queue = { name = "p.y", weight = 1.5, max = { cpu = 4 } }
[[change]]
at = "70s"
job_cancelled = "second"
[[change]]
at = "120s"
queue_removed = "r"
[run]
fail_rate = 0.05
seed = 3
"#;

const POLICIES: [&str; 8] = [
    "static",
    "fair",
    "fifo",
    "long-term",
    "all",
    "long-term,round=30s,newcomer=average",
    "long-term,quantum=adaptive,quantum_interval=700ms",
    "long-term,half_life=1min,when_blocked=wait",
];

/// Logs `scenario` under `policies` into `log` and returns its text.
fn record(folder: &Path, scenario: &str, policies: &[&str], log: &str) -> String {
    let mut args = vec!["simulate", scenario, "--quiet", "--log", log];
    policies.iter().for_each(|policy| args.extend(["--policy", policy]));
    succeed(folder, &args);
    let mut text = String::new();
    let mut input =
        meed_workload::Origin::path(folder.join(log)).open().expect("the log was written");
    input.reader().read_to_string(&mut text).expect("the log is text");
    text
}

/// The part of each run of a log.
fn runs(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let parts = lines.chunk_by(|_, next| !next.contains(",\"run\":{\"schema\""));
    parts.map(|part| part.join("\n") + "\n").collect()
}

fn same_bytes(folder: &Path, scenario: &str, policies: &[&str]) {
    let text = record(folder, scenario, policies, "all.jsonl.zst");
    let runs = runs(&text);
    assert_eq!(runs.len(), policies.len());
    for (number, run) in runs.iter().enumerate() {
        let which = (number + 1).to_string();
        succeed(
            folder,
            &["replay", "all.jsonl.zst", "--run", &which, "-q", "--log", "again.jsonl"],
        );
        let again = fs::read_to_string(folder.join("again.jsonl")).expect("it was written");
        assert!(again == *run, "{scenario} under {} is another log", policies[number]);
    }
}

#[test]
fn the_same_bytes_again() {
    let folder = folder();
    fs::write(folder.path().join("everything.toml"), EVERYTHING).expect("a writable folder");
    same_bytes(folder.path(), "everything.toml", &POLICIES);
    let text = fs::read_to_string(folder.path().join("again.jsonl")).expect("it was written");
    for kind in [
        "lost",
        "fail",
        "refuse",
        "stop",
        "node_leaves",
        "queue_changed",
        "job_cancelled",
        "pause_s",
        "not_before_s",
        "later",
        "tasks_added",
        "attempt",
    ] {
        assert!(text.contains(&format!("\"{kind}\":")), "nothing of kind {kind} was tried");
    }
    for example in ["lending", "hierarchy", "table1"] {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../examples/{example}.toml"));
        same_bytes(folder.path(), &path.display().to_string(), &["static", "long-term"]);
    }
}

#[test]
fn the_same_bytes_again_where_grants_are_late() {
    let late = "[run]\nheartbeat = 0.7\nmaster_start = 2\nmaster = { cpu = 0.1 }\n";
    let text = EVERYTHING.replace("[run]\n", late);
    assert_ne!(text, EVERYTHING);
    let folder = folder();
    fs::write(folder.path().join("late.toml"), text).expect("a writable folder");
    same_bytes(folder.path(), "late.toml", &["fair", "long-term", "static"]);
}

#[test]
fn a_real_trace_again() {
    let Some(traces) = std::env::var_os("MEED_TRACES") else { return };
    let trace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(traces).join("swf");
    let folder = folder();
    let trace = trace.join("CTC-SP2-1996-3.1-cln.swf.gz").display().to_string();
    same_bytes(folder.path(), &trace, &["long-term", "static"]);
}

/// A replay makes no second run to tell what reservations would have done.
fn forget_reserve(queue: &mut Value) {
    if let Some(most) = queue.pointer_mut("/overtaken/most").filter(|most| most.is_object()) {
        most["with_reserve"] = Value::Null;
    }
}

#[test]
fn other_policies_as_the_scenario_itself_runs_them() {
    let folder = folder();
    fs::write(folder.path().join("everything.toml"), EVERYTHING).expect("a writable folder");
    let json = |args: &[&str]| -> Value {
        serde_json::from_str(&succeed(
            folder.path(),
            &[args, &["--json", "-", "--series", "0"]].concat(),
        ))
        .expect("JSON")
    };
    // Without closed generators the workload does not depend on the policy: whatever was recorded,
    // the same comes out.
    let open = EVERYTHING.replace(
        "arrivals = { closed = 4, pause = { exponential = 2.0 } }",
        "arrivals = { every = 3 }",
    );
    fs::write(folder.path().join("open.toml"), open).expect("a writable folder");
    let simulated = json(&["simulate", "open.toml", "-p", "fair", "-p", "static", "-p", "all"]);
    for recorded in ["static", "all"] {
        record(folder.path(), "open.toml", &[recorded], "log.jsonl");
        let replayed = json(&["replay", "log.jsonl", "-p", "fair", "-p", "static", "-p", "all"]);
        for run in 0..3 {
            let strip = |run: &Value| {
                let mut run = run.clone();
                // Speed-ups compare with the first static run; without one there are none.
                for queue in run["queues"].as_array_mut().expect("queues") {
                    queue["speedup"] = Value::Null;
                    forget_reserve(queue);
                }
                run
            };
            assert_eq!(
                strip(&replayed["runs"][run + 1]),
                strip(&simulated["runs"][run]),
                "{recorded} {run}"
            );
        }
        let recorded_run = replayed["runs"][0].clone();
        let mut simulated = simulated.clone();
        for run in simulated["runs"].as_array_mut().expect("runs") {
            run["queues"].as_array_mut().expect("queues").iter_mut().for_each(forget_reserve);
        }
        let same = simulated["runs"]
            .as_array()
            .expect("runs")
            .iter()
            .find(|run| run["policy"] == recorded);
        assert_eq!(recorded_run["queues"], same.expect("it ran")["queues"]);
    }
}

#[test]
fn a_chain_keeps_its_pause_under_another_policy() {
    let folder = folder();
    let scenario = "[cluster]\nresources = [\"cpu\"]\n[[cluster.node]]\ncapacity = { cpu = 1 }\n\
        [[queue]]\nname = \"a\"\nweight = 9\n[[queue]]\nname = \"b\"\n\
        [[job]]\nqueue = \"a\"\ntasks = 9\nduration = 10\ndemand = { cpu = 1 }\n\
        [[job]]\nqueue = \"b\"\nchain = \"c\"\nduration = 10\ndemand = { cpu = 1 }\n\
        [[job]]\nqueue = \"b\"\nchain = \"c\"\npause = 7\nduration = 10\ndemand = { cpu = 1 }\n\
        [policy]\nquantum = 10\n";
    fs::write(folder.path().join("s.toml"), scenario).expect("a writable folder");
    record(folder.path(), "s.toml", &["long-term"], "log.jsonl");
    succeed(folder.path(), &["replay", "log.jsonl", "-q", "-p", "fifo", "--log", "fifo.jsonl"]);
    let times = |log: &str, kind: &str| -> Vec<f64> {
        let text = fs::read_to_string(folder.path().join(log)).expect("written");
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        let lines: Vec<Value> = lines.collect();
        let of_b = lines.iter().filter(|line| line["arrive"]["queue"] == "b");
        let jobs: Vec<&Value> = of_b.map(|line| &line["arrive"]["job"]).collect();
        lines
            .iter()
            .filter(|line| jobs.contains(&&line[kind]["job"]))
            .map(|line| line["t"].as_f64().expect("a time"))
            .collect()
    };
    for log in ["log.jsonl", "fifo.jsonl"] {
        assert_eq!(times(log, "arrive")[1], times(log, "job_end")[0] + 7.0, "{log}");
    }
    assert_eq!(
        (times("log.jsonl", "job_end")[0], times("fifo.jsonl", "job_end")[0]),
        (20.0, 100.0)
    );
}

#[test]
fn a_log_cut_short_is_good_up_to_there() {
    let folder = folder();
    fs::write(folder.path().join("everything.toml"), EVERYTHING).expect("a writable folder");
    let text = record(folder.path(), "everything.toml", &["long-term"], "log.jsonl");
    fs::write(folder.path().join("cut.jsonl"), &text[..text.len() / 2]).expect("a writable folder");
    let output = meed(folder.path(), &["replay", "cut.jsonl", "-p", "fair"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stderr).contains("ends in the middle, after line"));
    succeed(folder.path(), &["replay", "cut.jsonl", "--verify"]);
    let zst = record(folder.path(), "everything.toml", &["long-term"], "log.jsonl.gz").len();
    let bytes = fs::read(folder.path().join("log.jsonl.gz")).expect("written");
    fs::write(folder.path().join("cut.jsonl.gz"), &bytes[..bytes.len() / 2])
        .expect("a writable folder");
    assert!(zst > 0 && !succeed(folder.path(), &["replay", "cut.jsonl.gz", "--verify"]).is_empty());
}

#[test]
fn an_edited_log_is_played_back_as_it_stands() {
    let folder = folder();
    let scenario = "[cluster]\nresources = [\"cpu\"]\n[[cluster.node]]\ncapacity = { cpu = 1 }\n\
        [[queue]]\nname = \"a\"\n[[queue]]\nname = \"b\"\n\
        [[job]]\nqueue = \"a\"\nduration = 10\ndemand = { cpu = 1 }\n\
        [[job]]\nqueue = \"b\"\nduration = 10\ndemand = { cpu = 1 }\n";
    fs::write(folder.path().join("s.toml"), scenario).expect("a writable folder");
    let text = record(folder.path(), "s.toml", &["fifo"], "log.jsonl");
    // The other one first.
    let swap = |line: &str| match line.contains("\"start\"")
        || line.contains("\"end\"")
        || line.contains("\"job_end\"")
    {
        true if line.contains("\"job\":0") => {
            line.replace("\"queue\":\"a\",", "\"queue\":\"b\",").replace("\"job\":0", "\"job\":1")
        }
        true => {
            line.replace("\"queue\":\"b\",", "\"queue\":\"a\",").replace("\"job\":1", "\"job\":0")
        }
        false => line.to_owned(),
    };
    let edited: Vec<String> = text.lines().map(swap).collect();
    fs::write(folder.path().join("edited.jsonl"), edited.join("\n")).expect("a writable folder");
    let words = fail(folder.path(), &["replay", "edited.jsonl", "--verify"], 3);
    assert!(words.contains("edited.jsonl:4: differs"), "{words}");
    let json: Value = serde_json::from_str(&succeed(
        folder.path(),
        &["replay", "edited.jsonl", "-p", "fifo", "--json", "-"],
    ))
    .expect("JSON");
    let waits = |run: usize| -> Vec<f64> {
        let queues = json["runs"][run]["queues"].as_array().expect("queues");
        queues.iter().map(|queue| queue["mean_wait_s"].as_f64().expect("it ran")).collect()
    };
    assert_eq!((waits(0), waits(1)), (vec![10.0, 0.0], vec![0.0, 10.0]));
    let explained = succeed(folder.path(), &["explain", "edited.jsonl", "--job", "0", "--json"]);
    let explained: Value = serde_json::from_str(&explained).expect("JSON");
    assert_eq!(
        (&explained["as_recorded"], &explained["waiting_tasks"], &explained["at_s"]),
        (&false.into(), &1.into(), &5.0.into())
    );
    // What cannot have happened is told with its line.
    let impossible = text
        .replace("\"task\":0,\"node\":\"n0\",\"reason\"", "\"task\":7,\"node\":\"n0\",\"reason\"");
    fs::write(folder.path().join("wrong.jsonl"), impossible).expect("a writable folder");
    let words = fail(folder.path(), &["replay", "wrong.jsonl"], 3);
    assert!(words.contains("wrong.jsonl:4: job 0, task 7: the job has no such task"), "{words}");
}

#[test]
fn another_cluster_and_changed_keys() {
    let folder = folder();
    fs::write(folder.path().join("everything.toml"), EVERYTHING).expect("a writable folder");
    record(folder.path(), "everything.toml", &["long-term"], "log.jsonl");
    let small = "[cluster]\nresources = [\"cpu\", \"memory\"]\n[[cluster.node]]\nname = \
        \"one\"\ncapacity = { cpu = 60, memory = \"99GiB\" }\n";
    fs::write(folder.path().join("one.toml"), small).expect("a writable folder");
    let output =
        meed(folder.path(), &["replay", "log.jsonl", "--cluster", "one.toml", "--json", "-"]);
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let wait =
        |json: &Value, run: usize| json["runs"][run]["mean_job_s"].as_f64().expect("jobs ended");
    assert!(wait(&json, 1) < wait(&json, 0), "more room, less time");
    assert!(String::from_utf8_lossy(&output.stderr).contains("2 recorded changes of nodes"));
    let json = succeed(
        folder.path(),
        &["replay", "log.jsonl", "--set", "queue.3.weight=50", "--json", "-"],
    );
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let run = &json["runs"][1];
    let queues = run["queues"].as_array().expect("queues");
    // The fourth that is declared.
    let changed = queues.iter().find(|queue| queue["queue"] == "q").expect("a queue");
    assert_eq!((&run["policy"], &changed["weight"]), (&"long-term (changed)".into(), &50.0.into()));
    for (args, code, expected) in [
        (vec!["--set", "generator.0.jobs=1"], 3, "changes the workload, which is the recorded one"),
        (vec!["--set", "quantum=1"], 3, "can change cluster, fairness, policy"),
        (vec!["--cluster", "nowhere.toml"], 4, "nowhere.toml: cannot be read"),
        (vec!["-p", "fairr"], 3, "did you mean `fair`?"),
        (vec!["--run", "fair"], 2, "has no run `fair`; its runs are 1 (long-term)"),
        (vec!["--log", "log.jsonl"], 2, "would overwrite the log"),
    ] {
        let words = fail(folder.path(), &[&["replay", "log.jsonl"][..], &args].concat(), code);
        assert!(words.contains(expected), "{args:?}: {words}");
    }
}

#[test]
fn wrong_logs_name_the_line() {
    let folder = folder();
    let scenario = "[cluster]\nresources = [\"cpu\"]\n[[cluster.node]]\ncapacity = { cpu = 1 \
        }\n[[queue]]\nname = \"a\"\n\
        [[job]]\nqueue = \"a\"\nduration = 10\ndemand = { cpu = 1 }\n";
    fs::write(folder.path().join("s.toml"), scenario).expect("a writable folder");
    let text = record(folder.path(), "s.toml", &["fifo"], "log.jsonl");
    let cases = [
        ("", "", ""),
        (
            "\"duration_s\":[10.0]",
            "\"duration_s\":[10.00000001]",
            ":2: not a line of a log: duration_s: 10.00000001 is finer than",
        ),
        ("\"duration_s\":[10.0]", "\"duration_s\":[]", ":2: duration_s: give one"),
        (
            "\"demand\":{\"cpu\":1.0}",
            "\"demand\":{\"gpu\":1.0}",
            ":2: demand: unknown resource `gpu`; the header has cpu",
        ),
        ("\"tasks\":1,", "", ":2: not a line of a log: missing field `tasks`"),
        ("\"t\":10.0,\"end\"", "\"t\":10.0,\"end\" x", ":4: not a line of a log: expected `:`"),
        (
            "\"t\":0.0,\"start\"",
            "\"t\":20.0,\"start\"",
            ":4: t is 10 s, after 20 s in the line before",
        ),
        ("\"order\":\"fifo\"", "\"order\":\"fif\"", ":1, root: unknown order `fif`"),
        ("\"seq\":2,", "\"seq\":3,", ":3: record 3 of kind `start` stands where record 2 belongs"),
        ("\"schema\":2", "\"schema\":9", ":1: schema 9 is not known"),
        ("\"units\":[\"milli\"]", "\"units\":[]", ":1: resources and units differ"),
        ("\"units\":[\"milli\"],", "", ":1: not a line of a log: missing field `units`"),
    ];
    for (from, to, expected) in cases {
        assert!(text.contains(from), "{from}");
        fs::write(folder.path().join("w.jsonl"), text.replace(from, to))
            .expect("a writable folder");
        match expected {
            "" => drop(succeed(folder.path(), &["replay", "w.jsonl"])),
            _ => {
                let words = fail(folder.path(), &["replay", "w.jsonl"], 3);
                assert!(words.contains(&format!("w.jsonl{expected}")), "{to}: {words}");
            }
        }
    }
    // What is not known is passed over.
    let more = text.replace("\"task\":0", "\"task\":0,\"pod\":{\"x\":[1]}")
        + "{\"seq\":6,\"t\":15.0,\"heartbeat\":{\"node\":\"n0\"}}\n";
    fs::write(folder.path().join("more.jsonl"), more).expect("a writable folder");
    succeed(folder.path(), &["replay", "more.jsonl"]);
    fs::write(folder.path().join("no.jsonl"), "{\"t\":1.0,\"heartbeat\":{}}\n")
        .expect("a writable folder");
    assert!(fail(folder.path(), &["replay", "no.jsonl"], 3).contains("holds no run"));
}

/// Starts of a log of either schema: when, whose, which job as it is called, task, node.
fn starts(text: &str) -> Vec<[String; 5]> {
    let (mut names, mut starts) = (BTreeMap::new(), Vec::new());
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).expect("JSON");
        let arrive = &line["arrive"];
        if arrive.is_object() && arrive["stage"].is_null() {
            let name = if arrive["name"].is_null() { &arrive["job"] } else { &arrive["name"] };
            names.insert(arrive["job"].to_string(), name.to_string());
        }
        let start = &line["start"];
        if start.is_object() {
            let of = |key: &str| start[key].to_string();
            let name = names[&of("job")].clone();
            starts.push([line["t"].to_string(), of("queue"), name, of("task"), of("node")]);
        }
    }
    starts
}

#[test]
fn a_log_of_schema_1_is_run_again_and_explained() {
    let golden = "../meed-journal/tests/golden/schema1.jsonl";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(golden);
    let old = fs::read_to_string(&path).expect("it is kept");
    let (folder, path) = (folder(), path.display().to_string());
    let parts: Vec<&str> = old.split_inclusive('\n').collect();
    let parts = parts.chunk_by(|_, next| !next.contains("\"run\":{\"schema\":1"));
    for (part, run) in parts.zip(["1", "2"]) {
        // Written anew in schema 2 it is what this version writes, to the byte.
        succeed(folder.path(), &["replay", &path, "--run", run, "--verify"]);
        let args = ["replay", &path, "--run", run, "-q", "--log", "new.jsonl"];
        succeed(folder.path(), &args);
        let new = fs::read_to_string(folder.path().join("new.jsonl")).expect("it was written");
        assert!(new.starts_with("{\"seq\":0,\"t\":0.0,\"run\":{\"schema\":2,"), "run {run}");
        assert_eq!(starts(&new), starts(&part.concat()), "run {run}");
        for args in [["--job", "second"], ["--queue", "p.x"]] {
            let explain = |log: &str, run: &str| {
                let all = [&["explain", log, "--run", run, "--json"][..], &args].concat();
                succeed(folder.path(), &all)
            };
            let told = explain(&path, run);
            // By the rules of now the first run goes otherwise: it is told as it was recorded.
            assert!(told.contains("\"as_recorded\":"), "{told}");
            // Remarks name the file.
            let again = explain("new.jsonl", "1").replace("new.jsonl", &path);
            assert_eq!(told, again);
        }
    }
}

/// A log that rules 1 decided (`rules-1.jsonl`, written by a version of before rules
/// were counted): its ties went to the queue
/// declared first.
#[test]
fn a_log_of_earlier_rules_is_played_back_as_recorded() {
    let folder = folder();
    let log = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/rules-1.jsonl");
    let text = fs::read_to_string(&log).expect("a text");
    let runs = runs(&text);
    let log = log.display().to_string();
    let replay = |args: &[&str]| {
        let output = meed(folder.path(), &[&["replay", &log][..], args].concat());
        let words = String::from_utf8(output.stderr).expect("text");
        assert!(output.status.success(), "{args:?}: {words}");
        (String::from_utf8(output.stdout).expect("text"), words)
    };
    // Both are decided otherwise now: by ties, and by the quantum of tasks that run.
    for ((number, policy, line), run) in
        [("1", "fair", 10), ("2", "long-term", 86)].iter().zip(&runs)
    {
        let (out, words) = replay(&["--run", number, "--log", "again.jsonl"]);
        let again = fs::read_to_string(folder.path().join("again.jsonl")).expect("it was written");
        assert!(again == *run, "run {number} is written as it was");
        let said = format!(
            "rules-1.jsonl: decided by rules 1; this version decides by rules 2 (under {policy} \
             line {line} is the first that differs); "
        );
        let played = format!("{said}the recorded run is played back as the log tells it");
        assert!(words.replace("\n  ", " ").contains(&played), "{words}");
        assert!(out.contains("(recorded)"), "{out}");
        let (verified, _) = replay(&["--run", number, "--verify"]);
        assert!(verified.ends_with(&format!("{said}played back as recorded\n")), "{verified}");
    }
    // What cannot be played back, or does not come out as told, is a difference as ever.
    let (first, second) = ("\"task\":0,\"node\":\"n\",\"reason\"", "\"end\":{\"job\":1,");
    for (from, to, words) in [
        (first, first.replace("0,", "5,"), "no such task"),
        (second, second.replace("end", "fail"), "differs from what this Meed writes"),
    ] {
        assert!(runs[0].contains(from), "{from}");
        fs::write(folder.path().join("wrong.jsonl"), runs[0].replacen(from, &to, 1))
            .expect("a writable folder");
        let said = fail(folder.path(), &["replay", "wrong.jsonl", "--verify"], 3);
        assert!(said.contains(words), "{said}");
    }
    let explained =
        meed(folder.path(), &["explain", &log, "--run", "1", "--queue", "dan", "--at", "14"]);
    let words = String::from_utf8_lossy(&explained.stderr).replace("\n  ", " ");
    assert!(words.contains("decided by rules 1"), "{words}");
    // What is logged now says which rules decided.
    fs::write(folder.path().join("everything.toml"), EVERYTHING).expect("a writable folder");
    let new = record(folder.path(), "everything.toml", &["fair"], "new.jsonl");
    assert!(new.starts_with("{\"seq\":0,\"t\":0.0,\"run\":{\"schema\":2,\"rules\":2,"), "{new}");
}
