//! Slurm's words to the engine's: pure, but for the journal that the driver writes.
//!
//! Slurm decides what starts; this world hears of it. The cluster is one pool of what its nodes
//! hold together, closed to the engine. Each record of `slurmctld` is a job with one task, the rest
//! of an array one with many.
//!
//! Time: Slurm tells whole seconds. A round tells what happened before the second in which it
//! looked, each second at one instant, in order (`events.rs`). So a run is charged from the
//! second in which Slurm started it to the second in which Slurm ended it, however late the round
//! is.

mod charged;
mod events;
mod names;
mod open;
mod pieces;
mod places;
#[cfg(test)]
mod tests;
mod told;
mod turn;

use meed::Resources;
use meed_driver::Failed;
use meed_driver::live::{Batch, Live};
use meed_journal::{Amounts, Fact};
use meed_store::{Retention, UnixMillis};

use crate::snapshot::ClusterSnapshot;
use crate::tree::{Tree, TreeQueue};
pub(crate) use names::Oddities;
use names::{Names, POOL};
pub(crate) use open::{LedgerError, OpenWorld};
pub(crate) use places::NewPlace;
pub(crate) use told::{JobTold, LevelTold, QueueTold, Standings};
pub(crate) use turn::{Turn, changes};

/// The world of one Slurm: its ledger, and what the driver does not know.
pub(crate) struct SlurmWorld {
    live: Live<()>,
    names: Names,
    keep: Retention,
}

impl SlurmWorld {
    /// The second up to which all is told.
    pub(crate) fn through(&self) -> i64 {
        self.names.second(self.live.engine().now())
    }

    /// Brings queues and weights to those of the tree. A queue that is gone stays, with its ledger,
    /// and gets no work. Whether any was told.
    ///
    /// # Errors
    ///
    /// A journal that cannot be written.
    pub(crate) fn configure(&mut self, tree: Tree) -> Result<bool, Failed> {
        let engine = self.live.engine();
        let weight = |name: &str| Some(engine.queue(engine.find_queue(name)?).weight);
        let queues = tree.queues().iter();
        let changed: Vec<TreeQueue> =
            queues.filter(|queue| weight(&queue.name) != Some(queue.weight)).cloned().collect();
        if !changed.is_empty() {
            self.at(self.through(), |names, batch| names.set_queues(batch, &changed))?;
        }
        let is_new = !changed.is_empty() || self.names.tree.bands() != tree.bands();
        self.names.tree = tree;
        Ok(is_new)
    }

    /// Tells what the snapshot holds that is not told yet, and makes it durable.
    ///
    /// # Errors
    ///
    /// A journal that cannot be written: the world is to be opened again.
    pub(crate) fn tell(
        &mut self,
        snapshot: &ClusterSnapshot,
        wall: UnixMillis,
    ) -> Result<(), Failed> {
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
    pub(crate) fn take_oddities(&mut self) -> Oddities {
        std::mem::take(&mut self.names.oddities)
    }

    /// Records whose run the ledger knows, also one that is suspended, and the snapshot does not:
    /// accounting may know its end.
    pub(crate) fn missing(&self, snapshot: &ClusterSnapshot) -> Vec<u32> {
        let runs = self.names.known.iter();
        let runs = runs.filter(|(_, known)| known.run.is_some() || known.paused().is_some());
        runs.map(|(&id, _)| id).filter(|id| !snapshot.jobs.contains_key(id)).collect()
    }

    /// For how many seconds a record that runs has been charged up to `at`, suspensions left out;
    /// `None`: it does not run, as far as the ledger knows.
    pub(crate) fn ran(&self, id: u32, at: i64) -> Option<i64> {
        let known = self.names.known.get(&id)?;
        known.run.as_ref().map(|run| known.charged + at - run.since)
    }

    /// Runs that ended after this second may be charged still.
    pub(crate) fn floor(&self) -> i64 {
        self.names.floor
    }

    /// The leaf of a user in an account.
    pub(crate) fn leaf(&self, account: &str, user: &str) -> Option<String> {
        self.names.leaf(account, user)
    }

    /// Records that run as far as the ledger knows.
    #[cfg(test)]
    fn running(&self) -> usize {
        self.names.known.values().filter(|known| known.run.is_some()).count()
    }

    /// What the driver has counted, as a part of a page of metrics.
    pub(crate) fn counted(&mut self) -> String {
        self.live.counters().prometheus()
    }

    /// Where the tree means something else than in Slurm.
    pub(crate) fn remarks(&self) -> &[String] {
        self.names.tree.remarks()
    }

    /// What the nodes hold together, as the ledger knows.
    fn pool(&self) -> Option<Resources> {
        let engine = self.live.engine();
        let pool = engine.find_node(POOL).filter(|node| engine.is_up(*node))?;
        Some(engine.node(pool).0.capacity)
    }

    fn set_pool(&mut self, snapshot: &ClusterSnapshot) -> Result<(), Failed> {
        let (pool, known) = (snapshot.pool, self.pool());
        if known == Some(pool) {
            return Ok(());
        }
        self.at(self.through(), |names, batch| {
            let facts = match known {
                Some(_) => {
                    let capacity = Amounts::of(&pool, &names.kinds);
                    vec![Fact::node_resized(POOL, capacity, true)]
                }
                None => vec![
                    Fact::node_joined(&meed::NodeSpec::new(POOL, pool), &names.kinds),
                    Fact::node_cordoned(POOL, Some("Slurm places")),
                ],
            };
            let told = batch.apply_all(&facts);
            names.note(|| "the pool".to_owned(), told).map(drop)
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
