//! Gangs by hand; random ones beside the twin are in `twin.rs`, `chaos.rs` and `state.rs`.

use crate::common::shadow::{Ev, Shadow};
use crate::common::*;
use meed::*;

fn gang(count: u32, each: u64, least: u32) -> TaskGroup {
    let gang = Some(Box::new(Gang::of(least)));
    TaskGroup { gang, ..TaskGroup::new(count, slots(each)) }
}

fn job(queue: QueueId, groups: Vec<TaskGroup>) -> Ev {
    Ev::Job { queue, weight: 1000, groups, open: false, max_attempts: 0 }
}

fn labelled(name: &str, size: u64, rack: &str) -> NodeSpec {
    let mut spec = node(name, slots(size));
    if !rack.is_empty() {
        spec.labels.insert("rack".to_owned(), rack.to_owned());
    }
    spec
}

/// Queues `a` and `b`, fair, and these nodes.
fn shadow(nodes: Vec<NodeSpec>) -> (Shadow, QueueId, QueueId) {
    shadow_under(&policy("fair"), nodes)
}

fn shadow_under(policy: &Policy, nodes: Vec<NodeSpec>) -> (Shadow, QueueId, QueueId) {
    let config = Config { nodes, ..slots_config(1, policy, &["a", "b"]) };
    let shadow = Shadow::new(&config);
    let find = |name: &str| shadow.engine.view().find_queue(name).expect("it is declared");
    let (a, b) = (find("a"), find("b"));
    (shadow, a, b)
}

/// Numbers of the nodes on which tasks start, in order.
fn nodes_of(starts: &[Start]) -> Vec<usize> {
    starts.iter().map(|start| start.node.index()).collect()
}

fn together(starts: &[Start]) -> Vec<Option<u32>> {
    starts.iter().map(|start| start.reason.as_ref().expect("asked for").gang).collect()
}

#[test]
fn all_start_at_one_instant_or_none() {
    let (mut shadow, a, b) = shadow(vec![node("n0", slots(2)), node("n1", slots(2))]);
    shadow.apply(0, &job(a, vec![TaskGroup::new(1, slots(1))])).unwrap();
    let first = shadow.decide(0);
    // Three are free; four would be needed.
    shadow.apply(0, &job(b, vec![gang(4, 1, 4)])).unwrap();
    assert!(shadow.decide(0).is_empty());
    shadow.apply(S, &Ev::Ended(first[0].allocation)).unwrap();
    let starts = shadow.decide(S);
    assert_eq!(nodes_of(&starts), [0, 0, 1, 1]);
    assert_eq!(together(&starts), [Some(4); 4]);
}

#[test]
fn two_gangs_never_hold_parts_of_what_both_need() {
    let (mut shadow, a, b) = shadow(vec![node("n0", slots(3)), node("n1", slots(3))]);
    for queue in [a, b] {
        shadow.apply(0, &job(queue, vec![gang(4, 1, 4)])).unwrap();
    }
    let starts = shadow.decide(0);
    let queues: Vec<QueueId> = starts.iter().map(|start| start.queue).collect();
    assert_eq!(queues, [a; 4]);
    for start in &starts {
        shadow.apply(S, &Ev::Ended(start.allocation)).unwrap();
    }
    assert_eq!(shadow.decide(S).len(), 4);
}

#[test]
fn beyond_the_least_number_each_starts_as_it_fits() {
    let (mut shadow, a, _) = shadow(vec![node("n0", slots(3))]);
    shadow.apply(0, &job(a, vec![gang(5, 1, 2)])).unwrap();
    let starts = shadow.decide(0);
    assert_eq!(together(&starts), [Some(2), Some(2), None]);
}

