//! Who gets a reservation: the walk goes as under `Blocked::Wait`, over all that waits, and whoever
//! is first in it starts or, where it fits nowhere, gets one.
//!
//! With several at once a reservation counts as a turn: a leaf with fewer of them comes first, then
//! the order is the policy's. Cost: the parked leaf that is first is woken and parked again; where
//! keys of leaves do not tell their turn (below parents, under the guard), all are.

use super::super::decide::Candidate;
use crate::decision::{Reason, Start};
use crate::engine::Engine;
use crate::policy::Reservations;
use crate::spec::QueueRow;

impl Engine {
    /// Before the walk: what is held is brought up to date, held tasks start whose room is there,
    /// and whoever is first in turn starts or gets a reservation, as long as one may be made.
    pub(in crate::engine) fn next_with_holds(&mut self, explain: bool) -> Option<Start> {
        self.holds.as_ref()?;
        self.replan();
        if let Some(start) = self.start_held(explain) {
            return Some(start);
        }
        if !self.may_hold_more() {
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

    /// How many reservations a leaf has, where that counts for whose turn it is.
    fn turns_of(&self, leaf: QueueRow) -> usize {
        let Some(holds) = self.holds.as_ref().filter(|holds| holds.most != Reservations::All)
        else {
            return 0;
        };
        holds.list.iter().filter(|hold| self.leaf_of(hold.slot) == leaf).count()
    }

    /// See [`Engine::next_with_holds`].
    fn serve_first(&mut self, explain: bool) -> Option<Start> {
        let (mut aside, mut turns) = (Vec::new(), 0);
        let mut started = None;
        while self.may_hold_more() {
            self.wake_first();
            self.settle();
            let mut reason = explain.then(|| Reason {
                levels: Vec::new(),
                starved_for: None,
                reserved_for: None,
                place: self.room.why(),
            });
            let Some(leaf) = self.choose_leaf(reason.as_mut()) else {
                if aside.is_empty() {
                    break;
                }
                turns += 1;
                self.put_back_aside(&mut aside);
                continue;
            };
            if self.turns_of(leaf) > turns {
                self.leave_heaps(leaf);
                aside.push(leaf);
                continue;
            }
            match self.choose_group(leaf) {
                Candidate::Group(slot, node) => {
                    started = self.place_group(slot, node, reason);
                    if started.is_some() {
                        break;
                    }
                }
                Candidate::Wait(slot) => drop(self.hold(slot)),
                Candidate::Nothing => self.park(leaf),
            }
        }
        self.put_back_aside(&mut aside);
        started
    }

    fn put_back_aside(&mut self, aside: &mut Vec<QueueRow>) {
        for leaf in aside.drain(..) {
            if self.ready.waiting(leaf) > 0 && !self.ready.is_parked(leaf) {
                self.join_heaps(leaf);
            }
        }
    }
}
