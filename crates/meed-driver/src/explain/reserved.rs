//! The reservations of waiting tasks: where room is held, from when on, and who is there until
//! then.

use std::collections::BTreeMap;

use meed::{HeldWith, NodeId, QueueId, ReservationView, RunningView, View};
use meed_journal::JobKey;
use serde::Serialize;

use super::natural;
use crate::driver::Driver;
use crate::journal::Journal;

/// Room that is held for a waiting task, or for all of a gang that start together.
///
/// It is part of a [`Standing`](super::Standing), whose page has an example.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Reserved {
    /// Its job's label.
    pub job: String,
    /// How many tasks start together.
    pub tasks: u32,
    /// What each task asks for; in a gang of several groups those of the first.
    pub demand: BTreeMap<String, f64>,
    /// Where: on one node, but for gangs and where there are spares.
    pub nodes: Vec<HeldNode>,
    /// So many of the nodes are spares: the task starts on whichever has room first.
    #[serde(skip_serializing_if = "is_zero")]
    pub spares: usize,
    /// From when on there is room, as far as limits and estimates tell; `null`: nobody knows, or
    /// it was put off and is drained; what comes free there is kept.
    pub expected_s: Option<f64>,
    /// Since when it has the reservation.
    pub since_s: f64,
    /// Whether tasks are being stopped there for it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub reclaims: bool,
    /// Whether it was put off where estimates are learned: nobody is let in before it any more.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub drained: bool,
    /// How often it was put off: something ran longer than was expected, or a node went.
    pub put_off: u32,
    /// How it has moved, in order; only where the run was made again up to now.
    pub moves: Vec<HoldMove>,
}

/// A node on which room is held.
///
/// It is part of [`Reserved`]: the page of [`Standing`](super::Standing) has an example.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct HeldNode {
    /// Its name.
    pub node: String,
    /// For how many tasks.
    pub tasks: u32,
    /// The same for tasks of other groups that start with them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<HeldWithThem>,
    /// What is free there now.
    pub free: BTreeMap<String, f64>,
    /// How many tasks run there.
    pub running: usize,
    /// Of these the first that are expected to end, those of which nobody knows last.
    pub holders: Vec<Holder>,
}

/// Tasks of another group of a gang for which room is held on a node.
///
/// It is part of a [`HeldNode`]: the page of [`Standing`](super::Standing) has an example.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct HeldWithThem {
    /// How many.
    pub tasks: u32,
    /// What each asks for.
    pub demand: BTreeMap<String, f64>,
}

/// Tasks of one job that run on the node, and are expected to end at one time.
///
/// It is part of a [`HeldNode`]: the page of [`Standing`](super::Standing) has an example.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Holder {
    /// Whose.
    pub queue: String,
    /// Its label.
    pub job: String,
    /// Its key, for worlds that do not tell everybody its label.
    #[serde(skip)]
    pub key: Option<JobKey>,
    /// How many tasks.
    pub tasks: u64,
    /// What each holds.
    pub demand: BTreeMap<String, f64>,
    /// When they are expected to end, by their limits or as far as was learned; `null`: nobody
    /// knows.
    pub ends_s: Option<f64>,
    /// They run longer than was expected, and are expected to run twice as long, four times, and so
    /// on.
    pub is_over: bool,
}

/// A reservation has moved.
///
/// It is part of [`Reserved`]: the page of [`Standing`](super::Standing) has an example.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct HoldMove {
    /// When.
    pub at_s: f64,
    /// From which nodes.
    pub from: Vec<String>,
    /// To which; the same where only the time has changed.
    pub to: Vec<String>,
    /// When it was expected to start before; `null`: nobody knew.
    pub before_s: Option<f64>,
    /// When it was expected to start from then on.
    pub expected_s: Option<f64>,
    /// Why.
    pub why: MoveReason,
}

