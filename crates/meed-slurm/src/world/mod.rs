//! Slurm's words to the engine's: pure, but for the journal that the driver writes.
//!
//! Slurm decides what starts; this world hears of it. The cluster is one pool of what its nodes
//! hold together, closed to the engine. Each record of `slurmctld` is a job with one task, the rest
//! of an array one with many.
//!
//! Time: Slurm tells whole seconds. A round tells what happened before the second in which it
//! looked, each second at one instant, in order ([`mod@events`]). So a run is charged from the
//! second in which Slurm started it to the second in which Slurm ended it, however late the round
//! is.

mod events;
mod open;
mod pieces;
#[cfg(test)]
mod tests;
mod told;
mod turn;

use std::collections::{BTreeMap, BTreeSet};

use meed::policy::Policy;
use meed::{ResourceKinds, Resources, Time};
use meed_driver::Failed;
use meed_driver::live::{Batch, Live};
use meed_journal::{JobKey, Name, TaskKey};
use meed_store::{Retention, UnixMillis};

use crate::snapshot::ClusterSnapshot;
use crate::tree::Tree;
pub use open::{LedgerError, OpenWorld};
pub use told::{JobTold, LevelTold, QueueTold, Standings};
pub use turn::{Turn, changes};

/// The engine's name of all nodes together.
const POOL: &str = "pool";

/// A record of Slurm's that the ledger knows.
#[derive(Clone, Debug)]
struct Known {
    /// The job of the engine, where it wants something or runs.
    key: Option<JobKey>,
    /// As people write it.
    name: String,
    /// Its leaf.
    queue: String,
    tres: Resources,
    /// Tasks that wait.
    waits: u32,
    run: Option<Run>,
    /// What it has been charged for since its run began, in seconds, before the piece of now.
    charged: i64,
    /// In how many looks in a row neither `slurmctld` nor accounting knew of it.
    unseen: u32,
}

/// A piece of a run that is being charged.
#[derive(Clone, Debug)]
struct Run {
    task: TaskKey,
    /// When Slurm started the run; `None`: known from the journal alone.
    start: Option<i64>,
    /// From when this piece is charged: later than the start where the run was suspended.
    since: i64,
}

/// What could not be taken as it was told.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Oddities {
    /// Facts that the engine refused, in words.
    pub refused: Vec<String>,
    /// Events that were told after time had passed them; each is charged to the next second.
    pub late: u64,
    /// Runs whose end nobody knows: they are charged until it was given up to look for them.
    pub lost: u64,
}

/// See the module.
pub struct SlurmWorld {
    live: Live<()>,
    names: Names,
    keep: Retention,
}

/// What the driver does not know.
struct Names {
    kinds: ResourceKinds,
    by: Name,
    /// The second, since 1970, of time 0.
    epoch: i64,
    known: BTreeMap<u32, Known>,
    tree: Tree,
    /// Of the queues that the engine has.
    weights: BTreeMap<String, u64>,
    policy: Policy,
    pool: Option<Resources>,
    /// Runs that are charged, by record and start: those of accounting that are not among them, and
    /// ended after the ledger was opened, were never seen.
    charged: BTreeSet<(u32, i64)>,
    /// The second up to which all was told when the ledger was opened.
    opened: i64,
    oddities: Oddities,
}

impl SlurmWorld {
    /// The second up to which all is told.
    pub fn through(&self) -> i64 {
        self.names.second(self.live.engine().now())
    }

    /// Brings queues and weights to those of the tree. A queue that is gone stays, with its ledger,
    /// and gets no work.
    ///
    /// # Errors
    ///
    /// A journal that cannot be written.
    pub fn configure(&mut self, tree: Tree) -> Result<(), Failed> {
        if tree.queues() == self.names.tree.queues() {
            self.names.tree = tree;
            return Ok(());
        }
        self.at(self.through(), |names, batch| names.set_tree(batch, tree))
    }

    /// Tells what the snapshot holds that is not told yet, and makes it durable.
    ///
    /// # Errors
    ///
    /// A journal that cannot be written: the world is to be opened again.
    pub fn tell(&mut self, snapshot: &ClusterSnapshot, wall: UnixMillis) -> Result<(), Failed> {
        self.set_pool(snapshot)?;
        let through = self.through();
        let plan = self.names.plan(snapshot, through);
        for (second, facts) in plan {
            self.at(second, |names, batch| names.play(batch, second, &facts))?;
        }
        self.live.commit(wall)?;
        self.live.tidy(&self.keep, wall)?;
        Ok(())
    }

