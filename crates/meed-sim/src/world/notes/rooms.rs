//! What ran where in a window of time, and for whom room was held: for the chart of a report.
//!
//! Cost: O(log running) for each start and end, O(reservations) for each instant; memory: what
//! runs, and what ran in the window.

use std::collections::BTreeMap;

use meed::{AllocationId, NodeId, QueueId, ReservationView, Resources, Start, Time, View};
use meed_driver::record::{ChartHold, ChartNode, ChartStart, ChartTask, NodeChart, RunRecord};
use meed_driver::{Driver, Journal};
use meed_journal::JobKey;

use crate::holds::{HoldEvent, HoldHistory, HoldStep};
use crate::world::planned::Planned;

/// Nodes that a chart shows; of more, some.
const MOST_NODES: usize = 120;
/// Tasks that a chart shows: some 50 bytes each.
const MOST_TASKS: usize = 6000;
/// Reservations that it shows.
const MOST_HOLDS: usize = 2000;

/// A window of time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Window {
    pub(crate) from: Time,
    pub(crate) to: Time,
}

impl Window {
    /// The part of a time that lies in it.
    fn cut(&self, from: Time, to: Time) -> Option<(Time, Time)> {
        let (from, to) = (from.max(self.from), to.min(self.to));
        (from < to).then_some((from, to))
    }
}

/// A task that runs or ran.
struct Bar {
    node: NodeId,
    queue: QueueId,
    job: JobKey,
    from: Time,
    demand: Resources,
    how: ChartStart,
}

/// A task that runs no more.
struct Closed {
    bar: Bar,
    end: Time,
    stopped: bool,
}

/// See the module.
pub(crate) struct Rooms {
    window: Window,
    open: BTreeMap<AllocationId, Bar>,
    closed: Vec<Closed>,
    holds: HoldHistory,
    /// Queue and label of the jobs of reservations, which may be gone when these are told.
    held_for: BTreeMap<meed::JobId, (QueueId, JobKey)>,
    left_out: usize,
}

impl Rooms {
    pub(crate) fn new(window: Window) -> Rooms {
        Rooms {
            window,
            open: BTreeMap::new(),
            closed: Vec::new(),
            holds: HoldHistory::default(),
            held_for: BTreeMap::new(),
            left_out: 0,
        }
    }

    pub(crate) fn start<K: Journal>(&mut self, driver: &Driver<Planned, K>, start: &Start) {
        let engine = driver.engine();
        let (Some(demand), Some(live)) =
            (engine.demand_of(start.allocation), driver.job(start.job))
        else {
            return;
        };
        let held = self.holds.now();
        let own = held.iter().any(|hold| (hold.job, hold.group) == (start.job, start.group));
        let how = match (own, held.is_empty()) {
            (true, _) => ChartStart::Reserved,
            (false, false) => ChartStart::Backfilled,
            (false, true) => ChartStart::Plain,
        };
        let bar = Bar {
            node: start.node,
            queue: start.queue,
            job: live.name().clone(),
            from: engine.now(),
            demand: *demand,
            how,
        };
        self.open.insert(start.allocation, bar);
    }

    /// A task has ended, or runs no more; it may have been stopped for another.
    pub(crate) fn end(&mut self, now: Time, task: AllocationId, stopped: bool) {
        let Some(bar) = self.open.remove(&task) else { return };
        if self.window.cut(bar.from, now).is_none() {
            return;
        }
        match self.closed.len() < 4 * MOST_TASKS {
            true => self.closed.push(Closed { bar, end: now, stopped }),
            false => self.left_out += 1,
        }
    }

    /// All of an instant has happened.
    pub(crate) fn look<K: Journal>(&mut self, driver: &Driver<Planned, K>) {
        let engine = driver.engine();
        // Tasks that were lost are told by nobody.
        if self.open.len() != engine.running_tasks() {
            let open = self.open.keys().copied();
            let gone: Vec<AllocationId> = open.filter(|task| !driver.runs(*task)).collect();
            gone.into_iter().for_each(|task| self.end(engine.now(), task, false));
        }
        for hold in engine.reservations() {
            if let Some(live) = driver.job(hold.job) {
                let known = || (live.queue(), live.name().clone());
                self.held_for.entry(hold.job).or_insert_with(known);
            }
        }
        self.holds.look(engine);
    }

