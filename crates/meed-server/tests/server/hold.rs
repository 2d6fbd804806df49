//! A job that has begun is held: what runs goes on, the rest waits until it is released, and each
//! task runs once under its own number, whatever dies meanwhile.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use crate::bench::{Server, until, verify};

const CONFIG: &str = "[server]\naffinity = false\nmembers = { a = [\"root\"] }\n\
    [cluster]\nresources = [\"cpu\"]\nnode = [{ capacity = { cpu = 2 } }]\n\
    [[queue]]\nname = \"a\"\n";

/// A line for each attempt; then it runs until its own file is there, or that for all.
fn script(server: &Server) -> String {
    let base = server.base.path().display();
    format!(
        "echo $MEED_TASK $MEED_ATTEMPT >> {base}/begun; \
         until [ -e {base}/go ] || [ -e {base}/go$MEED_TASK ]; do sleep 0.02; done; \
         [ ! -e {base}/fail$MEED_TASK ] || [ $MEED_ATTEMPT != 0 ] || exit 1; echo $MEED_TASK"
    )
}

fn begun(server: &Server) -> Vec<String> {
    let text = fs::read_to_string(server.path("begun")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn submit(server: &Server, args: &[&str]) -> String {
    let script = script(server);
    let job = server.submit(&[&["-q", "a"], args, &["--", "sh", "-c", &script]].concat());
    until("two run", || (begun(server).len() == 2).then_some(()));
    job
}

fn go(server: &Server, which: &str) {
    fs::write(server.path(&format!("go{which}")), "").unwrap();
}

/// Held, with so many tasks done and none running.
fn rests(server: &Server, job: &str, done: u64) {
    until("what ran has ended", || {
        let shown = server.json(&["show", job]);
        (shown["done"] == done && shown["running"] == 0).then_some(())
    });
    std::thread::sleep(Duration::from_millis(300));
    let shown = server.json(&["show", job]);
    assert_eq!((&shown["state"], &shown["running"]), (&"held".into(), &0.into()), "{shown}");
}

/// All of it is done, each task once and under its number, and the journal says the same.
fn is_done(server: &mut Server, job: &str, tasks: u64) {
    server.ok(&["wait", job]);
    let shown = server.json(&["show", job]);
    assert_eq!((&shown["done"], &shown["failed"]), (&tasks.into(), &0.into()), "{shown}");
    let mut times: BTreeMap<String, u32> = BTreeMap::new();
    begun(server).into_iter().for_each(|line| *times.entry(line).or_default() += 1);
    assert!(times.values().all(|&times| times == 1), "begun twice: {times:?}");
    for task in 0..tasks {
        let log = server.ok(&["logs", job, "--task", &task.to_string()]);
        assert_eq!(log.trim(), task.to_string(), "the output of task {task}");
        assert_eq!(shown["task"][task.to_string()]["index"], task);
    }
    assert_eq!(server.stop(), Some(0));
    let folder = server.state().join("journal");
    verify(&folder);
}

#[test]
fn what_runs_goes_on_and_the_rest_waits() {
    let mut server = Server::start(Some(CONFIG));
    let job = submit(&server, &["--array", "0-5"]);
    server.ok(&["hold", &job]);
    let shown = server.json(&["show", &job]);
    assert_eq!((&shown["state"], &shown["running"]), (&"held".into(), &2.into()));
    let (code, why) = server.refused(&["release", "99"]);
    assert!(code.is_some() && why.contains("99"), "{why}");
    go(&server, "0");
    go(&server, "1");
    rests(&server, &job, 2);
    // The room is for others.
    let other = server.submit(&["-q", "a", "--", "true"]);
    server.ok(&["wait", &other]);
    server.ok(&["release", &job]);
    until("two more run", || (begun(&server).len() == 4).then_some(()));
    // And once more.
    server.ok(&["hold", &job]);
    go(&server, "2");
    go(&server, "3");
    rests(&server, &job, 4);
    go(&server, "");
    server.ok(&["release", &job]);
    is_done(&mut server, &job, 6);
}

#[test]
fn no_more_run_at_once_than_may_after_a_release() {
    let mut server = Server::start(Some(&CONFIG.replace("cpu = 2 }", "cpu = 8 }")));
    let job = submit(&server, &["--array", "0-6%2"]);
    server.ok(&["hold", &job]);
    server.ok(&["release", &job]);
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(begun(&server).len(), 2, "two run still");
    let why = server.ok(&["why", &job]);
    assert!(why.contains("As many of its tasks run as may run at once: 2."), "{why}");
    go(&server, "0");
    until("one more runs", || (begun(&server).len() == 3).then_some(()));
    assert_eq!(server.json(&["show", &job])["running"], 2);
    server.ok(&["hold", &job]);
    go(&server, "");
    rests(&server, &job, 3);
    server.ok(&["release", &job]);
    is_done(&mut server, &job, 7);
}

#[test]
fn what_fails_while_its_job_is_held_is_tried_again_after_the_release() {
    let mut server = Server::start(Some(CONFIG));
    fs::write(server.path("fail1"), "").unwrap();
    let job = submit(&server, &["--array", "0-3", "--retries", "1"]);
    server.ok(&["hold", &job]);
    go(&server, "");
    rests(&server, &job, 1);
    assert_eq!(begun(&server).len(), 2);
    server.ok(&["release", &job]);
    server.ok(&["wait", &job]);
    assert!(begun(&server).contains(&"1 1".to_owned()), "{:?}", begun(&server));
    is_done(&mut server, &job, 4);
}

#[test]
fn a_hold_outlives_the_server() {
    let mut server = Server::start(Some(CONFIG));
    let job = submit(&server, &["--array", "0-5"]);
    server.ok(&["hold", &job]);
    server.kill();
    go(&server, "0");
    go(&server, "1");
    std::thread::sleep(Duration::from_millis(300));
    server.run();
    rests(&server, &job, 2);
    server.ok(&["release", &job]);
    server.kill();
    server.run();
    until("two more run", || (begun(&server).len() == 4).then_some(()));
    server.ok(&["hold", &job]);
    server.supervisors().into_iter().for_each(|number| crate::bench::signal(number, "KILL"));
    until("they are lost", || (server.json(&["show", &job])["running"] == 0).then_some(()));
    server.kill();
    server.run();
    rests(&server, &job, 2);
    fs::remove_file(server.path("begun")).unwrap();
    go(&server, "");
    server.ok(&["release", &job]);
    is_done(&mut server, &job, 6);
}

/// The server dies while it holds: before the books know, between books and journal, or after.
#[test]
fn the_server_dies_while_it_holds() {
    let mut server = Server::start(Some(CONFIG));
    let job = submit(&server, &["--array", "0-15"]);
    for round in 0..6_u64 {
        let mut holds = server.command(&["hold", &job]).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(4 + 3 * round));
        server.kill();
        // The answer may have come, or not.
        holds.wait().unwrap();
        server.run();
        if server.json(&["show", &job])["state"] == "held" {
            let before = begun(&server).len();
            let running = server.json(&["show", &job])["running"].as_u64().unwrap();
            go(&server, &round.to_string());
            std::thread::sleep(Duration::from_millis(150));
            assert_eq!(begun(&server).len(), before, "round {round}: {running} ran");
            server.ok(&["release", &job]);
        } else {
            go(&server, &round.to_string());
        }
    }
    go(&server, "");
    is_done(&mut server, &job, 16);
}

#[test]
fn nothing_to_hold_is_said_and_a_held_job_can_be_cancelled() {
    let mut server = Server::start(Some(CONFIG));
    let job = submit(&server, &["--array", "0-1"]);
    let (code, why) = server.refused(&["hold", &job]);
    assert_eq!(code, Some(3));
    assert!(why.contains("none of its tasks waits"), "{why}");
    server.ok(&["cancel", &job]);
    fs::remove_file(server.path("begun")).unwrap();
    let job = submit(&server, &["--array", "0-4"]);
    server.ok(&["hold", &job]);
    server.ok(&["cancel", &job]);
    until("nothing runs", || server.supervisors().is_empty().then_some(()));
    assert_eq!(server.json(&["show", &job])["state"], "cancelled");
    server.stop();
}

/// An attempt that was lost is in no book, and is counted all the same.
#[test]
fn attempts_are_counted_on_after_a_loss_and_a_hold() {
    let server = Server::start(Some(
        "[server]\naffinity = false\n[cluster]\nresources = [\"cpu\"]\n\
         node = [{ capacity = { cpu = 1 } }]\n",
    ));
    let job = server.submit(&[
        "--",
        "sh",
        "-c",
        "echo $MEED_ATTEMPT; test $MEED_ATTEMPT != 0 || sleep 600",
    ]);
    until("it runs", || (server.json(&["show", &job])["state"] == "running").then_some(()));
    // With less room it is lost, and waits.
    let config = "[server]\naffinity = false\n[cluster]\nresources = [\"cpu\"]\n\
                  node = [{ capacity = { cpu = 0.5 } }]\n";
    fs::write(server.path("meed.toml"), config).unwrap();
    server.ok(&["reload"]);
    until("it waits", || (server.json(&["show", &job])["state"] == "waiting").then_some(()));
    server.ok(&["hold", &job]);
    server.ok(&["release", &job]);
    let config = config.replace("cpu = 0.5", "cpu = 1");
    fs::write(server.path("meed.toml"), config).unwrap();
    server.ok(&["reload"]);
    server.ok(&["wait", &job]);
    let told = server.ok(&["logs", &job]);
    assert!(told.ends_with("1\n") && !told.ends_with("0\n"), "{told:?}");
}
