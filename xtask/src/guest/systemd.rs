//! The machine whose first process is Debian's systemd, for the units of docs/server.md: with as
//! few units of systemd's own as there may be, no log, no devices, and one service, the tests.

use std::path::{Path, PathBuf};

use super::{Archive, libraries, read};
use crate::peers::from_debian;

/// The first process.
pub(super) const PATH: &str = "/lib/systemd/systemd";
/// What units of services and sockets refer to.
const UNITS: &[&str] = &["basic.target", "sysinit.target", "sockets.target", "shutdown.target"];
/// Starts the tests, as soon as it may.
const TARGET: &str = "[Unit]\nRequires=basic.target\nWants=tests.service\nAfter=basic.target\n";
const SERVICE: &str = "[Unit]\nDescription=Tests\n[Service]\nExecStart=/bin/sh /tests\n\
                       TTYPath=/dev/ttyS0\nStandardOutput=tty\nStandardError=tty\n";
/// So that it takes the machine for one that it knows.
const MACHINE: &[u8] = b"6d656564000000000000000000000001\n";

/// Debian's package, unpacked and not installed.
pub(super) fn fetch(cache: &Path) -> Result<PathBuf, String> {
    from_debian(cache, "systemd", &["systemd"])
}

/// Systemd, and `run` (a script) as its service.
pub(super) fn add(archive: &mut Archive, cache: &Path, run: &str) -> Result<(), String> {
    let folder = fetch(cache)?;
    let below = |path: &str| folder.join(path.trim_start_matches('/'));
    let mut files: Vec<PathBuf> = [PATH, "/bin/systemctl"].map(below).into();
    let places =
        ["/usr/lib/x86_64-linux-gnu/systemd", "/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu"];
    let places = places.map(|place| below(place).display().to_string()).join(":");
    for file in files.clone() {
        files.extend(libraries(&file, &places)?);
    }
    files.extend(UNITS.iter().map(|unit| below("/lib/systemd/system").join(unit)));
    for file in &files {
        let there = file.strip_prefix(&folder).map_or(file.clone(), |it| Path::new("/").join(it));
        let runs = !UNITS.iter().any(|unit| there.ends_with(unit));
        archive.file(&there, &read(file)?, runs)?;
    }
    archive.folder(Path::new("/usr/local/bin"))?;
    archive.file(Path::new("/etc/machine-id"), MACHINE, false)?;
    let units = Path::new("/etc/systemd/system");
    archive.file(&units.join("default.target"), TARGET.as_bytes(), false)?;
    archive.file(&units.join("tests.service"), SERVICE.as_bytes(), false)?;
    let script = format!("export PATH=/bin HOME=/root MEED_GUEST=systemd TMPDIR=/scratch\n{run}");
    archive.file(Path::new("/tests"), script.as_bytes(), false)
}
