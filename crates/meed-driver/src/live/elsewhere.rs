//! Worlds where another scheduler decides: time passes without decisions, and keys are read.

use meed::{KeyParts, QueueId, Rejected, Span, Time};
use meed_journal::JobKey;

use super::Live;

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
