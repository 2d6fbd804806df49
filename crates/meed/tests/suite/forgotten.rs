//! Queues that come and go for ever: rows do not pile up, old handles are nobody's, who owes most
//! is remembered, and what is forgotten changes no decision.

use crate::common::dice::{Dice, dice};
use crate::common::shadow::Ev;
use crate::common::*;
use crate::returns::policies;
use meed::place::{FirstFit, PLACEMENTS};
use meed::*;
use proptest::prelude::*;

fn add(engine: &mut Engine, at: u64, name: &str) -> QueueId {
    let spec = queue(name, 1000, policy("fifo"));
    let added = engine.apply(micros(at), Event::QueueAdded(spec));
    let Ok(Effect::Queue(id)) = added else { panic!("{added:?}") };
    id
}

fn remove(engine: &mut Engine, at: u64, id: QueueId) {
    engine.apply(micros(at), Event::QueueRemoved(id)).expect("no job is there");
}

/// Two tasks of a slot each in `queue` from `at` on, for so long.
fn run(engine: &mut Engine, queue: QueueId, at: u64, micros_long: u64) {
    let groups = [TaskGroup::new(2, slots(1))];
    let job = JobSpec { queue, weight: 1000, groups: &groups, open: false, max_attempts: 0 };
    engine.apply(micros(at), Event::JobArrived(job)).expect("sound");
    let mut started = Vec::new();
    engine.decide(false, |start| started.push(start.allocation));
    for allocation in started {
        engine.apply(micros(at + micros_long), Event::TaskEnded(allocation)).expect("it runs");
    }
}

#[test]
fn rows_of_gone_queues_do_not_pile_up() {
    let mut engine = engine(&slots_config(2, &policy("long-term"), &["a", "p", "p.b"]));
    let [a, p] = ["a", "p"].map(|name| engine.view().find_queue(name).expect("declared"));
    let first = add(&mut engine, 0, "p.ci-0");
    let mut last = first;
    let mut most = 0;
    for turn in 1..20_000u64 {
        remove(&mut engine, turn * 10, last);
        last = add(&mut engine, turn * 10, &format!("p.ci-{turn}"));
        assert_eq!(last.index() as u64, 4 + turn, "a number of its own");
        run(&mut engine, last, turn * 10, 1 + turn % 7);
        run(&mut engine, a, turn * 10 + 8, 1);
        most = most.max(engine.view().queue_ids().len());
    }
    assert!(most <= 5 + 1024 + 1, "{most} rows");
    assert!(!engine.view().knows_queue(first) && engine.view().is_removed(first));
    let refused = engine.apply(micros(200_000), Event::QueueRemoved(first));
    assert_eq!(refused, Err(Rejected::UnknownQueue));
    assert_eq!(engine.view().queue_name(last), "p.ci-19999");
    assert_eq!((engine.view().parent(last), engine.view().queue(last).parent), (Some(p), Some(p)));
    assert_eq!(engine.view().children_in_order(p), []);
    assert!(engine.view().queue_ids().is_sorted());
    let state = engine.state();
    assert!(state.queues.len() <= most, "{}", state.queues.len());
    let again = Engine::from_state(&state, Box::new(FirstFit::new(1))).expect("its own state");
    assert_eq!(again.state(), state);
    assert_eq!(
        again.view().queue_ids().collect::<Vec<_>>(),
        engine.view().queue_ids().collect::<Vec<_>>()
    );
    // What was lent by those that nobody knows any more balances what the others borrowed.
    let now = micros(200_000);
    let leaves: Vec<QueueId> =
        engine.view().queue_ids().filter(|&id| id != QueueId::ROOT && id != p).collect();
    let known = engine.view().lending(&leaves, now);
    let all = || known.iter().copied().chain([engine.view().forgotten_lending(now)]);
    let (lent, borrowed) =
        (all().map(|one| one.lent).sum::<u128>(), all().map(|one| one.borrowed).sum());
    assert_eq!(lent, borrowed);
    assert!(engine.view().forgotten_lending(now).lent > 0, "nothing was forgotten that lent");
}

#[test]
fn who_owes_most_is_remembered_and_so_are_the_last() {
    let mut engine = engine(&slots_config(2, &policy("long-term"), &["a", "p", "p.b"]));
    let owes = add(&mut engine, 0, "p.owes");
    run(&mut engine, owes, 0, 1_000_000);
    remove(&mut engine, 1_000_000, owes);
    for turn in 0..3000u64 {
        let at = 1_000_000 + turn * 10;
        let queue = add(&mut engine, at, &format!("p.ci-{turn}"));
        run(&mut engine, queue, at, 5);
        remove(&mut engine, at + 5, queue);
    }
    let at = 1_100_000;
    assert_eq!(add(&mut engine, at, "p.owes"), owes);
    assert_eq!(engine.view().charged(owes, micros(at)), 2000.0, "two slots for a second");
    let last = add(&mut engine, at, "p.ci-2999");
    assert!(engine.view().charged(last, micros(at)) > 0.0, "the last that went");
    let old = add(&mut engine, at, "p.ci-0");
    assert_eq!(engine.view().charged(old, micros(at)), 0.0, "somebody new");
}

