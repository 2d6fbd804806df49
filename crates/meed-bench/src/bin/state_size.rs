//! How large the state of a large engine is, and how long it takes to write and to read: 10,000
//! queues, 100,000 running and 1,000,000 waiting tasks.
//!
//! `cargo run --release -p meed-bench --bin state_size`

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a measurement reads a clock and prints"
)]

use std::time::Instant;

use meed::place::BestFit;
use meed::*;
use meed_bench::random::Random;

const QUEUES: usize = 10_000;
const NODES: usize = 10_000;
const RUNNING: u64 = 100_000;
const WAITING: u64 = 1_000_000;
const TASKS_PER_JOB: u64 = 10;

fn engine() -> Engine {
    let mut random = Random(1);
    let kinds =
        [("cpu", Unit::Milli), ("memory", Unit::Milli)].map(|(name, unit)| (name.to_owned(), unit));
    let queue = |tenant: usize| QueueSpec {
        name: format!("t{tenant}"),
        weight: 1000 * (1 + tenant as u64 % 3),
        min: None,
        max: None,
        policy: Policy::preset("fifo").expect("a preset"),
    };
    let node = |node: usize| NodeSpec::new(format!("n{node}"), Resources::new(&[1000, 1000]));
    let config = Config {
        kinds: ResourceKinds::new(kinds.to_vec()).expect("two names"),
        measured: 0,
        root: Policy::preset("long-term").expect("a preset"),
        queues: (0..QUEUES).map(queue).collect(),
        nodes: (0..NODES).map(node).collect(),
    };
    let mut engine = Engine::new(config, Box::new(BestFit::new(2))).expect("sound");
    let queues: Vec<QueueId> = engine.view().queue_ids().skip(1).collect();
    let mut now = Time::ZERO;
    for _ in 0..(RUNNING + WAITING) / TASKS_PER_JOB {
        now = now.saturating_add(Span::from_micros(20).expect("in range"));
        let queue = queues[random.below(QUEUES as u64) as usize];
        // Ten or so fit on a node.
        let demand = Resources::new(&[98 - random.below(6), 98 - random.below(6)]);
        let groups = [TaskGroup::new(TASKS_PER_JOB as u32, demand)];
        let job = JobSpec { queue, weight: 1000, groups: &groups, open: false, max_attempts: 0 };
        engine.apply(now, Event::JobArrived(job)).expect("sound");
        engine.decide(false, drop);
    }
    engine
}

fn main() {
    let engine = engine();
    println!("{} jobs, {} tasks run", engine.view().live_jobs(), engine.view().running_tasks());
    let clock = Instant::now();
    let state = engine.state();
    println!("state: {:?}", clock.elapsed());
    let clock = Instant::now();
    let text = serde_json::to_vec(&state).expect("plain data");
    println!("JSON: {:.1} MB in {:?}", text.len() as f64 / 1e6, clock.elapsed());
    let clock = Instant::now();
    let read: State = serde_json::from_slice(&text).expect("what was written");
    println!("read: {:?}", clock.elapsed());
    let clock = Instant::now();
    let again = Engine::from_state(&read, Box::new(BestFit::new(2))).expect("its own state");
    println!("from_state: {:?}", clock.elapsed());
    println!("the same: {}", again.state() == state);
}
