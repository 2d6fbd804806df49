//! What measurements of the engine alone share: arguments, policies, and tasks that come and go.
//!
//! At each step the task that ends is drawn from all that run, which is what exponential task times
//! amount to; for each ten ends a job of ten tasks arrives, so the load stays where it is; and
//! decisions are made. A *lifetime* is a decision, the end, and a tenth of an arrival.

use std::str::FromStr;

use meed::*;

pub use crate::random::Random;

/// A job has so many.
pub const TASKS_PER_JOB: u32 = 10;

/// The argument at `place`, counted from 1, or else `other`.
pub fn argument<T: FromStr>(place: usize, other: T) -> T {
    let read = |text: String| text.parse().unwrap_or_else(|_| panic!("`{text}` is no such value"));
    std::env::args().nth(place).map_or(other, read)
}

/// A preset, with a quantum that stays.
pub fn fixed(name: &str) -> Policy {
    let mut policy = Policy::preset(name).unwrap_or_else(|| panic!("`{name}` is no preset"));
    policy.quantum = Quantum::Fixed(Span::from_secs(10).expect("in range"));
    policy
}

/// Two resources, in thousandths.
pub fn cpu_and_memory() -> ResourceKinds {
    let kinds = ["cpu", "memory"].map(|name| (name.to_owned(), Unit::Milli));
    ResourceKinds::new(kinds.to_vec()).expect("two names")
}

/// An engine, and what lives in it.
pub struct Filled {
    /// It alone decides.
    pub engine: Engine,
    /// What tasks and jobs are drawn with.
    pub random: Random,
    /// Queues that jobs arrive at.
    pub leaves: Vec<QueueId>,
    /// What the tasks of the next job demand.
    pub demand: Box<dyn FnMut(&mut Random) -> Resources>,
    /// One of these limits, in microseconds, is drawn for each job; none where it is empty.
    pub limits: &'static [u64],
    /// What runs, in no order.
    pub running: Vec<AllocationId>,
    /// The time.
    pub micros: u64,
}

impl Filled {
    /// So many tasks arrive at first, and start where they can.
    pub fn fill(&mut self, tasks: u64) {
        for _ in 0..tasks / u64::from(TASKS_PER_JOB) {
            self.arrive();
            self.decide();
        }
    }

    fn now(&self) -> Time {
        Time::from_micros(self.micros).expect("in range")
    }

    /// A job arrives.
    pub fn arrive(&mut self) {
        let queue = self.leaves[self.random.below(self.leaves.len() as u64) as usize];
        let mut group = TaskGroup::new(TASKS_PER_JOB, (self.demand)(&mut self.random));
        if !self.limits.is_empty() {
            let limit = self.limits[self.random.below(self.limits.len() as u64) as usize];
            group.limit = Span::from_micros(limit);
        }
        let groups = [group];
        let job = JobSpec { queue, weight: 1000, groups: &groups, open: false, max_attempts: 0 };
        self.engine.apply(self.now(), Event::JobArrived(job)).expect("sound");
    }

    /// Starts what can start.
    pub fn decide(&mut self) {
        self.engine.decide(false, |start| self.running.push(start.allocation));
    }

    /// A task that runs ends.
    pub fn end(&mut self) {
        let at = self.random.below(self.running.len() as u64) as usize;
        let ended = self.running.swap_remove(at);
        self.engine.apply(self.now(), Event::TaskEnded(ended)).expect("it runs");
    }

    /// So many lifetimes, each at an instant of its own. A function of its own, for profilers.
    #[inline(never)]
    pub fn live(&mut self, lifetimes: u64) {
        for step in 0..lifetimes {
            self.micros += 20;
            self.end();
            if step % u64::from(TASKS_PER_JOB) == 0 {
                self.arrive();
            }
            self.decide();
        }
    }
}
