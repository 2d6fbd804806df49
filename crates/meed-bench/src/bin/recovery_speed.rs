//! What a durable journal costs, and how fast a driver is back after a crash: 10,000 queues, 10,000
//! nodes, 100,000 running and 1,000,000 waiting tasks.
//!
//! `cargo run --release -p meed-bench --bin recovery_speed [FOLDER]`
//!
//! The journal is compared with two worlds that have none: one that says which task has ended by
//! the key that it got with the start, as a live world must, and one that keeps the engine's
//! handles, as only a simulator can.
//!
//! Figures are medians of many short rounds, ratios those of neighbours. Beside the time by the
//! clock stands that of the processor, where the system tells it: it leaves out the disk.
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
use meed::{
    AllocationId, Config, JobSpec, NodeSpec, Policy, QueueSpec, ResourceKinds, Resources, TaskGroup,
};
use meed::{Time, Unit};
use meed_driver::explain::Subject;
use meed_driver::live::{Action, Live, Opening, SnapshotRule};
use meed_driver::{Driver, NewJob, Off, Taken};
use meed_journal::{Amounts, Arrival, Fact, Group, Header, Name, Opened, TaskKey};
use meed_store::{FileStore, FileStoreOptions, Store, UnixMillis};

const QUEUES: u64 = 10_000;
const NODES: u64 = 10_000;
const TASKS_PER_JOB: u32 = 10;
const JOBS: u64 = 110_000;
const WALL: UnixMillis = UnixMillis::new(0);
/// Rounds that are measured, in turn with the journal off and on: what else happens on the machine
/// happens to all alike.
const ROUNDS: usize = 11;
/// Decisions of a round, and how many go into one commit.
const DECISIONS: u64 = 5000;
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
                let arrival = Arrival::new(queue, number.into(), vec![group]);
                told.apply(&Fact::job_arrived(arrival))?;
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

/// Without a journal.
struct Bare {
    driver: Driver<(), Off>,
    running: VecDeque<AllocationId>,
}

impl Bare {
    fn filled() -> Bare {
        let mut driver: Driver<(), Off> =
            Driver::new(config(), Box::new(BestFit::new(2)), Off).unwrap();
        let mut running = VecDeque::new();
        let queues: Vec<_> = driver.engine().queue_ids().skip(1).collect();
        for number in 0..JOBS {
            let (queue, demand) = job(number);
            let groups = [TaskGroup::new(TASKS_PER_JOB, demand)];
            let queue = queues[queue as usize];
            let spec =
                JobSpec { queue, weight: 1000, groups: &groups, open: false, max_attempts: 0 };
            let new = || NewJob { key: number.into(), name: None, detail: () };
            driver.job_arrived(at(1 + number / 100 * 2000), spec, new, |_, _, _| {}).unwrap();
            if number % 100 == 99 {
                driver.decide(|start| running.push_back(start.allocation)).unwrap();
            }
        }
        Bare { driver, running }
    }

    /// Ends, each with a decision.
    fn round(&mut self) -> [Duration; 3] {
        let now = self.driver.engine().now().as_micros();
        let [took, processor] = timed_twice(|| {
            for decision in 1..=DECISIONS {
                let task = self.running.pop_front().unwrap();
                self.driver.task_ended(at(now + decision * 20), task).unwrap();
                self.driver.decide(|start| self.running.push_back(start.allocation)).unwrap();
            }
        });
        [took, processor, Duration::ZERO]
    }
}

/// Without a journal, but by keys: what a live world does in any case. Starts are handed out for a
/// batch at a time, as by a commit.
struct Keyed {
    driver: Driver<(), Off>,
    running: VecDeque<TaskKey>,
    nodes: Vec<Name>,
}

impl Keyed {
    fn filled() -> Keyed {
        let Bare { driver, running } = Bare::filled();
        let driver = driver.find_by_key();
        let nodes = (0..NODES).map(|node| format!("n{node}").as_str().into()).collect();
        let mut keyed = Keyed { driver, running: VecDeque::new(), nodes };
        let starts = running.into_iter().map(|task| keyed.start(task)).collect();
        take(&mut keyed.running, starts);
        keyed
    }

    fn start(&self, task: AllocationId) -> Action {
        let row = self.driver.running(task).unwrap();
        let job = self.driver.job(row.job).unwrap().key().clone();
        let task = TaskKey { job, task: row.task, attempt: row.attempt };
        Action::Start { task, node: self.nodes[row.node.index()].clone() }
    }

    /// That attempt, not another one of the task.
    fn known(&self, task: &TaskKey) -> AllocationId {
        let found = self.driver.task_of(&task.job, task.task);
        let is_it =
            |&id: &_| self.driver.running(id).is_some_and(|row| row.attempt == task.attempt);
        found.filter(is_it).unwrap()
    }

    /// The same.
    fn round(&mut self) -> [Duration; 3] {
        let now = self.driver.engine().now().as_micros();
        let mut waiting = Vec::new();
        let [took, processor] = timed_twice(|| {
            for decision in 1..=DECISIONS {
                let task = self.running.pop_front().unwrap();
                let task = self.known(&task);
                self.driver.task_ended(at(now + decision * 20), task).unwrap();
                let mut started = None;
                self.driver.decide(|start| started = Some(start.allocation)).unwrap();
                waiting.extend(started.map(|task| self.start(task)));
                if decision % BATCH == 0 {
                    take(&mut self.running, std::mem::take(&mut waiting));
                }
            }
        });
        [took, processor, Duration::ZERO]
    }
}

