//! A newcomer's path, on an empty folder and without an environment: install, own log, report,
//! decision, in four commands. README says the same.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::try_out::Empty;

/// Jobs as somebody's own spreadsheet has them: eve always has something to run, ann and bob come
/// every other morning with forty jobs.
fn log() -> String {
    let mut jobs = Vec::new();
    for number in 0..1008_u64 {
        jobs.push((number * 10, "eve", 3600 + number * 977 % 7000, 1 + number % 4));
    }
    for number in 0..280_u64 {
        let (day, minute) = (number / 40, number % 40);
        let user = if day.is_multiple_of(2) { "bob" } else { "ann" };
        jobs.push((day * 1440 + 540 + minute, user, 1800 + number * 311 % 3000, 1 + number % 3));
    }
    jobs.sort_unstable();
    let mut csv = "user,submit_time,run_seconds,cores\n".to_owned();
    for (minute, user, seconds, cores) in jobs {
        let (day, hour, minute) = (1 + minute / 1440, minute / 60 % 24, minute % 60);
        let time = format!("2026-03-{day:02}T{hour:02}:{minute:02}:00Z");
        csv += &format!("{user},{time},{seconds},{cores}\n");
    }
    csv
}

/// What they type. No name of a column says how long a job runs: the first look says so.
const COMMANDS: [&str; 4] = [
    "tar -xzf meed-*.tar.gz --strip-components=1",
    "./meed trace inspect jobs.csv --map duration=run_seconds",
    "./meed simulate jobs.csv --map duration=run_seconds --report report.html",
    "./meed advise jobs.csv --map duration=run_seconds",
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
    for (at, words) in [(1, "1288 jobs"), (2, "long-term"), (3, "Choose long-term")] {
        if !said[at].contains(words) {
            return Err(format!("`{}` does not say \"{words}\":\n{}", COMMANDS[at], said[at]));
        }
    }
    let report = fs::metadata(folder.join("report.html")).map_err(named)?;
    let decision = said[3].lines().find(|line| line.starts_with("Choose")).unwrap_or_default();
    crate::say(&format!(
        "a newcomer has a report of {} kB and a decision: {decision}",
        report.len() / 1000
    ));
    Ok(())
}
