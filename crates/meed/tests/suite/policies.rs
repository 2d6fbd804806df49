//! Policies change while work runs: what means the same is kept, the rest begins anew, and the
//! engine stays one that its own state describes.

use crate::chaos::{self, Step};
use crate::common::dice::{Dice, dice};
use crate::common::*;
use meed::place::{PLACEMENTS, Placement};
use meed::*;
use proptest::prelude::*;

fn first_fit(kinds: usize) -> Box<dyn Placement> {
    (PLACEMENTS[0].new)(kinds, 0)
}

fn long_term(memory: Memory) -> Policy {
    Policy { memory, quantum: Quantum::Fixed(Span::ZERO), ..policy("long-term") }
}

fn change(engine: &mut Engine, now: u64, changes: &[(QueueId, Policy)]) -> Result<(), Rejected> {
    engine.apply(micros(now), Event::PoliciesChanged(changes)).map(drop)
}

fn arrives(engine: &mut Engine, now: u64, queue: &str, tasks: u32, demand: Resources) {
    let queue = engine.view().find_queue(queue).expect("declared");
    let groups = &[TaskGroup::new(tasks, demand)];
    let spec = JobSpec { queue, weight: 1000, groups, open: false, max_attempts: 0 };
    engine.apply(micros(now), Event::JobArrived(spec)).expect("a sound job");
}

fn decide(engine: &mut Engine) -> Vec<AllocationId> {
    let mut starts = Vec::new();
    engine.decide(false, |start| starts.push(start.allocation));
    starts
}

fn end(engine: &mut Engine, now: u64, tasks: &[AllocationId]) {
    for task in tasks {
        engine.apply(micros(now), Event::TaskEnded(*task)).expect("it runs");
    }
}

/// Queue `a` uses 30 slot-seconds, `b` 10.
fn used(root: &Policy) -> (Engine, [QueueId; 2]) {
    let mut engine = engine(&slots_config(1, root, &["a", "b"]));
    let ids = ["a", "b"].map(|name| engine.view().find_queue(name).expect("declared"));
    for (queue, from, until) in [("a", 0, 30), ("b", 30, 40)] {
        arrives(&mut engine, from * S, queue, 1, slots(1));
        let tasks = decide(&mut engine);
        end(&mut engine, until * S, &tasks);
    }
    (engine, ids)
}

fn charged(engine: &Engine, ids: [QueueId; 2]) -> [f64; 2] {
    ids.map(|id| engine.view().charged(id, engine.view().now()) / 1000.0)
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-5 * a.abs().max(b.abs()) + 1e-3
}

#[test]
fn use_is_kept_from_memory_to_memory() {
    let half_life = Memory::HalfLife(span(20 * S));
    let (mut engine, ids) = used(&long_term(Memory::Forever));
    assert_eq!(charged(&engine, ids), [30.0, 10.0]);
    change(&mut engine, 40 * S, &[(QueueId::ROOT, long_term(half_life))]).unwrap();
    let now = charged(&engine, ids);
    assert!(
        near(now[0], 30.0) && near(now[1], 10.0),
        "what was used counts at the change: {now:?}"
    );
    engine.advance(secs(60)).unwrap();
    let later = charged(&engine, ids);
    assert!(near(later[0], 15.0) && near(later[1], 5.0), "and fades from then on: {later:?}");
    change(&mut engine, 60 * S, &[(QueueId::ROOT, long_term(Memory::Forever))]).unwrap();
    engine.advance(secs(6000)).unwrap();
    let kept = charged(&engine, ids);
    assert!(near(kept[0], 15.0) && near(kept[1], 5.0), "what was left is kept: {kept:?}");
}

