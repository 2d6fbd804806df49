//! A reservation gives way to a task for which its own would be stopped.
//!
//! A reservation is kept until its task starts, whoever is first meanwhile. But where its queue
//! owes somebody who waits, its task would be stopped soon after: two stops and a start in vain
//! where nobody had to stop at all. So before it starts, all are asked that wait:
//!
//! > the reservations of single tasks that do not start soon, in order; then the leaves, in order,
//! > each with the first of its single tasks that fits and has no reservation
//!
//! Its room goes to one that could have its task stopped: that is owed by its queue, may have its
//! turn, keeps its place in the order for as long as the guard asks for, and fits where the
//! reservation is, by all that is held there but for the reservation itself and what waits after
//! it. Of several it is the first, or the one that the queue of that owes, and so on. The task
//! starts, where it fits without that room there, and the reservation is planned anew.
//!
//! Gangs do not give way. Room that was freed for a reservation by stopping tasks is its own, and
//! while tasks stop no reservation gives way: ledgers and shares still count them.
//!
//! No walk is made for that: who stands in it stays as it is, so that the same is decided with and
//! without reasons. Cost of a start by a reservation: O(reservations), and a quick look at each
//! level where nobody comes before its queue, else O(siblings). Where some of these are owed,
//! O(leaves below them, their shapes, the tasks and holds on the node); for each that gives way
//! O(nodes x reservations).

use smallvec::SmallVec;

use super::Sides;
use crate::engine::books::Used;
use crate::engine::core::Core;
use crate::engine::holds::hold::Hold;
use crate::engine::holds::kept::Kept;
use crate::engine::holds::{Holds, Reservations};
use crate::ids::{NodeRow, QueueRow};
use crate::order::key::Key;
use crate::reclaim::Reclaim;
use crate::resources::Resources;

/// Why a task starts in the place of a reservation.
pub(in crate::engine::holds) const IN_ITS_PLACE: &str =
    "where room was held for a task whose queue owes its own";

/// The room of a reservation whose task could start now.
struct Place {
    /// Its place in the list, and its leaf.
    due: usize,
    leaf: QueueRow,
    node: NodeRow,
    /// What is free there but for what others hold.
    kept: Kept,
    rules: Reclaim,
}

/// The task to which a reservation gives way.
pub(in crate::engine::holds) struct Instead {
    /// Its group.
    pub(in crate::engine::holds) slot: u32,
    /// The place of its own reservation in the list, if it has one.
    pub(in crate::engine::holds) held: Option<usize>,
    /// Where the reservation is that gives way.
    pub(in crate::engine::holds) node: NodeRow,
}

/// A task that waits.
#[derive(Clone, Copy)]
struct Waits {
    /// Its group, and its leaf.
    slot: u32,
    leaf: QueueRow,
    /// The place of its reservation in the list, if it has one.
    held: Option<usize>,
}

/// Who has the room of a reservation.
impl Holds {
    /// The task to which the reservation at `due` gives way, if it does.
    pub(in crate::engine::holds) fn gives_way(
        &self,
        core: &mut Core,
        due: usize,
    ) -> Option<Instead> {
        let (rules, hold) = (self.reclaim?, &self.list[due]);
        let node = hold.alone_on().filter(|_| !hold.reclaims && self.stopping.is_empty())?;
        let leaf = core.leaf_of(hold.slot());
        let (waiting, sides) = (self.waiting_holds(core, leaf, &rules), core.owed_by(leaf));
        if waiting.is_empty() && sides.is_empty() {
            return None;
        }
        let kept = self.kept_before(core, due, node);
        let mut place = Place { due, leaf, node, kept, rules };
        let mut found = None;
        for waits in waiting {
            self.give_to(core, &mut found, waits, &mut place);
        }
        let mut leaves: Vec<QueueRow> =
            sides.iter().flat_map(|side| core.leaves_of(side)).collect();
        leaves.sort_unstable();
        for leaf in leaves {
            if let Some(slot) = core.first_that_fits(leaf, &place) {
                self.give_to(core, &mut found, Waits { slot, leaf, held: None }, &mut place);
            }
        }
        let Waits { slot, held, .. } = found?;
        Some(Instead { slot, held, node })
    }

