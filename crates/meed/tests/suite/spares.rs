//! Spares in cases worked out by hand: nodes that are drained besides, where nobody knows when a
//! task starts. `common::reserve` has what they are by definition.

use std::num::NonZeroU32;

use crate::common::dice::{Dice, dice};
use crate::common::*;
use crate::reserved::{arrive, decide, reserve, tasks};
use meed::*;
use proptest::prelude::*;

/// Three nodes of two slots, all full of tasks of one slot of which nobody knows when they end, in
/// order of nodes; and a wide task that waits.
struct Full {
    engine: Engine,
    nodes: Vec<NodeId>,
    running: Vec<AllocationId>,
    wide: JobId,
}

impl Full {
    fn new(root: Policy) -> Full {
        let mut config = slots_config(2, &root, &["A", "B"]);
        config.nodes = ["a", "b", "c"].iter().map(|name| node(name, slots(2))).collect();
        let mut engine = engine(&config);
        arrive(&mut engine, 0, "A", tasks(6, 1, None));
        let running = decide(&mut engine).iter().map(|start| start.allocation).collect();
        let wide = arrive(&mut engine, 1, "B", tasks(1, 2, None));
        assert_eq!(decide(&mut engine), []);
        // They take whatever is left to them.
        arrive(&mut engine, 1, "A", tasks(20, 1, None));
        assert_eq!(decide(&mut engine), []);
        let nodes = engine.view().node_ids().collect();
        Full { engine, nodes, running, wide }
    }

    /// A task ends, and this is decided: on which nodes tasks start, the wide one marked.
    fn end(&mut self, at: u64, task: usize) -> Vec<(bool, usize)> {
        let ended = self.running[task];
        self.engine.apply(secs(at), Event::TaskEnded(ended)).expect("it runs");
        self.decide()
    }

    fn decide(&mut self) -> Vec<(bool, usize)> {
        let at = |id: NodeId| self.nodes.iter().position(|node| *node == id).expect("known");
        decide(&mut self.engine).iter().map(|it| (it.job == self.wide, at(it.node))).collect()
    }

    /// The node of the reservation, and its spares.
    fn held(&self) -> Option<(usize, Vec<usize>)> {
        let at = |id: NodeId| self.nodes.iter().position(|node| *node == id).expect("known");
        let held = self.engine.view().reservations().find(|held| held.job == self.wide)?;
        assert_eq!((held.tasks(), held.all().count()), (1, 1 + held.spares.len()));
        Some((at(held.nodes[0].0), held.spares.iter().map(|&node| at(node)).collect()))
    }
}

fn with(spares: u32) -> Policy {
    Policy { spares, ..reserve("fair", Reservations::ONE) }
}

/// What comes free on both nodes is kept, and the task starts on the one that has room first; what
/// was kept on the other is let go in the same decisions.
#[test]
fn whichever_has_room_first_is_taken() {
    for (spares, ends, starts) in [
        (0, vec![0, 2], vec![vec![], vec![(false, 1)]]),
        (1, vec![0, 2, 3], vec![vec![], vec![], vec![(true, 1), (false, 0)]]),
        (1, vec![2, 0, 1], vec![vec![], vec![], vec![(true, 0), (false, 1)]]),
    ] {
        let mut full = Full::new(with(spares));
        let all = (0, (1..=spares as usize).collect::<Vec<_>>());
        assert_eq!(full.held(), Some(all));
        for (at, (task, starts)) in ends.iter().zip(starts).enumerate() {
            assert_eq!(full.end(2 + at as u64, *task), starts, "{spares} spares, {ends:?}");
        }
    }
    let mut full = Full::new(with(2));
    for (at, task) in [0, 2, 4].into_iter().enumerate() {
        assert_eq!(full.end(2 + at as u64, task), []);
    }
    assert_eq!(full.end(5, 5), [(true, 2), (false, 0), (false, 1)]);
    assert_eq!(full.held(), None);
}

/// Where room comes free on a node that is not held, less is missing there: it takes the place of
/// the worst. Of like ones those that are held stay.
#[test]
fn a_node_with_less_missing_takes_the_place_of_the_worst() {
    let mut full = Full::new(with(1));
    assert_eq!(full.held(), Some((0, vec![1])));
    assert_eq!(full.end(2, 4), []);
    assert_eq!(full.held(), Some((2, vec![0])));
    assert_eq!(full.end(3, 0), []);
    // Now the first two lack one slot each, and the third is nobody's.
    assert_eq!(full.end(4, 2), [(false, 1)]);
    assert_eq!(full.held(), Some((2, vec![0])));
}

/// With an instant there are none.
#[test]
fn a_start_that_is_known_needs_no_spares() {
    let mut full = Full::new(with(2));
    full.engine.apply(secs(2), Event::TaskEnded(full.running[0])).expect("it runs");
    full.engine.apply(secs(2), Event::TaskEnded(full.running[1])).expect("it runs");
    assert_eq!(full.decide().first(), Some(&(true, 0)));
    let mut config = slots_config(2, &with(2), &["A", "B"]);
    config.nodes = ["a", "b"].iter().map(|name| node(name, slots(2))).collect();
    let mut engine = engine(&config);
    arrive(&mut engine, 0, "A", tasks(2, 1, None));
    arrive(&mut engine, 0, "A", tasks(2, 1, Some(9)));
    decide(&mut engine);
    arrive(&mut engine, 1, "B", tasks(1, 2, None));
    decide(&mut engine);
    let held = engine.view().reservations().next().expect("it fits nowhere now");
    assert_eq!((held.at, held.spares.len()), (Some(secs(9)), 0));
}

