//! `kill -9` of the server, of supervisors, and of both, again and again, while hundreds of tasks
//! run: arrays, dependencies, failures, limits of time, GPUs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::Duration;

use serde_json::Value;

use crate::bench::{Server, say, signal, until, verify};
use crate::crash::{journal, key};

const CONFIG: &str = "policy = \"long-term\"\n[server]\naffinity = false\ngrace = \"200ms\"\n\
    members = { a = [\"root\"], b = [\"root\"] }\n[cluster]\nresources = [\"cpu\", \"gpu\"]\n\
    node = [{ capacity = { cpu = 8, gpu = 3 } }]\n\
    [[queue]]\nname = \"a\"\n[[queue]]\nname = \"b\"\nweight = 2\n";
/// At least; on a busy machine few tasks run at a time, and it takes more to meet enough.
const ROUNDS: u64 = 9;
const ENOUGH: usize = 11;

/// How a job must end.
#[derive(Clone, Copy, PartialEq)]
enum Wanted {
    Well,
    /// Each of its tasks by this exit status.
    Badly(i64),
    /// Each of its tasks by its limit of time.
    Late,
}

/// What is handed in in a round, and how it must end, with its number of tasks.
fn submit(server: &Server, queue: &str) -> Vec<(String, (Wanted, usize))> {
    let at = server.base.path().display();
    let mark = format!("MEED_TEST={at}");
    // A line for each attempt, as soon as it begins.
    let begin = format!("echo $MEED_JOB $MEED_TASK $MEED_ATTEMPT >> {at}/begun");
    let well = format!("{begin}; sleep 0.0$((MEED_TASK % 7 + 2)); echo done");
    // Who holds an index locks its file: the lock goes with the last process that has it open.
    let gpu = format!(
        "{begin}; exec 9> {at}/gpu.$CUDA_VISIBLE_DEVICES; \
         flock -n 9 || echo $MEED_JOB $MEED_TASK >> {at}/shared; sleep 0.05; echo done"
    );
    let badly = format!("{begin}; exit 4");
    let late = format!("{begin}; sleep 1000");
    let one = |args: &[&str], script: &str, wanted: (Wanted, usize)| {
        let run = ["--", "env", &mark, "sh", "-c", script];
        (server.submit(&[&["-q", queue], args, &run].concat()), wanted)
    };
    let array = one(&["--array", "0-15%6"], &well, (Wanted::Well, 16));
    let after = one(&["--after", &array.0], &well, (Wanted::Well, 1));
    vec![
        one(&["--tasks", "6", "--gpu", "1"], &gpu, (Wanted::Well, 6)),
        one(&["--tasks", "2", "--retries", "1"], &badly, (Wanted::Badly(4), 2)),
        one(&["--tasks", "2", "--time", "300ms"], &late, (Wanted::Late, 2)),
        array,
        after,
    ]
}

#[test]
fn hundreds_of_tasks_outlive_a_storm() {
    let mut server = Server::start(Some(CONFIG));
    let mut wanted: BTreeMap<String, (Wanted, usize)> = BTreeMap::new();
    let (mut killed, mut round) = (0, 0);
    while round < ROUNDS || killed < ENOUGH && round < 10 * ROUNDS {
        wanted.extend(submit(&server, if round % 2 == 0 { "a" } else { "b" }));
        std::thread::sleep(Duration::from_millis(60 + round * 61 % 130));
        let (server_dies, supervisors_die) = (round % 3 != 1, round % 3 != 0);
        if server_dies {
            server.kill();
        }
        if supervisors_die {
            // Some of them, so that others go on.
            let some = server.supervisors().into_iter().step_by(2);
            killed += some.map(|number| signal(number, "KILL")).count();
        }
        if server_dies {
            server.run();
        }
        round += 1;
    }
    let tasks: usize = wanted.values().map(|(_, tasks)| tasks).sum();
    say(&format!("a storm over {tasks} tasks: {killed} supervisors were killed"));
    assert!(tasks > 200 && killed >= ENOUGH, "{tasks} tasks, {killed} supervisors");
    for (job, (how, tasks)) in &wanted {
        let code = server.output(&["wait", job]).status.code();
        assert_eq!(code, Some(i32::from(*how != Wanted::Well)), "job {job}");
        ended_so(&server, job, *how, *tasks);
    }
    until("nothing is left running", || server.processes().is_empty().then_some(()));
    let shared = fs::read_to_string(server.path("shared")).unwrap_or_default();
    assert_eq!(shared, "", "GPUs were shared");
    let begun = fs::read_to_string(server.path("begun")).unwrap();
    let lines: BTreeSet<&str> = begun.lines().collect();
    assert_eq!(lines.len(), begun.lines().count(), "an attempt has begun twice");
    books_are_the_journals(&mut server);
}

