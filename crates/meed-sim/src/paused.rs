//! A run that goes on only as far as it is told to, so that it can be looked at between two
//! instants, and left alone from there on. Whoever serves, one type: who explains a run need not
//! know.

use std::borrow::Cow;
use std::ops::ControlFlow;

use meed::{JobId, MAX_KINDS, QueueId, Rejected, Time, View};
use meed_driver::explain::{Standing, Subject};
use meed_driver::{Books, LiveJob, QueueTally, Totals};

use crate::holds::HoldHistory;
use crate::world::{Desk, OneDriver, Partition, RunError, Script, World, WorldSetup};

/// A run that goes on only as far as it is told to: for a look at an instant of it, and at what
/// would follow.
///
/// ```
/// # let text = r#"
/// # [cluster]
/// # resources = ["cpu"]
/// # node = [{ name = "n", capacity = { cpu = 2 } }]
/// # [[queue]]
/// # name = "ads"
/// # [[job]]
/// # queue = "ads"
/// # duration = "10s"
/// # demand = { cpu = 1 }
/// # "#;
/// # let (reading, folder) = (meed_workload::OnBadLine::Stop, std::path::Path::new("."));
/// # let scenario = meed_scenario::Scenario::parse("s.toml", text, folder, &[], reading)?;
/// use meed::Time;
/// use meed_sim::{PausedRun, setup};
/// let mut run = PausedRun::new(setup(&scenario, "fair", 1)?)?;
/// run.begin_to(Time::from_secs(5).ok_or("in range")?, None)?;
/// let job = run.job(0).ok_or("it has arrived")?;
/// assert_eq!(run.waiting(job), Some(0)); // it runs
/// assert_eq!(run.step()?, Time::from_secs(10)); // it ends
/// assert_eq!((run.waiting(job), run.step()?), (None, None));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PausedRun<'a> {
    world: Which<'a>,
}

enum Which<'a> {
    Whole(Box<World<'a, OneDriver<'a>>>),
    Split(Box<World<'a, Partition<'a>>>),
}

/// A live job of a paused run.
///
/// The example of [`PausedRun`] asks for one.
#[derive(Clone, Copy, Debug)]
pub struct PausedJob {
    /// Who serves it, where there are several.
    at: u32,
    id: JobId,
}

/// The same of a world whoever serves.
macro_rules! with {
    ($run:expr, $world:ident => $answer:expr) => {
        match $run {
            Which::Whole($world) => $answer,
            Which::Split($world) => $answer,
        }
    };
}

impl<'a> PausedRun<'a> {
    /// Before its first instant.
    pub fn new(setup: WorldSetup<'a>) -> Result<PausedRun<'a>, RunError> {
        let world = match setup.partitioned {
            true => Which::Split(Box::new(World::partitioned(setup)?)),
            false => Which::Whole(Box::new(World::whole(setup)?)),
        };
        Ok(PausedRun { world })
    }

    /// Runs up to `at`, everything at that instant included. With `script`, it decides.
    pub fn begin_to(&mut self, at: Time, script: Option<Script<'a>>) -> Result<(), RunError> {
        with!(&mut self.world, world => {
            world.begin(script)?;
            world.run_to(at, &mut |_| ControlFlow::Continue(()))
        })
    }

    /// Lets time pass to `at` without anything happening.
    pub fn rest_until(&mut self, at: Time) -> Result<(), RunError> {
        with!(&mut self.world, world => world.rest_until(at))
    }

    /// The engine decides from now on, and nothing comes from outside: no arrival, no change.
    pub fn leave_alone(&mut self) {
        with!(&mut self.world, world => world.leave_alone());
    }

    /// Goes through the next instant, and says which it was; `None` when nothing happens any more.
    pub fn step(&mut self) -> Result<Option<Time>, RunError> {
        with!(&mut self.world, world => {
            let next = world.next_instant()?;
            if let Some(at) = next {
                world.run_to(at, &mut |_| ControlFlow::Continue(()))?;
            }
            Ok(next)
        })
    }

    /// The live job that arrived as number `number`.
    pub fn job(&self, number: u64) -> Option<PausedJob> {
        match &self.world {
            Which::Whole(world) => world.find_job(number).map(|((), id)| PausedJob { at: 0, id }),
            Which::Split(world) => world.find_job(number).map(|(at, id)| PausedJob { at, id }),
        }
    }

    /// Tasks of the job that wait; `None` when it is no more.
    pub fn waiting(&self, job: PausedJob) -> Option<u64> {
        let driver = match &self.world {
            Which::Whole(world) => world.desk().driver(()),
            Which::Split(world) => world.desk().driver(job.at),
        };
        driver.job(job.id).map(LiveJob::waiting_tasks)
    }

    /// What became of reservations; `None` where they are not noted.
    pub fn holds(&self) -> Option<&HoldHistory> {
        with!(&self.world, world => world.notes().holds.as_deref())
    }

    /// How the leaf stands, or a job of it, which may be no more.
    pub fn standing(&self, leaf: QueueId, job: Option<Option<PausedJob>>) -> Option<Standing> {
        let subject = Subject::of(job.map(|job| job.map(|job| job.id)));
        with!(&self.world, world => world.desk().standing(leaf, subject))
    }
}

impl Books for PausedRun<'_> {
    fn tree(&self) -> View<'_> {
        with!(&self.world, world => world.desk().tree())
    }

    fn leaf(&self, queue: QueueId) -> Option<(View<'_>, QueueId)> {
        with!(&self.world, world => Books::leaf(world.desk(), queue))
    }

    fn lends(&self) -> bool {
        with!(&self.world, world => world.desk().lends())
    }

    fn advance(&mut self, now: Time) -> Result<(), Rejected> {
        with!(&mut self.world, world => world.desk_mut().advance(now))
    }

    fn tally(&self, leaf: QueueId) -> &QueueTally {
        with!(&self.world, world => Books::tally(world.desk(), leaf))
    }

    fn totals(&self) -> Cow<'_, Totals> {
        with!(&self.world, world => world.desk().totals())
    }

    fn capacity_time(&self, now: Time) -> [u128; MAX_KINDS] {
        with!(&self.world, world => world.desk().capacity_time(now))
    }
}
