//! Whose turn it is: the order in which jobs would start, were there room for all.
//!
//! The engine itself decides it, in a copy of this instant: the copy gets a node of many times what
//! the cluster holds, and what starts there, in order, is the order. Each start is charged as the
//! policy charges starts, so tenants take turns in it as they would. The node is a multiple of the
//! pool, so shares of several resources keep their ratios.
//!
//! Cost: the state written and read once, and a decision for each task that waits, up to
//! [`MOST`].

use std::collections::{BTreeMap, BTreeSet};

use meed::place::FirstFit;
use meed::{NodeSpec, Resources, Time};
use meed_driver::explain::QueueStatus;
use meed_driver::{Driver, Failed, Off};

use super::SlurmWorld;
use super::told::{JobTold, Standings};
use crate::read::jobs::SlurmJob;
use crate::snapshot::ClusterSnapshot;
use crate::spread::{FactorChange, OrderPlace, Scale};

/// So many tasks are put in order.
const MOST: u64 = 50_000;

/// The order, and what people are told of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turn {
    /// Numbers of jobs, the first first.
    pub order: Vec<u32>,
    /// How queues and jobs stand.
    pub standings: Standings,
    /// The same of leaves, as all worlds measure it.
    pub queues: Vec<(String, QueueStatus)>,
}

impl SlurmWorld {
    /// Whose turn it is at the second of the snapshot.
    ///
    /// # Errors
    ///
    /// A state that cannot be copied: a fault of the program, in words.
    pub(crate) fn turn(&self, snapshot: &ClusterSnapshot) -> Result<Turn, Failed> {
        let (mut copy, now) = self.copy(snapshot.at)?;
        let bands = self.names.tree.bands();
        let (mut standings, queues) = Standings::of(&mut copy, snapshot.at, now, bands)?;
        let begun = self.begun(&mut copy, now, 0)?;
        let mut order: Vec<u32> = begun.iter().filter_map(|key| number_of(key)).collect();
        let waiting: BTreeSet<u32> = eligible(snapshot).map(|job| job.id).collect();
        order.retain(|id| waiting.contains(id));
        bands.apply(&mut order, |id| Some(self.queue_of(*id)?.as_str()));
        standings.jobs = self.jobs_told(snapshot, &order);
        Ok(Turn { order, standings, queues })
    }

    /// The leaf of a record.
    pub(super) fn queue_of(&self, id: u32) -> Option<&String> {
        Some(&self.names.known.get(&id)?.what.queue)
    }

    /// A copy of the driver, and its now at a second.
    pub(super) fn copy(&self, second: i64) -> Result<(Driver<(), Off>, Time), Failed> {
        let place = Box::new(FirstFit::new(self.names.kinds.len()));
        let copied = Driver::<(), Off>::from_state(&self.live.state(), place, Off);
        let copy = copied.map_err(Failed::Record)?;
        let now = self.names.time(second).max(copy.engine().now());
        Ok((copy, now))
    }

    /// Keys of all jobs of a copy in the order in which they would start; `more`: so many of one
    /// core stand in the copy alone.
    pub(super) fn begun(
        &self,
        copy: &mut Driver<(), Off>,
        now: Time,
        more: usize,
    ) -> Result<Vec<String>, Failed> {
        let Some(room) = self.room(copy, more as u64) else { return Ok(Vec::new()) };
        copy.node_joined(now, NodeSpec::new("turn", room))?;
        let (mut seen, mut jobs) = (BTreeSet::new(), Vec::new());
        copy.decide_at(now, |start| {
            if seen.insert(start.job) {
                jobs.push(start.job);
            }
        })?;
        let keys = jobs.iter().filter_map(|job| copy.job(*job));
        Ok(keys.map(|job| job.key().to_string()).collect())
    }

