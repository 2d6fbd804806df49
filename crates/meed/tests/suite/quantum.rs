//! The adaptive quantum through the whole engine (ICS'14 Fig. 3, TSC'18 Fig. 4): what a task is
//! charged when it starts shows which quantum it was handed.

use crate::common::shadow::Ev;
use crate::common::*;
use meed::*;

enum Act {
    /// One task for this queue.
    Submit(&'static str),
    /// The n-th task ends.
    End(usize),
    /// A queue is added.
    Add(&'static str),
}
use Act::{Add, End, Submit};

/// Root with Q_0 = 10 s, refreshed each second. Rows: second, what happens, and the quantum in
/// seconds that a submitted task was charged.
fn check(name: &str, config: &Config, rows: &[(u64, Act, f64)]) {
    let (mut engine, mut running) = (engine(config), Vec::new());
    for (second, act, expected) in rows {
        let now = second * S;
        match act {
            Add(queue_name) => {
                let spec = queue(queue_name, 1000, adaptive());
                Ev::QueueAdded(spec).send(&mut engine, now).expect("sound");
            }
            End(task) => {
                Ev::Ended(running[*task]).send(&mut engine, now).expect("it runs");
            }
            Submit(queue) => {
                let queue = engine.find_queue(queue).expect("declared");
                let groups = vec![TaskGroup::new(1, slots(1))];
                let event = Ev::Job { queue, weight: 1000, groups, open: false, max_attempts: 0 };
                event.send(&mut engine, now).expect("sound");
                let before = engine.charged(queue, micros(now));
                engine.decide(false, |start| running.push(start.allocation));
                let quantum = (engine.charged(queue, micros(now)) - before) / 1000.0;
                assert!(
                    (quantum - expected).abs() < 1e-9,
                    "{name}: {quantum} not {expected} at {second} s"
                );
            }
        }
    }
}

fn adaptive() -> Policy {
    let mut policy = Policy::preset("long-term").expect("known");
    policy.quantum = Quantum::Adaptive { initial: span(10 * S), interval: span(S) };
    policy
}

#[test]
fn quanta_are_handed_down_and_averaged_up() {
    let tree = slots_config(50, &adaptive(), &["g", "c", "d", "g.a", "g.b"]);
    check(
        "three levels",
        &tree,
        &[
            (0, Submit("g.a"), 10.0),
            (0, Submit("g.a"), 10.0),
            (3, End(0), 0.0),
            // The averages see it at the next refresh, at 4 s: (3 + 10) / 2 = 6.5.
            (3, Submit("g.a"), 10.0),
            // That job came before the refresh, so it counts as well: (3 + 10 + 10) / 3.
            (4, Submit("g.a"), 23.0 / 3.0 - 1e-6 * (2.0 / 3.0)),
        ],
    );
    check(
        "up to the root and down again",
        &tree,
        &[
            (0, Submit("g.a"), 10.0),
            (4, End(0), 0.0),
            (5, Submit("g.b"), 4.0),
            (5, Submit("c"), 4.0),
            (15, End(2), 0.0),
            // c learnt 10, g still has 4: the root's mean is 7.
            (17, Submit("d"), 7.0),
            (17, Submit("c"), 10.0),
            (17, Submit("g.a"), 4.0),
        ],
    );
    check(
        "one-task jobs",
        &tree,
        &[
            (0, Submit("c"), 10.0),
            (2, End(0), 0.0),
            (3, Submit("c"), 2.0),
            (9, End(1), 0.0),
            (10, Submit("c"), 6.0),
        ],
    );
}

#[test]
fn a_queue_that_comes_later_may_bring_adaptive_quanta() {
    let mut config = slots_config(9, &policy("long-term"), &["old"]);
    config.queues[0].policy = policy("fifo");
    check("fixed root", &config, &[(0, Submit("old"), 1.0)]);
    // The parent's rule decides what its children are charged, so only below the new queue it
    // matters.
    check(
        "adaptive below",
        &config,
        &[
            (0, Submit("old"), 1.0),
            (1, Add("new"), 0.0),
            (1, Add("new.leaf"), 0.0),
            (1, Submit("new.leaf"), 10.0),
            (5, End(1), 0.0),
            (6, Submit("new.leaf"), 4.0),
        ],
    );
}
