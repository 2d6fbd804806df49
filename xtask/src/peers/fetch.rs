//! Programs of the peers, in a folder outside the checkout.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::tools::{cargo, succeed, succeed_quietly, target_folder};

/// Where programs of a peer are, and what they need.
pub(super) struct Programs {
    pub(super) folder: PathBuf,
    /// Libraries that are not where the system looks for them.
    pub(super) libraries: Vec<PathBuf>,
    pub(super) version: String,
}

/// This checkout's program, and the server's beside it, built as released.
pub(super) fn meed() -> Result<PathBuf, String> {
    let mut build = cargo();
    build.args(["build", "--release", "--locked", "--package", "meed-cli"]);
    build.args(["--package", "meed-server"]);
    succeed(&mut build, "cargo build --release")?;
    Ok(target_folder().join("release/meed"))
}

/// A package of the crates registry.
pub(super) fn from_crates(cache: &Path, package: &str) -> Result<PathBuf, String> {
    let folder = cache.join("crates");
    let program = folder.join("bin").join(package);
    if !program.exists() {
        let mut install = Command::new("cargo");
        install.args(["install", "--locked", package, "--root"]).arg(&folder);
        install.env("CARGO_TARGET_DIR", cache.join("target")).current_dir("/");
        let log = cache.join(format!("{package}.log"));
        succeed_quietly(&mut install, &format!("cargo install {package}"), &log, |_| true)?;
    }
    Ok(folder.join("bin"))
}

/// Debian's packages with what they need and this machine lacks, unpacked and not installed.
pub(crate) fn from_debian(cache: &Path, name: &str, packages: &[&str]) -> Result<PathBuf, String> {
    let folder = cache.join(name);
    if folder.join("complete").exists() {
        return Ok(folder);
    }
    let archives = cache.join(format!("{name}.archives"));
    let named = |why: std::io::Error| format!("{}: {why}", archives.display());
    std::fs::create_dir_all(archives.join("partial")).map_err(named)?;
    std::fs::create_dir_all(&folder).map_err(named)?;
    let mut apt = Command::new("apt-get");
    apt.args(["-o", "DPkg::Lock::Timeout=300", "install", "--yes", "--download-only"]);
    apt.args(["--reinstall", "--no-install-recommends", "-o"]);
    apt.arg(format!("Dir::Cache::archives={}", archives.display())).args(packages);
    let log = cache.join(format!("{name}.log"));
    let done =
        succeed_quietly(&mut apt, "apt-get (as root; `apt-get update` first)", &log, |_| true);
    done?;
    for entry in std::fs::read_dir(&archives).map_err(named)?.flatten() {
        if entry.path().extension().is_some_and(|ending| ending == "deb") {
            let mut unpack = Command::new("dpkg");
            unpack.arg("-x").arg(entry.path()).arg(&folder);
            succeed(&mut unpack, "dpkg -x")?;
        }
    }
    std::fs::write(folder.join("complete"), "").map_err(named)?;
    Ok(folder)
}

/// The first line of what a program says of itself.
pub(super) fn version(command: &mut Command) -> String {
    let output = command.output().map(|output| [output.stdout, output.stderr].concat());
    let text = String::from_utf8_lossy(&output.unwrap_or_default()).into_owned();
    let word = |word: &&str| word.chars().any(|letter| letter.is_ascii_digit());
    let line = text.lines().next().unwrap_or_default();
    line.split_whitespace().find(word).unwrap_or("?").trim_matches(',').to_owned()
}
