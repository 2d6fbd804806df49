//! Members of one queue have turns of their own.

use crate::bench::{Server, is_root, until, verify};
use crate::users::{ANN, BOB, as_is, ok};

/// One processor for a team of two.
const TEAM: &str = "[server]\naffinity = false\n\
    members = { vision = [\"uid-64101\", \"uid-64102\"] }\n\
    [cluster]\nresources = [\"cpu\"]\nnode = [{ capacity = { cpu = 1 } }]\n\
    [[queue]]\nname = \"vision\"\n";

/// As it was before members had turns, and as who writes it so has it.
fn in_order_of_arrival() -> String {
    TEAM.to_owned() + "order = \"fifo\"\n"
}

/// Ann has three tasks, each of which waits for a file; Bob has one.
fn race(server: &Server) -> (String, String) {
    let go = |name: &str| {
        let file = server.path(name);
        format!("while ! test -e {}-$MEED_TASK; do sleep 0.02; done", file.display())
    };
    let hers = ["submit", "--array", "1-3", "--", "sh", "-c", &go("go")];
    let hers = ok(server, ANN, &hers);
    until("the first runs", || (running(server, &hers) == 1).then_some(()));
    let his = ok(server, BOB, &["submit", "--", "sh", "-c", &go("his")]);
    (hers, his)
}

fn running(server: &Server, job: &str) -> u64 {
    server.json(&["show", job])["running"].as_u64().unwrap()
}

fn queue_of(server: &Server, job: &str) -> String {
    server.json(&["show", job])["queue"].as_str().unwrap().to_owned()
}

#[test]
fn who_has_used_less_of_a_shared_queue_is_next() {
    if !is_root("members of a queue") {
        return;
    }
    let mut server = Server::start(Some(TEAM));
    let (hers, his) = race(&server);
    assert_eq!(queue_of(&server, &hers), "vision.uid-64101");
    assert_eq!(queue_of(&server, &his), "vision.uid-64102");
    std::fs::write(server.path("go-1"), "").unwrap();
    until("he is next", || (running(&server, &his) == 1).then_some(()));
    assert_eq!(running(&server, &hers), 0);
    // A name of the team is enough, and nobody has the place of another.
    let again = ok(&server, ANN, &["submit", "-q", "vision.uid-64101", "--", "true"]);
    assert_eq!(queue_of(&server, &again), "vision.uid-64101");
    let refused = as_is(&server, BOB, &["submit", "-q", "vision.uid-64101", "--", "true"]);
    assert_eq!(refused.status.code(), Some(7));
    let listed = server.json(&["jobs", "--all", "-q", "vision"]);
    assert_eq!(listed["jobs"].as_array().unwrap().len(), 3);
    // The queues are there again after a crash, and members who have gone lose nothing.
    server.kill();
    server.run();
    ["go-2", "go-3", "his-0"].iter().for_each(|it| std::fs::write(server.path(it), "").unwrap());
    [&hers, &his, &again].iter().for_each(|job| drop(server.ok(&["wait", job])));
    assert_eq!(server.stop(), Some(0));
    verify(&server.state().join("journal"));
}

#[test]
fn a_queue_that_says_how_it_orders_keeps_its_order() {
    if !is_root("members of a queue") {
        return;
    }
    let server = Server::start(Some(&in_order_of_arrival()));
    let (hers, his) = race(&server);
    assert_eq!(queue_of(&server, &his), "vision");
    std::fs::write(server.path("go-1"), "").unwrap();
    until("the first is over", || {
        (server.json(&["show", &hers])["done"] == 1 && running(&server, &hers) == 1).then_some(())
    });
    assert_eq!(running(&server, &his), 0, "first come, first served");
}

/// A queue that has jobs can have none below it: the change comes with their end.
#[test]
fn turns_come_once_the_jobs_of_the_queue_itself_have_ended() {
    if !is_root("members of a queue") {
        return;
    }
    let mut server = Server::start(Some(&in_order_of_arrival()));
    let held = ok(&server, ANN, &["submit", "--hold", "--", "true"]);
    server.stop();
    server.run_with(TEAM);
    let log = server.log_since_start();
    assert!(log.contains("queue `vision`: its members have turns of their own once"), "{log}");
    let before = ok(&server, BOB, &["submit", "--", "true"]);
    assert_eq!(queue_of(&server, &before), "vision");
    server.ok(&["release", &held]);
    [&before, &held].iter().for_each(|job| drop(server.ok(&["wait", job])));
    let after = ok(&server, BOB, &["submit", "--", "sleep", "100"]);
    assert_eq!(queue_of(&server, &after), "vision.uid-64102");
    // And back: who is there stays until it has ended.
    server.stop();
    server.run_with(&in_order_of_arrival());
    assert_eq!(server.json(&["show", &after])["running"], 1);
    let next = ok(&server, ANN, &["submit", "--", "true"]);
    assert_eq!(queue_of(&server, &next), "vision.uid-64101");
    [&after, &next].iter().for_each(|job| drop(server.output(&["cancel", job])));
    [&after, &next].iter().for_each(|job| drop(server.output(&["wait", job])));
    server.ok(&["reload"]);
    let last = ok(&server, ANN, &["submit", "--", "true"]);
    assert_eq!(queue_of(&server, &last), "vision");
    server.ok(&["wait", &last]);
    assert_eq!(server.stop(), Some(0));
    verify(&server.state().join("journal"));
}

#[test]
fn a_user_holds_no_more_than_each_may() {
    if !is_root("members of a queue") {
        return;
    }
    let bounded = TEAM.replace("cpu = 1 }", "cpu = 3 }");
    let at_most = |most: u32| {
        bounded.replace("[server]", &format!("[server]\nuser_max = {{ cpu = {most} }}"))
    };
    let mut server = Server::start(Some(&at_most(1)));
    let hers = ok(&server, ANN, &["submit", "--array", "1-3", "--", "sleep", "100"]);
    let his = ok(&server, BOB, &["submit", "--", "sleep", "100"]);
    until("both have one", || (running(&server, &his) == 1).then_some(()));
    assert_eq!(running(&server, &hers), 1);
    let why = ok(&server, ANN, &["why", &hers]);
    assert!(why.contains("Queue vision.uid-64101 is at its maximum."), "{why}");
    let refused = as_is(&server, ANN, &["submit", "--cpu", "2", "--", "true"]);
    let said = crate::bench::text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(3));
    assert!(said.contains("asks for 2 cpu; a user has at most 1"), "{said}");
    // A change is for those who are there as well, by a reload and by a start.
    std::fs::write(server.path("meed.toml"), at_most(2)).unwrap();
    server.ok(&["reload"]);
    until("she has two", || (running(&server, &hers) == 2).then_some(()));
    server.stop();
    server.run_with(&bounded);
    let more = ok(&server, BOB, &["submit", "--array", "1-2", "--", "sleep", "100"]);
    server.ok(&["cancel", &his]);
    until("nobody is bounded any more", || {
        (running(&server, &hers) + running(&server, &more) == 3).then_some(())
    });
    [&hers, &more].iter().for_each(|job| drop(server.output(&["cancel", job])));
    [&hers, &more].iter().for_each(|job| drop(server.output(&["wait", job])));
    assert_eq!(server.stop(), Some(0));
    verify(&server.state().join("journal"));
}
