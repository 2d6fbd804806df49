//! Reclaim in cases worked out by hand; random ones beside the twin are in `twin.rs`, `chaos.rs`
//! and `state.rs`.

use crate::common::shadow::{Ev, Shadow};
use crate::common::*;
use meed::*;

fn seconds(seconds: u64) -> Span {
    span(seconds * S)
}

/// After ten seconds, at once, with a guard of twenty.
const fn rules() -> [u64; 4] {
    [10, 0, 20, 2]
}

fn under(name: &str, [after, min_runtime, guard, grace]: [u64; 4]) -> Policy {
    let [after, min_runtime, guard, grace] = [after, min_runtime, guard, grace].map(seconds);
    let reclaim = Some(Reclaim { after, min_runtime, guard, grace });
    Policy { blocked: Blocked::Reserve(Reservations::ONE), reclaim, ..policy(name) }
}

fn job(queue: QueueId, group: TaskGroup) -> Ev {
    Ev::Job { queue, weight: 1000, groups: vec![group], open: false, max_attempts: 1 }
}

fn config(policy: &Policy) -> Config {
    slots_config(4, policy, &["a", "b"])
}

/// From 0 on `a` holds all four slots by these groups; at 100 s `b` wants `wide` of them.
fn lent(config: &Config, groups: Vec<TaskGroup>, wide: u64) -> Shadow {
    let mut shadow = Shadow::new(config);
    let find =
        |shadow: &Shadow, name: &str| shadow.engine.view().find_queue(name).expect("declared");
    let (a, b) = (find(&shadow, "a"), find(&shadow, "b"));
    for group in groups {
        shadow.apply(0, &job(a, group)).expect("sound");
        shadow.decide(0);
    }
    shadow.apply(100 * S, &job(b, TaskGroup::new(1, slots(wide)))).expect("sound");
    assert!(shadow.decide(100 * S).is_empty());
    shadow
}

/// The numbers of the tasks of `a` that are told to stop at that second.
fn told_at(shadow: &mut Shadow, second: u64) -> Vec<u32> {
    shadow.told_to_stop.clear();
    shadow.decide(second * S);
    let number = |task: &AllocationId| shadow.model.tasks[shadow.model.task(*task)].number;
    shadow.told_to_stop.iter().map(number).collect()
}

fn ones() -> Vec<TaskGroup> {
    vec![TaskGroup::new(4, slots(1))]
}

#[test]
fn what_was_lent_comes_back() {
    let mut shadow = lent(&config(&under("long-term", rules())), ones(), 2);
    assert_eq!(shadow.engine.view().next_look(), Some(secs(110)));
    assert_eq!(told_at(&mut shadow, 109), [0; 0], "it has not waited long enough");
    assert_eq!(told_at(&mut shadow, 110), [3, 2]);
    let told = shadow.told_to_stop.clone();
    assert!(shadow.engine.view().reservations().all(|held| held.reclaims && held.at.is_none()));
    assert_eq!(shadow.engine.view().stopping().collect::<Vec<_>>().len(), 2);
    for (index, task) in told.iter().enumerate() {
        let starts = shadow.decide(112 * S);
        assert!(starts.is_empty(), "{index} have stopped: {starts:?}");
        shadow.apply(112 * S, &Ev::TaskLost(*task)).expect("it runs");
    }
    let starts = shadow.decide(112 * S);
    let name = |queue| shadow.engine.view().queue(queue).name.to_owned();
    assert_eq!(starts.iter().map(|start| name(start.queue)).collect::<Vec<_>>(), ["b"]);
    assert_eq!(shadow.engine.view().stopping().count(), 0);
    // The first task of `a` that was stopped has a reservation now.
    assert_eq!(shadow.engine.view().next_look(), Some(secs(122)));
}

#[test]
fn nobody_takes_back_more_than_its_share() {
    let mut shadow = lent(&config(&under("long-term", rules())), ones(), 3);
    assert_eq!(told_at(&mut shadow, 110), [0; 0]);
}

#[test]
fn young_tasks_are_let_be_and_it_is_tried_again() {
    let [after, _, guard, grace] = rules();
    let policy = under("long-term", [after, 115, guard, grace]);
    let mut shadow = lent(&config(&policy), ones(), 1);
    assert_eq!(told_at(&mut shadow, 110), [0; 0]);
    assert_eq!(shadow.engine.view().next_look(), Some(secs(120)));
    assert_eq!(told_at(&mut shadow, 119), [0; 0], "nobody looks in between");
    assert_eq!(told_at(&mut shadow, 120), [3]);
}

