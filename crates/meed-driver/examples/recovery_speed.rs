//! What a durable journal costs, and how fast a driver is back after a crash: 10,000 queues, 10,000
//! nodes, 100,000 running and 1,000,000 waiting tasks.
//!
//! `cargo run --release -p meed-driver --example recovery_speed [FOLDER]`
//!
//! Beside the time by the clock stands that of the processor, where the system tells it: on a
//! machine that others use as well only that can be compared, but it leaves out the disk.
//!
//! The folder (a new one among temporary files unless given) is where the journals go: syncs are
//! the disk's.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measurement reads a clock and prints"
)]

use std::collections::VecDeque;
use std::path::Path;
use std::time::{Duration, Instant};

use meed::place::BestFit;
use meed::{Config, JobSpec, NodeSpec, Policy, QueueSpec, ResourceKinds, Resources, TaskGroup};
use meed::{Time, Unit};
use meed_driver::explain::Subject;
use meed_driver::live::{Action, Live, Opening, SnapshotRule};
use meed_driver::{Driver, NewJob, Off, Taken};
use meed_journal::{Amounts, Arrival, Group, Header, Opened, TaskKey};
use meed_store::{FileStore, FileStoreOptions, Store, UnixMillis};

const QUEUES: u64 = 10_000;
const NODES: u64 = 10_000;
const TASKS_PER_JOB: u32 = 10;
const JOBS: u64 = 110_000;
const WALL: UnixMillis = UnixMillis::new(0);
/// Decisions that are measured, and how many go into one commit.
const DECISIONS: u64 = 50_000;
const BATCH: u64 = 500;

fn config() -> Config {
    let kinds = [("cpu", Unit::Milli), ("memory", Unit::Milli)];
    let queue = |tenant: u64| QueueSpec {
        name: format!("t{tenant}"),
        weight: 1000 * (1 + tenant % 3),
        min: None,
        max: None,
        policy: Policy::preset("fifo").unwrap(),
    };
    Config {
        kinds: ResourceKinds::new(kinds.map(|(name, unit)| (name.to_owned(), unit)).to_vec())
            .unwrap(),
        measured: 0,
        root: Policy::preset("long-term").unwrap(),
        queues: (0..QUEUES).map(queue).collect(),
        nodes: (0..NODES)
            .map(|node| NodeSpec::new(format!("n{node}"), Resources::new(&[1000, 1000])))
            .collect(),
    }
}

fn opening(reasons: bool) -> Opening<()> {
    Opening {
        config: config(),
        place: Box::new(|| Box::new(BestFit::new(2))),
        header: Header { schema: meed_journal::SCHEMA, ..Header::default() },
        take: Box::new(|_| Taken { detail: (), max_attempts: 0 }),
        opened: Opened::default(),
        rule: SnapshotRule::default(),
        reasons,
        wall: WALL,
    }
}

fn store(folder: &Path) -> Box<dyn Store> {
    Box::new(FileStore::open_folder(folder, FileStoreOptions::default()).unwrap())
}

/// Queue, and what a task asks for: ten or so fit on a node.
fn job(number: u64) -> (u64, Resources) {
    let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
    (mixed % QUEUES, Resources::new(&[98 - mixed % 7, 98 - (mixed >> 8) % 7]))
}

fn at(micros: u64) -> Time {
    Time::from_micros(micros).unwrap()
}

fn filled(folder: &Path, reasons: bool) -> (Live<()>, VecDeque<TaskKey>) {
    let (mut live, _) = Live::open(store(folder), opening(reasons)).unwrap();
    let kinds = live.engine().kinds().clone();
    let mut running = VecDeque::new();
    for batch in 0..JOBS / 100 {
        live.at(at(1 + batch * 2000), |told| {
            for number in batch * 100..(batch + 1) * 100 {
                let (queue, demand) = job(number);
                let demand = Amounts::of(&demand, &kinds);
                let group = Group { tasks: TASKS_PER_JOB, demand, ..Group::default() };
                let queue = format!("t{queue}").as_str().into();
                told.job_arrived(Arrival::new(queue, number.into(), vec![group]))?;
            }
            Ok(())
        })
        .unwrap();
        take(&mut running, live.commit(WALL).unwrap());
    }
    (live, running)
}

fn take(running: &mut VecDeque<TaskKey>, actions: Vec<Action>) {
    running.extend(actions.into_iter().filter_map(|action| match action {
        Action::Start { task, .. } => Some(task),
        _ => None,
    }));
}

fn timed<T>(what: impl FnOnce() -> T) -> (T, Duration) {
    let clock = Instant::now();
    let done = what();
    (done, clock.elapsed())
}

/// What this thread has had of the processor; zero where the system does not tell.
fn processor() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = text.split(' ').next().and_then(|number| number.parse().ok());
    Duration::from_nanos(nanos.unwrap_or(0))
}

/// By the clock, and by the processor.
fn timed_twice(what: impl FnOnce()) -> [Duration; 2] {
    let before = processor();
    let ((), took) = timed(what);
    [took, processor() - before]
}

