//! Pods that start together or not at all.

use std::collections::BTreeSet;

use super::*;
use crate::pod::gang::{GangName, GroupSeen};

/// A pod of the gang `g`, `size` of which start together.
fn of_gang(uid: &str, queue: &str, size: &str) -> Pod {
    let labels = json!({ "meed.dev/gang": "g", "meed.dev/gang-size": size });
    pod(uid, queue, json!({ "metadata": { "name": uid, "labels": labels } }))
}

fn of_group(uid: &str) -> Pod {
    let labels = json!({ "scheduling.x-k8s.io/pod-group": "g" });
    pod(uid, "binds", json!({ "metadata": { "name": uid, "labels": labels } }))
}

/// The same pod, as the API server shows it when it runs.
fn running(pod: &Pod, start: &StartOrder) -> Pod {
    let mut pod = serde_json::to_value(pod).unwrap();
    lay(&mut pod, bound(&start.node));
    let notes = json!({ "meed.dev/started": start.started.to_string(),
        "meed.dev/charged": start.queue });
    lay(&mut pod, json!({ "metadata": { "annotations": notes } }));
    serde_json::from_value(pod).unwrap()
}

fn names(starts: &[StartOrder]) -> Vec<&str> {
    starts.iter().map(|start| start.pod.uid.as_str()).collect()
}

impl Test {
    fn note_of(&mut self, uid: &str) -> Option<(&'static str, String)> {
        let now = self.later();
        let orders = self.world.decide(now).unwrap();
        let say = |order| match order {
            Order::Say(saying) if saying.pod.uid == uid => Some((saying.reason, saying.note)),
            _ => None,
        };
        orders.into_iter().filter_map(say).next_back()
    }
}

#[test]
fn a_gang_starts_when_all_are_there_and_all_fit() {
    for queue in ["binds", "gates"] {
        let mut test = Test::new();
        // Four cores: one is taken.
        test.seen(&pod("other", queue, json!({})));
        let other = test.starts();
        let gang: Vec<Pod> = ["a", "b", "c", "d"].map(|uid| of_gang(uid, queue, "4")).to_vec();
        for pod in &gang[..3] {
            test.seen(pod);
        }
        let (reason, note) = test.note_of("c").unwrap();
        assert_eq!(reason, "GangIncomplete");
        assert_eq!(note, "3 of 4 pods of its gang `g` are there");
        assert_eq!(test.books(queue).0, 0);
        test.seen(&gang[3]);
        assert_eq!(names(&test.starts()), [""; 0], "three cores are free");
        assert_eq!(test.books(queue).0, 4);
        let done = running(&pod("other", queue, json!({})), &other[0]);
        test.gone(&done);
        let starts = test.starts();
        assert_eq!(names(&starts), ["a", "b", "c", "d"]);
        assert!(starts.iter().all(|start| start.started == starts[0].started));
        assert_eq!(test.books(queue).1, 4, "four run");
    }
}

#[test]
fn a_binding_of_a_gang_that_fails_is_tried_again_by_itself() {
    let mut test = Test::new();
    let gang: Vec<Pod> = ["a", "b", "c"].map(|uid| of_gang(uid, "binds", "3")).to_vec();
    gang.iter().for_each(|pod| test.seen(pod));
    let starts = test.starts();
    assert_eq!(starts.len(), 3);
    for (pod, start) in gang.iter().zip(&starts).take(2) {
        test.seen(&running(pod, start));
    }
    test.answered("c", Found::Pod(Box::new(gang[2].clone()), "refused".to_owned()));
    assert_eq!(names(&test.starts()), ["c"]);
    // One that ends, well or not, or is deleted, ends for itself.
    let mut failed = running(&gang[0], &starts[0]);
    lay_phase(&mut failed, "Failed");
    test.gone(&failed);
    assert_eq!(test.books("binds").1, 2);
    test.gone(&running(&gang[1], &starts[1]));
    assert_eq!(test.books("binds").1, 1);
    // A pod made anew for one that failed follows those that run.
    test.seen(&of_gang("anew", "binds", "3"));
    assert_eq!(names(&test.starts()), ["anew"]);
}