/// Of four slots `b` owns two, `a` and `c` one each. `a` runs two tasks from 0 on, `c` two that
/// are too young to be stopped when `b` takes its two. At 110 s `a` has used 220 slot-seconds and
/// holds nothing more; `b` has used as much for its weight 220 s later, and as it is served now,
/// `a` comes first then.
#[test]
fn nobody_is_stopped_where_the_order_would_turn_within_the_guard() {
    for (guard, stops) in [(219, vec![1, 0]), (220, vec![])] {
        let [after, _, _, grace] = rules();
        let policy = under("long-term", [after, 100, guard, grace]);
        let mut config = slots_config(4, &policy, &["a", "b", "c"]);
        config.queues[1].weight = 2000;
        let mut shadow = Shadow::new(&config);
        let ids: Vec<QueueId> = shadow.engine.view().queue_ids().skip(1).collect();
        for (at, queue, group) in [
            (0, 0, TaskGroup::new(2, slots(1))),
            (50, 2, TaskGroup::new(2, slots(1))),
            (100, 1, TaskGroup::new(1, slots(2))),
        ] {
            shadow.apply(at * S, &job(ids[queue], group)).expect("sound");
            shadow.decide(at * S);
        }
        assert_eq!(told_at(&mut shadow, 110), stops, "a guard of {guard} s");
    }
}

#[test]
fn no_queue_falls_below_its_minimum() {
    for (wide, stopped) in [(1, vec![3]), (2, vec![])] {
        let mut config = config(&under("long-term", rules()));
        config.queues[0].min = Some(slots(3));
        let mut shadow = lent(&config, ones(), wide);
        assert_eq!(told_at(&mut shadow, 110), stopped, "{wide} slots are wanted");
    }
}

#[test]
fn a_gang_is_stopped_as_a_whole() {
    let gang = TaskGroup { gang: Some(Box::new(Gang::of(4))), ..ones().remove(0) };
    let mut shadow = lent(&config(&under("long-term", rules())), vec![gang], 1);
    assert_eq!(told_at(&mut shadow, 110), [0, 1, 2, 3]);
}

/// A gang of three at least runs four tasks: the youngest is above that. Where more is wanted than
/// that one has, all of the gang stop.
#[test]
fn an_elastic_gang_gives_up_what_is_above_its_least_number() {
    for (wide, stopped) in [(1, vec![3]), (2, vec![0, 1, 2, 3])] {
        let gang = TaskGroup { gang: Some(Box::new(Gang::of(3))), ..ones().remove(0) };
        let mut shadow = lent(&config(&under("long-term", rules())), vec![gang], wide);
        let mut told = told_at(&mut shadow, 110);
        told.sort_unstable();
        assert_eq!(told, stopped, "{wide} slots are wanted");
    }
}

/// These are nodes of so many slots.
fn on_nodes(mut config: Config, sizes: &[u64]) -> Config {
    let first = config.nodes.remove(0);
    let node = |(number, &size): (usize, &u64)| NodeSpec {
        name: format!("n{number}"),
        capacity: slots(size),
        ..first.clone()
    };
    config.nodes = sizes.iter().enumerate().map(node).collect();
    config
}

/// A gang of two at least runs four tasks, the first two on the only node that is wide enough. Any
/// two of them may stop, those on that node as well.
#[test]
fn an_elastic_gang_gives_up_those_that_are_in_the_way() {
    let gang = TaskGroup { gang: Some(Box::new(Gang::of(2))), ..ones().remove(0) };
    let config = on_nodes(config(&under("long-term", rules())), &[2, 1, 1]);
    let mut shadow = lent(&config, vec![gang], 2);
    assert_eq!(told_at(&mut shadow, 110), [1, 0]);
}

/// A gang of four at least runs six tasks on each of two nodes; four slots of each are wanted. The
/// youngest eight would leave too much on the first node.
#[test]
fn an_elastic_gang_gives_up_no_more_than_is_in_the_way() {
    let mut config = on_nodes(config(&under("long-term", rules())), &[6, 6]);
    config.queues[1].weight = 2000;
    let twelve = TaskGroup::new(12, slots(1));
    let gang = TaskGroup { gang: Some(Box::new(Gang::of(4))), ..twelve };
    let mut shadow = Shadow::new(&config);
    let [a, b] = ["a", "b"].map(|name| shadow.engine.view().find_queue(name).expect("declared"));
    shadow.apply(0, &job(a, gang)).expect("sound");
    assert_eq!(shadow.decide(0).len(), 12);
    let pair = TaskGroup { gang: Some(Box::new(Gang::of(2))), ..TaskGroup::new(2, slots(4)) };
    shadow.apply(100 * S, &job(b, pair)).expect("sound");
    assert!(shadow.decide(100 * S).is_empty());
    let mut told = told_at(&mut shadow, 110);
    told.sort_unstable();
    assert_eq!(told, [2, 3, 4, 5, 8, 9, 10, 11]);
}

