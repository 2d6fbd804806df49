//! The state as plain data: what is restored decides the same for ever after, and what no engine
//! can have written is refused.

use crate::chaos::{self, Step};
use crate::common::dice::{Dice, dice};
use crate::common::*;
use meed::place::{PLACEMENTS, Placement};
use meed::state::*;
use meed::*;
use proptest::prelude::*;

fn placement(name: &str, kinds: usize) -> Box<dyn Placement> {
    let preset = PLACEMENTS.iter().find(|preset| preset.name == name).expect("known");
    (preset.new)(kinds, 7)
}

fn placement_names() -> Vec<&'static str> {
    PLACEMENTS.iter().map(|preset| preset.name).collect()
}

/// A fresh engine of this state. Its placement begins with another seed: what it draws next is in
/// the state.
fn reborn(state: &State, name: &str) -> Result<Engine, StateError> {
    let preset = PLACEMENTS.iter().find(|preset| preset.name == name).expect("known");
    Engine::from_state(state, (preset.new)(state.kinds.len(), 99))
}

/// What a state says must hold for memories, quanta and guards of all sorts, beyond what the twin
/// of `chaos` follows.
fn any_memory(dice: &mut Dice, config: &mut Config) {
    let kinds = config.kinds.len();
    let tweak = |dice: &mut Dice, policy: &mut Policy| {
        match dice.below(6) {
            0 => policy.memory = Memory::HalfLife(span(3 * S)),
            1 => policy.memory = Memory::Rounds(span(4 * S)),
            _ => {}
        }
        if dice.below(3) == 0 {
            policy.newcomer = dice.pick(&[Newcomer::EarlyBird, Newcomer::Average]);
        }
        if dice.below(3) == 0 {
            let untried = dice.pick(&[Untried::Handed, Untried::Ended]);
            let (initial, interval) = (span(2 * S), span(S));
            policy.quantum = Quantum::Adaptive { initial, interval, untried };
        }
    };
    tweak(dice, &mut config.root);
    for queue in &mut config.queues {
        let per_server = queue.policy.per_server;
        tweak(dice, &mut queue.policy);
        if !per_server && dice.below(4) == 0 {
            queue.policy = dice.policy(kinds);
        }
    }
    if config.root.measure == Measure::Usage && dice.below(2) == 0 {
        config.root.t_wait = Some(span(dice.below(4) * S));
    }
    if !config.root.per_server && dice.below(6) == 0 {
        let (blocked, memory) = (config.root.blocked, Memory::HalfLife(span(3 * S)));
        config.root = Policy { blocked, memory, ..policy("sdrf") };
    }
    if !config.root.per_server && dice.below(6) == 0 {
        // Parents that count their children rescaled.
        let blocked = config.root.blocked;
        config.root = Policy { blocked, ..policy("drf") };
        config.queues.iter_mut().for_each(|queue| queue.policy = policy("drf"));
    }
}

/// What an instant's decisions are, in words.
fn decided(engine: &mut Engine, explain: bool) -> Vec<Start> {
    let mut starts = Vec::new();
    engine.decide(explain, |start| starts.push(start));
    starts
}

/// Who is told to stop after decisions.
fn stops(engine: &mut Engine) -> Vec<Stop> {
    std::iter::from_fn(|| engine.next_stop()).collect()
}

/// The next of them, at most so many.
fn decided_some(engine: &mut Engine, explain: bool, most: usize) -> Vec<Start> {
    std::iter::from_fn(|| engine.next_start(explain)).take(most).collect()
}

/// Tells `steps` to an engine, and looks at it after each.
fn play(steps: &[Step], engine: &mut Engine, mut look: impl FnMut(usize, &mut Engine, String)) {
    for (number, step) in steps.iter().enumerate() {
        let answer = match step {
            Step::Event(at, event, _) => format!("{:?}", event.send(engine, *at)),
            Step::Decide(at, _) => {
                let _ = engine.advance(micros(*at));
                let starts = decided(engine, number % 3 == 0);
                format!("{starts:?} {:?}", stops(engine))
            }
            Step::DecideSome(at, most, _) => {
                let _ = engine.advance(micros(*at));
                let starts = decided_some(engine, number % 3 == 0, *most);
                format!("{starts:?} {:?}", stops(engine))
            }
        };
        look(number, engine, answer);
    }
}

