//! A reservation moves to an earlier instant where it is, without a plan.
//!
//! Where limits are known most reservations move up so: a task ends before its limit on the node on
//! which room is held, and what is held there fits sooner. With one reservation, and no room that
//! has come elsewhere, no other node is to be looked at.
//!
//! Invariant: the plan would move it there, too, and leave behind the same, but for profiles of
//! other nodes. Where that is in doubt (several reservations, room that has come elsewhere, a node
//! that may have become worse) the plan decides.
//! Cost: a pass over what is expected on the node.

use super::Holds;
use super::hold::Hold;
use super::rows::RowSet;
use crate::engine::core::Core;
use crate::ids::NodeRow;
use crate::time::Time;

impl Holds {
    /// Whether the only reservation was moved to an earlier instant, and all is up to date by that.
    #[inline(never)]
    pub(super) fn moves_up(&mut self, core: &Core) -> bool {
        let Some((node, at)) = self.sooner(core) else { return false };
        let by_plan = cfg!(debug_assertions).then(|| self.left_by_plan(core));
        self.move_up(node, at);
        debug_assert!(
            by_plan.is_none_or(|by_plan| by_plan == self.left()),
            "a reservation moves other than the plan would move it"
        );
        true
    }

    /// Where the only reservation is, and its earlier instant there.
    fn sooner(&mut self, core: &Core) -> Option<(NodeRow, Time)> {
        let [hold] = &self.list[..] else { return None };
        let (node, at) = (hold.alone_on()?, hold.at.filter(|at| *at > core.now)?);
        let only = self.freed.iter().chain(self.vacated.iter()).all(|row| *row == node);
        if self.freed.is_empty() || !only || !self.pushed.is_empty() {
            return None;
        }
        if hold.reclaims || hold.drained {
            return None;
        }
        let kept = self.kept.get_mut(node)?;
        kept.profile.advance(core.now);
        if kept.first_end() <= core.now || !kept.surely_fit() || !core.is_possible(hold, node) {
            return None;
        }
        let sooner = kept.profile.earlier_than(hold.need(), at);
        (sooner < at).then_some((node, sooner))
    }

    /// What the plan would leave, tried on a copy: the slow twin.
    fn left_by_plan(&mut self, core: &Core) -> Left {
        let list = self.list.clone();
        let left = self.plan_on_trial(core, |planned, holds| {
            debug_assert!(planned.placeless.is_empty() && !planned.some_lost, "it has its place");
            holds.left()
        });
        // What is kept is of the place that it had; made anew it is the same.
        self.list = list;
        self.kept.clear();
        let hold = &self.list[0];
        let node = hold.nodes[0][0].0;
        self.kept.insert(node, core.profile_with_holds(node, &self.list));
        left
    }
}

/// What is told of reservations: where and when they are, and what is to be looked at next.
type Left = (Vec<(Option<Time>, Option<NodeRow>, u32, bool)>, [RowSet; 4]);

impl Holds {
    /// The only one, which was found to fit on its node, starts there at an earlier instant.
    fn move_up(&mut self, node: NodeRow, at: Time) {
        let hold = &mut self.list[0];
        let before = hold.part(1);
        hold.at = Some(at);
        let kept = self.kept.get_mut(node).expect("it was looked at");
        kept.set_fit();
        kept.give_back(&before);
        kept.take(&hold.part(1));
        self.misses = None;
        self.freed.clear();
        self.vacated.clear();
        // Others would look where it was.
        self.vacated.insert(node);
        self.touched.insert(node);
    }

    fn left(&self) -> Left {
        let facts = |hold: &Hold| (hold.at, hold.alone_on(), hold.moved, hold.stays());
        (self.list.iter().map(facts).collect(), self.happened())
    }

    /// What has happened since the last plan, node by node.
    pub(super) fn happened(&self) -> [RowSet; 4] {
        [&self.freed, &self.vacated, &self.pushed, &self.touched].map(Clone::clone)
    }
}