/// Two reservations of `b`, each for one slot: each stops one task.
#[test]
fn what_a_queue_holds_itself_is_not_held_against_it() {
    let mut policy = under("long-term", rules());
    policy.blocked = Blocked::Reserve(Reservations::All);
    let config = config(&policy);
    let mut shadow = Shadow::new(&config);
    let [a, b] = ["a", "b"].map(|name| shadow.engine.view().find_queue(name).expect("declared"));
    shadow.apply(0, &job(a, ones().remove(0))).expect("sound");
    shadow.decide(0);
    shadow.apply(100 * S, &job(b, TaskGroup::new(4, slots(1)))).expect("sound");
    assert!(shadow.decide(100 * S).is_empty());
    assert_eq!(told_at(&mut shadow, 110), [3]);
    shadow.apply(112 * S, &Ev::TaskLost(shadow.told_to_stop[0])).expect("it runs");
    shadow.told_to_stop.clear();
    assert_eq!(shadow.decide(112 * S).len(), 1);
    let told = shadow.told_to_stop.len();
    assert_eq!(told, 1, "the next is looked at as soon as the first has started");
}

/// `b` drains n1 until tasks stop for it on n0. `e` is first in turn and fits nowhere. What `b` has
/// left on n1 is for `c` in the next decision, also where nobody asks for reasons: then only the
/// first of all that wait are looked for.
#[test]
fn what_a_reservation_leaves_when_tasks_stop_is_found_by_the_next_in_turn() {
    let mut config = slots_config(4, &under("long-term", rules()), &["a", "b", "c", "e"]);
    config = on_nodes(config, &[4, 5, 1]);
    config.nodes[2].capacity = Resources::new(&[500]);
    (config.queues[1].weight, config.queues[3].weight) = (8000, 2000);
    let mut shadow = Shadow::new(&config);
    let ids: Vec<QueueId> = shadow.engine.view().queue_ids().skip(1).collect();
    let half = TaskGroup::new(1, Resources::new(&[500]));
    let one = |wide: u64| TaskGroup::new(1, slots(wide));
    for (at, queue, group, starts) in [
        (0, 0, ones().remove(0), 4),
        (0, 1, one(2), 1),
        (0, 2, one(1), 1),
        (0, 3, one(1), 1),
        (100, 1, one(4), 0),
        (100, 3, one(4), 0),
        (100, 2, one(1), 0),
        (101, 0, half, 1),
    ] {
        shadow.apply(at * S, &job(ids[queue], group)).expect("sound");
        assert_eq!(shadow.decide(at * S).len(), starts, "{queue} at {at} s");
    }
    assert_eq!(told_at(&mut shadow, 110), [3, 2, 1, 0]);
    let starts = shadow.decide(111 * S);
    let told = starts.iter().map(|start| (start.queue, start.node.index()));
    assert_eq!(told.collect::<Vec<_>>(), [(ids[2], 1)]);
}

#[test]
fn without_memory_only_a_minimum_share_takes_back() {
    let mut config = config(&under("fair", rules()));
    assert_eq!(told_at(&mut lent(&config, ones(), 2), 110), [0; 0]);
    config.queues[1].min = Some(slots(2));
    assert_eq!(told_at(&mut lent(&config, ones(), 2), 110), [3, 2]);
}

#[test]
fn what_is_not_needed_is_let_be() {
    let groups = vec![TaskGroup::new(1, slots(3)), TaskGroup::new(1, slots(1))];
    let mut shadow = lent(&config(&under("long-term", rules())), groups, 2);
    // The younger one comes first, but it is not enough, and with the other it is not needed.
    let stopped = told_at(&mut shadow, 110);
    assert_eq!(stopped, [0]);
    let task = shadow.model.task(shadow.told_to_stop[0]);
    assert_eq!(shadow.model.tasks[task].demand, slots(3));
}

#[test]
fn who_starts_soon_stops_nobody() {
    let limited = TaskGroup { limit: Some(seconds(112)), ..ones().remove(0) };
    let mut shadow = lent(&config(&under("long-term", rules())), vec![limited], 2);
    assert_eq!(told_at(&mut shadow, 110), [0; 0], "all end before they could have stopped");
}