    /// Room for all that wait, a multiple of the pool; `None`: nothing waits, or there is no pool.
    fn room(&self, copy: &Driver<(), Off>, more: u64) -> Option<Resources> {
        let pool = self.pool().filter(|pool| !pool.is_zero())?;
        let kinds = self.names.kinds.len();
        let mut tasks = more;
        let one = one_core();
        let mut wanted: Vec<u128> =
            (0..kinds).map(|kind| u128::from(one.get(kind)) * u128::from(more)).collect();
        let known = self.names.known.values().filter(|known| known.waits > 0);
        for known in known {
            tasks += u64::from(known.waits);
            for (kind, sum) in wanted.iter_mut().enumerate() {
                *sum += u128::from(known.what.tres.get(kind)) * u128::from(known.waits);
            }
        }
        if tasks == 0 || copy.engine().capacity().is_zero() {
            return None;
        }
        let times = |kind: usize| match pool.get(kind) {
            0 => 0,
            held => wanted[kind].div_ceil(u128::from(held)),
        };
        let all = (0..kinds).map(times).max().unwrap_or(0) + 1;
        let some = match tasks > MOST {
            true => all * u128::from(MOST) / u128::from(tasks) + 1,
            false => all,
        };
        let highest = pool.as_slice().iter().max().copied().unwrap_or(1).max(1);
        let factor = some.min(u128::from(meed::MAX_AMOUNT / highest / 4)).max(1) as u64;
        let amounts: Vec<u64> = pool.as_slice().iter().map(|held| held * factor).collect();
        Some(Resources::new(&amounts))
    }

    fn jobs_told(&self, snapshot: &ClusterSnapshot, order: &[u32]) -> Vec<JobTold> {
        let alone = snapshot.order_alone();
        let alone: BTreeMap<u32, usize> =
            alone.into_iter().enumerate().map(|(place, id)| (id, place)).collect();
        let mut told: Vec<JobTold> = Vec::with_capacity(order.len());
        for (place, id) in order.iter().enumerate() {
            let (Some(job), Some(known)) = (snapshot.jobs.get(id), self.names.known.get(id)) else {
                continue;
            };
            told.push(JobTold {
                id: *id,
                name: job.name.clone(),
                queue: known.what.queue.clone(),
                place: Some(place),
                alone: alone.get(id).copied(),
                factor: snapshot.site_factor(*id),
                reason: job.reason.clone(),
            });
        }
        let placed: BTreeSet<u32> = order.iter().copied().collect();
        let others = snapshot.jobs.values().filter(|job| {
            job.stage == crate::read::jobs::JobStage::Pending && !placed.contains(&job.id)
        });
        told.extend(others.map(|job| JobTold {
            id: job.id,
            name: job.name.clone(),
            queue: self.names.leaf(&job.account, &job.user).unwrap_or_default(),
            place: None,
            alone: None,
            factor: snapshot.site_factor(job.id),
            reason: job.reason.clone(),
        }));
        told
    }
}

/// The changes that bring the first jobs of an order into force.
pub(crate) fn changes(
    order: &[u32],
    snapshot: &ClusterSnapshot,
    scale: Scale,
    first: usize,
) -> Vec<FactorChange> {
    let place = |&job: &u32| OrderPlace { job, factor: snapshot.site_factor(job) };
    let front: Vec<OrderPlace> = order.iter().take(first).map(place).collect();
    let chosen: BTreeSet<u32> = front.iter().map(|place| place.job).collect();
    // What waits for something else would come first when that is there, if it kept its factor.
    let rest = snapshot.priorities.keys().filter(|job| !chosen.contains(job));
    let rest: Vec<OrderPlace> = rest.map(place).collect();
    scale.changes(&front, &rest)
}

/// What a job holds of which nothing is known: a core.
pub(super) fn one_core() -> Resources {
    Resources::new(&[1000, 0, 0, 1000])
}

fn eligible(snapshot: &ClusterSnapshot) -> impl Iterator<Item = &SlurmJob> {
    snapshot.jobs.values().filter(|job| job.is_eligible())
}

/// Slurm's number, from the key of a job.
pub(super) fn number_of(key: &str) -> Option<u32> {
    key.split('@').next()?.parse().ok()
}
