//! Many committers at once, each of which goes on only when its record is durable.
//!
//! With a group commit one thread takes all records that wait, makes them durable together, and
//! tells their committers. Without one each record is a transaction of its own: SQLite lets one
//! connection write at a time, so others wait for its sync.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use meed_store::{FileStore, FileStoreOptions};
use rusqlite::Connection;

use crate::{Bare, Contender, Done, Ours, Sqlite, median, records};

const COMMITTERS: [usize; 3] = [1, 16, 64];
/// Rounds of each way, in turn with the others.
const ROUNDS: usize = 5;

/// How records become durable.
enum Way {
    /// One thread serves all; it takes this many records at once.
    Served(fn(&Path) -> Done<Box<dyn Contender>>, usize),
    /// Each committer has a connection of its own.
    OwnConnections,
}

const WAYS: [(&str, Way); 5] = [
    ("bare append, groups", Way::Served(bare, usize::MAX)),
    ("segments, groups", Way::Served(segments, usize::MAX)),
    ("SQLite, groups", Way::Served(sqlite, usize::MAX)),
    ("SQLite, one connection, a transaction for each", Way::Served(sqlite, 1)),
    ("SQLite, a connection for each", Way::OwnConnections),
];

fn bare(folder: &Path) -> Done<Box<dyn Contender>> {
    Ok(Box::new(Bare::new(&folder.join("bare"))?))
}

fn segments(folder: &Path) -> Done<Box<dyn Contender>> {
    Ok(Box::new(Ours(Box::new(FileStore::open_folder(folder, FileStoreOptions::default())?))))
}

fn sqlite(folder: &Path) -> Done<Box<dyn Contender>> {
    Ok(Box::new(Sqlite::new(folder, "FULL")?))
}

/// A record, and whom to tell when it is durable.
type Submitted = (Vec<u8>, Sender<()>);

/// Makes durable what comes, at most `most` records at once, until no committer is left.
fn serve(contender: &mut dyn Contender, come: &Receiver<Submitted>, most: usize) -> Done<()> {
    while let Ok(first) = come.recv() {
        let mut group = vec![first];
        while group.len() < most
            && let Ok(next) = come.try_recv()
        {
            group.push(next);
        }
        let lines: Vec<&[u8]> = group.iter().map(|(record, _)| record.as_slice()).collect();
        contender.commit(&lines)?;
        // Who is gone does not wait.
        for (_, committer) in &group {
            let _ = committer.send(());
        }
    }
    Ok(())
}

/// Records a second that `committers` get durable in `limit`.
fn run(way: &Way, folder: &Path, committers: usize, limit: Duration) -> Done<f64> {
    let (stop, durable) = (AtomicBool::new(false), AtomicU64::new(0));
    let all = Arc::new(records(1000));
    let again = |committer: usize| all.iter().skip(committer % 1000).chain(all.iter()).cycle();
    let counted = |one: &mut dyn FnMut(&[u8]) -> Result<(), Box<dyn Error>>, committer: usize| {
        for record in again(committer) {
            if stop.load(Ordering::Relaxed) {
                return;
            }
            one(record).expect("a record is made durable");
            durable.fetch_add(1, Ordering::Relaxed);
        }
    };
    let (submit, come) = channel();
    let mut took = limit;
    thread::scope(|scope| -> Done<()> {
        let mut connections: Vec<Option<Connection>> = Vec::new();
        match way {
            Way::Served(make, most) => {
                let (make, folder, most) = (*make, PathBuf::from(folder), *most);
                scope.spawn(move || {
                    let mut contender = make(&folder).expect("it is opened");
                    serve(&mut *contender, &come, most).expect("a group is made durable");
                });
                connections.resize_with(committers, || None);
            }
            Way::OwnConnections => {
                for _ in 0..committers {
                    let Sqlite(connection) = Sqlite::new(folder, "FULL")?;
                    connection.busy_timeout(Duration::from_secs(600))?;
                    connections.push(Some(connection));
                }
            }
        }
        let clock = Instant::now();
        for (committer, connection) in connections.into_iter().enumerate() {
            let (submit, counted) = (submit.clone(), &counted);
            scope.spawn(move || match connection {
                None => {
                    let mut one = |record: &[u8]| {
                        let (tell, told) = channel();
                        submit.send((record.to_vec(), tell))?;
                        Ok(told.recv()?)
                    };
                    counted(&mut one, committer);
                }
                Some(connection) => {
                    let mut contender = Sqlite(connection);
                    counted(&mut |record| contender.commit(&[record]), committer);
                }
            });
        }
        drop(submit);
        thread::sleep(limit);
        stop.store(true, Ordering::Relaxed);
        took = clock.elapsed();
        Ok(())
    })?;
    Ok(durable.load(Ordering::Relaxed) as f64 / took.as_secs_f64())
}

/// All ways in turn, for each number of committers.
pub(crate) fn compare(folder: &Path, limit: Duration) -> Done<()> {
    for committers in COMMITTERS {
        let turn = limit / (COMMITTERS.len() * ROUNDS * WAYS.len()) as u32;
        let mut seconds: Vec<Vec<Duration>> = vec![Vec::new(); WAYS.len()];
        for round in 0..ROUNDS {
            for (number, (_, way)) in WAYS.iter().enumerate() {
                let folder = folder.join(format!("{committers}-{round}-{number}"));
                std::fs::create_dir_all(&folder)?;
                let rate = run(way, &folder, committers, turn)?;
                seconds[number].push(Duration::from_secs_f64(1.0 / rate.max(0.001)));
            }
        }
        println!("\n{committers} committers, each waits until its record is durable");
        println!("| | records/s | it / SQLite, a transaction for each | it / SQLite, groups |");
        println!("|---|---|---|---|");
        let rates: Vec<f64> =
            seconds.iter_mut().map(|times| 1.0 / median(times).as_secs_f64()).collect();
        for (number, (name, _)) in WAYS.iter().enumerate() {
            let rate = rates[number];
            println!("| {name} | {rate:.0} | {:.2} | {:.2} |", rate / rates[3], rate / rates[2]);
        }
    }
    Ok(())
}
