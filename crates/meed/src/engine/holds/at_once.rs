//! A task starts where room has just come, without a plan.
//!
//! Most tasks whose start nobody knows begin so: something ends on another node, and all that they
//! need is free there. With one reservation nothing else is to be planned then: no start is earlier
//! than now, and where it was nobody waits for it.
//!
//! Invariant: the plan would start it there, too. Where that is in doubt (several reservations,
//! room that may have come on its own nodes, or less than was known of) the plan decides. Cost:
//! O(1) for each node on which room has come.

use super::Holds;
use super::hold::Hold;
use crate::engine::core::Core;
use crate::ids::NodeRow;

impl Holds {
    /// The only reservation, of which nobody knows when it starts, where it starts now: out of the
    /// list, with the node on which it starts.
    #[inline]
    pub(super) fn take_at_once(&mut self, core: &mut Core) -> Option<Hold> {
        match &self.list[..] {
            // Where room is taken back it may give way.
            [hold] if hold.at.is_none() && self.reclaim.is_none() => self.take_alone(core),
            _ => None,
        }
    }

    /// See [`Holds::take_at_once`].
    #[inline(never)]
    fn take_alone(&mut self, core: &mut Core) -> Option<Hold> {
        let node = self.room_at_once(core);
        debug_assert!(
            node.is_none_or(|node| self.plan_starts_on(core, node)),
            "a task starts where the plan would not start it"
        );
        let node = node?;
        let mut hold = self.remove(&mut core.reserved, 0);
        self.touched.extend(hold.rows());
        hold.nodes[0][0].0 = node;
        self.forget_news();
        Some(hold)
    }

    /// The node on which the only reservation starts.
    fn room_at_once(&self, core: &Core) -> Option<NodeRow> {
        let [hold] = &self.list[..] else { return None };
        // Of one task.
        hold.alone_on()?;
        if hold.reclaims || hold.drained || self.freed.is_empty() {
            return None;
        }
        let (shape, need) = (core.work.group(hold.slot()).turn(), hold.need());
        let has_room = |node: &&NodeRow| {
            node.index() < core.room.nodes()
                && need.fits(&core.room.balance(**node))
                && core.room.could_start(shape, **node)
        };
        let node = self.freed.iter().chain(self.vacated.iter()).filter(has_room).min()?;
        let sets = [&self.freed, &self.vacated, &self.pushed];
        let as_known = |row: NodeRow| {
            !sets.iter().any(|set| set.contains(&row)) && core.is_possible(hold, row)
        };
        hold.rows().all(as_known).then_some(*node)
    }

    /// Whether the plan starts the only reservation there, too: the slow twin.
    fn plan_starts_on(&mut self, core: &Core, node: NodeRow) -> bool {
        let facts = |hold: &Hold| (hold.at, hold.nodes[0][0].0);
        let list = self.list.clone();
        let agrees = self.plan_on_trial(core, |planned, holds| {
            planned.placeless.is_empty() && facts(&holds.list[0]) == (Some(core.now), node)
        });
        self.list = list;
        // Of other places than these.
        self.kept.clear();
        agrees
    }
}
