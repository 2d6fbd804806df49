//! A task starts where room has just come, without a plan.
//!
//! Most tasks whose start nobody knows begin so: something ends on another node, and all that they
//! need is free there. With one reservation nothing else is to be planned then: no start is earlier
//! than now, and where it was nobody waits for it.
//!
//! Invariant: the plan would start it there, too. Where that is in doubt (several reservations,
//! room that may have come on its own nodes, or less than was known of) the plan decides. Cost:
//! O(1) for each node on which room has come.

use super::still::alone_on;
use super::{Hold, Holds, Reservations};
use crate::engine::core::Core;
use crate::spec::NodeRow;

impl Reservations {
    /// The only reservation, of which nobody knows when it starts, where it starts now: out of the
    /// list, with the node on which it starts.
    #[inline]
    pub(super) fn take_at_once(&mut self, core: &mut Core) -> Option<Hold> {
        let holds = self.holds.as_deref_mut()?;
        match &holds.list[..] {
            // Where room is taken back it may give way.
            [hold] if hold.at.is_none() && holds.reclaim.is_none() => holds.take_alone(core),
            _ => None,
        }
    }
}

impl Holds {
    /// See [`Reservations::take_at_once`].
    #[inline(never)]
    fn take_alone(&mut self, core: &mut Core) -> Option<Hold> {
        let node = core.room_at_once(self);
        debug_assert!(
            node.is_none_or(|node| core.plan_starts_on(self, node)),
            "a task starts where the plan would not start it"
        );
        let node = node?;
        let mut hold = self.remove(&mut core.reserved, 0);
        self.touched.extend(hold.rows());
        hold.nodes[0][0].0 = node;
        self.forget_news();
        Some(hold)
    }
}

impl Core {
    /// The node on which the only reservation starts.
    fn room_at_once(&self, holds: &Holds) -> Option<NodeRow> {
        let [hold] = &holds.list[..] else { return None };
        // Of one task.
        alone_on(hold)?;
        if hold.reclaims || hold.drained || holds.freed.is_empty() {
            return None;
        }
        let (shape, need) = (self.work.group(hold.slot()).turn(), hold.need());
        let has_room = |node: &&NodeRow| {
            node.index() < self.room.nodes()
                && need.fits(&self.room.balance(**node))
                && self.room.could_start(shape, **node)
        };
        let node = holds.freed.iter().chain(holds.vacated.iter()).filter(has_room).min()?;
        let sets = [&holds.freed, &holds.vacated, &holds.pushed];
        let as_known = |row: NodeRow| {
            !sets.iter().any(|set| set.contains(&row)) && self.is_possible(hold, row)
        };
        hold.rows().all(as_known).then_some(*node)
    }

    /// Whether the plan starts the only reservation there, too: the slow twin.
    fn plan_starts_on(&self, holds: &mut Holds, node: NodeRow) -> bool {
        let facts = |hold: &Hold| (hold.at, hold.nodes[0][0].0);
        let list = holds.list.clone();
        let agrees = self.plan_on_trial(holds, |planned, holds| {
            planned.placeless.is_empty() && facts(&holds.list[0]) == (Some(self.now), node)
        });
        holds.list = list;
        // Of other places than these.
        holds.kept.clear();
        agrees
    }
}
