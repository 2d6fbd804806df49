//! Where enough can be stopped for a reservation.
//!
//! A place is a node, and for a gang all nodes on which it may be together (`spread`). Of each:
//!
//! > left(node) = balance - what others hold there + what is stopped there
//!
//! Units are taken in order, and at each place only what runs there counts, so the first place that
//! is enough costs those who owe most. There what was not needed is let be, the last first. A unit
//! is passed over where a queue on its path, up to where the paths part, would fall below its
//! minimum share; and a place is given up where the order would turn again within the guard.

use std::collections::{BTreeMap, BTreeSet};

use super::super::profile::{Need, Signed};
use super::super::spread::fewest;
use super::super::{Hold, Holds, Nodes};
use super::victims::{Sides, Unit};
use crate::engine::Engine;
use crate::engine::books::{Ran, Used};
use crate::engine::room::ShapeId;
use crate::reclaim::Reclaim;
use crate::resources::Resources;
use crate::spec::NodeRow;

/// What is known of a place: the units that are stopped there, in order.
#[derive(Default)]
struct Place {
    units: Vec<usize>,
    given_up: bool,
}

/// What is looked for.
pub(super) struct Wanted<'a> {
    pub(super) hold: &'a Hold,
    pub(super) shape: ShapeId,
    pub(super) tasks: u32,
    pub(super) rules: Reclaim,
}

/// The places of nodes: themselves, or, for a gang, those of a value of its label.
type PlaceOf = BTreeMap<NodeRow, usize>;

impl Engine {
    /// The first place where enough can be stopped: the units, and the nodes with how many tasks
    /// start there.
    pub(super) fn find_victims(
        &self,
        holds: &Holds,
        wanted: &Wanted<'_>,
        units: &[Unit],
    ) -> Option<(Vec<usize>, Nodes)> {
        let (nodes, of) = self.places(wanted);
        let mut places: BTreeMap<usize, Place> = BTreeMap::new();
        for (index, unit) in units.iter().enumerate() {
            let on = unit.tasks.iter().filter_map(|&task| of.get(&self.node_of(task)).copied());
            for number in on.collect::<BTreeSet<usize>>() {
                let place = places.entry(number).or_default();
                if place.given_up || self.falls_below_minimum(units, &place.units, unit) {
                    continue;
                }
                place.units.push(index);
                if self.start_there(holds, wanted, units, &nodes[number], &place.units).is_none() {
                    continue;
                }
                let found = self.only_what_is_needed(holds, wanted, units, &nodes[number], place);
                if self.stays_in_order(wanted, units, &found) {
                    return Some(found);
                }
                place.given_up = true;
            }
        }
        None
    }

    /// All places, and which node is of which.
    fn places(&self, wanted: &Wanted<'_>) -> (Vec<Vec<NodeRow>>, PlaceOf) {
        let (mut places, mut of) = (Vec::new(), PlaceOf::new());
        let mut by_value: BTreeMap<Option<&str>, usize> = BTreeMap::new();
        for node in (0..self.room.nodes() as u32).map(NodeRow) {
            if self.room.copies_on(wanted.shape, node) == 0 {
                continue;
            }
            let Some(value) = self.room.value_of(wanted.shape, node) else { continue };
            let new = places.len();
            let place = match wanted.tasks {
                1 => new,
                _ => *by_value.entry(value).or_insert(new),
            };
            if place == new {
                places.push(Vec::new());
            }
            places[place].push(node);
            of.insert(node, place);
        }
        (places, of)
    }

    fn node_of(&self, task: crate::spec::AllocationId) -> NodeRow {
        self.work.running(task).expect("it runs").node
    }

    /// Whether stopping `unit` besides `taken` leaves a queue with less than its minimum share.
    fn falls_below_minimum(&self, units: &[Unit], taken: &[usize], unit: &Unit) -> bool {
        // Above that nothing is lost: the winner gets it.
        let mut is_last = false;
        let path = self.tree.up(unit.leaf).map(|(queue, _)| queue);
        let mut path =
            path.take_while(|queue| !std::mem::replace(&mut is_last, *queue == unit.sides.last));
        path.any(|queue| {
            let Some(min) = self.tree[queue].min() else { return false };
            let below =
                |other: &&Unit| other.leaf == queue || self.tree.path(other.leaf).contains(&queue);
            let taken = taken.iter().map(|&index| &units[index]).filter(below);
            let tasks = taken.chain([unit]).flat_map(|unit| unit.tasks.iter().copied());
            let mut left: Vec<i128> =
                self.books.held(queue).as_slice().iter().map(|&held| i128::from(held)).collect();
            for task in tasks {
                let shape = self.work.running(task).expect("it runs").shape;
                let demand = self.room.demand(shape).as_slice();
                left.iter_mut().zip(demand).for_each(|(left, &less)| *left -= i128::from(less));
            }
            let short = |(&left, &min): (&i128, &u64)| min > 0 && left < i128::from(min);
            left.iter().zip(min.as_slice()).any(short)
        })
    }

