//! Two tenants on 20 nodes: one computes alone, then the other comes.

use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;

use crate::check::{Ran, ended};
use crate::cluster::{LONG_TERM, Meed};
use crate::plane::{Plane, until, with_plane};

const NODES: usize = 20;
/// Two of them fill a node.
const CPU: &str = "4";
const SLOTS: usize = 40;

/// Alpha computes alone for some seconds, then beta comes: who starts then?
struct Story {
    alpha: usize,
    beta: usize,
    /// Cores x seconds that alpha had used when beta came.
    lead: f64,
    starts: Vec<Ran>,
    /// When all of beta's pods were there.
    there: i64,
}

async fn tell(plane: &Plane, policy: &str, mode: &str) -> (Meed, Story) {
    plane.nodes(NODES).await;
    plane.queue("alpha", mode).await;
    plane.queue("beta", mode).await;
    let mut meed = Meed::start(plane, policy);
    meed.decides().await;
    plane.submit("alpha", "a", 4 * SLOTS, CPU, "3s").await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    let came = now();
    plane.submit("beta", "b", 2 * SLOTS, CPU, "3s").await;
    let there = now();
    let all = 6 * SLOTS;
    let ends = until("all pods have ended", 300, async || {
        plane.no_node_is_overfull(8.0).await;
        let ran = plane.ran(&["alpha", "beta"]).await;
        ran.iter().filter(|ran| ran.ended.is_some()).count() == all
    });
    let is_over = tokio::time::timeout(Duration::from_secs(150), ends).await;
    assert!(is_over.is_ok(), "pods that have not ended:\n{}", unfinished(plane).await);
    let starts = plane.ran(&["alpha", "beta"]).await;
    let before = |ran: &&Ran| ran.started < came;
    let used = |ran: &Ran| (ran.ended.unwrap_or(came).min(came) - ran.started) as f64 / 1e6;
    let lead = starts.iter().filter(before).map(|ran| ran.cpu * used(ran)).sum();
    let count = |queue: &str| starts.iter().filter(|ran| ran.queue == queue).count();
    let (alpha, beta) = (count("alpha"), count("beta"));
    (meed, Story { alpha, beta, lead, starts, there })
}

/// The pods that have not ended, and how they stand.
async fn unfinished(plane: &Plane) -> String {
    let all = [plane.all_pods("alpha").await, plane.all_pods("beta").await].concat();
    let row = |pod: &Pod| {
        let node = pod.spec.as_ref().and_then(|spec| spec.node_name.clone());
        let phase = pod.status.as_ref().and_then(|status| status.phase.clone());
        let (name, notes) = (&pod.metadata.name, &pod.metadata.annotations);
        format!("{name:?} on {node:?}, {phase:?}, {notes:?}\n")
    };
    all.iter().filter(|pod| ended(pod).is_none()).map(row).collect()
}

fn now() -> i64 {
    k8s_openapi::jiff::Timestamp::now().as_microsecond()
}

impl Story {
    /// Of the starts from the moment on at which beta's pods are all there, the first so many: how
    /// many are beta's.
    fn of_beta(&self, first: usize) -> usize {
        // A watch may be a moment late.
        let known = self.there + 200_000;
        let mut later: Vec<&Ran> = self.starts.iter().filter(|ran| ran.started > known).collect();
        later.sort_by_key(|ran| ran.started);
        later.iter().take(first).filter(|ran| ran.queue == "beta").count()
    }

    /// Starts of beta before that.
    fn of_beta_before(&self) -> usize {
        let known = self.there + 200_000;
        self.starts.iter().filter(|ran| ran.queue == "beta" && ran.started <= known).count()
    }
}

/// The ledger is read when Meed has ended: its last word is written then.
async fn ends_true(plane: &Plane, meed: Meed, remembers: bool) {
    meed.end().await;
    for queue in ["alpha", "beta"] {
        match remembers {
            true => plane.ledger_is_true(queue, 0.0).await,
            false => plane.use_is_true(queue).await,
        }
    }
    plane.invariants(&["alpha", "beta"], 8.0).await;
}

/// Fair shares of now: the past does not count, so both get half of what comes free.
#[test]
fn with_fair_they_split_at_once_and_kube_scheduler_places() {
    with_plane(&["kwok", "scheduler"], async |plane| {
        let (meed, story) = tell(&plane, "fair", "Gates").await;
        assert_eq!((story.alpha, story.beta), (4 * SLOTS, 2 * SLOTS));
        // Alpha holds all when beta comes: beta first gets what comes free until it holds half,
        // and from then on every other place. So of 60 starts 40 are beta's, not all; those that
        // it had before all its pods were there count among them.
        let (of_beta, before) = (story.of_beta(60), story.of_beta_before());
        let is_split = of_beta + before >= 25 && of_beta <= 50;
        assert!(is_split, "{of_beta} of 60, {before} before");
        ends_true(&plane, meed, false).await;
    });
}

/// Long-term shares: who has computed alone waits until the other has had as much.
#[test]
fn with_long_term_the_newcomer_is_served_until_even_and_meed_binds() {
    with_plane(&["kwok"], async |plane| {
        let (meed, story) = tell(&plane, LONG_TERM, "Binds").await;
        assert_eq!((story.alpha, story.beta), (4 * SLOTS, 2 * SLOTS));
        // Beta owes nothing, alpha is ahead by its lead: beta's pods of 12 core-seconds are served
        // alone until they have made up for it.
        let even = (story.lead / 12.0) as usize;
        assert!(even > SLOTS / 2, "alpha had a lead of {} core-seconds", story.lead);
        let before = story.of_beta_before();
        let first = even.saturating_sub(before).min(SLOTS);
        assert!(first > 5, "{before} of beta's pods ran before all were there");
        assert_eq!(story.of_beta(first), first, "alpha is ahead by {even} pods of beta's");
        ends_true(&plane, meed, true).await;
    });
}