/// Ends what runs by and by, with decisions between: nothing may be missing in the books.
fn wind_down(engine: &mut Engine, most: usize) {
    // What is told first may be the rest of a gang, which runs already.
    decided(engine, false);
    let mut running: Vec<AllocationId> = engine.view().running_ids().collect();
    for _ in 0..most {
        running.extend(decided(engine, false).iter().map(|start| start.allocation));
        let Some(ended) = running.pop() else { break };
        let now = engine.view().now().saturating_add(span(S));
        engine.apply(now, Event::TaskEnded(ended)).expect("it runs");
    }
    let queues: Vec<QueueId> = engine.view().queue_ids().skip(1).collect();
    engine.view().lending(&queues, engine.view().now());
    for queue in queues {
        engine.view().integrals(queue, engine.view().now());
        engine.view().charged(queue, engine.view().now());
    }
}

/// A run of `chaos` under any policy and placement: its engine's configuration, and the steps.
fn story(dice: &mut Dice) -> (Config, Vec<Step>, &'static str) {
    let mut config = chaos::config(dice);
    let (_, steps) = chaos::run(dice, &config);
    any_memory(dice, &mut config);
    (config, steps, dice.pick(&placement_names()))
}

/// As a restored engine tells them: why the first `untold` start was not in its state.
fn told_again(starts: &[Start], untold: usize) -> Vec<Start> {
    let mut starts = starts.to_vec();
    starts.iter_mut().take(untold).for_each(|start| start.reason = None);
    starts
}

/// Plays `steps` to two engines, of which one is taken out of its state after each.
pub(crate) fn goes_on(config: &Config, steps: &[Step], name: &str) -> Result<(), TestCaseError> {
    let place = placement(name, config.kinds.len());
    let Ok(mut kept) = Engine::new(config.clone(), place) else { return Ok(()) };
    let place = placement(name, config.kinds.len());
    let mut restored = Engine::new(config.clone(), place).expect("as the first");
    for (number, step) in steps.iter().enumerate() {
        let explain = number % 3 == 0;
        let untold = restored.state().untold.len();
        match step {
            Step::Event(at, event, _) => {
                let answers = [&mut kept, &mut restored].map(|engine| event.send(engine, *at));
                prop_assert_eq!(&answers[0], &answers[1], "step {}", number);
            }
            Step::Decide(at, _) => {
                let starts = [&mut kept, &mut restored].map(|engine| {
                    let _ = engine.advance(micros(*at));
                    decided(engine, explain)
                });
                let kept = told_again(&starts[0], untold);
                prop_assert_eq!(&kept, &starts[1], "step {}", number);
            }
            Step::DecideSome(at, most, _) => {
                let starts = [&mut kept, &mut restored].map(|engine| {
                    let _ = engine.advance(micros(*at));
                    decided_some(engine, explain, *most)
                });
                let kept = told_again(&starts[0], untold);
                prop_assert_eq!(&kept, &starts[1], "step {}", number);
            }
        }
        let state = restored.state();
        restored = reborn(&state, name).expect("its own state");
        prop_assert_eq!(&restored.state(), &state, "what is read is what was written");
        prop_assert_eq!(&kept.state(), &state, "step {}", number);
        // Rescaled keys are told as of the last sharing out.
        let rescaled = config.root.measure == Measure::Allocation
            && config.root.scalar == Scalar::Dominant
            && matches!(step, Step::Event(..));
        for queue in kept.view().queue_ids().filter(|_| !rescaled) {
            let orders = [&kept, &restored].map(|engine| engine.view().children_in_order(queue));
            prop_assert_eq!(&orders[0], &orders[1], "step {}, {:?}", number, queue);
        }
    }
    wind_down(&mut kept, 200);
    wind_down(&mut restored, 200);
    prop_assert_eq!(kept.state(), restored.state());
    Ok(())
}

