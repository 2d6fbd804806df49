//! `sdrf` against a slow twin in floats, made from the formula of its source: at each event
//!
//! > c <- o + (c - o) exp(-passed / tau),  o = max(0, held - S),  of each kind
//!
//! The engine has no c: it has a ledger in memory time. Both are compared at every decision and
//! after every event, in whom they serve and in the keys that people are told.

use crate::common::dice::{Dice, dice};
use crate::common::model::Model;
use crate::common::*;
use meed::policy::COMMITMENT_HALF_LIFE;
use meed::*;
use proptest::prelude::*;

/// tau of a policy, in microseconds.
fn tau(policy: &Policy) -> f64 {
    let half_life = match policy.memory {
        Memory::HalfLife(half_life) => half_life,
        _ => COMMITMENT_HALF_LIFE,
    };
    half_life.as_micros() as f64 / std::f64::consts::LN_2
}

/// The commitment of `q` in a kind at this instant.
fn commitment(model: &Model, q: usize, kind: usize) -> f64 {
    let tau = tau(&model.queues[0].spec.policy);
    let ours: Vec<_> = model.tasks.iter().filter(|task| model.is_below(task.queue, q)).collect();
    let mut events: Vec<u64> = model.queues[q].shares.iter().map(|(at, _)| *at).collect();
    events.extend(ours.iter().flat_map(|task| [task.start, task.end.unwrap_or(model.now)]));
    events.extend([0, model.now]);
    events.sort_unstable();
    let mut c = 0.0;
    for between in events.windows(2).filter(|between| between[0] < between[1]) {
        let runs = |from: u64, end: Option<u64>| {
            from <= between[0] && end.is_none_or(|end| end > between[0])
        };
        let held: u64 = ours
            .iter()
            .filter(|task| runs(task.start, task.end))
            .map(|task| task.demand.get(kind))
            .sum();
        let shares = model.queues[q].shares.iter().rev();
        let share = shares.clone().find(|(at, _)| *at <= between[0]);
        let share = share.map_or(0, |(_, share)| share.get(kind));
        let over = held.saturating_sub(share) as f64;
        let passed = (between[1] - between[0]) as f64;
        c = over + (c - over) * libm::exp(-passed / tau);
    }
    c
}

/// The key of `q` among its siblings: the largest part of the pool that it holds, and the largest
/// that it has committed, per weight 1.
fn key(model: &Model, q: usize) -> f64 {
    let pool = model.pool;
    let there = || (0..pool.kinds()).filter(|&kind| pool.get(kind) > 0);
    let part = |kind: usize, amount: f64| amount / pool.get(kind) as f64;
    let running = || model.running().filter(|task| model.is_below(task.queue, q));
    let held = |kind: usize| running().map(|task| task.demand.get(kind)).sum::<u64>() as f64;
    let holds = there().map(|kind| part(kind, held(kind))).fold(0.0, f64::max);
    let commits = there().map(|kind| part(kind, commitment(model, q, kind))).fold(0.0, f64::max);
    (holds + commits) * 1000.0 / model.queues[q].spec.weight as f64
}

/// Far below a task that lasts a second, far above what memory time is rounded by.
fn is_near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-5 * (a.abs() + b.abs()) + 1e-7
}

/// At each level the chosen child comes before all others below which a task would fit.
fn judge(model: &mut Model, start: &Start) {
    let fits = |q: usize| {
        let groups = |job: usize| (0..model.jobs[job].groups.len()).map(move |group| (job, group));
        (0..model.jobs.len())
            .filter(|&job| model.jobs[job].alive && model.is_below(model.jobs[job].queue, q))
            .flat_map(groups)
            .any(|(job, group)| {
                model.jobs[job].groups[group].waiting() > 0 && model.node_for(job, group).is_some()
            })
    };
    let mut chosen = start.queue.index();
    while let Some(parent) = model.queues[chosen].parent {
        let own = key(model, chosen);
        let others = model.children(parent).into_iter().filter(|&q| q != chosen && fits(q));
        for other in others {
            let key = key(model, other);
            assert!(key >= own || is_near(key, own), "{other} with {key} before {own}: {start:?}");
        }
        chosen = parent;
    }
}

/// A few queues, nested now and then, of one to three kinds of resources.
fn config(dice: &mut Dice, half_life: u64) -> Config {
    let kind_count = 1 + dice.below(3) as usize;
    let mut root = policy("sdrf");
    // Without one it is five days, in which these few seconds are nothing.
    if half_life > 0 {
        root.memory = Memory::HalfLife(span(half_life * S));
    }
    let mut nodes = dice.nodes(kind_count);
    nodes.iter_mut().for_each(|node| node.weight = 1000);
    let tree = dice.tree();
    let spec = |(name, leaf): &(String, bool)| {
        let order = if *leaf { policy("fifo") } else { root.clone() };
        queue(name, dice.weight(), order)
    };
    let queues = tree.iter().map(spec).collect();
    Config { kinds: kinds(kind_count), measured: 0, root, queues, nodes }
}

