//! A ledger is opened: made, or taken over from an epoch before.
//!
//! What ran when the epoch before ended is ended at the last durable instant. Containers that still
//! run are told again, by the nodes, and adopted from that instant on: downtime is charged once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use meed::place::FirstFit;
use meed::{Config, QueueSpec};
use meed_config::policy::PolicySpec;
use meed_driver::live::{Live, Opening, SnapshotRule};
use meed_driver::{Taken, header_of};
use meed_journal::{Fact, Header, Opened as OpenedFact};
use meed_store::{FileStore, FileStoreOptions, Retention, Store, UnixMillis};

use super::apps::{App, Apps};
use super::by_name::ByName;
use super::{Core, CoreError, Names, Oddities, Told, Touched, over, over_open};
use crate::epochs;
use crate::message::{LedgerOpened, Open};
use crate::settings::{self, CheckedSettings, kinds};

/// Days of the journal that are kept where nothing else is said.
const KEEP_DAYS: u32 = 90;

pub(super) fn open(open: Open) -> Result<(Core, LedgerOpened), CoreError> {
    if open.protocol != crate::PROTOCOL {
        return Err(CoreError::Refused(format!(
            "the jar speaks version {} of the protocol, its native library version {}: use both \
             from one build",
            open.protocol,
            crate::PROTOCOL
        )));
    }
    let checked = settings::check(&open.settings).map_err(CoreError::Refused)?;
    if checked.queues.is_empty() {
        let why = "there is no queue below root; declare at least one in the allocation file";
        return Err(CoreError::Refused(why.to_owned()));
    }
    let (folder, from, mut remarks) = match &open.folder {
        Some(all) => {
            let epoch = epochs::prepare(Path::new(all), open.epoch);
            let epoch = epoch.map_err(refused)?;
            (Some(epoch.folder), epoch.from, Vec::new())
        }
        None => (None, None, vec!["no folder is given: the ledger ends with the process".into()]),
    };
    let (mut live, begins, epoch_us, more) = open_live(&open, &checked, folder.as_deref())?;
    remarks.extend(more);
    let through = live.engine().now();
    if begins {
        let now = live.instant(through);
        live.at(now, |batch| batch.apply(&Fact::set_infeasible(true))).map_err(over)?;
    }
    let days = open.settings.keep_days.unwrap_or(KEEP_DAYS);
    let max_age = Some(Duration::from_secs(u64::from(days) * 86_400));
    let names = Names {
        kinds: kinds(),
        by: "yarn".into(),
        epoch_us,
        through,
        nodes: BTreeMap::new(),
        apps: Apps::default(),
        containers: ByName::default(),
        oddities: Oddities::default(),
        touched: Touched::default(),
    };
    let mut core = Core {
        live,
        names,
        folder: open.folder.as_ref().map(PathBuf::from),
        epoch: open.epoch,
        keep: Retention { max_age, ..Retention::default() },
        queues: Vec::new(),
        told: Told::default(),
        fenced: None,
        last_ms: open.now,
    };
    if !begins {
        core.end_what_ran()?;
    }
    core.configure(&open.settings, open.now)?;
    core.live.commit(UnixMillis::new(open.now)).map_err(over)?;
    remarks.append(&mut core.names.oddities.refused);
    let told = match begins {
        true => 0,
        false => (epoch_us + through.as_micros()) / 1000,
    };
    Ok((core, LedgerOpened { through: told, from_epoch: from, remarks }))
}

fn refused(why: std::io::Error) -> CoreError {
    CoreError::Refused(format!("ledger: {why}"))
}

type OpenedLive = (Live<()>, bool, u64, Vec<String>);

fn open_live(
    open: &Open,
    checked: &CheckedSettings,
    folder: Option<&Path>,
) -> Result<OpenedLive, CoreError> {
    let store: Box<dyn Store> = match folder {
        Some(folder) => {
            let store = FileStore::open_folder(folder, FileStoreOptions::default());
            let named = |why| CoreError::Refused(format!("{}: {why}", folder.display()));
            Box::new(store.map_err(named)?)
        }
        None => Box::new(crate::nowhere::Nowhere::default()),
    };
    let begins = store.durable() == meed_store::Seq::ZERO;
    let epoch_us = match (begins, folder) {
        (true, None) => open.now * 1000,
        (true, Some(folder)) => {
            epochs::remember_begin(folder, open.now).map_err(refused)?;
            open.now * 1000
        }
        (false, folder) => {
            let known = folder.map(epochs::begin).transpose().map_err(refused)?.flatten();
            match known {
                Some(millis) => millis * 1000,
                None => first_epoch_us(&*store)?,
            }
        }
    };
    let config = config_of(checked);
    let opening = Opening {
        header: header(open, &config),
        config,
        place: Box::new(|| Box::new(FirstFit::new(kinds().len()))),
        take: Box::new(|_| Taken { detail: (), max_attempts: 0 }),
        opened: OpenedFact { by: by(open), epoch_us: Some(epoch_us) },
        rule: SnapshotRule::default(),
        reasons: false,
        wall: UnixMillis::new(open.now),
    };
    let (live, recovered) = Live::open(store, opening).map_err(over_open)?;
    Ok((live, begins, epoch_us, recovered.remarks))
}

