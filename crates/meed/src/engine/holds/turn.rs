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

use super::reclaim::{IN_ITS_PLACE, Instead};
use super::{Hold, Part, Reservations};
use crate::decision::{Reason, Start};
use crate::engine::Engine;
use crate::engine::core::Core;
use crate::engine::decide::Candidate;
use crate::spec::NodeRow;
use crate::time::{Span, Time};

/// What the engine does where there are reservations.
impl Engine {
    /// Before the walk: what is held is brought up to date, held tasks start whose room is there,
    /// and whoever is first in turn starts or gets a reservation, as long as one may be made.
    pub(in crate::engine) fn next_with_holds(&mut self, explain: bool) -> Option<Start> {
        let (core, reservations) = (&mut self.core, &mut self.reservations);
        if reservations.is_plan_due(core) {
            if let Some(hold) = reservations.take_at_once(core) {
                return self.start_reserved(&hold, explain);
            }
            reservations.replan(core);
        } else {
            core.room.sift_fresh();
        }
        if reservations.any_due(core.now)
            && let Some(start) = self.start_due(explain)
        {
            return Some(start);
        }
        if !self.reservations.may_hold_more() && !self.reservations.reclaims() {
            return None;
        }
        self.serve_first(explain)
    }

    /// Starts what is first in order of the reservations whose room is there, or what that gives
    /// way to.
    #[inline(never)]
    fn start_due(&mut self, explain: bool) -> Option<Start> {
        let index = self.reservations.first_due(&self.core)?;
        if let Some(instead) = self.reservations.gives_way(&mut self.core, index) {
            return self.start_instead(instead, explain);
        }
        let hold = self.reservations.take_due(&mut self.core, index)?;
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
        if let Some(index) = held {
            let mut hold = self.reservations.give_up(&mut self.core, index)?;
            (hold.nodes, hold.spares) = (smallvec![smallvec![(node, 1)]], smallvec![]);
            let mut start = self.start_reserved(&hold, explain)?;
            if let Some(reason) = &mut start.reason {
                reason.place = IN_ITS_PLACE;
            }
            self.reservations.look_everywhere(&mut self.core, node);
            return Some(start);
        }
        let room = &mut self.core.room;
        let shape = self.core.work.group(slot).turn();
        let besides = room.find_or_block(shape);
        let (on, why) = match besides {
            Some(node) => (node, room.why()),
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

    /// See [`Engine::next_with_holds`].
    #[inline(never)]
    fn serve_first(&mut self, explain: bool) -> Option<Start> {
        self.core.waits = true;
        let start = self.serve_who_waits(explain);
        self.core.waits = false;
        start
    }

    /// The same, while it counts who waits.
    fn serve_who_waits(&mut self, explain: bool) -> Option<Start> {
        while self.reservations.may_hold_more() || self.reservations.reclaims() {
            let (core, reservations) = (&mut self.core, &mut self.reservations);
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
                Candidate::Wait(slot) if reservations.is_passed_over(core, slot) => return None,
                Candidate::Wait(slot)
                    if reservations.may_hold_more() || reservations.is_owed_by_all(core, leaf) =>
                {
                    reservations.hold(core, slot);
                }
                Candidate::Wait(_) => return None,
                Candidate::Nothing => core.park(leaf),
            }
        }
        None
    }
}

/// Which reservation starts.
impl Reservations {
    /// Whether the instant of some reservation has come.
    #[inline]
    fn any_due(&self, now: Time) -> bool {
        self.holds.iter().any(|holds| holds.list.iter().any(|hold| hold.at == Some(now)))
    }

    /// The place in the list of the one that starts first of those whose instant has come.
    fn first_due(&self, core: &Core) -> Option<usize> {
        let holds = self.holds.as_deref()?;
        // The plan says that there is room; a state from elsewhere may not be so exact.
        let due = |hold: &Hold| {
            let has_room = |(node, part): (NodeRow, Part)| {
                core.is_possible(hold, node) && part.need.demand.fits_in(&core.room.free(node))
            };
            hold.at == Some(core.now) && hold.parts().all(has_room)
        };
        core.first_due(holds, due)
    }

    /// One is given up: its room is free.
    fn give_up(&mut self, core: &mut Core, index: usize) -> Option<Hold> {
        Some(self.holds.as_mut()?.give_up(&mut core.reserved, index))
    }

    /// Takes one that starts out of the list.
    fn take_due(&mut self, core: &mut Core, index: usize) -> Option<Hold> {
        let holds = self.holds.as_mut()?;
        let hold = holds.remove(&mut core.reserved, index);
        if hold.is_joint() {
            // Of several groups some may run less long than their room was held for.
            holds.vacated.extend(hold.rows());
        }
        Some(hold)
    }
}

impl Reservations {
    fn may_hold_more(&self) -> bool {
        self.holds.as_ref().is_some_and(|holds| holds.most.allow(holds.list.len()))
    }

    /// The group is first in turn and fits nowhere: whether others are served before it for a
    /// while yet. Not one for which there is no node: nobody waits for that.
    fn is_passed_over(&mut self, core: &mut Core, slot: u32) -> bool {
        let leaf = core.leaf_of(slot);
        let Some(holds) = &mut self.holds else { return false };
        if holds.patience == Span::ZERO || !core.room.could_turn(core.work.group(slot).turn()) {
            return false;
        }
        let since = core.reserved.pass_over(slot, core.now);
        let lends = holds.remembers && core.books.is_lender(core.now, leaf);
        !lends && core.now < since.saturating_add(holds.patience)
    }
}
