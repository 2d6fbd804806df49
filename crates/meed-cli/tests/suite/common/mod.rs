//! Drives the built program.

use std::path::Path;
use std::process::{Command, Output};

/// A folder of its own for each test.
pub(crate) fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("there is room for a temporary folder")
}

/// Runs `meed` in `folder`.
pub(crate) fn meed(folder: &Path, args: &[&str]) -> Output {
    let program = Command::new(env!("CARGO_BIN_EXE_meed")).args(args).current_dir(folder).output();
    program.expect("the program was built")
}

/// Runs `meed`, which must succeed; its standard output.
pub(crate) fn succeed(folder: &Path, args: &[&str]) -> String {
    let output = meed(folder, args);
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "meed {args:?}: {words}");
    String::from_utf8(output.stdout).expect("output is text")
}

/// Runs `meed`, which must end with `code`; what it says on standard error.
pub(crate) fn fail(folder: &Path, args: &[&str], code: i32) -> String {
    let output = meed(folder, args);
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{args:?}: {words}");
    words
}