/// Why a reservation has moved.
///
/// It is part of a [`HoldMove`]: the page of [`Standing`](super::Standing) has an example.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MoveReason {
    /// It could start earlier, or where less is missing.
    Better,
    /// Nothing new may start on one of its nodes any more.
    NodeWent,
    /// What held its room ran longer than was expected.
    Overran,
    /// Tasks are stopped for it there.
    Reclaims,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// Holders that are named.
const NAMED: usize = 8;

/// The reservations for tasks of the leaf (of `job` of it, where one is asked for), in the order in
/// which they were made.
pub(super) fn reserved<J, K: Journal>(
    driver: &Driver<J, K>,
    leaf: QueueId,
    job: Option<meed::JobId>,
) -> Vec<Reserved> {
    let engine = driver.engine();
    let is_meant = |hold: &ReservationView| match job {
        Some(job) => hold.job == job,
        None => driver.job(hold.job).is_some_and(|live| live.queue() == leaf),
    };
    engine.reservations().filter(is_meant).map(|hold| told(driver, &hold)).collect()
}

fn told<J, K: Journal>(driver: &Driver<J, K>, hold: &ReservationView) -> Reserved {
    let engine = driver.engine();
    let node = |node: NodeId| {
        let (running, (spec, free)) = (engine.running_on(node), engine.node(node));
        let on = |nodes: &[(NodeId, u32)]| {
            nodes.iter().find(|(held, _)| *held == node).map(|(_, tasks)| *tasks)
        };
        let with = |other: &HeldWith| {
            let demand = natural(engine, &other.demand);
            on(&other.nodes).map(|tasks| HeldWithThem { tasks, demand })
        };
        HeldNode {
            node: spec.name.clone(),
            tasks: on(&hold.nodes).unwrap_or(u32::from(hold.spares.contains(&node))),
            others: hold.others.iter().filter_map(with).collect(),
            free: all_natural(engine, &free),
            running: running.len(),
            holders: holders(driver, &running),
        }
    };
    Reserved {
        job: driver.job(hold.job).map_or(String::new(), |live| live.name().to_string()),
        tasks: hold.tasks(),
        demand: natural(engine, &hold.demand),
        nodes: hold.places().into_iter().map(node).collect(),
        spares: hold.spares.len(),
        expected_s: hold.at.map(meed::Time::as_secs_f64),
        since_s: hold.since.as_secs_f64(),
        reclaims: hold.reclaims,
        drained: hold.drained,
        put_off: hold.moved,
        moves: Vec::new(),
    }
}

/// Amounts by resource, also those that are nothing.
fn all_natural(engine: View<'_>, amounts: &meed::Resources) -> BTreeMap<String, f64> {
    let kinds = engine.kinds();
    let amount = |kind| amounts.get(kind) as f64 / kinds.unit(kind).scale() as f64;
    (0..kinds.len()).map(|kind| (kinds.name(kind).to_owned(), amount(kind))).collect()
}

fn holders<J, K: Journal>(driver: &Driver<J, K>, running: &[RunningView]) -> Vec<Holder> {
    let mut sorted: Vec<&RunningView> = running.iter().collect();
    sorted.sort_by_key(|task| (task.expected_end.is_none(), task.expected_end, task.started));
    let mut holders: Vec<(&RunningView, u64)> = Vec::new();
    for task in sorted {
        match holders.last_mut() {
            Some((last, tasks))
                if (last.job, last.expected_end, last.demand)
                    == (task.job, task.expected_end, task.demand) =>
            {
                *tasks += 1;
            }
            _ => holders.push((task, 1)),
        }
    }
    let engine = driver.engine();
    let holder = |(task, tasks): (&RunningView, u64)| {
        let live = driver.job(task.job);
        Holder {
            queue: engine.queue_name(task.queue).to_owned(),
            job: live.map_or(String::new(), |live| live.name().to_string()),
            key: live.map(|live| live.key().clone()),
            tasks,
            demand: natural(engine, &task.demand),
            ends_s: task.expected_end.map(meed::Time::as_secs_f64),
            is_over: task.is_over,
        }
    };
    holders.into_iter().take(NAMED).map(holder).collect()
}
