//! How queues and jobs stand, as the program leaves them in a file for `queues` and `why`.

use std::collections::BTreeMap;

use meed::{QueueId, Time, View};
use meed_driver::explain::{Child, QueueStatus, levels};
use meed_driver::{Driver, Failed, Off};
use serde::{Deserialize, Serialize};

use crate::bands::Bands;
use crate::read::fair::FairRow;

/// A leaf.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct QueueTold {
    /// Its full name.
    pub queue: String,
    /// Its place, from 0, among leaves in which something waits.
    pub next: Option<usize>,
    /// Weight among its siblings.
    pub weight: f64,
    /// Where Slurm's own fair share puts it, where `sshare` says so.
    #[serde(default)]
    pub fair_tree: Option<FairTold>,
    /// What it is entitled to now, cores.
    pub entitled: f64,
    /// What it holds, cores.
    pub held: f64,
    /// Elements of jobs that wait and could start.
    pub waiting: u64,
    /// Accumulated, core-seconds.
    pub used: f64,
    /// Lent less borrowed, core-seconds: above zero it is owed something.
    pub balance: f64,
    /// Whose turn it is on the way down to it, the root first.
    pub levels: Vec<LevelTold>,
}

/// The turn of a user by Slurm's own fair share.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct FairTold {
    /// From 0, among all users of the cluster; those with equal factors have one place.
    pub place: usize,
    /// How many users.
    pub of: usize,
    /// Slurm's factor, from 0 to 1.
    pub factor: f64,
}

/// The order among the children of one queue on the way down to a leaf.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct LevelTold {
    /// Whose children; empty for the root.
    pub among: String,
    /// The policy that orders them.
    pub order: String,
    /// How many are served before the one on the way.
    pub place: Option<usize>,
    /// The first of them with their keys, in core-seconds for each share under `long-term`.
    pub first: Vec<(String, f64)>,
}

/// A job that waits.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct JobTold {
    /// Slurm's number.
    pub id: u32,
    /// As people write it.
    pub name: String,
    /// Its leaf.
    pub queue: String,
    /// Its place in the order, from 0; `None`: its turn would be of no use now.
    pub place: Option<usize>,
    /// Its place by Slurm's own priority, from 0.
    #[serde(default)]
    pub alone: Option<usize>,
    /// Its site factor when it was looked at.
    pub factor: i64,
    /// Why Slurm has not started it, in Slurm's word.
    pub reason: String,
}

/// All of it, as of one second.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Standings {
    /// Seconds since 1970.
    pub at: i64,
    /// The policy of the root.
    pub order: String,
    /// Leaves in which something ever was, in the order of the tree.
    pub queues: Vec<QueueTold>,
    /// Jobs that wait, in order.
    pub jobs: Vec<JobTold>,
    /// Where the tree means something else than in Slurm, and what the site lacks.
    pub remarks: Vec<String>,
}

impl Standings {
    /// Says where Slurm's own fair share puts each leaf, whose name `leaf` gives.
    pub(crate) fn add_fair(
        &mut self,
        rows: &[FairRow],
        leaf: impl Fn(&str, &str) -> Option<String>,
    ) {
        for row in rows {
            let Some(name) = leaf(&row.account, &row.user) else { continue };
            if let Some(queue) = self.queues.iter_mut().find(|queue| queue.queue == name) {
                let of = rows.len();
                queue.fair_tree = Some(FairTold { place: row.place, of, factor: row.factor });
            }
        }
    }

    /// Of a copy of the driver, whose time passes to `now`.
    pub(super) fn of(
        copy: &mut Driver<(), Off>,
        at: i64,
        now: Time,
        bands: &Bands,
    ) -> Result<(Standings, Vec<(String, QueueStatus)>), Failed> {
        let books = copy.queues(now)?;
        let places = places(copy.engine(), bands);
        let (mut queues, mut measured) = (Vec::new(), Vec::new());
        for (leaf, state) in books {
            if state.usage == 0.0 && state.jobs == 0 {
                continue;
            }
            let name = copy.engine().queue(leaf).name.to_owned();
            let levels = levels(copy.engine(), leaf).into_iter().map(|level| LevelTold {
                // Without bands the order of the engine is the one that is told.
                place: match bands.is_empty() {
                    true => level.place,
                    false => {
                        level.place.and_then(|_| place(copy.engine(), &level.among, &name, bands))
                    }
                },
                among: level.among,
                order: level.order.to_owned(),
                first: in_bands(level.children, bands),
            });
            queues.push(QueueTold {
                queue: name.clone(),
                next: places.get(&leaf).copied(),
                weight: state.weight,
                fair_tree: None,
                entitled: state.share,
                held: state.held,
                waiting: state.waiting_tasks,
                used: state.usage,
                balance: state.balance,
                levels: levels.collect(),
            });
            measured.push((name, state));
        }
        let root = meed::policy::Preset::like(copy.engine().policy(QueueId::ROOT));
        let order = root.map_or("", |preset| preset.name).to_owned();
        Ok((Standings { at, order, queues, ..Standings::default() }, measured))
    }
}

/// Leaves in the order in which a walk down comes to them.
fn places(engine: View<'_>, bands: &Bands) -> BTreeMap<QueueId, usize> {
    let mut places = BTreeMap::new();
    let mut next = vec![QueueId::ROOT];
    while let Some(queue) = next.pop() {
        if queue != QueueId::ROOT && engine.queue(queue).is_leaf {
            places.insert(queue, places.len());
            continue;
        }
        next.extend(children(engine, queue, bands).into_iter().rev());
    }
    places
}

/// The children of a queue in the order in which they are served.
fn children(engine: View<'_>, queue: QueueId, bands: &Bands) -> Vec<QueueId> {
    let children = engine.children_in_order(queue);
    let mut children: Vec<QueueId> = children.iter().map(|child| child.queue).collect();
    if !bands.is_empty() {
        children.sort_by_key(|child| bands.of(engine.queue(*child).name));
    }
    children
}

/// How many children of `among` are served before the one on the way down to a leaf.
fn place(engine: View<'_>, among: &str, leaf: &str, bands: &Bands) -> Option<usize> {
    let parent = if among.is_empty() { QueueId::ROOT } else { engine.find_queue(among)? };
    let on_the_way = |child: &QueueId| {
        let rest = leaf.strip_prefix(engine.queue(*child).name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    children(engine, parent, bands).iter().position(on_the_way)
}

/// Children with their keys, those of the first band first.
fn in_bands(children: Vec<Child>, bands: &Bands) -> Vec<(String, f64)> {
    let told = children.into_iter().map(|child| (child.queue, child.key));
    let mut told: Vec<(String, f64)> = told.collect();
    told.sort_by_key(|(queue, _)| bands.of(queue));
    told
}