/// Each task by itself: nothing is missing of what it left.
fn ended_so(server: &Server, job: &str, how: Wanted, tasks: usize) {
    let shown = server.json(&["show", job]);
    let all = shown["task"].as_object().unwrap();
    assert_eq!(all.len(), tasks, "job {job}: {shown}");
    for (number, task) in all {
        let ended = &task["ended"];
        match how {
            Wanted::Well => {
                let log = server.ok(&["logs", job, "--task", number]);
                assert_eq!(log.lines().last(), Some("done"), "job {job}, task {number}");
                assert_eq!(ended["how"]["exit"], 0, "{task}");
            }
            Wanted::Badly(status) => assert_eq!(ended["how"]["exit"], status, "{task}"),
            Wanted::Late => assert_eq!(ended["cause"], "time", "{task}"),
        }
    }
}

/// Each start has one end, the ledger is the same to the bit for who comes back to it, and whoever
/// plays the journal decides and charges the same.
fn books_are_the_journals(server: &mut Server) {
    let usage = |server: &Server| -> Vec<u64> {
        let queues = server.json(&["queues"]);
        let all = queues["queues"].as_array().unwrap().iter();
        all.map(|queue| queue["books"]["usage"].as_f64().unwrap().to_bits()).collect()
    };
    let before = usage(server);
    server.kill();
    server.run();
    assert_eq!(usage(server), before, "the ledger of a server that comes back");
    assert_eq!(server.stop(), Some(0));
    let mut running: BTreeSet<(String, u64, u64)> = BTreeSet::new();
    let mut known = running.clone();
    for record in journal(server) {
        if let Some(start) = record.get("start") {
            assert!(known.insert(key(start)), "{start} twice in the journal");
            running.insert(key(start));
        }
        for kind in ["end", "fail", "lost", "undone"] {
            let fact: Option<&Value> = record.get(kind);
            assert!(fact.is_none_or(|fact| running.remove(&key(fact))), "{record} of no start");
        }
    }
    assert!(running.is_empty(), "{running:?} without an end");
    let folder = server.state().join("journal");
    verify(&folder);
}

/// The folder of a task that is over stays for a moment. A server that comes back meanwhile must
/// not give its numbers away once more: another has them by then.
#[test]
fn numbers_of_what_is_over_belong_to_whoever_has_them_now() {
    let mut server = Server::start(Some(CONFIG));
    let gpu = ["-q", "a", "--gpu", "1", "--", "sh", "-c"];
    let submit = |server: &Server, script: &str| server.submit(&[&gpu[..], &[script]].concat());
    let go = server.path("go");
    let wait = format!("while ! test -e {}; do sleep 0.02; done", go.display());
    let over = submit(&server, &wait);
    let run = server.state().join("run").join(format!("{over}-0-0"));
    until("it has begun", || run.join("began.json").exists().then_some(()));
    let kept = server.path("kept");
    let copied = std::process::Command::new("cp").arg("-r").arg(&run).arg(&kept).status();
    assert!(copied.unwrap().success());
    fs::write(&go, "").unwrap();
    server.ok(&["wait", &over]);
    let index = |server: &Server, job: &str| -> u64 {
        until("it runs", || server.json(&["show", job])["task"]["0"]["gpus"][0].as_u64())
    };
    let holds = submit(&server, "sleep 1000");
    assert_eq!(index(&server, &holds), 0, "what was free is taken again");
    server.kill();
    let _ = fs::remove_dir_all(&run);
    fs::rename(&kept, &run).unwrap();
    server.run();
    until("the folder is cleared away", || (!run.exists()).then_some(()));
    let next = submit(&server, "sleep 1000");
    assert_ne!(index(&server, &next), 0, "it is another's");
    server.ok(&["cancel", &holds, &next]);
}