#[test]
fn what_means_something_else_begins_anew() {
    let (mut engine, ids) = used(&long_term(Memory::Forever));
    change(&mut engine, 40 * S, &[(QueueId::ROOT, policy("fair"))]).unwrap();
    change(&mut engine, 41 * S, &[(QueueId::ROOT, long_term(Memory::Forever))]).unwrap();
    assert_eq!(charged(&engine, ids), [0.0, 0.0], "fair remembers nothing");
    // What runs at a change is charged from then on.
    arrives(&mut engine, 41 * S, "a", 1, slots(1));
    let tasks = decide(&mut engine);
    change(&mut engine, 51 * S, &[(QueueId::ROOT, policy("fair"))]).unwrap();
    change(&mut engine, 61 * S, &[(QueueId::ROOT, long_term(Memory::Forever))]).unwrap();
    end(&mut engine, 65 * S, &tasks);
    assert_eq!(charged(&engine, ids), [4.0, 0.0]);
}

#[test]
fn what_runs_is_charged_ahead_by_the_new_order_and_as_it_ran_in_the_end() {
    let root = long_term(Memory::Forever);
    let (mut engine, ids) = used(&root);
    arrives(&mut engine, 40 * S, "b", 1, slots(1));
    let tasks = decide(&mut engine);
    let ahead = Policy { quantum: Quantum::Fixed(span(100 * S)), ..root.clone() };
    change(&mut engine, 45 * S, &[(QueueId::ROOT, ahead)]).unwrap();
    assert_eq!(charged(&engine, ids), [30.0, 110.0]);
    end(&mut engine, 50 * S, &tasks);
    assert_eq!(charged(&engine, ids), [30.0, 20.0]);
}

#[test]
fn who_is_first_follows_the_new_order() {
    let (mut engine, ids) = used(&long_term(Memory::Forever));
    let next = |engine: &mut Engine, now: u64| {
        let mut first = None;
        engine.advance(micros(now)).unwrap();
        engine.decide(false, |start| first = Some(start));
        let start = first.expect("something waits");
        end(engine, now, &[start.allocation]);
        start.queue
    };
    for queue in ["a", "b"] {
        arrives(&mut engine, 40 * S, queue, 9, slots(1));
    }
    assert_eq!(next(&mut engine, 40 * S), ids[1], "it has used less");
    change(&mut engine, 41 * S, &[(QueueId::ROOT, policy("fifo"))]).unwrap();
    assert_eq!(next(&mut engine, 41 * S), ids[0], "its job came first");
}

#[test]
fn what_cannot_be_is_refused_and_changes_nothing() {
    let (mut engine, ids) = used(&long_term(Memory::Forever));
    let before = engine.state();
    let guard = Policy { t_wait: Some(span(S)), ..policy("fair") };
    let why = change(&mut engine, 40 * S, &[(QueueId::ROOT, guard)]).unwrap_err().to_string();
    assert!(why.contains("root") && why.contains("t_wait"), "{why}");
    for order in ["per-server-drf", "rps-dsf", "tetris"] {
        let alone = [(ids[0], policy(order))];
        let why = change(&mut engine, 40 * S, &alone).unwrap_err().to_string();
        assert!(why.contains("`a`") && why.contains(order), "{why}");
        assert!(why.contains("order of all"), "{why}");
    }
    let kind = Policy { scalar: Scalar::Kind(3), ..policy("fair") };
    assert!(change(&mut engine, 40 * S, &[(ids[1], kind)]).is_err());
    assert_eq!(engine.state(), before);
}

