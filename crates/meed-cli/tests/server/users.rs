//! Two users who try each other's things.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use crate::bench::{MEED, Server, is_root, text, until};

const ANN: u32 = 64_101;
const BOB: u32 = 64_102;

/// The program, where others reach it.
fn program(server: &Server) -> PathBuf {
    let path = server.path("meed");
    if !path.exists() {
        fs::copy(MEED, &path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    path
}

fn as_user(server: &Server, uid: u32, args: &[&str]) -> Output {
    let mut command = Command::new("setpriv");
    let id = uid.to_string();
    command.args(["--reuid", &id, "--regid", &id, "--clear-groups", "--inh-caps=-all", "--"]);
    command.args(args).env("MEED_SOCKET", server.socket()).stdin(Stdio::null());
    command.current_dir("/").output().unwrap()
}

fn meed(server: &Server, uid: u32, args: &[&str]) -> Output {
    let program = program(server);
    as_user(server, uid, &[&[program.to_str().unwrap()], args].concat())
}

fn ok(server: &Server, uid: u32, args: &[&str]) -> String {
    let output = meed(server, uid, args);
    assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
    text(&output.stdout).trim().to_owned()
}

fn code(server: &Server, uid: u32, args: &[&str]) -> Option<i32> {
    meed(server, uid, args).status.code()
}

#[test]
fn each_has_their_own_and_nothing_of_the_other() {
    if !is_root("two users") {
        return;
    }
    let server = Server::start(None);
    let script = "id -u; id -G; grep CapEff /proc/self/status; echo $SECRET $HOME; sleep 0.1";
    let ann = ok(&server, ANN, &["submit", "--name", "hers", "--", "sh", "-c", script]);
    ok(&server, ANN, &["wait", "hers"]);
    let logs = ok(&server, ANN, &["logs", &ann]);
    let wanted = format!("{ANN}\n{ANN}\nCapEff:\t0000000000000000\n");
    assert!(logs.starts_with(&wanted), "{logs}");
    // Bob sees that there is a job, and no more.
    let jobs = ok(&server, BOB, &["jobs", "--all", "--ended", "--json"]);
    assert!(jobs.contains(&format!("uid-{ANN}")) && !jobs.contains("hers"), "{jobs}");
    let long = ok(&server, ANN, &["submit", "--", "sleep", "60"]);
    for command in ["show", "why", "cancel", "hold", "release", "logs"] {
        assert_eq!(code(&server, BOB, &[command, &long]), Some(7), "{command}");
    }
    assert_eq!(code(&server, BOB, &["reload"]), Some(7));
    let her_queue = format!("uid-{ANN}");
    assert_eq!(code(&server, BOB, &["submit", "-q", &her_queue, "--", "true"]), Some(7));
    let queues: serde_json::Value =
        serde_json::from_str(&ok(&server, BOB, &["queues", "--json"])).unwrap();
    let of = |user: u32| {
        let name = format!("uid-{user}");
        let all = queues["queues"].as_array().unwrap();
        all.iter().find(|queue| queue["queue"] == name.as_str()).cloned()
    };
    assert!(of(ANN).is_some_and(|queue| queue.get("books").is_none()), "her ledger is hers");
    // Files: her output is hers, the state is the server's.
    let shown: serde_json::Value =
        serde_json::from_str(&ok(&server, ANN, &["show", &ann, "--json"])).unwrap();
    let log = shown["task"]["0"]["log"].as_str().unwrap().to_owned();
    assert!(as_user(&server, ANN, &["cat", &log]).status.success());
    assert!(!as_user(&server, BOB, &["cat", &log]).status.success());
    let folder = PathBuf::from(&log).parent().unwrap().to_owned();
    let link = ["ln", "-sf", "/etc/shadow", &log].map(str::to_owned);
    let link: Vec<&str> = link.iter().map(String::as_str).collect();
    assert!(!as_user(&server, ANN, &link).status.success(), "no link takes its place");
    assert!(
        !as_user(&server, ANN, &["touch", folder.join("x").to_str().unwrap()]).status.success()
    );
    for inner in ["jobs/jobs.redb", "jobs", "journal", "run", "lock"] {
        let path = server.state().join(inner);
        let path = path.to_str().unwrap();
        assert!(!as_user(&server, ANN, &["cat", path]).status.success(), "{inner} can be read");
        assert!(!as_user(&server, ANN, &["ls", &format!("{path}/")]).status.success(), "{inner}");
    }
    // Nobody becomes root by naming files: an output is opened by the user's own rights.
    let secret = server.path("secret");
    fs::write(&secret, "root's").unwrap();
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).unwrap();
    let to = secret.to_str().unwrap().to_owned();
    let job = ok(&server, ANN, &["submit", "--output", &to, "--", "echo", "hers now"]);
    assert_eq!(code(&server, ANN, &["wait", &job]), Some(1));
    assert_eq!(fs::read_to_string(&secret).unwrap(), "root's");
    let why = ok(&server, ANN, &["show", &job]);
    assert!(why.contains("Permission denied"), "{why}");
    // She cannot stop her own supervisor, nor take its environment for root's.
    let supervisors = until("it runs", || Some(server.supervisors()).filter(|all| !all.is_empty()));
    for number in supervisors {
        let number = number.to_string();
        assert!(!as_user(&server, ANN, &["kill", "-9", &number]).status.success());
    }
    assert_eq!(server.json(&["cancel", &long])["state"], "cancelled");
}

#[test]
fn without_root_a_server_serves_its_own_user() {
    if !is_root("changing the user") {
        return;
    }
    let base = tempfile::tempdir().unwrap();
    fs::set_permissions(base.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let (program, socket) = (base.path().join("meed"), base.path().join("own.sock"));
    fs::copy(MEED, &program).unwrap();
    let id = ANN.to_string();
    let mut command = Command::new("setpriv");
    command.args(["--reuid", &id, "--regid", &id, "--clear-groups", "--"]).arg(&program);
    command.arg("serve").arg("--state").arg(base.path().join("own")).arg("--socket").arg(&socket);
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    until("it answers", || std::os::unix::net::UnixStream::connect(&socket).ok());
    let run = |uid: u32, args: &[&str]| {
        let id = uid.to_string();
        let mut command = Command::new("setpriv");
        command.args(["--reuid", &id, "--regid", &id, "--clear-groups", "--"]).arg(&program);
        command.args(args).env("MEED_SOCKET", &socket).current_dir("/").output().unwrap()
    };
    let done = run(ANN, &["submit", "--wait", "--", "true"]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert_eq!(run(BOB, &["jobs"]).status.code(), Some(6), "others cannot even connect");
    crate::bench::signal(child.id(), "TERM");
    until("it stops", || child.try_wait().unwrap());
}
