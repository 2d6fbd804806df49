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

use super::super::decide::Candidate;
use crate::decision::{Reason, Start};
use crate::engine::Engine;
use crate::time::Span;

impl Engine {
    /// Before the walk: what is held is brought up to date, held tasks start whose room is there,
    /// and whoever is first in turn starts or gets a reservation, as long as one may be made.
    pub(in crate::engine) fn next_with_holds(&mut self, explain: bool) -> Option<Start> {
        self.holds.as_ref()?;
        if self.is_plan_due() {
            if let Some(start) = self.start_at_once(explain) {
                return Some(start);
            }
            self.replan();
        } else {
            self.core.room.sift_fresh();
        }
        if let Some(start) = self.start_held(explain) {
            return Some(start);
        }
        if !self.may_hold_more() && !self.reclaims() {
            return None;
        }
        self.serve_first(explain)
    }

    fn may_hold_more(&self) -> bool {
        self.holds.as_ref().is_some_and(|holds| holds.most.allow(holds.list.len()))
    }

    /// The group is first in turn and fits nowhere: whether others are served before it for a
    /// while yet. Not one for which there is no node: nobody waits for that.
    fn is_passed_over(&mut self, slot: u32) -> bool {
        let leaf = self.core.leaf_of(slot);
        let Some(holds) = &mut self.holds else { return false };
        if holds.patience == Span::ZERO
            || !self.core.room.could_turn(self.core.work.group(slot).turn())
        {
            return false;
        }
        let since = self.core.reserved.pass_over(slot, self.core.now);
        let lends = holds.remembers && self.core.books.is_lender(self.core.now, leaf);
        !lends && self.core.now < since.saturating_add(holds.patience)
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
        while self.may_hold_more() || self.reclaims() {
            self.core.wake_first(explain);
            self.core.settle();
            let mut reason = explain.then(|| Box::new(Reason::of(self.core.room.why())));
            let leaf = self.core.choose_leaf(reason.as_deref_mut())?;
            match self.core.choose_group(leaf) {
                Candidate::Group(slot, node) => {
                    if let Some(start) = self.place_group(slot, node, reason) {
                        return Some(start);
                    }
                }
                Candidate::Wait(slot) if self.is_passed_over(slot) => return None,
                Candidate::Wait(slot) if self.may_hold_more() || self.is_owed_by_all(leaf) => {
                    self.hold(slot);
                }
                Candidate::Wait(_) => return None,
                Candidate::Nothing => self.core.park(leaf),
            }
        }
        None
    }
}
