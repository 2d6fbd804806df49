//! A charge follows the pod's own times.

use super::*;

/// A node and a pod on it came after the checkpoint, and the pod ended before the takeover.
#[test]
fn what_ran_on_a_node_that_the_checkpoint_does_not_know_is_charged() {
    let mut test = Test::new();
    let state = test.saved();
    let start = test.world.clock.unix(test.now) / 1_000_000 * 1_000_000 + 10_000_000;
    let at = k8s_openapi::jiff::Timestamp::from_microsecond(start + 7_000_000).unwrap().to_string();
    let notes = json!({ "meed.dev/started": start.to_string(), "meed.dev/node": "new",
        "meed.dev/charged": "binds" });
    let ended = json!({ "terminated": { "exitCode": 0, "finishedAt": at } });
    let ended = json!({ "name": "c", "image": "", "imageID": "", "ready": false,
        "restartCount": 0, "state": ended });
    let mut more = bound("new");
    lay(
        &mut more,
        json!({ "metadata": { "annotations": notes },
        "status": { "phase": "Succeeded", "containerStatuses": [ended] } }),
    );
    let mut listed = listed();
    listed.nodes.push(node("new", 4));
    listed.finished = vec![pod("u", "binds", more)];
    test.restart_from(state, 60, listed);
    test.starts();
    let charged = test.books("binds").2;
    assert!((7.0..8.1).contains(&charged), "{charged}");
}

impl Test {
    fn unix(&self) -> i64 {
        self.world.clock.unix(self.now)
    }

    /// The pod starts; its start, in microseconds since 1970.
    fn start_of(&mut self) -> i64 {
        let starts = self.starts();
        let [start] = starts.as_slice() else { panic!("{starts:?}") };
        start.started
    }
}

/// On n1, with the start that is written on it.
fn runs(started: i64) -> Value {
    let mut more = bound("n1");
    lay(&mut more, json!({ "metadata": { "annotations": { "meed.dev/started": "" } } }));
    more["metadata"]["annotations"]["meed.dev/started"] = started.to_string().into();
    more
}

/// The same, ended at a second.
fn ended(started: i64, at: i64) -> Value {
    let mut more = runs(started);
    let at = k8s_openapi::jiff::Timestamp::from_microsecond(at).unwrap();
    let state = json!({ "terminated": { "exitCode": 0, "finishedAt": at.to_string() } });
    let container = json!({ "name": "c", "image": "", "imageID": "", "ready": false,
        "restartCount": 0, "state": state });
    lay(&mut more, json!({ "status": { "phase": "Succeeded", "containerStatuses": [container] } }));
    more
}

fn seconds(micros: i64) -> f64 {
    (micros as f64 / 1000.0).round() / 1000.0
}

#[test]
fn a_write_that_came_late_tells_since_when_the_pod_is_charged() {
    let mut test = Test::new();
    test.seen(&pod("u", "binds", json!({})));
    let first = test.start_of();
    let unbound = Box::new(pod("u", "binds", json!({})));
    test.answered("u", Found::Pod(unbound, "no answer in time".to_owned()));
    assert_eq!(test.books("binds").2, 0.0);
    let second = test.start_of();
    assert!(second > first);
    // It was the first write that was carried out.
    test.seen(&pod("u", "binds", runs(first)));
    let charged = test.books("binds").2;
    assert_eq!(charged, seconds(test.unix() - first));
    // Told again it changes nothing.
    test.seen(&pod("u", "binds", runs(second)));
    assert_eq!(test.books("binds").2, seconds(test.unix() - first));
}

#[test]
fn a_start_that_was_made_anew_after_the_checkpoint_counts_since_then() {
    let mut test = Test::new();
    test.seen(&pod("u", "binds", json!({})));
    let first = test.start_of();
    // Then it was undone, started again, and bound; no checkpoint knows.
    let second = first + 1_500_000;
    let there = Listed { pods: vec![pod("u", "binds", runs(second))], ..listed() };
    test.restart(there);
    let charged = test.books("binds").2;
    assert_eq!(charged, seconds(test.unix() - second));
}

