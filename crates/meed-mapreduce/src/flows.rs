//! What a task does side by side: fetching from many nodes, and writing one block on several.
//!
//! A course is a list of rounds, one after the other. A round is a list of chains, of which at most
//! `width` go on at once, in order; a chain is a few works, one after the other, each at one server
//! ([`super::sharing`]).
//!
//! > a round is over when all its chains are; a task goes on when all its rounds are
//!
//! Invariant: while a task is in here at least one of its chains is at a server. Cost: what a start
//! or an end at a server costs, for each work; O(chains that go on) of a task to stop it.

use meed::Time;

use super::machines::{Machines, Place};

/// Most works of a chain.
const LEGS: usize = 3;

/// Works one after the other; those of no size are passed over.
pub(super) type Chain = [(Place, u64); LEGS];

/// Chains side by side.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Round {
    pub(super) chains: Vec<Chain>,
    /// Chains at once, above zero.
    pub(super) width: usize,
}

/// Marks numbers of flows among the users of servers; tasks are fewer than that.
const FLOW: u32 = 1 << 31;

/// A chain that goes on.
struct Flow {
    task: u32,
    chain: Chain,
    /// Works that have begun.
    begun: usize,
}

/// A task that is in here.
struct Course {
    rounds: std::vec::IntoIter<Round>,
    waiting: std::vec::IntoIter<Chain>,
    width: usize,
    /// Flows that go on.
    open: Vec<u32>,
    /// Chains that are over, and all.
    over: usize,
    all: usize,
}

/// See the module.
#[derive(Default)]
pub(super) struct Flows {
    flows: Vec<Option<Flow>>,
    free: Vec<u32>,
    /// By task; numbers of tasks are given again, so it stays as small as there are tasks at once.
    courses: Vec<Option<Course>>,
}

impl Flows {
    /// Whether a user of a server is one of ours, and no task.
    #[inline]
    pub(super) fn is_flow(user: u32) -> bool {
        user & FLOW != 0
    }

    /// The task begins its course; whether there is anything to do in it.
    pub(super) fn begin(
        &mut self,
        now: Time,
        machines: &mut Machines,
        task: u32,
        rounds: Vec<Round>,
    ) -> bool {
        let course = Course {
            all: rounds.iter().map(|round| round.chains.len()).sum(),
            rounds: rounds.into_iter(),
            waiting: Vec::new().into_iter(),
            width: 1,
            open: Vec::new(),
            over: 0,
        };
        let at = task as usize;
        if self.courses.len() <= at {
            self.courses.resize_with(at + 1, || None);
        }
        self.courses[at] = Some(course);
        self.fill(now, machines, task)
    }

    /// Chains begin as far as the round is wide, rounds when those before are over; whether any
    /// chain goes on. The last one's end takes the task out.
    fn fill(&mut self, now: Time, machines: &mut Machines, task: u32) -> bool {
        loop {
            let course = self.course(task);
            if course.open.len() < course.width
                && let Some(chain) = course.waiting.next()
            {
                let flow = self.insert(Flow { task, chain, begun: 0 });
                self.course(task).open.push(flow);
                if !self.go_on(now, machines, flow) {
                    self.is_over(flow);
                }
                continue;
            }
            if !course.open.is_empty() {
                return true;
            }
            let Some(round) = course.rounds.next() else {
                self.courses[task as usize] = None;
                return false;
            };
            (course.waiting, course.width) = (round.chains.into_iter(), round.width);
        }
    }

    fn course(&mut self, task: u32) -> &mut Course {
        self.courses[task as usize].as_mut().expect("it is in here")
    }

    fn insert(&mut self, flow: Flow) -> u32 {
        if let Some(number) = self.free.pop() {
            self.flows[number as usize] = Some(flow);
            return number;
        }
        self.flows.push(Some(flow));
        self.flows.len() as u32 - 1
    }

    /// The next work of the chain begins; `false`: there is none.
    fn go_on(&mut self, now: Time, machines: &mut Machines, number: u32) -> bool {
        let flow = self.flows[number as usize].as_mut().expect("it goes on");
        while let Some(&(place, work)) = flow.chain.get(flow.begun) {
            flow.begun += 1;
            if work > 0 {
                machines.start(now, place, FLOW | number, work);
                return true;
            }
        }
        false
    }

    /// The chain is over; the task whose it was.
    fn is_over(&mut self, number: u32) -> u32 {
        let flow = self.flows[number as usize].take().expect("it goes on");
        self.free.push(number);
        let course = self.course(flow.task);
        course.open.retain(|open| *open != number);
        course.over += 1;
        flow.task
    }

