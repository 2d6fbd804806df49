//! A ledger of one ResourceManager: events in, rows out. See the crate's page.

mod apps;
mod by_name;
mod events;
mod explain;
mod open;
mod pending;
mod queues;
mod told;

use std::collections::BTreeMap;
use std::path::PathBuf;

use meed::{QueueId, ResourceKinds, Span, Time};
use meed_driver::Failed;
use meed_driver::live::{Batch, Live, OpenError};
use meed_journal::{Fact, Name, TaskKey};
use meed_store::{Retention, UnixMillis};

use crate::epochs;
use crate::message::{LedgerOpened, PluginRequest, Tick};
use crate::settings;
use apps::{App, Apps};
use by_name::ByName;
use told::{Told, Touched};

/// A mebibyte in the engine's units, and a virtual core.
pub(crate) const UNITS: [u64; 2] = [1 << 20, 1000];

/// An event that is told later than this was late.
const SLACK: Span = match Span::from_micros(1000) {
    Some(span) => span,
    None => Span::ZERO,
};

/// Why a question was not answered.
#[derive(Debug, thiserror::Error)]
pub enum CoreError {
    /// It was refused, and nothing has changed: the ledger goes on.
    #[error("{0}")]
    Refused(String),
    /// The ledger cannot go on.
    #[error("{0}")]
    Over(String),
}

/// An answer.
#[derive(Clone, PartialEq, Debug)]
pub enum PluginAnswer {
    /// JSON.
    Text(String),
    /// Rows: see `rows`.
    Rows(Vec<u8>),
}

/// A container that runs, as far as the ledger knows.
struct Runs {
    /// The place of its application.
    app: usize,
    task: TaskKey,
    memory: u64,
    cores: u64,
    node: String,
}

/// What could not be taken as it was told, since the last tick.
#[derive(Default)]
struct Oddities {
    /// Facts that were refused, in words.
    refused: Vec<String>,
    /// Events that were told after time had passed them.
    late: u64,
    /// Containers whose start or end no event told.
    missed: u64,
}

/// What the driver does not know: YARN's names of what it holds.
struct Names {
    kinds: ResourceKinds,
    /// Who decides what starts, as records call it.
    by: Name,
    /// The wall clock at time 0, in microseconds.
    epoch_us: u64,
    /// Up to when the ledger of the epoch before was durable.
    through: Time,
    nodes: BTreeMap<String, (u64, u64)>,
    apps: Apps,
    containers: ByName<Runs>,
    oddities: Oddities,
    touched: Touched,
}

/// A ledger of one ResourceManager: events in, rows out.
pub struct Core {
    live: Live<()>,
    names: Names,
    /// The folder of all epochs, and this one.
    folder: Option<PathBuf>,
    epoch: u64,
    keep: Retention,
    /// In the order in which rows are told.
    queues: Vec<QueueId>,
    told: Told,
    fenced: Option<String>,
    /// Of the last tick.
    last_ms: u64,
}

impl Core {
    /// Opens the ledger that the first question asks for.
    pub fn open(request: PluginRequest) -> Result<(Core, LedgerOpened), CoreError> {
        match request {
            PluginRequest::Open(open) => open::open(open),
            _ => Err(CoreError::Refused("the first question opens a ledger".to_owned())),
        }
    }

    /// Answers a question. Whoever asked drops it when that is answered: it may be long.
    pub fn answer(&mut self, request: &PluginRequest) -> Result<PluginAnswer, CoreError> {
        if let Some(why) = &self.fenced {
            return Err(CoreError::Over(why.clone()));
        }
        match request {
            PluginRequest::Open(_) => {
                Err(CoreError::Refused("this ledger is open already".to_owned()))
            }
            PluginRequest::Tick(tick) => self.tick(tick).map(PluginAnswer::Rows),
            PluginRequest::Rows {} => Ok(PluginAnswer::Rows(self.all_rows())),
            PluginRequest::Check(given) => match settings::check(given) {
                Ok(checked) => {
                    self.ensure_unchanged(&checked).map(|()| PluginAnswer::Text(String::new()))
                }
                Err(why) => Err(CoreError::Refused(why)),
            },
            PluginRequest::Explain(explain) => self.explain(explain).map(PluginAnswer::Text),
            #[expect(clippy::panic, reason = "what the test of panics asks for")]
            PluginRequest::Panic {} => panic!("a panic was asked for"),
        }
    }

    fn tick(&mut self, tick: &Tick) -> Result<Vec<u8>, CoreError> {
        let wall = UnixMillis::new(tick.now);
        if let Some(folder) = &self.folder {
            let fenced = epochs::is_fenced(folder, self.epoch);
            if let Some(why) = fenced.map_err(|why| CoreError::Over(why.to_string()))? {
                self.fenced = Some(why.clone());
                return Err(CoreError::Over(why));
            }
        }
        if let Some(given) = &tick.settings {
            self.configure(given, tick.now)?;
        }
        if let Some(nodes) = &tick.nodes {
            self.at(tick.now, |names, batch| names.set_nodes(batch, nodes))?;
        }
        self.events(&tick.events)?;
        self.at(tick.now, |names, batch| {
            if let Some(running) = &tick.running {
                names.compare(batch, running)?;
            }
            names.ask(batch, &tick.pending)?;
            names.end_apps(batch, &tick.gone)?;
            // While something runs the journal says that time has passed, so that a crash loses a
            // tick at most.
            match names.containers.is_empty() {
                true => Ok(()),
                false => batch.apply(&Fact::time_passed()).map(drop),
            }
        })?;
        self.live.commit(wall).map_err(over)?;
        self.live.tidy(&self.keep, wall).map_err(over)?;
        let now = self.names.time(tick.now).max(self.live.engine().now());
        self.live.advance(now).map_err(|why| CoreError::Over(why.to_string()))?;
        if tick.whole {
            self.told = Told::default();
        }
        self.last_ms = tick.now;
        Ok(self.changed_rows())
    }

    /// Tells what happened at one instant: all that is told in one call has one time, and what the
    /// next call tells is later.
    fn at(
        &mut self,
        millis: u64,
        tell: impl FnOnce(&mut Names, &mut Batch<'_, ()>) -> Result<(), Failed>,
    ) -> Result<(), CoreError> {
        let Core { live, names, .. } = self;
        let at = names.time(millis);
        let now = live.instant(at);
        if now > at.saturating_add(SLACK) {
            names.oddities.late += 1;
        }
        live.at(now, |batch| tell(names, batch)).map_err(over)
    }
}

impl Names {
    /// The engine's time of an instant of the ResourceManager's clock.
    fn time(&self, millis: u64) -> Time {
        let micros = millis.saturating_mul(1000).saturating_sub(self.epoch_us);
        Time::from_micros(micros).unwrap_or(Time::MAX)
    }

    /// A fact that was refused is noted, and the ledger goes on without it. A journal that cannot
    /// be written ends it.
    fn note<T>(
        &mut self,
        what: impl std::fmt::Display,
        told: Result<T, Failed>,
    ) -> Result<Option<T>, Failed> {
        match told {
            Ok(answer) => Ok(Some(answer)),
            Err(Failed::Journal(why)) => Err(Failed::Journal(why)),
            Err(other) => {
                if self.oddities.refused.len() < 20 {
                    self.oddities.refused.push(format!("{what}: {other}"));
                }
                Ok(None)
            }
        }
    }
}

fn over(why: Failed) -> CoreError {
    CoreError::Over(why.to_string())
}

fn over_open(why: OpenError) -> CoreError {
    CoreError::Over(why.to_string())
}
