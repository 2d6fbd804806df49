//! The decision log of a real cluster, replayed and explained as people do it.

use std::path::Path;

use meed_replay::explain::{LogSubject, explain};
use meed_replay::{Recording, verify};
use meed_scenario::{Scenario, Setting};
use meed_sim::Unwatched;
use meed_sim::{SimulateOptions, simulate};
use meed_workload::{JobSource as _, OnBadLine};

use crate::cluster::{LONG_TERM, Meed};
use crate::plane::{until, with_plane};

pub(crate) fn is_as_recorded(path: &Path, run: &str) -> Recording {
    let recording = Recording::open(path, Some(run)).expect("a run of the log");
    let difference = verify(&recording, &mut Unwatched).expect("it runs again");
    assert!(difference.is_none(), "run {run}: {difference:?}");
    recording
}

/// Pods that came in a term, and how many of them ended under `fair` and under `long-term`: each
/// term is a workload of its own, also from its middle on.
pub(crate) fn simulated(path: &Path, run: &str) -> (u64, Vec<u64>) {
    let settings = [Setting::trace_run(run)];
    let scenario = Scenario::load_any(path, &settings, OnBadLine::Stop).expect("a workload");
    let mut source = scenario.source(0, OnBadLine::Stop).expect("its jobs");
    let pods = std::iter::from_fn(|| source.next_job().expect("a job")).count() as u64;
    let policies = ["fair", "long-term"].map(str::to_owned).to_vec();
    let options = SimulateOptions { policies, ..SimulateOptions::default() };
    let result = simulate(&scenario, &options, None, &mut Unwatched).expect("it runs");
    let ended = |run: &meed_sim::record::RunRecord| -> u64 {
        run.queues.iter().map(|queue| queue.jobs).sum()
    };
    (pods, result.runs.iter().map(ended).collect())
}

/// Three leaders write one file, the first of them killed: each one's decisions are decided again
/// from its own beginning.
#[test]
fn each_leaders_log_replays_to_its_decisions() {
    with_plane(&["kwok", "scheduler"], async |plane| {
        plane.nodes(3).await;
        plane.queue("alpha", "Binds").await;
        plane.queue("beta", "Gates").await;
        let path = plane.state().join("decisions.jsonl");
        let log = format!("--log={}", path.display());
        let more = ["--checkpoint-seconds=1", &log];
        let mut first = Meed::with(&plane, LONG_TERM, &more);
        first.decides().await;
        plane.submit("alpha", "a", 10, "4", "3s").await;
        plane.submit("beta", "b", 10, "4", "3s").await;
        until("pods run", 30, async || plane.ran(&["alpha", "beta"]).await.len() >= 6).await;
        first.signal("KILL");
        first.ended(5).await;
        let mut second = Meed::with(&plane, LONG_TERM, &more);
        second.decides().await;
        until("those of before have ended", 90, async || {
            let ran = plane.ran(&["alpha", "beta"]).await;
            ran.iter().filter(|ran| ran.ended.is_some()).count() == 20
        })
        .await;
        plane.submit("alpha", "late", 10, "4", "").await;
        until("six more run", 30, async || plane.ran(&["alpha", "beta"]).await.len() == 26).await;
        second.end().await;
        let mut third = Meed::with(&plane, LONG_TERM, &more);
        third.decides().await;
        plane.remove("alpha", "late-000").await;
        plane.remove("alpha", "late-001").await;
        tokio::time::sleep(std::time::Duration::from_secs(2)).await;
        third.end().await;
        for run in ["1", "2", "3"] {
            is_as_recorded(&path, run);
            let (pods, ended) = simulated(&path, run);
            assert_eq!(ended, [pods, pods], "run {run}");
            // The second leader's term has all that ran still, and six of those that came late.
            assert!(pods >= 6, "run {run}: {pods} pods");
        }
        // Why one that came under the second leader waits under the third.
        let recording = is_as_recorded(&path, "3");
        let waits = plane
            .all_pods("alpha")
            .await
            .into_iter()
            .find(|pod| pod.spec.as_ref().is_some_and(|spec| spec.node_name.is_none()));
        let waits = waits.expect("some wait").metadata.name.expect("a name");
        let job = LogSubject::Job(format!("alpha/{waits}"));
        let told = explain(&recording, &job, None).expect("it is explained");
        assert!(told.waits && told.as_recorded && !told.obstacles.is_empty(), "{told:?}");
    });
}
