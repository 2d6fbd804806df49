//! What a decision costs where many shapes wait in one leaf: one node of 1,000 slots that is full,
//! and N jobs of one task, each with a demand and a limit of its own, in one queue.
//!
//! `cargo run --release -p meed-bench --bin many_shapes -- [LIFETIMES] [POLICY]`
//!
//! For each of some N and each way to meet what fits nowhere it tells how long a lifetime takes: a
//! task that was drawn ends, another job arrives, and decisions are made.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a measurement reads a clock and prints"
)]

use std::time::Instant;

use meed::place::FirstFit;
use meed::*;
use meed_bench::common::{Random, argument, fixed};

const SLOTS: u64 = 1_000;

/// So many shapes wait.
const SHAPES: [u64; 3] = [100, 1_000, 10_000];

/// One queue, and what runs and waits in it.
struct Leaf {
    engine: Engine,
    queue: QueueId,
    random: Random,
    running: Vec<AllocationId>,
    micros: u64,
    arrived: u64,
}

impl Leaf {
    fn new(root: &Policy) -> Leaf {
        let spec = QueueSpec {
            name: "q".to_owned(),
            weight: 1000,
            min: None,
            max: None,
            policy: root.clone(),
        };
        let config = Config {
            kinds: ResourceKinds::new(vec![("slot".to_owned(), Unit::Milli)]).expect("a name"),
            measured: 0,
            root: root.clone(),
            queues: vec![spec],
            nodes: vec![NodeSpec::new("n".to_owned(), Resources::new(&[SLOTS]))],
        };
        let engine = Engine::new(config, Box::new(FirstFit::new(1))).expect("sound");
        let queue = engine.view().queue_ids().nth(1).expect("the one");
        Leaf { engine, queue, random: Random(1), running: Vec::new(), micros: 0, arrived: 0 }
    }

    fn now(&self) -> Time {
        Time::from_micros(self.micros).expect("in range")
    }

    /// A job of one task: of no other's shape, for no other has its limit.
    fn arrive(&mut self) {
        self.arrived += 1;
        let limit = 1_000_000_000 + 1_000 * self.arrived + 1_000_000_000 * self.random.below(8);
        let group = TaskGroup {
            limit: Span::from_micros(limit),
            ..TaskGroup::new(1, Resources::new(&[1 + self.random.below(60)]))
        };
        let (queue, groups) = (self.queue, [group]);
        let job = JobSpec { queue, weight: 1000, groups: &groups, open: false, max_attempts: 0 };
        self.engine.apply(self.now(), Event::JobArrived(job)).expect("sound");
    }

    fn decide(&mut self) {
        self.engine.decide(false, |start| self.running.push(start.allocation));
    }

    fn live(&mut self, lifetimes: u64) {
        for _ in 0..lifetimes {
            self.micros += 1_000;
            let at = self.random.below(self.running.len() as u64) as usize;
            let ended = self.running.swap_remove(at);
            self.engine.apply(self.now(), Event::TaskEnded(ended)).expect("it runs");
            self.arrive();
            self.decide();
        }
    }
}

fn main() {
    let (lifetimes, policy) = (argument(1, 20_000u64), argument(2, "fifo".to_owned()));
    let ways =
        [("skip", Blocked::Skip), ("reserve, one at once", Blocked::Reserve(Reservations::ONE))];
    for (words, blocked) in ways {
        for shapes in SHAPES {
            let mut leaf = Leaf::new(&Policy { blocked, ..fixed(&policy) });
            while leaf.engine.view().queue(leaf.queue).waiting < shapes {
                leaf.arrive();
                leaf.decide();
            }
            let clock = Instant::now();
            leaf.live(lifetimes);
            let each = clock.elapsed() / lifetimes as u32;
            println!("{policy}, {words}: {shapes} shapes wait, {each:?} a lifetime");
        }
    }
}
