//! `cargo xtask crash`: the crash tests of the journal's stores and of the live driver, for as long
//! as one likes.
//!
//! `cargo test -p meed-store -p meed-driver` runs them for some seconds; here they get more losses
//! of power at random operations, and more processes that are killed.

use crate::tools::{cargo, succeed};

pub(crate) fn run(mut args: impl Iterator<Item = String>) -> Result<(), String> {
    let mut seconds = 60;
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--seconds" => seconds = crate::seconds(args.next())?,
            other => return Err(format!("crash knows --seconds N only, not \"{other}\"")),
        }
    }
    for package in ["meed-store", "meed-driver"] {
        let mut cargo = cargo();
        cargo.args(["test", "--quiet", "-p", package, "--test", "suite", "--"]);
        cargo.args(["power::", "faults::", "damage::", "kill::", "--test-threads", "2"]);
        cargo.env("MEED_CRASH_SECONDS", seconds.to_string());
        succeed(&mut cargo, &format!("the crash tests of {package}"))?;
    }
    Ok(())
}
