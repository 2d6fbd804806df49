//! What a hierarchy costs under `drf`, beside `fair` and beside the same leaves without parents.
//!
//! `cargo run --release -p meed-bench --bin hierarchy_speed -- [LEAVES] [GROUPS] [LIFETIMES]`
//!
//! Engine alone, two resources, tasks of several shapes (`common`): near full (98 % of the first
//! resource), and with a backlog. Then a chain of parents, one below the other, with two leaves at
//! its end.
//!
//! `-- LEAVES GROUPS LIFETIMES SIDE POLICY [LEAF]` runs one case only, for a profiler: in groups, a
//! backlog, shapes of SIDE by SIDE sizes; without parents where GROUPS is 0. With SIDE 0 it is a
//! chain of GROUPS parents. LEAF is the order of jobs within a leaf, `fifo` unless said.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a measurement reads a clock and prints"
)]

use std::time::Instant;

use meed::place::FirstFit;
use meed::*;
use meed_bench::common::{Filled, Random, argument, cpu_and_memory, fixed};

const NODES: u64 = 1000;
const NODE: [u64; 2] = [32_000, 64_000];
const BACKLOG: f64 = 1.5;

fn config(policy: &str, queues: &[String], leaves: usize) -> Config {
    let of_leaves: String = argument(6, "fifo".to_owned());
    let spec = |(number, name): (usize, &String)| {
        let is_leaf = number + leaves >= queues.len();
        let policy = fixed(if is_leaf { &of_leaves } else { policy });
        let weight = 1000 * (1 + number as u64 % 3);
        QueueSpec { name: name.clone(), weight, min: None, max: None, policy }
    };
    let node = |node| NodeSpec::new(format!("n{node}"), Resources::new(&NODE));
    Config {
        kinds: cpu_and_memory(),
        measured: 0,
        root: fixed(policy),
        queues: queues.iter().enumerate().map(spec).collect(),
        nodes: (0..NODES).map(node).collect(),
    }
}

/// The last `leaves` of `queues` take jobs, of tasks of `side` times `side` shapes.
fn cluster(policy: &str, queues: &[String], leaves: usize, side: u64, load: f64) -> Filled {
    let config = config(policy, queues, leaves);
    let engine = Engine::new(config, Box::new(FirstFit::new(2))).expect("sound");
    let all: Vec<QueueId> = engine.view().queue_ids().collect();
    let demand = move |random: &mut Random| {
        let (cpu, memory) = (1 + random.below(side), random.below(side));
        Resources::new(&[250 * cpu, 250 + 500 * memory])
    };
    let mut cluster = Filled {
        engine,
        random: Random(1),
        leaves: all[all.len() - leaves..].to_vec(),
        demand: Box::new(demand),
        limits: &[],
        running: Vec::new(),
        micros: 0,
    };
    let mean = (1..=side).map(|number| 250 * number).sum::<u64>() / side;
    cluster.fill((load * (NODES * NODE[0]) as f64 / mean as f64) as u64);
    cluster
}

/// Microseconds for a lifetime.
fn lifetime_us(mut cluster: Filled, lifetimes: u64) -> f64 {
    let clock = Instant::now();
    cluster.live(lifetimes);
    clock.elapsed().as_secs_f64() * 1e6 / lifetimes as f64
}

fn flat(leaves: usize) -> Vec<String> {
    (0..leaves).map(|leaf| format!("l{leaf}")).collect()
}

fn in_groups(leaves: usize, groups: usize) -> Vec<String> {
    if groups == 0 {
        return flat(leaves);
    }
    let parents = (0..groups).map(|group| format!("g{group}"));
    parents.chain((0..leaves).map(|leaf| format!("g{}.l{leaf}", leaf % groups))).collect()
}

fn in_a_chain(depth: usize) -> Vec<String> {
    let chain = (1..=depth).map(|level| vec!["x"; level].join("."));
    let end = vec!["x"; depth].join(".");
    chain.chain([format!("{end}.a"), format!("{end}.b")]).collect()
}

fn main() {
    let (leaves, groups) = (argument(1, 10_000), argument(2, 20));
    let (lifetimes, side) = (argument(3, 100_000), argument(4, u64::MAX));
    if side != u64::MAX {
        let policy: String = argument(5, "drf".to_owned());
        let cluster = match side {
            0 => cluster(&policy, &in_a_chain(groups), 2, 1, BACKLOG),
            _ => cluster(&policy, &in_groups(leaves, groups), leaves, side, BACKLOG),
        };
        println!("{policy}: {:.2} us a lifetime", lifetime_us(cluster, lifetimes));
        return;
    }
    let (flat, grouped) = (flat(leaves), in_groups(leaves, groups));
    println!("{leaves} leaves, {groups} groups, us a lifetime: flat; in groups");
    for (side, load) in [(1, 0.98), (1, BACKLOG), (4, 0.98), (4, BACKLOG), (8, BACKLOG)] {
        for policy in ["fair", "drf"] {
            let time = |queues: &[String]| {
                lifetime_us(cluster(policy, queues, leaves, side, load), lifetimes)
            };
            let (flat, grouped) = (time(&flat), time(&grouped));
            let shapes = side * side;
            println!("{policy}, {shapes} shapes, load {load}: {flat:.2}; {grouped:.2}");
        }
    }
    println!("a chain of parents, us a lifetime");
    for depth in [80, 160, 320, 640] {
        for policy in ["fair", "drf"] {
            let cluster = cluster(policy, &in_a_chain(depth), 2, 1, BACKLOG);
            println!("{policy}, depth {depth}: {:.2}", lifetime_us(cluster, lifetimes / 100));
        }
    }
}
