//! Somebody looks at a run as time passes, and may tell queues where they stand (`told`).
//!
//! What he says holds from the next instant at which something happens. Nothing is lost by that
//! where orders are work conserving: between two instants nothing changes that could let a task
//! start, whatever the ranks.

use std::ops::ControlFlow;

use meed::{QueueChange, QueueId, Rank, Time, View};

use super::desk::Desk;
use super::{RunError, World};

/// See the module. A run that is split among its tenants has no order among them, and is not
/// attended.
pub trait Attendant {
    /// Nothing has happened since the last instant, and something will at `at`, or the run ends
    /// there. `engine` is as it was left: its integrals can be read at any time up to `at`. `say`
    /// tells where a queue stands; of one that is gone nobody hears. To break stops the run there.
    fn passes(
        &mut self,
        at: Time,
        engine: View<'_>,
        say: &mut dyn FnMut(QueueId, Rank),
    ) -> ControlFlow<()>;

    /// The run ends at `at`; what is said of ranks then would be heard by nobody.
    fn ends(&mut self, at: Time, engine: View<'_>) -> ControlFlow<()> {
        self.passes(at, engine, &mut |_, _| ())
    }
}

impl<'a, D: Desk<'a>> World<'a, D> {
    /// Time passes to `at`.
    pub(super) fn attend(&mut self, at: Time) -> Result<(), RunError> {
        let said = &mut self.said;
        if let Some(accounts) = &mut self.accounts {
            accounts.passes(at, &self.desk, &mut |queue, rank| said.push((queue, rank)));
        }
        let Some(attendant) = &mut self.attendant else { return Ok(()) };
        let mut say = |queue, rank| said.push((queue, rank));
        match attendant.passes(at, self.desk.tree(), &mut say) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(RunError::Stopped { at }),
        }
    }

    /// The run ends at `at`.
    pub(super) fn attend_end(&mut self, at: Time) -> Result<(), RunError> {
        if let Some(accounts) = &mut self.accounts {
            accounts.passes(at, &self.desk, &mut |_, _| ());
        }
        match self.attendant.as_mut().map(|attendant| attendant.ends(at, self.desk.tree())) {
            None | Some(ControlFlow::Continue(())) => Ok(()),
            Some(ControlFlow::Break(())) => Err(RunError::Stopped { at }),
        }
    }

    /// Ranks that were said are told: behind the ends of an instant, where a log that is played
    /// back tells changes as well. Queues that have gone, maybe with those ends, are told nothing.
    pub(super) fn tell_ranks(&mut self) -> Result<(), RunError> {
        let at = self.now;
        for (queue, rank) in std::mem::take(&mut self.said) {
            if self.desk.tree().is_removed(queue) {
                continue;
            }
            let change = QueueChange { rank: Some(rank), ..QueueChange::default() };
            let told = self.desk.any().queue_changed(at, queue, change);
            told.map_err(|why| RunError::of(at, why))?;
        }
        Ok(())
    }
}