#[test]
fn times_that_contradict_each_other_are_refused() {
    let cases = [
        ([0, 0, 20, 2], Blocked::Reserve(Reservations::ONE), "reclaim_after must be above zero"),
        ([10, 0, 1, 2], Blocked::Reserve(Reservations::ONE), "reclaim_guard must not be below"),
        (rules(), Blocked::Skip, "say when_blocked = \"reserve\""),
    ];
    for (times, blocked, sentence) in cases {
        let policy = Policy { blocked, ..under("long-term", times) };
        let place = Box::new(place::FirstFit::new(1));
        let refused = Engine::new(config(&policy), place).map(drop).unwrap_err().to_string();
        assert!(refused.contains(sentence), "{refused}");
    }
}

#[test]
fn what_a_journal_tells_is_stopped_again() {
    let shadow = lent(&config(&under("long-term", rules())), ones(), 2);
    let mut engine = shadow.engine;
    let task = engine.view().running_ids().next().expect("four run");
    engine.stop_as_told(task).expect("it runs");
    assert_eq!(engine.view().stopping().collect::<Vec<_>>(), [task]);
    let state = engine.state();
    let again = Engine::from_state(&state, Box::new(place::FirstFit::new(1))).expect("its own");
    assert_eq!(again.view().stopping().collect::<Vec<_>>(), [task]);
    let mut wrong = state.clone();
    wrong.holds.stopping.push(77);
    let refused = Engine::from_state(&wrong, Box::new(place::FirstFit::new(1))).map(drop);
    assert!(refused.unwrap_err().to_string().contains("holds.stopping[1]"));
    engine.apply(secs(101), Event::TaskEnded(task)).expect("it runs");
    assert_eq!(engine.view().stopping().count(), 0);
    assert_eq!(engine.stop_as_told(task), Err(Rejected::UnknownAllocation));
}

#[test]
fn who_was_about_to_start_and_did_not_is_looked_at_again() {
    let limited = TaskGroup { limit: Some(seconds(111)), ..ones().remove(0) };
    let mut shadow = lent(&config(&under("long-term", rules())), vec![limited], 2);
    assert_eq!(told_at(&mut shadow, 110), [0; 0], "it is to start in a second");
    assert_eq!(shadow.engine.view().next_look(), Some(secs(111)));
    assert_eq!(told_at(&mut shadow, 111), [3, 2], "they run on");
}

#[test]
fn a_queue_above_both_keeps_its_minimum() {
    for (min, stopped) in [(None, vec![0]), (Some(slots(4)), vec![])] {
        let policy = under("long-term", rules());
        let mut config = slots_config(4, &policy, &["p", "p.a", "p.b"]);
        config.queues[0].min = min;
        let mut shadow = Shadow::new(&config);
        let ids: Vec<QueueId> = shadow.engine.view().queue_ids().collect();
        shadow.apply(0, &job(ids[2], TaskGroup::new(1, slots(4)))).expect("sound");
        shadow.decide(0);
        shadow.apply(100 * S, &job(ids[3], TaskGroup::new(1, slots(1)))).expect("sound");
        shadow.decide(100 * S);
        // With one slot of four held `p` would have less than its minimum.
        assert_eq!(told_at(&mut shadow, 110), stopped, "{min:?}");
    }
}

#[test]
fn a_minimum_in_what_tasks_do_not_hold_protects_nobody() {
    let policy = under("long-term", rules());
    let mut config = Config { kinds: kinds(2), ..config(&policy) };
    config.nodes = vec![node("n", Resources::new(&[4000, 4000]))];
    config.queues[0].min = Some(Resources::new(&[0, 1000]));
    let mut shadow = Shadow::new(&config);
    let ids: Vec<QueueId> = shadow.engine.view().queue_ids().collect();
    let of_first = |count, amount| TaskGroup::new(count, Resources::new(&[amount, 0]));
    shadow.apply(0, &job(ids[1], of_first(4, 1000))).expect("sound");
    shadow.decide(0);
    shadow.apply(100 * S, &job(ids[2], of_first(1, 2000))).expect("sound");
    shadow.decide(100 * S);
    assert_eq!(told_at(&mut shadow, 110), [3, 2]);
}

#[test]
fn the_end_of_time_is_no_endless_loop() {
    let [after, _, guard, grace] = rules();
    let policy = under("long-term", [after, 1 << 31, guard, grace]);
    let mut shadow = lent(&config(&policy), ones(), 1);
    let end = MAX_MICROS / S;
    assert_eq!(told_at(&mut shadow, end - 1), [3], "old enough by then");
    let [_, _, guard, grace] = rules();
    let mut shadow = lent(&config(&under("long-term", [after, 1 << 33, guard, grace])), ones(), 1);
    shadow.engine.advance(micros(MAX_MICROS)).expect("the last instant");
    shadow.engine.decide(false, drop);
    assert_eq!(shadow.engine.view().next_look(), None, "nothing comes after it");
}
