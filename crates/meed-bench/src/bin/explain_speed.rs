//! How long explanations take on a live driver: one leaf, one job, and the books of all queues.
//! As many queues as are given (10,000), each with work that waits.
//!
//! `cargo run --release -p meed-bench --bin explain_speed -- [QUEUES]`

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a measurement reads a clock and prints"
)]

use std::time::Instant;

use meed::place::FirstFit;
use meed::{
    Config, JobSpec, Measure, Memory, NodeSpec, Policy, QueueSpec, ResourceKinds, Resources,
    TaskGroup, Time, Unit,
};
use meed_driver::explain::Subject;
use meed_driver::{Driver, NewJob, Off};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let count: u64 = std::env::args().nth(1).map_or(Ok(10_000), |count| count.parse())?;
    let mut driver = driver(count)?;
    driver.decide(|_| {})?;
    let now = Time::from_secs(60).expect("in range");
    let leaf = driver.queue_named("q7").expect("it was declared");
    let waiting = driver.jobs().find(|live| live.queue() == leaf).map(|live| live.id());
    let mut took: [Vec<f64>; 3] = Default::default();
    let mut time = |place: usize, began: Instant| {
        took[place].push(began.elapsed().as_secs_f64() * 1e3);
    };
    for _ in 0..20 {
        let began = Instant::now();
        let standing = driver.explain(now, leaf, Subject::Queue)?;
        time(0, began);
        assert!(standing.levels[0].waiting as u64 > count / 2);
        let began = Instant::now();
        driver.explain(now, leaf, Subject::Job(waiting))?;
        time(1, began);
        let began = Instant::now();
        assert_eq!(driver.queues(now)?.len() as u64, count);
        time(2, began);
    }
    println!("{count} queues, 20 times each");
    for (what, mut took) in ["a queue", "a job", "the books of all queues"].into_iter().zip(took) {
        took.sort_by(f64::total_cmp);
        println!("{what}: median {:.2} ms, slowest {:.2} ms", took[10], took[19]);
    }
    Ok(())
}

/// Queues with a job of two tasks each, on nodes with room for one task of each.
fn driver(count: u64) -> Result<Driver<()>, Box<dyn std::error::Error>> {
    let names = [("cpu", Unit::Milli), ("memory", Unit::Bytes)];
    let kinds = ResourceKinds::new(names.map(|(name, unit)| (name.to_owned(), unit)).to_vec())?;
    let usage = Policy { memory: Memory::Forever, ..Policy::new(Measure::Usage) };
    let queue = |number: u64| QueueSpec {
        name: format!("q{number}"),
        weight: 1000 + number % 7 * 500,
        min: None,
        max: None,
        policy: usage.clone(),
    };
    let node =
        |number: u64| NodeSpec::new(format!("n{number}"), Resources::new(&[16_000, 1 << 34]));
    let config = Config {
        measured: 0,
        root: usage.clone(),
        queues: (0..count).map(queue).collect(),
        nodes: (0..count / 16).map(node).collect(),
        kinds,
    };
    let mut driver = Driver::new(config, Box::new(FirstFit::new(2)), Off)?;
    let groups = [TaskGroup::new(2, Resources::new(&[1000, 1 << 30]))];
    for number in 0..count {
        let queue = driver.queue_named(&format!("q{number}")).ok_or("a queue is missing")?;
        let spec = JobSpec { queue, weight: 1000, groups: &groups, open: false, max_attempts: 0 };
        let new = || NewJob { key: number.into(), name: None, detail: () };
        driver.job_arrived(Time::ZERO, spec, new, |_, _, _| {})?;
    }
    Ok(driver)
}
