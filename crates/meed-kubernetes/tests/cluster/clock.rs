//! Leaders whose wall clock steps, and whose clock is an hour off from the beginning. The machine's
//! clock stays: a library that is loaded before libc (`step.c`) tells the process another.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::cluster::{LONG_TERM, Meed};
use crate::plane::{Plane, say, until, with_plane};

const HOUR: i64 = 3600;

/// The library; none where there is no C compiler.
fn library(plane: &Plane) -> Option<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cluster/step.c");
    let library = plane.state().join("step.so");
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-o"]).args([&library, &source]).arg("-ldl");
    match cc.status() {
        Ok(done) => {
            assert!(done.success(), "step.c is compiled");
            Some(library)
        }
        Err(why) => {
            say(&format!("skipped: clocks that step, for there is no C compiler: {why}"));
            None
        }
    }
}

/// The ledger has the time that the API server has, and the pods have what they used by it.
async fn is_true(plane: &Plane, what: &str) {
    let status = plane.read_queue("alpha").await.status.expect("a status");
    let now = k8s_openapi::jiff::Timestamp::now().as_microsecond();
    let off = (status.as_of_micros.expect("an instant") - now) as f64 / 1e6;
    assert!(off.abs() < 10.0, "{what}: the ledger is {off} s off");
    plane.ledger_is_true("alpha", 0.0).await;
    let ran = plane.ran(&["alpha"]).await;
    assert!(ran.iter().all(|ran| (ran.started - now).abs() < 300_000_000), "{what}: {ran:?}");
}

#[test]
fn a_clock_that_steps_an_hour_charges_nobody_an_hour() {
    with_plane(&["kwok"], async |plane| {
        let Some(library) = library(&plane) else { return };
        // Certificates of this test are not an hour old.
        plane.kubeconfig_like("meed", "trusting", |cluster| {
            cluster["insecure-skip-tls-verify"] = true.into();
            let fields = cluster.as_object_mut().expect("an object");
            fields.remove("certificate-authority-data");
        });
        let file = plane.state().join("step");
        let steps = |seconds: i64| {
            std::fs::write(&file, seconds.to_string()).expect("the clock steps");
        };
        let (library, at) = (library.to_string_lossy().into_owned(), file.to_string_lossy());
        let variables = [("LD_PRELOAD", library.as_str()), ("MEED_STEP", &at)];
        let leader = || {
            let more: (&str, &[&str]) = (LONG_TERM, &["--checkpoint-seconds=1"]);
            Meed::of(&plane, "trusting", more, &variables)
        };
        plane.nodes(2).await;
        plane.queue("alpha", "Binds").await;
        let runs = async |names: &str, count: usize| {
            plane.submit("alpha", names, 1, "2", if count == 2 { "2s" } else { "" }).await;
            until("it runs", 20, async || plane.ran(&["alpha"]).await.len() == count).await;
        };
        steps(0);
        let mut meed = leader();
        meed.decides().await;
        runs("a", 1).await;
        // It steps while the leader leads: an hour on, then two back.
        steps(HOUR);
        tokio::time::sleep(Duration::from_secs(2)).await;
        runs("b", 2).await;
        steps(-HOUR);
        tokio::time::sleep(Duration::from_secs(2)).await;
        runs("c", 3).await;
        meed.end().await;
        is_true(&plane, "after steps").await;
        // The next leaders' clocks are off from their beginning.
        for (seconds, names, count) in [(HOUR, "d", 4), (-HOUR, "e", 5)] {
            steps(seconds);
            let mut meed = leader();
            meed.decides().await;
            assert!(meed.log().contains("the API server's clock is"), "{}", meed.log());
            runs(names, count).await;
            tokio::time::sleep(Duration::from_secs(2)).await;
            meed.end().await;
            is_true(&plane, names).await;
        }
        plane.invariants(&["alpha"], 8.0).await;
    });
}
