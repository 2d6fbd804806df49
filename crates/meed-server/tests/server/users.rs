//! Two users who try each other's things.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use crate::bench::{MEED, Server, is_root, text, until};

pub(crate) const ANN: u32 = 64_101;
pub(crate) const BOB: u32 = 64_102;

/// The program, where others reach it.
fn program(server: &Server) -> PathBuf {
    let path = server.path("meed");
    if !path.exists() {
        fs::copy(MEED, &path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    path
}

pub(crate) fn as_user(server: &Server, uid: u32, args: &[&str]) -> Output {
    let mut command = Command::new("setpriv");
    let id = uid.to_string();
    command.args(["--reuid", &id, "--regid", &id, "--clear-groups", "--inh-caps=-all", "--"]);
    command.args(args).env("MEED_SOCKET", server.socket()).stdin(Stdio::null());
    command.current_dir("/").output().unwrap()
}

pub(crate) fn as_is(server: &Server, uid: u32, args: &[&str]) -> Output {
    let program = program(server);
    as_user(server, uid, &[&[program.to_str().unwrap()], args].concat())
}

pub(crate) fn ok(server: &Server, uid: u32, args: &[&str]) -> String {
    let output = as_is(server, uid, args);
    assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
    text(&output.stdout).trim().to_owned()
}

fn code(server: &Server, uid: u32, args: &[&str]) -> Option<i32> {
    as_is(server, uid, args).status.code()
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
    let long = ok(&server, ANN, &["submit", "--name", "long", "--", "sleep", "60"]);
    // Names are each user's own.
    assert_eq!(code(&server, ANN, &["submit", "--name", "long", "--", "true"]), Some(3));
    let his = ok(&server, BOB, &["submit", "--name", "long", "--hold", "--", "true"]);
    assert_eq!(
        ok(&server, BOB, &["cancel", "long", "--json"])
            .split("\"id\":")
            .nth(1)
            .unwrap()
            .split(',')
            .next(),
        Some(his.as_str())
    );
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
    // A table may wrap the words.
    let why = ok(&server, ANN, &["show", &job, "--json"]);
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

/// Where the machine's server is down nobody is sent to start a second one, and who has one of
/// their own is told that jobs go there.
#[test]
fn nobody_is_sent_to_lend_the_machine_a_second_time() {
    if !is_root("changing the user") {
        return;
    }
    if std::path::Path::new("/run/meed/meed.sock").exists() {
        return crate::bench::say("skipped: a server of this machine would answer");
    }
    let base = tempfile::tempdir().unwrap();
    fs::set_permissions(base.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let program = base.path().join("meed");
    fs::copy(MEED, &program).unwrap();
    let id = ANN.to_string();
    let meed = |args: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", &id, "--regid", &id, "--clear-groups", "--"]).arg(&program);
        command.args(args).env_remove("MEED_SOCKET").env_remove("XDG_RUNTIME_DIR");
        command.env("XDG_STATE_HOME", base.path().join("hers")).current_dir("/");
        command
    };
    let down = meed(&["submit", "--", "true"]).output().unwrap();
    let why = text(&down.stderr);
    assert_eq!(down.status.code(), Some(6), "{why}");
    assert!(why.contains("/run/meed/meed.sock") && why.contains("ask who runs"), "{why}");
    assert!(!why.contains("meed serve"), "{why}");
    let mut own = meed(&["serve"]).stderr(Stdio::null()).spawn().unwrap();
    let socket = base.path().join("hers/meed/meed.sock");
    until("it answers", || std::os::unix::net::UnixStream::connect(&socket).ok());
    let done = meed(&["submit", "--", "true"]).output().unwrap();
    let told = text(&done.stderr);
    assert!(done.status.success() && told.contains("a server of your own"), "{told}");
    assert!(told.contains(socket.to_str().unwrap()), "{told}");
    crate::bench::signal(own.id(), "TERM");
    until("it stops", || own.try_wait().unwrap());
}

#[test]
fn why_tells_nothing_of_what_is_anothers() {
    if !is_root("two users") {
        return;
    }
    let config = format!(
        "[server]\naffinity = false\nmembers = {{ lab = [\"uid-{ANN}\", \"uid-{BOB}\"], \
         hers = [\"uid-{ANN}\"] }}\n[cluster]\nresources = [\"cpu\"]\n\
         node = [{{ capacity = {{ cpu = 2 }} }}]\n[[queue]]\nname = \"lab\"\norder = \"fifo\"\n\
         [[queue]]\nname = \"hers\"\n"
    );
    let server = Server::start(Some(&config));
    let submit = |uid: u32, queue: &str, name: &str| {
        let script = ["submit", "-q", queue, "--cpu", "2", "--name", name, "--", "sleep", "1000"];
        ok(&server, uid, &script)
    };
    let holds = submit(ANN, "hers", "holds");
    until("it runs", || {
        ok(&server, ANN, &["show", &holds, "--json"]).contains("\"running\":1").then_some(())
    });
    // In both queues something waits; in the shared one her job comes before his.
    let first = submit(ANN, "lab", "project-x");
    submit(ANN, "hers", "next");
    let job = submit(BOB, "lab", "his");
    let why = |uid: u32, job: &str| -> serde_json::Value {
        serde_json::from_str(&ok(&server, uid, &["why", job, "--json"])).unwrap()
    };
    let key_of = |told: &serde_json::Value, queue: &str| {
        let children = told["standing"]["levels"][0]["children"].as_array().unwrap();
        let child = children.iter().find(|child| child["queue"] == queue);
        child.unwrap_or_else(|| panic!("{queue} is not told: {told}")).get("key").cloned()
    };
    let his = why(BOB, &job);
    assert!(!his.to_string().contains("project-x"), "{his}");
    assert_eq!(his["standing"]["leaf"]["first"][0]["job"], first.as_str(), "{his}");
    assert_eq!(key_of(&his, "hers"), None, "{his}");
    assert!(key_of(&his, "lab").is_some(), "{his}");
    let words = ok(&server, BOB, &["why", &job]);
    assert!(words.contains("hers") && !words.contains("hers ("), "{words}");
    // Her own, and an operator's view, are whole.
    assert!(key_of(&why(ANN, &first), "hers").is_some());
    let all = server.json(&["why", &job]);
    assert!(key_of(&all, "hers").is_some() && all.to_string().contains("project-x"), "{all}");
    ok(&server, ANN, &["cancel", &holds]);
    for job in ["project-x", "next"] {
        ok(&server, ANN, &["cancel", job]);
    }
    ok(&server, BOB, &["cancel", &job]);
}
