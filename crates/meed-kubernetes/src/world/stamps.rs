//! A charge follows the pod's own times, as soon as they are known.
//!
//! | told | then |
//! |---|---|
//! | the start that is written on a bound pod is another than the one that is charged | charged from what is written: that write is the one that was carried out |
//! | its containers ended long before it was heard | charged until then |
//!
//! The first happens where a write was slower than the read that missed it, or where a checkpoint
//! knew of a start that was undone and made again later; the second where the API server could take
//! no news for a while. Ends are told in whole seconds, rounded down: a pod ended less than a
//! second after its stamp, and is charged for that second, or until it was heard of.
//!
//! The engine knows no end in the past. So a charge that is too long is undone, and one of the
//! right length, up to now, takes its place: with memory for ever the ledger is then exact; under a
//! half-life what was used counts as if it had been used so much later as the news came. Fairness
//! integrals (`usage`) keep what was held: the room was kept from others all the time.
//!
//! Invariant: nothing is charged twice; no charge begins before [`PodRow::charged_until`].

use meed::{Span, Time};

use super::{Placed, PodRow, World, must};
use crate::error::KubernetesError;
use crate::pod::{PodEnd, PodSeen};

/// What the stamp of an end leaves out at most.
const STAMP: i64 = 1_000_000;

/// News that comes so much later is on time.
const ON_TIME: Span = match Span::from_micros(100_000) {
    Some(span) => span,
    None => Span::ZERO,
};

impl World {
    /// A pod that was to start turns out to be bound: its start is the one that is written on it.
    pub(super) fn begins_as_written(
        &mut self,
        placed: Placed,
        seen: &PodSeen,
        now: Time,
    ) -> Result<Placed, KubernetesError> {
        if seen.started.is_none() {
            return Ok(placed);
        }
        let Some(since) = self.began(seen, false) else { return Ok(placed) };
        let charged_until = self.pods.get(&seen.name.uid).and_then(|row| row.charged_until);
        let since = since.max(charged_until.unwrap_or(Time::ZERO)).min(now);
        match self.driver.engine().started(placed.task) {
            Some(charged) if charged != since => self.charge_since(placed, since, now),
            _ => Ok(placed),
        }
    }

    /// A pod has ended: its charge is as long as it ran, however late that was heard.
    pub(super) fn ends_as_stamped(
        &mut self,
        placed: Placed,
        end: Option<PodEnd>,
        now: Time,
    ) -> Result<Placed, KubernetesError> {
        let Some(at) = end.and_then(|end| end.at) else { return Ok(placed) };
        self.charge_until(placed, self.clock.time(at.saturating_add(STAMP)), now)
    }

    /// A task that runs is charged until then, where that was a while ago.
    pub(super) fn charge_until(
        &mut self,
        placed: Placed,
        until: Time,
        now: Time,
    ) -> Result<Placed, KubernetesError> {
        let Some(since) = self.driver.engine().started(placed.task) else { return Ok(placed) };
        let over = now.saturating_since(until.max(since));
        if over <= ON_TIME {
            return Ok(placed);
        }
        self.charge_since(placed, since.saturating_add(over), now)
    }

    /// A running task is charged since another instant.
    fn charge_since(
        &mut self,
        placed: Placed,
        since: Time,
        now: Time,
    ) -> Result<Placed, KubernetesError> {
        self.told = true;
        let why = Some("its own times are known now");
        let row = must(self.driver.start_failed(now, placed.task, why))?;
        let again = self.driver.task_adopted(now, (placed.job, row.task), row.node, since, None);
        Ok(Placed { task: must(again)?, ..placed })
    }
}

impl PodRow {
    /// A checkpoint knows it as running: where its job is not its first one, what was before is
    /// charged.
    pub(super) fn was_running(&mut self, key: &str, since: Option<Time>) {
        if key != self.name.uid {
            self.charged_until = since;
        }
    }
}