proptest! {
    #![proptest_config(cases(2000))]

    /// One engine goes on; the other is taken out of its state after every step.
    #[test]
    fn a_restored_engine_goes_on_as_if_nothing_had_been(mut dice in dice(700)) {
        let (config, steps, name) = story(&mut dice);
        goes_on(&config, &steps, name)?;
    }

    /// The same in deep trees of parents that count their children rescaled, with maximum shares:
    /// what is kept of them is made anew.
    #[test]
    fn rescaled_parents_are_counted_anew(
        mut dice in dice(700),
        weights in prop::collection::vec(1u64..40_000, 16),
    ) {
        let mut config = dice.deep_drf_config(&weights);
        let order = policy(dice.pick(&["drf", "drfh"]));
        for queue in &mut config.queues {
            queue.policy = order.clone();
            if queue.min.is_none() && dice.below(4) == 0 {
                queue.max = Some(dice.amounts(config.kinds.len(), 12));
            }
        }
        config.root = order;
        let (_, steps) = chaos::run(&mut dice, &config);
        goes_on(&config, &steps, dice.pick(&placement_names()))?;
    }

    /// The same where many leaves wait for the same: they count together, and are put together
    /// anew.
    #[test]
    fn leaves_that_count_together_are_put_together_anew(
        mut dice in dice(900),
        weights in prop::collection::vec(1u64..40_000, 16),
    ) {
        let order = policy(dice.pick(&["drf", "drfh"]));
        let config = dice.wide_drf_config(&weights, &order);
        let (_, steps) = chaos::run(&mut dice, &config);
        goes_on(&config, &steps, dice.pick(&placement_names()))?;
    }

    /// Text that was changed by hand is refused, or is a state that the engine can live with: never
    /// a panic.
    #[test]
    fn a_changed_state_is_refused_or_sound(
        mut dice in dice(400),
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0u8..9), 1..3),
    ) {
        let (config, steps, name) = story(&mut dice);
        let place = placement(name, config.kinds.len());
        let Ok(mut engine) = Engine::new(config, place) else { return Ok(()) };
        play(&steps[..steps.len() / 2], &mut engine, |_, _, _| {});
        let mut text = serde_json::to_string(&engine.state()).expect("plain data");
        for (at, how) in changes {
            text = changed(&text, at, how);
        }
        let Ok(state) = serde_json::from_str::<State>(&text) else { return Ok(()) };
        if let Ok(mut engine) = reborn(&state, name) {
            wind_down(&mut engine, 60);
        }
    }

    /// The same of what is missing, doubled or in another order.
    #[test]
    fn a_truncated_state_is_refused_or_sound(
        mut dice in dice(400),
        which in 0u8..14,
        how in 0u8..3,
        at in any::<prop::sample::Index>(),
    ) {
        let (config, steps, name) = story(&mut dice);
        let place = placement(name, config.kinds.len());
        let Ok(mut engine) = Engine::new(config, place) else { return Ok(()) };
        play(&steps[..steps.len() / 2], &mut engine, |_, _, _| {});
        let mut state = engine.state();
        match which {
            0 => cut(&mut state.queues, how, at),
            1 => cut(&mut state.nodes, how, at),
            2 => cut(&mut state.orders, how, at),
            3 => cut(&mut state.rules, how, at),
            4 => cut(&mut state.shapes, how, at),
            5 => cut(&mut state.free_shapes, how, at),
            6 => cut(&mut state.jobs.live, how, at),
            7 => cut(&mut state.jobs.free, how, at),
            8 => cut(&mut state.jobs.generations, how, at),
            9 => cut(&mut state.running.live, how, at),
            10 => cut(&mut state.running.generations, how, at),
            11 => cut(&mut state.running.free, how, at),
            12 => cut(&mut state.kinds, how, at),
            _ => cut(&mut state.fresh, how, at),
        }
        if let Ok(mut engine) = reborn(&state, name) {
            wind_down(&mut engine, 60);
        }
    }
}

/// Drops, doubles or swaps an element.
fn cut<T: Clone>(list: &mut Vec<T>, how: u8, at: prop::sample::Index) {
    if list.is_empty() {
        return;
    }
    let at = at.index(list.len());
    match how {
        0 => drop(list.remove(at)),
        1 => list.push(list[at].clone()),
        _ => list.swap(0, at),
    }
}

/// The text with one of its numbers or truths changed.
fn changed(text: &str, at: prop::sample::Index, how: u8) -> String {
    let mut places: Vec<(usize, usize)> = Vec::new();
    let mut from = None;
    for (place, byte) in text.bytes().enumerate() {
        match (byte.is_ascii_digit() || byte == b'-', from) {
            (true, None) => from = Some(place),
            (false, Some(start)) => {
                places.push((start, place));
                from = None;
            }
            _ => {}
        }
    }
    places.extend(text.match_indices("true").map(|(place, word)| (place, place + word.len())));
    places.extend(text.match_indices("false").map(|(place, word)| (place, place + word.len())));
    places.extend(text.match_indices("null").map(|(place, word)| (place, place + word.len())));
    let (start, end) = places[at.index(places.len())];
    let number: Option<i128> = text[start..end].parse().ok();
    let new = match (number, &text[start..end]) {
        (_, "true") => "false".to_owned(),
        (_, "false") => "true".to_owned(),
        (Some(number), _) => match how {
            0 => "0".to_owned(),
            1 => number.saturating_add(1).to_string(),
            2 => number.saturating_sub(1).to_string(),
            3 => number.saturating_mul(2).to_string(),
            4 => (number / 2).to_string(),
            5 => u32::MAX.to_string(),
            6 => (1u64 << 53).to_string(),
            7 => u64::MAX.to_string(),
            _ => (1u128 << 126).to_string(),
        },
        _ => "0".to_owned(),
    };
    format!("{}{new}{}", &text[..start], &text[end..])
}

