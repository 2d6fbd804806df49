//! What the dashboard is told, and what of it a tenant is not.

use std::collections::BTreeSet;

use super::*;
use crate::dashboard::question::{Question, Refused, Sees, read};
use crate::world::Listed;

/// Queues `binds` and `gates` for all, `own` and `other` for one namespace each.
fn test() -> Test {
    let mut test = Test::new();
    for name in ["own", "other"] {
        let labels = json!({ "team": name });
        let namespace = json!({ "metadata": { "name": name, "labels": labels } });
        let namespace: Namespace = serde_json::from_value(namespace).unwrap();
        let labels = namespace.metadata.labels.unwrap();
        test.world.namespace_seen(name.to_owned(), labels);
        let mut queue = queue(name, "Binds");
        queue.spec.namespace_selector =
            serde_json::from_value(json!({ "matchLabels": { "team": name } })).unwrap();
        test.world.queue_seen(&queue);
    }
    let now = test.later();
    test.world.decide(now).unwrap();
    test
}

fn of(uid: &str, queue: &str, namespace: &str) -> Pod {
    pod(
        uid,
        queue,
        json!({ "metadata": { "namespace": namespace, "name": uid },
        "spec": { "schedulerName": "meed", "schedulingGates": null } }),
    )
}

fn tenant(names: &[&str]) -> Sees {
    Sees::Namespaces(names.iter().map(|&name| name.to_owned()).collect())
}

impl Test {
    fn ask(&mut self, sees: &Sees, path: &str) -> Result<Value, Refused> {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let question = read(path, query).unwrap().unwrap();
        let now = self.later();
        self.world.answer(sees, question, now).unwrap()
    }
}

fn names(all: &Value, key: &str) -> BTreeSet<String> {
    let rows = all.as_array().unwrap().iter();
    rows.map(|row| row[key].as_str().unwrap().to_owned()).collect()
}

#[test]
fn who_may_list_all_pods_sees_all() {
    let mut test = test();
    for (uid, queue, namespace) in
        [("a", "own", "own"), ("b", "own", "own"), ("c", "other", "other"), ("d", "binds", "other")]
    {
        test.seen(&of(uid, queue, namespace));
    }
    assert_eq!(test.starts().len(), 4);
    test.seen(&of("e", "other", "other"));
    assert!(test.starts().is_empty(), "four cores are taken");
    let queues = test.ask(&Sees::All, "queues").unwrap();
    let all = ["binds", "gates", "own", "other"].map(str::to_owned);
    assert_eq!(names(&queues["queues"], "queue"), all.into());
    let other = test.ask(&Sees::All, "queues/other").unwrap();
    assert_eq!((&other["held"], &other["waiting_tasks"]), (&json!(1.0), &json!(1)));
    assert_eq!(other["next"], 0);
    assert!(other["books"]["usage"].as_f64().unwrap() > 0.0);
    let cluster = test.ask(&Sees::All, "cluster").unwrap();
    assert_eq!((&cluster["node_count"], &cluster["open_jobs"]), (&json!(2), &json!(5)));
    let cpu = &cluster["nodes"][0]["resources"][0];
    assert_eq!((&cpu["has"], &cpu["held"], &cpu["free"]), (&json!(4.0), &json!(4.0), &json!(0.0)));
    let waiting = test.ask(&Sees::All, "jobs?state=waiting").unwrap();
    assert_eq!(names(&waiting["jobs"], "id"), ["other/e".to_owned()].into());
    let two = test.ask(&Sees::All, "jobs?limit=2&state=running").unwrap();
    assert_eq!(two["jobs"].as_array().unwrap().len(), 2);
    assert!(two["next"].is_string(), "more are there, and it is said");
    assert_eq!(test.ask(&Sees::All, "jobs?ended=true").unwrap()["jobs"], json!([]));
    let job = test.ask(&Sees::All, "jobs/own%2Fa").unwrap();
    assert_eq!((&job["state"], &job["spec"]["demand"]["cpu"]), (&json!("running"), &json!("1")));
    let why = test.ask(&Sees::All, "jobs/other%2Fe/why").unwrap();
    assert_eq!(why["standing"]["obstacles"][0]["what"], "size");
}

