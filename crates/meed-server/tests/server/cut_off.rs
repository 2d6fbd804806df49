//! A request that is durable in the books and not in the journal, when the server dies: it is
//! carried out at the next start, whether its job waits, runs, is held or is tried again.

use std::fs;

use meed_server::books::{Fate, JobBooks, JobPart, JobRow, Phase, Writes};

use crate::bench::{Server, until, verify};

const CONFIG: &str = "[server]\naffinity = false\nmembers = { a = [\"root\"] }\n\
    [cluster]\nresources = [\"cpu\"]\nnode = [{ capacity = { cpu = 2 } }]\n\
    [[queue]]\nname = \"a\"\n";

/// As the books are once a request is durable there, and nowhere else.
fn only_in_the_books(server: &Server, job: &str, change: impl FnOnce(&mut JobRow)) {
    let (books, _) = JobBooks::open(&server.state().join("jobs")).unwrap();
    let mut row = books.job(job.parse().unwrap()).unwrap().unwrap();
    change(&mut row);
    let mut writes = Writes::default();
    writes.job(&row);
    books.write(&writes, true).unwrap();
}

fn cancel(row: &mut JobRow) {
    row.end(Fate::Cancelled, None, 1_760_000_000_000_000);
}

fn hold(row: &mut JobRow) {
    row.holds += 1;
    (row.phase, row.told) = (Phase::Held, 0);
}

/// A job whose tasks run until they are stopped.
fn running(server: &Server, args: &[&str], tasks: usize) -> String {
    let mark = format!("MEED_TEST={}", server.base.path().display());
    let script = format!(
        "echo $MEED_TASK $MEED_ATTEMPT >> {}; test $MEED_ATTEMPT = 0 && \
         test -e {} && exit 1; exec sleep 1000",
        server.path("begun").display(),
        server.path("fail").display()
    );
    let command = ["--", "env", &mark, "sh", "-c", &script];
    let job = server.submit(&[&["-q", "a"], args, &command].concat());
    let runs = || server.json(&["show", &job])["running"] == tasks;
    until("it runs", || (runs() && server.processes().len() >= tasks).then_some(()));
    job
}

/// Cancelled, nothing of it runs or waits, and the machine is free.
fn is_cancelled(server: &mut Server, job: &str) {
    until("it is stopped", || server.processes().is_empty().then_some(()));
    // The server hears of an end some time after the process has gone.
    until("it has ended", || (server.json(&["show", job])["running"] == 0).then_some(()));
    let shown = server.json(&["show", job]);
    assert_eq!(shown["state"], "cancelled", "{shown}");
    let queues = server.json(&["queues"]);
    assert_eq!(queues["queues"][0]["waiting_tasks"], 0, "{queues}");
    let next = server.submit(&["-q", "a", "--cpu", "2", "--", "true"]);
    server.ok(&["wait", &next]);
    until("its folders go", || {
        (fs::read_dir(server.state().join("run")).unwrap().count() == 0).then_some(())
    });
    let folder = server.state().join("journal");
    assert_eq!(server.stop(), Some(0));
    verify(&folder);
}

#[test]
fn a_cancel_of_what_runs() {
    let mut server = Server::start(Some(CONFIG));
    let job = running(&server, &["--tasks", "3"], 2);
    server.kill();
    only_in_the_books(&server, &job, cancel);
    server.run();
    is_cancelled(&mut server, &job);
    assert_eq!(fs::read_to_string(server.path("begun")).unwrap().lines().count(), 2);
}

#[test]
fn a_cancel_of_what_ended_before_the_server_came_back() {
    let mut server = Server::start(Some(CONFIG));
    let job = running(&server, &["--retries", "3"], 1);
    server.kill();
    only_in_the_books(&server, &job, cancel);
    server.processes().into_iter().for_each(|number| crate::bench::signal(number, "KILL"));
    until("it has ended", || server.supervisors().is_empty().then_some(()));
    server.run();
    is_cancelled(&mut server, &job);
    assert_eq!(fs::read_to_string(server.path("begun")).unwrap().lines().count(), 1);
}

#[test]
fn a_cancel_of_a_task_that_was_to_be_tried_again() {
    let mut server = Server::start(Some(CONFIG));
    fs::write(server.path("fail"), "").unwrap();
    let job = running(&server, &["--retries", "3"], 1);
    // It may be the first attempt that runs still.
    let begun = || fs::read_to_string(server.path("begun")).unwrap_or_default().lines().count();
    until("the second attempt has begun", || (begun() == 2).then_some(()));
    server.kill();
    only_in_the_books(&server, &job, cancel);
    server.supervisors().into_iter().for_each(|number| crate::bench::signal(number, "KILL"));
    server.run();
    is_cancelled(&mut server, &job);
    assert_eq!(fs::read_to_string(server.path("begun")).unwrap().lines().count(), 2);
}