/// A run with everything in it: memories, quanta, a guard, bounds, labels, failures, a node that
/// left, a queue that drains, tasks that wait again. What it decides from then on, in words.
mod golden {
    use super::*;

    fn config() -> Config {
        let long_term = |memory: Memory, newcomer: Newcomer, discount: u32| {
            let quantum = Quantum::Adaptive {
                initial: span(2 * S),
                interval: span(S),
                untried: Untried::Handed,
            };
            Policy { memory, newcomer, discount, quantum, ..policy("long-term") }
        };
        let mut root = long_term(Memory::HalfLife(span(60 * S)), Newcomer::Zero, 500);
        root.t_wait = Some(span(30 * S));
        let rounds = long_term(Memory::Rounds(span(20 * S)), Newcomer::EarlyBird, 1000);
        let mut queues = vec![
            queue("a", 1000, rounds),
            queue("a.x", 2000, policy("fifo")),
            queue("a.y", 1000, policy("fair")),
            queue("b", 3000, policy("long-term-drf")),
            queue("c", 500, policy("drf")),
        ];
        queues[3].min = Some(Resources::new(&[1000, 1]));
        queues[4].max = Some(Resources::new(&[4000, 4]));
        let labelled = |name: &str, zone: &str, amounts: &[u64]| {
            let mut node = node(name, Resources::new(amounts));
            node.labels.insert("zone".to_owned(), zone.to_owned());
            node
        };
        let nodes = vec![
            labelled("n0", "a", &[4000, 8]),
            labelled("n1", "b", &[4000, 8]),
            NodeSpec { weight: 1500, ..labelled("n2", "a", &[2000, 2]) },
        ];
        Config { kinds: kinds(2), measured: 0, root, queues, nodes }
    }

    /// Running tasks with their handles.
    fn handles(engine: &Engine) -> Vec<(AllocationId, RunningState)> {
        let live = engine.state().running.live;
        engine.view().running_ids().zip(live.into_iter().map(|(_, task)| task)).collect()
    }

    /// Some hundred events by a fixed rule.
    pub(super) fn go_on(engine: &mut Engine, rounds: std::ops::Range<u64>) -> String {
        let mut story = String::new();
        let queues: Vec<QueueId> = ["a.x", "a.y", "b", "c"]
            .iter()
            .filter_map(|name| engine.view().find_queue(name))
            .collect();
        for round in rounds {
            let now = secs(round);
            let queue = queues[(round % queues.len() as u64) as usize];
            let mut group = TaskGroup::new(
                1 + (round % 5) as u32,
                Resources::new(&[500 + 250 * (round % 4), 1 + round % 3]),
            );
            if round % 7 == 3 {
                let mut constraints = Constraints { distinct_nodes: true, ..Default::default() };
                constraints.require.insert("zone".to_owned(), vec!["a".to_owned()]);
                group.constraints = Some(Box::new(constraints));
            }
            let job = JobSpec {
                queue,
                weight: 1000 + 100 * (round % 3),
                groups: &[group],
                open: round % 11 == 0,
                max_attempts: (round % 3) as u16,
            };
            let arrived = engine.apply(now, Event::JobArrived(job));
            story += &format!("{round}: {arrived:?}\n");
            for (id, task) in handles(engine) {
                let age = round * S - task.started.as_micros();
                let done = age >= (1 + u64::from(task.task) % 6 + round % 4) * S;
                if !done {
                    continue;
                }
                let event = match (round + id.slot() as u64) % 9 {
                    0 => Event::TaskFailed(id),
                    _ => Event::TaskEnded(id),
                };
                let ended = engine.apply(now, event);
                story += &format!("  {ended:?}\n");
            }
            if round == 25 {
                let third = engine.view().node_ids().nth(2).expect("three nodes");
                let left = engine.apply(now, Event::NodeLeft(third));
                story += &format!("  left: {left:?}\n");
            }
            engine.decide(true, |start| {
                let reason = start.reason.as_deref().map(|reason| &reason.starved_for);
                story += &format!(
                    "  {:?} {:?} task {} on {:?} {reason:?}\n",
                    start.allocation, start.job, start.task, start.node
                );
            });
        }
        // It is measured since a later version, and nothing was held here.
        let later = "held_idle: [0, 0, 0, 0, 0, 0, 0], ";
        for queue in queues {
            let measured = format!("{:?}\n", engine.view().integrals(queue, engine.view().now()));
            story += &without_rests(&measured.replace(later, ""));
        }
        story
    }