    /// A work of flow `user` has ended. The task that goes on, where that was the last of all.
    pub(super) fn ended(&mut self, now: Time, machines: &mut Machines, user: u32) -> Option<u32> {
        let number = user & !FLOW;
        if self.go_on(now, machines, number) {
            return None;
        }
        let task = self.is_over(number);
        (!self.fill(now, machines, task)).then_some(task)
    }

    /// Part of the task's chains that are over, in thousandths.
    pub(super) fn progress(&self, task: u32) -> u32 {
        let part = |course: &Course| (1000 * course.over as u64 / course.all.max(1) as u64) as u32;
        self.courses.get(task as usize).and_then(Option::as_ref).map_or(0, part)
    }

    /// The task goes no further.
    pub(super) fn stop(&mut self, now: Time, machines: &mut Machines, task: u32) {
        let Some(mut course) = self.courses.get_mut(task as usize).and_then(Option::take) else {
            return;
        };
        course.open.sort_unstable();
        for number in course.open {
            let flow = self.flows[number as usize].take().expect("it goes on");
            machines.stop(now, flow.chain[flow.begun - 1].0, FLOW | number);
            self.free.push(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::hosts::tests::{at, draw, setting};
    use super::super::twin::Twin;
    use super::*;
    use meed_workload::generate::Stream;
    use proptest::prelude::*;

    fn draw_rounds(stream: &mut Stream, nodes: u64) -> Vec<Round> {
        let work = |stream: &mut Stream| {
            let node = stream.below(nodes) as usize;
            match stream.below(4) {
                0 => (Place::Cores(node), stream.below(300_000)),
                1 => (Place::Network(node), stream.below(6_000_000)),
                2 => (Place::Disk(node), stream.below(6_000_000)),
                _ => (Place::Disk(node), 0),
            }
        };
        let round = |stream: &mut Stream| Round {
            chains: (0..stream.below(5)).map(|_| [(); 3].map(|()| work(stream))).collect(),
            width: 1 + stream.below(3) as usize,
        };
        (0..stream.below(4)).map(|_| round(stream)).collect()
    }

    proptest! {
        /// Random courses on random hosts, some of them stopped on the way: every task goes on when
        /// the twin says, which keeps lists and steps from end to end.
        #[test]
        fn courses_end_when_those_of_the_twin_do(seed in any::<u64>()) {
            let mut stream = Stream::new(seed, "flows");
            let (machines, hosts, penalty) = draw(&mut stream);
            let nodes = machines.len() as u64;
            let mut all = Machines::new(&setting(machines.clone(), hosts.clone(), penalty));
            let mut twin = Twin::new(machines, hosts, penalty);
            let mut flows = Flows::default();
            let mut ends: Vec<Option<f64>> = vec![None; 20];
            let mut run = |flows: &mut Flows, all: &mut Machines, to: u64| {
                while let Some(end) = all.next().filter(|end| end.as_micros() <= to) {
                    while let Some(user) = all.pop(end) {
                        assert!(Flows::is_flow(user));
                        if let Some(task) = flows.ended(end, all, user) {
                            ends[task as usize] = Some(end.as_micros() as f64);
                        }
                    }
                }
            };
            let mut now = 0;
            for task in 0..20u32 {
                now += [0, stream.below(2_000_000)][stream.below(2) as usize];
                run(&mut flows, &mut all, now);
                twin.run(now as f64);
                let rounds = draw_rounds(&mut stream, nodes);
                let begins = flows.begin(at(now), &mut all, task, rounds.clone());
                let some = rounds.iter().flat_map(|round| &round.chains).flatten();
                prop_assert_eq!(begins, some.clone().any(|(_, work)| *work > 0));
                twin.begin(task, rounds);
                if stream.below(5) == 0 {
                    let stopped = stream.below(20) as u32;
                    flows.stop(at(now), &mut all, stopped);
                    twin.stop(stopped);
                }
            }
            run(&mut flows, &mut all, 1 << 50);
            twin.run(f64::INFINITY);
            for (task, end) in (0..).zip(ends) {
                // Neither for what was stopped, nor for what had nothing to do. Each work ends up
                // to a microsecond later here, and then may share for much longer.
                let off = match (end, twin.course_end(task)) {
                    (Some(end), Some(expected)) => {
                        (end - expected).abs() / (1000.0 + 1e-3 * expected)
                    }
                    (None, None) => 0.0,
                    other => panic!("task {task}: {other:?}"),
                };
                prop_assert!(off <= 1.0, "task {task}: {off} times what rounding explains");
            }
            prop_assert!(flows.courses.iter().all(Option::is_none));
            prop_assert!(flows.flows.iter().all(Option::is_none));
        }
    }
}
