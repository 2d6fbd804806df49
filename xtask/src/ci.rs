//! `cargo xtask ci`: the checks of `.ci/run`.

use std::process::Command;

use crate::tools::{root, succeed};

pub(crate) fn run() -> Result<(), String> {
    succeed(Command::new("bash").arg(root().join(".ci/run")), "a check")
}