#[test]
fn a_tenant_sees_own_namespaces_their_queues_and_of_others_sums() {
    let mut test = test();
    for (uid, queue, namespace) in
        [("a", "own", "own"), ("b", "other", "other"), ("c", "other", "other")]
    {
        test.seen(&of(uid, queue, namespace));
    }
    // In a queue that both may use.
    test.seen(&of("theirs", "binds", "other"));
    test.starts();
    test.seen(&of("first", "binds", "other"));
    test.seen(&of("mine", "binds", "own"));
    test.seen(&of("waits", "own", "own"));
    test.seen(&of("far", "other", "other"));
    test.starts();
    let sees = tenant(&["own"]);
    let queues = test.ask(&sees, "queues").unwrap();
    let own = ["binds", "gates", "own"].map(str::to_owned);
    assert_eq!(names(&queues["queues"], "queue"), own.into());
    assert_eq!(queues["resources"][0]["held"], 4.0, "what all hold is no secret");
    assert_eq!(test.ask(&sees, "queues/other").unwrap_err().status.as_u16(), 404);
    let jobs = test.ask(&sees, "jobs").unwrap();
    let own = ["own/a", "own/mine", "own/waits"].map(str::to_owned);
    assert_eq!(names(&jobs["jobs"], "id"), own.into());
    assert_eq!(test.ask(&sees, "jobs?user=other").unwrap()["jobs"], json!([]));
    for path in ["jobs/other%2Fb", "jobs/other%2Ffar/why", "jobs/other%2Fnobody"] {
        let refused = test.ask(&sees, path).unwrap_err();
        assert_eq!(refused.status.as_u16(), 404, "whether it is there is not told: {path}");
        assert_eq!(refused, test.ask(&sees, "jobs/own%2Fnobody").unwrap_err());
    }
    assert_eq!(test.ask(&sees, "cluster").unwrap()["open_jobs"], 3);
    let mine = test.ask(&sees, "jobs/own%2Fmine/why").unwrap();
    let ahead = &mine["standing"]["leaf"]["first"][0]["job"];
    assert_eq!(ahead, "a pod of another namespace");
    let waits = test.ask(&sees, "jobs/own%2Fwaits/why").unwrap();
    let children = waits["standing"]["levels"][0]["children"].as_array().unwrap();
    let theirs = children.iter().find(|child| child["queue"] == "another queue").unwrap();
    assert!(theirs.get("key").is_none() && theirs.get("behind_by").is_none(), "{theirs}");
    for told in [jobs, mine, waits] {
        assert!(!told.to_string().contains("other\""), "{told}");
        assert!(!told.to_string().contains("other/"), "{told}");
    }
    let all = test.ask(&Sees::All, "jobs/own%2Fwaits/why").unwrap();
    assert!(all.to_string().contains("\"other\""), "who sees all is told");
}

#[test]
fn a_pod_that_is_not_taken_is_shown_with_the_reason() {
    let mut test = test();
    test.seen(&of("lost", "nobody", "own"));
    test.seen(&of("foreign", "other", "own"));
    test.starts();
    let sees = tenant(&["own"]);
    for (pod, reason) in [("lost", "QueueNotFound: "), ("foreign", "QueueNotAllowed: ")] {
        let why = test.ask(&sees, &format!("jobs/own%2F{pod}/why")).unwrap();
        assert!(why["job"]["why"].as_str().unwrap().starts_with(reason), "{why}");
        assert_eq!((&why["job"]["state"], &why["standing"]), (&json!("waiting"), &Value::Null));
    }
}

#[test]
fn namespaces_that_have_to_do_with_meed_are_those_that_are_asked_for() {
    let mut test = test();
    let ask = |test: &mut Test| {
        let now = test.later();
        let told = test.world.answer(&Sees::All, Question::Namespaces, now).unwrap().unwrap();
        serde_json::from_value::<BTreeSet<String>>(told).unwrap()
    };
    let chosen: BTreeSet<String> = ["other", "own"].map(str::to_owned).into();
    assert_eq!(ask(&mut test), chosen, "`n` is chosen by `{{}}` alone");
    test.seen(&pod("p", "binds", json!({})));
    let stranger = json!({ "metadata": { "namespace": "strangers", "labels": null },
        "spec": { "schedulingGates": null } });
    test.seen(&pod("s", "none", stranger));
    let mut all = chosen;
    all.insert("n".to_owned());
    assert_eq!(ask(&mut test), all);
    let labels = [("meed.dev/queue".to_owned(), "binds".to_owned())].into();
    test.world.namespace_seen("by-default".to_owned(), labels);
    all.insert("by-default".to_owned());
    assert_eq!(ask(&mut test), all);
}

#[test]
fn who_held_what_adds_up_and_others_are_one() {
    let mut test = test();
    let now = test.later();
    test.world.sample(now).unwrap();
    for (uid, queue) in [("a", "own"), ("b", "other"), ("c", "other")] {
        test.seen(&of(uid, queue, queue));
    }
    test.starts();
    for _ in 0..180 {
        let now = test.later();
        test.world.sample(now).unwrap();
    }
    let all = test.ask(&Sees::All, "history").unwrap();
    assert_eq!((&all["measured"], &all["capacity"]), (&json!("cpu"), &json!(4.0)));
    let last = |history: &Value, queue: Value| {
        let series = history["series"].as_array().unwrap().iter();
        let one = series.clone().find(|one| one["queue"] == queue).unwrap().clone();
        one["held"].as_array().unwrap().last().unwrap().as_f64().unwrap()
    };
    assert!((last(&all, json!("other")) - 2.0).abs() < 1e-6, "{all}");
    let own = test.ask(&tenant(&["own"]), "history?span=day").unwrap();
    assert!((last(&own, json!("own")) - 1.0).abs() < 1e-6);
    assert!((last(&own, Value::Null) - 2.0).abs() < 1e-6, "all others as one");
    assert!(!own.to_string().contains("other"));
    let steps = own["at_us"].as_array().unwrap().len();
    assert!((3..=4).contains(&steps), "{steps}");
    // A new leader begins anew.
    let listed = Listed { queues: vec![queue("own", "Binds")], ..listed() };
    test.restart(listed);
    let anew = test.ask(&Sees::All, "history").unwrap();
    assert_eq!(anew["at_us"].as_array().unwrap().len(), 1);
}