/// An end and a decision, many times, without a journal.
fn without_journal() -> [Duration; 2] {
    let mut driver: Driver<(), Off> =
        Driver::new(config(), Box::new(BestFit::new(2)), Off).unwrap();
    let mut running = VecDeque::new();
    let queues: Vec<_> = driver.engine().queue_ids().skip(1).collect();
    for number in 0..JOBS {
        let (queue, demand) = job(number);
        let groups = [TaskGroup::new(TASKS_PER_JOB, demand)];
        let queue = queues[queue as usize];
        let spec = JobSpec { queue, weight: 1000, groups: &groups, open: false, max_attempts: 0 };
        let new = || NewJob { key: number.into(), name: None, detail: () };
        driver.job_arrived(at(1 + number / 100 * 2000), spec, new, |_, _, _| {}).unwrap();
        if number % 100 == 99 {
            driver.decide(|start| running.push_back(start.allocation)).unwrap();
        }
    }
    let now = driver.engine().now().as_micros();
    timed_twice(|| {
        for decision in 1..=DECISIONS {
            let task = running.pop_front().unwrap();
            driver.task_ended(at(now + decision * 20), task).unwrap();
            driver.decide(|start| running.push_back(start.allocation)).unwrap();
        }
    })
}

/// The same with one; and of that, what the commits took.
fn with_journal(live: &mut Live<()>, running: &mut VecDeque<TaskKey>) -> [Duration; 3] {
    let now = live.engine().now().as_micros();
    let mut commits = Duration::ZERO;
    let [took, processor] = timed_twice(|| {
        for decision in 1..=DECISIONS {
            let task = running.pop_front().unwrap();
            live.at(at(now + decision * 20), |told| told.task_ended(&task)).unwrap();
            if decision % BATCH == 0 {
                let (actions, took) = timed(|| live.commit(WALL).unwrap());
                commits += took;
                take(running, actions);
            }
        }
    });
    [took, processor, commits]
}

fn bytes_in(folder: &Path) -> u64 {
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap());
    files.map(|file| file.metadata().unwrap().len()).sum()
}

fn micros(took: Duration) -> f64 {
    took.as_secs_f64() * 1e6 / DECISIONS as f64
}

fn main() {
    let made = tempfile::tempdir().unwrap();
    let base = std::env::args().nth(1).map_or_else(|| made.path().to_owned(), Into::into);
    let off = without_journal();
    println!(
        "an end and a decision, journal off: {:.2} us, processor {:.2} us",
        micros(off[0]),
        micros(off[1])
    );
    for reasons in [true, false] {
        let folder = base.join(if reasons { "reasons" } else { "plain" });
        let (mut live, mut running) = filled(&folder, reasons);
        let (records, bytes) = (live.store().durable(), bytes_in(&folder));
        let [on, processor, commits] = with_journal(&mut live, &mut running);
        let records = live.store().durable().get() - records.get();
        let bytes = bytes_in(&folder).saturating_sub(bytes);
        println!(
            "journal on, reasons {reasons}, {BATCH} in a commit: {:.2} us, {:.2} times; processor \
             {:.2} us, {:.2} times; {:.2} us are commits; {records} records of about {} bytes",
            micros(on),
            on.as_secs_f64() / off[0].as_secs_f64(),
            micros(processor),
            processor.as_secs_f64() / off[1].as_secs_f64(),
            micros(commits),
            bytes / records
        );
        if reasons {
            continue;
        }
        let queues: Vec<_> = live.engine().queue_ids().skip(1).collect();
        let now = live.engine().now();
        let mut times: Vec<Duration> = (0..200)
            .map(|number| {
                let leaf = queues[number * 47];
                timed(|| live.explain(now, leaf, Subject::Queue).unwrap()).1
            })
            .collect();
        times.sort_unstable();
        println!("explain of a queue: median {:?}, longest {:?}", times[100], times[199]);
        let (running, waiting) = (live.engine().running_tasks(), live.engine().live_jobs());
        let (seq, took) = timed(|| live.snapshot(WALL).unwrap());
        let size = live.state().len();
        println!(
            "{running} tasks run, {waiting} jobs; snapshot after {seq}: {:.1} MB in {took:?}",
            size as f64 / 1e6
        );
        let mut rest = VecDeque::from_iter(live.running().map(|running| running.task).take(5000));
        let start = live.engine().now().as_micros();
        for decision in 1..=5000 {
            let task = rest.pop_front().unwrap();
            live.at(at(start + decision * 20), |told| told.task_ended(&task)).unwrap();
        }
        live.commit(WALL).unwrap();
        drop(live);
        let ((mut live, recovered), took) =
            timed(|| Live::open(store(&folder), opening(false)).unwrap());
        println!("recovered in {took:?}: {} records behind the snapshot", recovered.played);
        let state = live.state();
        let (_, took) = timed(|| {
            Driver::<(), Off>::from_state(&state, Box::new(BestFit::new(2)), Off).unwrap()
        });
        println!("of which the state itself: {took:?}");
        assert!(live.queues(live.engine().now()).is_ok());
    }
}
