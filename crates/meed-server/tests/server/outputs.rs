//! Where outputs go, and what happens to them.

use std::fs;

use crate::bench::{Server, is_root, say, until, verify};
use crate::crash::Small;

#[test]
fn logs_of_what_keeps_no_output_say_so_at_once() {
    let server = Server::start(None);
    let pipe = server.path("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let job = server.submit(&["--output", pipe.to_str().unwrap(), "--", "true"]);
    until("it runs", || (server.json(&["show", &job])["running"] == 1).then_some(()));
    let (code, why) = server.refused(&["logs", &job]);
    assert_eq!(code, Some(4), "{why}");
    assert!(why.contains("named pipe") && why.contains("pipe: this is"), "{why}");
    server.ok(&["cancel", &job]);
    let job = server.submit(&["--output", "/dev/null", "--", "true"]);
    server.ok(&["wait", &job]);
    let (code, why) = server.refused(&["logs", &job]);
    assert_eq!(code, Some(4), "{why}");
    assert!(why.contains("a device"), "{why}");
    until("the pipe's task is gone", || server.supervisors().is_empty().then_some(()));
}

/// A task writes without end to the disk that the state is on. Server, journal and other tasks go
/// on, and so does the task; a line says what is missing.
#[test]
fn an_output_that_would_fill_the_disk_is_left_out() {
    if !is_root("an output that fills the disk") {
        return;
    }
    let base = tempfile::tempdir().unwrap();
    let Some(small) = Small::mount(base.path().join("small"), "16m") else {
        return say("skipped: an output that fills the disk needs the right to mount");
    };
    let config = "[server]\naffinity = false\nmembers = { a = [\"root\"] }\n\
        [cluster]\nresources = [\"cpu\"]\nnode = [{ capacity = { cpu = 3 } }]\n\
        [[queue]]\nname = \"a\"\n";
    let mut server = Server::start_in(base, small.0.join("state"), Some(config));
    let go = server.path("go");
    let quiet = format!("while ! test -e {}; do sleep 0.02; done; echo well", go.display());
    let quiet = server.submit(&["-q", "a", "--", "sh", "-c", &quiet]);
    let stop = server.path("stop");
    let loud = format!("i=0; while ! test -e {}; do seq 10000; done; echo the end", stop.display());
    let loud = server.submit(&["-q", "a", "--", "sh", "-c", &loud]);
    let log = server.state().join("log/000").join(&loud).join("0.log");
    let length = || fs::metadata(&log).map_or(0, |found| found.len());
    until("the disk is nearly full", || (length() > 8 << 20).then_some(()));
    // Much more than would fit.
    std::thread::sleep(std::time::Duration::from_secs(2));
    assert!(length() < 15 << 20, "a reserve is left: {}", length());
    for _ in 0..20 {
        let job = server.submit(&["-q", "a", "--", "true"]);
        server.ok(&["wait", &job]);
    }
    fs::write(&go, "").unwrap();
    server.ok(&["wait", &quiet]);
    assert_eq!(server.ok(&["logs", &quiet]), "well\n");
    fs::write(&stop, "").unwrap();
    server.ok(&["wait", &loud]);
    let text = fs::read_to_string(&log).unwrap();
    let last = text.lines().last().unwrap();
    assert!(last.contains("bytes of output are left out here"), "{last}");
    assert_eq!(server.stop(), Some(0));
    let folder = server.state().join("journal");
    verify(&folder);
}

#[test]
fn no_more_of_a_tasks_output_is_kept_than_the_server_allows() {
    let config = "[server]\naffinity = false\nmax_output = \"10KiB\"\n\
        [cluster]\nresources = [\"cpu\"]\nnode = [{ capacity = { cpu = 1 } }]\n";
    let server = Server::start(Some(config));
    let job = server.submit(&["--", "sh", "-c", "seq 100000; echo well > done"]);
    server.ok(&["wait", &job]);
    assert_eq!(fs::read_to_string(server.path("done")).unwrap(), "well\n", "the task goes on");
    let kept = server.ok(&["logs", &job]);
    assert!(kept.starts_with("1\n2\n") && kept.len() < 10_500, "{}", kept.len());
    let told: Vec<&str> = kept.lines().rev().take(2).collect();
    assert_eq!(told[1], "meed: a task keeps no more output (max_output)");
    assert!(told[0].contains("578655 bytes of output are left out here: it was too"), "{told:?}");
    let nothing = server.refused(&["submit", "--cpu", "0", "--", "true"]);
    assert!(nothing.1.contains("must ask for some amount"), "{nothing:?}");
}
