//! `meed queues --yarn` and `meed why --yarn`, against answers that a ResourceManager of Hadoop
//! 3.4.2 with the plug-in gave (`cargo xtask yarn daemons` keeps them), and against what else may
//! listen there.
#![cfg(target_os = "linux")]

mod master;

use std::process::{Command, Output};

use master::{Master, recorded};
use serde_json::{Value, json};

fn meed(args: &[&str]) -> Output {
    let program = Command::new(env!("CARGO_BIN_EXE_meed-server")).args(args).output();
    program.expect("the program was built")
}

fn said(args: &[&str]) -> String {
    let output = meed(args);
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "meed {args:?}: {words}");
    String::from_utf8(output.stdout).expect("text")
}

/// Exit code, and the sentence.
fn failed(args: &[&str]) -> (i32, String) {
    let output = meed(args);
    assert!(output.stdout.is_empty(), "nothing is told");
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code().expect("a code"), words)
}

const RUNS: &str = "application_1760000000000_0001";
const WAITS: &str = "application_1760000000000_0002";

#[test]
fn the_table_of_queues() {
    let master = Master::of(recorded());
    let table = said(&["queues", "--yarn", &master.url]);
    let lines: Vec<&str> = table.lines().collect();
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert!(lines[0].contains("QUEUE") && lines[0].contains("BALANCE GB h"), "{table}");
    // The one that is served next comes first; root.a wants nothing.
    assert_eq!(words(lines[1])[..3], ["root.b", "1", "1.0"], "{table}");
    assert_eq!(words(lines[2])[..2], ["root.a", "1.0"], "{table}");
    assert!(table.contains("balance: what others used of its share"), "{table}");
    assert!(!table.contains("otherwise"), "both follow the ledger: {table}");

    let told: Value =
        serde_json::from_str(&said(&["queues", "--json", "--yarn", &master.url])).expect("JSON");
    assert_eq!(told["queues"].as_array().map(Vec::len), Some(2), "{told}");
}

#[test]
fn a_queue_that_follows_another_order_is_named() {
    let mut answers = recorded();
    let scheduler = answers.get_mut("/ws/v1/cluster/scheduler").expect("it was kept");
    *scheduler = scheduler.replacen("long-term-fair", "fair", 1);
    let master = Master::of(answers);
    let table = said(&["queues", "--yarn", &master.url]);
    assert!(table.contains("ordered otherwise: the children of root by `fair`"), "{table}");
    let why = said(&["why", WAITS, "--yarn", &master.url]);
    assert!(why.contains("But YARN's queues there are ordered otherwise"), "{why}");
}

#[test]
fn why_an_application_runs_or_waits() {
    let master = Master::of(recorded());
    let runs = said(&["why", "--yarn", &master.url, RUNS]);
    assert!(runs.contains(&format!("Application {RUNS} of queue root.a")), "{runs}");
    assert!(runs.contains("It holds 3 containers (768 MB) and asks for no more."), "{runs}");
    assert!(runs.contains("Nothing of it waits"), "{runs}");
    assert!(runs.contains("Free in the cluster: "), "{runs}");

    let waits = said(&["why", "--yarn", &master.url, WAITS]);
    for words in [
        "of queue root.b, of ann: RUNNING",
        "It holds 3 containers (1024 MB) and asks for 36 more.",
        "Order among the children of root by long-term, in GB hours per weight 1, the smallest \
         first: root.b (0.005).",
        "Its turn has come: it is served as soon as a node has room",
    ] {
        assert!(waits.contains(words), "{words}\n{waits}");
    }

    let json = said(&["why", "--json", "--yarn", &master.url, WAITS]);
    let told: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(told["application"]["id"], WAITS);
    assert_eq!(told["ledger"]["application"], WAITS);
    assert!(told["cluster"]["totalMB"].as_u64() > Some(0), "{told}");
}

/// An application master that waits, with YARN's own word.
#[test]
fn a_master_that_waits() {
    let mut answers = recorded();
    let app = answers.get_mut(&format!("/ws/v1/cluster/apps/{WAITS}")).expect("it was kept");
    let diagnostics = "\"diagnostics\":\"waiting for resources\\n to be assigned for AM. \"";
    *app = app.replace("RUNNING", "ACCEPTED").replacen("\"diagnostics\":\"\"", diagnostics, 1);
    let path = master::why(WAITS);
    let told = answers[&path].replace("\\\"running\\\":3", "\\\"running\\\":0");
    answers.insert(path, told);
    let master = Master::of(answers);
    let why = said(&["why", "--yarn", &master.url, WAITS]);
    let words = "Its application master waits for its container. YARN says: waiting for resources \
                 to be assigned for AM.";
    assert!(why.contains(words), "{why}");
}

