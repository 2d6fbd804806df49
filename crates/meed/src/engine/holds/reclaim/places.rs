//! Where enough can be stopped for a reservation.
//!
//! A place is a node, and for a gang all nodes on which it may be together (`spread`). Of each:
//!
//! > left(node) = what is free there, but for what others are to have of that, + what is stopped
//!
//! for as long as the winner may run, and no more than leaves others their room when all that runs
//! there has ended (`room_left`). Units are taken in order, and at each place only what runs there
//! counts, so the first place that is enough costs those who owe most. There what was not needed is
//! let be, the last first; of a gang whose core was taken as many tasks as make it a gang again, if
//! so many are not needed. A unit is passed over where its gang has no more to spare, or a queue
//! above it would hold too little (`minimums`); and a place is given up where the order
//! would turn again within the guard.
//!
//! A gang of several groups has enough where `pack` finds nodes for all of it, which is asked where
//! what is left holds each group by itself.
//!
//! Cost: O(tasks and holds on the node) for each unit and node that it runs on, and one pass over a
//! gang's nodes; for a gang of several groups such a pass, and the cost of `pack`, for each unit
//! from there on.

use std::collections::{BTreeMap, BTreeSet};

use smallvec::smallvec;

use super::super::Holds;
use super::super::profile::Signed;
use super::super::spread::fewest;
use super::minimums::Sum;
use super::room_left::{Held, RoomLeft};
use super::victims::{Sides, Spare, Unit};
use crate::engine::books::{Ran, Used};
use crate::engine::core::Core;
use crate::engine::holds::hold::{Hold, Places};
use crate::engine::room::pack;
use crate::engine::room::shapes::ShapeId;
use crate::engine::room::{Ask, Bin, Counts, most_room_first};
use crate::ids::{AllocationId, NodeRow, QueueRow};
use crate::reclaim::Reclaim;
use crate::resources::Resources;
use crate::time::Time;

/// What is looked for.
pub(super) struct Wanted<'a> {
    pub(super) hold: &'a Hold,
    pub(super) shape: ShapeId,
    /// What starts together: one part, but for a gang of several groups.
    pub(super) asks: Vec<Ask>,
    /// All that these ask for.
    pub(super) turn: Resources,
    pub(super) rules: Reclaim,
}

/// A place: which units are stopped there, and what that makes of it.
#[derive(Default)]
pub(super) struct Place {
    nodes: Vec<NodeRow>,
    /// What is left of each, where that was looked at, and how often a task of each part fits
    /// there.
    left: BTreeMap<NodeRow, (RoomLeft, Counts)>,
    /// The sums of these.
    copies: Vec<u64>,
    /// In the order in which they were taken, until it is told which are not needed.
    units: Vec<usize>,
    /// What queues with minimum shares lose, and the sides of what is stopped.
    pub(super) lost: BTreeMap<QueueRow, Sum>,
    given_up: bool,
}

/// Everything that one look needs.
pub(super) struct Look<'a> {
    pub(super) core: &'a Core,
    pub(super) wanted: &'a Wanted<'a>,
    pub(super) units: &'a [Unit],
    /// What others hold, by node.
    pub(super) held: BTreeMap<NodeRow, Held>,
    /// Until when the winner may run.
    pub(super) until: Time,
}

impl Holds {
    /// The first place where enough can be stopped: the units, and the nodes with how many tasks
    /// start there.
    pub(super) fn find_victims(
        &self,
        core: &Core,
        wanted: &Wanted<'_>,
        units: &[Unit],
    ) -> Option<(Vec<usize>, Places)> {
        let held = self.held_against(core, wanted);
        let until = wanted.hold.need().until(core.now.saturating_add(wanted.rules.grace));
        let look = Look { core, wanted, units, held, until };
        let (mut places, of) = look.places();
        for (index, unit) in units.iter().enumerate() {
            let tasks = unit.with.iter().map(|&other| &units[other]).chain([unit]);
            let tasks = tasks.flat_map(|unit| &unit.tasks);
            let on = tasks.filter_map(|&task| of.get(&core.node_of(task)).copied());
            for number in on.collect::<BTreeSet<usize>>() {
                let place = &mut places[number];
                let may = !place.given_up && !place.units.contains(&index);
                let holds_too_little = |look: &Look<'_>, place: &Place| {
                    look.falls_below_minimum(place, index) || look.changes_places(place, index)
                };
                if !may || look.is_spent(place, unit) || holds_too_little(&look, place) {
                    continue;
                }
                look.stop(place, index);
                if look.starts(place).is_none() {
                    continue;
                }
                look.let_be_what_is_not_needed(place);
                let starts = look.starts(place).expect("so many fit");
                if look.stays_in_order(place, &starts) {
                    return Some((std::mem::take(&mut place.units), starts));
                }
                place.given_up = true;
            }
        }
        None
    }
}

