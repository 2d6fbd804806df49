//! Ties: of siblings with equal keys the one served longest ago comes first, so that equal children
//! are served in turns (the theorem and its proof: `order`).

use crate::common::*;
use meed::*;
use proptest::prelude::*;

/// A world in which all leaves always want unit tasks, which begin and end together.
struct Rounds {
    engine: Engine,
    leaves: Vec<QueueId>,
    second: u64,
}

impl Rounds {
    /// `slots` of them below this root; each leaf has `tasks` to start.
    fn new(slots: u64, root: &Policy, names: &[&str], tasks: u32) -> Rounds {
        let engine = engine(&slots_config(slots, root, names));
        let mut rounds = Rounds { engine, leaves: Vec::new(), second: 0 };
        let leaves =
            rounds.engine.view().queue_ids().filter(|&id| rounds.engine.view().queue(id).is_leaf);
        rounds.leaves = leaves.collect();
        for leaf in rounds.leaves.clone() {
            rounds.wants(leaf, tasks);
        }
        rounds
    }

    fn wants(&mut self, queue: QueueId, tasks: u32) {
        let groups = &[TaskGroup::new(tasks, slots(1))];
        let spec = JobSpec { queue, weight: 1000, groups, open: false, max_attempts: 0 };
        self.tell(Event::JobArrived(spec));
    }

    fn tell(&mut self, event: Event<'_>) -> Effect {
        self.engine.apply(secs(self.second), event).expect("a sound event")
    }

    fn decide(&mut self) -> Vec<Start> {
        let mut starts = Vec::new();
        self.engine.decide(false, |start| starts.push(start));
        starts
    }

    /// Decides; a second later all ends. Whose tasks ran, in order of their starts.
    fn round(&mut self) -> Vec<QueueId> {
        let starts = self.decide();
        self.second += 1;
        for start in &starts {
            self.tell(Event::TaskEnded(start.allocation));
        }
        starts.into_iter().map(|start| start.queue).collect()
    }

    fn named(&self, queues: &[QueueId]) -> String {
        let names = queues.iter().map(|&queue| self.engine.view().queue_name(queue));
        names.collect::<Vec<_>>().join(" ")
    }
}

/// By how much the numbers of services of these differ.
fn spread(served: &[QueueId], among: &[QueueId]) -> usize {
    let counts = among.iter().map(|queue| served.iter().filter(|other| *other == queue).count());
    counts.clone().max().unwrap_or(0) - counts.min().unwrap_or(0)
}

const NAMES: [&str; 12] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];

/// Orders under which equal children that start and end together have equal keys again.
fn orders() -> Vec<Policy> {
    let mut guarded = policy("long-term");
    guarded.t_wait = Some(Span::ZERO);
    let names = ["fair", "drf", "tsf", "per-server-drf", "rps-dsf", "long-term", "long-term-drf"];
    names.iter().map(|name| policy(name)).chain([guarded]).collect()
}

proptest! {
    #![proptest_config(cases(400))]

    /// After any number of starts those of two siblings differ by at most one. By declaration, the
    /// first `slots mod children` would have one more each round.
    #[test]
    fn equal_children_are_served_in_turns(
        children in 2usize..13, slots in 1u64..30, rounds in 1usize..25, order in 0usize..8,
    ) {
        let names = &NAMES[..children];
        let mut world = Rounds::new(slots, &orders()[order], names, 30 * 25);
        let mut served = Vec::new();
        for _ in 0..rounds {
            let starts = world.round();
            prop_assert_eq!(starts.len() as u64, slots);
            served.extend(starts);
            for all in 1..=served.len() {
                prop_assert!(
                    spread(&served[..all], &world.leaves) <= 1,
                    "under {} on {} slots: {}",
                    orders()[order].name(), slots, world.named(&served[..all])
                );
            }
        }
    }

    /// The same at each level of a tree: parents take turns, and the children of each. (Under
    /// hierarchical `drf` parents with other numbers of children do not stand alike.)
    #[test]
    fn equal_parents_and_their_children_are_served_in_turns(
        slots in 1u64..20, rounds in 1usize..20, order in 0usize..2,
    ) {
        let order = policy(["fair", "long-term"][order]);
        let names = ["p", "p.a", "p.b", "p.c", "q", "q.d", "q.e", "r"];
        let mut world = Rounds::new(slots, &order, &names, 20 * 20);
        let [p, q] = ["p", "q"].map(|name| world.engine.view().find_queue(name).expect("declared"));
        let mut served = Vec::new();
        for _ in 0..rounds {
            served.extend(world.round());
        }
        let above = |&leaf: &QueueId| match world.engine.view().queue(leaf).parent {
            Some(QueueId::ROOT) | None => leaf,
            Some(parent) => parent,
        };
        let r = world.engine.view().find_queue("r").expect("declared");
        let parents: Vec<QueueId> = served.iter().map(above).collect();
        prop_assert!(spread(&parents, &[p, q, r]) <= 1, "{}", world.named(&parents));
        for parent in [p, q] {
            let children: Vec<QueueId> =
                world.leaves.iter().copied().filter(|leaf| above(leaf) == parent).collect();
            prop_assert!(spread(&served, &children) <= 1, "{}", world.named(&served));
        }
    }
}

