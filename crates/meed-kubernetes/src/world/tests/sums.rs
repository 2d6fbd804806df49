//! What parents are entitled to, hold and are owed is the sum over all below them.

use std::collections::BTreeMap;

use super::*;
use crate::crd::QueueObjectStatus;

fn below(name: &str, parent: &str) -> QueueObject {
    let mut queue = queue(name, "Binds");
    queue.spec.parent = Some(parent.to_owned());
    queue
}

/// One figure of a status.
type Read<'r> = &'r dyn Fn(&QueueObjectStatus) -> f64;

fn number(text: &Option<String>) -> f64 {
    text.as_ref().and_then(|text| text.split(' ').next()).unwrap().parse().unwrap()
}

#[test]
fn figures_of_parents_are_sums_over_their_leaves() {
    let mut test = Test::new();
    for (name, parent) in [("top", ""), ("mid", "top"), ("a", "mid"), ("b", "mid"), ("c", "top")] {
        let queue = if parent.is_empty() { queue(name, "Binds") } else { below(name, parent) };
        test.world.queue_seen(&queue);
    }
    let now = test.later();
    test.world.decide(now).unwrap();
    let pod = |uid: &str, queue: &str| {
        pod(
            uid,
            queue,
            json!({ "metadata": { "name": uid },
            "spec": { "schedulerName": "meed", "schedulingGates": null } }),
        )
    };
    for (uid, queue) in [("1", "a"), ("2", "b"), ("3", "c"), ("4", "binds"), ("5", "a")] {
        test.seen(&pod(uid, queue));
    }
    assert_eq!(test.starts().len(), 4);
    test.now = test.now.saturating_add(Span::from_secs(3600).unwrap());
    let now = test.later();
    let all = test.world.statuses(now).unwrap();
    let of = |name: &str| -> &QueueObjectStatus {
        &all.iter().find(|(queue, _)| queue == name).unwrap().1
    };
    for (parent, leaves) in [("mid", &["a", "b"][..]), ("top", &["a", "b", "c"]), ("c", &["c"])] {
        let status = of(parent);
        let sum = |what: Read<'_>| leaves.iter().map(|leaf| what(of(leaf))).sum::<f64>();
        let told: [(&str, Read<'_>); 8] = [
            ("entitled", &|status| number(&status.entitled)),
            ("used", &|status| number(&status.used)),
            ("balance", &|status| number(&status.balance)),
            ("usage", &|status| status.usage.unwrap()),
            ("charged", &|status| status.charged.unwrap()),
            ("waiting", &|status| status.waiting.unwrap() as f64),
            ("running", &|status| status.running.unwrap() as f64),
            ("unplaced", &|status| status.unplaced.unwrap() as f64),
        ];
        for (what, read) in told {
            let (own, sum) = (read(status), sum(read));
            assert!((own - sum).abs() < 0.03, "{what} of {parent}: {own}, not {sum}");
        }
    }
    // Each queue had a turn, and the second pod of `a` waits, below `mid`, below `top`.
    let next: Vec<_> = all.iter().filter_map(|(name, one)| Some((&**name, one.next?))).collect();
    assert_eq!(next, [("a", 1), ("mid", 1), ("top", 1)]);
    let top = of("top");
    assert_eq!((top.waiting, top.running), (Some(1), Some(3)));
    assert_eq!(top.used.as_deref(), Some("3 cpu"));
    assert!(number(&of("top").entitled) > 1.0, "{:?}", top.entitled);
}

/// Who holds less is served before; of many the first ten are told.
#[test]
fn a_status_says_who_is_served_next() {
    let mut test = Test::new();
    let names: Vec<String> = (0..12).map(|queue| format!("q{queue:02}")).collect();
    for name in &names {
        test.world.queue_seen(&queue(name, "Binds"));
    }
    let now = test.later();
    test.world.decide(now).unwrap();
    let of = |uid: &str, queue: &str| {
        let spec = json!({ "schedulerName": "meed", "schedulingGates": null });
        pod(uid, queue, json!({ "metadata": { "name": uid }, "spec": spec }))
    };
    for (uid, name) in ["q00", "q01", "q02", "q03"].iter().enumerate() {
        test.seen(&of(&format!("held-{uid}"), name));
    }
    assert_eq!(test.starts().len(), 4, "the node is full");
    for name in &names[3..] {
        test.seen(&of(&format!("waits-{name}"), name));
    }
    test.seen(&of("waits-q02", "q02"));
    assert!(test.starts().is_empty());
    let now = test.later();
    let all = test.world.statuses(now).unwrap();
    let next: BTreeMap<&str, Option<u64>> =
        all.iter().map(|(name, status)| (&**name, status.next)).collect();
    for (place, name) in (1..).zip(&names[4..]) {
        assert_eq!(next[&**name], Some(place), "{name} holds nothing, and was declared so");
    }
    assert_eq!((next["q02"], next["q03"]), (Some(9), Some(10)), "these hold something");
    assert_eq!((next["q00"], next["q01"]), (None, None), "nothing of these waits");
}

/// A minimum that the policy above does not count is told where people look; pods are served.
#[test]
fn a_minimum_that_is_not_kept_is_told() {
    let mut test = Test::new();
    for (name, min) in [("m", json!({ "memory": "1Gi" })), ("c", json!({ "cpu": 1 }))] {
        let mut object = queue(name, "Binds");
        object.spec.min = serde_json::from_value(min).unwrap();
        test.world.queue_seen(&object);
    }
    let now = test.later();
    test.world.decide(now).unwrap();
    let all = test.world.statuses(now).unwrap();
    let accepted = |name: &str| {
        let one = &all.iter().find(|(queue, _)| queue == name).unwrap().1.conditions[0];
        (one.status.clone(), one.reason.clone(), one.message.clone())
    };
    let (status, reason, why) = accepted("m");
    assert_eq!((&*status, &*reason), ("True", "MinimumNotKept"));
    assert!(why.contains("counts cpu only"), "{why}");
    assert_eq!(accepted("c").1, "Accepted");
}
