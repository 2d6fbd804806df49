//! Leaders that are killed, stopped and deposed; pods that change under Meed's hands.

use std::time::Duration;

use kube::api::{ListParams, PostParams};
use serde_json::json;

use crate::check::{note, ran};
use crate::cluster::{LONG_TERM, Meed, pod};
use crate::plane::{Plane, until, with_plane};

/// A leader is killed while pods run and wait; some end while nobody leads. The next one goes on,
/// and nothing is forgotten, charged twice or bound twice.
#[test]
fn a_killed_leader_loses_nothing() {
    with_plane(&["kwok"], async |plane| {
        plane.nodes(4).await;
        plane.queue("alpha", "Binds").await;
        plane.queue("beta", "Binds").await;
        let mut meed = Meed::start(&plane, LONG_TERM);
        meed.decides().await;
        plane.submit("alpha", "a", 12, "4", "4s").await;
        plane.submit("beta", "b", 12, "4", "6s").await;
        until("pods run", 30, async || plane.ran(&["alpha", "beta"]).await.len() >= 8).await;
        tokio::time::sleep(Duration::from_millis(2500)).await;
        meed.signal("KILL");
        meed.ended(5).await;
        let mut next = Meed::start(&plane, LONG_TERM);
        next.decides().await;
        until("all pods have ended", 60, async || {
            let ran = plane.ran(&["alpha", "beta"]).await;
            ran.iter().filter(|ran| ran.ended.is_some()).count() == 24
        })
        .await;
        let epochs: Vec<String> = plane
            .all_pods("alpha")
            .await
            .iter()
            .filter_map(|pod| note(pod, "meed.dev/epoch"))
            .collect();
        assert!(epochs.contains(&"1".to_owned()) && epochs.contains(&"2".to_owned()), "{epochs:?}");
        next.end().await;
        plane.invariants(&["alpha", "beta"], 8.0).await;
        for queue in ["alpha", "beta"] {
            plane.ledger_is_true(queue, 0.0).await;
        }
    });
}

/// A leader that was stopped and goes on has been deposed meanwhile: it ends, and what it still
/// sends is refused by the API server itself.
#[test]
fn a_deposed_leader_is_refused() {
    with_plane(&["kwok"], async |plane| {
        plane.nodes(2).await;
        plane.queue("alpha", "Binds").await;
        let mut first = Meed::start(&plane, LONG_TERM);
        first.decides().await;
        plane.submit("alpha", "a", 2, "4", "").await;
        until("pods run", 30, async || plane.ran(&["alpha"]).await.len() == 2).await;
        first.signal("STOP");
        let mut second = Meed::start(&plane, LONG_TERM);
        second.decides().await;
        plane.submit("alpha", "late", 6, "4", "").await;
        first.signal("CONT");
        let ended = first.ended(15).await;
        assert!(!ended.success(), "{}", first.log());
        assert!(first.log().contains("no longer leads"), "{}", first.log());

        // Four places: two are taken by then, and two of the late ones get the others.
        until("the next leads", 30, async || plane.ran(&["alpha"]).await.len() == 4).await;
        let as_meed = plane.client_of("meed").await;
        let bind = async |epoch: &str| {
            let waiting = plane.all_pods("alpha").await;
            let waiting = waiting.iter().find(|pod| ran(pod).is_none()).unwrap();
            let name = waiting.metadata.name.clone().unwrap();
            let binding = json!({
                "apiVersion": "v1", "kind": "Binding",
                "metadata": { "name": name, "annotations": { "meed.dev/epoch": epoch } },
                "target": { "apiVersion": "v1", "kind": "Node", "name": "n00" },
            });
            let path = format!("/api/v1/namespaces/alpha/pods/{name}/binding");
            let request = http::Request::post(path).header("content-type", "application/json");
            let request = request.body(serde_json::to_vec(&binding).unwrap()).unwrap();
            as_meed.request_text(request).await
        };
        let refused = bind("1").await.unwrap_err().to_string();
        assert!(refused.contains("another leader has taken over"), "{refused}");
        second.end().await;
        plane.ledger_is_true("alpha", 0.0).await;
        // The fence is not simply shut: the present epoch passes.
        bind("2").await.unwrap();
    });
}

