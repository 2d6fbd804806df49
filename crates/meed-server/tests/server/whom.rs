//! Whom `meed queues`, `why` and `top` ask where nobody says so, and where somebody does. A script
//! stands in place of the program that asks a cluster.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::bench::{MEED, Server, text};

/// Says how it was called; of `top` what a cluster would say.
const SCRIPT: &str = r#"#!/bin/sh
if [ "$1" = top ]; then
    echo '{"at_us":0,"of":"the cluster of context x","resources":[],"queues":[],"jobs":[]}'
else
    echo "asked: $*"
fi
"#;

/// A folder with the program and the script beside it, and a home with a kubeconfig.
fn machine() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    if fs::hard_link(MEED, at("meed-server")).is_err() {
        fs::copy(MEED, at("meed-server")).unwrap();
    }
    fs::write(at("meed-kubernetes"), SCRIPT).unwrap();
    fs::set_permissions(at("meed-kubernetes"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::create_dir_all(at("home/.kube")).unwrap();
    fs::write(at("home/.kube/config"), "").unwrap();
    folder
}

fn ask(folder: &Path, args: &[&str], variables: &[(&str, &Path)]) -> Output {
    let mut command = Command::new(folder.join("meed-server"));
    for variable in ["MEED_SOCKET", "KUBECONFIG", "KUBERNETES_SERVICE_HOST"] {
        command.env_remove(variable);
    }
    command.env("HOME", folder.join("home")).env("XDG_RUNTIME_DIR", folder);
    command.envs(variables.iter().copied()).args(args).stdin(Stdio::null());
    command.output().unwrap()
}

#[test]
fn a_cluster_is_asked_where_it_is_meant_or_nobody_else_answers() {
    if Path::new("/run/meed/meed.sock").exists() {
        return crate::bench::say("skipped: a server of this machine would answer");
    }
    let folder = machine();
    let said = |args: &[&str]| {
        let output = ask(folder.path(), args, &[]);
        assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
        text(&output.stdout)
    };
    for (args, expected) in [
        (&["why", "pod", "a/b"][..], "asked: why -- a/b\n"),
        (&["why", "pod", "b", "--json"], "asked: why --json -- b\n"),
        (&["why", "--", "pod", "-x"], "asked: why -- -x\n"),
        (&["why", "a/b", "--kubernetes"], "asked: why -- a/b\n"),
        (&["queues", "--kubernetes"], "asked: queues\n"),
        (&["queues", "--context", "x", "--json"], "asked: queues --json --context x\n"),
        (&["queues", "--kubeconfig", "file"], "asked: queues --kubeconfig file\n"),
    ] {
        assert_eq!(said(args), expected);
    }
    // Nobody has said so: it is said why.
    for args in [&["queues"][..], &["why", "a/b"]] {
        let told = said(args);
        assert!(told.contains(" --because no server answers at "), "{told}");
    }
    // Programs are told beside what they read.
    let output = ask(folder.path(), &["queues", "--json"], &[]);
    let (told, why) = (text(&output.stdout), text(&output.stderr));
    assert!(told.starts_with("asked: queues --json"), "{told}");
    assert!(why.contains("; the Kubernetes cluster is asked"), "{why}");
    let view = said(&["top", "--once"]);
    assert!(view.starts_with("meed top of the cluster of context x\n"), "{view}");

    // A number is a job of a server.
    let output = ask(folder.path(), &["why", "17"], &[]);
    assert_eq!(output.status.code(), Some(6), "{}", text(&output.stdout));
    // Where a server is named, or there is no kubeconfig, none else is asked.
    let nowhere = folder.path().join("nowhere");
    for (args, variables) in [
        (&["queues", "--socket", "nowhere"][..], &[][..]),
        (&["queues"], &[("MEED_SOCKET", nowhere.as_path())]),
        (&["top", "--once"], &[("HOME", nowhere.as_path())]),
    ] {
        let output = ask(folder.path(), args, variables);
        let why = text(&output.stderr);
        assert!(output.status.code() == Some(6) && why.contains("no server answers"), "{why}");
    }
    for args in [
        &["queues", "--socket", "x", "--kubernetes"][..],
        &["queues", "--yarn", "http://rm", "--context", "x"],
        &["why", "pod", "a/b", "--socket", "x"],
        &["why", "job", "17"],
    ] {
        let output = ask(folder.path(), args, &[]);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", text(&output.stderr));
    }
}

#[test]
fn a_server_that_is_named_answers_and_its_view_says_so() {
    let server = Server::start(None);
    let view = server.ok(&["top", "--once"]);
    let first = format!("meed top of the server at {}\n", server.socket().display());
    assert!(view.starts_with(&first), "{view}");
    let queues = server.ok(&["queues"]);
    assert!(queues.lines().next().unwrap().trim_start().starts_with("QUEUE"), "{queues}");
    assert_eq!(server.json(&["top"])["of"], first.trim_end()["meed top of ".len()..]);
}

/// Both could be meant: the first line says who answers.
#[test]
fn a_server_that_answers_beside_a_kubeconfig_says_that_it_does() {
    if fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0) {
        return crate::bench::say("skipped: root asks the server of the whole machine");
    }
    let server = Server::start(None);
    let folder = machine();
    let usual = folder.path().join("run/meed");
    fs::create_dir_all(&usual).unwrap();
    std::os::unix::fs::symlink(server.socket(), usual.join("meed.sock")).unwrap();
    let runtime = folder.path().join("run");
    let output = ask(folder.path(), &["queues"], &[("XDG_RUNTIME_DIR", runtime.as_path())]);
    let (told, why) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{why}");
    let first = told.lines().next().unwrap_or_default();
    assert!(first.starts_with("the server at ") && first.ends_with("--kubernetes"), "{told}");
}
