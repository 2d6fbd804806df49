//! What it costs that nodes join or queues change at one instant, among many queues.
//!
//! `cargo run --release -p meed-bench --bin sharing_speed -- [QUEUES] [CHANGES]`
//!
//! Shares are given out once before the next decision, whatever came at that instant; the second
//! figure asks for it after each change, as worlds do where each comes at an instant of its own.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a measurement reads a clock and prints"
)]

use std::time::Instant;

use meed::place::BestFit;
use meed::*;

fn engine(queues: u64, order: &str) -> Engine {
    let kinds =
        [("cpu", Unit::Milli), ("memory", Unit::Milli)].map(|(name, unit)| (name.to_owned(), unit));
    let queue = |tenant: u64| QueueSpec {
        name: format!("t{tenant}"),
        weight: 1000 * (1 + tenant % 3),
        min: None,
        max: None,
        policy: Policy::preset("fifo").expect("a preset"),
    };
    let config = Config {
        kinds: ResourceKinds::new(kinds.to_vec()).expect("two names"),
        measured: 0,
        root: Policy::preset(order).expect("a preset"),
        queues: (0..queues).map(queue).collect(),
        nodes: vec![NodeSpec::new("first", Resources::new(&[1000, 1000]))],
    };
    let mut engine = Engine::new(config, Box::new(BestFit::new(2))).expect("sound");
    let groups = [TaskGroup::new(3, Resources::new(&[1000, 500]))];
    for queue in engine.view().queue_ids().skip(1) {
        let job = JobSpec { queue, weight: 1000, groups: &groups, open: false, max_attempts: 0 };
        engine.apply(Time::ZERO, Event::JobArrived(job)).expect("sound");
    }
    engine.decide(false, drop);
    engine
}

/// Milliseconds of `changes` changes; `one_by_one`: time passes after each.
fn cost(
    engine: &mut Engine,
    changes: u64,
    one_by_one: bool,
    change: fn(u64) -> Event<'static>,
) -> f64 {
    let clock = Instant::now();
    let step = Span::from_micros(1).expect("in range");
    let mut now = engine.view().now().saturating_add(step);
    for number in 0..changes {
        engine.apply(now, change(number)).expect("sound");
        if one_by_one {
            now = now.saturating_add(step);
            engine.advance(now).expect("time goes on");
        }
    }
    engine.advance(now).expect("time goes on");
    clock.elapsed().as_secs_f64() * 1e3
}

fn join(number: u64) -> Event<'static> {
    Event::NodeJoined(NodeSpec::new(format!("n{number}"), Resources::new(&[16_000, 64_000])))
}

fn add(number: u64) -> Event<'static> {
    Event::QueueAdded(QueueSpec {
        name: format!("more{number}"),
        weight: 1000,
        min: None,
        max: None,
        policy: Policy::preset("fifo").expect("a preset"),
    })
}

fn main() {
    let argument = |place: usize, other: u64| -> u64 {
        std::env::args().nth(place).map_or(other, |text| text.parse().expect("a number"))
    };
    let (queues, changes) = (argument(1, 10_000), argument(2, 1000));
    println!("{queues} queues, {changes} changes, ms: at one instant; at one each");
    for order in ["fair", "long-term", "drf", "long-term-drf"] {
        for (what, change) in [("nodes join", join as fn(u64) -> _), ("queues come", add)] {
            let once = cost(&mut engine(queues, order), changes, false, change);
            let each = cost(&mut engine(queues, order), changes, true, change);
            println!("{order}, {what}: {once:.1}; {each:.1}");
        }
    }
}