    /// Without what is measured by exact shares since a later version.
    pub(super) fn without_rests(story: &str) -> String {
        let mut kept = String::new();
        let mut rest = story;
        let fields = [", entitled: ", ", entitled_rest: (", ", dominant_rest: ("];
        while let Some((at, field)) =
            fields.iter().filter_map(|field| Some((rest.find(field)?, field))).min()
        {
            kept += &rest[..at];
            rest = &rest[at + field.len()..];
            let end = match field.ends_with('(') {
                true => rest.find(')').expect("it ends") + 1,
                false => rest.find(',').expect("another follows"),
            };
            rest = &rest[end..];
        }
        kept + rest
    }

    pub(super) fn engine() -> Engine {
        let mut engine = Engine::new(config(), placement("power-of-two", 2)).expect("sound");
        go_on(&mut engine, 1..40);
        engine
    }
}

/// Version 1, kept for ever: what was written then is read now, and decides as it did, but for what
/// a later version decides otherwise (the guard counts by parts of the root since 0.3, and running
/// tasks are charged by the quantum of now). `MEED_WRITE_STATE=1` writes the decisions anew. At
/// first all values had their names; in the second file, made of the first in the same way, what
/// there are most of stands in rows.
#[test]
fn a_state_of_version_1_is_read_and_decides_as_recorded() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");
    let [named, in_rows] =
        ["state-1.json", "state-1-rows.json"].map(|name| format!("{folder}/{name}"));
    let text_of = |path: &str| std::fs::read_to_string(path).unwrap();
    let read: State = serde_json::from_str(&text_of(&named)).unwrap();
    if std::env::var_os("MEED_WRITE_STATE").is_some() {
        std::fs::write(&in_rows, serde_json::to_string(&read).unwrap() + "\n").unwrap();
    }
    let text = text_of(&in_rows);
    assert_eq!(serde_json::from_str::<State>(&text).unwrap(), read);
    assert_eq!(serde_json::to_string(&read).unwrap(), text.trim_end(), "it is written so now");
    let mut engine = reborn(&read, "power-of-two").unwrap();
    // It did not say who of those that started at one instant was first, and counted by shares of
    // whole units.
    let mut told = engine.state();
    told.running.live.iter_mut().for_each(|(_, running)| running.nth = 0);
    for (now, before) in told.queues.iter_mut().zip(&read.queues) {
        (now.meter.entitled, now.meter.entitled_rest) = (before.meter.entitled, None);
    }
    assert_eq!(told, read);
    let (path, decided) =
        (format!("{folder}/state-1.decisions"), golden::go_on(&mut engine, 40..90));
    if std::env::var_os("MEED_WRITE_STATE").is_some() {
        // Where the rules have changed ([`RULES`]).
        std::fs::write(&path, &decided).unwrap();
    }
    assert_eq!(decided, golden::without_rests(&text_of(&path)));
}

#[test]
fn what_contradicts_itself_is_told_with_its_place() {
    let sound = golden::engine().state();
    let told = |change: &dyn Fn(&mut State)| {
        let mut state = sound.clone();
        change(&mut state);
        let refusal = reborn(&state, "power-of-two").map(|_| ()).unwrap_err();
        refusal.to_string()
    };
    for (change, words) in [
        (&(|s: &mut State| s.version = 2) as &dyn Fn(&mut State), "state of version 2"),
        (&|s| s.queues[3].order = 99, "queues[3].order: there is no such order"),
        (&|s| s.queues[2].name = "q.y".into(), "queues[2].name: `q.y` is no child of `a`"),
        (&|s| s.queues[1].weight = 0, "queues[1].weight"),
        (&|s| s.running.live[0].1.node = 77, "there is no such node"),
        (&|s| s.running.live[0].1.job = 7777, "there is no such job"),
        (&|s| s.jobs.live[0].1.queue = 1, "there is no such leaf"),
        (&|s| s.jobs.live[0].1.arrival = 1 << 40, "it has not arrived yet"),
        (&|s| s.queues[3].meter.usage[0] = -1 << 80, "queues[3].meter.usage"),
        (&|s| s.guard = None, "guard: kept where, and only where"),
        (&|s| s.quanta = None, "quanta: kept where, and only where"),
        (&|s| s.measured = 5, "measured: there is no resource number 5"),
        (&|s| s.running.free.push(0), "running"),
    ] {
        let told = told(change);
        assert!(told.contains(words), "{told:?} does not say {words:?}");
    }
}
