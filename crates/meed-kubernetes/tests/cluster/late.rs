//! News that Meed hears late: a charge goes by the pods' own times all the same.

use std::time::Duration;

use crate::cluster::{LONG_TERM, Meed};
use crate::plane::{until, with_plane};

/// Meed stands still for a while, shorter than its lease lasts, and its watch goes on from where it
/// stood: pods have ended meanwhile.
fn pods_that_ended_unheard_are_charged_to_their_ends(parts: &[&str], mode: &'static str) {
    with_plane(parts, async |plane| {
        plane.nodes(2).await;
        plane.queue("alpha", mode).await;
        let mut meed = Meed::start(&plane, LONG_TERM);
        meed.decides().await;
        plane.submit("alpha", "a", 8, "2", "2s").await;
        until("all pods run", 30, async || plane.ran(&["alpha"]).await.len() == 8).await;
        meed.signal("STOP");
        tokio::time::sleep(Duration::from_secs(7)).await;
        meed.signal("CONT");
        plane.until_ends_are_heard("alpha").await;
        meed.end().await;
        plane.ledger_is_true("alpha", 0.0).await;
    });
}

#[test]
fn a_pod_that_meed_binds_and_that_ends_unheard_is_charged_to_its_end() {
    pods_that_ended_unheard_are_charged_to_their_ends(&["kwok"], "Binds");
}

#[test]
fn a_pod_that_meed_lets_go_and_that_ends_unheard_is_charged_to_its_end() {
    pods_that_ended_unheard_are_charged_to_their_ends(&["kwok", "scheduler"], "Gates");
}
