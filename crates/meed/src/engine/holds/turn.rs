//! Who gets a reservation: the walk goes as under `Blocked::Wait`, over all that waits, and whoever
//! is first in it starts or, where it fits nowhere, gets one.
//!
//! Where room is taken back (`reclaim`), a borrower that always has work may have all reservations
//! when a lender comes. So whoever is owed by all that have one, and is first in turn, gets one
//! more: a leaf has one of those at most.
//!
//! With `reserve_after` whoever is first is passed over at first, and for that long nobody gets a
//! reservation: a task that is narrow, or short of its turn by chance, seldom needs one. Under
//! orders with memory not a queue that has lent more than it has borrowed: it gets the next that
//! may be made.
//!
//! Keys are as they stand: a reservation charges nothing, so that with several at once a queue that
//! is far behind may have all of them. Cost: the parked leaf that is first is woken and parked
//! again; where keys of leaves do not tell their turn (below parents, under the guard), all are.

use smallvec::{SmallVec, smallvec};

use super::Holds;
use super::hold::{Hold, Part};
use crate::decision::{Reason, Start};
use crate::engine::Engine;
use crate::engine::chosen::Candidate;
use crate::engine::core::Core;
use crate::engine::holds::reclaim::{IN_ITS_PLACE, Instead};
use crate::ids::{NodeRow, QueueRow};
use crate::time::{Span, Time};

/// What the engine does where there are reservations.
impl Engine {
    /// Before the walk: what is held is brought up to date, held tasks start whose room is there,
    /// and whoever is first in turn starts or gets a reservation, as long as one may be made.
    pub(in crate::engine) fn next_with_holds(&mut self, explain: bool) -> Option<Start> {
        let (core, holds) = (&mut self.core, self.reservations.holds.as_deref_mut()?);
        if holds.is_plan_due(core) {
            if let Some(hold) = holds.take_at_once(core) {
                return self.start_reserved(&hold, explain);
            }
            holds.replan(core);
        } else {
            core.room.sift_fresh();
        }
        if holds.any_due(core.now)
            && let Some(start) = self.start_due(explain)
        {
            return Some(start);
        }
        self.serve_first(explain)
    }

    /// Starts what is first in order of the reservations whose room is there, or what that gives
    /// way to.
    #[inline(never)]
    fn start_due(&mut self, explain: bool) -> Option<Start> {
        let (core, holds) = (&mut self.core, self.reservations.holds.as_deref_mut()?);
        let index = holds.first_whose_room_is_there(core)?;
        if let Some(instead) = holds.gives_way(core, index) {
            return self.start_instead(instead, explain);
        }
        let hold = holds.take_due(core, index);
        self.start_reserved(&hold, explain)
    }

    /// Starts the tasks of a reservation, which is in the list no more, on its nodes.
    fn start_reserved(&mut self, hold: &Hold, explain: bool) -> Option<Start> {
        let (core, slot) = (&mut self.core, hold.slot());
        let shape = core.work.group(slot).turn();
        core.room.add_waiting(shape, hold.covers());
        let reason = explain.then(|| {
            Box::new(Reason {
                reserved_for: Some(core.now.saturating_since(hold.since)),
                ..Reason::of("where its room was held")
            })
        });
        if core.room.turn_of(shape) == 1 {
            return Some(self.start(slot, None, hold.nodes[0][0].0, reason));
        }
        let slots: SmallVec<[u32; 4]> = hold.starters.iter().map(|starter| starter.slot).collect();
        self.start_on(&slots, &hold.nodes, reason)
    }

    /// Starts the task to which a reservation gives way: where there is room besides, or in its
    /// place.
    fn start_instead(&mut self, instead: Instead, explain: bool) -> Option<Start> {
        let Instead { slot, held, node } = instead;
        let core = &mut self.core;
        if let Some(index) = held {
            let holds = self.reservations.holds.as_deref_mut()?;
            let mut hold = holds.give_up(&mut core.reserved, index);
            (hold.nodes, hold.spares) = (smallvec![smallvec![(node, 1)]], smallvec![]);
            let mut start = self.start_reserved(&hold, explain)?;
            if let Some(reason) = &mut start.reason {
                reason.place = IN_ITS_PLACE;
            }
            self.reservations.look_everywhere(&mut self.core, node);
            return Some(start);
        }
        let shape = core.work.group(slot).turn();
        let besides = core.room.find_or_block(shape);
        let (on, why) = match besides {
            Some(node) => (node, core.room.why()),
            None => (node, IN_ITS_PLACE),
        };
        let reason = explain.then(|| Box::new(Reason::of(why)));
        let start = self.start(slot, None, on, reason);
        self.core.room.sift(on);
        self.core.room.block_if_full(shape);
        if besides.is_none() {
            self.reservations.look_everywhere(&mut self.core, on);
        }
        Some(start)
    }

    /// Whoever is first in turn starts or gets a reservation, as long as one may be made.
    #[inline(never)]
    fn serve_first(&mut self, explain: bool) -> Option<Start> {
        self.core.waits = true;
        let start = self.serve_who_waits(explain);
        self.core.waits = false;
        start
    }

