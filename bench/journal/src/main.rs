//! Group commits of equal work by Meed's stores, SQLite and a bare append, on one disk.
//!
//! ```sh
//! cargo run --release --manifest-path bench/journal/Cargo.toml -- [FOLDER] [SECONDS]
//! ```
//!
//! Writes to a folder of its own in FOLDER (default: the current one; a file system in memory shows
//! what the programs cost without the disk). In each round each contender commits some groups,
//! round by round in turn, so that all see the same moods of the disk. Printed is the median time
//! of one commit, records a second at that time, and ratios to it. Then many committers at once
//! (`committers`), and how fast all is read again.

mod committers;

use std::error::Error;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use meed_store::{DatabaseStore, FileStore, FileStoreOptions, Seq, Store, UnixMillis};
use rusqlite::Connection;

type Done<T> = Result<T, Box<dyn Error>>;

/// Commits of each contender between two turns.
const TURN: usize = 5;
const GROUPS: [usize; 4] = [1, 10, 100, 1000];
/// Records for reading again.
const RECOVERED: usize = 1_000_000;

/// A way to make a group of records durable.
trait Contender {
    fn commit(&mut self, records: &[&[u8]]) -> Done<()>;
}

struct Bare(File, Vec<u8>);

impl Bare {
    fn new(path: &Path) -> Done<Self> {
        Ok(Self(OpenOptions::new().append(true).create(true).open(path)?, Vec::new()))
    }
}

impl Contender for Bare {
    fn commit(&mut self, records: &[&[u8]]) -> Done<()> {
        self.1.clear();
        for record in records {
            self.1.extend_from_slice(record);
            self.1.push(b'\n');
        }
        self.0.write_all(&self.1)?;
        Ok(self.0.sync_data()?)
    }
}

struct Ours(Box<dyn Store>);

impl Contender for Ours {
    fn commit(&mut self, records: &[&[u8]]) -> Done<()> {
        self.0.append(records)?;
        self.0.commit(UnixMillis::new(1_760_000_000_000))?;
        Ok(())
    }
}

struct Sqlite(Connection);

impl Sqlite {
    fn new(folder: &Path, synchronous: &str) -> Done<Self> {
        fs::create_dir_all(folder)?;
        let connection = Connection::open(folder.join("journal.sqlite"))?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", synchronous)?;
        let table = "CREATE TABLE IF NOT EXISTS journal (seq INTEGER PRIMARY KEY, record BLOB)";
        connection.execute(table, [])?;
        Ok(Self(connection))
    }
}

impl Contender for Sqlite {
    fn commit(&mut self, records: &[&[u8]]) -> Done<()> {
        let transaction = self.0.transaction()?;
        {
            let mut insert =
                transaction.prepare_cached("INSERT INTO journal (record) VALUES (?1)")?;
            for record in records {
                insert.execute([record])?;
            }
        }
        Ok(transaction.commit()?)
    }
}

/// About 200 bytes each, like the start of a task with its reason.
fn records(count: usize) -> Vec<Vec<u8>> {
    let record = |seq: usize| {
        let (queue, job, key) = (seq * 7919 % 10_000, seq * 104_729 % 1_000_000, seq * 31 % 997);
        format!(
            "{{\"t\":{seq}.5,\"start\":{{\"queue\":\"root.team-{queue:04}\",\"job\":\"job-{job:06\
                }\",\
             \"task\":{},\"node\":\"node-{:05}\",\"reason\":{{\"measure\":\"long-term\",\"key\":\
             \"{key}/1024\",\"next\":\"root.team-{:04}\",\"its\":\"{}/1024\"}}}}}}",
            seq % 100,
            seq * 13 % 12_583,
            seq * 17 % 10_000,
            key + 1
        )
        .into_bytes()
    };
    (0..count).map(record).collect()
}

fn files(folder: &Path, options: FileStoreOptions) -> Done<Box<dyn Contender>> {
    Ok(Box::new(Ours(Box::new(FileStore::open_folder(folder, options)?))))
}

