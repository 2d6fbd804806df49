//! Requests that schemathesis makes up from the interface's own description: none may be answered
//! by a failure of the server, or by what the description does not say.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::bench::Bench;
use crate::tools::cache;

/// The version that this was written for.
const SCHEMATHESIS: &str = "schemathesis>=4.32,<5";
/// Requests of a route in each phase, and the seconds of all.
const EXAMPLES: &str = "25";
const SECONDS: &str = "60";
/// A job must also make sense: a command, queues that there are. The description does not say that,
/// so what it allows may be refused.
const NOT_CHECKED: &str = "positive_data_acceptance";

pub(crate) fn run(program: &Path) -> Result<(), String> {
    let tool = match tool() {
        Ok(tool) => tool,
        Err(missing) => {
            crate::say(&format!(
                "LEFT OUT: no requests are made up from the description of the HTTP interface, \
                 for there is no {missing} here"
            ));
            return Ok(());
        }
    };
    let bench = Bench::start(program)?;
    bench.load()?;
    // What is made up may be a command: it belongs to nobody, where a server serves others.
    let ask = |user: &[&str]| {
        bench.meed(&[&["token", "create", "--name", "fuzz", "--role", "operator"], user].concat())
    };
    let token = ask(&["--user", "nobody"]).or_else(|_| ask(&[]))?;
    let status = Command::new(tool)
        .arg("run")
        .arg(format!("{}/v1/openapi.json", bench.url))
        .args(["-H", &format!("Authorization: Bearer {}", token.trim())])
        // Not the phase that follows links: the description has none, and those that are guessed
        // from answers need not be any.
        .args(["--phases", "examples,coverage,fuzzing"])
        // A stream that does not end; it has tests of its own.
        .args(["--exclude-path", "/v1/events", "--exclude-checks", NOT_CHECKED])
        .args(["--max-examples", EXAMPLES, "--max-time", SECONDS, "--seed", "1"])
        .args(["--request-timeout", "20", "--generation-database", "none", "--no-color"])
        .current_dir(&bench.folder)
        .stdin(Stdio::null())
        .status()
        .map_err(|why| format!("schemathesis: {why}"))?;
    bench.meed(&["queues"]).map_err(|why| format!("the server serves no more: {why}"))?;
    match status.success() {
        true => Ok(()),
        false => Err("the HTTP interface is not what its description says".to_owned()),
    }
}

/// The program, which pip brings where it is not there; or what is missing.
fn tool() -> Result<PathBuf, &'static str> {
    let folder = cache("schemathesis");
    let tool = folder.join("bin/schemathesis");
    let is_done = |command: &mut Command| {
        let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    };
    if tool.is_file() {
        return Ok(tool);
    }
    if !is_done(Command::new("python3").args(["-m", "venv"]).arg(&folder)) {
        return Err("Python with venv");
    }
    let pip = ["install", "--quiet", "--disable-pip-version-check", SCHEMATHESIS];
    match is_done(Command::new(folder.join("bin/pip")).args(pip)) {
        true => Ok(tool),
        false => Err("schemathesis"),
    }
}