/// A pod is deleted and made anew under its name, again and again: each is another pod, and each
/// that ran is charged for itself.
#[test]
fn a_pod_made_anew_under_its_name_is_another() {
    with_plane(&["kwok"], async |plane| {
        plane.nodes(1).await;
        plane.queue("alpha", "Binds").await;
        let mut meed = Meed::start(&plane, LONG_TERM);
        meed.decides().await;
        let pods = plane.pods("alpha");
        for _ in 0..30 {
            let one = pod("same", "alpha", "8", "", json!({ "schedulerName": "meed" }));
            pods.create(&PostParams::default(), &one).await.unwrap();
            plane.remove("alpha", "same").await;
            until("it is gone", 10, async || pods.get_opt("same").await.unwrap().is_none()).await;
        }
        // The fake kubelet deletes by name, and may be late: it must not hit the last one.
        tokio::time::sleep(Duration::from_secs(2)).await;
        let last = pod("same", "alpha", "8", "", json!({ "schedulerName": "meed" }));
        let made = pods.create(&PostParams::default(), &last).await.unwrap();
        until("the last one runs", 20, async || plane.ran(&["alpha"]).await.len() == 1).await;
        let runs = pods.get("same").await.unwrap();
        assert_eq!(runs.metadata.uid, made.metadata.uid);
        tokio::time::sleep(Duration::from_secs(2)).await;
        meed.end().await;
        // Those before were deleted at once: together they may have used some moments.
        let status = plane.read_queue("alpha").await.status.unwrap();
        assert_eq!((status.running, status.waiting), (Some(1), Some(0)));
        plane.ledger_is_true("alpha", 4.0).await;
        plane.invariants(&["alpha"], 8.0).await;
    });
}

/// While the head of the ledger cannot be written, checkpoints fail, and leave one set of shards
/// behind however many they are; the first that succeeds leaves nothing of them.
#[test]
fn checkpoints_that_failed_leave_nothing_behind() {
    with_plane(&["kwok"], async |plane| {
        plane.nodes(1).await;
        plane.queue("alpha", "Binds").await;
        let mut meed = Meed::start(&plane, LONG_TERM);
        meed.decides().await;
        let kind = "ValidatingAdmissionPolicy";
        let rule = json!({ "apiGroups": [""], "apiVersions": ["v1"], "operations": ["UPDATE"],
            "resources": ["configmaps"] });
        let policy = json!({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": kind,
            "metadata": { "name": "no-head" },
            "spec": { "failurePolicy": "Fail", "matchConstraints": { "resourceRules": [rule] },
                "validations": [{ "expression": "object.metadata.name != 'meed-ledger'" }] },
        });
        let binding = json!({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": format!("{kind}Binding"),
            "metadata": { "name": "no-head" },
            "spec": { "policyName": "no-head", "validationActions": ["Deny"] },
        });
        plane.apply(&policy).await;
        plane.apply(&binding).await;
        plane.submit("alpha", "a", 4, "4", "1s").await;
        let maps = plane.api("v1", "ConfigMap", Some("meed-system"));
        let shards = async || {
            let list = maps.list(&ListParams::default().labels("meed.dev/ledger")).await;
            list.expect("a list").items.len()
        };
        let failures = || meed.log().matches("no checkpoint: ").count();
        until("a checkpoint fails", 60, async || failures() >= 1).await;
        let after_one = shards().await;
        until("checkpoints fail", 60, async || failures() >= 5).await;
        assert_eq!(after_one, 2, "the set that the head names, and one that failed");
        assert_eq!(shards().await, after_one, "failures do not pile up");
        let bindings = format!("{kind}Binding");
        let bindings = plane.api("admissionregistration.k8s.io/v1", &bindings, None);
        bindings.delete("no-head", &Default::default()).await.expect("it is deleted");
        until("one checkpoint is all there is", 60, async || shards().await == 1).await;
        assert!(!meed.has_ended(), "{}", meed.log());
        meed.end().await;
        plane.ledger_is_true("alpha", 0.0).await;
    });
}

/// A Queue that is deleted and made anew is the old one, with all that it has used; meanwhile its
/// pods wait, and say why.
#[test]
fn a_queue_made_anew_keeps_its_history() {
    with_plane(&["kwok"], async |plane| {
        plane.nodes(1).await;
        plane.queue("alpha", "Binds").await;
        plane.queue("beta", "Binds").await;
        let mut meed = Meed::start(&plane, LONG_TERM);
        meed.decides().await;
        plane.submit("alpha", "a", 1, "8", "2s").await;
        until("it has ended", 20, async || {
            plane.ran(&["alpha"]).await.iter().any(|ran| ran.ended.is_some())
        })
        .await;
        let usage = async || plane.read_queue("alpha").await.status.and_then(|all| all.usage);
        until("its use is told", 10, async || usage().await.is_some_and(|used| used > 10.0)).await;
        let before = usage().await.unwrap();
        let queues = plane.api("meed.dev/v1alpha1", "Queue", None);
        queues.delete("alpha", &Default::default()).await.unwrap();
        plane
            .pods("alpha")
            .create(
                &PostParams::default(),
                &pod("orphan", "alpha", "1", "1s", json!({ "schedulerName": "meed" })),
            )
            .await
            .unwrap();
        until("the orphan is told", 10, async || {
            plane.reasons("alpha", "orphan").await.contains(&"QueueNotFound".to_owned())
        })
        .await;
        // The ledger remembers the queue through a restart, too.
        meed.end().await;
        let mut next = Meed::start(&plane, LONG_TERM);
        next.decides().await;
        plane.queue("alpha", "Binds").await;
        until("the orphan ran", 20, async || plane.ran(&["alpha"]).await.len() == 2).await;
        until("its use is told", 10, async || usage().await.is_some_and(|used| used > 0.0)).await;
        let after = usage().await.unwrap();
        assert!(after >= before, "{after} after, {before} before");
        next.end().await;
        plane.ledger_is_true("alpha", 0.0).await;
    });
}

