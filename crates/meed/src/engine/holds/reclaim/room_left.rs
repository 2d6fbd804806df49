//! What a node has for the winner when tasks stop there.
//!
//! > left(node) = least - held back + stopped, but no more than for ever - for others
//!
//! - least: of each kind the least that is free for as long as the winner may run, by expected ends
//!   and by reservations with a known start. What is stopped counts up to its expected end.
//! - held back: what of that, before anything is stopped, goes to reservations with an unknown
//!   start. What is stopped is the winner's alone: so no more is stopped than its turn asks for.
//! - for ever: what the node has when all that runs there has ended. For others: what reservations
//!   of other queues with an unknown start ask for there, each on its own node, not on its spares.
//!   So each of these starts when the tasks have ended that are let be.
//!
//! Which reservations count: not the winner's own. Of its queue's others those that were made
//! before it: later ones wait for it anyway. Of other queues' those of queues that do not owe the
//! winner. And of all these, in order, as many as their side may have of its share, or needs for
//! its minimum: what a queue has reserved beyond that it gets when others end. Cost: O(tasks and
//! holds on the node).

use std::collections::BTreeMap;

use super::super::Holds;
use super::super::profile::{Profile, Signed, add};
use super::places::{Look, Wanted};
use crate::engine::core::Core;
use crate::engine::holds::hold::Part;
use crate::engine::holds::kept::expected_end;
use crate::ids::{AllocationId, NodeRow, QueueRow};
use crate::resources::{MAX_KINDS, Resources};
use crate::time::Time;

/// What others hold on a node.
#[derive(Default)]
pub(super) struct Held {
    /// From a known instant on.
    known: Vec<Part>,
    /// From an instant on that nobody knows.
    drained: Signed,
    /// The same on own nodes, not on spares, but for the winner's own queue.
    for_others: Signed,
}

/// See the module.
pub(super) struct RoomLeft {
    profile: Profile,
    now: Time,
    until: Time,
    held_back: Signed,
    most: Signed,
}

impl RoomLeft {
    /// A task that is expected to end at `end` is stopped, or, again, not.
    pub(super) fn stop(&mut self, demand: &Resources, end: Time, stops: bool) {
        match stops {
            true => self.profile.give_back(demand, self.now, end),
            false => self.profile.take(demand, self.now, end),
        }
    }

    pub(super) fn amounts(&self) -> Signed {
        let mut left = self.profile.least_before(self.until);
        for (kind, left) in left.iter_mut().enumerate() {
            *left = (*left - self.held_back[kind]).min(self.most[kind]);
        }
        left
    }
}

impl Look<'_> {
    /// What is left of a node before anything is stopped.
    pub(super) fn room_before(&self, node: NodeRow) -> RoomLeft {
        let (core, nothing) = (self.core, Held::default());
        let held = self.held.get(&node).unwrap_or(&nothing);
        let mut profile = core.profile_of(node).profile;
        for part in &held.known {
            let (from, until) = part.span();
            profile.take(&part.need.demand, from.max(core.now), until);
        }
        let free = profile.least_before(self.until);
        let (mut held_back, mut most) = ([0; MAX_KINDS], [0; MAX_KINDS]);
        if let Some(ever) = core.room.room_if_ours_left(node) {
            add(&mut most, &ever, 1);
        }
        for kind in 0..MAX_KINDS {
            held_back[kind] = free[kind].max(0).min(held.drained[kind]);
            most[kind] -= held.for_others[kind];
        }
        RoomLeft { profile, now: core.now, until: self.until, held_back, most }
    }

    /// When a task that runs is expected to end.
    pub(super) fn end_of(&self, task: AllocationId) -> Time {
        let running = self.core.work.running(task).expect("it runs");
        let limit = self.core.room.limit(running.shape);
        expected_end(running.started, limit, self.core.now).unwrap_or(Time::MAX)
    }
}

impl Holds {
    /// What others hold, by node: see the module.
    pub(super) fn held_against(&self, core: &Core, wanted: &Wanted<'_>) -> BTreeMap<NodeRow, Held> {
        let winner = core.leaf_of(wanted.hold.slot());
        let mut held: BTreeMap<NodeRow, Held> = BTreeMap::new();
        let mut promised: BTreeMap<QueueRow, Resources> = BTreeMap::new();
        let own = self.list.iter().position(|hold| std::ptr::eq(hold, wanted.hold));
        for (place, hold) in self.list.iter().enumerate().filter(|(place, _)| own != Some(*place)) {
            let leaf = core.leaf_of(hold.slot());
            let side = match core.part(winner, leaf) {
                None => own.is_some_and(|own| place < own).then_some(leaf),
                Some(sides) => (!core.owes(&sides)).then_some(sides.last),
            };
            let Some(side) = side else { continue };
            let turn = core.room.demand_of_turn(core.work.group(hold.slot()).turn());
            let before = promised.entry(side).or_insert_with(|| Resources::zero(turn.kinds()));
            let with = before.plus(&turn);
            if !core.is_within_share(side, &with) && !core.is_owed_minimum(side, before) {
                continue;
            }
            *before = with;
            for (node, part) in hold.parts() {
                let held = held.entry(node).or_default();
                match part.at {
                    Some(_) => held.known.push(part),
                    None => add(&mut held.drained, &part.need.demand, 1),
                }
            }
            // A reservation starts once, wherever that is: spares are drained, and owed nothing.
            let owed = hold.own_parts().filter(|(_, part)| leaf != winner && part.at.is_none());
            for (node, part) in owed {
                add(&mut held.entry(node).or_default().for_others, &part.need.demand, 1);
            }
        }
        held
    }
}

impl Core {
    /// Whether a side is below its minimum share with what it was promised, in a kind of that.
    fn is_owed_minimum(&self, side: QueueRow, promised: &Resources) -> bool {
        let (held, min) = (self.books.held(side), self.tree[side].min().unwrap_or_default());
        let short = |kind: usize| held.get(kind) + promised.get(kind) < min.get(kind);
        self.books.is_below_minimum(side) && (0..min.kinds()).any(short)
    }
}
