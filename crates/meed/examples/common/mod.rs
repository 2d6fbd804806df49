//! What measurements of the engine alone share: arguments, policies, and tasks that come and go.
//!
//! At each step the task that ends is drawn from all that run, which is what exponential task times
//! amount to; for each ten ends a job of ten tasks arrives, so the load stays where it is; and
//! decisions are made. A *lifetime* is a decision, the end, and a tenth of an arrival.

#[path = "../../benches/common/random.rs"]
mod random;

use std::str::FromStr;

use meed::*;
pub(crate) use random::Random;

pub(crate) const TASKS_PER_JOB: u32 = 10;

/// The argument at `place`, counted from 1, or else `other`.
pub(crate) fn argument<T: FromStr>(place: usize, other: T) -> T {
    let read = |text: String| text.parse().unwrap_or_else(|_| panic!("`{text}` is no such value"));
    std::env::args().nth(place).map_or(other, read)
}

/// A preset, with a quantum that stays.
pub(crate) fn fixed(name: &str) -> Policy {
    let mut policy = Policy::preset(name).unwrap_or_else(|| panic!("`{name}` is no preset"));
    policy.quantum = Quantum::Fixed(Span::from_secs(10).expect("in range"));
    policy
}

pub(crate) fn cpu_and_memory() -> ResourceKinds {
    let kinds = ["cpu", "memory"].map(|name| (name.to_owned(), Unit::Milli));
    ResourceKinds::new(kinds.to_vec()).expect("two names")
}

/// An engine, and what lives in it.
pub(crate) struct Cluster {
    pub(crate) engine: Engine,
    pub(crate) random: Random,
    /// Queues that jobs arrive at.
    pub(crate) leaves: Vec<QueueId>,
    /// What the tasks of the next job demand.
    pub(crate) demand: Box<dyn FnMut(&mut Random) -> Resources>,
    /// One of these limits, in microseconds, is drawn for each job; none where it is empty.
    pub(crate) limits: &'static [u64],
    pub(crate) running: Vec<AllocationId>,
    pub(crate) micros: u64,
}

impl Cluster {
    /// So many tasks arrive at first, and start where they can.
    pub(crate) fn fill(&mut self, tasks: u64) {
        for _ in 0..tasks / u64::from(TASKS_PER_JOB) {
            self.arrive();
            self.decide();
        }
    }

    fn now(&self) -> Time {
        Time::from_micros(self.micros).expect("in range")
    }

    pub(crate) fn arrive(&mut self) {
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

    pub(crate) fn decide(&mut self) {
        self.engine.decide(false, |start| self.running.push(start.allocation));
    }

    pub(crate) fn end(&mut self) {
        let at = self.random.below(self.running.len() as u64) as usize;
        let ended = self.running.swap_remove(at);
        self.engine.apply(self.now(), Event::TaskEnded(ended)).expect("it runs");
    }

    /// So many lifetimes, each at an instant of its own.
    pub(crate) fn live(&mut self, lifetimes: u64) {
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
