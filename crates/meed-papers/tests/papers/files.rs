//! Files on the command line: no output overwrites a trace that is read, or another output. An
//! output that cannot be written whole is not there.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use crate::common::{fail, folder};

#[test]
fn no_output_overwrites_a_trace() {
    let place = folder();
    let folder = place.path();
    fs::write(folder.join("subs.swf"), "; MaxProcs: 4\n").unwrap();
    fs::create_dir(folder.join("d")).unwrap();
    symlink("subs.swf", folder.join("soft")).unwrap();
    fs::hard_link(folder.join("subs.swf"), folder.join("hard")).unwrap();
    for traces in [".", "d/.."] {
        for (option, out) in [
            ("--json", "subs.swf"),
            ("--report", "d/../subs.swf"),
            ("--json", "soft"),
            ("--report", "hard"),
        ] {
            let args = ["reproduce", "ics-table1", "--traces", traces, option, out];
            let words = fail(folder, &args, 2);
            assert!(words.contains(" would overwrite the "), "{args:?}: {words}");
            assert_eq!(fs::read(folder.join("subs.swf")).unwrap(), b"; MaxProcs: 4\n");
        }
    }
}

#[test]
fn no_two_outputs_are_one_file() {
    let place = folder();
    for command in ["audit", "reproduce"] {
        let args = [command, "--json", "new", "--report", "./new"];
        let words = fail(place.path(), &args, 2);
        assert!(words.contains(" name the same file "), "{args:?}: {words}");
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }
}

/// Beyond the limit of a file's size (`ulimit -f`, in blocks of 512 or 1,024 bytes) the system
/// sends a signal that ends a program.
#[test]
fn a_report_that_is_too_large_is_an_error_and_not_there() {
    let place = folder();
    let audit = ["audit", "--property", "sharing-incentive", "--policy", "static", "--trials", "1"];
    for args in [&audit[..], &["reproduce", "ics-table1"]] {
        let mut shell = Command::new("sh");
        shell.args(["-c", "ulimit -f 1; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_meed-papers")]);
        shell.args(args).args(["--report", "x.html"]).current_dir(place.path());
        let output = shell.output().unwrap();
        let words = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(4), "{args:?}: {:?} {words}", output.status);
        assert!(words.starts_with("meed: ") && words.contains("File too large"), "{words}");
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0, "{args:?}");
    }
}
