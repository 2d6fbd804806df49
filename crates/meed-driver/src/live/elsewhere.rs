//! Worlds where another scheduler decides: time passes without decisions, and keys are read.

use meed::{KeyParts, QueueId, Rejected, Span, Stop, TakeBack, Time};
use meed_journal::{Decide, Fact, JobKey, Name};

use super::{Batch, Live, RunningTask};
use crate::journal::Failed;

impl<J> Batch<'_, J> {
    /// Nothing happened until this instant: the journal says that time has passed, and that it is
    /// decided ([`Live::next_look`]).
    pub fn passes(&mut self) -> Result<(), Failed> {
        self.verb(|driver, now| {
            driver.engine.advance(now)?;
            driver.note(now, || Fact::Decide(Decide {}))
        })
    }
}

impl<J> Batch<'_, J> {
    /// Whom to stop for a leaf that has waited ([`meed::Engine::take_back`]), with the winner's
    /// job. `by` records it, as decided by this world: the stops are the caller's to carry out, and
    /// to tell as losses, once that is durable. Without `by` they are only told.
    ///
    /// # Errors
    ///
    /// As of each verb.
    pub fn take_back(
        &mut self,
        wanted: &TakeBack<'_>,
        by: Option<&Name>,
    ) -> Result<Vec<(RunningTask, JobKey)>, Failed> {
        let stops = self.verb(|driver, now| driver.take_back(now, wanted, by))?;
        let live = self.live();
        let told = |stop: &Stop| {
            let winner = live.driver.job(stop.winner.job)?.key().clone();
            Some((live.running_task(stop.allocation), winner))
        };
        Ok(stops.iter().filter_map(told).collect())
    }
}

impl<J> Live<J> {
    /// Lets time pass to `now`, for who reads keys then.
    ///
    /// # Errors
    ///
    /// Where `now` lies before the last event.
    pub fn advance(&mut self, now: Time) -> Result<(), Rejected> {
        self.driver.engine.advance(now)
    }

    /// What the key of a queue is made of ([`meed::Engine::key_parts`]).
    pub fn key_parts(&mut self, queue: QueueId) -> Option<KeyParts> {
        self.driver.engine.key_parts(queue)
    }

    /// What the key of a live job is made of ([`meed::Engine::job_key_parts`]).
    pub fn job_key_parts(&mut self, job: &JobKey) -> Option<KeyParts> {
        let id = self.driver.job_of(job)?;
        self.driver.engine.job_key_parts(id)
    }

    /// What the guard compares of a leaf ([`meed::Engine::guard_parts`]).
    pub fn guard_parts(&mut self, leaf: QueueId) -> Option<KeyParts> {
        self.driver.engine.guard_parts(leaf)
    }
}

/// Of whom keys need not be read again: see [`meed::View::key_quantum`].
impl<J> Live<J> {
    /// The quantum of the key of a live job ([`meed::View::job_key_quantum`]).
    pub fn job_key_quantum(&self, job: &JobKey) -> Option<Span> {
        let id = self.driver.job_of(job)?;
        self.driver.engine.view().job_key_quantum(id)
    }
}

/// What a world must know of jobs after it was opened again.
impl<J> Live<J> {
    /// Live jobs.
    pub fn jobs(&self) -> impl Iterator<Item = &crate::rows::LiveJob<J>> {
        self.driver.jobs()
    }
}