/// The wall clock at time 0, as the first record says.
fn first_epoch_us(store: &dyn Store) -> Result<u64, CoreError> {
    let mut found = None;
    store
        .read(store.first(), &mut |_, line| {
            let record = meed_journal::Record::decode(line);
            found = match record.map(|record| record.fact) {
                Ok(meed_journal::Fact::Run(header)) => header.epoch_us,
                Ok(meed_journal::Fact::Open(opened)) => opened.epoch_us,
                _ => None,
            };
            match found {
                Some(_) => std::ops::ControlFlow::Break(()),
                None => std::ops::ControlFlow::Continue(()),
            }
        })
        .map_err(|why| CoreError::Over(why.to_string()))?;
    let why = "the journal does not say when it began: it is not one of YARN's";
    found.ok_or_else(|| CoreError::Refused(why.to_owned()))
}

fn by(open: &Open) -> String {
    format!("meed-yarn {}, epoch {} {}", env!("CARGO_PKG_VERSION"), open.epoch, open.by)
}

fn config_of(checked: &CheckedSettings) -> Config {
    let queues = checked.queues.iter().map(|queue| QueueSpec {
        name: queue.name.clone(),
        weight: queue.weight,
        min: None,
        max: None,
        policy: queue.policy.clone(),
    });
    let (root, nodes) = (checked.root.clone(), Vec::new());
    Config { kinds: kinds(), measured: 0, root, queues: queues.collect(), nodes }
}

fn header(open: &Open, config: &Config) -> Header {
    let root = PolicySpec::of(&config.root, &config.kinds);
    let policy = root.word("order").unwrap_or("long-term");
    let told = header_of("yarn", policy, config, "first-fit");
    Header { epoch_us: Some(open.now * 1000), scenario: by(open), ..told }
}

impl Core {
    /// Ends, at the last durable instant, all that ran then; the nodes will tell what still does.
    fn end_what_ran(&mut self) -> Result<(), CoreError> {
        let running: Vec<_> = self.live.running().collect();
        if !running.is_empty() {
            let now = self.live.instant(self.names.through);
            // What still runs is charged from here on.
            self.names.through = now;
            let ended = self.live.at(now, |batch| {
                running
                    .iter()
                    .try_for_each(|row| batch.apply(&Fact::task_ended(row.task.clone())).map(drop))
            });
            ended.map_err(over)?;
        }
        let jobs: Vec<_> = self.live.jobs().map(|job| (job.key().clone(), job.id())).collect();
        for (key, id) in jobs {
            let engine = self.live.engine();
            let Some(job) = self.live.job(&key) else { continue };
            let (leaf, queue) = (job.queue(), engine.queue(job.queue()).name.to_owned());
            let tasks = engine.tasks_of(id);
            let mut app = App { queue, leaf: Some(leaf), tasks, ..App::default() };
            for (task, demand) in engine.waiting_of(id) {
                let size = (demand.get(0) / super::UNITS[0], demand.get(1) / super::UNITS[1]);
                app.push_waiting(size, task..task + 1);
            }
            // What follows a slash says which of several jobs it is.
            let name = key.to_string();
            name.split('/').next().unwrap_or_default().clone_into(&mut app.name);
            app.job = Some(key);
            self.names.apps.put(app);
        }
        for id in self.live.engine().node_ids() {
            if self.live.engine().is_up(id) {
                let spec = self.live.engine().node(id).0;
                let (memory, cores) = (spec.capacity.get(0), spec.capacity.get(1));
                let size = (memory / super::UNITS[0], cores / super::UNITS[1]);
                self.names.nodes.insert(spec.name.clone(), size);
            }
        }
        Ok(())
    }
}