    /// The same, while it counts who waits.
    fn serve_who_waits(&mut self, explain: bool) -> Option<Start> {
        loop {
            let (core, holds) = (&mut self.core, self.reservations.holds.as_deref_mut()?);
            if !holds.looks_for_first() {
                return None;
            }
            core.wake_first(explain);
            core.settle();
            let mut reason = explain.then(|| Box::new(Reason::of(core.room.why())));
            let leaf = core.choose_leaf(reason.as_deref_mut())?;
            match core.choose_group(leaf) {
                Candidate::Group(slot, node) => {
                    if let Some(start) = self.place_group(slot, node, reason) {
                        return Some(start);
                    }
                }
                Candidate::Wait(slot) if holds.pass_over(core, slot) => return None,
                Candidate::Wait(slot)
                    if holds.may_hold_more() || holds.is_owed_by_all(core, leaf) =>
                {
                    holds.hold(core, slot);
                }
                Candidate::Wait(_) => return None,
                Candidate::Nothing => core.park(leaf),
            }
        }
    }
}

/// Which reservation starts.
impl Holds {
    /// Whether the instant of some reservation has come.
    #[inline]
    fn any_due(&self, now: Time) -> bool {
        self.list.iter().any(|hold| hold.at == Some(now))
    }

    /// The place in the list of the one that starts first of those whose instant has come.
    fn first_whose_room_is_there(&self, core: &Core) -> Option<usize> {
        // The plan says that there is room; a state from elsewhere may not be so exact.
        let due = |hold: &Hold| {
            let has_room = |(node, part): (NodeRow, Part)| {
                core.is_possible(hold, node) && part.need.demand.fits_in(&core.room.free(node))
            };
            hold.at == Some(core.now) && hold.parts().all(has_room)
        };
        self.first_due(core, due)
    }

    /// Takes one that starts out of the list.
    fn take_due(&mut self, core: &mut Core, index: usize) -> Hold {
        let hold = self.remove(&mut core.reserved, index);
        if hold.is_joint() {
            // Of several groups some may run less long than their room was held for.
            self.vacated.extend(hold.rows());
        }
        hold
    }
}

/// Who gets one.
impl Holds {
    fn may_hold_more(&self) -> bool {
        self.most.allow(self.list.len())
    }

    /// Whether it matters who is first in turn, whether that fits or not.
    fn looks_for_first(&self) -> bool {
        self.may_hold_more() || self.reclaim.is_some()
    }

    /// The group is first in turn and fits nowhere: whether others are served before it for a
    /// while yet. Not one for which there is no node: nobody waits for that.
    fn pass_over(&self, core: &mut Core, slot: u32) -> bool {
        let leaf = core.leaf_of(slot);
        if self.patience == Span::ZERO || !core.room.could_turn(core.work.group(slot).turn()) {
            return false;
        }
        let since = core.reserved.pass_over(slot, core.now);
        let lends = self.remembers && core.books.is_lender(core.now, leaf);
        !lends && core.now < since.saturating_add(self.patience)
    }

    /// Whether all that have reservations owe the leaf: then it gets one besides theirs.
    fn is_owed_by_all(&self, core: &Core, leaf: QueueRow) -> bool {
        let mut leaves = self.list.iter().map(|hold| core.leaf_of(hold.slot()));
        leaves.all(|other| core.is_owed(leaf, other))
    }

    /// The tasks of the group that are first in turn get a reservation, and leave the walk, where
    /// there are nodes on which they can have one.
    fn hold(&mut self, core: &mut Core, slot: u32) {
        let shape = core.work.group(slot).turn();
        let found = self.find_place(core, shape);
        let Some(((at, nodes), spares)) = found else {
            core.reserved.set_hopeless(shape);
            return;
        };
        let (since, leaf, starters) = (core.now, core.leaf_of(slot), core.starters(slot));
        let tries = self.first_try(since);
        let (moved, reclaims, drained) = (0, false, false);
        let hold = Hold { starters, nodes, spares, at, since, moved, tries, reclaims, drained };
        debug_assert!(hold.has_sound_spares(self.spares), "no node is held twice");
        let covers = hold.covers();
        self.add(&mut core.reserved, hold);
        core.room.sub_waiting(shape, covers);
        core.reserved.take_turn(slot);
        core.fewer_in_walk(leaf, slot);
        core.park_if_all_held(leaf);
        self.replan_openings(core);
    }

    /// A reservation is given up: its tasks are in the walk again.
    pub(super) fn let_go(&mut self, core: &mut Core, index: usize) {
        let hold = self.give_up(&mut core.reserved, index);
        let (slot, covers) = (hold.slot(), hold.covers());
        let (shape, leaf) = (core.work.group(slot).turn(), core.leaf_of(slot));
        core.room.add_waiting(shape, covers);
        core.list_group(leaf, slot);
        let job = core.work.group(slot).job;
        core.update_arrivals(job, true);
        if core.ready.unpark(leaf) {
            core.join_heaps(leaf);
        }
    }
}
