//! Files on the command line: no output overwrites a trace that is read, or another output.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;

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