    /// The room goes to a task, if that may have it, unless nobody owes it who would have it else.
    fn give_to(&self, core: &Core, found: &mut Option<Waits>, waits: Waits, place: &mut Place) {
        let is_owed = found.is_none_or(|found| core.owing(waits.leaf, found.leaf).is_some());
        if is_owed && self.could_stop(core, &waits, place) {
            *found = Some(waits);
        }
    }

    /// Of all that are `due` the place in the list of the one that starts first: the first, or,
    /// under reclaim, the one that its queue owes, and so on.
    pub(in crate::engine::holds) fn first_due(
        &self,
        core: &Core,
        due: impl Fn(&Hold) -> bool,
    ) -> Option<usize> {
        let mut all = (0..self.list.len()).filter(|&index| due(&self.list[index]));
        let first = all.next()?;
        if self.reclaim.is_none() {
            return Some(first);
        }
        let leaf = |index: usize| core.leaf_of(self.list[index].slot());
        let is_owed = |by: usize, other: usize| core.owing(leaf(other), leaf(by)).is_some();
        Some(all.fold(first, |first, other| if is_owed(first, other) { other } else { first }))
    }
}

/// Who waits.
impl Holds {
    /// The reservations of single tasks which a leaf owes, and which do not start soon.
    fn waiting_holds(&self, core: &Core, leaf: QueueRow, rules: &Reclaim) -> Vec<Waits> {
        let soon = core.now.saturating_add(rules.grace);
        let waits = |hold: &Hold| {
            hold.alone_on().is_some() && hold.at.is_none_or(|at| at > soon) && !hold.is_pinned()
        };
        let all = self.list.iter().enumerate().filter(|(_, hold)| waits(hold));
        let all = all.map(|(index, hold)| {
            let slot = hold.slot();
            Waits { slot, leaf: core.leaf_of(slot), held: Some(index) }
        });
        all.filter(|waits| core.owing(waits.leaf, leaf).is_some()).collect()
    }
}

impl Core {
    /// The queues beside the path of a leaf which those on it owe, but for some below which nothing
    /// is in the walk or could be.
    fn owed_by(&self, leaf: QueueRow) -> SmallVec<[QueueRow; 4]> {
        let mut owed = SmallVec::new();
        for (last, parent) in self.tree.up(leaf) {
            if self.comes_first(parent, last) {
                continue;
            }
            let others = self.tree[parent].children().iter().copied();
            owed.extend(others.filter(|&first| first != last && self.owes(&Sides { first, last })));
        }
        owed
    }

    /// Whether `queue` comes before all other children of `parent` below which something may be in
    /// the walk, as a quick look tells.
    fn comes_first(&self, parent: QueueRow, queue: QueueRow) -> bool {
        // Rescaled parents keep other keys.
        !self.rescales && {
            let key: Key = self.books.key_seen(self.now, queue);
            let before = self.ready.first(parent).is_some_and(|(least, _)| least < key);
            !before && !self.ready.may_wait_before(&key)
        }
    }

    /// The leaves of a queue in which something waits.
    fn leaves_of(&self, queue: &QueueRow) -> Vec<QueueRow> {
        let (mut leaves, mut queues) = (Vec::new(), vec![*queue]);
        while let Some(queue) = queues.pop() {
            queues.extend(self.tree[queue].children());
            if self.ready.waiting(queue) > 0 {
                leaves.push(queue);
            }
        }
        leaves
    }

    /// The first group of a leaf with a single task that has no reservation, may start by all
    /// maximum shares, and fits there.
    fn first_that_fits(&mut self, leaf: QueueRow, place: &Place) -> Option<u32> {
        let fits = |core: &Core, index: usize| {
            let bucket = &core.ready.buckets(leaf)[index];
            let (shape, room) = (bucket.shape(), &core.room);
            !bucket.is_empty()
                && (room.turn_of(shape) == 1 && !room.is_joint(shape))
                && room.could_start(shape, place.node)
                && place.kept.profile.fits(&core.need(shape), core.now)
                && core.capped_by(leaf, bucket).is_none()
        };
        let mut first = None;
        for index in 0..self.ready.buckets(leaf).len() {
            if !fits(self, index) {
                continue;
            }
            if let Some(group) = self.least_group(leaf, index)
                && first.is_none_or(|first| group < first)
            {
                first = Some(group);
            }
        }
        first.map(|(_, slot)| slot)
    }
}