#[test]
fn who_is_lost_comes_back_together_unless_enough_go_on() {
    let (mut shadow, a, b) = shadow(vec![node("n0", slots(2)), node("n1", slots(2))]);
    shadow.apply(0, &job(a, vec![gang(4, 1, 3)])).unwrap();
    let starts = shadow.decide(0);
    assert_eq!(nodes_of(&starts), [0, 0, 1, 1]);
    let left = starts[0].node;
    shadow.apply(S, &Ev::NodeLeft(left)).unwrap();
    // Two of three go on: one is enough to be three again, and it is no turn of several.
    shadow.apply(S, &Ev::NodeJoined(node("n2", slots(1)))).unwrap();
    assert_eq!(together(&shadow.decide(S)), [None]);
    // All are lost: three start together, and somebody else's single task does not hinder.
    let running: Vec<AllocationId> = shadow.model.running().map(|task| task.allocation).collect();
    for task in running {
        shadow.apply(2 * S, &Ev::TaskLost(task)).unwrap();
    }
    shadow.apply(2 * S, &job(b, vec![TaskGroup::new(1, slots(1))])).unwrap();
    let starts = shadow.decide(2 * S);
    let ours: Vec<&Start> = starts.iter().filter(|start| start.queue == a).collect();
    assert!(ours.is_empty() || ours.len() == 3, "{starts:?}");
}

#[test]
fn one_value_of_a_label_and_the_tightest() {
    let racks = vec![
        labelled("n0", 4, "x"),
        labelled("n1", 2, "y"),
        labelled("n2", 1, "y"),
        labelled("n3", 9, ""),
        labelled("n4", 2, "z"),
    ];
    let (mut shadow, a, _) = shadow(racks);
    let mut near = gang(3, 1, 3);
    near.gang = Some(Box::new(Gang::of(3).within("rack")));
    shadow.apply(0, &job(a, vec![near.clone()])).unwrap();
    // y has room for three, x for four.
    assert_eq!(nodes_of(&shadow.decide(0)), [1, 1, 2]);
    shadow.apply(0, &job(a, vec![near])).unwrap();
    assert_eq!(nodes_of(&shadow.decide(0)), [0, 0, 0]);
    // Only the first two are a gang; the third stays near them though it would fit elsewhere.
    let mut some = gang(3, 1, 2);
    some.gang = Some(Box::new(Gang::of(2).within("rack")));
    shadow.apply(0, &job(a, vec![some])).unwrap();
    assert_eq!(nodes_of(&shadow.decide(0)), [4, 4]);
}

#[test]
fn a_gang_keeps_below_the_maximum_share_as_a_whole() {
    let (mut shadow, a, _) = shadow(vec![node("n0", slots(9))]);
    let max = QueueChange { max: Some(Some(slots(4))), ..QueueChange::default() };
    shadow.apply(0, &Ev::QueueChanged(a, max)).unwrap();
    shadow.apply(0, &job(a, vec![TaskGroup::new(2, slots(1)), gang(3, 1, 3)])).unwrap();
    let starts = shadow.decide(0);
    assert_eq!(starts.len(), 2);
    shadow.apply(S, &Ev::Ended(starts[0].allocation)).unwrap();
    assert_eq!(together(&shadow.decide(S)), [Some(3); 3]);
}

