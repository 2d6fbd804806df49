//! What a newcomer meets first: a file to begin with, whether it is right, and what is told where
//! something is wrong.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use crate::common::{folder, meed, succeed};

#[test]
fn what_init_writes_is_right_and_runs() {
    let folder = folder();
    succeed(folder.path(), &["init"]);
    let told = succeed(folder.path(), &["check", "scenario.toml"]);
    assert!(told.starts_with("scenario.toml: right: a scenario; tenants: 2;"), "{told}");
    let policies = ["-p", "fair", "-p", "month=long-term,half_life=30d", "-p", "week"];
    let told = succeed(folder.path(), &[&["simulate", "scenario.toml"], &policies[..]].concat());
    for words in ["month instead of fair: ", "week instead of fair: ", "rho: what a tenant"] {
        assert!(told.contains(words), "{words}\n{told}");
    }
    // It is nobody's to overwrite.
    let before = fs::read(folder.path().join("scenario.toml")).unwrap();
    let again = meed(folder.path(), &["init"]);
    assert_eq!(again.status.code(), Some(2));
    assert_eq!(fs::read(folder.path().join("scenario.toml")).unwrap(), before);
}

/// What `meed init --server` writes is checked where both programs are (meed-server's tests).
#[cfg(target_os = "linux")]
#[test]
fn without_the_program_of_a_command_the_message_says_how_it_is_built() {
    let folder = folder();
    let program = folder.path().join("meed");
    fs::copy(env!("CARGO_BIN_EXE_meed"), &program).unwrap();
    succeed(folder.path(), &["init", "--server"]);
    for (args, name) in [
        (&["serve"][..], "meed-server"),
        (&["submit", "--", "true"], "meed-server"),
        (&["help", "token", "create"], "meed-server"),
        (&["check", "meed.toml"], "meed-server"),
        (&["kubernetes", "why", "a"], "meed-kubernetes"),
        (&["audit", "--help"], "meed-papers"),
    ] {
        let mut command = Command::new(&program);
        command.args(args).env("PATH", folder.path()).current_dir(folder.path());
        let output = command.output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(4), "{args:?}: {told}");
        let build = format!("`cargo build --release -p {name}`");
        assert!(told.starts_with("meed: ") && told.contains(&build), "{told}");
    }
    // What `meed` does itself names them, and needs none of them.
    let mut help = Command::new(&program);
    let help = help.arg("--help").env("PATH", folder.path()).output().unwrap();
    let help = String::from_utf8_lossy(&help.stdout).into_owned();
    for words in ["  serve        Serves this machine", "  kubernetes   Shares", "  audit "] {
        assert!(help.contains(words), "{words}\n{help}");
    }
}

#[test]
fn of_several_files_each_is_told() {
    let folder = folder();
    succeed(folder.path(), &["init"]);
    for name in ["a.toml", "b.toml"] {
        fs::write(folder.path().join(name), format!("[[job]]\n{} = 1\n", &name[..1])).unwrap();
    }
    let checked = meed(folder.path(), &["check", "a.toml", "scenario.toml", "b.toml"]);
    let told = String::from_utf8_lossy(&checked.stderr).into_owned();
    assert_eq!(checked.status.code(), Some(3));
    assert!(told.contains("a.toml:") && told.contains("b.toml:"), "{told}");
    assert!(String::from_utf8_lossy(&checked.stdout).starts_with("scenario.toml: right"));
}

#[test]
fn a_dash_is_standard_input() {
    let folder = folder();
    succeed(folder.path(), &["init"]);
    let text = fs::read(folder.path().join("scenario.toml")).unwrap();
    let result = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_meed"));
        command.args(args).current_dir(folder.path()).stdin(Stdio::piped());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(&text).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        let mut json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        json["scenario"] = serde_json::Value::Null;
        json
    };
    let told = ["-p", "fair", "--series", "0", "--json", "-"];
    let given = result(&[&["simulate", "-"], &told[..]].concat());
    assert_eq!(given, result(&[&["simulate", "scenario.toml"], &told[..]].concat()));
}
