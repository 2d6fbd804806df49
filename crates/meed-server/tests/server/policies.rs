//! Another policy, while a server runs and while it is stopped: what was used is kept, and the
//! journal decides the same again.

use std::fs;

use crate::bench::{Server, until, verify};

fn config(policy: &str, own: &str) -> String {
    format!(
        "policy = \"{policy}\"\n[server]\naffinity = false\n\
         members = {{ a = [\"root\"], b = [\"root\"] }}\n[cluster]\nresources = [\"cpu\"]\n\
         node = [{{ capacity = {{ cpu = 1 }} }}]\n[[queue]]\nname = \"a\"\n{own}[[queue]]\n\
         name = \"b\"\n"
    )
}

/// What a queue has used, as its policy remembers it.
fn used(server: &Server, queue: usize) -> f64 {
    server.json(&["queues"])["queues"][queue]["books"]["usage"].as_f64().unwrap()
}

#[test]
fn a_policy_changes_while_the_server_runs() {
    let mut server = Server::start(Some(&config("long-term", "")));
    let job = server.submit(&["-q", "a", "--", "sleep", "1"]);
    server.ok(&["wait", &job]);
    let before = used(&server, 0);
    assert!(before >= 1.0, "{before}");
    // The ledger goes on under another memory.
    fs::write(server.path("meed.toml"), config("long-term,half_life=7d,t_wait=1h", "")).unwrap();
    server.ok(&["reload"]);
    let after = used(&server, 0);
    assert!((before - after).abs() < 0.01 * before, "{before} {after}");
    // Who has used less is first; under fifo, who came first.
    let blocks = server.submit(&["-q", "b", "--", "sleep", "600"]);
    until("it runs", || (server.json(&["show", &blocks])["state"] == "running").then_some(()));
    let first = server.submit(&["-q", "a", "--", "true"]);
    server.submit(&["-q", "b", "--", "true"]);
    let order = "order = \"fifo\"\n";
    server.stop();
    fs::write(server.path("meed.toml"), config("fifo", order)).unwrap();
    // Started again with the file as it is now.
    server.run_with(&config("fifo", order));
    assert!(server.ok(&["why", &first]).contains("by fifo"), "{first}");
    server.ok(&["cancel", &blocks]);
    server.ok(&["wait", &first]);
    server.kill();
    server.run();
    server.stop();
    let journal = server.state().join("journal");
    verify(&journal);
    server.meed(&["replay", journal.to_str().unwrap(), "-p", "fair"]);
    let lines = fs::read_dir(&journal).unwrap().flatten().filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        name.ends_with(".jsonl").then(|| fs::read_to_string(entry.path()).unwrap())
    });
    let text: String = lines.collect();
    assert_eq!(text.matches("\"policies_changed\"").count(), 2, "one for each change");
}
