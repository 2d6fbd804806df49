//! What ticks tell, one after the other, adds up to all rows: random histories under every kind of
//! memory, quantum, newcomer, discount and order, with and without a guard, over trees that change.
//!
//! [`World::tick`] compares; here is what happens between ticks.

use proptest::prelude::*;

use crate::manager::*;
use meed_yarn::message::{ContainerEvent, ContainerStarted, Pending, PluginSettings, Queue, Tick};

const POLICIES: &[&[(&str, &str)]] = &[
    &[],
    &[("quantum", "10s")],
    &[("quantum", "3s"), ("half-life", "40s")],
    &[("half-life", "1h"), ("quantum-interval", "5s")],
    &[("round", "30s"), ("quantum", "10s")],
    &[("round", "1min"), ("order", "long-term-drf")],
    &[("order", "long-term-drf"), ("half-life", "20s"), ("t-wait", "5s")],
    &[("t-wait", "0s"), ("quantum", "2s")],
    &[("t-wait", "20s"), ("half-life", "10s")],
    &[("discount", "0.5"), ("quantum", "10s")],
    &[("newcomer", "early-bird"), ("round", "2min")],
    &[("newcomer", "average"), ("order", "long-term-drf"), ("quantum", "1s")],
    &[("prices", "{memory=1,cpu=0.25}")],
];

/// Below `root`; the last ones come and go.
const QUEUES: [&str; 7] =
    ["root.a", "root.b", "root.b.c", "root.b.d", "root.e", "root.f", "root.g"];
const LEAVES: [&str; 6] = ["root.a", "root.b.c", "root.b.d", "root.e", "root.f", "root.g"];

#[derive(Clone, Debug)]
enum Happens {
    /// A container of an application starts, so many milliseconds after the last tick.
    Start {
        app: usize,
        memory: u64,
        cores: u64,
        at: u64,
    },
    /// The container that has run longest, or another, ends.
    End {
        which: usize,
        at: u64,
    },
    Asks {
        app: usize,
        count: u32,
    },
    Gone {
        app: usize,
    },
    Weight {
        queue: usize,
        weight: u64,
    },
    /// Whether the last queues are there.
    Queues {
        more: bool,
    },
    Nodes {
        count: u64,
    },
    /// A tick, so long after the last.
    Tick {
        after: u64,
    },
}

fn happens() -> impl Strategy<Value = Happens> {
    let at = 0..1000u64;
    prop_oneof![
        4 => (0..12usize, 1..4096u64, 0..4u64, at.clone())
            .prop_map(|(app, memory, cores, at)| Happens::Start { app, memory, cores, at }),
        3 => (0..20usize, at).prop_map(|(which, at)| Happens::End { which, at }),
        2 => (0..12usize, 0..4u32).prop_map(|(app, count)| Happens::Asks { app, count }),
        1 => (0..12usize).prop_map(|app| Happens::Gone { app }),
        1 => (0..QUEUES.len(), 1..5000u64)
            .prop_map(|(queue, weight)| Happens::Weight { queue, weight }),
        1 => any::<bool>().prop_map(|more| Happens::Queues { more }),
        1 => (1..4u64).prop_map(|count| Happens::Nodes { count }),
        8 => prop_oneof![Just(1000), 1..100u64, 5000..40_000u64, Just(400_000)]
            .prop_map(|after| Happens::Tick { after }),
    ]
}

/// What is to be told with the next tick.
struct Manager {
    world: World,
    now: u64,
    settings: PluginSettings,
    next: Tick,
    running: Vec<String>,
    started: usize,
}

impl Manager {
    fn new(policy: &[(&str, &str)]) -> Manager {
        let given = settings(policy, &QUEUES);
        let (mut world, _) = World::open_as(None, 1, T0, given.clone());
        world.tick(T0, |tick| tick.nodes = Some(nodes(2)));
        let (running, next) = (Vec::new(), Tick::default());
        Manager { world, now: T0, settings: given, next, running, started: 0 }
    }

    fn has(&self, leaf: &str) -> bool {
        self.settings.queues.iter().any(|queue| queue.name == leaf)
    }

