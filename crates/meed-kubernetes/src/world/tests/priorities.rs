//! Pods of one tenant by their priority: queues below one.

use super::*;

fn below(name: &str, parent: &str, spec: Value) -> QueueObject {
    let mut all = json!({ "mode": "Binds", "namespaceSelector": {}, "parent": parent });
    lay(&mut all, spec);
    let queue = json!({ "apiVersion": "meed.dev/v1alpha1", "kind": "Queue",
        "metadata": { "name": name }, "spec": all });
    serde_json::from_value(queue).unwrap()
}

/// A pod of the queue `team`, of a whole node.
fn of_priority(uid: &str, priority: i32) -> Pod {
    let mut one = pod(
        uid,
        "team",
        json!({ "metadata": { "name": uid }, "spec": {
            "schedulerName": "meed", "schedulingGates": null, "priority": priority,
            "containers": [{ "name": "c", "resources": { "requests": { "cpu": "2" } } }],
        } }),
    );
    one.metadata.labels = Some([("meed.dev/queue".to_owned(), "team".to_owned())].into());
    one
}

/// `team` with three queues below it, the lower two below one.
fn team() -> Vec<QueueObject> {
    let all = json!({ "cpu": 1000 });
    vec![
        queue("team", "Binds"),
        below("urgent", "team", json!({ "minPriority": 100, "min": all })),
        below("rest", "team", json!({ "minPriority": -1000 })),
        below("usual", "rest", json!({ "minPriority": 0, "min": all })),
        below("idle", "rest", json!({ "minPriority": -1000 })),
    ]
}

impl Test {
    fn with_team() -> Test {
        let mut test = Test::new();
        team().iter().for_each(|queue| test.world.queue_seen(queue));
        let now = test.later();
        test.world.decide(now).unwrap();
        test
    }

    /// Which of these start, and of which queues they are.
    fn started(&mut self) -> Vec<(String, String)> {
        let starts = self.starts();
        starts.into_iter().map(|start| (start.pod.name, start.queue)).collect()
    }
}

#[test]
fn who_has_the_higher_priority_starts_first_whenever_it_came() {
    let mut test = Test::with_team();
    for (uid, priority) in
        [("i1", -5), ("i2", -1000), ("u1", 0), ("u2", 99), ("x1", 100), ("x2", 2_000_000)]
    {
        test.seen(&of_priority(uid, priority));
    }
    let named = |all: &[(&str, &str)]| -> Vec<(String, String)> {
        all.iter().map(|(pod, queue)| ((*pod).to_owned(), (*queue).to_owned())).collect()
    };
    // Two nodes, one pod on each: by priority, and of a kind by arrival.
    assert_eq!(test.started(), named(&[("x1", "urgent"), ("x2", "urgent")]));
    for gone in ["x1", "x2"] {
        test.gone(&of_priority(gone, 100));
    }
    assert_eq!(test.started(), named(&[("u1", "usual"), ("u2", "usual")]));
    test.gone(&of_priority("u1", 0));
    test.seen(&of_priority("x3", 500));
    assert_eq!(test.started(), named(&[("x3", "urgent")]));
    test.gone(&of_priority("u2", 0));
    assert_eq!(test.started(), named(&[("i1", "idle")]));
    // All of it is charged to the team.
    let now = test.later();
    test.world.statuses(now).unwrap();
    let driver = &test.world.driver;
    let charged = |name: &str| {
        let id = driver.queue_named(name).unwrap();
        driver.engine().charged(id, now)
    };
    let parts = ["team.urgent", "team.rest.usual", "team.rest.idle"].map(charged);
    let parts: f64 = parts.iter().sum();
    assert!(parts > 4.0 && (charged("team") / parts - 1.0).abs() < 1e-9, "{parts}");
}

#[test]
fn a_pod_of_no_such_priority_is_told_and_others_keep_their_queue() {
    let mut test = Test::with_team();
    test.seen(&of_priority("low", -1001));
    assert_eq!(test.said(), ["PriorityTooLow"]);
    // A queue for it comes.
    test.world.queue_seen(&below("lowest", "team", json!({ "minPriority": -5000 })));
    let starts = test.started();
    assert_eq!(starts, [("low".to_owned(), "lowest".to_owned())]);
    // A queue that does not choose the namespace is not gone round to.
    test.world.queue_seen(&below(
        "shut",
        "team",
        json!({ "minPriority": 7000,
        "namespaceSelector": { "matchLabels": { "some": "other" } } }),
    ));
    test.starts();
    test.seen(&of_priority("high", 8000));
    assert_eq!(test.said(), ["QueueNotAllowed"]);
    // A queue goes while its pods wait: they are looked for another by the name that they give.
    test.seen(&of_priority("runs", 100));
    assert_eq!(test.started().len(), 1);
    test.seen(&of_priority("waits", 100));
    assert_eq!(test.starts(), []);
    test.world.queue_gone("urgent");
    assert_eq!(test.said(), ["QueueNotFound"]);
    assert_eq!(test.books("usual").0, 1, "it waits where its priority is the highest now");
}

#[test]
fn a_new_leader_finds_all_where_they_were() {
    let mut test = Test::with_team();
    for (uid, priority) in [("u1", 0), ("x1", 100), ("x2", 100), ("i1", -5)] {
        test.seen(&of_priority(uid, priority));
    }
    let since = test.starts()[0].started;
    let runs = |uid: &str, node: &str| {
        let mut one = of_priority(uid, 100);
        one.spec.as_mut().unwrap().node_name = Some(node.to_owned());
        let notes =
            [("meed.dev/started", since.to_string()), ("meed.dev/charged", "urgent".into())];
        let notes = notes.map(|(key, value)| (key.to_owned(), value));
        one.metadata.annotations = Some(notes.into());
        one
    };
    let pods =
        vec![runs("x1", "n1"), runs("x2", "n2"), of_priority("u1", 0), of_priority("i1", -5)];
    let queues = [listed().queues, team()].concat();
    test.restart(Listed { pods, queues, ..listed() });
    assert_eq!(test.starts(), []);
    let counts = ["urgent", "usual", "idle"].map(|name| {
        let (waiting, running, _) = test.books(name);
        (waiting, running)
    });
    assert_eq!(counts, [(0, 2), (1, 0), (1, 0)]);
}
