//! A newcomer's path, on an empty folder and without an environment: install, own log, report,
//! decision, in five commands. README says the same.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::try_out::Empty;

/// Jobs as somebody's own spreadsheet has them: three tenants over a week, one of whom asks for
/// most of it.
fn log() -> String {
    let mut csv = "user,submit_time,run_seconds,cores\n".to_owned();
    for number in 0..900_u64 {
        // A job every ten minutes; who has it, how long and how wide, by fixed strides.
        let user = ["ann", "bob", "eve", "eve", "eve"][(number * 7 % 5) as usize];
        let (hours, minutes) = (number / 6 % 24, number % 6 * 10);
        let day = 1 + number / 144;
        csv += &format!(
            "{user},2026-03-{day:02}T{hours:02}:{minutes:02}:00Z,{},{}\n",
            600 + number * 977 % 7000,
            1 + number % 4
        );
    }
    csv
}

/// What they type. The first installs; the rest is theirs to look at.
const COMMANDS: [&str; 5] = [
    "tar -xzf meed-*.tar.gz --strip-components=1",
    "./meed trace inspect jobs.csv",
    "./meed simulate jobs.csv",
    "./meed simulate jobs.csv --report report.html --quiet",
    "./meed advise jobs.csv",
];

pub(crate) fn run(archive: &Path) -> Result<(), String> {
    let empty = Empty::new("newcomer")?;
    let folder = &empty.0;
    let named = |why: std::io::Error| format!("{}: {why}", folder.display());
    let name = archive.file_name().ok_or("an archive without a name")?;
    fs::copy(archive, folder.join(name)).map_err(named)?;
    fs::write(folder.join("jobs.csv"), log()).map_err(named)?;
    let mut said = Vec::new();
    for command in COMMANDS {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", command]).current_dir(folder).stdin(Stdio::null());
        // Where programs are is all that they know.
        shell.env_clear().env("PATH", "/usr/bin:/bin");
        let output = shell.output().map_err(|why| format!("{command}: {why}"))?;
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr);
            return Err(format!("a newcomer types `{command}`: {why}"));
        }
        said.push(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let expected = [(1, "900"), (2, "long-term"), (4, "Choose ")];
    for (at, words) in expected {
        if !said[at].contains(words) {
            return Err(format!("`{}` does not say \"{words}\":\n{}", COMMANDS[at], said[at]));
        }
    }
    let report = fs::metadata(folder.join("report.html")).map_err(named)?;
    let decision = said[4].lines().next().unwrap_or_default();
    crate::say(&format!(
        "a newcomer has a report of {} kB and a decision: {decision}",
        report.len() / 1000
    ));
    Ok(())
}
