//! Who held what over the last day and the last month, as far as this leader has led.
//!
//! Samples are means ([`meed_driver::holdings`]). There are two rings, one of minutes and one of
//! half hours, in the memory of the leader: the next one begins anew.
//!
//! Invariant: at most [`MOST_QUEUES`] queues in a sample, so both rings hold less than 200,000
//! numbers. Cost: O(queues) each minute.
//!
//! [`MOST_QUEUES`]: meed_driver::holdings::MOST_QUEUES

use meed::Time;
use meed_driver::holdings::{UsedByQueue, used};

use super::World;
use super::rings::Samples;
use crate::error::KubernetesError;

impl World {
    /// What each queue has used by `now`.
    pub(super) fn used(&mut self, now: Time) -> Result<UsedByQueue, KubernetesError> {
        let books = self.books(now)?;
        Ok(used(self.driver.engine(), &books))
    }

    /// Takes the samples that are due.
    pub(crate) fn sample(&mut self, now: Time) -> Result<(), KubernetesError> {
        let Samples { day, month } = &self.samples;
        if !day.steps.is_due(now) && !month.steps.is_due(now) {
            return Ok(());
        }
        let used = self.used(now)?;
        self.samples.day.take(now, &used);
        self.samples.month.take(now, &used);
        Ok(())
    }
}
