//! Queues that are stopped (`stop: true`): their pods, and those of the Queues below, wait outside.
//! What runs goes on, and is charged.
//!
//! A pod that waits when its Queue is stopped leaves the engine, and comes back when `stop` is
//! taken away: behind those that wait in other Queues since, in the order among its own.
//!
//! Cost: O(pods) when queues change and one is stopped.

use meed::{QueueId, Time};

use super::{Stand, World};
use crate::error::KubernetesError;
use crate::pod::refuse::Refusal;

/// What is said of a pod whose Queue is stopped.
pub(super) fn refusal(queue: &str) -> Refusal {
    let note = format!(
        "Queue `{queue}` is stopped (spec.stop): none of its pods starts until that is taken away; \
         those that run go on"
    );
    ("QueueStopped", note)
}

impl World {
    /// The Queue that is stopped, of a leaf and those above it.
    pub(super) fn stopped_above(&self, leaf: QueueId) -> Option<&str> {
        let full = self.driver.engine().queue_name(leaf);
        let mut names = full.split('.').filter_map(|name| self.queues.get_key_value(name));
        names.find(|(_, row)| row.spec.stop).map(|(name, _)| name.as_str())
    }

    /// Pods that wait in a Queue that is stopped leave it.
    pub(super) fn settle_stopped(&mut self, now: Time) -> Result<(), KubernetesError> {
        if !self.queues.values().any(|row| row.spec.stop) {
            return Ok(());
        }
        let is_stopped = |stand: &Stand| match stand {
            Stand::Waits(job) => {
                let leaf = self.driver.job(*job).map(|job| job.queue());
                leaf.is_some_and(|leaf| self.stopped_above(leaf).is_some())
            }
            _ => false,
        };
        let waiting = self.pods.iter().filter(|(_, row)| is_stopped(&row.stand));
        let waiting: Vec<String> = waiting.map(|(uid, _)| uid.clone()).collect();
        for uid in waiting {
            // One of a gang may have left with another.
            let Some((job, seen)) = self.as_it_waits(&uid) else { continue };
            let leaf = self.driver.job(job).map(|job| job.queue());
            let refusal = leaf.and_then(|leaf| self.stopped_above(leaf)).map(refusal);
            let Some((reason, note)) = refusal else { continue };
            self.leave_job(&uid, job, now)?;
            self.refuse(seen, reason, note);
        }
        Ok(())
    }
}