fn lay_phase(pod: &mut Pod, phase: &str) {
    pod.status.get_or_insert_default().phase = Some(phase.to_owned());
}

#[test]
fn a_gang_that_loses_a_pod_while_it_waits_gathers_again() {
    let mut test = Test::new();
    test.seen(&pod("other", "binds", json!({})));
    let other = test.starts();
    let gang: Vec<Pod> = ["a", "b", "c", "d"].map(|uid| of_gang(uid, "binds", "4")).to_vec();
    gang.iter().for_each(|pod| test.seen(pod));
    assert_eq!(test.books("binds").0, 4);
    test.gone(&gang[1]);
    test.gone(&running(&pod("other", "binds", json!({})), &other[0]));
    assert_eq!(names(&test.starts()), [""; 0]);
    assert_eq!(test.books("binds").0, 0, "three gather");
    test.seen(&of_gang("e", "binds", "4"));
    assert_eq!(names(&test.starts()), ["a", "c", "d", "e"]);
}

#[test]
fn a_large_gang_that_is_never_whole_costs_little() {
    let mut test = Test::new();
    let all: Vec<Pod> = (0..900).map(|n| of_gang(&format!("u{n:03}"), "binds", "1000")).collect();
    let began = std::time::Duration::from_micros(unix_micros().unsigned_abs());
    all.iter().for_each(|pod| test.seen(pod));
    test.said();
    for pod in &all {
        test.gone(pod);
        let now = test.later();
        test.world.decide(now).unwrap();
    }
    let took = std::time::Duration::from_micros(unix_micros().unsigned_abs()) - began;
    assert!(took.as_secs() < 30, "{took:?}");
    assert_eq!(test.books("binds").0, 0);
}

#[test]
fn a_pod_that_waits_may_change_its_gang() {
    let mut test = Test::new();
    test.seen(&pod("other", "binds", json!({ "metadata": { "name": "other" } })));
    let other = test.starts();
    let gang: Vec<Pod> = ["a", "b", "c", "d"].map(|uid| of_gang(uid, "binds", "4")).to_vec();
    gang.iter().for_each(|pod| test.seen(pod));
    let labels = json!({ "meed.dev/gang": "alone", "meed.dev/gang-size": "1" });
    test.seen(&pod("b", "binds", json!({ "metadata": { "name": "b", "labels": labels } })));
    assert_eq!(names(&test.starts()), ["b"]);
    assert_eq!(test.books("binds").0, 0, "the others gather again");
    test.gone(&running(&pod("other", "binds", json!({})), &other[0]));
    assert_eq!(names(&test.starts()), [""; 0]);
}

#[test]
fn what_contradicts_is_refused_aloud() {
    let mut test = Test::new();
    test.seen(&of_gang("a", "binds", "2"));
    test.seen(&of_gang("b", "binds", "3"));
    let (reason, note) = test.note_of("b").unwrap();
    assert_eq!(reason, "GangInvalid");
    assert!(note.contains("by its own label 3 pods") && note.contains("pod a 2"), "{note}");
    test.gone(&of_gang("b", "binds", "3"));
    // One without a number.
    let labels = json!({ "meed.dev/gang": "h" });
    test.seen(&pod("d", "binds", json!({ "metadata": { "labels": labels } })));
    assert_eq!(test.note_of("d").unwrap().0, "GangInvalid");
    assert_eq!(names(&test.starts()), [""; 0]);
    // When it is right, they start.
    test.seen(&of_gang("e", "binds", "2"));
    assert_eq!(names(&test.starts()), ["a", "e"]);
}

/// The PodGroup of scheduler-plugins `g`, of which so many start together.
fn group(least: u32) -> GroupSeen {
    GroupSeen { namespace: "n".to_owned(), name: GangName::PodGroup("g".to_owned()), least }
}

