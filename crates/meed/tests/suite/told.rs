//! An order that is told from outside: ranks are facts like any other.

use crate::chaos;
use crate::common::dice::{Dice, dice};
use crate::common::*;
use crate::state::goes_on;
use meed::*;
use proptest::prelude::*;

fn rank(amount: u64, step: u32, per: u32) -> Rank {
    Rank { step, per: per.try_into().expect("above zero"), ..Rank::at(amount) }
}

fn tell(engine: &mut Engine, now: u64, queue: &str, rank: Rank) {
    let id = engine.view().find_queue(queue).expect("declared");
    let change = QueueChange { rank: Some(rank), ..QueueChange::default() };
    engine.apply(micros(now), Event::QueueChanged(id, change)).expect("any rank will do");
}

/// `a`, `b`, `c` below a told root with `n` slots; each wants 20 slots.
fn three(n: u64) -> Engine {
    let mut engine = engine(&slots_config(n, &policy("told"), &["a", "b", "c"]));
    for name in ["a", "b", "c"] {
        let queue = engine.view().find_queue(name).expect("declared");
        let groups = &[TaskGroup::new(20, slots(1))];
        let spec = JobSpec { queue, weight: 1000, groups, open: false, max_attempts: 0 };
        engine.apply(micros(0), Event::JobArrived(spec)).expect("a sound job");
    }
    engine
}

fn started(engine: &mut Engine) -> Vec<String> {
    let mut queues = Vec::new();
    engine.decide(false, |start| queues.push(start.queue));
    queues.into_iter().map(|queue| engine.view().queue_name(queue).to_owned()).collect()
}

fn counts(engine: &mut Engine) -> [usize; 3] {
    let all = started(engine);
    ["a", "b", "c"].map(|name| all.iter().filter(|other| *other == name).count())
}

#[test]
fn without_a_word_the_first_declared_is_served() {
    assert_eq!(counts(&mut three(21)), [20, 1, 0]);
}

#[test]
fn a_plain_rank_is_strict_and_the_last_word_holds() {
    let mut engine = three(21);
    for (name, place) in [("a", 2), ("b", 0), ("c", 1), ("b", 3)] {
        tell(&mut engine, 0, name, Rank::at(place));
    }
    assert_eq!(counts(&mut engine), [1, 0, 20]);
}

#[test]
fn targets_share_the_pool_in_proportion() {
    let mut engine = three(14);
    for (name, target) in [("a", 1), ("b", 4), ("c", 2)] {
        tell(&mut engine, 0, name, rank(0, 1, target));
    }
    assert_eq!(counts(&mut engine), [2, 8, 4]);
}

/// What is held adds to what was told: offsets 6, 0 and 3 slots are levelled first.
#[test]
fn an_offset_is_levelled() {
    let mut engine = three(15);
    for (name, offset) in [("a", 6000), ("b", 0), ("c", 3000)] {
        tell(&mut engine, 0, name, rank(offset, 1, 1));
    }
    assert_eq!(counts(&mut engine), [2, 8, 5]);
}

/// Below its quota a child is served by its rank; who has its quota waits for all others.
#[test]
fn quotas_come_first() {
    let mut engine = three(30);
    for (name, place, quota) in [("a", 1, 6000), ("b", 0, 4000), ("c", 2, 5000)] {
        tell(&mut engine, 0, name, Rank { quota, ..Rank::at(place) });
    }
    let order = started(&mut engine);
    let runs: Vec<(&str, usize)> =
        order.chunk_by(|a, b| a == b).map(|run| (run[0].as_str(), run.len())).collect();
    assert_eq!(runs, [("b", 4), ("a", 6), ("c", 5), ("b", 15)]);
}

#[test]
fn dominant_shares_are_not_told() {
    let mut config = slots_config(4, &policy("told"), &["a"]);
    config.root.scalar = Scalar::Dominant;
    let place = Box::new(meed::place::FirstFit::new(1));
    let why = Engine::new(config, place).err().expect("it cannot be").to_string();
    assert!(why.contains("root") && why.contains("counts one resource"), "{why}");
}

/// `told` at the root, and here and there below, over amounts of one resource.
fn told(dice: &mut Dice) -> Config {
    let mut config = chaos::config(dice);
    let blocked = config.root.blocked;
    config.root = Policy { blocked, ..policy("told") };
    for queue in &mut config.queues {
        if queue.policy.per_server || dice.below(2) == 0 {
            queue.policy = policy("told");
        }
    }
    config
}

proptest! {
    #![proptest_config(cases(1500))]

    /// Random events with words of ranks among them: the twin decides the same by a plain scan,
    /// and an engine taken out of its state after every step goes on as one that was not.
    #[test]
    fn ranks_are_facts_like_any_other(mut dice in dice(700)) {
        let config = told(&mut dice);
        let (shadow, steps) = chaos::run(&mut dice, &config);
        let state = shadow.engine.state();
        let text = serde_json::to_string(&state).expect("plain data");
        prop_assert_eq!(serde_json::from_str::<State>(&text).expect("its own text"), state);
        goes_on(&config, &steps, "first-fit")?;
    }
}