#[test]
fn what_can_never_start_is_refused_with_a_reason() {
    let (mut shadow, a, _) = shadow(vec![labelled("n0", 2, "x"), labelled("n1", 2, "y")]);
    let max = QueueChange { max: Some(Some(slots(3))), ..QueueChange::default() };
    let near = |tasks: u32, label: &str| TaskGroup {
        gang: Some(Box::new(Gang::of(tasks).within(label))),
        ..TaskGroup::new(tasks, slots(1))
    };
    let mut refused = |group: TaskGroup| shadow.apply(0, &job(a, vec![group])).unwrap_err();
    let words = |why: Rejected| why.to_string();
    assert_eq!(
        words(refused(gang(2, 1, 3))),
        "a gang of at least 3 tasks, in a group of 2; from 1 to all are right"
    );
    assert!(words(refused(gang(2, 1, 0))).contains("at least 0 tasks"));
    assert_eq!(
        words(refused(gang(5, 1, 5))),
        "a gang of 5 tasks of kind0 1 each: the cluster could hold 4 of them at once when empty"
    );
    assert_eq!(
        words(refused(near(3, "rack"))),
        "a gang of 3 tasks of kind0 1 each, all on nodes with the same `rack`: the cluster could \
         hold 2 of them at once when empty"
    );
    assert_eq!(
        words(refused(near(2, "island"))),
        "a gang on nodes with the same `island`: no node has a label of that name"
    );
    shadow.apply(0, &Ev::QueueChanged(a, max)).unwrap();
    assert_eq!(
        words(shadow.apply(0, &job(a, vec![gang(4, 1, 4)])).unwrap_err()),
        "a gang asks for kind0 4 at once, more than the maximum share of queue `a` (kind0 3)"
    );
    shadow.apply(0, &job(a, vec![gang(3, 1, 3)])).unwrap();
    assert_eq!(shadow.decide(0).len(), 3);
}

#[test]
fn no_event_comes_between_the_starts_of_a_gang() {
    let config = slots_config(3, &policy("fair"), &["a"]);
    let mut engine = engine(&config);
    let a = engine.view().find_queue("a").unwrap();
    job(a, vec![gang(3, 1, 3)]).send(&mut engine, 0).unwrap();
    let first = engine.next_start(false).unwrap();
    let ended = Ev::Ended(first.allocation);
    assert_eq!(ended.send(&mut engine, S), Err(Rejected::UntoldStarts));
    assert_eq!(std::iter::from_fn(|| engine.next_start(false)).count(), 2);
    ended.send(&mut engine, S).unwrap();
}

fn reserve(reservations: Reservations) -> Policy {
    Policy { blocked: Blocked::Reserve(reservations), ..policy("fair") }
}

fn limited(group: TaskGroup, seconds: u64) -> TaskGroup {
    TaskGroup { limit: Some(span(seconds * S)), ..group }
}

/// From when on room is held, in seconds, and for how many tasks on which nodes.
type Held = (Option<u64>, Vec<(usize, u32)>);

fn held(shadow: &Shadow) -> Vec<Held> {
    let row = |hold: ReservationView| {
        let on = hold.nodes.iter().map(|&(node, tasks)| (node.index(), tasks)).collect();
        (hold.at.map(|at| at.as_micros() / S), on)
    };
    shadow.engine.view().reservations().map(row).collect()
}

/// Three nodes of four slots are full until 10, 20 and 30: six tasks of two slots have room on the
/// first two at 20, with one node to spare in between and the third left to others.
#[test]
fn a_gang_gets_a_reservation_on_several_nodes_and_others_backfill() {
    let nodes = (0..3).map(|number| node(&format!("n{number}"), slots(4))).collect();
    let (mut shadow, a, b) = shadow_under(&reserve(Reservations::ONE), nodes);
    for seconds in [10, 20, 30] {
        shadow.apply(0, &job(a, vec![limited(TaskGroup::new(1, slots(4)), seconds)])).unwrap();
    }
    let full = shadow.decide(0);
    shadow.apply(S, &job(b, vec![limited(gang(4, 2, 4), 100)])).unwrap();
    assert!(shadow.decide(S).is_empty());
    assert_eq!(held(&shadow), [(Some(20), vec![(0, 2), (1, 2)])]);
    // Until 20 the first node may be used, by who ends in time.
    for seconds in [11, 10] {
        shadow.apply(2 * S, &job(a, vec![limited(TaskGroup::new(1, slots(4)), seconds)])).unwrap();
    }
    shadow.decide(2 * S);
    shadow.apply(10 * S, &Ev::Ended(full[0].allocation)).unwrap();
    let starts = shadow.decide(10 * S);
    assert_eq!((starts.len(), nodes_of(&starts)), (1, vec![0]));
    shadow.apply(20 * S, &Ev::Ended(full[1].allocation)).unwrap();
    shadow.apply(20 * S, &Ev::Ended(starts[0].allocation)).unwrap();
    let starts = shadow.decide(20 * S);
    assert_eq!(nodes_of(&starts), [0, 0, 1, 1]);
    assert_eq!(together(&starts), [Some(4); 4]);
    let waited = |start: &Start| start.reason.as_ref().and_then(|reason| reason.reserved_for);
    assert_eq!(starts.iter().map(waited).collect::<Vec<_>>(), [Some(span(19 * S)); 4]);
}

