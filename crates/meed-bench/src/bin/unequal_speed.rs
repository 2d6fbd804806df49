//! How many decisions a second the engine makes on a large cluster of unequal nodes, near full:
//! 100,000 nodes of the mix of a Google cell (DRFH, Table 1), 10,000 tenants, two resources, 400
//! shapes of tasks, best fit.
//!
//! `cargo run --release -p meed-bench --bin unequal_speed -- [POLICY] [LIFETIMES] [LOAD] [WAY]
//! [MOST]`
//!
//! With `reserve` as WAY there is one cluster with `when_blocked = "skip"` and one for each of some
//! numbers of reservations up to MOST; they live in turn, and each is told beside `skip`: the
//! median of these rounds, the least and the most. With `reserve-limits` the same, and tasks have
//! limits.
//!
//! The engine alone: no clock, no event heap, no log (`common`). A *decision* is a choice of
//! tenant, job and node, and the start that books it.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a measurement reads a clock and prints"
)]

use std::num::NonZeroU32;
use std::time::{Duration, Instant};

use meed::place::BestFit;
use meed::*;
use meed_bench::common::{Filled, Random, TASKS_PER_JOB, argument, cpu_and_memory, fixed};

const NODES: usize = 100_000;
const TENANTS: usize = 10_000;
/// Of the cpus, if nothing else is said. With 1 or more the rest of it waits: a deep backlog.
const LOAD: f64 = 0.98;
const MEAN_CPU: f64 = 105.0;

/// Numbers of servers, and their processors and memory in thousandths of the largest.
const SERVERS: [(u64, u64, u64); 10] = [
    (6732, 500, 500),
    (3863, 500, 250),
    (1001, 500, 750),
    (795, 1000, 1000),
    (126, 250, 250),
    (52, 500, 120),
    (5, 500, 30),
    (5, 500, 970),
    (3, 1000, 500),
    (1, 500, 60),
];

/// What a server has.
fn server(random: &mut Random) -> Resources {
    let mut at = random.below(SERVERS.iter().map(|(count, _, _)| count).sum());
    let passed = |&&(count, _, _): &&(u64, u64, u64)| {
        let here = at < count;
        at = at.saturating_sub(count);
        here
    };
    let (_, cpu, memory) = SERVERS.iter().find(passed).expect("below the sum");
    Resources::new(&[*cpu, *memory])
}

/// What a task demands.
fn demand(random: &mut Random) -> Resources {
    Resources::new(&[10 + 10 * random.below(20), 6 + 6 * random.below(20)])
}

/// A cluster near full.
fn cluster(root: &Policy, load: f64, limits: &'static [u64]) -> Filled {
    let mut random = Random(1);
    let leaf = fixed("fifo");
    let queue = |tenant| {
        let (name, weight) = (format!("t{tenant}"), 1000 * (1 + tenant as u64 % 3));
        QueueSpec { name, weight, min: None, max: None, policy: leaf.clone() }
    };
    let config = Config {
        kinds: cpu_and_memory(),
        measured: 0,
        root: root.clone(),
        queues: (0..TENANTS).map(queue).collect(),
        nodes: (0..NODES)
            .map(|node| NodeSpec::new(format!("n{node}"), server(&mut random)))
            .collect(),
    };
    let cpus: u64 = config.nodes.iter().map(|node| node.capacity.get(0)).sum();
    let engine = Engine::new(config, Box::new(BestFit::new(2))).expect("sound");
    let leaves = engine.view().queue_ids().skip(1).collect();
    let demand = Box::new(demand);
    let mut cluster =
        Filled { engine, random, leaves, demand, limits, running: Vec::new(), micros: 0 };
    cluster.fill((load * cpus as f64 / MEAN_CPU) as u64);
    cluster
}

/// So many ends, arrivals and decisions lie between two looks at the clock, where parts are told
/// apart.
const BATCH: u64 = 10;

