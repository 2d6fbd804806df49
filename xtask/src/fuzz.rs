//! `cargo xtask fuzz`: builds the fuzz targets with coverage and runs them.
//!
//! libFuzzer needs code that counts what it executes. `cargo fuzz` asks a nightly compiler for
//! that; the passes are in every compiler, so a stable one does as well. Each target starts from
//! `fuzz/seeds/TARGET` (kept in the repository) and `fuzz/corpus/TARGET` (its own finds), and
//! leaves inputs that fail in `fuzz/artifacts/TARGET`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::tools::{cargo, root, succeed, succeed_quietly};

/// What `cargo fuzz` passes too, without the address sanitizer, which only nightly compilers have.
const COVERAGE: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 --cfg fuzzing";

/// Longest input, in bytes: enough for some lines of any format.
const MAX_LEN: u32 = 4096;
/// One run that takes longer is a failure, in seconds.
const TIMEOUT_S: u32 = 10;
/// A run that needs more memory is a failure, in MB.
const MEMORY_MB: u32 = 2048;

pub(crate) fn run(args: impl Iterator<Item = String>) -> Result<(), String> {
    let folder = root().join("fuzz");
    let known = targets(&folder)?;
    let Some((targets, seconds)) = parse(args, &known)? else {
        crate::say(&known.join("\n"));
        return Ok(());
    };
    let host = host()?;
    build(&folder, &host)?;
    for target in &targets {
        crate::say(&format!("== {target}, {seconds} s"));
        fuzz(&folder, &host, target, seconds)?;
    }
    crate::say(&format!("{} targets ran without a failure.", targets.len()));
    Ok(())
}

/// Targets and seconds to run; `None` when only their names are wanted.
fn parse(
    mut args: impl Iterator<Item = String>,
    known: &[String],
) -> Result<Option<(Vec<String>, u32)>, String> {
    let (mut targets, mut seconds) = (Vec::new(), 20);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--list" => return Ok(None),
            "--seconds" => {
                seconds = crate::seconds(args.next())?;
            }
            target if known.iter().any(|name| name == target) => targets.push(arg),
            other => return Err(format!("no target \"{other}\"; there are {}", known.join(", "))),
        }
    }
    if targets.is_empty() {
        targets = known.to_vec();
    }
    Ok(Some((targets, seconds)))
}

/// Names of the targets: the files in `fuzz_targets`.
fn targets(folder: &Path) -> Result<Vec<String>, String> {
    let sources = folder.join("fuzz_targets");
    let entries = fs::read_dir(&sources)
        .map_err(|error| format!("cannot read {}: {error}", sources.display()))?;
    let mut names: Vec<String> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "rs"))
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    names.sort();
    Ok(names)
}

/// The platform of the compiler. Naming it keeps the coverage flags away from build scripts and
/// macros.
fn host() -> Result<String, String> {
    let output =
        Command::new("rustc").arg("-vV").output().map_err(|error| format!("rustc: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "rustc does not name its host".to_owned())
}

fn build(folder: &Path, host: &str) -> Result<(), String> {
    let mut cargo = cargo();
    cargo.args(["build", "--release", "--bins", "--target", host]);
    cargo.arg("--manifest-path").arg(folder.join("Cargo.toml"));
    cargo.arg("--target-dir").arg(folder.join("target"));
    cargo.env("RUSTFLAGS", COVERAGE).env_remove("CARGO_ENCODED_RUSTFLAGS");
    succeed(&mut cargo, "the build of the fuzz targets")
}

fn fuzz(folder: &Path, host: &str, target: &str, seconds: u32) -> Result<(), String> {
    let make = |kind: &str| -> Result<PathBuf, String> {
        let path = folder.join(kind).join(target);
        fs::create_dir_all(&path)
            .map_err(|error| format!("cannot make {}: {error}", path.display()))?;
        Ok(path)
    };
    let (corpus, artifacts) = (make("corpus")?, make("artifacts")?);
    let mut program = Command::new(folder.join("target").join(host).join("release").join(target));
    // New finds go to the first folder; the seeds are only read.
    program.arg(corpus).arg(folder.join("seeds").join(target));
    program.arg(format!("-artifact_prefix={}/", artifacts.display()));
    program.arg(format!("-max_total_time={seconds}"));
    program.arg(format!("-max_len={MAX_LEN}"));
    program.arg(format!("-timeout={TIMEOUT_S}"));
    program.arg(format!("-rss_limit_mb={MEMORY_MB}"));
    program.args(["-print_final_stats=1", "-use_value_profile=1", "-verbosity=1"]);
    let log = folder.join("target").join(format!("{target}.log"));
    succeed_quietly(&mut program, &format!("target {target}"), &log, |_| true)
        .map_err(|error| format!("{error}; the input is in {}", artifacts.display()))
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn arguments() {
        let known = ["swf".to_owned(), "units".to_owned()];
        let parse = |args: &[&str]| parse(args.iter().map(|arg| (*arg).to_owned()), &known);
        assert_eq!(parse(&[]), Ok(Some((known.to_vec(), 20))));
        assert_eq!(parse(&["units", "--seconds", "5"]), Ok(Some((vec!["units".to_owned()], 5))));
        assert_eq!(parse(&["--list"]), Ok(None));
        assert_eq!(parse(&["swim"]), Err("no target \"swim\"; there are swf, units".to_owned()));
        assert!(parse(&["--seconds", "0"]).is_err() && parse(&["--seconds"]).is_err());
    }
}
