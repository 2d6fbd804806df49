//! Pods that stop for others.

use super::*;

const POLICY: &str = "long-term,quantum=0,when_blocked=reserve,reclaim_after=10s,\
                      reclaim_min_runtime=1s,reclaim_guard=10s,reclaim_grace=1s";

fn test(policy: &str) -> Test {
    let kinds = Line::parse_from(["meed"]).settings.kinds().unwrap();
    let clock = LedgerClock::new(unix_micros() - HOUR, Time::ZERO);
    let listed = Listed {
        nodes: vec![node("n1", 2)],
        queues: vec![queue("binds", "Binds"), queue("other", "Binds")],
        ..listed()
    };
    let world =
        World::begin(kinds, policy.parse::<PolicySpec>().unwrap(), clock, listed).unwrap().unwrap();
    let now = world.now();
    Test { world, now }
}

fn other(uid: &str) -> Pod {
    let labels = json!({ "meed.dev/queue": "other" });
    pod(uid, "binds", json!({ "metadata": { "name": uid, "labels": labels } }))
}

/// Two pods run for 20 s and fill the node.
fn fill(test: &mut Test) {
    for uid in ["a", "b"] {
        test.seen(&pod(uid, "binds", json!({ "metadata": { "name": uid } })));
    }
    assert_eq!(test.starts().len(), 2);
    for uid in ["a", "b"] {
        test.seen(&there(uid));
    }
    for _ in 0..20 {
        test.later();
    }
}

/// Then one of another queue waits for 12 s. Who is to stop.
fn evicted(test: &mut Test) -> Vec<String> {
    fill(test);
    test.seen(&other("c"));
    assert_eq!(test.starts(), []);
    let mut all = Vec::new();
    for _ in 0..12 {
        let now = test.later();
        for order in test.world.decide(now).unwrap() {
            match order {
                Order::Evict(order) => all.push(order.pod.uid),
                Order::Say(saying) => assert_eq!(saying.reason, "Reclaimed"),
                other => panic!("{other:?}"),
            }
        }
    }
    all
}

#[test]
fn who_owes_stops_and_its_room_is_kept_for_who_is_owed() {
    let mut test = test(POLICY);
    let all = evicted(&mut test);
    let [uid] = all.as_slice() else { panic!("{all:?}") };
    // A refusal is said once, on the pod.
    test.world.eviction_refused(uid, "its budget".to_owned());
    test.world.eviction_refused(uid, "its budget".to_owned());
    assert_eq!(test.said(), ["EvictionRefused"]);
    // Until it is gone nobody starts; then the one for whom it stopped, and its use is charged.
    test.seen(&pod("d", "binds", json!({ "metadata": { "name": "d" } })));
    assert_eq!(test.starts(), []);
    let charged = test.books("binds").2;
    test.gone(&pod(uid, "binds", bound("n1")));
    let starts = test.starts();
    assert_eq!(starts.iter().map(|start| start.pod.uid.as_str()).collect::<Vec<_>>(), ["c"]);
    assert!(test.books("binds").2 >= charged);
    // News of one that is not to stop is no news.
    test.world.eviction_refused("c", "late".to_owned());
    assert_eq!(test.said(), [""; 0]);
}

#[test]
fn nobody_stops_unless_it_is_asked_for() {
    let mut test = test("long-term,quantum=0,when_blocked=reserve");
    assert_eq!(evicted(&mut test), [""; 0]);
    assert_eq!(test.world.next_look(), None);
}

#[test]
fn a_new_leader_stops_again_who_runs_still() {
    let mut test = test(POLICY);
    let all = evicted(&mut test);
    let now = test.later();
    let state = test.world.checkpoint(now).unwrap().unwrap();
    let mut world = next_leader(test.world.clock.origin(), state, now);
    let now = world.turn();
    let orders = world.decide(now).unwrap();
    assert_eq!(stopped(orders), all);
}

/// A status that is told at the very instant of a look does not put it off for ever.
#[test]
fn a_look_that_is_due_is_not_lost_to_a_status() {
    let mut test = test(POLICY);
    fill(&mut test);
    test.seen(&other("c"));
    assert_eq!(test.starts(), []);
    for _ in 0..12 {
        test.later();
    }
    test.world.statuses(test.now).unwrap();
    assert_eq!(test.world.next_look(), Some(std::time::Duration::ZERO));
    let now = test.later();
    assert_eq!(stopped(test.world.decide(now).unwrap()).len(), 1);
    assert_ne!(test.world.next_look(), Some(std::time::Duration::ZERO));
}

/// Whenever the last checkpoint was written: before anybody was owed, while one waited, or after.
#[test]
fn a_new_leader_takes_room_back_whatever_the_checkpoint_knew() {
    for (waited, away) in [(0, 20), (1, 20), (5, 20), (9, 20), (5, 2), (12, 20)] {
        let mut first = test(POLICY);
        fill(&mut first);
        first.seen(&other("c"));
        assert_eq!(first.starts(), []);
        let mut all = Vec::new();
        for _ in 0..waited {
            let now = first.later();
            all.extend(stopped(first.world.decide(now).unwrap()));
        }
        let state = first.saved();
        let later = first.now.saturating_add(Span::from_secs(away).unwrap());
        let mut world = next_leader(first.world.clock.origin(), state, later);
        let now = world.turn();
        let mut again = stopped(world.decide(now).unwrap());
        let mut now = world.now();
        // It looks when it says that it will, and not otherwise.
        for _ in 0..3 {
            let Some(look) = world.next_look().filter(|_| again.is_empty()) else { break };
            let look = Span::from_micros(u64::try_from(look.as_micros()).unwrap()).unwrap();
            now = now.saturating_add(look).saturating_add(Span::from_secs(1).unwrap());
            again.extend(stopped(world.decide(now).unwrap()));
        }
        assert_eq!(again.len(), 1, "checkpoint after {waited} s, {away} s away: {all:?}");
    }
}

/// Who leads after this checkpoint, and finds both pods running and the third waiting.
fn next_leader(origin: i64, state: Vec<u8>, now: Time) -> World {
    let about = About {
        origin,
        policy: POLICY.to_owned(),
        resources: ["cpu", "memory", "pods"].map(str::to_owned).to_vec(),
    };
    let pods = ["a", "b"].map(there);
    let listed = Listed {
        nodes: vec![node("n1", 2)],
        queues: vec![queue("binds", "Binds"), queue("other", "Binds")],
        pods: [pods.to_vec(), vec![other("c")]].concat(),
        ..listed()
    };
    let root: PolicySpec = POLICY.parse().unwrap();
    let clock = LedgerClock::new(origin, now);
    World::restore(&Checkpoint { about, state }, root, clock, listed).unwrap()
}

fn there(uid: &str) -> Pod {
    let mut there = bound("n1");
    lay(&mut there, json!({ "metadata": { "name": uid } }));
    pod(uid, "binds", there)
}

fn stopped(orders: Vec<Order>) -> Vec<String> {
    let stopped = |order| match order {
        Order::Evict(order) => Some(order.pod.uid),
        _ => None,
    };
    orders.into_iter().filter_map(stopped).collect()
}
