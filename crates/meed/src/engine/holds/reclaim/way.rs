//! A reservation gives way to one that its queue owes.
//!
//! A reservation is kept until its task starts, whoever is first meanwhile. But where its queue
//! owes one that waits, its task would be stopped for that soon after: two stops and a start in
//! vain where nobody had to stop at all. So of a room that is there for a single task, the first
//! reservation gets it for which that task could be stopped: of a single task that waits, fits
//! there by all else that is held, is within its share or below its minimum, and for which the
//! guard holds. The one that gave way is planned anew.
//!
//! Cost: O(reservations) for each start by a reservation, and O(tasks and holds on the node) for
//! each that is owed; O(nodes) for each that gives way.

use smallvec::smallvec;

use super::Sides;
use crate::decision::Start;
use crate::engine::Engine;
use crate::engine::books::Used;
use crate::engine::holds::still::alone_on;
use crate::engine::holds::{Hold, Holds};
use crate::reclaim::Reclaim;
use crate::spec::{NodeRow, QueueRow};

impl Engine {
    /// Of all whose room is there (`due`) the first that the one at `first` owes, or that itself.
    pub(in crate::engine::holds) fn first_of_due(
        &self,
        first: usize,
        due: impl Fn(&Hold) -> bool,
    ) -> usize {
        let Some(holds) = self.holds.as_ref().filter(|holds| holds.reclaim.is_some()) else {
            return first;
        };
        let leaf = self.leaf_of(holds.list[first].slot());
        let owed = |hold: &Hold| due(hold) && self.owing(self.leaf_of(hold.slot()), leaf).is_some();
        holds.list.iter().position(owed).unwrap_or(first)
    }

    /// Whether all whose instant has come owe the leaf.
    pub(in crate::engine::holds) fn is_owed_by_due(&self, leaf: QueueRow) -> bool {
        let list = self.holds.iter().flat_map(|holds| &holds.list);
        let mut due = list.filter(|hold| hold.at == Some(self.now));
        due.all(|hold| self.owing(leaf, self.leaf_of(hold.slot())).is_some())
    }

    /// The place in the list of the reservation that gets the room of the one at `due`, and where.
    pub(in crate::engine::holds) fn owed_room_of(&self, due: usize) -> Option<(usize, NodeRow)> {
        let holds = self.holds.as_ref()?;
        let (rules, hold) = (holds.reclaim?, &holds.list[due]);
        // What was freed for it by stopping tasks is its own.
        let node = alone_on(hold).filter(|_| !hold.reclaims)?;
        let others = holds.list.iter().enumerate().filter(|(other, _)| *other != due);
        let owed = |other: &Hold| {
            let sides = self.sides_if_owed(other, hold, &rules)?;
            let takes = self.fits_without(holds, (other, hold), node)
                && self.keeps_its_turn(other, sides, node, &rules);
            takes.then_some(())
        };
        others.into_iter().find_map(|(index, other)| owed(other).map(|()| (index, node)))
    }

    /// Starts the task of a reservation on the node where the one at `due` has given way to it.
    pub(in crate::engine::holds) fn start_owed(
        &mut self,
        index: usize,
        (due, node): (usize, NodeRow),
        explain: bool,
    ) -> Option<Start> {
        let gave_way = self.holds.as_ref()?.list[due].slot();
        let mut hold = self.holds.as_mut()?.give_up(index);
        hold.nodes = smallvec![smallvec![(node, 1)]];
        hold.spares.clear();
        let start = self.start_reserved(&hold, explain);
        self.upset_node(node, false);
        // It looked for a place before: what it did not need then it may need now.
        let need = self.need(self.work.group(gave_way).turn());
        let nodes = (0..self.room.nodes() as u32).map(NodeRow);
        let with_room = nodes.filter(|&node| need.fits(&self.room.balance(node)));
        self.holds.as_mut()?.freed.extend(with_room);
        start
    }

    /// Whether a single task that waits is owed by the queue of another, and may get its turn.
    fn sides_if_owed(&self, waits: &Hold, of: &Hold, rules: &Reclaim) -> Option<Sides> {
        let soon = self.now.saturating_add(rules.grace);
        let is_late = waits.at.is_none_or(|at| at > soon) && !waits.is_pinned();
        alone_on(waits).filter(|_| is_late)?;
        let sides = self.owing(self.leaf_of(waits.slot()), self.leaf_of(of.slot()))?;
        let turn = self.room.demand_of_turn(self.work.group(waits.slot()).turn());
        self.may_get(sides.first, &turn).then_some(sides)
    }

    /// Whether the task of the first has room on the node now, were neither of both held there, nor
    /// what waits for an unknown start in its queue after it or in queues that owe it.
    fn fits_without(&self, holds: &Holds, both: (&Hold, &Hold), node: NodeRow) -> bool {
        let shape = self.work.group(both.0.slot()).turn();
        if !self.room.could_start(shape, node) {
            return false;
        }
        let mut kept = self.profile_of(node);
        let winner = self.leaf_of(both.0.slot());
        let mut is_after = false;
        let counts = |hold: &&Hold| {
            is_after |= std::ptr::eq(*hold, both.0);
            let leaf = self.leaf_of(hold.slot());
            let gives_way = || is_after && leaf == winner || self.owing(winner, leaf).is_some();
            let is_either = std::ptr::eq(*hold, both.0) || std::ptr::eq(*hold, both.1);
            let starts = hold.at.is_some() || hold.is_pinned();
            !is_either && (starts || !gives_way())
        };
        let parts = holds.list.iter().filter(counts).flat_map(Hold::parts);
        parts.filter(|(on, _)| *on == node).for_each(|(_, part)| kept.put_back(&part));
        kept.profile.fits(both.0.need(), self.now)
    }

    /// Whether its side still comes first when the guard has passed.
    fn keeps_its_turn(&self, hold: &Hold, sides: Sides, node: NodeRow, rules: &Reclaim) -> bool {
        let group = self.work.group(hold.slot());
        let (demand, node_weight) = (self.room.demand(group.shape), self.room.weight(node));
        let used = Used { job: group.job, queue: self.leaf_of(hold.slot()), demand, node_weight };
        let (time, both) = ((self.now, rules.guard), (sides.first, sides.last));
        self.books.is_below_minimum(sides.first)
            || self.books.stays_before(time, both, &[used], &[])
    }
}
