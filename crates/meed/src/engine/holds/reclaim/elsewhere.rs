//! Who would be stopped in a world where another scheduler places what starts.
//!
//! There nobody has a reservation, for the nodes take no tasks of the engine's. What the rules
//! promise is the same, with two differences. All that a leaf waits for is looked at in one go: its
//! tasks, one after the other, until its side has its share or the guard says no. And no side falls
//! below its share of what is counted, for nobody holds freed room for the winner but the order.
//!
//! > held(last) - stopped >= share(last),   in a resource that the task asks for and that counts
//!
//! Tasks that are to come last ([`Manner::Last`]) come after all others, and only where nothing
//! else of their job goes on: stopping the one that leads a job stops the job.
//!
//! What is free serves first: room that is there already stops nobody. Cost: O(running tasks log
//! running tasks), and for each task that is served a look at the nodes and at what is prepaid.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::victims::Sides;
use crate::engine::books::{Ran, Used};
use crate::engine::chores::used;
use crate::engine::core::Core;
use crate::ids::{AllocationId, JobId, NodeRow, QueueRow};
use crate::order::key::Key;
use crate::resources::Resources;
use crate::stop::{Manner, Stop, TakeBack, Winner};
use crate::time::Time;

/// A task that waits.
#[derive(Clone, Copy)]
struct Ask {
    job: JobId,
    group: u32,
    demand: Resources,
}

/// A task that may be stopped.
struct Runs {
    id: AllocationId,
    job: JobId,
    node: NodeRow,
    demand: Resources,
    sides: Sides,
    is_last: bool,
}

/// What one look has come to.
struct Look<'a> {
    core: &'a Core,
    winner: QueueRow,
    wanted: &'a TakeBack<'a>,
    units: &'a [Runs],
    /// What is left of each node.
    left: BTreeMap<NodeRow, Resources>,
    /// What runs on a node, and would be stopped if it were enough.
    tried: BTreeMap<NodeRow, Vec<usize>>,
    /// What is stopped, and for which ask.
    stopped: Vec<(usize, Ask)>,
    served: Vec<(Ask, NodeRow)>,
    /// What the winner's leaf is given.
    got: Resources,
    /// What sides lose.
    lost: BTreeMap<QueueRow, Resources>,
    /// Sides whose order would turn too soon.
    over: BTreeSet<Sides>,
}

impl Core {
    /// See [`Engine::take_back`](crate::Engine::take_back).
    pub(in crate::engine) fn take_back(&self, wanted: &TakeBack<'_>) -> Vec<Stop> {
        let winner = self.row(wanted.leaf);
        let asks = self.asks_of(winner, wanted);
        let units = match asks.is_empty() {
            true => Vec::new(),
            false => self.stoppable_for(winner, wanted),
        };
        if units.is_empty() {
            return Vec::new();
        }
        let nodes = (0..self.room.nodes() as u32).map(NodeRow);
        let look = Look {
            core: self,
            winner,
            wanted,
            units: &units,
            left: nodes.map(|node| (node, self.room.free(node))).collect(),
            tried: BTreeMap::new(),
            stopped: Vec::new(),
            served: Vec::new(),
            got: Resources::zero(self.kinds.len()),
            lost: BTreeMap::new(),
            over: BTreeSet::new(),
        };
        look.stops(asks)
    }

    /// What a leaf waits for, in its order: as many tasks as the look is for at most.
    fn asks_of(&self, leaf: QueueRow, wanted: &TakeBack<'_>) -> Vec<Ask> {
        let books = self.seen().1;
        let slots = self.ready.buckets(leaf).iter().flat_map(|bucket| bucket.groups());
        let key = |slot| {
            let group = self.work.group(slot);
            books.group_key_seen(self.now, group.job, group.number)
        };
        let mut groups: Vec<(Key, u32)> = slots.map(|slot| (key(slot), slot)).collect();
        groups.sort_unstable_by_key(|(key, _)| *key);
        let mut asks = Vec::new();
        for (_, slot) in groups {
            let group = self.work.group(slot);
            if (wanted.may_start)(group.job) {
                let demand = *self.room.demand(group.shape);
                let ask = Ask { job: group.job, group: group.number, demand };
                let most = wanted.most.saturating_sub(asks.len());
                asks.extend((0..group.waiting()).map(|_| ask).take(most));
            }
        }
        asks
    }

