//! A socket that the service manager hands over.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::process::{Command, Stdio};

use crate::bench::{MEED, signal, until};

/// As a manager starts it: the socket is file 3, and is there before the server and after it.
#[test]
fn a_socket_that_is_handed_over_is_served_and_stays() {
    let base = tempfile::tempdir().unwrap();
    let path = base.path().join("meed.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let ours = OwnedFd::from(listener.try_clone().unwrap());
    let script = "exec 3<&0 0</dev/null; export LISTEN_PID=$$ LISTEN_FDS=1; exec \"$@\"";
    let mut command = Command::new("sh");
    command.args(["-c", script, "sh", MEED, "serve", "--state"]).arg(base.path().join("state"));
    command.stdin(ours).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut server = command.spawn().unwrap();
    let client = |args: &[&str]| {
        let mut client = Command::new(MEED);
        client.args(args).env("MEED_SOCKET", &path).current_dir(base.path());
        client.stdin(Stdio::null()).output().unwrap()
    };
    // Nobody is refused: who comes early waits.
    let files = "ls -l /proc/self/fd | grep -c socket: ; true";
    assert!(client(&["submit", "--name", "files", "--", "sh", "-c", files]).status.success());
    assert!(client(&["wait", "files"]).status.success());
    let told = client(&["logs", "files"]).stdout;
    assert_eq!(String::from_utf8_lossy(&told).trim(), "0", "tasks have no part of it");
    signal(server.id(), "TERM");
    assert!(until("the server stops", || server.try_wait().unwrap()).success());
    assert!(path.exists(), "it is the manager's");
    drop(listener);
}
