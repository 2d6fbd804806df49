//! Logs as workloads, by the program.

use std::fs;

use crate::common::{fail, folder, meed, succeed};
use serde_json::Value;

const SCENARIO: &str = r#"
[cluster]
resources = ["cpu"]
node = [{ name = "n", count = 2, capacity = { cpu = 2 } }]
[[queue]]
name = "a"
[[queue]]
name = "b"
weight = 2
[[job]]
queue = "a"
tasks = 12
demand = { cpu = 1 }
duration = 5
[[job]]
queue = "b"
submit = 6
tasks = 6
demand = { cpu = 1 }
duration = 4
"#;

/// A server's journal: one task ended, one runs still, one never started.
const JOURNAL: &str = concat!(
    r#"{"seq":0,"t":0.0,"run":{"schema":2,"world":"server","policy":"fair","resources":["cpu"],"#,
    r#""units":["milli"],"measured":"cpu","placement":"first-fit","root":{"order":"fair"},"#,
    r#""nodes":[{"name":"n","capacity":{"cpu":1.0}}],"queues":[{"queue":"a"},{"queue":"b"}]}}
{"seq":1,"t":1.0,"arrive":{"queue":"a","job":"x","name":"train","groups":[{"tasks":3,"#,
    r#""demand":{"cpu":1.0}}]}}
{"seq":2,"t":1.0,"start":{"queue":"a","job":"x","task":0,"node":"n"}}
{"seq":3,"t":5.0,"end":{"job":"x","task":0}}
{"seq":4,"t":5.0,"start":{"queue":"a","job":"x","task":1,"node":"n"}}
{"seq":5,"t":8.0,"decide":{}}
"#
);

#[test]
fn a_log_is_simulated_inspected_converted_and_compared_with_rivals() {
    let here = folder();
    fs::write(here.path().join("s.toml"), SCENARIO).unwrap();
    let at = here.path();
    let policies = ["-p", "fair", "-p", "long-term"];
    succeed(at, &[&["simulate", "s.toml", "-q", "--log", "run.jsonl.zst"], &policies[..]].concat());
    let several = fail(at, &["simulate", "run.jsonl.zst"], 3);
    assert!(several.contains("holds 2 runs; choose one with --run: 1 (fair), 2 (long-term)"));
    let none = fail(at, &["simulate", "run.jsonl.zst", "--run", "3"], 3);
    assert!(none.contains("has no run `3`; its runs are 1 (fair), 2 (long-term)"), "{none}");

    let json = |args: &[&str]| -> Value {
        serde_json::from_str(&succeed(at, &[args, &["--json", "-"]].concat())).unwrap()
    };
    let figures = |json: Value| json["runs"].as_array().unwrap().clone();
    let recorded = json(&[&["simulate", "s.toml"], &policies[..]].concat());
    for run in ["1", "long-term"] {
        let args = ["simulate", "run.jsonl.zst", "--run", run];
        let again = json(&[&args[..], &policies].concat());
        assert_eq!(figures(again), figures(recorded.clone()), "run {run}");
    }
    let changed = ["simulate", "run.jsonl.zst", "--run", "1", "-p", "fair"];
    let changed = json(&[&changed[..], &["--set", "queue.a.weight=9"]].concat());
    assert_ne!(figures(changed)[0], figures(recorded)[0]);

    let looked = succeed(at, &["trace", "inspect", "run.jsonl.zst", "--run", "fair"]);
    assert!(looked.contains("2 jobs, 18 tasks, 2 queues"), "{looked}");
    succeed(at, &["trace", "convert", "run.jsonl.zst", "jobs.jsonl", "--run", "1"]);
    let jobs = fs::read_to_string(at.join("jobs.jsonl")).unwrap();
    assert!(jobs.lines().count() == 3 && jobs.contains(r#""submit_s":6"#), "{jobs}");
    let rivals = |args: &[&str]| -> Value {
        let said = succeed(at, &[&["rivals"], args, &["--json"]].concat());
        serde_json::from_str::<Value>(&said).unwrap()["orders"].take()
    };
    let orders = rivals(&["run.jsonl.zst", "--run", "1"]);
    assert!(orders.as_array().is_some_and(|all| all.len() > 2), "{orders}");
    assert_eq!(orders, rivals(&["s.toml"]));
    succeed(at, &["check", "jobs.jsonl"]);
}

#[test]
fn a_live_journal_is_simulated_from_file_and_folder_and_says_what_is_not_known() {
    let here = folder();
    let at = here.path();
    fs::write(at.join("journal.jsonl"), JOURNAL).unwrap();
    fs::create_dir(at.join("state")).unwrap();
    let segment = "state/00000000000000000001.jsonl";
    fs::write(at.join(segment), format!("{{\"segment\":{{\"version\":1}}}}\n{JOURNAL}")).unwrap();
    for path in ["journal.jsonl", "state"] {
        let output = meed(at, &["simulate", path, "-p", "fair", "-p", "long-term", "-p", "static"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        assert!(said.contains("1 tasks ran still at its end"), "{said}");
        assert!(said.contains("1 tasks never ran: they are left out"), "{said}");
    }
    let looked = succeed(at, &["trace", "inspect", "journal.jsonl"]);
    assert!(looked.contains("1 job, 2 tasks") && looked.contains("world server"), "{looked}");
    let drop = ["trace", "inspect", "state", "--set", "trace.unfinished=drop"];
    assert!(succeed(at, &drop).contains("1 job, 1 task"));
    // On nodes of one's own: the log gives the jobs.
    let own = SCENARIO.split("[[queue]]").next().unwrap().to_owned()
        + "[trace]\nfile = \"journal.jsonl\"\n";
    fs::write(at.join("own.toml"), own).unwrap();
    assert!(succeed(at, &["simulate", "own.toml", "-p", "fair"]).contains("fair"));
}

#[test]
fn what_is_wrong_with_a_log_is_told_with_file_and_line() {
    let here = folder();
    let at = here.path();
    let told = |text: &str, args: &[&str]| {
        fs::write(at.join("log.jsonl"), text).unwrap();
        fail(at, &[&["simulate", "log.jsonl"], args].concat(), 3)
    };
    let cut_inside = JOURNAL.replace("\"task\":0,\"node\":\"n\"}}\n", "\"task\":0,\n");
    for (text, expected) in [
        (JOURNAL.replace("\"schema\":2", "\"schema\":9"), "log.jsonl:1: schema 9 is not known"),
        (cut_inside, "log.jsonl:3: "),
        (
            JOURNAL.replace(
                "\"queue\":\"a\",\"job\":\"x\",\"name\"",
                "\"queue\":\"z\",\"job\":\"x\",\"name\"",
            ),
            "log.jsonl:2: there is no queue `z` by then",
        ),
        (
            JOURNAL.replace("\"end\":{\"job\":\"x\"", "\"end\":{\"job\":\"y\""),
            "log.jsonl:4: there is no job y by then",
        ),
        (
            JOURNAL.replace("\"world\":\"server\"", "\"world\":\"mapreduce\""),
            "log.jsonl: is of the MapReduce world",
        ),
    ] {
        let said = told(&text, &[]);
        assert!(said.contains(expected), "{said}");
    }
    let foreign = told(JOURNAL, &["--set", "trace.batch_gap=1s"]);
    assert!(foreign.contains("`batch_gap` means nothing for a trace of this format"), "{foreign}");
    let other = told(JOURNAL, &["--set", "trace.unfinished=maybe"]);
    assert!(other.contains("`maybe` is not one of until-end, drop"), "{other}");
    // A last line that a crash has cut is no fault.
    fs::write(at.join("log.jsonl"), JOURNAL.trim_end().trim_end_matches("{}}")).unwrap();
    let output = meed(at, &["simulate", "log.jsonl", "-p", "fair"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && said.contains("it goes to 5 s (line 5)"), "{said}");
}

/// A job came before a node that could hold it, and a queue was promised more than there is.
#[test]
fn jobs_that_waited_for_a_node_wait_and_minimums_are_cut() {
    let here = folder();
    let at = here.path();
    let header = JOURNAL.lines().next().unwrap();
    let text = header.to_owned()
        + r#"
{"seq":1,"t":0.0,"infeasible":{"waits":true}}
{"seq":2,"t":1.0,"arrive":{"queue":"a","job":"x","groups":[{"tasks":1,"demand":{"cpu":4.0}}]}}
{"seq":3,"t":2.0,"queue_changed":{"name":"b","min":{"cpu":99.0}}}
{"seq":4,"t":3.0,"node_joins":{"name":"big","capacity":{"cpu":9.0}}}
{"seq":5,"t":3.0,"start":{"queue":"a","job":"x","task":0,"node":"big"}}
{"seq":6,"t":9.0,"end":{"job":"x","task":0}}
"#;
    fs::write(at.join("log.jsonl"), text).unwrap();
    let said =
        meed(at, &["simulate", "log.jsonl", "-p", "fair", "--set", "cluster.node.0.count=1"]);
    let said = String::from_utf8_lossy(&said.stderr).into_owned();
    for words in ["the minimum of queue `b` is cut", "tasks that no node could hold wait"] {
        assert!(said.contains(words), "{said}");
    }
    let refused = |args: &[&str]| -> Vec<u64> {
        let args = [&["simulate", "log.jsonl", "-p", "fair", "-p", "static", "--json", "-"], args];
        let json: Value = serde_json::from_str(&succeed(at, &args.concat())).unwrap();
        let runs = json["runs"].as_array().unwrap();
        runs.iter().map(|run| run["refused"].as_u64().unwrap()).collect()
    };
    assert_eq!(refused(&[]), [0, 0]);
    assert_eq!(refused(&["--set", "run.infeasible=refuse"])[0], 1);
    // So it is in the log of such a run.
    let args = ["simulate", "log.jsonl", "-p", "fair", "-q", "--log", "again.jsonl"];
    succeed(at, &args);
    let json = succeed(at, &["simulate", "again.jsonl", "-p", "fair", "--json", "-"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["runs"][0]["refused"], 0);
    assert!(succeed(at, &["replay", "again.jsonl"]).contains("fair"));
}
