//! The table that the comparator in Java is tested by: ledgers, what happened since the tick, and
//! the order of the engine.
//!
//! `yarn/src/test/resources/order-table.txt` holds what this test makes; where they differ it
//! fails, and `MEED_WRITE=1 cargo test -p meed-yarn table` writes it anew.
//!
//! What happened since the tick is told to the engine a microsecond after it, and to Java as what
//! is held now and what has ended: both must come to one order. Of ties Java knows the last
//! services as of the tick, and who has started something since; so where there are ties each queue
//! starts once at most after the tick, in the order of those services.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::manager::*;
use meed_yarn::message::{
    ContainerEvent, ContainerStarted, Pending, PluginRequest, PluginSettings, Queue, Tick,
};
use meed_yarn::{Core, PluginAnswer};

/// Draws numbers: the same for the same words.
fn draw(words: &[u64], below: u64) -> u64 {
    let mix = |sum: u64, &word: &u64| {
        let mixed = (sum ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    };
    words.iter().fold(1, mix) % below
}

/// A container, with what the table must know of it.
#[derive(Clone)]
struct Runs {
    started: ContainerStarted,
    queue: usize,
}

struct Case {
    seed: u64,
    world: World,
    weights: Vec<u64>,
    running: Vec<Runs>,
    next: u64,
}

const POLICIES: &[&[(&str, &str)]] = &[
    &[("quantum", "10s")],
    &[("quantum", "10s"), ("order", "long-term-drf")],
    &[("quantum", "10s"), ("resource", "cpu")],
    &[("quantum", "1000s"), ("round", "1h")],
    &[("quantum", "3h")],
];

impl Case {
    fn new(seed: u64) -> Case {
        let die = |what: u64, below: u64| draw(&[seed, what], below);
        let count = 2 + die(1, 9);
        let weight = |queue: u64| match die(2, 4) {
            // Ties.
            0 => 1000,
            // From the smallest to the largest.
            1 => [1, 1000, 1_000_000_000][draw(&[seed, 3, queue], 3) as usize],
            _ => 1 + draw(&[seed, 4, queue], 100_000),
        };
        let weights: Vec<u64> = (0..count).map(weight).collect();
        let queue = |(number, &weight): (usize, &u64)| Queue {
            name: format!("root.q{number}"),
            weight,
            policy: Vec::new(),
        };
        let keys = POLICIES[die(5, POLICIES.len() as u64) as usize];
        let policy = keys.iter().map(|(key, value)| (key.to_string(), value.to_string()));
        let queues = weights.iter().enumerate().map(queue).collect();
        let settings = PluginSettings { policy: policy.collect(), queues, keep_days: None };
        let (mut world, _) = World::open_as(None, 1, T0, settings);
        world.tick(T0, |tick| tick.nodes = Some(vec![node("n1:1", 1 << 30, 1 << 20)]));
        Case { seed, world, weights, running: Vec::new(), next: 0 }
    }

    /// Whether all containers are alike, so that there are ties.
    fn is_even(&self) -> bool {
        draw(&[self.seed, 11], 3) == 0
    }

    fn start(&mut self, at: u64) -> ContainerEvent {
        let queue = draw(&[self.seed, self.next + 1, 10], self.weights.len() as u64) as usize;
        self.start_in(queue, at)
    }

    fn start_in(&mut self, queue: usize, at: u64) -> ContainerEvent {
        self.next += 1;
        let (seed, n) = (self.seed, self.next);
        let even = self.is_even();
        let memory = if even { 1024 } else { 1 + draw(&[seed, n, 12], 1 << 16) };
        let cores = if even { 1 } else { 1 + draw(&[seed, n, 13], 64) };
        let name = format!("c{n}");
        let ContainerEvent::Start(mut started) =
            start(&name, &format!("app{queue}"), &format!("root.q{queue}"), memory, at)
        else {
            unreachable!("it was made as a start")
        };
        started.cores = cores;
        self.running.push(Runs { started: started.clone(), queue });
        ContainerEvent::Start(started)
    }

    /// One that began before ends: the engine hears of ends a microsecond later than of starts.
    fn end(&mut self, at: u64) -> Option<(ContainerEvent, Runs)> {
        let earlier = |(place, runs): (usize, &Runs)| (runs.started.since < at).then_some(place);
        let places: Vec<usize> = self.running.iter().enumerate().filter_map(earlier).collect();
        if places.is_empty() {
            return None;
        }
        let which = draw(&[self.seed, self.next, 20], places.len() as u64) as usize;
        self.next += 1;
        let runs = self.running.remove(places[which]);
        Some((end(&runs.started.id, at), runs))
    }

    /// So much happened since the last tick.
    fn history(&mut self) {
        let steps = draw(&[self.seed, 30], 40);
        let step_ms = [1000, 7, 30_000][draw(&[self.seed, 31], 3) as usize];
        let mut events = Vec::new();
        for step in 0..steps {
            let at = T0 + 1000 + step * step_ms;
            match draw(&[self.seed, step, 32], 3) {
                0 => events.extend(self.end(at).map(|(event, _)| event)),
                _ => events.push(self.start(at)),
            }
        }
        let now = T0 + 2000 + steps * step_ms + draw(&[self.seed, 33], 20_000);
        let ask = |queue: usize| Pending {
            app: format!("app{queue}"),
            queue: format!("root.q{queue}"),
            asks: vec![(1, 1, 1)],
        };
        let pending: Vec<Pending> = (0..self.weights.len()).map(ask).collect();
        self.world.tick(now, |tick| (tick.events, tick.pending) = (events, pending));
    }
}

fn rows(core: &mut Core, tick: Tick) -> Vec<u8> {
    rows_of(core.answer(&PluginRequest::Tick(tick)))
}

/// The place of each queue in the order of the engine.
fn order(case: &mut Case) -> Vec<usize> {
    let mut places = BTreeMap::new();
    for queue in 0..case.weights.len() {
        let app = format!("app{queue}");
        let Ok(PluginAnswer::Text(text)) = case.world.core.answer(&explain(Some(&app))) else {
            panic!("an application is explained")
        };
        let told: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        places.insert(told["before"].as_array().expect("a list").len(), queue);
    }
    assert_eq!(places.len(), case.weights.len(), "a total order");
    places.into_values().collect()
}

fn case(seed: u64) -> String {
    let mut case = Case::new(seed);
    case.history();
    let last = rows(&mut case.world.core, Tick { whole: true, ..Tick::default() });
    let now = Rows::read(&last, &Rows::default()).now.max(T0);
    let at = T0 + 10_000_000 + now - T0;
    // The tick that Java sees, and what happens a moment after.
    let tick = Tick { now: at, whole: true, ..Tick::default() };
    let bytes = rows(&mut case.world.core, tick);
    let mut text = String::new();
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let _ = writeln!(text, "case {seed} {hex}");
    let mut events = Vec::new();
    if case.is_even() {
        // Of two that tie the engine would see a microsecond more of the one that still runs: there
        // are starts alone.
        let queues = Rows::read(&bytes, &Rows::default()).queues;
        let served = |queue: usize| queues[queue].as_ref().map(|row| row.served);
        let starts = |queue: &usize| draw(&[seed, *queue as u64, 42], 2) == 0;
        let mut some: Vec<usize> = (0..queues.len()).filter(starts).collect();
        some.sort_by_key(|&queue| served(queue));
        events.extend(some.into_iter().map(|queue| case.start_in(queue, at)));
    }
    for n in 0..if case.is_even() { 0 } else { draw(&[seed, 40], 8) } {
        if draw(&[seed, n, 41], 3) > 0 {
            events.push(case.start(at));
        } else if let Some((event, runs)) = case.end(at) {
            let started = &runs.started;
            let _ = writeln!(
                text,
                "end {} {} {} {} {}",
                started.app, started.queue, started.memory, started.cores, started.since
            );
            // Whether it began before the tick or after, its end comes last.
            events.push(event);
        }
    }
    // At one instant ends come first; of those that began now they must come last.
    let (starts, ends): (Vec<ContainerEvent>, Vec<ContainerEvent>) =
        events.into_iter().partition(|event| matches!(event, ContainerEvent::Start(_)));
    rows(&mut case.world.core, Tick { now: at, events: starts, ..Tick::default() });
    rows(&mut case.world.core, Tick { now: at, events: ends, ..Tick::default() });
    for queue in 0..case.weights.len() {
        let mine = case.running.iter().filter(|runs| runs.queue == queue);
        let held = mine.fold((0, 0), |(memory, cores), runs| {
            (memory + runs.started.memory, cores + runs.started.cores)
        });
        let _ = writeln!(text, "queue root.q{queue} {} {}", held.0, held.1);
    }
    let names = order(&mut case).into_iter().map(|queue| format!(" root.q{queue}"));
    let _ = writeln!(text, "order{}", names.collect::<String>());
    text
}

#[test]
fn the_table_is_what_the_engine_says() {
    let text: String = (0..150).map(case).collect();
    let file =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../yarn/src/test/resources/order-table.txt");
    if std::env::var_os("MEED_WRITE").is_some() {
        std::fs::write(file, &text).expect("the table is written");
    }
    let kept = std::fs::read_to_string(file).expect("the table is there");
    assert!(kept == text, "the table differs from what the engine says: see this file's head");
}