/// A master of four and a worker of one that start together, where one node has room for the worker
/// alone: where servers decide they would be started one by one.
#[test]
fn servers_do_not_decide_while_a_gang_lives() {
    for order in ["per-server-drf", "rps-dsf", "tetris"] {
        let mut config = slots_config(1, &policy("fair"), &["a"]);
        config.nodes.push(node("n1", slots(5)));
        let mut engine = engine(&config);
        arrives(&mut engine, 0, "a", 1, slots(5));
        assert_eq!(decide(&mut engine).len(), 1);
        let queue = engine.view().find_queue("a").expect("declared");
        let part = |each| TaskGroup {
            gang: Some(Box::new(Gang::part(1))),
            ..TaskGroup::new(1, slots(each))
        };
        let groups = &[part(4), part(1)];
        let spec = JobSpec { queue, weight: 1000, groups, open: false, max_attempts: 0 };
        let taken = engine.apply(micros(0), Event::JobArrived(spec));
        let Ok(Effect::Job(gang)) = taken else { panic!("{taken:?}") };
        let before = engine.state();
        let changes = [(QueueId::ROOT, policy(order))];
        assert_eq!(engine.check_policies(&changes), Err(Rejected::GangPerServer), "{order}");
        assert_eq!(change(&mut engine, 0, &changes), Err(Rejected::GangPerServer), "{order}");
        assert_eq!(engine.state(), before, "{order}");
        let mut told = before;
        told.orders[told.queues[0].order].policy = policy(order);
        let refused = Engine::from_state(&told, first_fit(1)).map(drop).unwrap_err().to_string();
        assert!(refused.contains("gang"), "{order}: {refused}");
        engine.apply(micros(0), Event::JobCancelled(gang)).expect("it waits");
        change(&mut engine, 0, &changes).expect("no gang is left");
        arrives(&mut engine, 0, "a", 1, slots(1));
        assert_eq!(decide(&mut engine).len(), 1);
    }
}

#[test]
fn reservations_come_and_go_with_the_policy() {
    let reserve = Policy { blocked: Blocked::Reserve(Reservations::ONE), ..policy("fifo") };
    let mut engine = engine(&slots_config(2, &policy("fifo"), &["a", "b"]));
    arrives(&mut engine, 0, "a", 1, slots(1));
    let small = decide(&mut engine);
    arrives(&mut engine, S, "b", 1, slots(2));
    assert!(decide(&mut engine).is_empty());
    change(&mut engine, 2 * S, &[(QueueId::ROOT, reserve)]).unwrap();
    arrives(&mut engine, 2 * S, "a", 5, slots(1));
    assert!(decide(&mut engine).is_empty(), "the slot is held for the job that came first");
    assert_eq!(engine.view().reservations().count(), 1);
    change(&mut engine, 3 * S, &[(QueueId::ROOT, policy("fifo"))]).unwrap();
    assert_eq!(engine.view().reservations().count(), 0);
    assert_eq!(decide(&mut engine).len(), 1, "now it is not");
    end(&mut engine, 4 * S, &small);
    assert_eq!(decide(&mut engine).len(), 1);
}

#[test]
fn who_had_all_room_held_waits_on_beside_many_others() {
    let reserve = Policy { blocked: Blocked::Reserve(Reservations::ONE), ..policy("fifo") };
    let mut engine = engine(&slots_config(8, &reserve, &["a"]));
    arrives(&mut engine, 0, "a", 1, slots(1));
    assert_eq!(decide(&mut engine).len(), 1);
    // More sizes than a leaf keeps an empty list for.
    for size in (2..=8).rev() {
        arrives(&mut engine, S, "a", 1, slots(size));
    }
    assert!(decide(&mut engine).is_empty(), "all is held for the widest");
    assert_eq!(engine.view().reservations().count(), 1);
    engine.check_policies(&[(QueueId::ROOT, policy("fifo"))]).expect("nothing is wrong with it");
    assert_eq!(engine.view().reservations().count(), 1, "a check changes nothing");
    change(&mut engine, 2 * S, &[(QueueId::ROOT, policy("fifo"))]).unwrap();
    assert_eq!(decide(&mut engine).len(), 1, "the widest but one fits");
    assert_eq!(engine.view().running_tasks(), 2);
}

#[test]
fn a_queue_that_is_gone_does_not_keep_servers_deciding() {
    let mut engine = engine(&slots_config(2, &policy("per-server-drf"), &["a", "b"]));
    let ids = ["a", "b"].map(|name| engine.view().find_queue(name).expect("declared"));
    engine.apply(micros(S), Event::QueueRemoved(ids[1])).unwrap();
    let other = policy("rps-dsf");
    change(&mut engine, S, &[(QueueId::ROOT, other.clone()), (ids[0], other)]).unwrap();
    change(&mut engine, S, &[(QueueId::ROOT, policy("fair")), (ids[0], policy("fair"))]).unwrap();
    assert_eq!(engine.view().policy(QueueId::ROOT), &policy("fair"));
}