/// Where nobody knows when tasks end, as many nodes are drained as the gang needs, and no more;
/// with a label, of one value.
#[test]
fn nodes_are_drained_for_a_gang() {
    let racks = ["r", "s", "r", "s"].into_iter().enumerate();
    let nodes = racks.map(|(number, rack)| labelled(&format!("n{number}"), 2, rack)).collect();
    let (mut shadow, a, b) = shadow_under(&reserve(Reservations::ONE), nodes);
    shadow.apply(0, &job(a, vec![TaskGroup::new(8, slots(1))])).unwrap();
    let full = shadow.decide(0);
    shadow.apply(S, &job(a, vec![TaskGroup::new(100, slots(1))])).unwrap();
    let mut group = gang(3, 1, 3);
    group.gang = Some(Box::new(Gang::of(3).within("rack")));
    shadow.apply(S, &job(b, vec![group])).unwrap();
    shadow.decide(S);
    assert_eq!(held(&shadow), [(None, vec![(0, 2), (2, 1)])]);
    // What ends on a drained node is kept; in the other rack others get it.
    shadow.apply(2 * S, &Ev::Ended(full[0].allocation)).unwrap();
    assert!(shadow.decide(2 * S).is_empty());
    shadow.apply(3 * S, &Ev::Ended(full[2].allocation)).unwrap();
    assert_eq!(nodes_of(&shadow.decide(3 * S)), [1]);
    shadow.apply(4 * S, &Ev::Ended(full[4].allocation)).unwrap();
    assert!(shadow.decide(4 * S).is_empty());
    shadow.apply(5 * S, &Ev::Ended(full[1].allocation)).unwrap();
    assert_eq!(nodes_of(&shadow.decide(5 * S)), [0, 0, 2]);
}

/// Between two decisions nodes on which room is held for a gang leave, and are forgotten: what is
/// left of the reservation is a sound state, and the next decision finds other nodes.
#[test]
fn a_reservation_outlives_nodes_that_are_forgotten() {
    let nodes = (0..3).map(|number| node(&format!("n{number}"), slots(2))).collect();
    let (shadow, a, b) = shadow_under(&reserve(Reservations::ONE), nodes);
    let mut engine = shadow.engine;
    let apply = |engine: &mut Engine, at: u64, event: &Ev| event.send(engine, at).unwrap();
    apply(&mut engine, 0, &job(a, vec![TaskGroup::new(6, slots(1))]));
    engine.decide(false, drop);
    apply(&mut engine, S, &job(b, vec![gang(4, 1, 4)]));
    engine.decide(false, drop);
    let held =
        |engine: &Engine| engine.view().reservations().map(|hold| hold.nodes).collect::<Vec<_>>();
    let before = held(&engine);
    assert_eq!((before.len(), before[0].len()), (1, 3));
    for &(held, _) in &before[0][..2] {
        apply(&mut engine, S, &Ev::NodeLeft(held));
    }
    for number in 0..3000 {
        let joins = Ev::NodeJoined(node(&format!("m{number}"), slots(2)));
        let Effect::Node(joined) = apply(&mut engine, S, &joins) else { panic!("it joins") };
        apply(&mut engine, S, &Ev::NodeLeft(joined));
    }
    assert!(engine.view().node_row(before[0][0].0).is_none(), "forgotten");
    let state = engine.state();
    let place = Box::new(place::FirstFit::new(1));
    let mut again = Engine::from_state(&state, place).expect("its own state");
    assert_eq!(again.state(), state);
    for engine in [&mut engine, &mut again] {
        apply(engine, 2 * S, &Ev::NodeJoined(node("new", slots(2))));
        engine.decide(false, drop);
        let after = held(engine);
        let tasks = |nodes: &Vec<(NodeId, u32)>| nodes.iter().map(|(_, tasks)| tasks).sum();
        assert_eq!(after.iter().map(tasks).collect::<Vec<u32>>(), [4]);
        assert_eq!(after[0].len(), 2, "on the one that stayed and the new one");
    }
}