    /// What may be stopped for it, in order.
    fn stoppable_for(&self, winner: QueueRow, wanted: &TakeBack<'_>) -> Vec<Runs> {
        let mut sides: BTreeMap<QueueRow, Option<Sides>> = BTreeMap::new();
        let mut units: Vec<(Runs, (Time, u64, u32), QueueRow)> = Vec::new();
        for (id, task) in self.work.all_running() {
            let leaf = task.queue;
            let known = sides.entry(leaf).or_insert_with(|| self.owing(winner, leaf));
            let Some(sides) = *known else { continue };
            let manner = (wanted.manner)(task.job, task.task);
            let ran = self.now.saturating_since(task.started);
            if manner == Manner::Never || ran < wanted.rules.min_runtime {
                continue;
            }
            let demand = *self.demand_of_task(id);
            let is_last = manner == Manner::Last;
            let runs = Runs { id, job: task.job, node: task.node, demand, sides, is_last };
            units.push((runs, (task.started, self.books.arrival(task.job), task.task), leaf));
        }
        let ranks = self.by_what_they_owe(units.iter().map(|(_, _, leaf)| *leaf).collect());
        units.sort_by_key(|(runs, youth, leaf)| (runs.is_last, ranks[leaf], Reverse(*youth)));
        units.into_iter().map(|(runs, _, _)| runs).collect()
    }

    /// Whether a queue that holds so much has what `share` says of each resource that `of` asks for
    /// and its parent counts.
    fn counted<'a>(
        &'a self,
        queue: QueueRow,
        of: &'a Resources,
    ) -> impl Iterator<Item = usize> + 'a {
        (0..of.kinds()).filter(move |&kind| of.get(kind) > 0 && self.books.counts(queue, kind))
    }
}

