//! What a run starts from.

use meed::{Config, Infeasible, Span, Time};
use meed_driver::{CountedSpan, Counting, Driver, Sampler, StopAt};
use meed_scenario::changes::TimedChange;
use meed_scenario::grants::Delays;
use meed_scenario::plan::NewPlacement;
use meed_scenario::slots::SlotCut;
use meed_workload::JobSource;

use super::arrivals::Arrivals;
use super::attend::Attendant;
use super::desk::{Desk, OneDriver};
use super::notes::{Looks, Notes};
use super::partition::Partition;
use super::stops::Stops;
use super::{Failures, RunError, World};
use crate::accounts::Accounts;
use crate::log::{Log, SharedLog};

/// What a run starts from: the engine's configuration, the placement, and which world it is.
pub struct WorldSetup<'a> {
    /// The engine's configuration.
    pub config: Config,
    /// Makes the placement.
    pub placement: NewPlacement,
    /// Whether each tenant runs alone on its share.
    pub partitioned: bool,
    /// Where jobs come from; its queues are names of leaves of `config`.
    pub source: Box<dyn JobSource + 'a>,
    /// Changes of cluster and tree, in order of time.
    pub changes: Vec<TimedChange>,
    /// When to stop.
    pub stop: StopAt,
    /// Tasks that fail by chance.
    pub failures: Failures,
    /// How often a task may fail before its job does; 0 for no limit.
    pub max_attempts: u16,
    /// How often tasks save what they have done, for when they are stopped for others.
    pub checkpoint: Option<Span>,
    /// What delays grants.
    pub delays: Delays,
    /// What becomes of tasks that no node could hold.
    pub infeasible: Infeasible,
    /// The part of the run whose jobs, waits and use make the figures.
    pub counted: CountedSpan,
    /// Whether a refused job stops the run.
    pub strict: bool,
    /// Samples to be taken over the run; 0 for none.
    pub series_points: usize,
    /// Whether each job's times are kept for [`crate::record::RunRecord::jobs`]: memory grows with
    /// the workload then.
    pub keep_jobs: bool,
    /// What else is noted.
    pub looks: Looks,
    /// Who looks on, and may tell ranks; of a run that is not split among its tenants.
    pub attendant: Option<&'a mut dyn Attendant>,
    /// The books of tenants that contribute the nodes; they tell ranks where the order asks.
    pub accounts: Option<Box<Accounts>>,
    /// Where to log.
    pub log: Log<'a>,
}

impl<'a> World<'a, OneDriver<'a>> {
    /// One driver over the whole cluster.
    pub(crate) fn whole(mut setup: WorldSetup<'a>) -> Result<World<'a, OneDriver<'a>>, RunError> {
        setup.delays.check(&setup.config).map_err(|what| RunError::Delays { what })?;
        let (config, log) = (setup.config.clone(), setup.shared_log());
        let place = (setup.placement)(config.kinds.len(), setup.failures.seed);
        let driver = Driver::new(config, place, SharedLog::clone(&log))?.remembering_all_queues();
        let driver = told(driver.counting(setup.counted), setup.infeasible)?;
        Ok(World::of(driver, log, setup))
    }
}

/// The driver that knows what becomes of tasks that no node could hold. Only where they wait is it
/// told: other logs stay as they are.
pub(super) fn told(
    mut driver: OneDriver<'_>,
    infeasible: Infeasible,
) -> Result<OneDriver<'_>, RunError> {
    if infeasible == Infeasible::Wait {
        let told = driver.set_infeasible(Time::ZERO, infeasible);
        told.map_err(|why| RunError::of(Time::ZERO, why))?;
    }
    Ok(driver)
}

impl<'a> World<'a, Partition<'a>> {
    /// Each tenant alone on its share.
    pub(crate) fn partitioned(
        mut setup: WorldSetup<'a>,
    ) -> Result<World<'a, Partition<'a>>, RunError> {
        setup.delays.check(&setup.config).map_err(|what| RunError::Delays { what })?;
        let (config, log, seed) = (setup.config.clone(), setup.shared_log(), setup.failures.seed);
        let rules = (setup.infeasible, setup.counted);
        let desk = Partition::new(config, (setup.placement, seed), rules, &log)?;
        Ok(World::of(desk, log, setup))
    }
}

impl<'a> WorldSetup<'a> {
    /// A run of these jobs on that cluster until everything has ended: nothing fails, nothing is
    /// sampled, kept or logged. The first node with room takes a task.
    pub fn new(config: Config, source: Box<dyn JobSource + 'a>) -> WorldSetup<'a> {
        WorldSetup {
            config,
            placement: meed::place::PLACEMENTS[0].new,
            partitioned: false,
            source,
            changes: Vec::new(),
            stop: StopAt::END,
            failures: Failures::default(),
            max_attempts: 0,
            checkpoint: None,
            delays: Delays::default(),
            infeasible: Infeasible::Refuse,
            counted: CountedSpan::ALL,
            strict: false,
            series_points: 0,
            keep_jobs: false,
            looks: Looks::default(),
            attendant: None,
            accounts: None,
            log: Log::off(),
        }
    }

    /// The same with servers cut into slots, so many of the largest, and slots shared instead of
    /// what they stand for (order `slots`); why that cannot be.
    pub fn in_slots(self, per_largest: u32) -> Result<WorldSetup<'a>, String> {
        let (config, slots) = SlotCut::cut(self.config, per_largest)?;
        let (source, changes) = (slots.source(self.source), slots.changes(self.changes));
        Ok(WorldSetup { config, source, changes, ..self })
    }

    /// The log, for all drivers.
    fn shared_log(&mut self) -> SharedLog<'a> {
        SharedLog::new(std::mem::replace(&mut self.log, Log::off()).into())
    }
}

impl<'a, D: Desk<'a>> World<'a, D> {
    fn of(desk: D, log: SharedLog<'a>, setup: WorldSetup<'a>) -> World<'a, D> {
        let (tree, notes) = (desk.tree(), Notes::of(&setup));
        let queues = setup.source.queues().iter().map(|name| tree.find_queue(name)).collect();
        let mut changes = setup.changes.into_iter();
        let points = setup.series_points;
        let sampler = (points > 0).then(|| Sampler::new(points, &desk));
        World {
            desk,
            queues,
            ends: Default::default(),
            arrivals: Arrivals::new(setup.source),
            next_change: changes.next(),
            changes,
            tasks: Vec::new(),
            next_stages: Vec::new(),
            jobs_arrived: 0,
            failures: setup.failures,
            max_attempts: setup.max_attempts,
            stops: Stops::with_checkpoint(setup.checkpoint),
            stop: setup.stop,
            delays: setup.delays,
            later: Default::default(),
            laters: 0,
            beats: super::delays::Beats::new(&setup.delays),
            partitioned: setup.partitioned,
            strict: setup.strict,
            sampler,
            counting: (!setup.counted.is_all()).then(|| Counting::over(setup.counted)),
            attendant: setup.attendant.filter(|_| !setup.partitioned),
            accounts: setup.accounts,
            said: Vec::new(),
            log,
            notes,
            script: None,
            starts: Vec::new(),
            now: Time::ZERO,
        }
    }
}
