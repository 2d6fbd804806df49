//! `cargo xtask guest`: tests of the server that want a machine of their own, in a virtual one that
//! lives for a minute: control groups of version 2 with the controller of memory, which many hosts
//! mount in version 1, and a clock that may be set.
//!
//! The machine has no disk: its kernel is Debian's, as its package has it, and all else is an
//! archive in memory, with the tests as `cargo test` builds them, the programs that they call, and
//! these programs' libraries. Its first process is a script that mounts, runs the tests and says
//! how they ended; for the tests that want it, systemd is first (`systemd`). What is missing here
//! is said, and is no failure; within the machine nothing may be left out.

mod archive;
mod systemd;

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use archive::Archive;

use crate::peers::from_debian;
use crate::tools::{built_for, runs};

/// The groups of tests that run there.
const TESTS: &[&str] = &["groups::", "gpus::", "clock::", "systemd::"];
/// What these, and the first process, call.
const PROGRAMS: &[&str] = &[
    "bash", "cat", "cp", "date", "env", "grep", "head", "kill", "ls", "mkdir", "mount", "rm",
    "setsid", "sh", "sleep", "tail", "taskset", "touch", "true", "wc",
];
const QEMU: &str = "qemu-system-x86_64";
/// It has ended by then, or something is wrong.
const LIMIT: Duration = Duration::from_secs(600);
/// The last line of the first process; the tests' exit code follows.
const ENDED: &str = "THE GUEST HAS ENDED WITH ";

pub(crate) fn run(mut args: impl Iterator<Item = String>) -> Result<(), String> {
    let (mut tests, mut built) = (Vec::new(), None);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            // The tests of the server as they were built already.
            "--tests" => built = Some(args.next().ok_or("--tests needs the program")?.into()),
            _ => tests.push(arg),
        }
    }
    if tests.is_empty() {
        tests = TESTS.iter().map(|&name| name.to_owned()).collect();
    }
    if !cfg!(target_arch = "x86_64") || !runs(QEMU, "--version") {
        crate::say(&format!(
            "LEFT OUT: bounds of memory by control groups, and a clock that steps, want a virtual \
             machine, and there is no {QEMU} here (Debian: qemu-system-x86)"
        ));
        return Ok(());
    }
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let cache = home.join(".cache/meed-guest");
    let kernel = match kernel(&cache) {
        Ok(kernel) => kernel,
        Err(why) => {
            crate::say(&format!("LEFT OUT: a virtual machine, for it has no kernel: {why}"));
            return Ok(());
        }
    };
    let test: PathBuf = match built {
        Some(test) => test,
        None => built_for("server", "server", "")?,
    };
    let archive = cache.join("archive");
    for guest in Guest::all(&tests) {
        if guest.is_systemds
            && let Err(why) = systemd::fetch(&cache)
        {
            crate::say(&format!(
                "LEFT OUT: the units of docs/server.md, for want of systemd: {why}"
            ));
            continue;
        }
        fs::write(&archive, guest.archive(&cache, &test)?)
            .map_err(|why| format!("{}: {why}", archive.display()))?;
        watch(&mut machine(&kernel, &archive, guest.is_systemds))?;
    }
    Ok(())
}

/// Debian's kernel for virtual machines, unpacked and not installed.
fn kernel(cache: &Path) -> Result<PathBuf, String> {
    let folder = from_debian(cache, "kernel", &["linux-image-cloud-amd64"])?.join("boot");
    let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
    let kernels = entries.map(|entry| entry.path());
    let newest = kernels.filter(|path| path.to_string_lossy().contains("/vmlinuz-")).max();
    newest.ok_or_else(|| format!("{}: no kernel", folder.display()))
}

fn machine(kernel: &Path, archive: &Path, is_systemds: bool) -> Command {
    let mut command = Command::new(QEMU);
    command.args(["-nodefaults", "-no-reboot", "-display", "none", "-serial", "stdio"]);
    command.args(["-m", "3072", "-smp", "2", "-kernel"]).arg(kernel).arg("-initrd").arg(archive);
    let first = if is_systemds { systemd::PATH } else { "/init" };
    command.arg("-append").arg(format!("console=ttyS0 quiet panic=-1 rdinit={first}"));
    // Without the host's help, which is not to be relied on: on machines that are virtual
    // themselves it may be there and fail.
    command.args(["-accel", "tcg,thread=multi", "-cpu", "max"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    command
}

/// Shows what it says, to its last line.
fn watch(machine: &mut Command) -> Result<(), String> {
    let mut child = machine.spawn().map_err(|why| format!("{QEMU}: {why}"))?;
    let output = child.stdout.take().ok_or("it has no output")?;
    let (sender, lines) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let lines = BufReader::new(output).split(b'\n').map_while(Result::ok);
        lines.take_while(|line| sender.send(String::from_utf8_lossy(line).into()).is_ok()).count()
    });
    let (mut ended, mut left_out) = (None, Vec::new());
    // Tests print now and then; a machine that is silent for so long stands.
    while let Ok(line) = lines.recv_timeout(LIMIT) {
        let line: String = line;
        crate::say(line.trim_end());
        if line.contains("skipped:") {
            left_out.push(line.trim().to_owned());
        }
        if let Some((_, code)) = line.split_once(ENDED) {
            ended = Some(code.trim().to_owned());
            break;
        }
    }
    let _ = child.kill();
    let _ = child.wait();
    match ended.as_deref() {
        Some("0") if left_out.is_empty() => Ok(()),
        Some("0") => Err(format!("left out in the virtual machine: {}", left_out.join("; "))),
        Some(code) => Err(format!("tests in the virtual machine failed ({code})")),
        None => Err("the virtual machine has not come to its end".to_owned()),
    }
}