impl Look<'_> {
    fn stops(mut self, asks: Vec<Ask>) -> Vec<Stop> {
        let mut asks = asks.into_iter();
        let Some(mut ask) = self.next_without_room(&mut asks) else { return Vec::new() };
        for index in 0..self.units.len() {
            if !self.may_stop(index, &ask) {
                continue;
            }
            let node = self.units[index].node;
            self.tried.entry(node).or_default().push(index);
            if let Some(chosen) = self.enough(node, &ask)
                && self.stays_in_order(&chosen, &ask, node)
            {
                self.stop(node, &chosen, ask);
                match self.next_without_room(&mut asks) {
                    Some(next) => ask = next,
                    None => break,
                }
            }
        }
        let told = |(unit, ask): &(usize, Ask)| self.told(&self.units[*unit], ask);
        self.stopped.iter().map(told).collect()
    }

    /// The next task that finds no room as it is: those before it start where there is some.
    fn next_without_room(&mut self, asks: &mut impl Iterator<Item = Ask>) -> Option<Ask> {
        asks.find(|ask| {
            let room = self.left.iter_mut().find(|(_, left)| ask.demand.fits_in(left));
            let Some((&node, left)) = room else { return true };
            left.sub(&ask.demand);
            self.got.add(&ask.demand);
            self.served.push((*ask, node));
            false
        })
    }

    fn may_stop(&self, index: usize, ask: &Ask) -> bool {
        let unit = &self.units[index];
        let Sides { first, last } = unit.sides;
        if self.over.contains(&unit.sides) || (unit.is_last && !self.is_left_alone(unit)) {
            return false;
        }
        let (core, mut with) = (self.core, *core_held(self.core, first));
        with.add(&self.got);
        with.add(&ask.demand);
        let share = core.tree[first].share();
        let within = core.counted(first, &ask.demand).all(|kind| with.get(kind) <= share.get(kind));
        within && self.keeps_share(last, unit, &ask.demand) && self.keeps_floors(unit)
    }

    /// Whether a side has its share without a task, and what is tried on the task's node.
    fn keeps_share(&self, last: QueueRow, unit: &Runs, turn: &Resources) -> bool {
        let (then, share) = (self.then(last, unit), self.core.tree[last].share());
        self.core.counted(last, turn).any(|kind| then.get(kind) >= share.get(kind))
    }

    /// Whether no queue above a task falls below what it is to keep.
    fn keeps_floors(&self, unit: &Runs) -> bool {
        let leaf = self.core.work.running(unit.id).expect("it runs").queue;
        self.core.tree.up(leaf).all(|(queue, _)| {
            let Some(floor) = (self.wanted.floor)(self.core.tree.id(queue)) else { return true };
            let then = self.then(queue, unit);
            let kinds = 0..floor.kinds();
            kinds.into_iter().all(|kind| {
                unit.demand.get(kind) == 0
                    || floor.get(kind) == 0
                    || then.get(kind) >= floor.get(kind)
            })
        })
    }

    /// What a queue holds without a task, what is stopped, and what is tried on the task's node.
    fn then(&self, queue: QueueRow, unit: &Runs) -> Resources {
        let mut then = *core_held(self.core, queue);
        let mut less = |amounts: &Resources| {
            let both = then.as_mut_slice().iter_mut().zip(amounts.as_slice());
            both.for_each(|(amount, less)| *amount = amount.saturating_sub(*less));
        };
        if let Some(lost) = self.lost.get(&queue) {
            less(lost);
        }
        let tried = self.tried.get(&unit.node).into_iter().flatten().map(|&it| &self.units[it]);
        tried.filter(|it| self.is_below(it, queue)).for_each(|it| less(&it.demand));
        less(&unit.demand);
        then
    }

    fn is_below(&self, unit: &Runs, queue: QueueRow) -> bool {
        let leaf = self.core.work.running(unit.id).expect("it runs").queue;
        self.core.tree.up(leaf).any(|(above, _)| above == queue)
    }

    /// Whether all else of its job that runs is stopped.
    fn is_left_alone(&self, unit: &Runs) -> bool {
        let stopped = self.stopped.iter().filter(|(it, _)| self.units[*it].job == unit.job).count();
        self.core.work.job(unit.job).is_some_and(|job| job.running() as usize == stopped + 1)
    }

    /// What is tried there and needed, if it is enough.
    fn enough(&self, node: NodeRow, ask: &Ask) -> Option<Vec<usize>> {
        let mut chosen = self.tried.get(&node)?.clone();
        let fits = |chosen: &[usize]| {
            let mut room = *self.left.get(&node).unwrap_or(&self.got);
            chosen.iter().for_each(|&unit| room.add(&self.units[unit].demand));
            ask.demand.fits_in(&room)
        };
        if !fits(&chosen) {
            return None;
        }
        for place in (0..chosen.len()).rev() {
            let unit = chosen.remove(place);
            if !fits(&chosen) {
                chosen.insert(place, unit);
            }
        }
        Some(chosen)
    }

    /// Whether, by the ledgers, the winner's side still comes before each of the others when the
    /// guard has passed; where not, no more of that side is stopped.
    fn stays_in_order(&mut self, chosen: &[usize], ask: &Ask, node: NodeRow) -> bool {
        let core = self.core;
        let start = |(ask, node): &(Ask, NodeRow)| (*ask, core.room.weight(*node));
        let starts: Vec<(Ask, u32)> =
            self.served.iter().chain(&[(*ask, node)]).map(start).collect();
        let starts: Vec<Used<'_>> = starts
            .iter()
            .map(|(ask, node_weight)| Used {
                job: ask.job,
                queue: self.winner,
                demand: &ask.demand,
                node_weight: *node_weight,
            })
            .collect();
        let mut by_sides: BTreeMap<Sides, Vec<Ran<'_>>> = BTreeMap::new();
        let all = self.stopped.iter().map(|(unit, _)| unit).chain(chosen);
        for unit in all.map(|&unit| &self.units[unit]) {
            let running = core.work.running(unit.id).expect("it runs");
            let (started, quantum) = (running.started, running.quantum);
            let ran = Ran { used: used(&core.room, running), started, quantum };
            by_sides.entry(unit.sides).or_default().push(ran);
        }
        let time = (core.now, self.wanted.rules.guard);
        let turns = by_sides.iter().find(|(sides, stops)| {
            !core.books.stays_before(time, (sides.first, sides.last), &starts, stops)
        });
        match turns.map(|(sides, _)| *sides) {
            None => true,
            Some(sides) => {
                self.over.insert(sides);
                self.tried.clear();
                false
            }
        }
    }

    fn stop(&mut self, node: NodeRow, chosen: &[usize], ask: Ask) {
        let kinds = self.got.kinds();
        let left = self.left.entry(node).or_insert_with(|| Resources::zero(kinds));
        for &unit in chosen {
            let (units, core) = (self.units, self.core);
            let runs = &units[unit];
            left.add(&runs.demand);
            let leaf = core.work.running(runs.id).expect("it runs").queue;
            for (queue, _) in core.tree.up(leaf) {
                let lost = self.lost.entry(queue).or_insert_with(|| Resources::zero(kinds));
                lost.add(&runs.demand);
            }
            self.stopped.push((unit, ask));
        }
        left.sub(&ask.demand);
        self.got.add(&ask.demand);
        self.served.push((ask, node));
        if let Some(tried) = self.tried.get_mut(&node) {
            tried.retain(|unit| !chosen.contains(unit));
        }
    }

    fn told(&self, unit: &Runs, ask: &Ask) -> Stop {
        let core = self.core;
        let running = core.work.running(unit.id).expect("it runs");
        let among = core.tree[unit.sides.first].parent().expect("paths part below the root");
        let side = |queue| {
            let key = core.books.key_seen(core.now, queue);
            (core.tree.id(queue), core.shown(among, &key))
        };
        Stop {
            allocation: unit.id,
            job: running.job,
            task: running.task,
            queue: core.tree.id(running.queue),
            node: core.room.id(running.node),
            ran: core.now.saturating_since(running.started),
            grace: self.wanted.rules.grace,
            winner: Winner {
                job: ask.job,
                group: ask.group,
                queue: core.tree.id(self.winner),
                waited: self.wanted.waited,
                among: core.tree.id(among),
                first: side(unit.sides.first),
                last: side(unit.sides.last),
            },
        }
    }
}

fn core_held(core: &Core, queue: QueueRow) -> &Resources {
    core.books.held(queue)
}