/// What is ahead at each level, in words.
#[test]
fn who_comes_before() {
    let mut answers = recorded();
    let path = master::why(WAITS);
    let mut bean: Value = serde_json::from_str(&answers[&path]).expect("JSON");
    let name = format!("Why.{WAITS}");
    let mut told: Value =
        serde_json::from_str(bean["beans"][0][&name].as_str().expect("text")).expect("JSON");
    let child = |queue: &str, gb_h: f64| {
        json!({"queue": queue, "key": gb_h * 3600.0 * f64::from(1 << 30), "below_min": false,
            "parked": false, "behind_by": 0.0})
    };
    told["levels"][0]["place"] = 1.into();
    told["levels"][0]["children"] = json!([child("root.a", 0.25), child("root.b", 1.5)]);
    told["leaf"] = json!({"order": "long-term", "jobs_ahead": 2, "tasks_ahead": 7, "first": [
        {"job": "application_1_0007", "waiting_tasks": 4, "demand": {}},
        {"job": "application_1_0008", "waiting_tasks": 3, "demand": {}}]});
    told["guard"] = json!({"t_wait_s": 30.0, "waited_s": 12.5, "before": ["root.a"]});
    bean["beans"][0][&name] = told.to_string().into();
    answers.insert(path, bean.to_string());
    let master = Master::of(answers);
    let why = said(&["why", "--yarn", &master.url, WAITS]);
    for words in [
        "the smallest first: root.a (0.250), root.b (1.500).",
        "There 1 queue comes first.",
        "Within root.b 2 applications come first: application_1_0007 (asks for 4), \
         application_1_0008 (asks for 3).",
        "The guard serves a starved leaf after 30 s; this one has waited 12 s, and 1 leaf comes \
         first.",
    ] {
        assert!(why.contains(words), "{words}\n{why}");
    }
    assert!(!why.contains("Its turn has come"), "{why}");
}

#[test]
fn an_application_that_is_over_or_unknown() {
    let mut answers = recorded();
    let path = format!("/ws/v1/cluster/apps/{RUNS}");
    let over = answers[&path].replace("RUNNING", "FINISHED").replace("UNDEFINED", "SUCCEEDED");
    answers.insert(path, over);
    let master = Master::of(answers);
    let why = said(&["why", "--yarn", &master.url, RUNS]);
    assert!(why.contains("It is over (SUCCEEDED): nothing of it waits."), "{why}");
    let (code, told) = failed(&["why", "--yarn", &master.url, "application_1760000000000_0099"]);
    assert_eq!(code, 2, "{told}");
    assert!(told.contains("knows no application_1760000000000_0099"), "{told}");
    let (code, told) = failed(&["why", "--yarn", &master.url, "17"]);
    assert_eq!(code, 2, "{told}");
    assert!(told.contains("`17` is no application of YARN"), "{told}");
}

#[test]
fn where_the_plug_in_is_not_on() {
    let mut answers = recorded();
    answers.insert(master::bean("Queues"), "{\"beans\" : [ ]}".to_owned());
    let off = Master::of(answers.clone());
    let (code, told) = failed(&["queues", "--yarn", &off.url]);
    assert_eq!(code, 5, "{told}");
    assert!(told.contains("long-term fairness is not on"), "{told}");
    // It gave up: the bean of a moment ago says so.
    let gave_up = json!({"beans": [{"name": "n", "modelerType": "m",
        "Queues": "{\"error\":\"the ledger has ended\"}"}]});
    answers.insert(master::bean("Queues"), gave_up.to_string());
    let over = Master::of(answers);
    let (code, told) = failed(&["queues", "--yarn", &over.url]);
    assert_eq!((code, told.trim()), (5, "meed: the ledger has ended"));
}

#[test]
fn a_standby_names_the_active_one() {
    let mut answers = recorded();
    let info = answers["/ws/v1/cluster/info"].replace("ACTIVE", "STANDBY");
    answers.insert("/ws/v1/cluster/info".to_owned(), info);
    let metrics = "/ws/v1/cluster/metrics";
    answers.insert(metrics.to_owned(), format!("307 http://rm2:8088{metrics}"));
    let master = Master::of(answers);
    let (code, told) = failed(&["queues", "--yarn", &master.url]);
    assert_eq!(code, 6, "{told}");
    assert!(told.contains("is a standby: ask the active one, which is http://rm2:8088"), "{told}");
}

#[test]
fn who_else_may_answer() {
    let info = "/ws/v1/cluster/info".to_owned();
    let cases: [(&str, i32, &str); 5] = [
        ("401 -", 7, "asks who you are (Kerberos, say)"),
        ("403 -", 7, "does not let you read /ws/v1/cluster/info"),
        ("404 -", 6, "is no ResourceManager of YARN"),
        ("<html>a page</html>", 6, "is no ResourceManager of YARN"),
        ("raw SSH-2.0-OpenSSH_9", 6, "the answer is none of HTTP"),
    ];
    for (answer, code, why) in cases {
        let master = Master::of([(info.clone(), answer.to_owned())].into());
        let told = failed(&["queues", "--yarn", &master.url]);
        assert_eq!(told.0, code, "{answer}: {}", told.1);
        assert!(told.1.contains(why), "{answer}: {}", told.1);
    }
    // Nobody listens there any more.
    let url = Master::of(recorded()).url.clone();
    let (code, told) = failed(&["queues", "--yarn", &url]);
    assert_eq!(code, 6, "{told}");
    assert!(told.contains("no ResourceManager answers at"), "{told}");
    let (code, told) = failed(&["why", "--yarn", "https://rm:8090", RUNS]);
    assert_eq!(code, 2, "{told}");
    assert!(told.contains("https is not supported"), "{told}");
    let (code, _) = failed(&["queues", "--yarn", "http://rm", "--socket", "s"]);
    assert_eq!(code, 2, "a server or a cluster");
}