    /// Where the turn starts if these units are stopped, if it can.
    fn start_there(
        &self,
        holds: &Holds,
        wanted: &Wanted<'_>,
        units: &[Unit],
        nodes: &[NodeRow],
        stopped: &[usize],
    ) -> Option<Nodes> {
        let mut freed: BTreeMap<NodeRow, Signed> = BTreeMap::new();
        for &task in stopped.iter().flat_map(|&index| &units[index].tasks) {
            let running = self.work.running(task).expect("it runs");
            let sums = freed.entry(running.node).or_default();
            let demand = self.room.demand(running.shape).as_slice();
            sums.iter_mut().zip(demand).for_each(|(sum, &amount)| *sum += i128::from(amount));
        }
        let copies = nodes.iter().map(|&node| {
            let most = self.room.copies_on(wanted.shape, node).min(u64::from(wanted.tasks));
            let left = self.left(holds, wanted.hold, node, freed.get(&node));
            (node, copies_in(&wanted.hold.need, &left, most as u32))
        });
        fewest(copies.collect(), wanted.tasks)
    }

    /// What is left of a node: not what others hold there.
    fn left(&self, holds: &Holds, own: &Hold, node: NodeRow, freed: Option<&Signed>) -> Signed {
        let mut left = self.room.balance(node);
        let others = holds.list.iter().filter(|hold| !std::ptr::eq(*hold, own));
        for (_, part) in others.flat_map(Hold::parts).filter(|(on, _)| *on == node) {
            let demand = part.need.demand.as_slice();
            left.iter_mut().zip(demand).for_each(|(left, &less)| *left -= i128::from(less));
        }
        let none = Signed::default();
        let freed = freed.unwrap_or(&none);
        left.iter_mut().zip(freed).for_each(|(left, more)| *left += more);
        left
    }

    /// Lets be what need not be stopped, the last first.
    fn only_what_is_needed(
        &self,
        holds: &Holds,
        wanted: &Wanted<'_>,
        units: &[Unit],
        nodes: &[NodeRow],
        place: &Place,
    ) -> (Vec<usize>, Nodes) {
        let mut stopped = place.units.clone();
        for index in place.units.iter().rev() {
            let fewer: Vec<usize> = stopped.iter().copied().filter(|it| it != index).collect();
            if self.start_there(holds, wanted, units, nodes, &fewer).is_some() {
                stopped = fewer;
            }
        }
        let starts = self.start_there(holds, wanted, units, nodes, &stopped);
        (stopped, starts.expect("that much was found to be enough"))
    }

    /// Whether, by the ledgers, the winner's side still comes before each of the others when the
    /// guard has passed.
    fn stays_in_order(
        &self,
        wanted: &Wanted<'_>,
        units: &[Unit],
        (stopped, nodes): &(Vec<usize>, Nodes),
    ) -> bool {
        let demand = wanted.hold.need.demand;
        let job = self.work.group(wanted.hold.slot).job;
        let winner = self.leaf_of(wanted.hold.slot);
        let each = nodes.iter().flat_map(|&(node, tasks)| (0..tasks).map(move |_| node));
        let starts: Vec<Used<'_>> = each
            .map(|node| Used {
                job,
                queue: winner,
                demand: &demand,
                node_weight: self.room.weight(node),
            })
            .collect();
        let mut by_sides: BTreeMap<Sides, Vec<Ran<'_>>> = BTreeMap::new();
        for unit in stopped.iter().map(|&index| &units[index]) {
            let stops = by_sides.entry(unit.sides).or_default();
            stops.extend(unit.tasks.iter().map(|&task| self.ran(task)));
        }
        by_sides.iter().all(|(&Sides { first, last }, stops)| {
            // Who gets its minimum share gets it, whatever was used.
            self.books.is_below_minimum(first)
                || self.books.stays_before(
                    (self.now, wanted.rules.guard),
                    (first, last),
                    &starts,
                    stops,
                )
        })
    }

    fn ran(&self, task: crate::spec::AllocationId) -> Ran<'_> {
        let running = self.work.running(task).expect("it runs");
        Ran {
            used: crate::engine::chores::used(&self.room, running),
            started: running.started,
            quantum: running.quantum,
        }
    }
}

/// How often what is needed fits, at most `most` times.
fn copies_in(need: &Need, left: &Signed, most: u32) -> u32 {
    let demand: &Resources = &need.demand;
    let asked = demand.as_slice().iter().zip(left).filter(|(amount, _)| **amount > 0);
    let copies = asked.map(|(&amount, &left)| left.max(0) / i128::from(amount)).min();
    copies.map_or(most, |copies| u32::try_from(copies).unwrap_or(most).min(most))
}
