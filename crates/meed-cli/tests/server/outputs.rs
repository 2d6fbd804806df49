//! Where outputs go, and what happens to them.

use crate::bench::{Server, until};

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
