//! Queues that are removed and come back under their name: as if they had stayed, and been idle.

use crate::common::*;
use meed::*;

/// All that remembers: for ever, in rounds, with a half-life, over dominant shares, with a
/// discount, with newcomers' terms; and what remembers nothing.
pub(crate) fn policies() -> Vec<Policy> {
    let with = |change: &dyn Fn(&mut Policy)| {
        let mut policy = policy("long-term");
        change(&mut policy);
        policy
    };
    let memories = [
        Memory::Forever,
        Memory::Rounds(span(100 * S)),
        Memory::Rounds(span(7 * S)),
        Memory::HalfLife(span(20 * S)),
        Memory::HalfLife(span(S)),
    ];
    let mut all = vec![policy("fair"), policy("fifo"), policy("drf"), policy("long-term-drf")];
    for memory in memories {
        for newcomer in [Newcomer::Zero, Newcomer::EarlyBird, Newcomer::Average] {
            for discount in [1000, 500] {
                all.push(with(&|policy| {
                    policy.memory = memory;
                    policy.newcomer = newcomer;
                    policy.discount = discount;
                }));
            }
        }
        all.push(with(&|policy| {
            policy.memory = memory;
            policy.t_wait = Some(span(3 * S));
        }));
        all.push(Policy { memory, ..policy("long-term-drf") });
    }
    all
}

struct Life {
    engine: Engine,
    starts: Vec<(u64, String, AllocationId)>,
}

impl Life {
    fn new(root: &Policy) -> Life {
        let config = slots_config(4, root, &["a", "p", "p.b", "p.c", "z"]);
        Life { engine: engine(&config), starts: Vec::new() }
    }

    fn job(&mut self, second: u64, queue: &str, count: u32) {
        let queue = self.engine.view().find_queue(queue).expect("it is there");
        let groups = [TaskGroup::new(count, slots(1))];
        let spec = JobSpec { queue, weight: 1000, groups: &groups, open: false, max_attempts: 0 };
        self.engine.apply(secs(second), Event::JobArrived(spec)).expect("sound");
    }

    fn decide(&mut self, second: u64) {
        let mut starts = Vec::new();
        self.engine.advance(secs(second)).expect("time goes on");
        self.engine.decide(false, |start| starts.push((start.queue, start.allocation)));
        let named = |(queue, allocation)| {
            (second, self.engine.view().queue_name(queue).to_owned(), allocation)
        };
        self.starts.extend(starts.into_iter().map(named));
    }

    fn end_all(&mut self, second: u64) {
        for id in self.engine.view().running_ids().collect::<Vec<_>>() {
            self.engine.apply(secs(second), Event::TaskEnded(id)).expect("it runs");
        }
    }

    fn remove(&mut self, second: u64, name: &str) {
        let queue = self.engine.view().find_queue(name).expect("it is there");
        self.engine.apply(secs(second), Event::QueueRemoved(queue)).expect("no job is there");
    }

    fn add(&mut self, second: u64, name: &str, order: Policy) -> QueueId {
        let added = self.engine.apply(secs(second), Event::QueueAdded(queue(name, 1000, order)));
        let Ok(Effect::Queue(id)) = added else { panic!("{added:?}") };
        id
    }
}

/// Everybody uses something, then `p` and all below it are idle while the others work, and come
/// back; `leaves`: they are removed meanwhile.
fn life(root: &Policy, leaves: bool) -> Life {
    let mut life = Life::new(root);
    for (second, queue, count) in [(0, "p.b", 4), (10, "a", 3), (10, "p.c", 2), (12, "z", 1)] {
        life.job(second, queue, count);
        life.decide(second);
    }
    for second in 15..20 {
        life.end_all(second);
        life.decide(second);
    }
    life.end_all(20);
    if leaves {
        ["p.b", "p.c", "p"].iter().for_each(|name| life.remove(20, name));
    }
    life.job(21, "a", 6);
    life.decide(21);
    life.end_all(30);
    life.decide(30);
    life.end_all(33);
    if leaves {
        let ids = life.engine.view().queue_ids().len();
        life.add(40, "p", root.clone());
        // In another order: each is who it was.
        life.add(40, "p.c", policy("fifo"));
        life.add(40, "p.b", policy("fifo"));
        assert_eq!(life.engine.view().queue_ids().len(), ids, "no row more");
    }
    for queue in ["a", "p.b", "p.c", "z"] {
        life.job(41, queue, 5);
    }
    for second in 41..60 {
        life.decide(second);
        life.end_all(second);
    }
    life
}

