//! The ledger is opened: made, or taken up where it ended.
//!
//! What ran when it ended still runs for it: the next round tells what became of it, with Slurm's
//! own times.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use meed::place::FirstFit;
use meed::policy::Policy;
use meed::{Config, Infeasible, QueueId, QueueSpec};
use meed_config::policy::PolicySpec;
use meed_driver::live::{Live, OpenError, Opening, SnapshotRule};
use meed_driver::{Failed, Taken, header_of};
use meed_journal::{Fact, Header, Opened};
use meed_store::{FileStore, FileStoreOptions, Retention, Seq, Store, StoreError, UnixMillis};

use super::SlurmWorld;
use super::events::What;
use super::names::{Charges, Known, Names, Oddities, Run};
use super::pieces::charged_of;
use super::turn::number_of;
use crate::snapshot::AUDIT;
use crate::tree::Tree;
use crate::tres::kinds;

/// Keeps the second of time 0.
const BEGAN: &str = "began";

/// A new ledger begins so many seconds before now, so that its first look has something to tell.
const BEFORE: i64 = 2;

/// Why a ledger cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum LedgerError {
    /// A file of the state folder.
    #[error("{0}")]
    File(String),
    /// The store of the journal; another instance may hold it.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The journal.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Something that was told.
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// With what a ledger is opened.
#[derive(Clone, Debug)]
pub(crate) struct OpenWorld<'a> {
    /// The folder of the journal.
    pub folder: &'a Path,
    /// The order.
    pub policy: Policy,
    /// Who opens, for readers of the journal.
    pub by: String,
    /// Now, in seconds since 1970.
    pub now: i64,
    /// A new ledger begins so many seconds before now.
    pub history: i64,
    /// What is kept of the journal.
    pub keep: Retention,
}

impl SlurmWorld {
    /// Opens a ledger; what is worth a line to the operator.
    ///
    /// # Errors
    ///
    /// A folder that cannot be written or that another instance holds, a journal that is damaged,
    /// a policy that the ledger cannot go over to.
    pub(crate) fn open(open: &OpenWorld<'_>) -> Result<(SlurmWorld, Vec<String>), LedgerError> {
        let named = |why: io::Error| LedgerError::File(format!("{}: {why}", open.folder.display()));
        std::fs::create_dir_all(open.folder).map_err(named)?;
        let journal = open.folder.join("journal");
        let store = FileStore::open_folder(&journal, FileStoreOptions::default())?;
        let begins = store.durable() == Seq::ZERO;
        let epoch = match begins {
            true => remember(open.folder, open.now - open.history.max(BEFORE)).map_err(named)?,
            false => recall(open.folder)?,
        };
        let opening = opening_of(open, epoch);
        let (mut live, recovered) = Live::open(Box::new(store), opening)?;
        let at = live.instant(live.engine().now());
        // The journal of a ledger that ended in its first second may lack the rule.
        if live.engine().infeasible() != Infeasible::Wait {
            live.at(at, |batch| batch.apply(&Fact::set_infeasible(true)))?;
        }
        if !begins && *live.engine().policy(QueueId::ROOT) != open.policy {
            let changed = Fact::policies_changed(Some(&open.policy), [], &kinds());
            live.at(at, |batch| batch.apply(&changed))?;
        }
        let mut names = Names {
            kinds: kinds(),
            epoch,
            known: BTreeMap::new(),
            tree: Tree::default(),
            policy: open.policy.clone(),
            charged: Charges::new(),
            looked: open.now,
            floor: epoch,
            oddities: Oddities::default(),
        };
        names.floor = epoch.max(names.second(live.engine().now()) - AUDIT);
        names.charged = names.charges(live.store(), names.floor)?;
        names.recall(&live);
        let world = SlurmWorld { live, names, keep: open.keep.clone() };
        Ok((world, recovered.remarks))
    }
}