/// All of forty pods are bound once, and charged by their own times, whatever `disturb` does to the
/// control plane while they start and end.
fn none_is_lost_or_charged_twice(disturb: impl AsyncFnOnce(&Plane)) {
    with_plane(&["kwok"], async move |plane| {
        plane.nodes(4).await;
        plane.queue("alpha", "Binds").await;
        let mut meed = Meed::start(&plane, LONG_TERM);
        meed.decides().await;
        plane.submit("alpha", "a", 40, "2", "1s").await;
        disturb(&plane).await;
        let meed = served_to_the_end(&plane, meed, 40).await;
        meed.end().await;
        plane.invariants(&["alpha"], 8.0).await;
        plane.ledger_is_true("alpha", 0.0).await;
    });
}

/// etcd is away for some seconds: every write comes to a known end.
#[test]
fn a_database_that_is_away_is_waited_for() {
    none_is_lost_or_charged_twice(async |plane| {
        plane.part("stop", "etcd");
        tokio::time::sleep(Duration::from_secs(3)).await;
        plane.part("start", "etcd");
    });
}

/// The API server is away for some seconds, and begins anew: all watches with it.
#[test]
fn an_api_server_that_restarts_is_waited_for() {
    none_is_lost_or_charged_twice(async |plane| {
        plane.part("stop", "apiserver");
        tokio::time::sleep(Duration::from_secs(2)).await;
        plane.part("start", "apiserver");
    });
}

/// etcd stands still: writes are answered late, or not at all.
#[test]
fn a_database_that_stands_still_costs_nobody_anything() {
    none_is_lost_or_charged_twice(async |plane| {
        plane.signal("STOP", "etcd");
        tokio::time::sleep(Duration::from_secs(4)).await;
        plane.signal("CONT", "etcd");
    });
}

/// The API server hangs when the leader is to end: it ends before it would be killed, and the next
/// one charges what it could not write.
#[test]
fn a_leader_ends_in_time_though_the_api_server_hangs() {
    with_plane(&["kwok"], async |plane| {
        plane.nodes(1).await;
        plane.queue("alpha", "Binds").await;
        let mut meed = Meed::start(&plane, LONG_TERM);
        meed.decides().await;
        plane.submit("alpha", "a", 2, "2", "").await;
        until("they run", 30, async || plane.ran(&["alpha"]).await.len() == 2).await;
        plane.signal("STOP", "apiserver");
        // A checkpoint is being written.
        tokio::time::sleep(Duration::from_millis(1500)).await;
        meed.signal("TERM");
        // terminationGracePeriodSeconds is 30.
        let ended = meed.ended(28).await;
        plane.signal("CONT", "apiserver");
        assert!(ended.success(), "{ended}: {}", meed.log());
        assert!(meed.log().contains("no last checkpoint"), "{}", meed.log());
        let mut next = Meed::start(&plane, LONG_TERM);
        next.decides().await;
        next.end().await;
        plane.ledger_is_true("alpha", 0.0).await;
        plane.invariants(&["alpha"], 8.0).await;
    });
}

/// Waits until so many pods have ended. Where the lease could not be renewed Meed has ended, and
/// is started again, as a Deployment does.
async fn served_to_the_end(plane: &Plane, mut meed: Meed, count: usize) -> Meed {
    until("all pods have ended", 90, async || {
        if meed.has_ended() {
            assert!(meed.log().contains("no longer leads"), "{}", meed.log());
            meed = Meed::start(plane, LONG_TERM);
        }
        plane.no_node_is_overfull(8.0).await;
        let pods = plane.pods("alpha").list(&Default::default()).await;
        pods.is_ok_and(|pods| {
            let ended = pods.items.iter().filter_map(ran).filter(|ran| ran.ended.is_some());
            ended.count() == count
        })
    })
    .await;
    meed
}