/// Whether a task may have the room, and what happens then.
impl Holds {
    /// Whether a task could have that of the reservation stopped, if it ran there.
    fn could_stop(&self, core: &Core, waits: &Waits, place: &mut Place) -> bool {
        let Some(sides) = core.owing(waits.leaf, place.leaf) else { return false };
        let (group, node) = (core.work.group(waits.slot), place.node);
        let (shape, demand) = (group.turn(), core.room.demand(group.shape));
        let node_weight = core.room.weight(node);
        let used = Used { job: group.job, queue: waits.leaf, demand, node_weight };
        let time = (core.now, place.rules.guard);
        let keeps = || core.books.stays_before(time, (sides.first, sides.last), &[used], &[]);
        core.may_get(sides.first, demand)
            && self.would_not_change_places(core, &sides, place, demand)
            && core.room.could_start(shape, node)
            && self.fits_in_place(core, waits, place)
            && (core.books.is_below_minimum(sides.first) || keeps())
    }

    /// Whether the task of the reservation, ran it, could be stopped by what its side holds
    /// (`minimums`).
    fn would_not_change_places(
        &self,
        core: &Core,
        sides: &Sides,
        place: &Place,
        turn: &Resources,
    ) -> bool {
        let group = core.work.group(self.list[place.due].slot());
        let held = *core.books.held(sides.last);
        let mut with = held;
        with.add(core.room.demand(group.shape));
        let then = (held, core.books.scalar_held(sides.last));
        core.is_owed_minimum_by(sides)
            || core.is_beyond_share(sides.last, &with, turn)
            || core.books.holds_more((sides.last, then), sides.first)
    }

    /// Whether it fits there, what it holds there itself not counted.
    fn fits_in_place(&self, core: &Core, waits: &Waits, place: &mut Place) -> bool {
        let own = self.list.iter().enumerate().filter(|(index, hold)| {
            Some(*index) == waits.held && (*index < place.due || hold.at.is_some())
        });
        let own = own.flat_map(|(_, hold)| hold.parts()).filter(|(on, _)| *on == place.node);
        let own: SmallVec<[_; 1]> = own.map(|(_, part)| part).collect();
        own.iter().for_each(|part| place.kept.give_back(part));
        let need = core.need(core.work.group(waits.slot).turn());
        let fits = place.kept.profile.fits(&need, core.now);
        own.iter().for_each(|part| place.kept.put_back(part));
        fits
    }
}

impl Reservations {
    /// Who was about to start on a node may not: what it held there later is free, and elsewhere
    /// there may have been room for it all along.
    pub(in crate::engine::holds) fn look_everywhere(&mut self, core: &mut Core, node: NodeRow) {
        self.upset_node(core, node, true);
        let Some(holds) = &mut self.holds else { return };
        let has_room = |node: &NodeRow| {
            let free = core.room.balance(*node);
            holds.list.iter().any(|hold| hold.need().fits(&free))
        };
        let rows = (0..core.room.nodes() as u32).map(NodeRow);
        holds.freed.extend(rows.filter(has_room));
    }
}

impl Holds {
    /// What is free on a node but for what is held there by others than the reservation at `due`:
    /// at a known start, or before it.
    fn kept_before(&self, core: &Core, due: usize, node: NodeRow) -> Kept {
        let counts = |(index, hold): &(usize, &Hold)| {
            *index != due && (*index < due || hold.at.is_some() || hold.is_pinned())
        };
        let all = self.list.iter().enumerate().filter(counts);
        core.profile_with_holds(node, all.map(|(_, hold)| hold))
    }
}
