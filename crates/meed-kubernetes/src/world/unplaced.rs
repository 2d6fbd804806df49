//! Pods that Meed has let go and that nobody places: mode Gates, where kube-scheduler finds no node
//! for a reason that the engine does not know.
//!
//! A gate cannot be put back. So a pod that was let go has so much time to be bound (`patience`):
//! until then room is kept for it, and it is charged. Then it gives the room up and is charged no
//! more; it is said so on the pod. It may still be placed, whenever kube-scheduler finds a node:
//! from then on it is charged again, whatever room there is.
//!
//! | of a pod that was let go at g and is bound at b | is charged |
//! |---|---|
//! | b <= g + patience | from g on |
//! | b > g + patience | from g to g + patience, and from b on |
//! | is not bound | from g to g + patience |
//!
//! All of it follows from what stands on the pod (`meed.dev/started`, and its condition
//! PodScheduled), so every leader comes to the same. Where nobody led in between, one charge of the
//! same length takes the place of both.
//!
//! What such pods hold meanwhile, wherever kube-scheduler binds others: [`super::promised`].
//!
//! Cost: O(log n) for a pod that is let go.

use std::time::Duration;

use meed::{QueueId, Span, Time};

use super::{Placed, Stand, World};
use crate::error::KubernetesError;
use crate::pod::PodSeen;

/// Said of a pod that gives its room up.
const NOT_PLACED: &str = "NotPlaced";

impl World {
    /// A pod's gate is gone, and it is not bound yet; `since` is when it was let go, in
    /// microseconds since 1970, where it tells.
    pub(super) fn is_let_go(&mut self, uid: &str, placed: Placed, since: Option<i64>) {
        let since = since.map(|micros| self.clock.time(micros));
        let since = since.or_else(|| self.driver.engine().started(placed.task));
        if let Some(since) = since {
            let due = since.saturating_add(self.patience);
            self.let_go.due.insert((due, uid.to_owned()));
        }
        self.stands(uid, Stand::Lifted(placed));
    }

    /// Our gate was taken away before this leader's time, and it is not bound yet.
    pub(super) fn admit_lifted(
        &mut self,
        seen: PodSeen,
        leaf: QueueId,
        now: Time,
    ) -> Result<(), KubernetesError> {
        let uid = seen.name.uid.clone();
        let due = seen.started.map(|since| self.due(since));
        if due.is_some_and(|due| due <= self.opened) {
            // The ledger knows of it, and of the end of it.
            let queue = seen.queue.unwrap_or_default();
            self.stands(&uid, Stand::Unplaced { queue });
            return Ok(());
        }
        let node = seen.chosen.clone().unwrap_or_default();
        let placed = match self.nodes.contains_key(&node) {
            true => self.adopt(&seen, leaf, &node, now)?,
            false => None,
        };
        match placed {
            Some(placed) => self.is_let_go(&uid, placed, seen.started),
            // Where its node is gone it is charged once it is bound.
            None => self.stands(&uid, Stand::Outside),
        }
        Ok(())
    }

    /// Until when a pod is to be bound that was let go then.
    pub(super) fn due(&self, since: i64) -> Time {
        self.clock.time(since).saturating_add(self.patience)
    }

    /// Pods that were not bound in time give their room up.
    pub(super) fn give_up_unplaced(&mut self, now: Time) -> Result<(), KubernetesError> {
        while self.let_go.due.first().is_some_and(|(due, _)| *due <= now) {
            let Some((due, uid)) = self.let_go.due.pop_first() else { break };
            let Some(Stand::Lifted(placed)) = self.pods.get(&uid).map(|row| row.stand.clone())
            else {
                continue;
            };
            let queue = self.driver.job(placed.job).map(|job| job.detail.queue.clone());
            let placed = self.charge_until(placed, due, now)?;
            self.end_placed(&uid, placed, None, now)?;
            self.stands(&uid, Stand::Unplaced { queue: queue.unwrap_or_default() });
            let seconds = self.patience.as_micros() / 1_000_000;
            let note = format!(
                "it was let go {seconds} s ago, and kube-scheduler has not placed it (its \
                 condition PodScheduled says why): its room is given to others, and it is charged \
                 no more until it is placed"
            );
            self.say(&uid, NOT_PLACED, note);
        }
        Ok(())
    }

    /// How long until a pod is late.
    pub(super) fn until_late(&self) -> Option<Duration> {
        let (due, _) = self.let_go.due.first()?;
        Some(Duration::from_micros(due.saturating_since(self.now()).as_micros()))
    }

    /// Since when a pod is charged, as it tells itself: for one that was bound too late the instant
    /// from which on a charge is as long as all that is due. With `counted` the time that it was
    /// waited for is in the ledger.
    pub(super) fn began(&self, seen: &PodSeen, counted: bool) -> Option<Time> {
        let (Some(since), Some(bound), false) = (seen.started, seen.scheduled, seen.ours) else {
            return seen.started.or(seen.scheduled).map(|since| self.clock.time(since));
        };
        let (due, bound) = (self.due(since), self.clock.time(bound));
        if bound <= due {
            return Some(self.clock.time(since));
        }
        let row = self.pods.get(&seen.name.uid);
        let was_late = row.and_then(|row| row.charged_until).is_some_and(|until| until >= due);
        let waited = if counted || was_late { Span::ZERO } else { self.patience };
        let before = bound.as_micros().saturating_sub(waited.as_micros());
        Time::from_micros(before)
    }

    /// The same, of a pod that no task stands for.
    pub(super) fn begins(&self, seen: &PodSeen) -> Option<Time> {
        let counted = seen.started.is_some_and(|since| self.due(since) <= self.opened);
        self.began(seen, counted)
    }
}