/// What people are told of each child that waits.
fn check_told(world: &World, config: &Config) {
    let (engine, model) = (&world.shadow.engine, &world.shadow.model);
    let scale = engine.view().kinds().unit(0).scale() as f64;
    // Where there is nothing of it, of one smallest unit.
    let whole = model.pool.get(0).max(1) as f64 / scale;
    for parent in engine.view().queue_ids() {
        let policy = parent.index().checked_sub(1).map(|row| &config.queues[row].policy);
        if policy.unwrap_or(&config.root).measure != Measure::Commitment {
            continue;
        }
        for child in engine.view().children_in_order(parent) {
            let expected = key(model, child.queue.index()) * whole;
            assert!(is_near(child.natural, expected), "{} is not {expected}", child.natural);
        }
    }
}

proptest! {
    #![proptest_config(cases(400))]
    #[test]
    fn who_has_used_more_than_its_share_comes_later_until_it_is_forgotten(
        mut dice in dice(220), half_life in 0u64..40,
    ) {
        let config = config(&mut dice, half_life);
        let mut jobs = dice.jobs(&config, 24);
        for (index, job) in jobs.iter_mut().enumerate() {
            job.at += dice.below(3) * index as u64 * 10 * S;
        }
        let mut world = World::new(&config, jobs);
        world.shadow.judge = judge;
        while world.step().is_some() {
            check_told(&world, &config);
        }
    }

    /// A state is taken in between: what is restored decides the same for ever after.
    #[test]
    fn a_restored_engine_remembers_what_is_committed(
        mut dice in dice(220), half_life in 1u64..10, steps in 0usize..30,
    ) {
        let config = config(&mut dice, half_life);
        let jobs = dice.jobs(&config, 20);
        let mut world = World::new(&config, jobs);
        world.shadow.judge = |_, _| ();
        for _ in 0..steps {
            world.step();
        }
        let state = world.shadow.engine.state();
        let place = Box::new(place::FirstFit::new(config.kinds.len()));
        let place: Box<dyn place::Placement> = match config.kinds.len() {
            2 => Box::new(place::BestFit::new(2)),
            _ => place,
        };
        let again = Engine::from_state(&state, place).expect("a sound state");
        prop_assert_eq!(&again.state(), &state);
        world.shadow.engine = again;
        // Each step compares it with one that was never stopped.
        while world.step().is_some() {}
    }
}

/// Two queues share four slots; `a` had all of them for a day and `b` none.
fn one_day_alone(half_life: &str) -> Vec<f64> {
    let mut root = policy("sdrf");
    if let Ok(seconds) = half_life.parse::<u64>() {
        root.memory = Memory::HalfLife(span(seconds * S));
    }
    let config = slots_config(4, &root, &["a", "b"]);
    let ids: Vec<QueueId> = engine(&config).view().queue_ids().skip(1).collect();
    let day = 86_400 * S;
    let job = |queue: usize, at: u64, tasks: usize, lasts: u64| SimJob {
        queue: ids[queue],
        at,
        weight: 1000,
        groups: vec![(slots(1), vec![lasts; tasks])],
    };
    let hour = 3_600 * S;
    let jobs = vec![job(0, 0, 4, day), job(0, day, 400, hour), job(1, day, 400, hour)];
    let mut world = World::new(&config, jobs);
    world.shadow.judge = judge;
    let mut held = Vec::new();
    while let Some(now) = world.step() {
        if now >= day && now < 2 * day {
            let model = &world.shadow.model;
            let of_b = model.running().filter(|task| task.queue == 2).count();
            held.push(of_b as f64);
        }
    }
    held
}

#[test]
fn a_day_of_borrowing_is_paid_back_and_then_both_are_even() {
    // tau = 14.4 h: a has committed 1.6 of its 2 extra slots, so b gets three or four slots of four
    // for the first hours, and both have two in the end.
    let held = one_day_alone("36000");
    assert!(held[0] >= 3.0, "{held:?}");
    assert_eq!(held.last(), Some(&2.0), "{held:?}");
    // In five days a day is a little: less than half a slot.
    let held = one_day_alone("five days");
    assert!(held.iter().all(|&held| (2.0..=3.0).contains(&held)), "{held:?}");
}

/// A new half-life: at that instant everybody has committed what it had.
#[test]
fn commitments_stay_where_the_half_life_changes() {
    let order =
        |seconds: u64| Policy { memory: Memory::HalfLife(span(seconds * S)), ..policy("sdrf") };
    let config = slots_config(4, &order(600), &["a", "b"]);
    let mut engine = engine(&config);
    crate::reserved::arrive(&mut engine, 0, "a", crate::reserved::tasks(9, 1, None));
    assert_eq!(crate::reserved::decide(&mut engine).len(), 4);
    engine.advance(secs(300)).expect("time goes on");
    let told = |engine: &Engine| engine.view().children_in_order(QueueId::ROOT)[0].natural;
    let before = told(&engine);
    assert!(before > 4.5, "{before}");
    for half_life in [60, 86_400, 1, 600] {
        let root = [(QueueId::ROOT, order(half_life))];
        engine.apply(secs(300), Event::PoliciesChanged(&root)).expect("a sound order");
        assert!(is_near(told(&engine), before), "{} after {before}", told(&engine));
    }
}
