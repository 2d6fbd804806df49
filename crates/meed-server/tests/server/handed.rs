//! What a service manager does: it hands over a socket, and hears how the server is.

use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::process::{Command, Stdio};
use std::time::Duration;

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

#[test]
fn what_is_handed_over_must_be_one_socket_that_listens() {
    let base = tempfile::tempdir().unwrap();
    for (count, message) in [("1", "Accept=no"), ("-1", "LISTEN_FDS is -1; one socket is served")] {
        let (connection, _other) = UnixStream::pair().unwrap();
        let script =
            format!("exec 3<&0 0</dev/null; export LISTEN_PID=$$ LISTEN_FDS={count}; exec \"$@\"");
        let mut command = Command::new("sh");
        command.args(["-c", &script, "sh", MEED, "serve", "--state"]);
        command.arg(base.path().join("state")).stdin(OwnedFd::from(connection));
        let output = command.output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && told.contains(message), "{count}: {told}");
    }
}

/// As `Type=notify` with a watchdog wants it: ready when it answers, alive again and again while
/// its one thread turns, stopping when it is told to end; and nothing more once that thread stands.
#[test]
fn the_service_manager_hears_that_it_is_ready_alive_and_stopping() {
    let base = tempfile::tempdir().unwrap();
    let (path, socket) = (base.path().join("notify"), base.path().join("meed.sock"));
    let manager = UnixDatagram::bind(&path).unwrap();
    manager.set_read_timeout(Some(Duration::from_secs(40))).unwrap();
    let mut command = Command::new(MEED);
    command.arg("serve").arg("--state").arg(base.path().join("state")).arg("--socket").arg(&socket);
    command.env("NOTIFY_SOCKET", &path).stdin(Stdio::null()).stderr(Stdio::null());
    let mut server = command.spawn().unwrap();
    let hear = || {
        let mut told = [0; 200];
        let count = manager.recv(&mut told).unwrap();
        String::from_utf8_lossy(&told[..count]).into_owned()
    };
    assert_eq!(hear(), "READY=1");
    let client = Command::new(MEED).arg("queues").env("MEED_SOCKET", &socket).output().unwrap();
    assert!(client.status.success(), "ready is when it answers");
    for _ in 0..3 {
        assert_eq!(hear(), "WATCHDOG=1");
    }
    // A server that stands still says nothing: the manager starts another.
    signal(server.id(), "STOP");
    manager.set_nonblocking(true).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    while manager.recv(&mut [0; 200]).is_ok() {}
    std::thread::sleep(Duration::from_secs(2));
    assert!(manager.recv(&mut [0; 200]).is_err(), "it lives and does not turn");
    manager.set_nonblocking(false).unwrap();
    signal(server.id(), "CONT");
    assert_eq!(hear(), "WATCHDOG=1");
    signal(server.id(), "TERM");
    until("it says that it stops", || (hear() == "STOPPING=1").then_some(()));
    assert!(until("the server stops", || server.try_wait().unwrap()).success());
}
