//! Users' own tables through the program: the mapping on the command line and in a scenario, what
//! is told about it, and what is said of files of no known format.

use std::fs;

use serde_json::Value;

use crate::common::{folder, meed, succeed};
use crate::real_traces::traces;

const TABLE: &str = "\
team;who;created;took;cores;ram
ml;ann;2026-01-05 09:00:00;01:00:00;4;16
ml;eve;2026-01-05 09:10:00;30:00;2;8
web;bob;2026-01-05 09:20:00;;2;8
web;bob;2026-01-05 09:30:00;1-00:00:00;8;-4
web;bob;2026-01-05 09:40:00;90;1;1
";

const MAP: &str = "tenant=team/who,submit=created,duration=took,cpu=cores,memory=ram:GiB";

#[test]
fn a_mapping_says_the_same_everywhere() {
    let folder = folder();
    let write = |name: &str, text: &str| {
        fs::write(folder.path().join(name), text).expect("a writable folder");
    };
    write("jobs.txt", TABLE);
    let zone = "trace.time_zone=Europe/Berlin";
    let simulate = |args: &[&str]| {
        let mut all = vec!["simulate", "-p", "fair", "--json", "-", "--quiet", "--series", "0"];
        all.extend(args);
        let text = succeed(folder.path(), &all);
        let mut json: Value = serde_json::from_str(&text).expect("JSON");
        json["scenario"] = Value::Null;
        json
    };
    let given = simulate(&["jobs.txt", "--map", MAP, "--set", zone]);
    let scenario = r#"
[cluster]
resources = ["cpu", "memory"]
[[cluster.node]]
name = "pool"
capacity = { cpu = 4, memory = "18GiB" }
[trace]
file = "jobs.txt"
format = "csv"
time_zone = "Europe/Berlin"
[trace.map]
tenant = "team/who"
submit = "created"
duration = "took"
cpu = "cores"
memory = "ram:GiB"
"#;
    write("own.toml", scenario);
    let said = simulate(&["own.toml", "--set", "cluster.node.0.capacity.cpu=5"]);
    let queues = given["runs"][0]["queues"].to_string();
    assert!(queues.contains("web.bob"), "{queues}");
    // Only of the trace alone cluster and shares are assumed.
    let all = given["assumptions"].as_array().unwrap();
    assert!(all[0].as_str().unwrap().starts_with("assumed cluster: "), "{}", all[0]);
    assert!(all[1].as_str().unwrap().starts_with("every tenant has an equal share"), "{}", all[1]);
    assert_eq!(all[2..], said["assumptions"].as_array().unwrap()[..]);
    let words = given["assumptions"].to_string();
    for told in [
        "table: time 0 is the first submission, 2026-01-05T08:00:00Z",
        "table: 1 row wrong: an amount is negative (the first is line 5)",
        "table: 1 row left out: jobs without a duration (the first is line 4)",
    ] {
        assert!(words.contains(told), "{told} in {words}");
    }
    assert_eq!(given["runs"][0]["skipped_lines"], 1);
}

#[test]
fn what_is_no_log_at_all_is_told() {
    let folder = folder();
    for (file, text, told) in [
        ("report.html", "<!DOCTYPE html>\n<html></html>\n", "this is a page for a browser"),
        ("jobs.csv", "", "no jobs: the file is empty; a table of jobs has the names of its"),
        ("jobs.csv", "\n \n", "no jobs: "),
    ] {
        fs::write(folder.path().join(file), text).unwrap();
        crate::bad_input::fails(folder.path(), &["simulate", file], 3, told);
    }
}

#[test]
fn inspect_shows_amounts_with_units() {
    let folder = folder();
    let table = "team,submit_time,duration_s,cpus,mem_gb\na,0,7200,4,16\nb,60,3600,2,1\n";
    fs::write(folder.path().join("jobs.csv"), table).unwrap();
    let text = succeed(folder.path(), &["trace", "inspect", "jobs.csv"]);
    let row = |name: &str| text.lines().rfind(|line| line.trim_start().starts_with(name)).unwrap();
    let cells = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(cells(row("cpu "))[..3], ["cpu", "10", "4"], "{text}");
    assert!(text.contains("work, cpu-hours"), "{text}");
    assert_eq!(cells(row("memory "))[3..5], ["14.9", "GiB"], "{text}");
    assert!(!text.contains("+--"), "{text}");
}

#[test]
fn inspect_shows_what_is_understood() {
    let folder = folder();
    fs::write(folder.path().join("jobs.csv"), TABLE).expect("a writable folder");
    let shown = succeed(folder.path(), &["trace", "inspect", "jobs.csv", "--map", MAP]);
    for told in [
        "the first jobs, as they are understood:",
        "cpu of each",
        "web.bob",
        "assumed: table: memory is `ram`, in GiB",
        "assumed: table: duration is `took`, in seconds",
    ] {
        let told = told.replace("`ram`", "`ram:GiB`");
        assert!(shown.contains(&told), "{told} in\n{shown}");
    }
    let json = succeed(folder.path(), &["trace", "inspect", "jobs.csv", "--map", MAP, "--json"]);
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let first = &json["first_jobs"][1];
    assert_eq!((&first["queue"], &first["submit_s"]), (&"ml.eve".into(), &600.0.into()));
    assert_eq!((&json["bad_lines"], &json["ignored_lines"]), (&1.into(), &1.into()));
}