#[test]
fn an_end_that_is_heard_late_was_when_it_was() {
    let mut test = Test::new();
    test.seen(&pod("u", "binds", json!({})));
    let started = test.start_of();
    test.seen(&pod("u", "binds", runs(started)));
    let stamp = (started + 3_000_000) / 1_000_000 * 1_000_000;
    for _ in 0..60 {
        test.later();
    }
    test.gone(&pod("u", "binds", ended(started, stamp)));
    // Stamps are rounded down: it may have run until the end of that second.
    let charged = test.books("binds").2;
    assert_eq!(charged, seconds(stamp + 1_000_000 - started));
    assert_eq!(test.books("binds"), (0, 0, charged));
}

#[test]
fn an_end_that_is_heard_in_time_was_when_it_was_heard() {
    let mut test = Test::new();
    test.seen(&pod("u", "binds", json!({})));
    let started = test.start_of();
    test.seen(&pod("u", "binds", runs(started)));
    test.later();
    let heard = test.unix() + 1_000_000;
    let stamp = heard / 1_000_000 * 1_000_000;
    test.gone(&pod("u", "binds", ended(started, stamp)));
    assert_eq!(test.books("binds").2, seconds(heard - started));
}

#[test]
fn what_was_charged_before_a_resize_is_not_charged_again_at_a_takeover() {
    let mut test = Test::new();
    test.seen(&pod("u", "binds", json!({})));
    let started = test.start_of();
    test.seen(&pod("u", "binds", runs(started)));
    let mut larger = runs(started);
    let requests = json!({ "cpu": "2", "memory": "1Gi" });
    let containers = json!([{ "name": "c", "resources": { "requests": requests } }]);
    lay(&mut larger, json!({ "spec": { "containers": containers } }));
    let larger = pod("u", "binds", larger);
    test.seen(&larger);
    let resized = test.unix();
    test.restart(Listed { pods: vec![larger], ..listed() });
    let charged = test.books("binds").2;
    let small = seconds(resized - started);
    let expected = small + 2.0 * seconds(test.unix() - resized);
    assert!((charged - expected).abs() < 0.002, "{charged}, not {expected}");
}

/// A list does not show a pod that runs: it is looked what became of it, and until then its room is
/// held.
#[test]
fn what_a_list_does_not_show_is_looked_for() {
    for (found, expected) in [("ended", 3), ("gone", 43), ("there", 43)] {
        let mut test = Test::new();
        test.seen(&pod("u", "binds", json!({})));
        let started = test.start_of();
        test.seen(&pod("u", "binds", runs(started)));
        let at = test.world.clock.time(started + 40_000_000);
        test.now = at;
        test.world.pod_not_listed("u", at).unwrap();
        let orders = test.world.decide(at).unwrap();
        let [Order::Look(name)] = orders.as_slice() else { panic!("{orders:?}") };
        assert_eq!((name.uid.as_str(), test.books("binds").1), ("u", 1));
        let stamp = (started + 2_000_000) / 1_000_000 * 1_000_000;
        let there = match found {
            "ended" => Some(pod("u", "binds", ended(started, stamp))),
            "there" => Some(pod("u", "binds", runs(started))),
            _ => None,
        };
        let now = test.later();
        test.world.looked(name, there.as_ref(), now).unwrap();
        let (_, running, charged) = test.books("binds");
        assert_eq!(running, u64::from(found == "there"), "{found}");
        assert!((charged - f64::from(expected)).abs() < 1.1, "{found}: {charged}");
        // An answer about one that is not known is old news.
        test.world.looked(&PodName { uid: "other".into(), ..name.clone() }, None, now).unwrap();
        if found != "there" {
            test.world.looked(name, there.as_ref(), now).unwrap();
            assert_eq!(test.books("binds"), (0, 0, charged), "{found}");
        }
    }
}
