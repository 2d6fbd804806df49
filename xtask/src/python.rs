//! `cargo xtask python`: the module for Python, built as a wheel, installed, and tested against the
//! program of the same sources.
//!
//! What it needs from PyPI (maturin, numpy, pandas, polars, mypy, pytest and so on:
//! python/requirements.txt) goes into a virtual environment in the user's cache. Where Python, or
//! one of these, is missing it says what it leaves out, and that is no failure. The wheel is left
//! in target/python, with the notebook as it was run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::tools::{cache, cargo, root, runs, succeed, target_folder};

pub(crate) fn run(mut args: impl Iterator<Item = String>) -> Result<(), String> {
    let only_wheel = match args.next().as_deref() {
        None => false,
        Some("wheel") => true,
        Some(other) => return Err(format!("python knows wheel, not \"{other}\"")),
    };
    let folder = match environment() {
        Ok(folder) => folder,
        Err(missing) => {
            crate::say(&format!(
                "LEFT OUT: the module for Python is neither built nor tested, for there is no \
                 {missing} here"
            ));
            return Ok(());
        }
    };
    let wheel = wheel(&folder)?;
    crate::say(&wheel.display().to_string());
    if only_wheel {
        return Ok(());
    }
    lints(&folder)?;
    install(&folder, &wheel)?;
    types(&folder)?;
    tests(&folder)
}

/// Builds the wheel, and says where it is. Others call this too.
pub(crate) fn wheel(environment: &Path) -> Result<PathBuf, String> {
    let out = root().join("target/python");
    // One of an earlier version would be taken for this one.
    let _ = fs::remove_dir_all(&out);
    let mut maturin = Command::new(environment.join("bin/maturin"));
    maturin.args(["build", "--release", "--locked", "--quiet"]).arg("--out").arg(&out);
    // The interpreter is always the same one: another has pyo3 built anew.
    maturin.arg("--interpreter").arg(environment.join("bin/python"));
    maturin.arg("--manifest-path").arg(root().join("python/Cargo.toml"));
    maturin.env("PYO3_PYTHON", environment.join("bin/python")).stdin(Stdio::null());
    succeed(&mut maturin, "the wheel")?;
    let files = fs::read_dir(&out).map_err(|why| format!("{}: {why}", out.display()))?;
    let mut wheels = files.filter_map(|file| Some(file.ok()?.path()));
    let wheel = wheels.find(|file| file.extension().is_some_and(|ending| ending == "whl"));
    wheel.ok_or_else(|| format!("there is no wheel in {}", out.display()))
}

/// The virtual environment with all that is needed; or what is missing.
pub(crate) fn environment() -> Result<PathBuf, String> {
    let folder = cache("python");
    let wanted = root().join("python/requirements.txt");
    let text = fs::read_to_string(&wanted).map_err(|why| format!("{}: {why}", wanted.display()))?;
    let stamp = folder.join("requirements.txt");
    let has_all = || fs::read_to_string(&stamp).is_ok_and(|installed| installed == text);
    if runs(folder.join("bin/python"), "--version") && has_all() {
        return Ok(folder);
    }
    let is_done = |command: &mut Command| {
        let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    };
    if !is_done(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder)) {
        return Err("Python with venv".to_owned());
    }
    let mut pip = Command::new(folder.join("bin/pip"));
    pip.args(["install", "--quiet", "--disable-pip-version-check", "--requirement"]).arg(&wanted);
    if !is_done(&mut pip) {
        return Err("PyPI with what python/requirements.txt names".to_owned());
    }
    fs::write(&stamp, text).map_err(|why| format!("{}: {why}", stamp.display()))?;
    Ok(folder)
}

fn python(environment: &Path, arguments: &[&str]) -> Command {
    let mut python = Command::new(environment.join("bin/python"));
    python.args(arguments).current_dir(root().join("python")).stdin(Stdio::null());
    python
}

fn lints(environment: &Path) -> Result<(), String> {
    let of_python = |cargo: &mut Command| {
        cargo.current_dir(root().join("python"));
        cargo.env("PYO3_PYTHON", environment.join("bin/python"));
    };
    let mut fmt = cargo();
    of_python(fmt.args(["fmt", "--check"]));
    succeed(&mut fmt, "the format of python/")?;
    let mut clippy = cargo();
    // With the wheel's own macros and build scripts.
    of_python(clippy.args(["clippy", "--release", "--locked", "--", "-D", "warnings"]));
    succeed(&mut clippy, "lints of python/")
}

fn install(environment: &Path, wheel: &Path) -> Result<(), String> {
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    let mut pip = python(environment, &pip);
    pip.args(["--force-reinstall", "--no-deps"]).arg(wheel);
    succeed(&mut pip, "the installation of the wheel")
}

/// The package itself, and programs of a user.
fn types(environment: &Path) -> Result<(), String> {
    let cache = root().join("target/mypy");
    let mut mypy = python(environment, &["-m", "mypy", "--strict"]);
    mypy.arg("--cache-dir").arg(cache).args([
        "package/meed",
        "examples/first.py",
        "examples/policy_speed.py",
        "tests/typed.py",
    ]);
    succeed(&mut mypy, "types of the module for Python")
}

/// Against the program of the same sources: built here, or as `MEED_PROGRAM` names it.
fn tests(environment: &Path) -> Result<(), String> {
    let program = match std::env::var_os("MEED_PROGRAM") {
        Some(program) => PathBuf::from(program),
        None => {
            succeed(cargo().args(["build", "--release", "--locked"]), "the program")?;
            target_folder().join("release/meed")
        }
    };
    let pytest = ["-B", "-m", "pytest", "--quiet", "-p", "no:cacheprovider"];
    let mut pytest = python(environment, &pytest);
    pytest.env("MEED_PROGRAM", program).env("MEED_PICTURES", root().join("target/python"));
    succeed(&mut pytest, "a test of the module for Python")
}
