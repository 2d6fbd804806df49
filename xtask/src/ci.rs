//! `cargo xtask ci`: the checks of `.ci/run`.

use std::path::Path;
use std::process::Command;

pub(crate) fn run() -> Result<(), String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name(".ci").join("run");
    match Command::new("bash").arg(&script).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("a check failed ({status})")),
        Err(error) => Err(format!("{}: {error}", script.display())),
    }
}