/// A queue whose children are gone waits as a leaf: among equals the guard serves whoever was
/// served longest ago, and services of children count.
#[test]
fn the_guard_knows_when_a_leaf_was_served_as_a_parent() {
    let root = Policy { t_wait: Some(Span::from_secs(2).unwrap()), ..policy("long-term") };
    let mut live = engine(&slots_config(2, &root, &["p", "p.a", "b", "c"]));
    let [p, a, b, c] =
        ["p", "p.a", "b", "c"].map(|name| live.view().find_queue(name).expect("declared"));
    run(&mut live, a, 0, 10);
    remove(&mut live, 20, a);
    let mut running = Vec::new();
    for queue in [c, p, b] {
        let groups = [TaskGroup::new(2, slots(1))];
        let job = JobSpec { queue, weight: 1000, groups: &groups, open: false, max_attempts: 0 };
        live.apply(micros(30), Event::JobArrived(job)).expect("sound");
        live.decide(false, |start| running.push(start.allocation));
    }
    for task in running {
        live.apply(micros(5_000_000), Event::TaskEnded(task)).expect("it runs");
    }
    let mut again = Engine::from_state(&live.state(), Box::new(FirstFit::new(1))).expect("sound");
    for engine in [&mut live, &mut again] {
        let mut served = Vec::new();
        engine.decide(true, |start| served.push((start.queue, start.reason)));
        let (first, reason) = served.swap_remove(0);
        assert!(reason.is_some_and(|reason| reason.starved_for.is_some()));
        assert_eq!(first, b);
    }
}

/// A tree whose queues seldom stay, and never come back.
struct Flux {
    queues: Vec<(QueueId, String)>,
    running: Vec<AllocationId>,
}

impl Flux {
    fn event(&self, dice: &mut Dice, number: u64) -> Option<Ev> {
        let (id, name) = dice.pick(&self.queues);
        Some(match dice.below(12) {
            0..3 => {
                let deep = name.matches('.').count() < 2 && dice.below(2) == 0;
                let name = if deep { format!("{name}.q{number}") } else { format!("q{number}") };
                let own = if deep { "fair" } else { "long-term" };
                Ev::QueueAdded(queue(&name, 500 + 500 * dice.below(4), policy(own)))
            }
            3..6 => Ev::QueueRemoved(id),
            6 => {
                let weight = Some(1 + dice.below(3000));
                let change = QueueChange { weight, ..QueueChange::default() };
                Ev::QueueChanged(id, change)
            }
            7..9 => {
                let groups = vec![TaskGroup::new(1 + dice.below(4) as u32, dice.amounts(2, 4))];
                Ev::Job { queue: id, weight: 1000, groups, open: false, max_attempts: 0 }
            }
            _ => {
                let at = dice.below(self.running.len() as u64 + 1) as usize;
                Ev::Ended(*self.running.get(at)?)
            }
        })
    }
}

proptest! {
    #![proptest_config(cases(500))]

    /// One engine remembers all queues, one as few as it can; a third is taken out of the second's
    /// state now and then.
    #[test]
    fn what_is_forgotten_changes_no_decision(mut dice in dice(900)) {
        let mut config = slots_config(2, &dice.pick(&policies()), &["a", "b", "b.c", "b.d"]);
        config.kinds = kinds(2);
        config.nodes = (0..3).map(|n| node(&format!("n{n}"), dice.amounts(2, 9))).collect();
        let preset = dice.pick(&PLACEMENTS.iter().collect::<Vec<_>>());
        let new = || Engine::new(config.clone(), (preset.new)(2, 7)).expect("sound");
        let mut engines = [new(), new(), new()];
        engines[1].set_remembered_queues(0);
        engines[2].set_remembered_queues(0);
        let names = ["a", "b", "b.c", "b.d"].map(str::to_owned);
        let queues = names.map(|name| (engines[0].view().find_queue(&name).expect("there"), name));
        let mut flux = Flux { queues: queues.to_vec(), running: Vec::new() };
        for number in 0..150 {
            let now = number / 3 * S;
            if let Some(event) = flux.event(&mut dice, number) {
                let answers = engines.each_mut().map(|engine| event.send(engine, now));
                prop_assert_eq!(&answers[0], &answers[1], "{:?}", event);
                prop_assert_eq!(&answers[0], &answers[2], "{:?}", event);
                if let (Ok(Effect::Queue(id)), Ev::QueueAdded(spec)) = (&answers[0], &event) {
                    flux.queues.push((*id, spec.name.clone()));
                }
            }
            if number % 3 == 0 {
                let starts = engines.each_mut().map(|engine| {
                    let mut starts = Vec::new();
                    engine.advance(micros(now)).expect("time goes on");
                    engine.decide(true, |start| starts.push(start));
                    starts
                });
                prop_assert_eq!(&starts[0], &starts[1]);
                prop_assert_eq!(&starts[0], &starts[2]);
                flux.running.extend(starts[0].iter().map(|start| start.allocation));
            }
            if dice.below(8) == 0 {
                let state = engines[2].state();
                let again = (preset.new)(2, 99);
                engines[2] = Engine::from_state(&state, again).expect("its own state");
                prop_assert_eq!(&engines[2].state(), &state);
                prop_assert_eq!(&engines[1].state(), &state);
            }
        }
        let now = engines[0].view().now();
        let live: Vec<QueueId> =
            engines[0].view().queue_ids().filter(|&id| !engines[0].view().is_removed(id)).collect();
        for &id in &live {
            prop_assert_eq!(engines[0].view().charged(id, now), engines[1].view().charged(id, now));
            let [one, other] = [0, 1].map(|of| engines[of].view().integrals(id, now));
            prop_assert_eq!(one, other, "{}", engines[0].view().queue_name(id));
        }
        prop_assert!(engines[1].view().queue_ids().len() <= 2 * live.len().max(1) + 1);
    }
}