#[test]
fn a_cancel_of_what_waits() {
    let mut server = Server::start(Some(CONFIG));
    let first = running(&server, &["--cpu", "2"], 1);
    let job = running(&server, &["--cpu", "2"], 0);
    server.kill();
    only_in_the_books(&server, &job, cancel);
    server.run();
    let queues = server.json(&["queues"]);
    assert_eq!(queues["queues"][0]["waiting_tasks"], 0, "{queues}");
    server.ok(&["cancel", &first]);
    is_cancelled(&mut server, &job);
    assert_eq!(fs::read_to_string(server.path("begun")).unwrap().lines().count(), 1);
}

#[test]
fn a_cancel_of_what_is_held_and_runs() {
    let mut server = Server::start(Some(CONFIG));
    let job = running(&server, &["--tasks", "4"], 2);
    server.ok(&["hold", &job]);
    server.kill();
    only_in_the_books(&server, &job, cancel);
    server.run();
    is_cancelled(&mut server, &job);
}

#[test]
fn a_cancel_of_what_was_released_and_runs_in_two_parts() {
    let mut server = Server::start(Some(CONFIG));
    let job = running(&server, &["--tasks", "3"], 2);
    server.ok(&["hold", &job]);
    server.ok(&["release", &job]);
    server.kill();
    only_in_the_books(&server, &job, cancel);
    server.run();
    is_cancelled(&mut server, &job);
}

#[test]
fn a_hold_of_what_waits() {
    let mut server = Server::start(Some(CONFIG));
    let first = running(&server, &["--cpu", "2"], 1);
    let job = server.submit(&["-q", "a", "--cpu", "2", "--", "true"]);
    server.kill();
    only_in_the_books(&server, &job, hold);
    server.run();
    let queues = server.json(&["queues"]);
    assert_eq!(queues["queues"][0]["waiting_tasks"], 0, "{queues}");
    assert_eq!(server.json(&["show", &job])["state"], "held");
    server.ok(&["cancel", &first]);
    server.ok(&["release", &job]);
    server.ok(&["wait", &job]);
    let folder = server.state().join("journal");
    assert_eq!(server.stop(), Some(0));
    verify(&folder);
}

/// Who waits for a job that is cancelled so goes on, or never begins, as after any cancel.
#[test]
fn dependents_follow() {
    let mut server = Server::start(Some(CONFIG));
    let job = running(&server, &[], 1);
    let after = server.submit(&["-q", "a", "--after", &job, "--", "true"]);
    let always = server.submit(&["-q", "a", "--after-any", &job, "--", "true"]);
    server.kill();
    only_in_the_books(&server, &job, cancel);
    server.run();
    server.ok(&["wait", &always]);
    assert_eq!(server.output(&["wait", &after]).status.code(), Some(1));
    is_cancelled(&mut server, &job);
}

/// What waits of a job that has begun is held: it is taken back when its turn comes.
#[test]
fn a_hold_of_the_rest_of_what_runs() {
    let mut server = Server::start(Some(CONFIG));
    let (begun, go) = (server.path("begun"), server.path("go"));
    let (begins, goes) = (begun.display(), go.display());
    let script =
        format!("echo $MEED_TASK >> {begins}; while ! test -e {goes}; do sleep 0.02; done");
    let job = server.submit(&["-q", "a", "--tasks", "4", "--", "sh", "-c", &script]);
    let count = || fs::read_to_string(&begun).unwrap_or_default().lines().count();
    until("two run", || (count() == 2).then_some(()));
    server.kill();
    only_in_the_books(&server, &job, |row| {
        row.holds += 1;
        row.parts.insert(row.holds, JobPart::of(&[2, 3]));
        row.phase = Phase::Held;
        (row.told, row.told_of_part) = (2, 0);
    });
    server.run();
    fs::write(&go, "").unwrap();
    until("what ran has ended", || (server.json(&["show", &job])["done"] == 2).then_some(()));
    let other = server.submit(&["-q", "a", "--cpu", "2", "--", "true"]);
    server.ok(&["wait", &other]);
    assert_eq!(server.json(&["show", &job])["state"], "held");
    assert_eq!(count(), 2, "nothing of what is held begins");
    server.ok(&["release", &job]);
    server.ok(&["wait", &job]);
    assert_eq!(count(), 4);
    let folder = server.state().join("journal");
    assert_eq!(server.stop(), Some(0));
    verify(&folder);
}

#[test]
fn a_release() {
    let mut server = Server::start(Some(CONFIG));
    let job = server.submit(&["-q", "a", "--hold", "--", "true"]);
    server.kill();
    only_in_the_books(&server, &job, |row| row.phase = Phase::New);
    server.run();
    server.ok(&["wait", &job]);
}