/// A spare that goes is replaced, and what was kept there is free for others; where the
/// reservation's own node goes all are chosen anew.
#[test]
fn a_node_that_goes_is_replaced() {
    let mut full = Full::new(with(1));
    assert_eq!(full.end(2, 2), []);
    assert_eq!(full.held(), Some((1, vec![0])));
    full.engine.apply(secs(3), Event::NodeCordoned(full.nodes[0])).expect("it is there");
    assert_eq!(full.decide(), []);
    assert_eq!(full.held(), Some((1, vec![2])));
    full.engine.apply(secs(4), Event::NodeCordoned(full.nodes[1])).expect("it is there");
    assert_eq!(full.decide(), []);
    assert_eq!(full.held(), Some((2, vec![])));
    full.engine.apply(secs(5), Event::NodeUncordoned(full.nodes[1])).expect("it is there");
    assert_eq!(full.decide(), []);
    assert_eq!(full.held(), Some((1, vec![2])));
    full.engine.apply(secs(6), Event::NodeLeft(full.nodes[2])).expect("it is there");
    full.engine.apply(secs(6), Event::NodeUncordoned(full.nodes[0])).expect("it is there");
    full.decide();
    assert_eq!(full.held(), Some((1, vec![0])));
}

/// All that is held counts as held idle, and is charged where that is asked for.
#[test]
fn spares_are_measured_and_charged() {
    for charge_reservations in [false, true] {
        let order = reserve("long-term", Reservations::ONE);
        let quantum = Quantum::Fixed(Span::ZERO);
        let mut full = Full::new(Policy { spares: 1, quantum, charge_reservations, ..order });
        assert_eq!(full.end(2, 0), []);
        assert_eq!(full.end(4, 2), []);
        assert_eq!(full.end(7, 3), [(true, 1), (false, 0)]);
        full.engine.advance(secs(9)).expect("time goes on");
        let of = |name: &str| full.engine.view().find_queue(name).expect("it is there");
        let idle = full.engine.view().integrals(of("B"), secs(9)).held_idle[0];
        // One slot from 2 on, another from 4 on, up to 7.
        assert_eq!(idle, u128::from((5 + 3) * S) * 1000);
        let paid = if charge_reservations { 8000.0 } else { 0.0 };
        assert_eq!(full.engine.view().charged(of("B"), secs(9)), 4000.0 + paid);
    }
}

/// A start as told on a spare takes the reservation with it.
#[test]
fn a_start_as_told_on_a_spare_ends_the_reservation() {
    let mut full = Full::new(with(1));
    full.engine.apply(secs(2), Event::TaskEnded(full.running[0])).expect("it runs");
    full.engine.apply(secs(2), Event::TaskEnded(full.running[2])).expect("it runs");
    full.engine.apply(secs(2), Event::TaskEnded(full.running[3])).expect("it runs");
    full.engine.start_as_told(full.wide, 0, full.nodes[1]).expect("there is room");
    assert_eq!(full.decide(), [(false, 0)]);
    assert_eq!(full.held(), None);
}

/// What no engine can have written is refused; what was written without spares has none.
#[test]
fn spares_of_a_state_are_checked() {
    let full = Full::new(with(1));
    let state = full.engine.state();
    let restored = |state: &State| {
        Engine::from_state(state, Box::new(place::FirstFit::new(1))).map(|it| it.state())
    };
    assert_eq!(restored(&state).as_ref(), Ok(&state));
    assert_eq!(state.holds.list[0].spares, [1]);
    for spares in [vec![0], vec![1, 2], vec![2, 1], vec![9]] {
        let mut wrong = state.clone();
        wrong.holds.list[0].spares = spares.clone();
        let why = restored(&wrong).expect_err("it is wrong").to_string();
        assert!(why.contains("holds"), "{spares:?}: {why}");
    }
    let mut known = state.clone();
    known.holds.list[0].at = Some(secs(9));
    let why = restored(&known).expect_err("its start is known").to_string();
    assert!(why.contains("holds.list[0].spares"), "{why}");
}

/// Tasks of two kinds come and go on many nodes, of which several reservations hold some.
fn no_node_twice(mut dice: Dice) {
    let most = Reservations::AtMost(NonZeroU32::new(6).expect("not zero"));
    let root = Policy { spares: 1 + dice.below(2) as u32, ..reserve("fair", most) };
    let nodes = (0..24).map(|at| {
        node(&format!("n{at}"), Resources::new(&[8 + dice.below(24), 8 + dice.below(24)]))
    });
    let nodes = nodes.collect();
    let queues = ["A", "B", "C"].map(|name| queue(name, 1000, policy("fair"))).into();
    let mut engine = engine(&Config { kinds: kinds(2), measured: 0, root, queues, nodes });
    let mut running: Vec<AllocationId> = Vec::new();
    for step in 0..400 {
        if running.len() > 40 || dice.below(3) == 0 && !running.is_empty() {
            let ended = running.swap_remove(dice.below(running.len() as u64) as usize);
            engine.apply(secs(step), Event::TaskEnded(ended)).expect("it runs");
        }
        let name = dice.pick(&["A", "B", "C"]);
        let demand = Resources::new(&[1 + dice.below(8), 1 + dice.below(8)]);
        arrive(&mut engine, step, name, TaskGroup::new(1 + dice.below(3) as u32, demand));
        running.extend(decide(&mut engine).iter().map(|start| start.allocation));
        for held in engine.view().reservations() {
            assert_eq!(held.places().len(), held.all().count(), "at {step} s: {held:?}");
        }
    }
}

proptest! {
    #![proptest_config(cases(48))]

    /// However often a node is looked at when one is sought, it is held once for a task.
    #[test]
    fn no_node_is_held_twice_for_a_task(dice in dice(3000)) {
        no_node_twice(dice);
    }
}