/// With a journal.
struct Kept {
    live: Live<()>,
    running: VecDeque<TaskKey>,
    /// Whether commits are begun, and the world goes on while the disk works.
    beside: bool,
}

impl Kept {
    fn filled(folder: &Path, reasons: bool, beside: bool) -> Kept {
        let (live, running) = filled(folder, reasons);
        Kept { live, running, beside }
    }

    /// The same; and of that, what the commits took.
    fn round(&mut self) -> [Duration; 3] {
        let now = self.live.engine().now().as_micros();
        let mut commits = Duration::ZERO;
        let [took, processor] = timed_twice(|| {
            for decision in 1..=DECISIONS {
                let task = self.running.pop_front().unwrap();
                self.live
                    .at(at(now + decision * 20), |told| told.apply(&Fact::task_ended(task.clone())))
                    .unwrap();
                if decision % BATCH == 0 {
                    let commit = |live: &mut Live<()>| match self.beside {
                        true => live.begin_commit(WALL).unwrap(),
                        false => live.commit(WALL).unwrap(),
                    };
                    let (actions, took) = timed(|| commit(&mut self.live));
                    commits += took;
                    take(&mut self.running, actions);
                }
            }
            // Nothing of a round may be left for the time between rounds.
            let (rest, took) = timed(|| self.live.commit(WALL).unwrap());
            commits += took;
            take(&mut self.running, rest);
        });
        [took, processor, commits]
    }
}

fn bytes_in(folder: &Path) -> u64 {
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap());
    files.map(|file| file.metadata().unwrap().len()).sum()
}

/// Of one decision, in microseconds.
fn micros(took: Duration) -> f64 {
    took.as_secs_f64() * 1e6 / DECISIONS as f64
}

fn median(all: impl Iterator<Item = f64>) -> f64 {
    let mut all: Vec<f64> = all.collect();
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

fn main() {
    let made = tempfile::tempdir().unwrap();
    let base = std::env::args().nth(1).map_or_else(|| made.path().to_owned(), Into::into);
    let mut bare = Bare::filled();
    let mut keyed = Keyed::filled();
    let ways = [(true, true), (true, false), (false, true), (false, false)];
    let folders = ways.map(|(reasons, beside)| base.join(format!("{reasons}-{beside}")));
    let mut on = [0, 1, 2, 3].map(|at| Kept::filled(&folders[at], ways[at].0, ways[at].1));
    let before =
        [0, 1, 2, 3].map(|at| (on[at].live.store().durable().get(), bytes_in(&folders[at])));
    let round = |_| ([bare.round(), keyed.round()], [0, 1, 2, 3].map(|at| on[at].round()));
    let rounds: Vec<_> = (0..ROUNDS).map(round).collect();
    for (way, name) in ["handles", "keys"].into_iter().enumerate() {
        let of = |what: usize| median(rounds.iter().map(|(off, _)| micros(off[way][what])));
        println!(
            "an end and a decision, journal off, by {name}: {:.2} us, processor {:.2} us",
            of(0),
            of(1)
        );
    }
    for (at, (kept, folder)) in on.iter().zip(&folders).enumerate() {
        let records = kept.live.store().durable().get() - before[at].0;
        let bytes = bytes_in(folder).saturating_sub(before[at].1);
        let took = |what: usize| median(rounds.iter().map(|(_, on)| micros(on[at][what])));
        let ratio = |way: usize, what: usize| {
            let times = |(off, on): &([[Duration; 3]; 2], [[Duration; 3]; 4])| {
                on[at][what].as_secs_f64() / off[way][what].as_secs_f64()
            };
            median(rounds.iter().map(times))
        };
        println!(
            "journal on, reasons {}, {BATCH} in a commit {}: {:.2} us, {:.2} times keys ({:.2} \
             handles); processor {:.2} us, {:.2} times keys ({:.2}); {:.2} us in commits; \
             {records} records of about {} bytes",
            ways[at].0,
            if ways[at].1 { "beside" } else { "that is waited for" },
            took(0),
            ratio(1, 0),
            ratio(0, 0),
            took(1),
            ratio(1, 1),
            ratio(0, 1),
            took(2),
            bytes / records
        );
    }
    drop((bare, keyed));
    let [.., kept] = on;
    recovery(kept.live, &folders[3]);
}

/// How long explanations, a snapshot and the way back from it take.
fn recovery(mut live: Live<()>, folder: &Path) {
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
        live.at(at(start + decision * 20), |told| told.apply(&Fact::task_ended(task.clone())))
            .unwrap();
    }
    live.commit(WALL).unwrap();
    drop(live);
    let mut played = 0;
    let back = || {
        let ((live, recovered), took) =
            timed(|| Live::<()>::open(store(folder), opening(false)).unwrap());
        played = recovered.played;
        assert_eq!(live.engine().running_tasks(), running);
        took.as_secs_f64()
    };
    let (back, longest) = of_several(back);
    println!(
        "recovered in {back:.2} s (longest {longest:.2}): {played} records behind the snapshot"
    );
    let state = Live::<()>::open(store(folder), opening(false)).unwrap().0.state();
    let place = || Box::new(BestFit::new(2));
    let read = || timed(|| Driver::<(), Off>::from_state(&state, place(), Off).unwrap()).1;
    let (state, longest) = of_several(|| read().as_secs_f64());
    println!("of which the state itself: {state:.2} s (longest {longest:.2})");
}

/// Median and longest.
fn of_several(mut took: impl FnMut() -> f64) -> (f64, f64) {
    let mut all: Vec<f64> = (0..7).map(|_| took()).collect();
    all.sort_by(f64::total_cmp);
    (all[all.len() / 2], all[all.len() - 1])
}
