//! A world is made of its setup: with one driver, or with one for each tenant.

use meed::Time;
use meed_driver::{Counting, Driver, Sampler};

use super::World;
use super::arrivals::Arrivals;
use super::desk::{Desk, OneDriver, told};
use super::error::RunError;
use super::notes::Notes;
use super::partition::Partition;
use super::setup::WorldSetup;
use super::stops::Stops;
use crate::log::SharedLog;

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