    /// The chart; queues by their places in `record`.
    pub(crate) fn chart(mut self, engine: View<'_>, record: &RunRecord, why: &str) -> NodeChart {
        let open: Vec<AllocationId> = self.open.keys().copied().collect();
        let end = self.window.to;
        open.into_iter().for_each(|task| self.end(end, task, false));
        let holds = self.spans();
        let nodes = self.shown(engine, &holds);
        let places: BTreeMap<NodeId, usize> =
            nodes.iter().enumerate().map(|(place, node)| (*node, place)).collect();
        let names = record.queues.iter().enumerate();
        let names: BTreeMap<&str, usize> =
            names.map(|(place, queue)| (queue.queue.as_str(), place)).collect();
        let queue = |id: QueueId| names.get(engine.queue_name(id)).copied();
        let (measured, scale) =
            (engine.measured(), engine.kinds().unit(engine.measured()).scale() as f64);
        let amount = |demand: &Resources| demand.get(measured) as f64 / scale;
        let mut closed: Vec<&Closed> = self.closed.iter().collect();
        closed.sort_by_key(|closed| closed.bar.from);
        let task = |Closed { bar, end, stopped }: &Closed| {
            let (from, to) = self.window.cut(bar.from, *end)?;
            Some(ChartTask {
                node: *places.get(&bar.node)?,
                queue: queue(bar.queue)?,
                job: bar.job.clone(),
                from_s: from.as_secs_f64(),
                to_s: to.as_secs_f64(),
                amount: amount(&bar.demand),
                how: bar.how,
                stopped: *stopped && to == *end,
            })
        };
        let mut tasks: Vec<ChartTask> = closed.into_iter().filter_map(task).collect();
        let left_out = tasks.len().saturating_sub(MOST_TASKS) + self.left_out;
        tasks.truncate(MOST_TASKS);
        let hold = |(hold, from, to): &(ReservationView, Time, Time)| {
            let on = |(demand, node, tasks): (&Resources, NodeId, u32)| {
                let (id, job) = self.held_for.get(&hold.job)?;
                Some(ChartHold {
                    node: *places.get(&node)?,
                    queue: queue(*id)?,
                    job: job.clone(),
                    from_s: from.as_secs_f64(),
                    to_s: to.as_secs_f64(),
                    amount: f64::from(tasks) * amount(demand),
                })
            };
            hold.all().filter_map(on).collect::<Vec<_>>()
        };
        let node = |id: &NodeId| {
            let spec = engine.node(*id).0;
            ChartNode { name: spec.name.clone(), capacity: amount(&spec.capacity) }
        };
        NodeChart {
            from_s: self.window.from.as_secs_f64(),
            to_s: self.window.to.as_secs_f64(),
            why: why.to_owned(),
            nodes_in_all: engine.node_ids().len(),
            nodes: nodes.iter().map(node).collect(),
            tasks,
            left_out,
            holds: holds.iter().flat_map(hold).take(MOST_HOLDS).collect(),
        }
    }

    /// Where room was held from when to when, in the window.
    fn spans(&self) -> Vec<(ReservationView, Time, Time)> {
        let mut open: Vec<HoldEvent> = Vec::new();
        let mut spans = Vec::new();
        let mut close = |hold: ReservationView, from: Time, to: Time| {
            spans.extend(self.window.cut(from, to).map(|(from, to)| (hold, from, to)));
        };
        for event in &self.holds.events {
            let is_it = |old: &HoldEvent| HoldHistory::is_same(&old.hold, &event.hold);
            if let Some(place) = open.iter().position(is_it) {
                let stays = HoldHistory::holds_alike(&open[place].hold, &event.hold);
                if stays && matches!(event.step, HoldStep::Moved { .. }) {
                    continue;
                }
                let old = open.remove(place);
                close(old.hold, old.at, event.at);
            }
            if event.step != HoldStep::Over {
                open.push(event.clone());
            }
        }
        open.into_iter().for_each(|old| close(old.hold, old.at, self.window.to));
        spans.sort_by_key(|(_, from, _)| *from);
        spans
    }

    /// The nodes that are shown: all, or those where room was held, and as many others as there is
    /// place for, at equal distances.
    fn shown(&self, engine: View<'_>, holds: &[(ReservationView, Time, Time)]) -> Vec<NodeId> {
        let all: Vec<NodeId> = engine.node_ids().collect();
        if all.len() <= MOST_NODES {
            return all;
        }
        let mut chosen: Vec<NodeId> = Vec::new();
        let held = holds.iter().flat_map(|(hold, ..)| hold.places());
        let step = all.len() / MOST_NODES;
        for node in held.take(MOST_NODES / 2).chain(all.iter().copied().step_by(step.max(1))) {
            if chosen.len() < MOST_NODES && !chosen.contains(&node) {
                chosen.push(node);
            }
        }
        all.into_iter().filter(|node| chosen.contains(node)).collect()
    }
}