/// Mean times of a task's end, of its part of an arrival, and of a decision; what a look at the
/// clock costs is in them.
fn parts(cluster: &mut Filled, lifetimes: u64) -> [Duration; 3] {
    let (mut parts, mut started) = ([Duration::ZERO; 3], 0);
    for _ in 0..lifetimes / BATCH {
        cluster.micros += 20 * BATCH;
        let clock = Instant::now();
        (0..BATCH).for_each(|_| cluster.end());
        let ended = clock.elapsed();
        (0..BATCH / u64::from(TASKS_PER_JOB)).for_each(|_| cluster.arrive());
        let arrived = clock.elapsed();
        let before = cluster.running.len();
        cluster.decide();
        started += cluster.running.len() - before;
        let sums = [ended, arrived - ended, clock.elapsed() - arrived];
        parts.iter_mut().zip(sums).for_each(|(part, sum)| *part += sum);
    }
    let [ended, arrived, decided] = parts;
    [ended / lifetimes as u32, arrived / lifetimes as u32, decided / started.max(1) as u32]
}

/// Two, four and eight times the mean life of a task, about.
const LIMITS: [u64; 3] = [20_000_000, 40_000_000, 80_000_000];

/// So many reservations at once; 0: none is made.
const RESERVATIONS: [u32; 4] = [0, 1, 8, 64];

/// Each lives so often, in turn: others on the machine slow all of them alike.
const ROUNDS: u64 = 20;

/// Lifetimes a second with reservations, beside those without.
fn beside_skip(policy: &str, lifetimes: u64, load: f64, limits: &'static [u64]) {
    let (most, lifetimes) = (argument(5, u32::MAX), lifetimes.div_ceil(ROUNDS).max(1));
    let numbers: Vec<u32> = RESERVATIONS.into_iter().filter(|&number| number <= most).collect();
    let of = |&reservations: &u32| {
        let mut root = fixed(policy);
        if let Some(most) = NonZeroU32::new(reservations) {
            root.blocked = Blocked::Reserve(Reservations::AtMost(most));
        }
        cluster(&root, load, limits)
    };
    let mut clusters: Vec<Filled> = numbers.iter().map(of).collect();
    let mut seconds = vec![Vec::new(); clusters.len()];
    for _ in 0..ROUNDS {
        for (cluster, seconds) in clusters.iter_mut().zip(&mut seconds) {
            let clock = Instant::now();
            cluster.live(lifetimes);
            seconds.push(clock.elapsed().as_secs_f64());
        }
    }
    for (reservations, each) in numbers.iter().zip(&seconds) {
        let speed = (lifetimes * ROUNDS) as f64 / each.iter().sum::<f64>();
        let mut ratios: Vec<f64> =
            seconds[0].iter().zip(each).map(|(skip, seconds)| skip / seconds).collect();
        ratios.sort_by(f64::total_cmp);
        let (least, median, most) = (ratios[0], ratios[ratios.len() / 2], ratios[ratios.len() - 1]);
        println!(
            "{policy}, {reservations} reservations: {speed:.0} lifetimes a second, {median:.2} of \
             skip ({least:.2} to {most:.2})"
        );
    }
}

fn main() {
    let policy: String = argument(1, "drfh".to_owned());
    let (lifetimes, load) = (argument(2, 1_000_000u64), argument(3, LOAD));
    match argument(4, String::new()).as_str() {
        "reserve" => return beside_skip(&policy, lifetimes, load, &[]),
        "reserve-limits" => return beside_skip(&policy, lifetimes, load, &LIMITS),
        _ => {}
    }
    let mut cluster = cluster(&fixed(&policy), load, &[]);
    let full = cluster.running.len();
    let clock = Instant::now();
    cluster.live(lifetimes);
    let seconds = clock.elapsed().as_secs_f64();
    let waiting: u64 =
        cluster.leaves.iter().map(|&queue| cluster.engine.view().queue(queue).waiting).sum();
    println!(
        "{policy}: {full} tasks ran when full, {} run now, {waiting} wait",
        cluster.running.len()
    );
    println!("one by one: {:.0} lifetimes a second", lifetimes as f64 / seconds);
    let [ended, arrived, decided] = parts(&mut cluster, lifetimes);
    println!("ten at an instant: end {ended:?}, arrival {arrived:?} a task, decision {decided:?}");
    println!("{:.0} decisions a second", 1.0 / decided.as_secs_f64());
}