/// Kubernetes' own PodGroup holds pods as one by label does: none is let go before so many are
/// there. Each is held in the queue by our gate, and another's gate keeps it out.
#[test]
fn a_scheduling_group_is_let_go_whole() {
    let mut test = Test::new();
    let of = |uid: &str, more: Value| {
        let mut pod = json!({ "metadata": { "name": uid },
            "spec": { "schedulingGroup": { "podGroupName": "g" } } });
        lay(&mut pod, more);
        super::pod(uid, "gates", pod)
    };
    test.seen(&of("a", json!({})));
    assert_eq!(test.note_of("a").unwrap().0, "GangUnknown");
    let gang = json!({ "metadata": { "namespace": "n", "name": "g" },
        "spec": { "schedulingPolicy": { "gang": { "minCount": 3 } } } });
    test.world.pod_group_seen(GroupSeen::of_kubernetes(&serde_json::from_value(gang).unwrap()));
    assert_eq!(test.note_of("a").unwrap().0, "GangIncomplete");
    test.seen(&of("b", json!({})));
    let gates = json!([{ "name": "meed.dev/hold" }, { "name": "another/gate" }]);
    test.seen(&of("c", json!({ "spec": { "schedulingGates": gates } })));
    assert_eq!(names(&test.starts()), [""; 0], "two of three");
    test.seen(&of("c", json!({})));
    assert_eq!(names(&test.starts()), ["a", "b", "c"]);
    // The policy `basic` asks for nothing.
    let basic = json!({ "metadata": { "namespace": "n", "name": "h" },
        "spec": { "schedulingPolicy": { "basic": {} } } });
    let basic = GroupSeen::of_kubernetes(&serde_json::from_value(basic).unwrap());
    assert_eq!(basic.least, 1);
}

#[test]
fn a_pod_group_says_how_many_and_more_follow() {
    let mut test = Test::new();
    for uid in ["a", "b", "c"] {
        test.seen(&of_group(uid));
    }
    let (reason, note) = test.note_of("c").unwrap();
    assert_eq!(reason, "GangUnknown");
    assert!(note.contains("does not have the kind PodGroup"), "{note}");
    test.world.pod_group_seen(group(4));
    assert_eq!(test.note_of("c").unwrap().0, "GangIncomplete");
    test.world.pod_group_seen(group(3));
    assert_eq!(names(&test.starts()), ["a", "b", "c"]);
    test.seen(&of_group("d"));
    assert_eq!(names(&test.starts()), ["d"], "more than start together");
}

#[test]
fn who_comes_while_a_gang_waits_follows_it() {
    let mut test = Test::new();
    test.seen(&pod("other", "binds", json!({ "metadata": { "name": "other" } })));
    let other = test.starts();
    let gang: Vec<Pod> = ["a", "b", "c", "d"].map(|uid| of_gang(uid, "binds", "3")).to_vec();
    let another = pod("more", "binds", json!({ "metadata": { "name": "more" } }));
    test.seen(&another);
    let more = test.starts();
    gang.iter().take(3).for_each(|pod| test.seen(pod));
    test.seen(&gang[3]);
    assert_eq!(test.note_of("d").unwrap().0, "GangWaits");
    test.gone(&running(&another, &more[0]));
    test.gone(&running(&pod("other", "binds", json!({})), &other[0]));
    assert_eq!(names(&test.starts()), ["a", "b", "c"]);
    assert_eq!(names(&test.starts()), ["d"]);
}