/// Any policies for the root and some queues, as far as they may stand together.
fn drawn(dice: &mut Dice, engine: &Engine) -> Vec<(QueueId, Policy)> {
    let kinds = engine.view().kinds().len();
    let mut ids: Vec<QueueId> =
        engine.view().queue_ids().filter(|&id| !engine.view().is_removed(id)).collect();
    ids.retain(|id| *id == QueueId::ROOT || dice.below(3) == 0);
    let mut draw = |id: QueueId| {
        let mut policy = dice.policy(kinds);
        match dice.below(5) {
            0 => policy.memory = Memory::HalfLife(span(3 * S)),
            1 => {
                let untried = dice.pick(&[Untried::Handed, Untried::Ended]);
                let (initial, interval) = (span(2 * S), span(S));
                policy.quantum = Quantum::Adaptive { initial, interval, untried };
            }
            _ => {}
        }
        if id == QueueId::ROOT {
            policy.blocked = match dice.below(4) {
                0 => Blocked::Wait,
                1 => Blocked::Reserve(dice.pick(&[Reservations::ONE, Reservations::All])),
                _ => Blocked::Skip,
            };
            if let Blocked::Reserve(_) = policy.blocked {
                policy.charge_reservations = dice.below(2) == 0;
                policy.reclaim = (dice.below(2) == 0).then(|| dice.reclaim());
            }
            let guards = policy.measure == Measure::Usage && dice.below(2) == 0;
            policy.t_wait = guards.then(|| span(dice.below(4) * S));
            if dice.below(8) == 0 {
                policy = dice.by_server();
            }
        }
        (id, policy)
    };
    ids.into_iter().map(&mut draw).collect()
}

/// Tells a step, in words what came of it.
fn told(engine: &mut Engine, step: &Step) -> String {
    match step {
        Step::Event(at, event, _) => format!("{:?}", event.send(engine, *at)),
        Step::Decide(at, _) | Step::DecideSome(at, ..) => {
            let _ = engine.advance(micros(*at));
            let starts = decide(engine);
            let stops: Vec<Stop> = std::iter::from_fn(|| engine.next_stop()).collect();
            format!("{starts:?} {stops:?}")
        }
    }
}

