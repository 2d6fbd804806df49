//! A ledger as plain data, and back.
//!
//! What is kept is the charge and the instant up to which it is counted. The rates follow from the
//! tasks that run: one whose assumed end is not after that instant has outrun its quantum, all
//! others are prepaid.

use super::{Charge, Ledger};
use crate::state::{LedgerState, MAX_INTEGRAL, StateError, ensure};
use crate::time::Time;

/// Largest charge: memory time runs up to 2^16 times as fast as the clock, in thousandths, and a
/// newcomer's term may come to it.
const MAX_CHARGE: Charge = 1 << 127;

impl Ledger {
    pub(crate) fn state(&self) -> LedgerState {
        LedgerState { past: self.past, at: self.at }
    }

    /// Without the tasks that run: [`Ledger::restore_task`] for each and then
    /// [`Ledger::restored`] come next.
    pub(crate) fn from_state(
        state: &LedgerState,
        now: Time,
        place: &str,
    ) -> Result<Ledger, StateError> {
        const { assert!(MAX_CHARGE > MAX_INTEGRAL) };
        ensure!(state.past <= MAX_CHARGE, format!("{place}.past"), "more than 2^127 is charged");
        ensure!(state.at <= now, format!("{place}.at"), "it is counted beyond the present");
        Ok(Ledger { past: state.past, at: state.at, ..Ledger::default() })
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
