//! What the world knows and the driver does not: records of Slurm, runs, the tree, time 0.

use std::collections::BTreeMap;

use meed::policy::Policy;
use meed::{ResourceKinds, Time};
use meed_driver::Failed;
use meed_driver::live::Batch;
use meed_journal::{Fact, JobKey, TaskKey};

use super::events::What;
use super::pieces::told_of;
use crate::read::runs::SlurmRun;
use crate::tree::{Tree, TreeQueue};

/// The engine's name of all nodes together.
pub(super) const POOL: &str = "pool";

/// A record of Slurm's that the ledger knows.
#[derive(Clone, Debug)]
pub(super) struct Known {
    /// The job of the engine, where it wants something or runs.
    pub(super) key: Option<JobKey>,
    pub(super) what: What,
    /// Tasks that wait.
    pub(super) waits: u32,
    pub(super) run: Option<Run>,
    /// What it has been charged for since its run began, in seconds, before the piece of now.
    pub(super) charged: i64,
    /// In how many looks in a row neither `slurmctld` nor accounting knew of it.
    pub(super) unseen: u32,
}

impl Known {
    /// Since when its run is suspended, if it is, as the key of its job says.
    pub(super) fn paused(&self) -> Option<i64> {
        let key = self.key.as_ref().filter(|_| self.run.is_none() && self.charged > 0)?;
        told_of(&key.to_string())
    }
}

/// A piece of a run that is being charged.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) task: TaskKey,
    /// When Slurm started the run; `None`: known from the journal alone.
    pub(super) start: Option<i64>,
    /// From when this piece is charged: later than the start where the run was suspended.
    pub(super) since: i64,
}

/// A run that is charged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Charge {
    /// When it ended.
    pub(super) end: i64,
    /// The second of the last look at which its record was known.
    pub(super) seen: i64,
    /// Its start is Slurm's: else the run began then or before.
    pub(super) is_exact: bool,
    /// Of a run that was suspended then, and that nobody saw since: for how many seconds it is
    /// charged. It may have gone on.
    pub(super) paused_after: Option<i64>,
}

/// Runs that are charged, by record and start.
pub(super) type Charges = BTreeMap<(u32, i64), Charge>;

/// See [`Names::close`].
pub(super) fn close(charges: &mut Charges, id: u32, start: i64, charge: Charge) {
    let end = charge.end.max(start);
    let open = charges.range((id, start)..=(id, end));
    let open: Vec<(u32, i64)> =
        open.filter(|(_, open)| open.paused_after.is_some()).map(|(&key, _)| key).collect();
    for key in open {
        charges.remove(&key);
    }
    charges.entry((id, start)).or_insert(charge);
}

/// What could not be taken as it was told.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Oddities {
    /// Facts that the engine refused, in words.
    pub refused: Vec<String>,
    /// Events that were told after time had passed them; each is charged to the next second.
    pub late: u64,
    /// By how many seconds, the latest of them.
    pub latest: i64,
    /// Runs whose end nobody knows: they are charged until it was given up to look for them.
    pub lost: u64,
}

/// What the driver does not know.
pub(super) struct Names {
    pub(super) kinds: ResourceKinds,
    /// The second, since 1970, of time 0.
    pub(super) epoch: i64,
    pub(super) known: BTreeMap<u32, Known>,
    pub(super) tree: Tree,
    pub(super) policy: Policy,
    /// Those of accounting that are not among them, and ended after `floor`, were never seen. Of
    /// records that are gone they are kept for as long as an audit goes back.
    pub(super) charged: Charges,
    /// The second of the look that is being told.
    pub(super) looked: i64,
    /// Runs that ended after this second are asked about: the journal says which are charged.
    pub(super) floor: i64,
    pub(super) oddities: Oddities,
}

impl Names {
    pub(super) fn time(&self, second: i64) -> Time {
        let seconds = u64::try_from(second.saturating_sub(self.epoch)).unwrap_or(0);
        Time::from_secs(seconds).unwrap_or(Time::MAX)
    }

    pub(super) fn second(&self, time: Time) -> i64 {
        let seconds = time.as_micros() / 1_000_000;
        self.epoch.saturating_add(i64::try_from(seconds).unwrap_or(i64::MAX))
    }

    /// The leaf of a job; `None`: it has no association.
    pub(super) fn leaf(&self, account: &str, user: &str) -> Option<String> {
        self.tree.leaf(account, user).map(str::to_owned)
    }

    /// Whether the row is of the run of a record that is suspended, as far as the ledger knows.
    pub(super) fn is_paused(&self, row: &SlurmRun) -> bool {
        let paused = self.known.get(&row.id).and_then(Known::paused);
        paused.is_some_and(|paused| row.start <= paused && row.end.is_none_or(|end| end >= paused))
    }

    /// Whether the run of the row is charged, as a whole or as a piece of a run that was resized.
    pub(super) fn is_charged(&self, row: &SlurmRun) -> bool {
        let end = row.end.unwrap_or(i64::MAX);
        let all = self.charged.range((row.id, i64::MIN)..=(row.id, i64::MAX));
        all.into_iter().any(|(&(_, start), charge)| {
            let is_part = start <= row.start && end <= charge.end;
            let is_it = !charge.is_exact && row.start <= start && start <= end;
            start == row.start || is_part || is_it
        })
    }

    /// Notes a run whose end is charged: what was open of it is not any more. Of a run that is told
    /// late the entry is there, with its own end.
    pub(super) fn close(&mut self, id: u32, start: i64, charge: Charge) {
        close(&mut self.charged, id, start, charge);
    }

    /// For how many seconds of the row nothing is charged, where its run was suspended, went on and
    /// was put back between two looks.
    pub(super) fn rest_of(&self, row: &SlurmRun) -> Option<i64> {
        let end = row.end.filter(|end| *end >= row.start)?;
        let mut open = self.charged.range((row.id, row.start)..=(row.id, end));
        let charged = open.find_map(|(_, charge)| charge.paused_after)?;
        Some(row.elapsed - charged).filter(|rest| *rest > 0)
    }

    /// Tells queues that are new or have another weight, parents first.
    pub(super) fn set_queues(
        &mut self,
        batch: &mut Batch<'_, ()>,
        queues: &[TreeQueue],
    ) -> Result<(), Failed> {
        for queue in queues {
            let fact = match batch.find_queue(&queue.name) {
                Some(_) => {
                    let weight = Some(queue.weight);
                    let change = meed::QueueChange { weight, ..meed::QueueChange::default() };
                    Fact::queue_changed(queue.name.as_str(), &change, &self.kinds)
                }
                None => {
                    let (name, policy) = (queue.name.clone(), self.policy.clone());
                    let weight = queue.weight;
                    let spec = meed::QueueSpec { name, weight, min: None, max: None, policy };
                    Fact::queue_added(&spec, meed_journal::Keys::new(), &self.kinds)
                }
            };
            let told = batch.apply(&fact);
            self.note(|| format!("queue {}", queue.name), told)?;
        }
        Ok(())
    }

    /// A fact that the engine refuses is noted, and the ledger goes on without it. A journal that
    /// cannot be written ends it.
    pub(super) fn note<T>(
        &mut self,
        what: impl FnOnce() -> String,
        told: Result<T, Failed>,
    ) -> Result<Option<T>, Failed> {
        match told {
            Ok(answer) => Ok(Some(answer)),
            Err(Failed::Journal(why)) => Err(Failed::Journal(why)),
            Err(other) => {
                if self.oddities.refused.len() < 20 {
                    self.oddities.refused.push(format!("{}: {other}", what()));
                }
                Ok(None)
            }
        }
    }
}
