//! What a world tells of one instant, by names: it holds no handles, which a crash would take.

use meed::{QueueId, Stop, TakeBack, Time, View};
use meed_journal::{Arrival, Fact, FactRole, JobKey, Name};

use super::Live;
use crate::driver::apply::{Applied, RunningTask};
use crate::journal::Failed;

/// What a world tells of one instant ([`Live::at`]).
///
/// The example of [`Live`] tells of a job.
pub struct Batch<'l, J> {
    live: &'l mut Live<J>,
    now: Time,
}

impl<'l, J> Batch<'l, J> {
    pub(super) fn new(live: &'l mut Live<J>, now: Time) -> Batch<'l, J> {
        Batch { live, now }
    }

    /// The instant.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The engine, to be read.
    pub fn engine(&self) -> View<'_> {
        self.live.engine()
    }

    /// The queue of that name.
    pub fn find_queue(&self, name: &str) -> Option<QueueId> {
        self.engine().find_queue(name)
    }

    /// Applies what happened, with a record of it: an input, or a note or step of the clock, which
    /// change nothing. Tasks that must stop are handed out by the next commit; a start that was not
    /// handed out yet is none where its task is gone.
    ///
    /// # Errors
    ///
    /// [`Failed::Rejected`]: the engine refuses the fact, which changes nothing and leaves no
    /// record, but for a job that is refused. [`Failed::Record`]: no input, or an amount or policy
    /// that cannot be read; a job whose key was used before. [`Failed::Journal`].
    pub fn apply(&mut self, fact: &Fact) -> Result<Applied, Failed> {
        match (fact, fact.kind().role()) {
            (Fact::JobArrived(arrival), _) => self.arrive(arrival),
            (_, FactRole::Aside) => {
                self.live.driver.note(self.now, || fact.clone())?;
                Ok(Applied::default())
            }
            (_, FactRole::Mark) => {
                let word = fact.kind().word();
                Err(Failed::Record(format!("`{word}` is written by the journal itself")))
            }
            _ => {
                let applied = self.counted(fact)?;
                self.carry_out(&applied);
                Ok(applied)
            }
        }
    }

    /// Applies all of them, up to the first that fails.
    ///
    /// # Errors
    ///
    /// As [`Batch::apply`].
    pub fn apply_all<'f>(
        &mut self,
        facts: impl IntoIterator<Item = &'f Fact>,
    ) -> Result<(), Failed> {
        facts.into_iter().try_for_each(|fact| self.apply(fact).map(drop))
    }

    /// Its record is what the world says, and how often its tasks may fail: that counts after a
    /// crash, whatever the world says then. A job that is refused leaves a record, too.
    fn arrive(&mut self, arrival: &Arrival) -> Result<Applied, Failed> {
        if self.live.driver.job_of(&arrival.job).is_some() {
            let why = format!("job {} is there already; keys are used once", arrival.job);
            return Err(Failed::Record(why));
        }
        let mut arrival = Box::new(arrival.clone());
        let max_attempts = (self.live.take)(&arrival).max_attempts;
        arrival.max_attempts.get_or_insert(max_attempts);
        let fact = Fact::JobArrived(arrival);
        match self.counted(&fact) {
            Err(Failed::Rejected(why)) => {
                let Fact::JobArrived(arrival) = fact else { unreachable!("made above") };
                self.live.driver.job_refused(self.now, &why, |_| *arrival)?;
                Err(why.into())
            }
            done => done,
        }
    }

    /// An event that is refused was none: it is not counted either, for it leaves no record.
    fn counted(&mut self, fact: &Fact) -> Result<Applied, Failed> {
        let Live { driver, take, .. } = &mut *self.live;
        let events = driver.tally.totals.events;
        let done = driver.apply(self.now, fact, take);
        if let Err(Failed::Rejected(_)) = done {
            driver.tally.totals.events = events;
        }
        done
    }

    fn carry_out(&mut self, applied: &Applied) {
        if let Some(RunningTask { task, node }) = applied.left.clone() {
            // The world knows: a start that was not handed out yet is none.
            self.live.forget_start(task, node);
        }
        for RunningTask { task, node } in applied.stopped.iter().cloned() {
            self.live.stops(task, node);
        }
    }
}

/// Worlds where another scheduler places what starts.
impl<J> Batch<'_, J> {
    /// Whom to stop for a leaf that has waited ([`meed::Engine::take_back`]), with the winner's
    /// job. `by` records it, as decided by this world: the stops are the caller's to carry out, and
    /// to tell as losses, once that is durable. Without `by` they are only told.
    ///
    /// # Errors
    ///
    /// A journal that fails.
    pub fn take_back(
        &mut self,
        wanted: &TakeBack<'_>,
        by: Option<&Name>,
    ) -> Result<Vec<(RunningTask, JobKey)>, Failed> {
        let stops = self.live.driver.take_back(self.now, wanted, by)?;
        let live = &*self.live;
        let told = |stop: &Stop| {
            let winner = live.driver.job(stop.winner.job)?.key().clone();
            Some((live.running_task(stop.allocation), winner))
        };
        Ok(stops.iter().filter_map(told).collect())
    }
}
