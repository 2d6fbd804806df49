//! Rounds and newcomers by hand: ICS'14 Eq. 12 to 16, rounds of 10 s, tasks of one slot, quantum of
//! a second.
//!
//! Queue `a` runs one task from the start for ever, so at second t of a round it is charged t; what
//! `b` is charged beyond its own tasks is what it was topped up with.

use crate::common::shadow::{Ev, Shadow};
use crate::common::*;
use meed::*;

struct Case {
    name: &'static str,
    newcomer: Newcomer,
    memory: Memory,
    /// In thousandths, of a and b.
    weights: [u64; 2],
    /// From and until when tasks of b run, in seconds.
    tasks: &'static [(u64, u64)],
    /// At which second b is charged how many slot-seconds.
    charged: &'static [(u64, f64)],
}

const ROUNDS: Memory = Memory::Rounds(match Span::from_secs(10) {
    Some(length) => length,
    None => Span::ZERO,
});

const PLAIN: Case = Case {
    name: "",
    newcomer: Newcomer::Zero,
    memory: ROUNDS,
    weights: [1000, 1000],
    tasks: &[],
    charged: &[],
};

fn job_of_one(queue: QueueId, open: bool) -> Ev {
    let groups = vec![TaskGroup::new(1, slots(1))];
    Ev::Job { queue, weight: 1000, groups, open, max_attempts: 0 }
}

fn check(case: &Case) {
    let mut root = policy("long-term");
    (root.memory, root.newcomer) = (case.memory, case.newcomer);
    let mut config = slots_config(9, &root, &["a", "b"]);
    for (queue, weight) in config.queues.iter_mut().zip(case.weights) {
        queue.weight = weight;
    }
    let mut shadow = Shadow::new(&config);
    let [a, b] = ["a", "b"].map(|name| shadow.engine.view().find_queue(name).expect("declared"));
    let job = |queue| job_of_one(queue, false);
    shadow.apply(0, &job(a)).expect("sound");
    shadow.decide(0);
    let mut ends: Vec<(u64, AllocationId)> = Vec::new();
    for second in 0..60 {
        let now = second * S;
        for (_, allocation) in ends.iter().filter(|(end, _)| *end == second) {
            shadow.apply(now, &Ev::Ended(*allocation)).expect("it runs");
        }
        for (_, until) in case.tasks.iter().filter(|(from, _)| *from == second) {
            shadow.apply(now, &job(b)).expect("sound");
            ends.push((*until, shadow.decide(now)[0].allocation));
        }
        shadow.engine.advance(micros(now)).expect("time goes on");
        for (_, expected) in case.charged.iter().filter(|(at, _)| *at == second) {
            let got = shadow.engine.view().charged(b, micros(now)) / 1000.0;
            assert!(
                (got - expected).abs() < 1e-9,
                "{}: {got} not {expected} at {second}",
                case.name
            );
        }
    }
}

#[test]
fn rounds_forget_and_straddling_tasks_count_from_the_start() {
    for case in [
        Case {
            name: "Eq. 12",
            tasks: &[(2, 5)],
            charged: &[(5, 3.0), (9, 3.0), (10, 0.0), (35, 0.0)],
            ..PLAIN
        },
        Case {
            name: "Eq. 15, straddling",
            tasks: &[(8, 13)],
            charged: &[
                (8, 1.0),
                (9, 1.0),
                (10, 1.0),
                (11, 1.0),
                (12, 2.0),
                (13, 3.0),
                (19, 3.0),
                (20, 0.0),
            ],
            ..PLAIN
        },
        Case {
            name: "Eq. 15, over two rounds",
            tasks: &[(8, 24)],
            charged: &[(19, 9.0), (20, 1.0), (23, 3.0), (24, 4.0), (30, 0.0)],
            ..PLAIN
        },
        Case {
            name: "ends with the round",
            tasks: &[(8, 10)],
            charged: &[(9, 1.0), (10, 0.0)],
            ..PLAIN
        },
        Case {
            name: "forever",
            memory: Memory::Forever,
            tasks: &[(2, 5), (8, 13)],
            charged: &[(10, 5.0), (13, 8.0), (40, 8.0)],
            ..PLAIN
        },
    ] {
        check(&case);
    }
}

#[test]
fn newcomers_are_topped_up_once_a_round() {
    let bird = Case { newcomer: Newcomer::EarlyBird, ..PLAIN };
    for case in [
        Case {
            name: "Eq. 14, one: arrives in the round",
            tasks: &[(14, 15)],
            charged: &[(14, 5.0)],
            ..bird
        },
        Case {
            name: "and is topped up once",
            tasks: &[(14, 15), (17, 18)],
            charged: &[(18, 6.0)],
            ..bird
        },
        Case {
            name: "Eq. 14, two: straddles",
            tasks: &[(8, 12), (15, 16)],
            charged: &[(16, 3.0)],
            ..bird
        },
        Case {
            name: "Eq. 14, three: first task",
            tasks: &[(1, 3), (15, 16)],
            charged: &[(15, 6.0)],
            ..bird
        },
        Case {
            name: "a task that ends at t^s does not straddle",
            tasks: &[(8, 10), (15, 16)],
            charged: &[(15, 6.0), (16, 6.0)],
            ..bird
        },
        Case {
            name: "each round anew",
            tasks: &[(1, 3), (15, 16), (27, 28)],
            charged: &[(27, 8.0)],
            ..bird
        },
        Case {
            name: "at the same instant",
            tasks: &[(0, 1)],
            charged: &[(0, 1.0), (1, 1.0)],
            ..bird
        },
        Case { name: "zero", tasks: &[(14, 15)], charged: &[(14, 1.0)], ..PLAIN },
    ] {
        check(&case);
    }
}

