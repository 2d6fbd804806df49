//! The world lets those look on who attend the run, and tells the ranks that they say.

use std::ops::ControlFlow;

use meed::{QueueChange, Time};

use super::World;
use super::desk::Desk;
use super::error::RunError;

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