#[test]
fn a_new_leader_finds_a_gang_half_bound_and_finishes_it() {
    let mut test = Test::new();
    let gang: Vec<Pod> = ["a", "b", "c"].map(|uid| of_gang(uid, "binds", "3")).to_vec();
    gang.iter().for_each(|pod| test.seen(pod));
    test.restart(Listed { pods: gang.clone(), ..listed() });
    let starts = test.starts();
    assert_eq!(names(&starts), ["a", "b", "c"], "it waits as it did");
    // Of these the checkpoint knows nothing: one was bound.
    let one = running(&gang[0], &starts[0]);
    let pods = vec![one.clone(), gang[1].clone(), gang[2].clone()];
    test.restart(Listed { pods: pods.clone(), ..listed() });
    assert_eq!(test.books("binds").1, 1);
    let mut rest = names(&test.starts()).iter().map(|&uid| uid.to_owned()).collect::<Vec<_>>();
    rest.sort();
    assert_eq!(rest, ["b", "c"]);
    // Of that it was to start the checkpoint may know nothing.
    test = Test::new();
    gang.iter().for_each(|pod| test.seen(pod));
    test.restart(Listed { pods, ..listed() });
    assert_eq!(test.books("binds").1, 1);
    assert_eq!(test.starts().len(), 2);
    // And where a node is lost its pods go, and the others stay.
    let now = test.later();
    test.world.node_gone(&starts[0].node, now).unwrap();
    test.books("binds");
}

#[test]
fn a_gang_that_asks_for_its_like_is_not_placed_in_ignorance() {
    let mut test = Test::new();
    for uid in ["a", "b"] {
        let mut one = serde_json::to_value(of_gang(uid, "binds", "2")).unwrap();
        one["spec"]["containers"][0]["ports"] = json!([{ "containerPort": 1, "hostPort": 80 }]);
        test.seen(&serde_json::from_value(one).unwrap());
    }
    let (reason, note) = test.note_of("b").unwrap();
    assert_eq!(reason, "NotSupported");
    assert!(note.contains("mode Gates"), "{note}");
}

#[test]
fn a_gang_of_which_one_pod_must_not_be_there_is_taken_back_whole() {
    let mut test = Test::with_hosts();
    let apart = json!({ "podAntiAffinity": required("web", "host") });
    test.seen(&choosy("x", "db", apart));
    for uid in ["a", "b", "c"] {
        let mut one = serde_json::to_value(of_gang(uid, "binds", "3")).unwrap();
        one["metadata"]["labels"]["app"] = "web".into();
        test.seen(&serde_json::from_value(one).unwrap());
    }
    let starts = test.starts();
    assert_eq!(names(&starts), ["x"], "the gang would be beside it");
    assert!(test.world.is_unsettled());
    assert_eq!(test.books("binds").0, 3, "all of it waits");
    let again = test.starts();
    assert_eq!(names(&again), ["a", "b", "c"]);
    assert!(again.iter().all(|start| start.node != starts[0].node), "{again:?}");
}

/// A pod of the PodGroup `g` that asks for so many cores.
fn of_group_of(uid: &str, queue: &str, cores: u64) -> Pod {
    of_cores(uid, queue, cores, json!({ "scheduling.x-k8s.io/pod-group": "g" }))
}

#[test]
fn pods_of_unlike_requests_are_one_gang() {
    for queue in ["binds", "gates"] {
        let mut test = Test::new();
        test.world.pod_group_seen(group(3));
        // Two cores on each of two nodes: one is taken.
        test.seen(&pod("other", queue, json!({})));
        let other = test.starts();
        let (a, b) = (of_group_of("a", queue, 1), of_group_of("b", queue, 1));
        let master = of_group_of("m", queue, 2);
        [&a, &master].into_iter().for_each(|pod| test.seen(pod));
        let (reason, note) = test.note_of("m").unwrap();
        assert_eq!(
            (reason, &note[..]),
            ("GangIncomplete", "2 of 3 pods of its PodGroup `g` are there")
        );
        test.seen(&b);
        assert_eq!(names(&test.starts()), [""; 0], "of four cores three are free");
        assert_eq!(test.books(queue).0, 3);
        test.gone(&running(&pod("other", queue, json!({})), &other[0]));
        let starts = test.starts();
        assert_eq!(names(&starts), ["a", "b", "m"]);
        assert!(starts.iter().all(|start| start.started == starts[0].started));
        let node = |uid: &str| &starts.iter().find(|start| start.pod.uid == uid).unwrap().node;
        assert!(node("a") == node("b") && node("a") != node("m"), "{starts:?}");
        // Each is charged for what it asks for, and ends by itself.
        for (pod, start) in [&a, &b, &master].into_iter().zip(&starts) {
            test.seen(&running(pod, start));
        }
        let held = |test: &Test| {
            let engine = test.world.driver.engine();
            engine.queue(engine.find_queue(queue).unwrap()).held.get(0)
        };
        assert_eq!(held(&test), 4000, "it is in thousandths");
        let mut failed = running(&master, &starts[2]);
        lay_phase(&mut failed, "Failed");
        test.gone(&failed);
        assert_eq!((held(&test), test.books(queue).1), (2000, 2));
        // One that is made anew follows those that run.
        test.seen(&of_group_of("again", queue, 2));
        assert_eq!(names(&test.starts()), ["again"]);
    }
}