fn contenders(folder: &Path) -> Done<Vec<(&'static str, Box<dyn Contender>)>> {
    let default = FileStoreOptions::default();
    Ok(vec![
        ("bare append + fdatasync", Box::new(Bare::new(&folder.join("bare"))?)),
        ("segments", files(&folder.join("segments"), default.clone())?),
        ("segments, no room ahead", files(&folder.join("no-room"), default.room_bytes(1))?),
        ("redb", Box::new(Ours(Box::new(DatabaseStore::open_folder(folder.join("redb"))?)))),
        ("SQLite WAL, FULL", Box::new(Sqlite::new(&folder.join("full"), "FULL")?)),
        ("SQLite WAL, NORMAL (no sync)", Box::new(Sqlite::new(&folder.join("normal"), "NORMAL")?)),
    ])
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// One size of groups.
fn compare(folder: &Path, group: usize, limit: Duration) -> Done<()> {
    fs::create_dir_all(folder)?;
    let all = records(50_000.max(group * TURN));
    let all: Vec<&[u8]> = all.iter().map(Vec::as_slice).collect();
    let mut contenders = contenders(folder)?;
    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); contenders.len()];
    let (begun, mut round) = (Instant::now(), 0);
    while begun.elapsed() < limit || round < 3 {
        for (index, (_, contender)) in contenders.iter_mut().enumerate() {
            for turn in 0..TURN {
                let start = (round * TURN + turn) * group % (all.len() - group + 1);
                let clock = Instant::now();
                contender.commit(&all[start..start + group])?;
                times[index].push(clock.elapsed());
            }
        }
        round += 1;
    }
    println!("\nGroups of {group}, {} commits of each", times[0].len());
    println!("| | us a commit | mean | records/s | SQLite FULL / it | it / bare |");
    println!("|---|---|---|---|---|---|");
    let means: Vec<f64> = times
        .iter()
        .map(|times| times.iter().sum::<Duration>().as_secs_f64() / times.len() as f64)
        .collect();
    let medians: Vec<f64> = times.iter_mut().map(|times| median(times).as_secs_f64()).collect();
    for (index, (name, _)) in contenders.iter().enumerate() {
        let time = medians[index];
        println!(
            "| {name} | {:.0} | {:.0} | {:.0} | {:.2} | {:.2} |",
            time * 1e6,
            means[index] * 1e6,
            group as f64 / time,
            medians[4] / time,
            time / medians[0]
        );
    }
    Ok(())
}

/// Opening again and reading all of it, as after a crash without any snapshot.
fn recover(folder: &Path) -> Done<()> {
    let all = records(RECOVERED);
    let all: Vec<&[u8]> = all.iter().map(Vec::as_slice).collect();
    println!("\nReading {RECOVERED} records again, in groups of 1000");
    for (name, compress) in [("plain segments", false), ("compressed segments", true)] {
        let folder = folder.join(if compress { "compressed" } else { "plain" });
        let open = || FileStore::open_folder(&folder, FileStoreOptions::default());
        let mut store = open()?;
        for group in all.chunks(1000) {
            store.append(group)?;
            store.commit(UnixMillis::new(1))?;
        }
        if compress {
            let clock = Instant::now();
            let done = store.retain(&Default::default(), UnixMillis::new(2))?;
            println!(
                "compressing {} segments: {:.2} \
                s",
                done.compressed,
                clock.elapsed().as_secs_f64()
            );
        }
        drop(store);
        let mut bytes = 0;
        for entry in fs::read_dir(&folder)? {
            bytes += entry?.metadata()?.len();
        }
        report(name, bytes, || Ok(Box::new(open()?)))?;
    }
    let folder = folder.join("redb");
    let mut store = DatabaseStore::open_folder(&folder)?;
    for group in all.chunks(1000) {
        store.append(group)?;
        store.commit(UnixMillis::new(1))?;
    }
    drop(store);
    let bytes = fs::metadata(folder.join("journal.redb"))?.len();
    report("redb", bytes, || Ok(Box::new(DatabaseStore::open_folder(&folder)?)))
}

fn report(name: &str, bytes: u64, open: impl Fn() -> Done<Box<dyn Store>>) -> Done<()> {
    let mut times = Vec::new();
    let mut opened = Duration::ZERO;
    for _ in 0..5 {
        let clock = Instant::now();
        let store = open()?;
        opened = clock.elapsed();
        let mut length = 0;
        store.read(Seq::new(1), &mut |_, record| {
            length += record.len();
            ControlFlow::Continue(())
        })?;
        times.push(clock.elapsed());
        assert!(length > RECOVERED * 150);
    }
    let time = median(&mut times).as_secs_f64();
    println!(
        "{name}: {:.3} s, {:.0} records/s ({:.0} ms of it opening), {:.1} MB on the disk",
        time,
        RECOVERED as f64 / time,
        opened.as_secs_f64() * 1e3,
        bytes as f64 / 1e6
    );
    Ok(())
}

fn main() -> Done<()> {
    let mut args = std::env::args().skip(1);
    let base = args.next().unwrap_or_else(|| ".".to_owned());
    let seconds = args.next().map_or(Ok(60), |text| text.parse())?;
    let folder = Path::new(&base).join(format!("journal-bench-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let sizes = records(1000);
    let mean = sizes.iter().map(Vec::len).sum::<usize>() / sizes.len();
    println!("Records of {mean} bytes.");
    let limit = Duration::from_secs(seconds) / 4;
    let done = GROUPS
        .iter()
        .try_for_each(|group| compare(&folder.join(group.to_string()), *group, limit))
        .and_then(|()| committers::compare(&folder.join("committers"), limit * 2))
        .and_then(|()| recover(&folder.join("recovery")));
    fs::remove_dir_all(&folder)?;
    done
}