/// A gang of several groups: so many tasks of so many slots each.
fn joint(groups: &[(u32, u64)]) -> Vec<TaskGroup> {
    let part = |&(count, each): &(u32, u64)| TaskGroup {
        gang: Some(Box::new(Gang::part(count))),
        ..TaskGroup::new(count, slots(each))
    };
    groups.iter().map(part).collect()
}

#[test]
fn a_master_starts_with_its_workers_or_not_at_all() {
    let (mut shadow, a, b) = shadow(vec![node("n0", slots(5)), node("n1", slots(4))]);
    shadow.apply(0, &job(b, vec![TaskGroup::new(1, slots(1))])).unwrap();
    let first = shadow.decide(0);
    // Two workers of four fill both nodes: a master besides them needs the fifth slot of one.
    shadow.apply(0, &job(a, joint(&[(1, 1), (2, 4)]))).unwrap();
    assert!(shadow.decide(0).is_empty());
    shadow.apply(S, &Ev::Ended(first[0].allocation)).unwrap();
    let starts = shadow.decide(S);
    assert_eq!((nodes_of(&starts), together(&starts)), (vec![0, 0, 1], vec![Some(3); 3]));
    // What is lost comes back together: of both groups.
    shadow.apply(2 * S, &Ev::NodeLeft(starts[0].node)).unwrap();
    shadow.apply(2 * S, &Ev::NodeJoined(node("n2", slots(4)))).unwrap();
    assert!(shadow.decide(2 * S).is_empty());
    shadow.apply(3 * S, &Ev::NodeJoined(node("n3", slots(1)))).unwrap();
    assert_eq!(together(&shadow.decide(3 * S)), [Some(2); 2]);
}

/// Who goes from the largest task and the largest node down would put the five on the node of six.
#[test]
fn whether_unlike_tasks_fit_is_told_exactly() {
    let (mut shadow, a, _) = shadow(vec![node("n0", slots(6)), node("n1", slots(5))]);
    shadow.apply(0, &job(a, joint(&[(1, 5), (2, 3)]))).unwrap();
    assert_eq!(nodes_of(&shadow.decide(0)), [1, 0, 0]);
}