impl Core {
    fn node_of(&self, task: AllocationId) -> NodeRow {
        self.work.running(task).expect("it runs").node
    }

    pub(super) fn demand_of_task(&self, task: AllocationId) -> &Resources {
        self.room.demand(self.work.running(task).expect("it runs").shape)
    }
}

impl Look<'_> {
    /// All places, and which node is of which.
    fn places(&self) -> (Vec<Place>, BTreeMap<NodeRow, usize>) {
        let (mut places, mut of): (Vec<Place>, _) = (Vec::new(), BTreeMap::new());
        let (room, wanted) = (&self.core.room, self.wanted);
        let mut by_value: BTreeMap<Option<&str>, usize> = BTreeMap::new();
        for node in (0..room.nodes() as u32).map(NodeRow) {
            if room.most_on(wanted.shape, node).iter().all(|&most| most == 0) {
                continue;
            }
            let Some(value) = room.value_of(wanted.shape, node) else { continue };
            let new = places.len();
            let place = match &wanted.asks[..] {
                [Ask { tasks: 1, .. }] => new,
                _ => *by_value.entry(value).or_insert(new),
            };
            if place == new {
                places.push(Place::default());
            }
            places[place].nodes.push(node);
            of.insert(node, place);
        }
        (places, of)
    }

    /// Whether the gang of a task spares no more tasks of its group than are stopped at a place.
    fn is_spent(&self, place: &Place, unit: &Unit) -> bool {
        unit.spare.is_some_and(|spare| self.taken_of(place, spare) >= spare.tasks as usize)
    }

    /// How many tasks of a gang's group are stopped at a place.
    fn taken_of(&self, place: &Place, spare: Spare) -> usize {
        place.units.iter().filter(|&&unit| self.units[unit].spare == Some(spare)).count()
    }

    /// The tasks of a unit are stopped at a place, with a core all of its gang's.
    fn stop(&self, place: &mut Place, index: usize) {
        if place.left.is_empty() {
            place.copies = vec![0; self.wanted.asks.len()];
            place.nodes.iter().for_each(|&node| {
                let left = self.room_before(node);
                let copies = self.copies(node, &left.amounts());
                let sums = place.copies.iter_mut().zip(&copies);
                sums.for_each(|(sum, &copies)| *sum += u64::from(copies));
                place.left.insert(node, (left, copies));
            });
        }
        self.taken_with(place, index).into_iter().for_each(|unit| self.take(place, unit));
    }

    fn take(&self, place: &mut Place, unit: usize) {
        self.count_stops(place, unit, true);
        place.units.push(unit);
    }

    fn let_be(&self, place: &mut Place, unit: usize) {
        self.count_stops(place, unit, false);
        place.units.retain(|other| *other != unit);
    }

    /// The units that are stopped when this one is, and were not before.
    pub(super) fn taken_with(&self, place: &Place, index: usize) -> Vec<usize> {
        let others = self.units[index].with.iter().copied();
        let others = others.filter(|other| !place.units.contains(other));
        others.chain([index]).collect()
    }

    /// What is left, and what queues lose, when the tasks of one unit are stopped or are not.
    fn count_stops(&self, place: &mut Place, index: usize, stops: bool) {
        let unit = &self.units[index];
        self.count_lost(place, unit, stops);
        for &task in &unit.tasks {
            let demand = self.core.demand_of_task(task);
            let node = self.core.node_of(task);
            let Some((left, copies)) = place.left.get_mut(&node) else { continue };
            left.stop(demand, self.end_of(task), stops);
            let now = self.copies(node, &left.amounts());
            for (sum, (&now, before)) in place.copies.iter_mut().zip(now.iter().zip(copies)) {
                *sum = *sum - u64::from(*before) + u64::from(now);
                *before = now;
            }
        }
    }

    /// How often a task of each part fits there.
    fn copies(&self, node: NodeRow, left: &Signed) -> Counts {
        let most = self.core.room.most_on(self.wanted.shape, node);
        let copies = |(ask, most): (&Ask, u32)| {
            let asked = ask.demand.as_slice().iter().zip(left).filter(|(amount, _)| **amount > 0);
            let copies = asked.map(|(&amount, &left)| left.max(0) / i128::from(amount)).min();
            copies.map_or(most, |copies| u32::try_from(copies).unwrap_or(most).min(most))
        };
        self.wanted.asks.iter().zip(most).map(copies).collect()
    }

    /// What need not be stopped is not, the last first.
    fn let_be_what_is_not_needed(&self, place: &mut Place) {
        place.units.sort_unstable();
        for index in place.units.clone().into_iter().rev() {
            let of_core = |&core: &usize| self.units[core].with.contains(&index);
            if self.units[index].is_core {
                self.keep_some(place, index);
            } else if place.units.contains(&index) && !place.units.iter().any(of_core) {
                self.let_be(place, index);
                if self.starts(place).is_none() {
                    self.take(place, index);
                }
            }
        }
        place.units.sort_unstable();
    }

    /// A gang whose core was taken goes on with the tasks that need not be stopped, where these are
    /// as many as make it a gang. Those that started first are let be first.
    fn keep_some(&self, place: &mut Place, core: usize) {
        self.let_be(place, core);
        if self.starts(place).is_none() {
            return self.take(place, core);
        }
        let (with, mut kept) = (&self.units[core].with, Vec::new());
        for &index in with.iter().rev() {
            self.let_be(place, index);
            match self.starts(place) {
                Some(_) => kept.push(index),
                None => self.take(place, index),
            }
        }
        let goes_on = |&index: &usize| {
            let spare = self.units[index].spare;
            spare.is_none_or(|spare| self.taken_of(place, spare) <= spare.tasks as usize)
        };
        if !with.iter().all(goes_on) {
            kept.into_iter().chain([core]).for_each(|index| self.take(place, index));
        }
    }

    /// Where all start; `None`: too little is left.
    fn starts(&self, place: &Place) -> Option<Places> {
        let asks = &self.wanted.asks;
        let mut sums = place.copies.iter().zip(asks);
        if sums.any(|(sum, ask)| *sum < u64::from(ask.tasks)) {
            return None;
        }
        if let [ask] = &asks[..] {
            let copies = place.left.iter().map(|(&node, (_, copies))| (node, copies[0])).collect();
            return fewest(copies, ask.tasks).map(|nodes| smallvec![nodes]);
        }
        let bin = |(&node, (left, copies)): (&NodeRow, &(RoomLeft, Counts))| {
            let mut room = Resources::zero(self.wanted.turn.kinds());
            for (room, &left) in room.as_mut_slice().iter_mut().zip(&left.amounts()) {
                *room = u64::try_from(left.max(0)).unwrap_or(u64::MAX);
            }
            Bin::new(node, room, asks, |part| copies[part] > 0)
        };
        let mut bins: Vec<Bin> = place.left.iter().filter_map(bin).collect();
        most_room_first(&mut bins);
        pack(&bins, asks).map(Places::from_vec)
    }

    /// Whether, by the ledgers, the winner's side still comes before each of the others when the
    /// guard has passed.
    fn stays_in_order(&self, place: &Place, starts: &Places) -> bool {
        let (core, hold) = (self.core, self.wanted.hold);
        let (job, queue) = (core.work.group(hold.slot()).job, core.leaf_of(hold.slot()));
        let mut used: Vec<Used<'_>> = Vec::new();
        for (ask, nodes) in self.wanted.asks.iter().zip(starts) {
            for &(node, tasks) in nodes {
                let node_weight = core.room.weight(node);
                let one = || Used { job, queue, demand: &ask.demand, node_weight };
                used.extend((0..tasks).map(|_| one()));
            }
        }
        let mut by_sides: BTreeMap<Sides, Vec<Ran<'_>>> = BTreeMap::new();
        for unit in place.units.iter().map(|&index| &self.units[index]) {
            let stops = by_sides.entry(unit.sides).or_default();
            stops.extend(unit.tasks.iter().map(|&task| self.ran(task)));
        }
        let time = (core.now, self.wanted.rules.guard);
        by_sides.iter().all(|(&Sides { first, last }, stops)| {
            // Who gets its minimum share gets it, whatever was used.
            core.books.is_below_minimum(first)
                || core.books.stays_before(time, (first, last), &used, stops)
        })
    }

    fn ran(&self, task: AllocationId) -> Ran<'_> {
        let running = self.core.work.running(task).expect("it runs");
        Ran {
            used: crate::engine::chores::used(&self.core.room, running),
            started: running.started,
            quantum: running.quantum,
        }
    }
}
