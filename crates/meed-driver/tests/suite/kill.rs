//! `kill -9` of a process that schedules on the real file system, again and again.
//!
//! The test starts itself as a child (`child`, told by an environment variable). The child's
//! machine is a folder: a started task is a file, made with the rule that it must not be there. The
//! parent kills the child at some moment; the next child recovers, compares, and goes on.

use std::fs::{self, File, OpenOptions};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use meed_driver::live::{Action, Live};
use meed_journal::{Amounts, Arrival, Fact, Group, TaskKey};
use meed_store::{FileStore, FileStoreOptions, Retention, Store};

use crate::world::{NoSnapshot, WALL, kinds, known, opening};

const FOLDER: &str = "MEED_DRIVER_CHILD_FOLDER";
const SEED: u64 = 1;

/// Seconds that the long tests may take more than usual.
pub(crate) fn seconds() -> u64 {
    std::env::var("MEED_CRASH_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(0)
}

fn store(folder: &Path) -> Box<dyn Store> {
    let options = FileStoreOptions::default().segment_bytes(50_000).room_bytes(4096);
    Box::new(FileStore::open_folder(folder.join("journal"), options).unwrap())
}

fn file_of(folder: &Path, task: &TaskKey) -> std::path::PathBuf {
    folder.join("machine").join(format!("{}-{}-{}", task.job, task.task, task.attempt))
}

/// A start makes a file that must be new; a stop leaves it: a process that has ended.
fn carry_out(folder: &Path, actions: Vec<Action>) {
    for action in actions {
        if let Action::Start { task, .. } = action {
            let mut new = OpenOptions::new();
            let made = new.write(true).create_new(true).open(file_of(folder, &task));
            drop(made.unwrap_or_else(|error| panic!("{task} starts twice: {error}")));
        }
    }
}

/// Not a test by itself: the process that is killed.
#[test]
fn child() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let folder = Path::new(&folder);
    let (mut live, _) = Live::open(store(folder), opening(SEED)).unwrap();
    let missing: Vec<TaskKey> = live
        .running()
        .map(|running| running.task)
        .filter(|task| !file_of(folder, task).exists())
        .collect();
    missing.iter().for_each(|task| live.start_again(task).unwrap());
    carry_out(folder, live.commit(WALL).unwrap());
    for task in live.running().map(|running| running.task) {
        assert!(file_of(folder, &task).exists(), "{task} was durable and was not carried out");
    }
    loop {
        let now = live.instant(live.engine().now());
        let running: Vec<TaskKey> = live.running().map(|running| running.task).collect();
        live.at(now, |batch| {
            for (number, task) in running.iter().enumerate() {
                if (number as u64 + now.as_micros()).is_multiple_of(3) {
                    batch.apply(&Fact::task_ended(task.clone()))?;
                }
            }
            let demand = Amounts::of(&meed::Resources::new(&[500, 500]), &kinds());
            let group = Group { tasks: 2, demand, ..Group::default() };
            let queue = ["a", "b.c", "b.d"][(now.as_micros() % 3) as usize];
            let arrival = Arrival::new(queue.into(), now.as_micros().into(), vec![group]);
            batch.apply(&Fact::job_arrived(arrival))
        })
        .unwrap();
        carry_out(folder, live.commit(WALL).unwrap());
        live.tidy(&Retention::default(), WALL).unwrap();
    }
}

#[test]
fn killed_again_and_again() {
    let base = tempfile::tempdir().unwrap();
    fs::create_dir(base.path().join("machine")).unwrap();
    let rounds = 6 + 3 * seconds();
    for round in 0..rounds {
        let log = base.path().join("child.txt");
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "kill::child", "--nocapture"])
            .env(FOLDER, base.path())
            .stdout(Stdio::null())
            .stderr(File::create(&log).unwrap())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(120 + round * 37 % 180));
        assert!(child.try_wait().unwrap().is_none(), "{}", fs::read_to_string(log).unwrap());
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let (live, recovered) = Live::open(store(base.path()), opening(SEED)).unwrap();
    let state = known(&live);
    drop(live);
    let all = NoSnapshot(store(base.path()));
    let (played, _) = Live::open(Box::new(all), opening(SEED)).unwrap();
    assert!(known(&played) == state, "a snapshot and the whole journal differ");
    let started = fs::read_dir(base.path().join("machine")).unwrap().count();
    assert!(started > 20 && recovered.snapshot.is_some(), "{started} tasks, {recovered:?}");
}
