//! Pods that start together or not at all.

use super::*;

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
    // Pods of a gang are alike.
    let mut larger = serde_json::to_value(of_gang("c", "binds", "2")).unwrap();
    larger["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "2".into();
    test.seen(&serde_json::from_value(larger).unwrap());
    let (reason, note) = test.note_of("c").unwrap();
    assert_eq!(reason, "GangInvalid");
    assert!(note.contains("pods a and c of its gang ask for different things"), "{note}");
    // One without a number.
    let labels = json!({ "meed.dev/gang": "h" });
    test.seen(&pod("d", "binds", json!({ "metadata": { "labels": labels } })));
    assert_eq!(test.note_of("d").unwrap().0, "GangInvalid");
    assert_eq!(names(&test.starts()), [""; 0]);
    // When it is right, they start.
    test.gone(&of_gang("c", "binds", "2"));
    test.seen(&of_gang("e", "binds", "2"));
    assert_eq!(names(&test.starts()), ["a", "e"]);
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
    test.world.pod_group_seen("n".to_owned(), "g".to_owned(), 4);
    assert_eq!(test.note_of("c").unwrap().0, "GangIncomplete");
    test.world.pod_group_seen("n".to_owned(), "g".to_owned(), 3);
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
