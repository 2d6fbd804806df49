//! Control groups: whoever leaves its parents and wipes its environment does not get away, groups
//! go with their tasks, and memory is bounded where the kernel can do it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::bench::{MEED, Server, say, signal, until};

const CONFIG: &str = "[server]\naffinity = false\nmembers = { a = [\"root\"] }\n\
    [cluster]\nresources = [\"cpu\", \"memory\"]\n\
    node = [{ capacity = { cpu = 4, memory = \"1GiB\" } }]\n[[queue]]\nname = \"a\"\n";

/// The folder of the server's groups; `None`, said aloud: there are none here.
fn groups(server: &Server, what: &str) -> Option<PathBuf> {
    let log = server.log();
    let found = log.lines().find_map(|line| line.split_once("meed: control groups at "));
    let Some((_, rest)) = found else {
        say(&format!("skipped: {what} needs cgroup v2 delegation"));
        return None;
    };
    let end = rest.find([',', ':']).unwrap();
    Some(PathBuf::from(&rest[..end]))
}

fn lives(number: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().flatten();
    let folders = entries.filter(|entry| entry.file_type().unwrap().is_dir());
    folders.map(|entry| entry.file_name().into_string().unwrap()).collect()
}

/// A job whose child has nothing of it: other parents, other session, no environment.
fn forks_away(server: &Server) -> (String, u32) {
    let file = server.path("away");
    let _ = fs::remove_file(&file);
    let inner = format!("echo $$ > {}; exec sleep 1000", file.display());
    let script = format!("(env -i setsid sh -c '{inner}' &) ; exec sleep 1000");
    let job = server.submit(&["-q", "a", "--", "sh", "-c", &script]);
    let away = until("it forks away", || {
        fs::read_to_string(&file).ok().and_then(|text| text.trim().parse().ok())
    });
    (job, away)
}

#[test]
fn who_forks_away_does_not_outlive_its_killed_supervisor() {
    let mut server = Server::start(Some(CONFIG));
    let Some(folder) = groups(&server, "a process that forks away") else { return };
    for server_dies_too in [false, true] {
        let (job, away) = forks_away(&server);
        let group = folder.join(format!("{job}-0-0"));
        let inside = fs::read_to_string(group.join("cgroup.procs")).unwrap();
        assert!(inside.lines().any(|line| line == away.to_string()), "{inside}");
        if server_dies_too {
            server.kill();
        }
        server.supervisors().into_iter().for_each(|number| signal(number, "KILL"));
        if server_dies_too {
            server.run();
        }
        until("who forked away is killed", || (!lives(away)).then_some(()));
        server.ok(&["cancel", &job]);
        until("groups go with their tasks", || names(&folder).is_empty().then_some(()));
    }
    assert_eq!(server.stop(), Some(0));
    assert!(!folder.exists(), "the server's own group goes when nothing runs");
}

#[test]
fn who_forks_away_is_killed_at_the_end_of_its_task() {
    let server = Server::start(Some(CONFIG));
    let (job, away) = forks_away(&server);
    server.ok(&["cancel", &job]);
    until("it is killed", || (!lives(away)).then_some(()));
}

#[test]
fn groups_that_nobody_knows_are_swept_when_the_server_comes_back() {
    let mut server = Server::start(Some(CONFIG));
    let Some(folder) = groups(&server, "a stray group") else { return };
    let job = server.submit(&["-q", "a", "--", "sleep", "1000"]);
    until("it runs", || (server.json(&["show", &job])["running"] == 1).then_some(()));
    server.kill();
    let stray = folder.join("77-0-0");
    fs::create_dir(&stray).unwrap();
    let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
    fs::write(stray.join("cgroup.procs"), child.id().to_string()).unwrap();
    server.run();
    until("the stray is killed", || child.try_wait().unwrap());
    assert_eq!(names(&folder), [format!("{job}-0-0")], "who runs stays");
    assert_eq!(server.json(&["show", &job])["running"], 1);
    server.ok(&["cancel", &job]);
    until("it goes as well", || names(&folder).is_empty().then_some(()));
    server.stop();
}

#[test]
fn without_groups_the_server_says_so() {
    let server =
        Server::start(Some(&CONFIG.replace("[server]", "[server]\ncontrol_groups = false")));
    let log = server.log();
    assert!(log.contains("no control groups (control_groups = false): memory is counted"), "{log}");
    let job = server.submit(&["-q", "a", "--memory", "64MiB", "--", "true"]);
    let shown = server.ok(&["show", &job]);
    assert!(shown.contains("memory     counted, not enforced"), "{shown}");
}

#[test]
fn memory_is_bounded_for_all_of_a_task_together() {
    let mut server = Server::start(Some(CONFIG));
    if server.log().contains("memory is counted") {
        return say("skipped: memory that is enforced needs cgroup v2 delegation with memory");
    }
    let script = "head -c 300M /dev/zero | tail > /dev/null; echo not reached";
    let job = server.submit(&["-q", "a", "--memory", "64MiB", "--", "sh", "-c", script]);
    assert_eq!(server.output(&["wait", &job]).status.code(), Some(1));
    let shown = server.ok(&["show", &job]);
    assert!(shown.contains("out of memory") && shown.contains("enforced by"), "{shown}");
    assert!(!server.ok(&["logs", &job]).contains("not reached"), "all of it is killed");
    let well = server.submit(&["-q", "a", "--memory", "64MiB", "--", "true"]);
    server.ok(&["wait", &well]);
    server.stop();
}

