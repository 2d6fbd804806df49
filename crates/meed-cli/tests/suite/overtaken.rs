//! Tasks that others overtook, and reservations, in words and in numbers: the wide job that nobody
//! serves, made small.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::Path;

use crate::common::{folder, meed, succeed};
use serde_json::Value;

/// `small` sends tasks of one GPU without end, `big` one job of a whole node.
const WIDE: &str = r#"
[cluster]
resources = ["gpu"]
[[cluster.node]]
count = 2
capacity = { gpu = 8 }
[policy]
order = "long-term"
[run]
until = "20h"
[[queue]]
name = "small"
[[queue]]
name = "big"
[[generator]]
queue = "small"
until = "20h"
duration = 3600
limit = "1h"
demand = { gpu = 1 }
arrivals = { every = "230s" }
[[job]]
queue = "big"
name = "wide"
submit = 7200
duration = 1800
limit = "30min"
demand = { gpu = 8 }
"#;

fn scenario(folder: &Path, text: &str) {
    fs::write(folder.join("s.toml"), text).unwrap();
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// How often the only job of `big` was overtaken, by comparing all pairs of the log.
fn counted(log: &str) -> u64 {
    let records: Vec<Value> = log.lines().map(json).collect();
    let at = |record: &Value| record["t"].as_f64().unwrap();
    let arrives = |record: &&Value| record["arrive"].is_object();
    let wide = records.iter().filter(arrives).find(|r| r["arrive"]["queue"] == "big").unwrap();
    let came = |job: &Value| {
        records.iter().filter(arrives).find(|r| r["arrive"]["job"] == *job).map(at).unwrap()
    };
    let starts = records.iter().filter(|record| record["start"].is_object());
    let own = starts.clone().find(|record| record["start"]["queue"] == "big").map(at);
    let later = starts.filter(|record| record["start"]["queue"] == "small");
    let later = later.filter(|record| own.is_none_or(|own| at(record) < own));
    later.filter(|record| came(&record["start"]["job"]) > at(wide)).count() as u64
}

#[test]
fn overtaken_tasks_are_told_with_what_a_second_run_makes_of_them() {
    let here = folder();
    scenario(here.path(), WIDE);
    let args = ["simulate", "s.toml", "-p", "long-term", "-p", "long-term,when_blocked=reserve"];
    let files = ["--json", "out.json", "--log", "log.jsonl", "--report", "out.html"];
    let said = succeed(here.path(), &[&args[..], &files].concat());
    let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let told = json(&fs::read_to_string(here.path().join("out.json")).unwrap());
    let big = |run: usize| &told["runs"][run]["queues"][1];
    let most = &big(0)["overtaken"]["most"];
    let log = fs::read_to_string(here.path().join("log.jsonl")).unwrap();
    let second = log.match_indices("{\"seq\":0,").nth(1).map_or(log.len(), |(at, _)| at);
    let times = counted(&log[..second]);
    assert!(times > 200, "{times}");
    assert_eq!(most["times"].as_u64(), Some(times));
    assert_eq!(most["by"], json(&format!(r#"[{{"queue":"small","times":{times}}}]"#)));
    assert_eq!((&most["job"], &most["started_s"]), (&json("\"wide\""), &Value::Null));
    assert_eq!(big(0)["overtaken"]["tasks"], 1);
    // The other run is what the second one was.
    assert_eq!(most["with_reserve"]["waited_s"], big(1)["longest_wait_s"]);
    assert!(big(1)["longest_wait_s"].as_f64().unwrap() <= 3600.0);
    let sentence = format!(
        "long-term: job wide of big waited 18.0 h for 8 gpu on one node, and still waits at the \
         end; {times} narrower tasks that came later started meanwhile (small: {times}); with \
         when_blocked=reserve it would have waited"
    );
    assert!(words.contains(&sentence), "{said}");
    assert_eq!(words.matches("narrower tasks").count(), 1, "{said}");
    let html = fs::read_to_string(here.path().join("out.html")).unwrap();
    assert!(html.contains("job wide of big waited 18.0 h"), "the report says so too");
}

#[test]
fn nothing_is_said_of_tasks_that_are_as_wide_as_those_before_them() {
    let here = folder();
    scenario(here.path(), &WIDE.replace("demand = { gpu = 8 }", "demand = { gpu = 1 }"));
    let said = succeed(here.path(), &["simulate", "s.toml", "-p", "long-term", "--json", "-"]);
    let told = json(&said);
    for queue in told["runs"][0]["queues"].as_array().unwrap() {
        assert_eq!(queue["overtaken"], json(r#"{"tasks":0,"times":0,"most":null}"#));
    }
    let said = succeed(here.path(), &["simulate", "s.toml"]);
    assert!(!said.contains("narrower"), "{said}");
    let said = succeed(here.path(), &["simulate", "s.toml", "-p", "static", "--json", "-"]);
    assert!(json(&said)["runs"][0]["queues"][0]["overtaken"].is_null(), "alone, nobody overtakes");
}

/// Where the end of a job causes another, the second run would be of other jobs.
#[test]
fn no_second_run_where_arrivals_follow_from_ends() {
    let here = folder();
    let closed = r#"
[[generator]]
queue = "small"
until = "20h"
duration = 60
demand = { gpu = 1 }
arrivals = { closed = 1, pause = 60 }
"#;
    scenario(here.path(), &format!("{WIDE}{closed}"));
    let args = ["simulate", "s.toml", "-p", "long-term", "--json", "-"];
    let told = json(&succeed(here.path(), &args));
    let most = &told["runs"][0]["queues"][1]["overtaken"]["most"];
    assert!(most["times"].as_u64().unwrap() > 200 && most["with_reserve"].is_null(), "{most}");
    let said = succeed(here.path(), &["simulate", "s.toml", "-p", "long-term"]);
    assert!(said.contains("narrower") && !said.contains("it would have waited"), "{said}");
}

#[test]
fn explain_says_how_often_a_job_was_overtaken() {
    let here = folder();
    scenario(here.path(), WIDE);
    let args = ["simulate", "s.toml", "--quiet", "-p", "long-term", "--log", "log.jsonl"];
    succeed(here.path(), &args);
    let times = counted(&fs::read_to_string(here.path().join("log.jsonl")).unwrap());
    let args = ["explain", "log.jsonl", "--job", "wide", "--at", "20h"];
    let told = json(&succeed(here.path(), &[&args[..], &["--json"]].concat()));
    assert_eq!(told["overtaken"]["times"].as_u64(), Some(times));
    assert_eq!(told["reservations"], json("[]"));
    let said = succeed(here.path(), &args);
    let words = format!("Overtaken: {times} tasks that began to wait later");
    assert!(said.contains(&words) && said.contains("when_blocked = \"reserve\""), "{said}");
    let args = ["explain", "log.jsonl", "--job", "wide", "--at", "2h", "--json"];
    assert!(json(&succeed(here.path(), &args))["overtaken"].is_null(), "not yet");
}

#[test]
fn explain_says_where_room_is_held_until_when_and_why_it_moved() {
    let here = folder();
    scenario(
        here.path(),
        r#"
[cluster]
resources = ["gpu"]
[[cluster.node]]
name = "n"
capacity = { gpu = 8 }
[[cluster.node]]
name = "m"
capacity = { gpu = 8 }
[policy]
order = "fifo"
when_blocked = "reserve"
[[change]]
at = 450
node_leaves = "n"
[[queue]]
name = "q"
[[job]]
queue = "q"
name = "late"
duration = 900
limit = 100
demand = { gpu = 1 }
[[job]]
queue = "q"
name = "long"
duration = 900
limit = 2000
demand = { gpu = 7 }
[[job]]
queue = "q"
name = "free"
duration = 700
demand = { gpu = 8 }
[[job]]
queue = "q"
name = "wide"
submit = 10
duration = 5
limit = 10
demand = { gpu = 8 }
"#,
    );
    succeed(here.path(), &["simulate", "s.toml", "--quiet", "-p", "fifo", "--log", "log.jsonl"]);
    let explain = |at: &str, args: &[&str]| {
        let asked = ["explain", "log.jsonl", "--job", "wide", "--at", at];
        succeed(here.path(), &[&asked[..], args].concat())
    };
    let told = json(&explain("50s", &["--json"]));
    let held = &told["reservations"][0];
    let node = &held["nodes"][0];
    assert_eq!((&node["node"], &held["since_s"]), (&json("\"n\""), &json("10.0")), "{held}");
    assert_eq!((&held["expected_s"], &held["put_off"]), (&json("2000.0"), &json("0")));
    let ends: Vec<&Value> =
        node["holders"].as_array().unwrap().iter().map(|holder| &holder["ends_s"]).collect();
    assert_eq!(ends, [&json("100.0"), &json("2000.0")]);
    let said = explain("150s", &[]);
    for words in [
        "Room is held for a task of job wide (since 10s)",
        "gpu 8 on n: from 33min 20s on, in 30min 50s",
        "1 task of job late of q, gpu 1: longer than expected, now until 3min 20s",
        "1 task of job long of q, gpu 7: expected until 33min 20s",
        "put off   never",
    ] {
        assert!(said.contains(words), "{words} is missing in:\n{said}");
    }
    assert!(!said.contains("nothing: it is next"), "{said}");
    // Its node leaves, and nobody knows when the other is empty.
    let held = json(&explain("500s", &["--json"]))["reservations"][0].clone();
    let node = &held["nodes"][0]["node"];
    assert_eq!((node, &held["expected_s"]), (&json("\"m\""), &Value::Null), "{held}");
    assert_eq!(held["put_off"], 1);
    let last = held["moves"].as_array().unwrap().last().unwrap();
    assert_eq!((&last["from"], &last["why"]), (&json("[\"n\"]"), &json("\"node_went\"")));
    let said = explain("500s", &[]);
    for words in ["put off   once", "from n to m, 33min 20s to no known time", "nobody knows"] {
        assert!(said.contains(words), "{words} is missing in:\n{said}");
    }
    // Of the queue, all that are held for its jobs.
    let args = ["explain", "log.jsonl", "--queue", "q", "--at", "50s", "--json"];
    assert_eq!(json(&succeed(here.path(), &args))["reservations"][0]["job"], "wide");
}

#[test]
fn the_example_is_as_its_page_says() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let said = succeed(&project, &["simulate", "examples/wide.toml", "-p", "long-term"]);
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (said, page) = (words(&said), fs::read_to_string(project.join("docs/reservations.md")));
    let (_, sentence) = said.split_once("job train of big").expect("it is told");
    let (sentence, _) = sentence.split_once("(run a second time)").expect("with what helps");
    assert!(words(&page.unwrap()).contains(sentence), "docs/reservations.md lacks:{sentence}");
}

/// A task runs beyond its limit, and a reservation waits for it.
const JOURNAL: &str = r#"{"segment":{"version":1}}
{"seq":0,"t":0.0,"run":{"schema":2,"world":"server","policy":"fair","resources":["cpu"],"units":["milli"],"measured":"cpu","placement":"first-fit","root":{"order":"fair","when_blocked":"reserve"},"nodes":[{"name":"n","capacity":{"cpu":4.0}}],"queues":[{"queue":"a"},{"queue":"b"}]}}
{"seq":1,"t":1.0,"arrive":{"queue":"a","job":"x","max_attempts":0,"groups":[{"tasks":1,"demand":{"cpu":2.0},"limit_s":10.0}]}}
{"seq":2,"t":1.0,"start":{"queue":"a","job":"x","task":0,"node":"n"}}
{"seq":3,"t":2.0,"arrive":{"queue":"b","job":"y","max_attempts":0,"groups":[{"tasks":1,"demand":{"cpu":4.0}}]}}
{"seq":4,"t":12.0,"arrive":{"queue":"b","job":"z","max_attempts":0,"groups":[{"tasks":1,"demand":{"cpu":4.0}}]}}
"#;

#[test]
fn explain_tells_of_reservations_in_a_journal() {
    let here = folder();
    let path = here.path().join("journal");
    fs::create_dir_all(&path).unwrap();
    fs::write(path.join("00000000000000000001.jsonl"), JOURNAL).unwrap();
    let args = ["explain", "journal", "--job", "y", "--at", "12s", "--json"];
    let told = json(&succeed(here.path(), &args));
    let held = &told["reservations"][0];
    let node = &held["nodes"][0];
    assert_eq!((&node["node"], &held["expected_s"]), (&json("\"n\""), &json("21.0")), "{held}");
    assert_eq!((&held["put_off"], &held["moves"][0]["why"]), (&json("1"), &json("\"overran\"")));
    assert_eq!(node["holders"][0]["is_over"], true);
    let output = meed(here.path(), &["explain", "journal", "--job", "nobody"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}