    /// What was odd since the last time that this was asked.
    pub fn take_oddities(&mut self) -> Oddities {
        std::mem::take(&mut self.names.oddities)
    }

    /// Records whose run the ledger knows and the snapshot does not: accounting may know its end.
    pub fn missing(&self, snapshot: &ClusterSnapshot) -> Vec<u32> {
        let there: BTreeSet<u32> = snapshot.jobs.iter().map(|job| job.id).collect();
        let runs = self.names.known.iter().filter(|(_, known)| known.run.is_some());
        runs.map(|(&id, _)| id).filter(|id| !there.contains(id)).collect()
    }

    /// For how many seconds a record that runs has been charged up to `at`, suspensions left out;
    /// `None`: it does not run, as far as the ledger knows.
    pub fn ran(&self, id: u32, at: i64) -> Option<i64> {
        let known = self.names.known.get(&id)?;
        known.run.as_ref().map(|run| known.charged + at - run.since)
    }

    /// Records that run as far as the ledger knows.
    pub fn running(&self) -> usize {
        self.names.known.values().filter(|known| known.run.is_some()).count()
    }

    /// Where the tree means something else than in Slurm.
    pub fn remarks(&self) -> &[String] {
        self.names.tree.remarks()
    }

    fn set_pool(&mut self, snapshot: &ClusterSnapshot) -> Result<(), Failed> {
        if self.names.pool == Some(snapshot.pool) {
            return Ok(());
        }
        let pool = snapshot.pool;
        self.at(self.through(), |names, batch| {
            let told = match names.pool {
                Some(_) => batch.node_resized(POOL, pool),
                None => batch
                    .node_joined(meed::NodeSpec::new(POOL, pool))
                    .and_then(|()| batch.node_cordoned(POOL, Some("Slurm places"))),
            };
            if names.note(|| "the pool".to_owned(), told)?.is_some() {
                names.pool = Some(pool);
            }
            Ok(())
        })
    }

    /// Tells what happened in one second: all that is told in one call has one time.
    fn at<T>(
        &mut self,
        second: i64,
        tell: impl FnOnce(&mut Names, &mut Batch<'_, ()>) -> Result<T, Failed>,
    ) -> Result<T, Failed> {
        let SlurmWorld { live, names, .. } = self;
        let at = names.time(second);
        let now = live.instant(at);
        live.at(now, |batch| tell(names, batch))
    }
}

impl Names {
    fn time(&self, second: i64) -> Time {
        let seconds = u64::try_from(second.saturating_sub(self.epoch)).unwrap_or(0);
        Time::from_secs(seconds).unwrap_or(Time::MAX)
    }

    fn second(&self, time: Time) -> i64 {
        let seconds = time.as_micros() / 1_000_000;
        self.epoch.saturating_add(i64::try_from(seconds).unwrap_or(i64::MAX))
    }

    /// The leaf of a job; `None`: it has no association.
    fn leaf(&self, account: &str, user: &str) -> Option<String> {
        self.tree.leaf(account, user).map(str::to_owned)
    }

    fn set_tree(&mut self, batch: &mut Batch<'_, ()>, tree: Tree) -> Result<(), Failed> {
        for queue in tree.queues() {
            let known = self.weights.get(&queue.name).copied();
            let told = match known {
                Some(weight) if weight == queue.weight => continue,
                Some(_) => {
                    let weight = Some(queue.weight);
                    let change = meed::QueueChange { weight, ..meed::QueueChange::default() };
                    batch.queue_changed(&queue.name, change)
                }
                None => {
                    let (name, policy) = (queue.name.clone(), self.policy.clone());
                    let weight = queue.weight;
                    let spec = meed::QueueSpec { name, weight, min: None, max: None, policy };
                    batch.queue_added(spec, meed_journal::Keys::new())
                }
            };
            if self.note(|| format!("queue {}", queue.name), told)?.is_some() {
                self.weights.insert(queue.name.clone(), queue.weight);
            }
        }
        self.tree = tree;
        Ok(())
    }

    /// A fact that the engine refuses is noted, and the ledger goes on without it. A journal that
    /// cannot be written ends it.
    fn note<T>(
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