/// What runs in one machine, and who its first process is.
struct Guest {
    tests: Vec<String>,
    is_systemds: bool,
}

impl Guest {
    /// A machine for each first process that the tests of these names want.
    fn all(names: &[String]) -> Vec<Guest> {
        let (systemds, others): (Vec<_>, Vec<_>) =
            names.iter().cloned().partition(|name| name.starts_with("systemd"));
        let guests = [(others, false), (systemds, true)].into_iter();
        let wanted = guests.filter(|(tests, _)| !tests.is_empty());
        wanted.map(|(tests, is_systemds)| Guest { tests, is_systemds }).collect()
    }

    /// All that the machine has.
    fn archive(&self, cache: &Path, test: &Path) -> Result<Vec<u8>, String> {
        let mut archive = Archive::default();
        add_system(&mut archive, test)?;
        let run = format!(
            "cd $TMPDIR; {} --test-threads 1 --nocapture {}\n\
             code=$?; echo; echo \"{ENDED}$code\"\n\
             sleep 1; echo b > /proc/sysrq-trigger; sleep 9\n",
            test.display(),
            self.tests.join(" ")
        );
        if self.is_systemds {
            systemd::add(&mut archive, cache, &run)?;
        } else {
            // Not over /tmp, where the checkout, and so the tests themselves, may be.
            let script = format!(
                "#!/bin/sh\nexport PATH=/bin HOME=/root MEED_GUEST=1 TMPDIR=/scratch\n\
                 mount -t proc proc /proc; mount -t sysfs sysfs /sys; mount -t devtmpfs dev /dev\n\
                 mount -t tmpfs tmp $TMPDIR; mount -t cgroup2 cgroup2 /sys/fs/cgroup\n{run}"
            );
            archive.file(Path::new("/init"), script.as_bytes(), true)?;
        }
        Ok(archive.end())
    }
}

/// The tests, the programs that they call, their libraries, and who is who.
fn add_system(archive: &mut Archive, test: &Path) -> Result<(), String> {
    let folder = test.parent().and_then(Path::parent).ok_or("no folder of the tests")?;
    let mut files: BTreeSet<PathBuf> = [test.to_owned(), folder.join("meed-server")].into();
    for name in ["proc", "sys", "dev", "tmp", "scratch", "root", "etc", "bin"] {
        archive.folder(Path::new("/").join(name).as_path())?;
    }
    for name in PROGRAMS {
        let found = path_of(name).ok_or_else(|| format!("there is no {name} here"))?;
        archive.file(&Path::new("/bin").join(name), &read(&found)?, true)?;
        files.extend(libraries(&found, "")?);
    }
    for file in files.clone() {
        files.extend(libraries(&file, "")?);
    }
    for file in &files {
        archive.file(file, &read(file)?, true)?;
    }
    archive.file(Path::new("/etc/passwd"), b"root:x:0:0:root:/root:/bin/sh\n", false)?;
    archive.file(Path::new("/etc/group"), b"root:x:0:\n", false)
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|why| format!("{}: {why}", path.display()))
}

fn path_of(program: &str) -> Option<PathBuf> {
    let runs = |path: &PathBuf| {
        fs::metadata(path).is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
    };
    let folders = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"];
    folders.iter().map(|folder| Path::new(folder).join(program)).find(runs)
}

/// Libraries of a program, at the places where it looks for them, these first.
fn libraries(program: &Path, first: &str) -> Result<Vec<PathBuf>, String> {
    let mut ldd = Command::new("ldd");
    ldd.arg(program).env("LD_LIBRARY_PATH", first);
    let output = ldd.output().map_err(|why| format!("ldd: {why}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let words = text.split_whitespace().filter(|word| word.starts_with('/'));
    let paths = words.map(|word| PathBuf::from(word.trim_end_matches(':')));
    Ok(paths.filter(|path| path.exists()).collect())
}
