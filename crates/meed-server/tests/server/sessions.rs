//! Jobs that their users talk to: input, outputs, a terminal, signals, and an end with the
//! connection.

use std::fs;
use std::io::{Read, Write};
use std::process::{Child, Stdio};

use crate::bench::{Server, is_root, signal, text, until};
use crate::users::{ANN, BOB, as_is, ok};

const ONE: &str = "[server]\naffinity = false\ngrace = \"1s\"\nmembers = { a = [\"root\"] }\n\
    [cluster]\nresources = [\"cpu\"]\nnode = [{ capacity = { cpu = 1 } }]\n\
    [[queue]]\nname = \"a\"\norder = \"fifo\"\n";

fn run(server: &Server, args: &[&str]) -> Child {
    let mut command = server.command(&[&["run"], args].concat());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn newest(server: &Server) -> serde_json::Value {
    server.json(&["jobs", "--ended"])["jobs"][0].clone()
}

fn runs(server: &Server) {
    until("it runs", || (newest(server)["running"] == 1).then_some(()));
}

#[test]
fn input_and_both_outputs_are_those_of_the_command() {
    let server = Server::start(Some(ONE));
    let mut child = run(&server, &["--", "sh", "-c", "cat; echo wrong >&2; exit 7"]);
    let long = "a line of input\n".repeat(20_000);
    let mut input = child.stdin.take().unwrap();
    let writer = std::thread::spawn({
        let long = long.clone();
        move || input.write_all(long.as_bytes()).unwrap()
    });
    let done = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert_eq!(done.status.code(), Some(7), "the command's own: {}", text(&done.stderr));
    assert_eq!(text(&done.stdout), long);
    assert!(text(&done.stderr).ends_with("wrong\n"), "{}", text(&done.stderr));
    // It is a job as any other: its output is kept, and its end is its own.
    let job = newest(&server);
    assert_eq!(job["state"], "failed");
    let kept = server.ok(&["logs", &job["id"].to_string()]);
    assert_eq!(kept.len(), long.len() + "wrong\n".len());
    let short = run(&server, &["--", "true"]).wait_with_output().unwrap();
    assert_eq!((short.status.code(), text(&short.stdout)), (Some(0), String::new()));
    let over = run(&server, &["--time", "300ms", "sleep", "100"]).wait_with_output().unwrap();
    assert_eq!(over.status.code(), Some(143));
    assert!(text(&over.stderr).contains("its time was over"), "{}", text(&over.stderr));
    let missing = run(&server, &["--", "no-such-program"]).wait_with_output().unwrap();
    assert_eq!(missing.status.code(), Some(127), "{}", text(&missing.stderr));
    assert!(text(&missing.stderr).contains("no-such-program"), "{}", text(&missing.stderr));
}

#[test]
fn who_waits_is_told_until_when_and_who_goes_away_is_cancelled() {
    let mut server = Server::start(Some(ONE));
    let first = server.submit(&["--time", "1h", "--", "sleep", "1000"]);
    runs(&server);
    let mut child = run(&server, &["-n", "mine", "--", "echo", "here"]);
    let mut said = child.stderr.take().unwrap();
    let mut line = String::new();
    until("it says until when", || {
        let mut bytes = [0; 1000];
        let count = said.read(&mut bytes).unwrap();
        line += &text(&bytes[..count]);
        line.contains("at the latest").then_some(())
    });
    assert!(line.contains("job 2 waits: ") && line.contains(" there is room in "), "{line}");
    // It waits on while the server is started again, and goes with its connection.
    server.kill();
    server.run();
    assert_eq!(server.json(&["show", "mine"])["state"], "waiting");
    until("it is tied again", || {
        let mut bytes = [0; 1000];
        let count = said.read(&mut bytes).unwrap();
        line += &text(&bytes[..count]);
        line.contains("it is waited for").then_some(())
    });
    std::thread::sleep(std::time::Duration::from_millis(500));
    child.kill().unwrap();
    child.wait().unwrap();
    until("it is cancelled", || (newest(&server)["state"] == "cancelled").then_some(()));
    let next = run(&server, &["--", "echo", "here"]);
    server.ok(&["cancel", &first]);
    let next = next.wait_with_output().unwrap();
    assert_eq!((next.status.code(), text(&next.stdout).as_str()), (Some(0), "here\n"));
}

#[test]
fn a_job_ends_with_its_connection_also_while_nobody_serves() {
    let mut server = Server::start(Some(ONE));
    for server_is_gone in [false, true] {
        let file = server.path("hung-up");
        let _ = fs::remove_file(&file);
        let script = format!(
            "trap 'echo hung > {}; exit 0' HUP; while :; do sleep 0.05; done",
            file.display()
        );
        let mut child = run(&server, &["--", "sh", "-c", &script]);
        runs(&server);
        // The session has begun once the input is taken.
        let mut input = child.stdin.take().unwrap();
        input.write_all(b"x").unwrap();
        std::thread::sleep(std::time::Duration::from_millis(500));
        if server_is_gone {
            server.kill();
            child.kill().unwrap();
            child.wait().unwrap();
            until("it is told", || file.exists().then_some(()));
            until("it ends", || server.supervisors().is_empty().then_some(()));
            server.run();
        } else {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        until("it is over", || (newest(&server)["running"] == 0).then_some(()));
        let state = newest(&server)["state"].as_str().unwrap().to_owned();
        assert!(["cancelled", "done", "failed"].contains(&state.as_str()), "{state}");
    }
}

#[test]
fn signals_reach_the_command() {
    let server = Server::start(Some(ONE));
    let script = "trap 'echo int; exit 3' INT; echo ready; while :; do sleep 0.05; done";
    let mut child = run(&server, &["--", "sh", "-c", script]);
    let mut out = child.stdout.take().unwrap();
    let mut bytes = [0; 100];
    let count = out.read(&mut bytes).unwrap();
    assert_eq!(&bytes[..count], b"ready\n");
    signal(child.id(), "INT");
    assert_eq!(child.wait().unwrap().code(), Some(3));
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "int\n");
}

/// `script` gives a terminal here; `stty size` says which one the command sees.
#[test]
fn a_terminal_has_the_size_of_this_one_and_its_keys_are_signals() {
    let server = Server::start(Some(ONE));
    let inner = "stty size; tty -s && echo terminal; trap 'echo interrupted; exit 5' INT; echo go; \
        while :; do sleep 0.05; done";
    fs::write(server.path("inner.sh"), inner).unwrap();
    let program = crate::bench::MEED;
    let line = format!("stty rows 31 cols 97; {program} run -- sh inner.sh; echo \"code $?\"");
    let mut command = std::process::Command::new("script");
    command.args(["-qec", &line, "/dev/null"]).env("MEED_SOCKET", server.socket());
    command.current_dir(server.base.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (mut keys, mut out) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut shown = String::new();
    let mut until_shown = |words: &str| {
        until(words, || {
            let mut bytes = [0; 4096];
            if !shown.contains(words) {
                let count = out.read(&mut bytes).unwrap();
                shown += &text(&bytes[..count]);
            }
            shown.contains(words).then(|| shown.clone())
        })
    };
    let seen = until_shown("go\r\n");
    assert!(seen.contains("31 97") && seen.contains("terminal"), "{seen}");
    // Another looks on, and sees what comes from then on.
    let id = newest(&server)["id"].to_string();
    let mut other = server.command(&["attach", &id]);
    let other = other.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let other = other.unwrap();
    std::thread::sleep(std::time::Duration::from_millis(500));
    keys.write_all(b"\x03").unwrap();
    keys.flush().unwrap();
    let seen = until_shown("code 5");
    assert!(seen.contains("interrupted"), "{seen}");
    let other = other.wait_with_output().unwrap();
    assert_eq!(other.status.code(), Some(5), "{}", text(&other.stderr));
    assert!(text(&other.stdout).contains("interrupted"), "{}", text(&other.stdout));
    drop(keys);
    child.wait().unwrap();
}

#[test]
fn nobody_else_joins_a_session() {
    if !is_root("a session of another") {
        return;
    }
    let server = Server::start(None);
    // The program is there for both from now on.
    ok(&server, BOB, &["jobs"]);
    let ann = std::thread::scope(|scope| {
        let go = server.path("go");
        let script = format!("while ! test -e {}; do sleep 0.05; done; id -u", go.display());
        let server = &server;
        let hers = scope.spawn(move || as_is(server, ANN, &["run", "--", "sh", "-c", &script]));
        until("it runs", || {
            let jobs = ok(server, ANN, &["jobs", "--json"]);
            jobs.contains("\"running\":1").then_some(())
        });
        assert_eq!(as_is(server, BOB, &["attach", "1"]).status.code(), Some(7));
        let socket = server.state().join("log/000/1/0.session");
        let owner = std::os::unix::fs::MetadataExt::uid(&fs::metadata(&socket).unwrap());
        assert_eq!(owner, ANN);
        let program = ["sh", "-c", &format!("exec 3<> {}", socket.display())];
        let reached = crate::users::as_user(server, BOB, &program);
        assert!(!reached.status.success(), "Bob cannot open it");
        fs::write(&go, "").unwrap();
        hers.join().unwrap()
    });
    assert_eq!(text(&ann.stdout).trim(), ANN.to_string(), "{}", text(&ann.stderr));
}

#[test]
fn a_submission_that_waits_prints_what_its_tasks_write() {
    let server = Server::start(Some(ONE));
    let done = server.output(&["submit", "--wait", "sh", "-c", "echo one; echo two >&2; exit 3"]);
    assert_eq!(done.status.code(), Some(1));
    assert_eq!(text(&done.stdout), "1\none\ntwo\n");
}