/// Those that were never served come first, in order of declaration, whenever they came.
#[test]
fn a_queue_that_comes_later_is_served_first() {
    let mut world = Rounds::new(1, &policy("fair"), &["a", "b"], 9);
    let served = [world.round(), world.round(), world.round()].concat();
    assert_eq!(world.named(&served), "a b a");
    for name in ["c", "d"] {
        let Effect::Queue(id) = world.tell(Event::QueueAdded(queue(name, 1000, policy("fifo"))))
        else {
            panic!("a queue comes")
        };
        world.wants(id, 9);
    }
    let served: Vec<QueueId> = (0..6).flat_map(|_| world.round()).collect();
    assert_eq!(world.named(&served), "c d b a c d");
}

/// A queue that was removed and comes back was served when it was.
#[test]
fn a_queue_that_comes_back_was_served_when_it_was() {
    let mut world = Rounds::new(1, &policy("fair"), &["a", "b", "c"], 1);
    let served: Vec<QueueId> = (0..3).flat_map(|_| world.round()).collect();
    assert_eq!(world.named(&served), "a b c");
    let c = world.leaves[2];
    world.tell(Event::QueueRemoved(c));
    world.tell(Event::QueueAdded(queue("c", 1000, policy("fifo"))));
    for leaf in world.leaves.clone() {
        world.wants(leaf, 1);
    }
    let served: Vec<QueueId> = (0..3).flat_map(|_| world.round()).collect();
    assert_eq!(world.named(&served), "a b c");
}

/// Who cannot start anything does not come first again at each tie.
#[test]
fn an_undone_start_was_a_service() {
    let mut world = Rounds::new(1, &policy("fair"), &["a", "b", "c"], 9);
    let mut served = Vec::new();
    for _ in 0..6 {
        let start = world.decide().pop().expect("somebody starts");
        served.push(start.queue);
        let undone = world.engine.view().queue_name(start.queue) == "a";
        world.second += 1;
        world.tell(match undone {
            true => Event::StartFailed(start.allocation),
            false => Event::TaskEnded(start.allocation),
        });
    }
    assert_eq!(world.named(&served), "a b c a b c");
}

/// A task that is adopted counts when it is told of, however long it has run.
#[test]
fn an_adopted_task_is_a_service() {
    let mut world = Rounds::new(1, &policy("fair"), &["a", "b", "c"], 9);
    world.second = 5;
    let job = world.engine.view().job_ids().next().expect("that of a");
    let node = world.engine.view().node_ids().next().expect("there is one");
    let adopted = world.tell(Event::TaskAdopted { job, task: 3, node, since: secs(1) });
    let Effect::Started(allocation) = adopted else { panic!("it runs") };
    assert_eq!(world.decide().len(), 0);
    world.tell(Event::TaskEnded(allocation));
    let served: Vec<QueueId> = (0..4).flat_map(|_| world.round()).collect();
    assert_eq!(world.named(&served), "b c a b");
}

/// A state of before knows no services: ties go by declaration at first, then in turns.
#[test]
fn a_state_without_services_is_read() {
    let mut world = Rounds::new(1, &policy("fair"), &["a", "b", "c"], 9);
    let served: Vec<QueueId> = (0..4).flat_map(|_| world.round()).collect();
    assert_eq!(world.named(&served), "a b c a");
    let text = serde_json::to_string(&world.engine.state()).expect("plain data");
    let known: State = serde_json::from_str(&text).expect("its own text");
    let served: Vec<u64> = known.queues.iter().map(|queue| queue.served).collect();
    assert_eq!((known.starts, served), (4, vec![0, 4, 2, 3]));
    let fields = (0..5).flat_map(|n| ["starts", "served"].map(|name| format!(",\"{name}\":{n}")));
    let text = fields.fold(text, |text, field| text.replace(&field, ""));
    assert!(!text.contains("served") && !text.contains("starts"), "{text}");
    let old: State = serde_json::from_str(&text).expect("what is missing is not known");
    for (state, order) in [(known, "b c a b"), (old.clone(), "a b c a")] {
        let place = Box::new(place::FirstFit::new(1));
        world.engine = Engine::from_state(&state, place).expect("a sound state");
        let served: Vec<QueueId> = (0..4).flat_map(|_| world.round()).collect();
        assert_eq!(world.named(&served), order);
    }
    let mut wrong = old;
    wrong.queues[2].served = 1;
    let why = Engine::from_state(&wrong, Box::new(place::FirstFit::new(1))).err().expect("wrong");
    assert_eq!(why.to_string(), "state: queues[2].served: more than there were starts");
}
