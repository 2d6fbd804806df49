//! Programs that chores start.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// So many of the last lines of a program that failed are shown.
const LAST: usize = 80;

/// The checkout.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("")
}

/// A folder for what comes from elsewhere, outside the checkout.
pub(crate) fn cache(name: &str) -> PathBuf {
    let home = || std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(home);
    cache.unwrap_or_else(std::env::temp_dir).join("meed").join(name)
}

/// Where cargo builds.
pub(crate) fn target_folder() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    target.unwrap_or_else(|| root().join("target"))
}

/// Cargo, as if nobody of its own had started it: what it tells this chore of itself would have
/// build scripts of others run again (ring's), and all that stands on them built anew.
pub(crate) fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            cargo.env_remove(&name);
        }
    }
    cargo.current_dir(root()).stdin(Stdio::null());
    cargo
}

/// Whether a program is here: it ends well with this argument.
pub(crate) fn runs(program: impl AsRef<Path>, argument: &str) -> bool {
    let mut command = Command::new(program.as_ref());
    command.arg(argument).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// What a program prints that ends well.
pub(crate) fn printed(command: &mut Command, what: &str) -> Result<Vec<u8>, String> {
    let output = command.output().map_err(|why| format!("{what}: {why}"))?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(format!("{what}: {}", String::from_utf8_lossy(&output.stderr).trim())),
    }
}

/// For patience with programs, and for how long they take.
#[expect(clippy::disallowed_methods, reason = "a chore waits for programs, and measures them")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Looks again and again, a step apart, until something is found; `None`: not in time.
pub(crate) fn until<T>(
    most: Duration,
    step: Duration,
    mut look: impl FnMut() -> Option<T>,
) -> Option<T> {
    let began = now();
    loop {
        let found = look();
        if found.is_some() || began.elapsed() >= most {
            return found;
        }
        std::thread::sleep(step);
    }
}

/// Starts a program, and waits for it to end well.
pub(crate) fn succeed(command: &mut Command, what: &str) -> Result<(), String> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{what} failed ({status})")),
        Err(why) => Err(format!("{what}: {why}")),
    }
}

/// The same for one that says much: that goes into a file; where it fails, the end of it is shown
/// (`of_note`: lines that matter).
pub(crate) fn succeed_quietly(
    command: &mut Command,
    what: &str,
    log: &Path,
    of_note: impl Fn(&str) -> bool,
) -> Result<(), String> {
    let named = |why: std::io::Error| format!("{}: {why}", log.display());
    log.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(named)?;
    let file = File::create(log).map_err(named)?;
    command.stdin(Stdio::null()).stdout(file.try_clone().map_err(named)?).stderr(file);
    let done = succeed(command, what);
    if done.is_err() {
        let said = std::fs::read(log).map_err(named)?;
        let said = String::from_utf8_lossy(&said);
        let lines: Vec<&str> = said.lines().filter(|line| of_note(line)).collect();
        crate::say(&lines[lines.len().saturating_sub(LAST)..].join("\n"));
    }
    done.map_err(|failed| format!("{failed}; all that it said is in {}", log.display()))
}

/// What `cargo test --workspace` builds for the tests of this name, and has built before where it
/// ran: the file of this target that ends so. One package alone has other features, and all below
/// it would be built anew.
pub(crate) fn built_for(tests: &str, target: &str, ending: &str) -> Result<PathBuf, String> {
    let output = cargo()
        .args(["test", "--workspace", "--locked", "--no-run", "--test", tests])
        .arg("--message-format=json-render-diagnostics")
        .stderr(Stdio::inherit())
        .output()
        .map_err(|why| format!("cargo: {why}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let lines = text.lines().filter_map(|line| serde_json::from_str(line).ok());
    let ours = lines.filter(|line: &serde_json::Value| line["target"]["name"] == target);
    let files: Vec<PathBuf> = ours
        .filter_map(|line| line["filenames"].as_array().cloned())
        .flatten()
        .filter_map(|file| file.as_str().map(PathBuf::from))
        .collect();
    let wanted = |file: &&PathBuf| file.to_string_lossy().ends_with(ending);
    let file = files.iter().rfind(wanted).cloned();
    file.ok_or_else(|| format!("{target} cannot be built"))
}

/// Whether Rust's standard library for that target is here.
pub(crate) fn has_target(target: &str) -> bool {
    let asked =
        Command::new("rustc").args(["--print", "target-libdir", "--target", target]).output();
    asked.is_ok_and(|told| {
        let folder = PathBuf::from(String::from_utf8_lossy(&told.stdout).trim());
        std::fs::read_dir(folder).is_ok_and(|files| files.count() > 0)
    })
}
