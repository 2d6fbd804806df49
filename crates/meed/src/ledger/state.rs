//! A ledger as plain data, and back.
//!
//! What is kept is the charge up to now. The rates follow from the tasks that run: one whose
//! assumed end has passed has outrun its quantum, all others are prepaid.

use super::{Charge, Ledger, Rules};
use crate::state::{Place, StateError, ensure};
use crate::time::Time;

/// Largest charge: real use stays below 2^126, and a newcomer's term may come to it.
const MAX_CHARGE: Charge = 1 << 127;

impl Ledger {
    /// What is charged up to `now`: when the books were brought up to date last makes no
    /// difference.
    pub(crate) fn state(&self, now: Time, rules: Rules<'_>) -> Charge {
        let mut settled = self.clone();
        settled.settle(now, rules);
        settled.past
    }

    /// Without the tasks that run: [`Ledger::restore_task`] for each and then
    /// [`Ledger::restored`] come next.
    pub(crate) fn from_state(
        past: Charge,
        now: Time,
        place: Place<'_>,
    ) -> Result<Ledger, StateError> {
        ensure!(past <= MAX_CHARGE, place, "more than 2^127 is charged");
        Ok(Ledger { past, at: now, ..Ledger::default() })
    }

    /// A task runs of `rate` that was assumed to end at `assumed_end`.
    pub(crate) fn restore_task(&mut self, rate: u64, assumed_end: Time) {
        self.held += rate;
        match assumed_end <= self.at {
            true => self.over += rate,
            false => self.prepaid.add_unsorted(assumed_end, rate),
        }
    }

    pub(crate) fn restored(&mut self) {
        self.prepaid.put_in_order();
    }
}