#[test]
fn what_is_of_no_known_format_says_which_there_are() {
    let folder = folder();
    let cases = [
        ("jobs.foo", "a b c\n1 2 3\n", &[][..], 3, "this is no scenario, and neither its name"),
        ("jobs.foo", "a b c\n1 2 3\n", &[], 3, "--format csv --map tenant=COLUMN"),
        ("jobs.json", "[\n {\"a\": 1}\n]\n", &[], 3, "this is JSON and no scenario, and neither"),
        ("jobs.csv", "a,b\n1,2\n", &[], 3, "no column is known to be the tenant"),
        ("jobs.csv", TABLE, &["--map", "tenant"], 2, "`tenant` is not of the form key=column"),
        ("jobs.csv", TABLE, &["--map", "tenant=teem"], 3, "did you mean \"team\"?"),
        ("jobs.csv", TABLE, &["--format", "cvs"], 3, "`cvs` is not one of swf, mwf"),
    ];
    for (name, text, args, code, expected) in cases {
        fs::write(folder.path().join(name), text).expect("a writable folder");
        let mut all = vec!["simulate", name, "--quiet"];
        all.extend(args);
        let output = meed(folder.path(), &all);
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{all:?}: {words}");
        assert!(words.contains(expected), "{all:?}: {words}\nshould say {expected}");
    }
}

#[test]
fn pods_of_openb_run_on_the_nodes_beside_them() {
    let Some(traces) = traces() else { return };
    let folder = folder();
    let pods = traces.join("alibaba/gpu_v2023_openb_pod_list_default.csv.xz");
    let pods = pods.display().to_string();
    let json = succeed(
        folder.path(),
        &["trace", "inspect", &pods, "--json", "--strict", "--window", "all"],
    );
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!((&json["jobs"], &json["ignored_lines"]), (&7255.into(), &897.into()));
    let gpu = json["resources"].as_array().expect("resources")[2].clone();
    assert_eq!(gpu["work"], 185_294_426.97);
    let figure = |value: &Value| value.as_f64().expect("a number");
    let span = figure(&json["last_submit_s"]) - figure(&json["first_submit_s"]);
    let load = figure(&gpu["work"]) / (6212.0 * span);
    assert!((figure(&gpu["offered_load"]) - load).abs() < 1e-9, "on the 6212 GPUs of the nodes");
    let args = ["simulate", &pods, "-p", "fair", "--json", "-", "--quiet", "--series", "0"];
    let json: Value = serde_json::from_str(&succeed(folder.path(), &args)).expect("JSON");
    let run = &json["runs"][0];
    assert_eq!((&run["refused"], &run["unfinished"]), (&0.into(), &0.into()));
}

/// Logs of batch systems, told by their content: who is the tenant, and what a table that lacks
/// columns says.
#[test]
fn queues_and_shape_choose_columns_that_are_there() {
    let folder = folder();
    let pbs = "01/05/2026 10:00:00;E;1.s;user=ann group=phys ctime=1767600000 start=1767600000 \
        end=1767603600 exec_host=n1/0-1+n2/0-1 Resource_List.nodect=2\n";
    let condor = "{\"ClusterId\":1,\"ProcId\":0,\"Owner\":\"ann\",\"AcctGroup\":\"phys\",\
        \"QDate\":1767600000,\"RemoteWallClockTime\":60.0,\"RequestCpus\":2}\n";
    let sacct = "JobID|User|Submit|Elapsed|AllocCPUS\n1|ann|2026-01-05T08:00:00|01:00:00|4\n";
    let lsf = format!(
        "\"JOB_FINISH\" \"10.1\" 1767600060 5 0 0 2 1767600000 0 0 1767600000 \"ann\" \"q\" {} 0 2 \
         \"2*n1\" \"2*n2\" 64 1.0 \"\" \"\" {} \"\" \"phys\" 0 4 \"\" \"\" 0 1024 0\n",
        "\"\" ".repeat(9),
        "-1 ".repeat(19),
    );
    let files =
        [("20260105", pbs), ("history", condor), ("jobs.txt", sacct), ("lsb.acct", &lsf[..])];
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("a writable folder");
    }
    for (file, set, row) in [
        ("20260105", "run.seed=1", "1.s ann 0 1 4 3600 -"),
        ("20260105", "trace.shape=gang", "1.s ann 0 2 2 3600 -"),
        ("20260105", "trace.queues=group-user", "1.s phys.ann 0 1 4 3600 -"),
        ("history", "trace.queues=accounting-group", "1/0 phys 0 1 2 60 -"),
        ("history", "trace.shape=gang", "1/0 ann 0 1 2 60 -"),
        ("lsb.acct", "trace.queues=project", "5/0 phys 0 1 4 1 MiB 60 -"),
        ("lsb.acct", "trace.shape=gang", "5/0 ann 0 2 2 512 KiB 60 -"),
        ("jobs.txt", "run.seed=1", "1 ann 0 1 4 3600 -"),
    ] {
        let told = succeed(folder.path(), &["trace", "inspect", file, "--set", set]);
        let plain = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.lines().map(plain).any(|line| line == row), "{row} in\n{told}");
    }
    let refused = |file: &str, set: &str| {
        let output = meed(folder.path(), &["trace", "inspect", file, "--set", set]);
        assert!(!output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let told = refused("jobs.txt", "trace.queues=qos");
    assert!(told.contains("tenant: there is no column \"QOS\"; known are JobID, User"), "{told}");
    let plain = "user,submit,duration\nann,0,1\n";
    fs::write(folder.path().join("plain.csv"), plain).expect("a writable folder");
    let told = refused("plain.csv", "trace.shape=gang");
    assert!(told.contains("`shape` means nothing for a trace of this format"), "{told}");
}
