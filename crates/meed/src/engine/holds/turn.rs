//! Who gets a reservation: the walk goes as under `Blocked::Wait`, over all that waits, and whoever
//! is first in it starts or, where it fits nowhere, gets one.
//!
//! Where room is taken back (`reclaim`), a borrower that always has work may have all reservations
//! when a lender comes. So whoever is owed by all that have one, and is first in turn, gets one
//! more: a leaf has one of those at most.
//!
//! Keys are as they stand: a reservation charges nothing, so that with several at once a queue that
//! is far behind may have all of them. Cost: the parked leaf that is first is woken and parked
//! again; where keys of leaves do not tell their turn (below parents, under the guard), all are.

use super::super::decide::Candidate;
use crate::decision::{Reason, Start};
use crate::engine::Engine;

impl Engine {
    /// Before the walk: what is held is brought up to date, held tasks start whose room is there,
    /// and whoever is first in turn starts or gets a reservation, as long as one may be made.
    pub(in crate::engine) fn next_with_holds(&mut self, explain: bool) -> Option<Start> {
        self.holds.as_ref()?;
        self.replan();
        if let Some(start) = self.start_held(explain) {
            return Some(start);
        }
        if !self.may_hold_more() && !self.reclaims() {
            return None;
        }
        self.waits = true;
        let start = self.serve_first(explain);
        self.waits = false;
        start
    }

    fn may_hold_more(&self) -> bool {
        self.holds.as_ref().is_some_and(|holds| holds.most.allow(holds.list.len()))
    }

    /// See [`Engine::next_with_holds`].
    fn serve_first(&mut self, explain: bool) -> Option<Start> {
        while self.may_hold_more() || self.reclaims() {
            self.wake_first(explain);
            self.settle();
            let mut reason = explain.then(|| Reason::of(self.room.why()));
            let leaf = self.choose_leaf(reason.as_mut())?;
            match self.choose_group(leaf) {
                Candidate::Group(slot, node) => {
                    if let Some(start) = self.place_group(slot, node, reason) {
                        return Some(start);
                    }
                }
                Candidate::Wait(slot) if self.may_hold_more() || self.is_owed_by_all(leaf) => {
                    self.hold(slot);
                }
                Candidate::Wait(_) => return None,
                Candidate::Nothing => self.park(leaf),
            }
        }
        None
    }
}
