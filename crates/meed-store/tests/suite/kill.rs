//! `kill -9` of a process that writes to the real file system, again and again.
//!
//! The test starts itself as a child (`child`, told by an environment variable), which writes
//! groups and tells each acknowledged number on its standard output; the parent kills it at
//! some moment, opens the folder and checks that what was told is there.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use meed_store::{DatabaseStore, FileStore, FileStoreOptions, Retention, Store, UnixMillis};

use crate::workload::{Progress, Step, read_all};

const FOLDER: &str = "MEED_STORE_CHILD_FOLDER";

/// Seconds that the long tests may take more than usual.
pub(crate) fn seconds() -> u64 {
    std::env::var("MEED_CRASH_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(0)
}

fn open(folder: &Path) -> Box<dyn Store> {
    if folder.ends_with("redb") {
        return Box::new(DatabaseStore::open_folder(folder).unwrap());
    }
    let options = FileStoreOptions::default().segment_bytes(20_000).room_bytes(4096);
    Box::new(FileStore::open_folder(folder, options).unwrap())
}

/// Not a test by itself: the process that is killed.
#[test]
fn child() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let mut store = open(Path::new(&folder));
    let mut progress = Progress::default();
    let mut told = std::io::stderr();
    for round in 0_u64.. {
        progress.step(&mut *store, Step::Group(1 + round % 13)).unwrap();
        writeln!(told, "{}", progress.acknowledged).unwrap();
        if round % 9 == 8 {
            progress.step(&mut *store, Step::Snapshot).unwrap();
        }
        if round % 20 == 19 {
            let rule = Retention { max_records: Some(200), ..Retention::default() };
            store.retain(&rule, UnixMillis::new(round)).unwrap();
        }
    }
}

#[test]
fn killed_again_and_again() {
    let base = tempfile::tempdir().unwrap();
    for kind in ["segments", "redb"] {
        let folder = base.path().join(kind);
        let mut last = 0;
        let rounds = 8 + 3 * seconds();
        for round in 0..rounds {
            let mut child = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "kill::child", "--nocapture"])
                .env(FOLDER, &folder)
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            let told = BufReader::new(child.stderr.take().unwrap());
            std::thread::sleep(Duration::from_millis(30 + round * 37 % 90));
            child.kill().unwrap();
            child.wait().unwrap();
            // A number that was cut off in the pipe is shorter, so smaller: no harm.
            for line in told.lines().map_while(Result::ok) {
                last = last.max(line.parse().unwrap_or(last));
            }
            let store = open(&folder);
            assert!(store.durable().get() >= last, "{kind}: {} of {last}", store.durable());
            read_all(&*store);
        }
        assert!(last > 50, "{kind}: the child has written {last} records in {rounds} rounds");
    }
}
