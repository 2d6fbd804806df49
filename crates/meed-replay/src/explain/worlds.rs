//! What the explanation of a recorded run asks of its world, whichever it is.

use std::ops::ControlFlow;

use meed::{JobId, QueueId, Time};
use meed_driver::explain::{Standing, Subject, standing};
use meed_driver::{Books, Driver, Journal, LiveJob};
use meed_mapreduce::MapReduceWorld;
use meed_sim::holds::HoldHistory;
use meed_sim::world::{RunError, Script};
use meed_sim::{PausedJob, PausedRun};

use crate::live;

/// A world that can be looked at, and left alone.
pub(super) trait Explained<'a> {
    /// A live job.
    type Job: Copy;

    /// Runs up to `at`, everything at that instant included. With `script`, it decides.
    fn begin_to(&mut self, at: Time, script: Option<Script<'a>>) -> Result<(), RunError>;

    /// Lets time pass to `at` without anything happening.
    fn rest_until(&mut self, at: Time) -> Result<(), RunError>;

    /// Nothing comes from outside from now on.
    fn leave_alone(&mut self);

    /// Goes through the next instant, and says which it was; `None` when nothing happens any more.
    fn step(&mut self) -> Result<Option<Time>, RunError>;

    /// The books.
    fn books(&self) -> &impl Books;

    /// The live job that arrived as number `number`.
    fn job(&self, number: u64) -> Option<Self::Job>;

    /// Tasks of the job that wait; `None` when it is no more.
    fn waiting(&self, job: Self::Job) -> Option<u64>;

    /// What became of reservations; `None` where there are none.
    fn holds(&self) -> Option<&HoldHistory> {
        None
    }

    /// How the leaf, or a job of it, stands.
    fn standing(&self, leaf: QueueId, job: Option<Option<Self::Job>>) -> Option<Standing>;
}

/// How a leaf of the only driver, or a job of it, stands.
fn standing_of<J, K: Journal>(
    driver: &Driver<J, K>,
    leaf: QueueId,
    job: Option<Option<JobId>>,
) -> Option<Standing> {
    driver.leaf(leaf)?;
    Some(standing(driver, driver, (leaf, leaf), Subject::of(job)))
}

impl<'a> Explained<'a> for PausedRun<'a> {
    type Job = PausedJob;

    fn begin_to(&mut self, at: Time, script: Option<Script<'a>>) -> Result<(), RunError> {
        PausedRun::begin_to(self, at, script)
    }

    fn rest_until(&mut self, at: Time) -> Result<(), RunError> {
        PausedRun::rest_until(self, at)
    }

    fn leave_alone(&mut self) {
        PausedRun::leave_alone(self);
    }

    fn step(&mut self) -> Result<Option<Time>, RunError> {
        PausedRun::step(self)
    }

    fn books(&self) -> &impl Books {
        self
    }

    fn job(&self, number: u64) -> Option<PausedJob> {
        PausedRun::job(self, number)
    }

    fn waiting(&self, job: PausedJob) -> Option<u64> {
        PausedRun::waiting(self, job)
    }

    fn holds(&self) -> Option<&HoldHistory> {
        PausedRun::holds(self)
    }

    fn standing(&self, leaf: QueueId, job: Option<Option<PausedJob>>) -> Option<Standing> {
        PausedRun::standing(self, leaf, job)
    }
}

impl<'a> Explained<'a> for live::World<'a> {
    type Job = JobId;

    /// Who decides was said when it was made.
    fn begin_to(&mut self, at: Time, _: Option<Script<'a>>) -> Result<(), RunError> {
        self.run_to(at, &mut |_| ControlFlow::Continue(()))
    }

    fn rest_until(&mut self, at: Time) -> Result<(), RunError> {
        self.advance(at)
    }

    fn leave_alone(&mut self) {
        live::World::leave_alone(self);
    }

    fn step(&mut self) -> Result<Option<Time>, RunError> {
        let next = self.next_instant()?;
        if let Some(at) = next {
            self.run_to(at, &mut |_| ControlFlow::Continue(()))?;
        }
        Ok(next)
    }

    fn books(&self) -> &impl Books {
        self.driver()
    }

    fn job(&self, number: u64) -> Option<JobId> {
        self.find_job(number)
    }

    fn waiting(&self, id: JobId) -> Option<u64> {
        self.driver().job(id).map(LiveJob::waiting_tasks)
    }

    fn holds(&self) -> Option<&HoldHistory> {
        Some(self.hold_history())
    }

    fn standing(&self, leaf: QueueId, job: Option<Option<JobId>>) -> Option<Standing> {
        standing_of(self.driver(), leaf, job)
    }
}

impl<'a> Explained<'a> for MapReduceWorld<'a> {
    type Job = JobId;

    /// Decides by itself: how long its tasks run follows from who runs beside them.
    fn begin_to(&mut self, at: Time, _: Option<Script<'a>>) -> Result<(), RunError> {
        Ok(self.run_to(at, &mut |_| ControlFlow::Continue(()))?)
    }

    fn rest_until(&mut self, at: Time) -> Result<(), RunError> {
        Ok(MapReduceWorld::rest_until(self, at)?)
    }

    fn leave_alone(&mut self) {
        MapReduceWorld::leave_alone(self);
    }

    fn step(&mut self) -> Result<Option<Time>, RunError> {
        let next = self.next_instant();
        if let Some(at) = next {
            self.run_to(at, &mut |_| ControlFlow::Continue(()))?;
        }
        Ok(next)
    }

    fn books(&self) -> &impl Books {
        self.driver()
    }

    fn job(&self, number: u64) -> Option<JobId> {
        self.find_job(number)
    }

    fn waiting(&self, id: JobId) -> Option<u64> {
        self.driver().job(id).map(LiveJob::waiting_tasks)
    }

    fn standing(&self, leaf: QueueId, job: Option<Option<JobId>>) -> Option<Standing> {
        standing_of(self.driver(), leaf, job)
    }
}