proptest! {
    #![proptest_config(cases(1000))]

    /// Policies change again and again; one engine goes on, the other is taken out of its state
    /// after each step. In the end all that runs is ended: nothing is missing in the books.
    #[test]
    fn what_changed_its_policies_goes_on_as_its_state_says(mut dice in dice(900)) {
        let config = chaos::config(&mut dice);
        let (_, steps) = chaos::run(&mut dice, &config);
        let kinds = config.kinds.len();
        let Ok(mut kept) = Engine::new(config, first_fit(kinds)) else { return Ok(()) };
        let mut restored = Engine::from_state(&kept.state(), first_fit(kinds)).expect("its own");
        for (number, step) in steps.iter().enumerate() {
            prop_assert_eq!(told(&mut kept, step), told(&mut restored, step), "step {}", number);
            if dice.below(5) == 0 {
                let (now, changes) = (kept.view().now().as_micros(), drawn(&mut dice, &kept));
                let answers = [&mut kept, &mut restored].map(|it| change(it, now, &changes));
                prop_assert_eq!(&answers[0], &answers[1], "step {}", number);
                match &answers[0] {
                    Ok(()) => {
                        for (id, policy) in &changes {
                            prop_assert_eq!(kept.view().policy(*id), policy);
                        }
                    }
                    // Only for what the policies say, never for what the state would be.
                    Err(why) => prop_assert!(!why.to_string().contains('['), "{}: {}", number, why),
                }
            }
            let state = kept.state();
            prop_assert_eq!(&restored.state(), &state, "step {}", number);
            restored = Engine::from_state(&state, first_fit(kinds)).expect("its own state");
        }
        decide(&mut kept);
        for task in kept.view().running_ids().collect::<Vec<_>>() {
            let now = kept.view().now().saturating_add(span(S));
            kept.apply(now, Event::TaskEnded(task)).expect("it runs");
        }
        let ids: Vec<QueueId> = kept.view().queue_ids().skip(1).collect();
        kept.view().lending(&ids, kept.view().now());
        for id in ids {
            prop_assert!(kept.view().charged(id, kept.view().now()).is_finite());
        }
    }

    /// A change to what holds already changes no decision.
    #[test]
    fn a_change_of_nothing_is_none(mut dice in dice(700)) {
        let config = chaos::config(&mut dice);
        prop_assume!(!matches!(config.root.blocked, Blocked::Reserve(_)));
        let (_, steps) = chaos::run(&mut dice, &config);
        let kinds = config.kinds.len();
        let Ok(mut plain) = Engine::new(config.clone(), first_fit(kinds)) else { return Ok(()) };
        let mut changed = Engine::new(config, first_fit(kinds)).expect("as the first");
        for (number, step) in steps.iter().enumerate() {
            let answers = [&mut plain, &mut changed].map(|engine| told(engine, step));
            prop_assert_eq!(&answers[0], &answers[1], "step {}", number);
            if dice.below(3) == 0 {
                let same = |id| (id, changed.view().policy(id).clone());
                let ids = changed.view().queue_ids().filter(|&id| !changed.view().is_removed(id));
                let changes: Vec<_> = ids.map(same).collect();
                let now = changed.view().now().as_micros();
                change(&mut changed, now, &changes).expect("it holds already");
            }
            for id in plain.view().queue_ids() {
                let now = plain.view().now();
                prop_assert_eq!(plain.view().integrals(id, now), changed.view().integrals(id, now));
                prop_assert_eq!(plain.view().charged(id, now), changed.view().charged(id, now));
            }
        }
    }

    /// From memory to memory each queue is charged at the change what it was charged before, where
    /// nothing is charged ahead.
    #[test]
    fn charges_are_continuous(mut dice in dice(700)) {
        let config = chaos::config(&mut dice);
        let (_, steps) = chaos::run(&mut dice, &config);
        let kinds = config.kinds.len();
        let scalar = dice.pick(&[Scalar::Kind(0), Scalar::Dominant]);
        let mut draw = |memory: Memory| Policy {
            scalar: scalar.clone(),
            discount: dice.pick(&[1000, 500]),
            ..long_term(memory)
        };
        let config = Config {
            root: draw(Memory::Forever),
            queues: config.queues.into_iter()
                .map(|queue| QueueSpec { policy: draw(Memory::Forever), ..queue })
                .collect(),
            ..config
        };
        let Ok(mut engine) = Engine::new(config, first_fit(kinds)) else { return Ok(()) };
        for (number, step) in steps.iter().enumerate() {
            told(&mut engine, step);
            if number % 3 > 0 {
                continue;
            }
            let memory = [Memory::Forever, Memory::HalfLife(span(5 * S)),
                Memory::HalfLife(span(90 * S)), Memory::Rounds(span(7 * S))][number / 3 % 4];
            let ids: Vec<QueueId> =
                engine.view().queue_ids().filter(|&id| !engine.view().is_removed(id)).collect();
            let usual = |id: &QueueId| engine.view().policy(*id).scalar == scalar;
            let ids: Vec<QueueId> = ids.into_iter().filter(usual).collect();
            let now = engine.view().now();
            engine.advance(now).unwrap();
            let before: Vec<f64> = ids.iter().map(|id| engine.view().charged(*id, now)).collect();
            let changes: Vec<_> = ids.iter().map(|id| (*id, draw(memory))).collect();
            change(&mut engine, now.as_micros(), &changes).unwrap();
            for (id, before) in ids.iter().zip(before) {
                // The root is nobody's child; children of others follow their parents.
                let parent = engine.view().parent(*id);
                if parent.is_some_and(|parent| ids.contains(&parent)) {
                    let after = engine.view().charged(*id, now);
                    prop_assert!(near(before, after), "{}: {} {}", number, before, after);
                }
            }
        }
    }
}