#[test]
fn pseudo_accumulated_resources_follow_weights() {
    let late = Case { memory: Memory::Forever, tasks: &[(14, 15)], ..PLAIN };
    for case in [
        Case { name: "bird", newcomer: Newcomer::EarlyBird, charged: &[(14, 15.0)], ..late },
        Case { name: "average", newcomer: Newcomer::Average, charged: &[(14, 15.0)], ..late },
        Case {
            name: "b weighs twice as much",
            newcomer: Newcomer::EarlyBird,
            weights: [1000, 2000],
            charged: &[(14, 29.0)],
            ..late
        },
        Case {
            name: "b weighs half as much, average",
            newcomer: Newcomer::Average,
            weights: [2000, 1000],
            charged: &[(14, 8.0)],
            ..late
        },
        Case {
            name: "in a round",
            newcomer: Newcomer::EarlyBird,
            memory: ROUNDS,
            weights: [4000, 1000],
            charged: &[(14, 2.0)],
            ..late
        },
    ] {
        check(&case);
    }
}

#[test]
fn a_top_up_beyond_all_bounds_saturates() {
    // 2^53 bytes for 285 years at the smallest weight, against the largest weight.
    let mut root = policy("long-term");
    (root.newcomer, root.quantum) = (Newcomer::EarlyBird, Quantum::Fixed(Span::MAX));
    let mut config = slots_config(1, &root, &["a", "b", "c"]);
    (config.queues[0].weight, config.queues[1].weight) = (1, MAX_WEIGHT);
    config.nodes = vec![node("n", Resources::new(&[MAX_AMOUNT]))];
    let mut engine = engine(&config);
    for (second, name) in ["a", "b", "c"].into_iter().enumerate() {
        let queue = engine.view().find_queue(name).expect("declared");
        let groups = vec![TaskGroup::new(2, Resources::new(&[MAX_AMOUNT / 4]))];
        let event = Ev::Job { queue, weight: 1000, groups, open: false, max_attempts: 0 };
        event.send(&mut engine, second as u64 * S).expect("sound");
        engine.decide(true, |_| ());
    }
    assert_eq!(engine.view().running_tasks(), 4);
}

/// `a` and `b` run one task each since the first round. At 10 s, when the second begins and
/// decisions have been made, the task of `b` is lost; it starts again at 12 s. What `b` is charged
/// then, in slot-seconds, a quantum of one in it. With `meanwhile` a task of `b` starts and ends at
/// 10 s.
fn lost_when_a_round_begins(meanwhile: bool) -> f64 {
    let mut root = policy("long-term");
    (root.memory, root.newcomer) = (ROUNDS, Newcomer::Average);
    let mut shadow = Shadow::new(&slots_config(9, &root, &["a", "b"]));
    let [a, b] = ["a", "b"].map(|name| shadow.engine.view().find_queue(name).expect("declared"));
    let job = |queue| job_of_one(queue, true);
    shadow.apply(0, &job(a)).expect("sound");
    shadow.apply(0, &job(b)).expect("sound");
    let first = shadow.decide(0);
    let of_b = first.iter().find(|start| start.queue == b).expect("it starts").allocation;
    if meanwhile {
        shadow.apply(10 * S, &job(b)).expect("sound");
    }
    for start in shadow.decide(10 * S) {
        shadow.apply(10 * S, &Ev::Ended(start.allocation)).expect("it runs");
    }
    shadow.apply(10 * S, &Ev::TaskLost(of_b)).expect("it runs");
    assert_eq!(shadow.decide(12 * S).len(), 1);
    let charged = shadow.engine.view().charged(b, micros(12 * S)) / 1000.0;
    // The twin compares both keys.
    shadow.apply(12 * S, &job(a)).expect("sound");
    shadow.apply(12 * S, &job(b)).expect("sound");
    assert_eq!(shadow.decide(12 * S).len(), 2);
    charged
}

/// t^s < t^c in Eq. 14: what ends at the instant at which a round begins does not straddle that,
/// though decisions have been made at it.
#[test]
fn a_task_that_is_lost_as_a_round_begins_does_not_straddle_it() {
    // A newcomer: `a` has used two.
    assert!((lost_when_a_round_begins(false) - 3.0).abs() < 1e-9);
    // It counts from its own start at 10 s.
    assert!((lost_when_a_round_begins(true) - 1.0).abs() < 1e-9);
}
