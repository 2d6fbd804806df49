//! The adaptive quantum through the whole engine (ICS'14 Fig. 3, TSC'18 Fig. 4): what a task is
//! charged when it starts shows which quantum it was handed.

use std::collections::BTreeMap;

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
                let queue = engine.view().find_queue(queue).expect("declared");
                let groups = vec![TaskGroup::new(1, slots(1))];
                let event = Ev::Job { queue, weight: 1000, groups, open: false, max_attempts: 0 };
                event.send(&mut engine, now).expect("sound");
                let before = engine.view().charged(queue, micros(now));
                engine.decide(false, |start| running.push(start.allocation));
                let quantum = (engine.view().charged(queue, micros(now)) - before) / 1000.0;
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
    policy.quantum =
        Quantum::Adaptive { initial: span(10 * S), interval: span(S), untried: Untried::Handed };
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

/// One that starts with Q_0 = 600 s and is refreshed each second.
fn long_begin() -> Policy {
    let quantum =
        Quantum::Adaptive { initial: span(600 * S), interval: span(S), untried: Untried::Handed };
    Policy { quantum, ..policy("long-term") }
}

fn submit(engine: &mut Engine, now: u64, queue: QueueId, tasks: u32) {
    let groups = vec![TaskGroup::new(tasks, slots(1))];
    let event = Ev::Job { queue, weight: 1000, groups, open: false, max_attempts: 0 };
    event.send(engine, now).expect("sound");
}

/// Eq. 15 has the Q of now: max(Q, t - s) while a task runs, at every level and for the guard.
#[test]
fn running_tasks_are_charged_by_the_quantum_of_now() {
    let root = Policy { t_wait: Some(Span::MAX), ..long_begin() };
    let mut engine = engine(&slots_config(8, &root, &["g", "b", "g.a"]));
    let ids = ["g", "g.a"].map(|name| engine.view().find_queue(name).expect("declared"));
    submit(&mut engine, 0, ids[1], 4);
    let mut running = Vec::new();
    engine.decide(false, |start| running.push(start.allocation));
    let check = |engine: &mut Engine, now: u64, expected: f64| {
        engine.advance(micros(now)).expect("time goes on");
        for queue in ids {
            let charged = engine.view().charged(queue, micros(now)) / 1000.0;
            assert!((charged - expected).abs() < 1e-9, "{charged} not {expected} at {now} us");
        }
        let guarded = engine.guard_parts(ids[1]).expect("it has a guard").amounts[0] as f64;
        assert!((guarded / 1e12 - expected).abs() < 1e-9, "the guard has {guarded} at {now} us");
    };
    check(&mut engine, 0, 2400.0);
    for task in &running[..3] {
        Ev::Ended(*task).send(&mut engine, 10 * S).expect("it runs");
    }
    check(&mut engine, 10 * S, 630.0);
    // The mean of those that have ended is 10 s: max(10, 11) of the fourth.
    check(&mut engine, 11 * S, 41.0);
    check(&mut engine, 25 * S, 55.0);
    // A longer mean holds for what has not run so long.
    submit(&mut engine, 25 * S, ids[1], 1);
    engine.decide(false, |_| ());
    check(&mut engine, 25 * S, 65.0);
    Ev::Ended(running[3]).send(&mut engine, 50 * S).expect("it runs");
    check(&mut engine, 51 * S, 80.0 + 26.0);
}

/// ICS'14's own Q_0 = 600 s. Of `a` four tasks of 500 s run, and many of 10 s wait; `b` comes at
/// 20 s, and catches up with what `a` has used by then. Once the quantum is 10 s, `a` owes nothing
/// for 600 s that nobody has used.
#[test]
fn a_long_first_quantum_starves_nobody_once_it_is_learnt() {
    let mut engine = engine(&slots_config(16, &long_begin(), &["a", "b"]));
    let [a, b] = ["a", "b"].map(|name| engine.view().find_queue(name).expect("declared"));
    let mut ends: BTreeMap<(u64, u64), AllocationId> = BTreeMap::new();
    let (mut started, mut of_a) = (0, Vec::new());
    submit(&mut engine, 0, a, 2_004);
    for second in 0..240 {
        while let Some(end) = ends.first_entry().filter(|end| end.key().0 <= second) {
            Ev::Ended(end.remove()).send(&mut engine, second * S).expect("it runs");
        }
        if second == 20 {
            submit(&mut engine, 20 * S, b, 4_000);
        }
        engine.advance(micros(second * S)).expect("time goes on");
        engine.decide(false, |start| {
            let lasts = if start.queue == a && start.task < 4 { 500 } else { 10 };
            started += 1;
            ends.insert((second + lasts, started), start.allocation);
            of_a.extend((start.queue == a).then_some(second));
        });
    }
    let gap = of_a.windows(2).map(|pair| pair[1] - pair[0]).max().expect("some started");
    assert!(gap <= 50, "`a` starts nothing for {gap} s: {of_a:?}");
}

/// Under `fair` nobody is charged, and quanta are learnt all the same: what runs when the order
/// changes is charged by what its job has learnt, from the change on.
#[test]
fn an_order_that_comes_later_charges_by_the_quantum_of_now() {
    let fair = Policy { quantum: long_begin().quantum, ..policy("fair") };
    let mut engine = engine(&slots_config(8, &fair, &["a", "b"]));
    let a = engine.view().find_queue("a").expect("declared");
    submit(&mut engine, 0, a, 4);
    let mut running = Vec::new();
    engine.decide(false, |start| running.push(start.allocation));
    for task in &running[..3] {
        Ev::Ended(*task).send(&mut engine, 10 * S).expect("it runs");
    }
    engine.advance(micros(11 * S)).expect("time goes on");
    let change = [(QueueId::ROOT, long_begin())];
    engine.apply(micros(12 * S), Event::PoliciesChanged(&change)).expect("sound");
    for (second, expected) in [(12, 0.0), (20, 8.0)] {
        engine.advance(micros(second * S)).expect("time goes on");
        assert_eq!(
            engine.view().charged(a, micros(second * S)) / 1000.0,
            expected,
            "at {second} s"
        );
    }
}