    fn happens(&mut self, what: &Happens) {
        match *what {
            Happens::Start { app, memory, cores, at } => {
                let leaf = LEAVES[app % LEAVES.len()];
                if !self.has(leaf) {
                    return;
                }
                self.started += 1;
                let id = format!("c{}", self.started);
                self.running.push(id.clone());
                self.next.events.push(ContainerEvent::Start(ContainerStarted {
                    id,
                    app: format!("app{app}"),
                    queue: leaf.to_owned(),
                    node: "n0:1".to_owned(),
                    memory,
                    cores,
                    since: self.now + at,
                }));
            }
            Happens::End { which, at } if which < self.running.len() => {
                let id = self.running.remove(which);
                self.next.events.push(end(&id, self.now + at));
            }
            Happens::Asks { app, count } if self.has(LEAVES[app % LEAVES.len()]) => {
                self.next.pending.push(Pending {
                    app: format!("app{app}"),
                    queue: LEAVES[app % LEAVES.len()].to_owned(),
                    asks: vec![(1024, 1, count)],
                });
            }
            Happens::Gone { app } => self.next.gone.push(format!("app{app}")),
            Happens::Weight { queue, weight } if queue < self.settings.queues.len() => {
                self.settings.queues[queue].weight = weight;
                self.next.settings = Some(self.settings.clone());
            }
            Happens::Queues { more } => {
                self.settings.queues.truncate(5);
                if more {
                    let names = &QUEUES[5..];
                    let queue = |name: &&str| Queue {
                        name: name.to_string(),
                        weight: 1000,
                        policy: Vec::new(),
                    };
                    self.settings.queues.extend(names.iter().map(queue));
                }
                self.next.settings = Some(self.settings.clone());
            }
            Happens::Nodes { count } => self.next.nodes = Some(nodes(count)),
            Happens::Tick { after } => self.tick(after),
            Happens::End { .. } | Happens::Asks { .. } | Happens::Weight { .. } => {}
        }
    }

    fn tick(&mut self, after: u64) {
        // Events of the second that has passed come before the tick.
        self.now += after.max(1000);
        let next = std::mem::take(&mut self.next);
        let now = self.now;
        let rows = self.world.tick(now, |tick| *tick = Tick { now, ..next });
        assert_eq!(rows.queues.len(), self.settings.queues.len());
    }
}

fn nodes(count: u64) -> Vec<meed_yarn::message::Node> {
    (0..count).map(|n| node(&format!("n{n}:1"), 1 << 20, 1 << 10)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn what_ticks_tell_adds_up_to_all_rows(
        policy in 0..POLICIES.len(),
        story in proptest::collection::vec(happens(), 1..60),
    ) {
        let mut manager = Manager::new(POLICIES[policy]);
        story.iter().for_each(|what| manager.happens(what));
        manager.tick(1000);
        manager.tick(1000);
    }
}

/// A hundred queues, of which one works: its row is told, and no other's.
#[test]
fn rows_of_idle_queues_are_not_told_again() {
    for policy in [&[("quantum", "10s")][..], &[("half-life", "1h"), ("quantum", "10s")]] {
        let names: Vec<String> = (0..100).map(|n| format!("root.q{n}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let (mut world, _) = World::open_as(None, 1, T0, settings(policy, &names));
        let rows = world.tick(T0, |tick| tick.nodes = Some(nodes(1)));
        assert_eq!((rows.whole, rows.told), (true, 100));
        let rows = world.tick(T0 + 2000, |tick| {
            tick.events = vec![ContainerEvent::Start(ContainerStarted {
                id: "c".to_owned(),
                app: "app".to_owned(),
                queue: "root.q7".to_owned(),
                node: "n0:1".to_owned(),
                memory: 1024,
                cores: 1,
                since: T0 + 1000,
            })];
        });
        assert_eq!((rows.whole, rows.told), (false, 2), "the queue and its application");
        let rows = world.tick(T0 + 5000, |_| {});
        assert_eq!(rows.told, 0, "it runs on its line");
        let before = rows.queues[7].clone().expect("it has a row");
        let rows = world.tick(T0 + 12_000, |_| {});
        assert_eq!(rows.told, 2, "it has outrun its quantum");
        let after = rows.queues[7].clone().expect("it has a row");
        assert!(before.rates == [0, 0] && after.rates[0] > 0 && after.amounts > before.amounts);
        let rows = world.tick(T0 + 20_000, |_| {});
        assert_eq!(rows.told, 0, "and goes on");
        assert!(rows.queues[7].clone().expect("it has a row").amounts > after.amounts);
        let rows = world.tick(T0 + 21_000, |tick| {
            tick.events = vec![end("c", T0 + 20_500)];
            tick.gone = vec!["app".to_owned()];
        });
        assert_eq!((rows.told, rows.apps.len()), (1, 0));
        assert_eq!(world.tick(T0 + 22_000, |_| {}).told, 0, "nothing runs");
    }
}
