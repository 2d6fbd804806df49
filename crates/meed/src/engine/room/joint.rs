//! Room for gangs of several groups, whose tasks ask for different amounts: the parts of a shape.
//!
//! Such a gang fits where [`pack`](super::pack) says, and starts on the nodes that it names, those
//! with room for most first. With `same`, of the values where all fit the one where least tasks
//! fit, part by part; of like ones the first by name. All parts are taken to run as long as that
//! which may run longest: they are of use together only.
//!
//! The shape of such a gang asks for the least of each kind that one of its tasks does: a node that
//! has not got that helps none of them. Cost: O(nodes * parts) for a look, and that of `pack` where
//! each part by itself fits.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use super::Room;
use super::gangs::within;
use super::pack::{
    Ask, Bin, Counts, MOST_COUNTS, Most, Nodes, alone, are_few, most, pack_tightest,
};
use super::rules::RulesId;
use super::shapes::{Parts, Shape, ShapeId, ShapeKey};
use crate::cluster::in_words;
use crate::error::Rejected;
use crate::gang::Turn;
use crate::ids::NodeRow;
use crate::resources::{ResourceKinds, Resources};
use crate::spec::TaskGroup;

/// How much of a gang of several groups fits, where most of it does.
pub(in crate::engine) struct PartsFit<'a> {
    /// The label that keeps it together and the value there, where there is one.
    pub(in crate::engine) on: Option<(&'a str, &'a str)>,
    pub(in crate::engine) most: Most,
    /// On so many of the nodes there tasks of each part may be.
    pub(in crate::engine) nodes: Vec<u64>,
}

/// A group of a gang of several: the shape of its tasks, where they may be, and how many start.
pub(in crate::engine) type Member = (ShapeId, Option<RulesId>, u32);

impl Room {
    /// What all tasks of the next turn of this shape ask for together.
    pub(in crate::engine) fn demand_of_turn(&self, shape: ShapeId) -> Resources {
        let row = &self.shapes[shape];
        if row.parts().is_empty() {
            return row.demand.times(self.turn_of(shape));
        }
        let mut whole = Resources::zero(row.demand.kinds());
        for &(part, tasks) in row.parts() {
            whole = whole.plus(&self.shapes[part].demand.times(tasks));
        }
        whole
    }

    /// The parts of the next turn of this shape: one, but for a gang of several groups.
    pub(in crate::engine) fn parts_of(&self, shape: ShapeId) -> Vec<Ask> {
        let ask = |&(part, tasks): &(ShapeId, u32)| {
            let Shape { demand, key, .. } = &self.shapes[part];
            Ask { demand: *demand, tasks, distinct: key.distinct.is_some() }
        };
        self.each_part(shape, &[(shape, self.turn_of(shape))]).iter().map(ask).collect()
    }

