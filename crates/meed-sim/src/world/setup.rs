//! What a run starts from.

use meed::{Config, Time};
use meed_workload::JobSource;

use super::arrivals::Arrivals;
use super::partition::{NewPlacement, Parts};
use super::{Failures, RunError, Tally, TimedChange, World};
use crate::log::Log;
use crate::series::Sampler;

/// When a run stops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StopAt {
    /// Nothing after this instant happens.
    pub at: Time,
    /// Whether the run is measured up to that instant even when everything has ended before.
    pub hold: bool,
}

impl StopAt {
    /// When everything has ended.
    pub const END: StopAt = StopAt { at: Time::MAX, hold: false };
}

/// See the module.
pub struct Setup<'a> {
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
    /// Whether a refused job stops the run.
    pub strict: bool,
    /// Samples to be taken over the run; 0 for none.
    pub series_points: usize,
    /// Whether each job's times are kept for [`crate::record::RunRecord::jobs`]: memory grows with
    /// the workload then.
    pub keep_jobs: bool,
    /// Where to log.
    pub log: Log<'a>,
}

impl<'a> World<'a> {
    pub(crate) fn new(setup: Setup<'a>) -> Result<World<'a>, RunError> {
        // One seed for everything that is drawn.
        let seed = setup.failures.seed;
        let parts = match setup.partitioned {
            true => Parts::partitioned(setup.config, setup.placement, seed)?,
            false => Parts::whole(setup.config, setup.placement, seed)?,
        };
        let queues =
            setup.source.queues().iter().map(|name| parts.tree().find_queue(name)).collect();
        let mut tally = Tally::default();
        tally.for_queues(parts.tree().queue_ids().len());
        tally.kept_jobs = setup.keep_jobs.then(Vec::new);
        let mut changes = setup.changes.into_iter();
        let sampler = (setup.series_points > 0).then(|| Sampler::new(setup.series_points, &parts));
        Ok(World {
            jobs: parts.engines.iter().map(|_| Vec::new()).collect(),
            tasks: Vec::new(),
            parts,
            queues,
            ends: Default::default(),
            arrivals: Arrivals::new(setup.source),
            next_change: changes.next(),
            changes,
            next_stages: Vec::new(),
            jobs_arrived: 0,
            failures: setup.failures,
            max_attempts: setup.max_attempts,
            capacity: Default::default(),
            stop: setup.stop,
            strict: setup.strict,
            tally,
            sampler,
            log: setup.log,
            names: Default::default(),
            script: None,
            now: Time::ZERO,
        })
    }
}
