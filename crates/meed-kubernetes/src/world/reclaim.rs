//! Room is taken back: pods that are to stop for others, and what their ends mean.
//!
//! The engine decides who stops for whom ([`meed::Stop`]); off unless the policy says
//! `reclaim_after`. The pod is evicted, so that PodDisruptionBudgets are honoured; until it is gone
//! the engine counts it as running, and keeps what is free there for the one it stops for. When it
//! is gone its task is *lost*, not failed; whoever made the pod makes another, which is another
//! job.
//!
//! Invariant: a pod is evicted only where the engine has told its task to stop. Cost: as the
//! engine's look; O(tasks that stop) for each end.

use std::time::Duration;

use meed::{QueueId, Stop, Time};
use meed_driver::explain::QueueStatus;

use super::{EvictOrder, Order, Placed, Stand, World, must};
use crate::error::KubernetesError;

/// Said of a pod that is stopped.
const RECLAIMED: &str = "Reclaimed";

impl World {
    /// Stops that were decided become orders.
    pub(super) fn order_stops(&mut self) {
        for stop in self.driver.take_stops() {
            self.told = true;
            let pod = self.driver.job(stop.job).and_then(|job| job.detail.pod_of(stop.task));
            let Some(pod) = pod.cloned() else { continue };
            let note = self.why_stopped(&stop);
            self.say(&pod.uid.clone(), RECLAIMED, note);
            self.orders.push(Order::Evict(EvictOrder { pod }));
        }
    }

    fn why_stopped(&self, stop: &Stop) -> String {
        let engine = self.driver.engine();
        let winner = self.driver.job(stop.winner.job).and_then(|job| job.detail.pods().next());
        let winner = winner.map_or_else(
            || "a pod".to_owned(),
            |pod| format!("pod {}/{}", pod.namespace, pod.name),
        );
        format!(
            "it is evicted: {winner} of Queue {} has waited {} s for room that is due to it; Queue \
             {} has used more than its part",
            engine.queue_name(stop.winner.queue),
            stop.winner.waited.as_micros() / 1_000_000,
            engine.queue_name(stop.queue)
        )
    }

    /// A leader before has told pods to stop that run still.
    pub(super) fn stop_again(&mut self) {
        let stopping: Vec<_> = self.driver.engine().stopping().collect();
        for task in stopping {
            let Some(row) = self.driver.running(task) else { continue };
            let pod = self.driver.job(row.job).and_then(|job| job.detail.pod_of(row.task));
            if let Some(pod) = pod.cloned() {
                self.orders.push(Order::Evict(EvictOrder { pod }));
            }
        }
    }

    /// Whether a running pod was told to stop.
    pub(super) fn is_stopping(&self, placed: Placed) -> bool {
        self.driver.engine().stopping().any(|task| task == placed.task)
    }

    /// A pod that was told to stop is gone, or has failed: what it used stays charged.
    pub(super) fn has_stopped(&mut self, placed: Placed, now: Time) -> Result<(), KubernetesError> {
        let why = Some("it was stopped for another");
        let task = must(self.driver.task_lost(now, placed.task, why))?;
        match self.is_gang(placed.job) {
            true => _ = must(self.driver.task_withdrawn(now, placed.job, task.task, why))?,
            false => _ = must(self.driver.job_cancelled(now, placed.job))?,
        }
        Ok(())
    }

    /// How long until something may be decided though nothing happens.
    pub(crate) fn next_look(&self) -> Option<Duration> {
        if self.overdue {
            return Some(Duration::ZERO);
        }
        let engine = self
            .driver
            .next_look()
            .map(|at| Duration::from_micros(at.saturating_since(self.now()).as_micros()));
        let promised = self.until_late().into_iter().chain(self.until_let_on());
        engine.into_iter().chain(promised).min()
    }

    /// The engine's books, which are brought to this instant. It does not look meanwhile, and asks
    /// for no look that is past: one that was due is kept in mind.
    pub(super) fn books(
        &mut self,
        now: Time,
    ) -> Result<Vec<(QueueId, QueueStatus)>, KubernetesError> {
        self.overdue |= self.is_due(now);
        self.driver.queues(now).map_err(|why| KubernetesError::Engine(why.to_string()))
    }

    /// Whether something may be decided now though nothing has happened.
    pub(super) fn is_due(&self, now: Time) -> bool {
        self.driver.next_look().is_some_and(|at| at <= now)
    }

    /// Whether an eviction that was refused is still wanted; the pod's event says why it waits.
    pub(crate) fn eviction_refused(&mut self, uid: &str, why: String) {
        let is_here = self.pods.get(uid).is_some_and(|row| match row.stand {
            Stand::Sent(placed) | Stand::Lifted(placed) | Stand::Bound(placed) => {
                self.is_stopping(placed)
            }
            _ => false,
        });
        if is_here {
            self.say(uid, "EvictionRefused", format!("it is to stop, and not yet: {why}"));
        }
    }
}