    /// The same as shapes; `alone`: where it is one.
    fn each_part<'a>(
        &'a self,
        shape: ShapeId,
        alone: &'a [(ShapeId, u32); 1],
    ) -> &'a [(ShapeId, u32)] {
        match self.shapes[shape].parts() {
            [] => alone,
            parts => parts,
        }
    }

    /// How many tasks of each part `node` could hold if nothing of ours ran there, all at most.
    pub(in crate::engine) fn most_on(&self, shape: ShapeId, node: NodeRow) -> Counts {
        let most = |&(part, tasks): &(ShapeId, u32)| {
            self.copies_on(part, node).min(u64::from(tasks)) as u32
        };
        self.each_part(shape, &[(shape, self.turn_of(shape))]).iter().map(most).collect()
    }

    /// The shape of single tasks of one of its parts; itself where it has none.
    pub(in crate::engine) fn part_of(&self, shape: ShapeId, place: usize) -> ShapeId {
        self.shapes[shape].parts().get(place).map_or(shape, |(part, _)| *part)
    }

    /// Whether a gang's shape is of several groups.
    pub(in crate::engine) fn is_joint(&self, shape: ShapeId) -> bool {
        self.shapes[shape].parts.is_some()
    }

    /// The nodes with so much room on which tasks of a gang's parts may be, by the value of the
    /// label that keeps them together.
    pub(in crate::engine) fn bins(
        &self,
        shape: ShapeId,
        asks: &[Ask],
        room: impl Fn(NodeRow) -> Option<Resources>,
    ) -> BTreeMap<Option<&str>, Vec<Bin>> {
        let parts = self.shapes[shape].parts();
        let mut islands: BTreeMap<Option<&str>, Vec<Bin>> = BTreeMap::new();
        for node in (0..self.cluster.nodes.len() as u32).map(NodeRow) {
            let (Some(value), Some(room)) = (self.value_of(shape, node), room(node)) else {
                continue;
            };
            let allows = |part: usize| self.allows(parts[part].0, node);
            let bin = Bin::new(node, room, asks, allows);
            bin.into_iter().for_each(|bin| islands.entry(value).or_default().push(bin));
        }
        islands
    }

    /// The same of a gang of several groups: nodes for each.
    pub(super) fn find_parts(&self, shape: ShapeId) -> Option<Vec<Nodes>> {
        let (asks, key) = (self.parts_of(shape), &self.shapes[shape].key);
        let islands = self.bins(shape, &asks, |node| Some(self.takable(key, node)));
        pack_tightest(islands.into_values().collect(), &asks)
    }

    /// How many tasks of each part fit now where the gang may be, each part by itself: of values of
    /// the label that keeps it together, where most do.
    pub(in crate::engine) fn parts_fit(&self, shape: ShapeId) -> Vec<u64> {
        let (asks, key) = (self.parts_of(shape), &self.shapes[shape].key);
        let islands = self.bins(shape, &asks, |node| Some(self.takable(key, node)));
        let fit = |bins: &Vec<Bin>| -> Vec<u64> {
            let both = alone(bins.iter(), asks.len()).into_iter().zip(&asks);
            both.map(|(fit, ask)| fit.min(u64::from(ask.tasks))).collect()
        };
        let most = islands.values().map(fit).max_by_key(|fit| fit.iter().sum::<u64>());
        most.unwrap_or_else(|| vec![0; asks.len()])
    }

    /// Whether all could start if nothing of ours ran.
    pub(super) fn parts_could_fit(&self, shape: ShapeId) -> bool {
        let asks = self.parts_of(shape);
        let islands = self.bins(shape, &asks, |node| self.room_if_ours_left(node));
        pack_tightest(islands.into_values().collect(), &asks).is_some()
    }

    /// How much of such a gang fits now: of the values of the label that keeps it together, where
    /// most of it does at once, then most of each part by itself; of like ones the first by name.
    pub(in crate::engine) fn parts_now(&self, shape: ShapeId) -> PartsFit<'_> {
        let (asks, key) = (self.parts_of(shape), &self.shapes[shape].key);
        let islands = self.bins(shape, &asks, |node| Some(self.takable(key, node)));
        let fits = islands.iter().map(|(value, bins)| (*value, most(bins, &asks)));
        let rank = |most: &Most| (most.at_once, most.alone.iter().sum::<u64>());
        let best = fits.rev().max_by_key(|(_, most)| rank(most));
        let (value, most) = best.unwrap_or_else(|| (None, most(&[], &asks)));
        let rows = || (0..self.cluster.nodes.len() as u32).map(NodeRow);
        let is_there = |node: &NodeRow| match value {
            None => self.value_of(shape, *node).is_some(),
            value => self.value_of(shape, *node) == Some(value),
        };
        let may_be = |part: ShapeId| {
            let up = rows().filter(|&node| self.node(node).is_some_and(|node| node.up));
            up.filter(|node| is_there(node) && self.allows(part, *node)).count() as u64
        };
        let parts = self.shapes[shape].parts().iter();
        let on = value.map(|value| (self.rules.label(key.same()), value));
        PartsFit { on, most, nodes: parts.map(|(part, _)| may_be(*part)).collect() }
    }

    /// Whether `node` could hold these tasks of the parts together if nothing of ours ran there.
    pub(in crate::engine) fn could_hold_parts(
        &self,
        shape: ShapeId,
        node: NodeRow,
        tasks: &[u32],
    ) -> bool {
        let parts = self.shapes[shape].parts();
        let Some(mut room) = self.room_if_ours_left(node) else { return false };
        let mut alone = 0;
        parts.iter().zip(tasks).filter(|(_, tasks)| **tasks > 0).all(|(&(part, _), &tasks)| {
            let Shape { demand, key, .. } = &self.shapes[part];
            let more = demand.times(tasks);
            let fits = more.fits_in(&room) && self.allows(part, node);
            alone += if key.distinct.is_some() { tasks } else { 0 };
            if fits {
                room.sub(&more);
            }
            fits && alone <= 1
        })
    }

    /// The same for tasks of several groups.
    pub(in crate::engine) fn hold_parts(&mut self, members: &[Member], same: u32) -> ShapeId {
        let mut parts = Parts::new();
        for &(shape, within, tasks) in members {
            parts.push((self.hold_turn(shape, None, within), tasks));
        }
        let keys = parts.iter().map(|&(part, tasks)| (self.shapes[part].key, tasks));
        let key = joint_key(keys, same).expect("tasks wait");
        let shape = self.shapes.hold_joint(&key, parts.clone());
        parts.into_iter().for_each(|(part, _)| self.shapes.release(part));
        shape
    }

    /// Whether `waits` is what [`Room::hold_parts`] would hold.
    pub(in crate::engine) fn is_of_parts(
        &self,
        waits: ShapeId,
        members: &[Member],
        same: u32,
    ) -> bool {
        let row = &self.shapes[waits];
        let same = row.key.turn.is_some_and(|turn| turn.same == same);
        let is = |(part, member): (&(ShapeId, u32), &Member)| {
            let own = self.shapes[member.0].key;
            let key = ShapeKey { rules: member.1.or(own.rules), ..own };
            part.1 == member.2 && self.shapes[part.0].key == key
        };
        same && row
            .parts
            .as_ref()
            .is_some_and(|parts| parts.len() == members.len() && parts.iter().zip(members).all(is))
    }

    /// Whether the cluster, as far as it is remembered, could hold a gang of these groups when
    /// empty.
    pub(in crate::engine) fn check_parts(
        &self,
        groups: &[TaskGroup],
        kinds: &ResourceKinds,
    ) -> Result<(), Rejected> {
        if !are_few(groups.iter().map(|group| group.count)) {
            return Err(Rejected::GangOfTooManyParts { most: MOST_COUNTS });
        }
        if self.waits_for_nodes {
            return Ok(());
        }
        let rules = |group: &TaskGroup| group.constraints.as_deref().cloned().unwrap_or_default();
        let rules: Vec<_> = groups.iter().map(rules).collect();
        let asks = groups.iter().zip(&rules).map(|(group, rules)| {
            let (demand, tasks, distinct) = (group.demand, group.count, rules.distinct_nodes);
            Ask { demand, tasks, distinct }
        });
        let asks: Vec<Ask> = asks.collect();
        let same = groups.first().and_then(|group| group.gang.as_ref()?.same.as_ref());
        self.check_label(same)?;
        let mut islands: BTreeMap<Option<&str>, Vec<Bin>> = BTreeMap::new();
        for (node, value) in self.nodes_by(same) {
            let allows = |part: usize| rules[part].allow(&node.labels);
            // Where it is tells nothing here.
            let bin = Bin::new(NodeRow(0), node.capacity, &asks, allows);
            islands.entry(value).or_default().extend(bin);
        }
        match pack_tightest(islands.into_values().collect(), &asks) {
            Some(_) => Ok(()),
            None => {
                let words = |group: &TaskGroup| {
                    format!(
                        "{} of {}{}",
                        group.count,
                        in_words(&group.demand, kinds),
                        within(group)
                    )
                };
                let parts = groups.iter().map(words).collect::<Vec<_>>().join("; ");
                Err(Rejected::GangPartsTooWide { parts })
            }
        }
    }
}

/// The key of the shape of these parts: the least that each asks for of every kind, the rules that
/// all have, and the longest limit.
pub(super) fn joint_key(
    parts: impl Iterator<Item = (ShapeKey, u32)>,
    same: u32,
) -> Option<ShapeKey> {
    let join = |(mut joint, all): (ShapeKey, u32), (of, tasks): (ShapeKey, u32)| {
        joint.demand.lower(&of.demand);
        joint.rules = joint.rules.filter(|rules| Some(*rules) == of.rules);
        joint.limit = joint.limit.zip(of.limit).map(|(a, b)| a.max(b));
        (joint, all.saturating_add(tasks))
    };
    let (key, all) = parts.reduce(join)?;
    let turn = Some(Turn { tasks: NonZeroU32::new(all)?, same, joint: true });
    Some(ShapeKey { turn, distinct: None, ..key })
}
