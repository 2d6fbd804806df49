//! Nodes that come and go for ever: rows do not pile up, old handles are nobody's, and what is
//! forgotten changes no decision. Changes of one instant, which are shared out once.

use crate::common::dice::{Dice, dice};
use crate::common::shadow::Ev;
use crate::common::*;
use meed::place::{FirstFit, PLACEMENTS, Placement};
use meed::*;
use proptest::prelude::*;

#[test]
fn rows_of_gone_nodes_do_not_pile_up() {
    let mut config = slots_config(2, &policy("long-term"), &["a", "b"]);
    config.nodes = (0..100).map(|n| node(&format!("n{n}"), slots(2))).collect();
    let mut engine = engine(&config);
    let mut up: std::collections::VecDeque<NodeId> = engine.view().node_ids().collect();
    let a = engine.view().find_queue("a").expect("declared");
    let groups = [TaskGroup::new(150, slots(1))];
    let job = JobSpec { queue: a, weight: 1000, groups: &groups, open: false, max_attempts: 0 };
    engine.apply(secs(0), Event::JobArrived(job)).expect("sound");
    engine.decide(false, drop);
    let first = up[0];
    let mut most = 0;
    for turn in 0..200_000u64 {
        let leaves = up.pop_front().expect("a hundred");
        engine.apply(micros(turn), Event::NodeLeft(leaves)).expect("it is up");
        // Each has a capacity of its own.
        let capacity = Resources::new(&[2000 + turn * 7919 % 1000]);
        let name = format!("n{}", turn % 250 + 100);
        let joined = engine.apply(micros(turn), Event::NodeJoined(node(&name, capacity)));
        let Ok(Effect::Node(joined)) = joined else { panic!("{joined:?}") };
        assert_eq!(joined.index() as u64, 100 + turn, "a number of its own");
        up.push_back(joined);
        most = most.max(engine.view().node_rows());
        if turn % 64 == 0 {
            engine.decide(false, drop);
            assert_eq!(engine.view().running_tasks(), 150);
        }
    }
    assert!(most <= 100 + 1024 + 1, "{most} rows");
    let state = engine.state();
    assert!(state.nodes.len() <= most && state.capacities.len() == 1, "{}", state.nodes.len());
    assert!(engine.view().node_ids().is_sorted());
    assert!(!engine.view().is_up(first) && engine.view().node_row(first).is_none());
    assert_eq!(engine.view().node(first), (&node("", slots(0)), slots(0)), "forgotten");
    let refused = engine.apply(micros(200_000), Event::NodeCordoned(first));
    assert_eq!(refused, Err(Rejected::UnknownNode));
    assert_eq!(
        engine.view().find_node("n100"),
        engine
            .view()
            .node_ids()
            .rev()
            .find(|&id| { engine.view().is_up(id) && engine.view().node(id).0.name == "n100" })
    );
    let again = Engine::from_state(&state, Box::new(FirstFit::new(1))).expect("its own state");
    assert_eq!(again.state(), state);
    assert_eq!(
        again.view().node_ids().collect::<Vec<_>>(),
        engine.view().node_ids().collect::<Vec<_>>()
    );
}

/// A cluster whose nodes seldom stay, and what runs there.
struct Flux {
    queues: Vec<QueueId>,
    nodes: Vec<NodeId>,
    running: Vec<AllocationId>,
}

impl Flux {
    fn event(&self, dice: &mut Dice, number: u64) -> Option<Ev> {
        // One past the end now and then, and nodes that have left.
        let node_id = |dice: &mut Dice| {
            self.nodes.get(dice.below(self.nodes.len() as u64 + 1) as usize).copied()
        };
        Some(match dice.below(12) {
            0..3 => {
                let labels = [("zone".to_owned(), dice.pick(&["a", "b"]).to_owned())].into();
                let name = format!("n{}", number % 9);
                Ev::NodeJoined(NodeSpec { labels, ..node(&name, dice.amounts(2, 9)) })
            }
            3..6 => Ev::NodeLeft(node_id(dice)?),
            6 | 7 => {
                let own = Constraints { distinct_nodes: true, ..Constraints::default() };
                let constraints = (dice.below(3) == 0).then(|| Box::new(own));
                let (demand, count) = (dice.amounts(2, 4), 1 + dice.below(4) as u32);
                let groups = vec![TaskGroup { constraints, ..TaskGroup::new(count, demand) }];
                let queue = dice.pick(&self.queues);
                Ev::Job { queue, weight: 1000, groups, open: false, max_attempts: 0 }
            }
            8 => Ev::Cordoned(node_id(dice)?, dice.below(2) == 0),
            9 => Ev::UsedByOthers(node_id(dice)?, dice.amounts(2, 3)),
            _ => {
                let at = dice.below(self.running.len() as u64 + 1) as usize;
                Ev::Ended(*self.running.get(at)?)
            }
        })
    }
}

proptest! {
    #![proptest_config(cases(1500))]

    /// One engine remembers all nodes that have left, one as few as it can; a third is taken out
    /// of the second's state now and then.
    #[test]
    fn what_is_forgotten_changes_no_decision(mut dice in dice(900)) {
        let orders = "long-term drf per-server-drf long-term-drf tsf sdrf rps-dsf tetris";
        let orders: Vec<&str> = orders.split(' ').collect();
        let order = dice.pick(&orders);
        let mut config = slots_config(2, &policy(order), &["a", "b", "b.c", "b.d"]);
        config.kinds = kinds(2);
        config.nodes = (0..3).map(|n| node(&format!("n{n}"), dice.amounts(2, 9))).collect();
        let preset = PLACEMENTS.iter().collect::<Vec<_>>();
        let preset = dice.pick(&preset);
        let by_server = policy(order).per_server;
        let place = || -> Box<dyn Placement> {
            if by_server { Box::new(FirstFit::new(2)) } else { (preset.new)(2, 7) }
        };
        let new = || Engine::new(config.clone(), place()).expect("sound");
        let mut engines = [new(), new(), new()];
        engines[1].set_remembered_nodes(0);
        engines[2].set_remembered_nodes(0);
        let queue = |name| engines[0].view().find_queue(name).expect("there");
        let queues = ["a", "b.c", "b.d"].map(queue);
        let nodes = engines[0].view().node_ids().collect();
        let mut flux = Flux { queues: queues.to_vec(), nodes, running: Vec::new() };
        for number in 0..150 {
            let now = number / 3 * S;
            if let Some(event) = flux.event(&mut dice, number) {
                let answers = engines.each_mut().map(|engine| event.send(engine, now));
                prop_assert_eq!(&answers[0], &answers[1], "{:?}", event);
                prop_assert_eq!(&answers[0], &answers[2], "{:?}", event);
                if let Ok(Effect::Node(id)) = &answers[0] {
                    flux.nodes.push(*id);
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
                let again = if by_server { place() } else { again };
                engines[2] = Engine::from_state(&state, again).expect("its own state");
                prop_assert_eq!(&engines[2].state(), &state);
                prop_assert_eq!(&engines[1].state(), &state);
            }
        }
        let up = |engine: &Engine| {
            let view = engine.view();
            view.node_ids().filter(|&id| view.is_up(id)).count()
        };
        prop_assert_eq!(up(&engines[0]), up(&engines[1]));
        prop_assert!(engines[1].view().node_rows() <= flux.nodes.len());
    }
}