#[test]
fn it_is_told_which_group_lacks_room() {
    let nodes = vec![labelled("n0", 4, "y"), labelled("n1", 3, "y"), labelled("n2", 4, "x")];
    let (mut shadow, a, b) = shadow(nodes);
    shadow.apply(0, &job(a, vec![TaskGroup::new(1, slots(3))])).unwrap();
    assert_eq!(nodes_of(&shadow.decide(0)), [0]);
    // One slot is free on the first, three and four on the others.
    let mut told = |parts: &[(u32, u64)], same: Option<&str>| {
        let mut groups = joint(parts);
        for gang in groups.iter_mut().filter_map(|group| group.gang.as_mut()) {
            gang.same = same.map(str::to_owned);
        }
        let taken = shadow.apply(0, &job(b, groups));
        let Ok(Effect::Job(id)) = taken else { panic!("{taken:?}") };
        assert!(shadow.decide(0).is_empty());
        let view = shadow.engine.view().groups_in_order(b).into_iter().next().expect("it waits");
        let all: u64 = parts.iter().map(|(count, each)| u64::from(*count) * each).sum();
        assert_eq!((view.whole, view.joint), (slots(all), true));
        let fit = shadow.engine.view().gang_fit(&view).expect("of several");
        shadow.apply(0, &Ev::Cancelled(id)).unwrap();
        let of = |it: &GangPart| (it.alone, it.beside, it.nodes);
        (fit.at_once, fit.groups.iter().map(of).collect::<Vec<_>>(), fit.on.map(|on| on.1))
    };
    let both = told(&[(1, 4), (2, 3)], None);
    assert_eq!(both, (2, vec![(1, Some(0), 3), (2, Some(1), 3)], None), "each by itself");
    let one = told(&[(2, 4), (1, 3)], None);
    assert_eq!(one, (2, vec![(1, Some(1), 3), (1, None, 3)], None), "the first does not fit");
    let racked = told(&[(1, 3), (1, 4)], Some("rack"));
    let on = Some("x".to_owned());
    assert_eq!(racked, (1, vec![(1, Some(0), 1), (1, Some(0), 1)], on), "of x each could be");
}

#[test]
fn a_reservation_is_held_for_all_groups_together() {
    let nodes = vec![node("n0", slots(4)), node("n1", slots(4))];
    let (mut shadow, a, b) = shadow_under(&reserve(Reservations::ONE), nodes);
    for seconds in [10, 20] {
        shadow.apply(0, &job(a, vec![limited(TaskGroup::new(1, slots(4)), seconds)])).unwrap();
    }
    let full = shadow.decide(0);
    let groups = joint(&[(1, 1), (2, 3)]).into_iter().map(|group| limited(group, 50)).collect();
    shadow.apply(S, &job(b, groups)).unwrap();
    assert!(shadow.decide(S).is_empty());
    let view = shadow.engine.view().reservations().next().expect("one");
    assert_eq!((view.at, view.tasks()), (Some(secs(20)), 3));
    assert_eq!(view.others.len(), 1);
    for (second, start) in [10, 20].into_iter().zip(&full) {
        shadow.apply(second * S, &Ev::Ended(start.allocation)).unwrap();
        let starts = shadow.decide(second * S);
        assert_eq!(starts.len(), if second == 10 { 0 } else { 3 });
    }
}

#[test]
fn groups_that_can_never_start_together_are_refused_with_a_reason() {
    let (mut shadow, a, _) = shadow(vec![labelled("n0", 4, "x"), labelled("n1", 4, "y")]);
    let mut refused =
        |groups: Vec<TaskGroup>| shadow.apply(0, &job(a, groups)).unwrap_err().to_string();
    assert_eq!(
        refused(joint(&[(1, 2), (3, 2), (1, 1)])),
        "a gang of 1 of kind0 2; 3 of kind0 2; 1 of kind0 1: the cluster could not hold them all \
         at once when empty"
    );
    let mut mixed = joint(&[(1, 1), (1, 1)]);
    mixed[1].gang = None;
    assert!(refused(mixed).contains("a group that comes with it is of no gang"));
    let mut near = joint(&[(1, 1), (1, 1)]);
    near[1].gang = Some(Box::new(Gang::part(1).within("rack")));
    assert!(refused(near).contains("kept together by one label"));
    assert!(refused(joint(&[(1100, 1), (1100, 1)])).contains("more than 64 ways"));
    let max = QueueChange { max: Some(Some(slots(3))), ..QueueChange::default() };
    shadow.apply(0, &Ev::QueueChanged(a, max)).unwrap();
    let above = shadow.apply(0, &job(a, joint(&[(1, 2), (2, 1)]))).unwrap_err();
    assert!(above.to_string().contains("more than the maximum share of queue `a`"), "{above}");
}
