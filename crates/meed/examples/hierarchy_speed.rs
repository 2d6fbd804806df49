//! What a hierarchy costs under `drf`, beside `fair` and beside the same leaves without parents.
//!
//! `cargo run --release -p meed --example hierarchy_speed -- [LEAVES] [GROUPS] [LIFETIMES]`
//!
//! Engine alone, two resources, tasks of several shapes. At each step a task that is drawn from all
//! that run ends, for each ten ends a job of ten tasks arrives at a leaf that is drawn, and
//! decisions are made: near full (98 % of the first resource), and with a backlog. Then a chain of
//! parents, one below the other, with two leaves at its end.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a measurement reads a clock and prints"
)]

#[path = "../benches/common/random.rs"]
mod random;

use std::time::Instant;

use meed::place::FirstFit;
use meed::*;
use random::Random;

const TASKS_PER_JOB: u32 = 10;
const NODES: u64 = 1000;
const NODE: [u64; 2] = [32_000, 64_000];

struct Cluster {
    engine: Engine,
    random: Random,
    leaves: Vec<QueueId>,
    running: Vec<AllocationId>,
    shapes: u64,
    micros: u64,
}

fn config(policy: &str, queues: &[String], leaves: usize) -> Config {
    let kinds =
        [("cpu", Unit::Milli), ("memory", Unit::Milli)].map(|(name, unit)| (name.to_owned(), unit));
    let fixed = |name: &str| {
        let mut policy = Policy::preset(name).expect("a preset");
        policy.quantum = Quantum::Fixed(Span::from_secs(10).expect("in range"));
        policy
    };
    let spec = |(number, name): (usize, &String)| {
        let is_leaf = number + leaves >= queues.len();
        let policy = fixed(if is_leaf { "fifo" } else { policy });
        let weight = 1000 * (1 + number as u64 % 3);
        QueueSpec { name: name.clone(), weight, min: None, max: None, policy }
    };
    let node = |node| NodeSpec::new(format!("n{node}"), Resources::new(&NODE));
    Config {
        kinds: ResourceKinds::new(kinds.to_vec()).expect("two names"),
        measured: 0,
        root: fixed(policy),
        queues: queues.iter().enumerate().map(spec).collect(),
        nodes: (0..NODES).map(node).collect(),
    }
}

impl Cluster {
    /// The last `leaves` of `queues` take jobs. So many tasks are there from the start.
    fn new(policy: &str, queues: &[String], leaves: usize, shapes: u64, load: f64) -> Cluster {
        let config = config(policy, queues, leaves);
        let engine = Engine::new(config, Box::new(FirstFit::new(2))).expect("sound");
        let all: Vec<QueueId> = engine.queue_ids().collect();
        let leaves = all[all.len() - leaves..].to_vec();
        let (random, running) = (Random(1), Vec::new());
        let mut cluster = Cluster { engine, random, leaves, running, shapes, micros: 0 };
        let mean = (1..=shapes).map(|number| 250 * number).sum::<u64>() / shapes;
        let tasks = (load * (NODES * NODE[0]) as f64 / mean as f64) as u64;
        for _ in 0..tasks / u64::from(TASKS_PER_JOB) {
            cluster.arrive();
            cluster.decide();
        }
        cluster
    }

    fn now(&self) -> Time {
        Time::from_micros(self.micros).expect("in range")
    }

    fn arrive(&mut self) {
        let queue = self.leaves[self.random.below(self.leaves.len() as u64) as usize];
        let (cpu, memory) = (1 + self.random.below(self.shapes), self.random.below(self.shapes));
        let demand = Resources::new(&[250 * cpu, 250 + 500 * memory]);
        let groups = [TaskGroup::new(TASKS_PER_JOB, demand)];
        let job = JobSpec { queue, weight: 1000, groups: &groups, open: false, max_attempts: 0 };
        self.engine.apply(self.now(), Event::JobArrived(job)).expect("sound");
    }

    fn decide(&mut self) {
        self.engine.decide(false, |start| self.running.push(start.allocation));
    }

    fn end(&mut self) {
        let at = self.random.below(self.running.len() as u64) as usize;
        let ended = self.running.swap_remove(at);
        self.engine.apply(self.now(), Event::TaskEnded(ended)).expect("it runs");
    }

    /// Microseconds for a lifetime: an end, a decision, a tenth of an arrival.
    fn lifetime_us(&mut self, lifetimes: u64) -> f64 {
        let clock = Instant::now();
        for step in 0..lifetimes {
            self.micros += 20;
            self.end();
            if step % u64::from(TASKS_PER_JOB) == 0 {
                self.arrive();
            }
            self.decide();
        }
        clock.elapsed().as_secs_f64() * 1e6 / lifetimes as f64
    }
}

fn main() {
    let argument = |place: usize, other: u64| -> u64 {
        std::env::args().nth(place).map_or(other, |text| text.parse().expect("a number"))
    };
    let (leaves, groups) = (argument(1, 10_000) as usize, argument(2, 20) as usize);
    let lifetimes = argument(3, 100_000);
    let flat: Vec<String> = (0..leaves).map(|leaf| format!("l{leaf}")).collect();
    let grouped: Vec<String> = (0..groups)
        .map(|group| format!("g{group}"))
        .chain((0..leaves).map(|leaf| format!("g{}.l{leaf}", leaf % groups)))
        .collect();
    println!("{leaves} leaves, {groups} groups, us a lifetime: flat; in groups");
    for (shapes, load) in [(1, 0.98), (1, 1.5), (4, 0.98), (4, 1.5)] {
        for policy in ["fair", "drf"] {
            let time = |queues: &[String]| {
                Cluster::new(policy, queues, leaves, shapes, load).lifetime_us(lifetimes)
            };
            let (flat, grouped) = (time(&flat), time(&grouped));
            let kinds = shapes * shapes;
            println!("{policy}, {kinds} shapes, load {load}: {flat:.2}; {grouped:.2}");
        }
    }
    println!("a chain of parents, us a lifetime");
    for depth in [80, 160, 320, 640] {
        let chain = (1..=depth).map(|level| vec!["x"; level].join("."));
        let end = vec!["x"; depth].join(".");
        let queues: Vec<String> = chain.chain([format!("{end}.a"), format!("{end}.b")]).collect();
        for policy in ["fair", "drf"] {
            let time = Cluster::new(policy, &queues, 2, 1, 1.5).lifetime_us(lifetimes / 100);
            println!("{policy}, depth {depth}: {time:.2}");
        }
    }
}