impl Names {
    /// What the journal says that there is.
    fn recall(&mut self, live: &Live<()>) {
        let engine = live.engine();
        for job in live.jobs() {
            let Some(id) = number_of(&job.key().to_string()) else { continue };
            let waiting = engine.waiting_of(job.id());
            let tres = waiting.first().map(|(_, demand)| *demand);
            let known = Known {
                key: Some(job.key().clone()),
                what: What {
                    name: job.name().to_string(),
                    queue: engine.queue(job.queue()).name.to_owned(),
                    tres: tres.unwrap_or_else(|| meed::Resources::zero(self.kinds.len())),
                },
                waits: u32::try_from(waiting.len()).unwrap_or(u32::MAX),
                run: None,
                charged: charged_of(&job.key().to_string()),
                unseen: 0,
            };
            self.known.insert(id, known);
        }
        for (task, running) in live.running().map(|row| row.task).zip(engine.running_ids()) {
            let Some(id) = number_of(&task.job.to_string()) else { continue };
            let Some(known) = self.known.get_mut(&id) else { continue };
            if let Some(demand) = engine.demand_of(running) {
                known.what.tres = *demand;
            }
            let since = engine.started(running).map_or(self.epoch, |at| {
                self.epoch + i64::try_from(at.as_micros() / 1_000_000).unwrap_or(0)
            });
            known.run = Some(Run { task, start: None, since });
        }
    }
}

/// With what the journal of a ledger is opened that began at the second `epoch`.
fn opening_of(open: &OpenWorld<'_>, epoch: i64) -> Opening<()> {
    let config = config_of(&open.policy);
    let epoch_us = u64::try_from(epoch).ok().map(|second| second * 1_000_000);
    let spec = PolicySpec::of(&open.policy, &kinds());
    let word = spec.word("order").unwrap_or("long-term");
    let told = header_of("slurm", word, &config, "first-fit");
    Opening {
        header: Header { epoch_us, scenario: open.by.clone(), ..told },
        config,
        place: Box::new(|| Box::new(FirstFit::new(kinds().len()))),
        take: Box::new(|_| Taken { detail: (), max_attempts: 0 }),
        opened: Opened { by: open.by.clone(), epoch_us },
        rule: SnapshotRule::default(),
        reasons: false,
        wall: UnixMillis::new(u64::try_from(open.now).unwrap_or(0) * 1000),
    }
}

/// The engine wants a queue to begin with: that of Slurm's own user root, which every cluster has.
/// The others are told.
fn config_of(policy: &Policy) -> Config {
    let (name, policy) = ("root".to_owned(), policy.clone());
    let root = policy.clone();
    let queue = QueueSpec { name, weight: 1000, min: None, max: None, policy };
    Config { kinds: kinds(), measured: 0, root, queues: vec![queue], nodes: Vec::new() }
}

/// Keeps the second of time 0, which the first record says too, but may be forgotten one day.
fn remember(folder: &Path, second: i64) -> io::Result<i64> {
    let (unfinished, file) = (folder.join("began.unfinished"), folder.join(BEGAN));
    std::fs::write(&unfinished, format!("{second}\n"))?;
    std::fs::File::open(&unfinished)?.sync_all()?;
    std::fs::rename(&unfinished, &file)?;
    std::fs::File::open(folder)?.sync_all()?;
    Ok(second)
}

fn recall(folder: &Path) -> Result<i64, LedgerError> {
    let file = folder.join(BEGAN);
    let text = std::fs::read_to_string(&file);
    let second = text.ok().and_then(|text| text.trim().parse().ok());
    second.ok_or_else(|| {
        LedgerError::File(format!(
            "{}: the file should hold the second at which the ledger began; restore it from a \
             backup, or move the folder away to begin a new ledger",
            file.display()
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::opened;
    use super::*;

    #[test]
    fn a_journal_that_lacks_the_rule_for_what_no_node_holds_gets_it() {
        let folder = tempfile::tempdir().unwrap();
        let policy = "long-term".parse::<PolicySpec>().unwrap().policy(&kinds()).unwrap();
        let open = OpenWorld {
            folder: folder.path(),
            policy,
            by: "a test".to_owned(),
            now: 1000,
            history: 0,
            keep: Retention::default(),
        };
        // The program ended between the opening of the journal and the first event.
        let epoch = remember(folder.path(), 998).unwrap();
        let journal = folder.path().join("journal");
        let store = FileStore::open_folder(&journal, FileStoreOptions::default()).unwrap();
        let (mut live, _) = Live::open(Box::new(store), opening_of(&open, epoch)).unwrap();
        assert_eq!(live.engine().infeasible(), Infeasible::Refuse);
        live.commit(UnixMillis::new(1_000_000)).unwrap();
        drop(live);
        for _ in 0..2 {
            let world = opened(&open);
            assert_eq!(world.live.engine().infeasible(), Infeasible::Wait);
        }
    }
}
