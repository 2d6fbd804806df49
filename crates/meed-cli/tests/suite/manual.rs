//! `meed man` writes a page for each command, from the words of its help; `meed completions` writes
//! a script for each shell.

use std::fs;
use std::process::Command;

use tempfile::TempDir;

#[test]
fn every_command_has_a_page() {
    let folder = TempDir::new().unwrap();
    let pages = folder.path().join("share/man1");
    let meed = |arguments: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_meed")).args(arguments).output().unwrap()
    };
    let pages_text = pages.to_str().unwrap();
    assert!(meed(&["man", pages_text]).status.success());
    let page = |name: &str| fs::read_to_string(pages.join(name)).unwrap();
    for (command, words) in [
        ("meed", "meed\\-simulate(1)"),
        ("meed-simulate", "half_life"),
        ("meed-trace-inspect", "jobs, tenants, sizes"),
        ("meed-advise", "half\\-life"),
    ] {
        let text = page(&format!("{command}.1"));
        assert!(text.starts_with(".ie") && text.contains(".TH "), "{command}: {text}");
        assert!(text.contains(words), "{command} does not say {words}: {text}");
    }
    // As many as the help lists, and those below them.
    let help = String::from_utf8(meed(&["--help"]).stdout).unwrap();
    let commands = help.split("\n\nOptions").next().unwrap();
    let starts = commands.lines().filter_map(|line| line.strip_prefix("  "));
    let names: Vec<&str> = starts.filter_map(|line| line.split(' ').next()).collect();
    let mut listed = 0;
    for name in names.iter().filter(|name| !name.is_empty() && **name != "help") {
        assert!(!page(&format!("meed-{name}.1")).is_empty());
        listed += 1;
    }
    assert!(listed > 10, "{listed} commands are listed");
    let nowhere = meed(&["man", env!("CARGO_BIN_EXE_meed")]);
    assert_eq!(nowhere.status.code(), Some(4));
}

#[test]
fn there_is_a_script_for_each_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let mut meed = Command::new(env!("CARGO_BIN_EXE_meed"));
        let made = meed.args(["completions", shell]).output().unwrap();
        let script = String::from_utf8_lossy(&made.stdout);
        assert!(made.status.success() && script.contains("MEED_COMPLETE"), "{shell}: {script}");
    }
}
