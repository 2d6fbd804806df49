//! What a run starts from.

use meed::{Config, Infeasible, Span};
use meed_driver::{CountedSpan, StopAt};
use meed_scenario::changes::TimedChange;
use meed_scenario::grants::Delays;
use meed_scenario::plan::NewPlacement;
use meed_scenario::slots::SlotCut;
use meed_workload::JobSource;

use super::attendant::Attendant;
use super::failures::Failures;
use super::notes::Looks;
use crate::accounts::Accounts;
use crate::log::{Log, SharedLog};

/// What a run starts from: the engine's configuration, the placement, and which world it is.
///
/// [`setup`](crate::setup) makes it of a scenario.
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
/// use meed_sim::world::WorldSetup;
/// use meed_sim::{Unwatched, run_one, setup};
/// let sampled = WorldSetup { series_points: 5, ..setup(&scenario, "fair", 1)? };
/// let run = run_one("fair", sampled, &mut Unwatched)?;
/// assert_eq!(run.series.t_s.last(), Some(&10.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
    pub(super) fn shared_log(&mut self) -> SharedLog<'a> {
        SharedLog::new(std::mem::replace(&mut self.log, Log::off()).into())
    }
}