#[test]
fn leaving_and_coming_back_is_as_staying_idle() {
    for root in policies() {
        let (mut left, mut stayed) = (life(&root, true), life(&root, false));
        let plain = |life: &Life| -> Vec<(u64, String)> {
            life.starts.iter().map(|(at, queue, _)| (*at, queue.clone())).collect()
        };
        assert_eq!(plain(&left), plain(&stayed), "{root:?}");
        // Discounts go by shares, which others had more of meanwhile.
        let alike = root.discount == 1000;
        for name in ["p", "p.b", "p.c"] {
            let charged = [&mut left, &mut stayed].map(|life| {
                let queue = life.engine.view().find_queue(name).expect("it is there");
                let used = life.engine.view().integrals(queue, secs(60)).usage;
                life.engine.advance(secs(60)).expect("time goes on");
                (life.engine.view().charged(queue, secs(60)), used)
            });
            assert!(!alike || charged[0] == charged[1], "{name}: {charged:?} by {root:?}");
        }
    }
}

#[test]
fn who_comes_back_is_charged_for_what_it_used() {
    let mut life = Life::new(&policy("long-term"));
    life.job(0, "a", 4);
    life.decide(0);
    life.end_all(100);
    let before = life.engine.view().find_queue("a").expect("declared");
    life.remove(100, "a");
    assert_eq!(life.engine.view().find_queue("a"), None);
    assert_eq!(life.add(100, "a", policy("fifo")), before);
    assert_eq!(life.engine.view().charged(before, secs(100)), 400_000.0);
    life.job(100, "a", 4);
    life.job(100, "z", 4);
    life.decide(100);
    assert!(life.starts[4..].iter().all(|(_, queue, _)| queue == "z"), "{:?}", life.starts);
    // Under another name it is somebody else.
    let other = life.add(100, "a2", policy("fifo"));
    assert_eq!(life.engine.view().charged(other, secs(100)), 0.0);
}

#[test]
fn what_a_parent_of_another_policy_remembered_is_told_in_no_unit_of_its_own() {
    let mut life = Life::new(&policy("long-term"));
    life.job(0, "p.b", 4);
    life.decide(0);
    life.end_all(50);
    ["p.b", "p.c", "p"].iter().for_each(|name| life.remove(50, name));
    let p = life.add(50, "p", policy("long-term-drf"));
    let b = life.add(50, "p.b", policy("fifo"));
    assert_eq!(
        life.engine.view().charged(p, secs(50)),
        200_000.0,
        "among its siblings it stands as before"
    );
    assert_eq!(life.engine.view().charged(b, secs(50)), 0.0, "as its own siblings do");
    assert_eq!(life.engine.view().integrals(b, secs(50)).usage[0], 4000 * 50 * u128::from(S));
}

#[test]
fn a_state_keeps_the_history_of_those_who_are_gone() {
    for root in policies() {
        let mut life = Life::new(&root);
        life.job(0, "a", 4);
        life.job(0, "p.b", 4);
        life.decide(0);
        life.end_all(9);
        life.decide(9);
        life.end_all(10);
        life.remove(10, "a");
        let state = life.engine.state();
        let text = serde_json::to_string(&state).expect("plain data");
        let read: State = serde_json::from_str(&text).expect("what was written");
        let place = Box::new(place::FirstFit::new(1));
        let mut again = Life {
            engine: Engine::from_state(&read, place).expect("its own state"),
            starts: Vec::new(),
        };
        life.starts.clear();
        for life in [&mut life, &mut again] {
            life.add(30, "a", policy("fifo"));
            for queue in ["a", "p.b", "z"] {
                life.job(30, queue, 3);
            }
            life.decide(30);
        }
        assert_eq!(life.starts, again.starts, "{root:?}");
        assert_eq!(life.engine.state(), again.engine.state(), "{root:?}");
    }
}