/// What is written into that file of the task's group, once it runs.
fn written(folder: &Path, job: &str, name: &str) -> String {
    let path = folder.join(format!("{job}-0-0")).join(name);
    until("it runs in its group", || {
        let text = fs::read_to_string(&path).ok()?;
        let procs = fs::read_to_string(path.with_file_name("cgroup.procs")).ok()?;
        (!procs.is_empty()).then(|| text.trim().to_owned())
    })
}

/// Time of processors that the job's task has used, in seconds.
fn used_s(server: &Server, job: &str) -> f64 {
    server.json(&["show", job])["task"]["0"]["ended"]["cpu_us"].as_f64().unwrap() / 1e6
}

#[test]
fn a_task_gets_the_time_of_processors_that_it_asks_for() {
    let mut server = Server::start(Some(CONFIG));
    if !server.log().contains("time of processors") {
        return say("skipped: bounded processors need cgroup v2 delegation with cpu");
    }
    let folder = groups(&server, "bounded processors").unwrap();
    let burn = "while :; do :; done";
    let burns = |asks: &[&str]| {
        let tail = ["--time", "3s", "--grace", "1s", "--", "sh", "-c", burn];
        server.submit(&[&["-q", "a"], asks, &tail].concat())
    };
    let little = burns(&["--cpu", "0.1"]);
    assert_eq!(written(&folder, &little, "cpu.max"), "10000 100000");
    assert_eq!(written(&folder, &little, "cpu.weight"), "10");
    assert_eq!(server.output(&["wait", &little]).status.code(), Some(1), "its time is over");
    let used = used_s(&server, &little);
    assert!(used < 0.8, "a tenth of 3 s, and what it takes to begin: {used}");
    server.stop();
    let config = CONFIG.replace("[server]", "[server]\ncpu_max = false");
    server.run_with(&config);
    let words = "processors are shared by weight and not bounded (cpu_max = false)";
    assert!(server.log_since_start().contains(words), "{}", server.log_since_start());
    let job = server.submit(&["-q", "a", "--cpu", "0.5", "--", "sleep", "1000"]);
    assert_eq!(written(&folder, &job, "cpu.max"), "max 100000");
    assert_eq!(written(&folder, &job, "cpu.weight"), "50");
    server.ok(&["cancel", &job]);
    server.stop();
}

#[test]
fn a_task_cannot_leave_its_processors() {
    let config = CONFIG.replace("affinity = false\n", "").replace("cpu = 4", "cpu = 2");
    let mut server = Server::start(Some(&config));
    if !server.log().contains("own processors") {
        return say("skipped: processors of one's own need cgroup v2 delegation with cpuset");
    }
    let script = "taskset -cp 0,1 $$ > /dev/null 2>&1; grep Cpus_allowed_list /proc/self/status";
    let job = server.submit(&["-q", "a", "--", "sh", "-c", script]);
    server.ok(&["wait", &job]);
    let told = server.ok(&["logs", &job]);
    let list = told.split_whitespace().last().unwrap();
    assert!(list == "0" || list == "1", "one processor: {told}");
    server.stop();
}

#[test]
fn a_task_that_forks_without_end_harms_nobody_else() {
    let config = CONFIG.replace("[server]", "[server]\nmax_processes = 20");
    let mut server = Server::start(Some(&config));
    if !server.log().contains("number of processes") {
        return say("skipped: bounded processes need cgroup v2 delegation with pids");
    }
    let script = "i=0; while test $i -lt 60; do sleep 9 & i=$((i+1)); done; echo all of them";
    let job = server.submit(&["-q", "a", "--", "sh", "-c", script]);
    let _ = server.output(&["wait", &job]);
    assert!(!server.ok(&["logs", &job]).contains("all of them"));
    let other = server.submit(&["-q", "a", "--", "sh", "-c", "sleep 0.1 & wait; echo well"]);
    server.ok(&["wait", &other]);
    assert_eq!(server.ok(&["logs", &other]), "well\n");
    server.stop();
}

/// What the kernel writes, written here: so the words are tested on machines without it.
#[test]
fn an_end_for_want_of_memory_is_told_as_such() {
    let base = tempfile::tempdir().unwrap();
    for (kills, script, cause) in
        [(1, "kill -9 $$", "memory"), (0, "kill -9 $$", "itself"), (1, "exit 3", "itself")]
    {
        let run = base.path().join(format!("{kills}-{}", script.len()));
        let group = run.join("group");
        fs::create_dir_all(&group).unwrap();
        fs::write(group.join("cgroup.procs"), "").unwrap();
        fs::write(group.join("memory.events"), format!("oom 4\noom_kill {kills}\n")).unwrap();
        fs::write(group.join("memory.peak"), "123456\n").unwrap();
        let ticket = json!({
            "version": 1, "cookie": "c", "command": ["sh", "-c", script],
            "env": [["PATH", std::env::var("PATH").unwrap()]], "folder": "/", "umask": 18,
            "limits": [], "account": null, "log": run.join("log"), "stdout": null,
            "stderr": null, "time_ms": null, "grace_ms": 100, "group": group,
            "processors": [], "gpus": [],
        });
        fs::write(run.join("ticket.json"), ticket.to_string()).unwrap();
        let ended = Command::new(MEED).arg("__supervise").arg(&run).status().unwrap();
        assert!(ended.success());
        let text = fs::read_to_string(run.join("result.json")).unwrap();
        let result: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&result["cause"], &result["peak_bytes"]), (&json!(cause), &json!(123_456)));
        assert_eq!(fs::read_to_string(group.join("cgroup.procs")).unwrap(), "0", "it entered");
    }
}
