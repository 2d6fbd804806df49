//! What is made is tried: in empty folders, by programs without an environment.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::tools::{printed, succeed};

/// How often, and how many times, a server that was started is asked.
const LOOK: Duration = Duration::from_millis(100);
const TRIES: u32 = 300;

/// An empty folder, which is gone when it is done with.
pub(crate) struct Empty(pub(crate) PathBuf);

impl Empty {
    pub(crate) fn new(name: &str) -> Result<Empty, String> {
        let folder = std::env::temp_dir().join(format!("meed-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).map_err(|why| format!("{}: {why}", folder.display()))?;
        Ok(Empty(folder))
    }
}

impl Drop for Empty {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The program runs, and simulates an example.
fn program(program: &Path, example: &Path, folder: &Path) -> Result<(), String> {
    let meed = |arguments: &[&str]| {
        let mut meed = Command::new(program);
        meed.args(arguments).env_clear().current_dir(folder).stdin(Stdio::null());
        printed(&mut meed, &format!("meed {}", arguments.join(" ")))
    };
    let told = meed(&["--version"])?;
    if !told.starts_with(b"meed ") {
        return Err("meed --version is odd".to_owned());
    }
    let example = example.to_string_lossy();
    let table = meed(&["simulate", &example, "--report", "report.html"])?;
    let table = String::from_utf8_lossy(&table);
    if !table.contains("long-term") || !folder.join("report.html").is_file() {
        return Err(format!("meed simulate {example} is odd:\n{table}"));
    }
    // The programs meed-papers and meed-server lie beside it.
    if !meed(&["reproduce", "--list"])?.starts_with(b"ics-table1") {
        return Err("meed reproduce --list is odd".to_owned());
    }
    meed(&["init", "--server", "meed.toml"])?;
    let told = meed(&["check", "meed.toml"])?;
    if !told.starts_with(b"meed.toml: right: a configuration of meed serve") {
        return Err("meed check meed.toml is odd".to_owned());
    }
    server(program, folder)
}

/// `meed serve` serves, and ends well when it is told to.
fn server(program: &Path, folder: &Path) -> Result<(), String> {
    let named = |why: std::io::Error| format!("meed serve: {why}");
    let socket = folder.join("meed.sock");
    let meed = |arguments: &[&str]| {
        let mut meed = Command::new(program);
        meed.args(arguments).env_clear().current_dir(folder).stdin(Stdio::null());
        meed.env("MEED_SOCKET", &socket);
        meed
    };
    let mut serve = meed(&["serve", "--state", "state", "--socket", "meed.sock"]);
    let mut server = serve.stderr(Stdio::null()).spawn().map_err(named)?;
    let mut tried = 0;
    let job = loop {
        // A client that finds no server ends with 6.
        let output = meed(&["submit", "--wait", "--", "/bin/true"]).output().map_err(named)?;
        tried += 1;
        if output.status.code() != Some(6) || tried == TRIES {
            break output;
        }
        std::thread::sleep(LOOK);
    };
    let mut stop = Command::new("kill");
    let stopped = succeed(stop.arg(server.id().to_string()), "kill");
    if stopped.is_err() {
        let _ = server.kill();
    }
    let ended = server.wait().map_err(named)?;
    match job.status.success() && ended.success() {
        true => Ok(()),
        false => Err(format!(
            "meed submit: {}; meed serve ended with {ended}",
            String::from_utf8_lossy(&job.stderr).trim()
        )),
    }
}

/// Whether the program needs no other file to run.
pub(crate) fn is_static(program: &Path) -> Result<bool, String> {
    let headers = printed(Command::new("readelf").args(["-lW"]).arg(program), "readelf")?;
    let headers = String::from_utf8_lossy(&headers);
    Ok(headers.contains("LOAD") && !headers.contains("INTERP"))
}

pub(crate) fn archive(archive: &Path) -> Result<(), String> {
    let empty = Empty::new("archive")?;
    let mut tar = Command::new("tar");
    succeed(tar.arg("-xzf").arg(archive).arg("-C").arg(&empty.0), "tar")?;
    let name = archive.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let folder = empty.0.join(name.trim_end_matches(".tar.gz"));
    let meed = folder.join("meed");
    for file in [
        "man/meed.1",
        "man/meed-simulate.1",
        "man/meed-audit.1",
        "man/meed-serve.1",
        "man/meed-slurm-run.1",
        "man/meed-token-create.1",
        "completions/_meed",
        "LICENSES-OF-PARTS",
        "README.md",
    ] {
        let size = fs::metadata(folder.join(file)).map(|data| data.len()).unwrap_or(0);
        if size < 100 {
            return Err(format!("{file} is not in the archive, or empty"));
        }
    }
    program(&meed, &folder.join("examples/lending.toml"), &empty.0)
}

/// Installed by dpkg below an empty folder; unpacked only, where that is not allowed.
pub(crate) fn package(package: &Path) -> Result<(), String> {
    let empty = Empty::new("package")?;
    let base = &empty.0.join("root");
    let named = |why: std::io::Error| format!("{}: {why}", base.display());
    fs::create_dir_all(base.join("var/lib/dpkg/updates")).map_err(named)?;
    fs::create_dir_all(base.join("var/lib/dpkg/info")).map_err(named)?;
    for file in ["status", "available"] {
        fs::write(base.join("var/lib/dpkg").join(file), "").map_err(named)?;
    }
    let mut dpkg = Command::new("dpkg");
    dpkg.arg("--root").arg(base).args(["--force-depends", "--log=/dev/null", "--install"]);
    dpkg.arg(package).stdin(Stdio::null());
    match printed(&mut dpkg, "dpkg --install") {
        Ok(_) => {}
        Err(why) if !is_root() => {
            crate::say(&format!("LEFT OUT: the package is unpacked, not installed: {why}"));
            let mut unpack = Command::new("dpkg-deb");
            succeed(unpack.arg("-x").arg(package).arg(base), "dpkg-deb -x")?;
        }
        Err(why) => return Err(why),
    }
    for file in ["usr/share/man/man1/meed.1.gz", "usr/share/doc/meed/copyright"] {
        if !base.join(file).is_file() {
            return Err(format!("{file} is not in the package"));
        }
    }
    let example = base.join("usr/share/doc/meed/examples/lending.toml");
    program(&base.join("usr/bin/meed"), &example, &empty.0)
}

fn is_root() -> bool {
    let id = printed(Command::new("id").arg("-u"), "id").unwrap_or_default();
    id.trim_ascii() == b"0"
}

/// The wheel in a new virtual environment, with numpy and nothing else.
pub(crate) fn wheel(wheel: &Path) -> Result<(), String> {
    let empty = Empty::new("wheel")?;
    let environment = empty.0.join("venv");
    let quiet = |command: &mut Command, what: &str| {
        succeed(command.stdin(Stdio::null()).stdout(Stdio::null()), what)
    };
    quiet(Command::new("python3").args(["-m", "venv"]).arg(&environment), "venv")?;
    let mut pip = Command::new(environment.join("bin/pip"));
    pip.args(["install", "--quiet", "--disable-pip-version-check"]).arg(wheel);
    quiet(&mut pip, "pip install of the wheel")?;
    let mut first = Command::new(environment.join("bin/python"));
    first.arg(crate::tools::root().join("python/examples/first.py")).current_dir(&empty.0);
    let told = printed(first.env_clear(), "the first example")?;
    match String::from_utf8_lossy(&told).contains("long-term  search    4.0 h") {
        true => Ok(()),
        false => Err("the wheel's first example says something else".to_owned()),
    }
}
