//! `meed` and the server's program side by side, as packages install them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::bench::{MEED, meed, signal, text, until};

/// A folder with both programs; `None` where `meed` is not there.
fn installed() -> Option<tempfile::TempDir> {
    let meed = meed("that meed finds the server's program")?;
    let folder = tempfile::tempdir().unwrap();
    for program in [meed.as_path(), Path::new(MEED)] {
        let to = folder.path().join(program.file_name().unwrap());
        if fs::hard_link(program, &to).is_err() {
            fs::copy(program, &to).unwrap();
        }
    }
    Some(folder)
}

fn run(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(folder.join("meed"));
    command.args(args).current_dir(folder).stdin(Stdio::null());
    command.env("MEED_SOCKET", folder.join("meed.sock")).output().unwrap()
}

fn ok(folder: &Path, args: &[&str]) -> String {
    let output = run(folder, args);
    assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn meed_serve_runs_the_program_beside_it() {
    let Some(folder) = installed() else { return };
    let folder = folder.path();
    let mut serve = Command::new(folder.join("meed"));
    serve.args(["serve", "--state"]).arg(folder.join("state"));
    serve.arg("--socket").arg(folder.join("meed.sock")).stdin(Stdio::null());
    let mut server = serve.stderr(Stdio::null()).spawn().unwrap();
    until("the server answers", || run(folder, &["queues"]).status.success().then_some(()));
    // It has the place of `meed`: signals reach it, and its supervisors are its own program.
    let program = fs::read_link(format!("/proc/{}/exe", server.id())).unwrap();
    assert_eq!(program.file_name(), Some("meed-server".as_ref()));
    assert_eq!(ok(folder, &["submit", "--wait", "--", "true"]), "1\n");
    assert_eq!(run(folder, &["submit", "--wait", "--", "false"]).status.code(), Some(1));
    assert_eq!(run(folder, &["show", "17"]).status.code(), Some(2));
    signal(server.id(), "TERM");
    assert_eq!(until("the server stops", || server.try_wait().unwrap()).code(), Some(0));
    assert_eq!(run(folder, &["jobs"]).status.code(), Some(6));
}

#[test]
fn help_and_manual_of_its_commands_are_its_own() {
    let Some(folder) = installed() else { return };
    let folder = folder.path();
    for args in [&["help", "token", "create"][..], &["token", "create", "--help"]] {
        let help = ok(folder, args);
        assert!(help.contains("Usage: meed token create [OPTIONS] --name <NAME>"), "{help}");
    }
    ok(folder, &["man", "man"]);
    for (page, words) in [
        ("meed.1", "meed\\-serve(1)"),
        ("meed-serve.1", "\\-\\-socket"),
        ("meed-token-create.1", "\\-\\-expires"),
        ("meed-simulate.1", "half_life"),
    ] {
        let text = fs::read_to_string(folder.join("man").join(page)).unwrap();
        assert!(text.contains(words), "{page} does not say {words}: {text}");
    }
    let wrong = run(folder, &["submit", "--cpu"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).starts_with("meed: "), "{}", text(&wrong.stderr));
}

#[test]
fn meed_check_has_a_configuration_read() {
    let Some(folder) = installed() else { return };
    let folder = folder.path();
    ok(folder, &["init", "--server"]);
    let told = ok(folder, &["check", "meed.toml"]);
    let right = "meed.toml: right: a configuration of meed serve; queues: one for each user\n";
    assert_eq!(told, right);
    fs::write(folder.join("-x.toml"), "[server]\ngrace = 10\nqueus = 1\n").unwrap();
    let wrong = run(folder, &["check", "--", "-x.toml"]);
    let told = text(&wrong.stderr);
    assert_eq!(wrong.status.code(), Some(3), "{told}");
    assert!(told.starts_with("meed: -x.toml:3: ") && told.contains("queus"), "{told}");
}

/// Also where a word before it is no text.
#[test]
fn a_question_of_a_shell_is_handed_on() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let Some(folder) = installed() else { return };
    let program: PathBuf = folder.path().join("meed");
    let ask = |words: &[&[u8]]| {
        let mut command = Command::new(&program);
        command.arg("--").args(words.iter().map(|word| OsStr::from_bytes(word)));
        let index = (words.len() - 1).to_string();
        command.env("MEED_COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", index);
        command.env("_CLAP_COMPLETE_COMP_TYPE", "9").env("_CLAP_COMPLETE_SPACE", "true");
        command.env("_CLAP_IFS", "\n").stdin(Stdio::null()).output().unwrap()
    };
    let told = text(&ask(&[b"meed", b"serve", b"--so"]).stdout);
    assert_eq!(told.trim(), "--socket");
    assert!(text(&ask(&[b"meed", b"sub"]).stdout).contains("submit"));
    let odd = ask(&[b"meed", b"\xff", b"--so"]);
    assert!(!text(&odd.stderr).contains("panicked"), "{}", text(&odd.stderr));
}