/// The number counts over all pods: the first that came start together, whatever they ask for.
#[test]
fn of_unlike_pods_more_than_the_number_follow() {
    let mut test = Test::new();
    for (uid, cores) in [("a", 1), ("b", 1), ("m", 2), ("c", 1)] {
        test.seen(&of_group_of(uid, "binds", cores));
    }
    assert_eq!(test.note_of("c").unwrap().0, "GangUnknown");
    test.world.pod_group_seen(group(3));
    // By age and name these are a, b, c: alike, and m is not.
    let starts = test.starts();
    assert_eq!(names(&starts), ["a", "b", "c"]);
    let running: Vec<Pod> = starts
        .iter()
        .map(|start| running(&of_group_of(&start.pod.uid, "binds", 1), start))
        .collect();
    running.iter().for_each(|pod| test.seen(pod));
    assert_eq!(names(&test.starts()), [""; 0], "one core is free");
    assert_eq!(test.books("binds").0, 1, "the fourth waits in its queue");
    running.iter().for_each(|pod| test.gone(pod));
    assert_eq!(names(&test.starts()), ["m"]);
}

#[test]
fn a_gang_of_unlike_pods_is_found_by_a_new_leader() {
    let mut test = Test::new();
    test.world.pod_group_seen(group(3));
    let gang = vec![
        of_group_of("a", "binds", 1),
        of_group_of("b", "binds", 1),
        of_group_of("m", "binds", 2),
    ];
    gang.iter().for_each(|pod| test.seen(pod));
    let groups = vec![group(3)];
    test.restart(Listed { pods: gang.clone(), pod_groups: groups.clone(), ..listed() });
    let starts = test.starts();
    assert_eq!(names(&starts), ["a", "b", "m"], "it waits as it did");
    // The large one was bound, and the checkpoint knows nothing of it.
    let bound = running(&gang[2], &starts[2]);
    let pods = vec![gang[0].clone(), gang[1].clone(), bound];
    test.restart(Listed { pods, pod_groups: groups, ..listed() });
    assert_eq!(test.books("binds").1, 1);
    let starts = test.starts();
    assert_eq!(names(&starts).into_iter().collect::<BTreeSet<_>>(), BTreeSet::from(["a", "b"]));
    let engine = test.world.driver.engine();
    assert_eq!(engine.queue(engine.find_queue("binds").unwrap()).held.get(0), 4000);
}

#[test]
fn a_gang_of_too_many_kinds_of_pods_is_refused_aloud() {
    let mut test = Test::new();
    test.world.pod_group_seen(group(8));
    for number in 0..8u64 {
        let mut one = serde_json::to_value(of_group_of(&format!("u{number}"), "binds", 1)).unwrap();
        let memory = format!("{}Mi", number + 1);
        one["spec"]["containers"][0]["resources"]["requests"]["memory"] = memory.into();
        test.seen(&serde_json::from_value(one).unwrap());
    }
    let (reason, note) = test.note_of("u7").unwrap();
    assert_eq!(reason, "Rejected");
    assert!(note.contains("64"), "{note}");
    assert_eq!(test.books("binds").0, 0);
}
